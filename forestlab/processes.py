"""Processes, told apart by more than their number, which is given again to others.

The *mark* of a process says where and when it began: host, boot of the machine with the space that
its number is counted in, number, and start. Of the last two parts only Linux tells; elsewhere they
are empty, and the number alone decides.

Also by what signals a person, or a machine, has a process end.
"""

import os
import signal
import socket
from functools import cache
from pathlib import Path

PROC = Path("/proc")


def mark(pid: int | None = None) -> str:
    """The mark of a process of this machine; by default of this one."""
    pid = os.getpid() if pid is None else pid
    return ":".join([socket.gethostname(), _boot(), str(pid), _start(pid)])


def is_alive(marked: str) -> bool | None:
    """Whether the process of a mark still runs; None if that cannot be seen from here."""
    host, boot, pid, start = marked.split(":")
    if host != socket.gethostname():
        return None
    machine, _, counted = boot.partition(".")
    machine_here, _, counted_here = _boot().partition(".")
    if machine != machine_here:
        return False
    if counted != counted_here:  # another container
        return None
    return exists(int(pid)) and (not start or _start(int(pid)) == start)


def exists(pid: int) -> bool:
    """Whether there is a process of this number; one that ended and was not asked for is none."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    fields = _fields(pid)
    return not fields or fields[0] not in "ZX"


def ending_signals() -> list[signal.Signals]:
    """SIGTERM, and SIGHUP of a terminal that is closed, unless nohup has switched it off."""
    found = [signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        found.append(signal.SIGHUP)
    return found


def number(marked: str) -> int:
    return int(marked.split(":")[2])


@cache
def _boot() -> str:
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}.{os.stat(PROC / 'self/ns/pid').st_ino}"
    except OSError:
        return ""


def _start(pid: int) -> str:
    """Ticks from the boot to the start of a process."""
    fields = _fields(pid)
    return fields[19] if fields else ""


def _fields(pid: int) -> list[str]:
    """What Linux tells of a process after its name, which may hold spaces: first its state."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
