"""How much memory is left, so that what cannot fit is refused before it is tried."""

from pathlib import Path

import numpy as np

MEMINFO = Path("/proc/meminfo")
# What a container may use, and what it uses: of control groups of version 2, then 1.
LIMITS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


def available() -> int | None:
    """Bytes that this process could still take; None where the system does not tell."""
    known = [_left_of_machine(), *(_left_of_group(*files) for files in LIMITS)]
    return min((n for n in known if n is not None), default=None)


def _left_of_machine() -> int | None:
    try:
        lines = MEMINFO.read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1024 * int(found[0]) if found else None


def _left_of_group(most: Path, used: Path) -> int | None:
    """What is cached for files counts as used, though it would be given up: so a little is kept
    from view, and the machine's own figure is the other bound."""
    try:
        return max(0, int(most.read_text()) - int(used.read_text()))
    except (OSError, ValueError):  # no such file; "max": no limit
        return None


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
