"""What a result came from: code, versions, machine."""

import hashlib
import os
import platform
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

import llvmlite.binding as llvm

from forestlab import __version__
from forestlab.core.jit import core_version

MAKERS = ("forest/*.py", "model/*.py", "run/making.py", "run/measure.py")
PACKAGES = ("numpy", "numba", "scikit-learn", "mlflow", "hydra-core")
SIMD = ("amx", "asimd", "avx", "f16c", "fma", "neon", "sse", "ssse", "sve", "vsx")


@cache
def versions() -> dict[str, str]:
    """Tags: the versions that may change a number, and the machine."""
    found = {"version.forestlab": __version__, "version.python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[f"version.{package}"] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found | {
        "core_version": core_version(),
        "result_version": result_version(),
        "cpu": _cpu(),
        "cpu_kind": _cpu_kind(),
    }


def result_version() -> str:
    """16 hex digits that change with any edit of source that may change a number."""
    root = Path(__file__).resolve().parent.parent
    source = hashlib.sha256()
    for pattern in ("core/*.py", "study/*.py", "datasets/*.py", *MAKERS):
        for file in sorted(root.glob(pattern)):
            source.update(file.read_bytes())
    return source.hexdigest()[:16]


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(
            line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
        )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _cpu_kind() -> str:
    """What decides which instructions compute a number: architecture, processor, vector units."""
    try:
        features = llvm.get_host_cpu_features()
    except RuntimeError:  # LLVM does not know them everywhere
        features = {}
    vectors = sorted(name for name, is_on in features.items() if is_on and name.startswith(SIMD))
    name = os.environ.get("NUMBA_CPU_NAME") or llvm.get_host_cpu_name()
    return " ".join([platform.machine(), name, *vectors])


@cache
def code() -> tuple[dict[str, str], str]:
    """Tags for the commit and whether the tree is dirty, and the diff; nothing outside a checkout.

    The checkout is forestlab's own; a user's project around an installed forestlab is not asked.
    """
    root = Path(__file__).resolve().parent.parent.parent
    if not (root / ".git").exists():
        return {}, ""
    commit = _git(root, "rev-parse", "HEAD").strip()
    if not commit:
        return {}, ""
    diff = _git(root, "diff", "HEAD")
    dirty = bool(_git(root, "status", "--porcelain"))
    return {"mlflow.source.git.commit": commit, "git.dirty": str(dirty).lower()}, diff


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def requirements() -> list[str]:
    """What it takes to load a logged model."""
    return [f"forestlab=={__version__}"] + [
        f"{package}=={metadata.version(package)}"
        for package in ("numpy", "numba", "scikit-learn", "skops")
    ]
