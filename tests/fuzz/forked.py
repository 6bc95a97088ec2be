"""Cases in processes of their own, so that one that crashes or hangs is counted and no more."""

import json
import os
import resource
import signal
import time
import traceback
from pathlib import Path

import numpy as np

SECONDS = 20  # of the processor's for a case, which all else that a machine does leaves as they are
WAITED = 600  # by the clock, for one that waits for nothing
MEMORY = 2**32  # bytes that a case may ask for, beyond what there is already


def faults(case, numbers, seconds=None):
    """What went wrong in case(rng), for each of these numbers, which seed it.

    Parameters
    ----------
    case : returns None, or what is wrong with what it found; must raise nothing
    seconds : None, or after how many no further case is begun

    Returns
    -------
    {number: what was wrong}, and how many cases there were
    """
    waiting, found, end = list(numbers), {}, time.monotonic() + (seconds or 10**9)
    n_done = 0
    while waiting and time.monotonic() < end:
        done, died = _in_process(case, waiting, end)
        for number, told in done:
            if told:
                found[number] = told
        n_done += len(done)
        if died and len(done) < len(waiting):
            found[waiting[len(done)]] = died
            n_done += 1
        waiting = waiting[n_done - (len(numbers) - len(waiting)) :]
    return found, n_done


def _in_process(case, numbers, end):
    """[number, what was wrong] of the cases up to one that ended the process, and how it ended."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(read)
            _answer(case, numbers, end, write)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        done = [json.loads(line) for line in file if line.endswith("\n")]
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    name = signal.Signals(-code).name if code < 0 else ""
    return done, f"ended by {name}" if name else ""


def _answer(case, numbers, end, write):
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with os.fdopen(write, "w", buffering=1) as file:
        for number in numbers:
            if time.monotonic() > end:
                break
            _limit(SECONDS, WAITED)
            try:
                told = case(np.random.default_rng(number))
            except BaseException:
                told = traceback.format_exc()
            _limit(0, 0)
            file.write(json.dumps([number, told]) + "\n")


def _limit(seconds, waited):
    """End this process by SIGPROF or SIGALRM once it has worked or waited so long; 0: never."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(waited)
