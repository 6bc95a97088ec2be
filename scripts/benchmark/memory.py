"""What a fit adds to the resident memory at its peak, in a process for each peer."""

import gc
import json
import resource
import subprocess
import sys
import threading

from benchmark.data import SETS, few, load, trees_of
from benchmark.measured import Measured
from benchmark.peers import PEERS, installed
from benchmark.rounds import Settings, tell


def measure(name: str, settings: Settings) -> list[Measured]:
    found = []
    for peer in installed(SETS[name].task, settings):
        if PEERS[peer].starts_cold:
            continue
        tell(f"{name}: memory of {peer}")
        command = [sys.executable, "-m", "benchmark", "--measure", name, peer]
        command += ["--jobs", str(settings.jobs)]
        for option in ("rows", "trees"):
            if given := getattr(settings, option):
                command += [f"--{option}", str(given)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        values = json.loads(done.stdout.splitlines()[-1])
        found += [Measured("memory", name, peer, what, "MB", (values[what],)) for what in values]
    tell("")
    return found


def added(name: str, peer: str, settings: Settings) -> dict[str, float]:
    """MB that a fit adds, once imports and a small fit have been paid for; and what stays."""
    data, make = load(name, settings), PEERS[peer].make(SETS[name].task)
    small = few(data, 2000)  # with columns of more than 256 values, whose kernels are others
    make(n_estimators=2, n_jobs=settings.jobs).fit(small.X_train, small.y_train)
    gc.collect()
    before, peak = resident(), Peak()
    peak.start()
    model = make(n_estimators=trees_of(name, settings), n_jobs=settings.jobs, random_state=0)
    model.fit(data.X_train, data.y_train)
    peak.done.set()
    peak.join()
    most = max(peak.most, resident())
    gc.collect()
    return {"added": most - before, "kept": max(resident() - before, 0.0)}


def resident() -> float:
    """MB of this process that are in memory."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize() / 2**20


class Peak(threading.Thread):
    """Watches the resident memory, 200 times a second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.done = 0.0, threading.Event()

    def run(self):
        while not self.done.wait(0.005):
            self.most = max(self.most, resident())
