"""How much memory is left, so that what cannot fit is refused before it is tried."""

from pathlib import Path

import numpy as np

MEMINFO = Path("/proc/meminfo")
# Where a container is told what it may use, and what it uses: by control groups of version 2, or 1.
GROUPS = (
    (Path("/sys/fs/cgroup"), "memory.max", "memory.current"),
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes"),
)


def available() -> int | None:
    """Bytes that this process could still take; None where the system does not tell."""
    known = [_left_of_machine(), *(_left_of_group(*group) for group in GROUPS)]
    return min((n for n in known if n is not None), default=None)


def _left_of_machine() -> int | None:
    try:
        lines = MEMINFO.read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1024 * int(found[0]) if found else None


def _left_of_group(folder: Path, most: str, used: str) -> int | None:
    """What is kept of files that nobody reads now counts as used, but would be given up."""
    try:
        left = int((folder / most).read_text()) - int((folder / used).read_text())
        facts = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):  # no such file; "max": no limit
        return None
    return max(0, left + int(facts.get("inactive_file", 0)))


def reserve(shape: tuple[int, int], dtype, what: str, advice: str) -> np.ndarray:
    """An array of that shape, or MemoryError that says how much `what` would take, and what to
    do."""
    n_bytes, left = int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize, available()
    if left is not None and n_bytes > left:
        raise MemoryError(f"{what} would take {n_bytes:,} bytes, {left:,} are available: {advice}.")
    try:
        return np.empty(shape, dtype)
    except MemoryError:
        raise MemoryError(f"{what} would take {n_bytes:,} bytes, too many: {advice}.") from None
