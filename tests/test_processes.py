"""Whether a process is still there, and not another of its number."""

import os
import subprocess
import sys
import time

import pytest

from forestlab import processes

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when one began")


def changed(mark: str, part: int, text: str) -> str:
    parts = mark.split(":")
    parts[part] = text
    return ":".join(parts)


def test_this_process_lives_and_one_that_ended_does_not():
    assert processes.is_alive(processes.mark())
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as other:
        mark = processes.mark(other.pid)
        assert processes.is_alive(mark)
        assert processes.number(mark) == other.pid
    assert processes.is_alive(mark) is False


@on_linux
def test_one_that_nobody_has_asked_for_is_dead():
    other = subprocess.Popen([sys.executable, "-c", ""])
    mark, until = processes.mark(other.pid), time.monotonic() + 60
    while processes.is_alive(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert processes.is_alive(mark) is False
    os.kill(other.pid, 0)  # its number is still taken
    other.wait()


@on_linux
def test_another_process_of_the_same_number_is_another():
    mark = processes.mark()
    start = mark.split(":")[3]
    assert processes.is_alive(changed(mark, 3, str(int(start) - 1))) is False
    assert processes.is_alive(changed(mark, 3, ""))  # where nobody tells, the number decides


@on_linux
def test_what_cannot_be_seen_is_not_judged():
    mark = processes.mark()
    boot, counted = mark.split(":")[1].split(".")
    assert processes.is_alive(changed(mark, 0, "elsewhere")) is None
    assert processes.is_alive(changed(mark, 1, f"{boot}.{int(counted) + 1}")) is None
    assert processes.is_alive(changed(mark, 1, f"another.{counted}")) is False  # booted since
