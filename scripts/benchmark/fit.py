"""Fit, predict and score; the model on disk; how long one row takes.

Each peer grows a tree of all rows first, so that compilation does not count: of few rows codes are
narrower, and so the kernels others. One row is asked without threads, which only cost then: the
median of ROWS of them.
"""

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmark.data import SETS, Split, load, trees_of
from benchmark.measured import Measured
from benchmark.peers import bytes_on_disk, installed
from benchmark.rounds import Settings, orders, tell, timed

ROWS = 30  # of which each is asked by itself
UNITS = {"fit": "s", "predict": "s", "score": "", "one row": "s", "disk": "MB"}


def measure(name: str, settings: Settings) -> list[Measured]:
    tell(f"{name}: loading")
    data, n_trees = load(name, settings), trees_of(name, settings)
    peers = installed(SETS[name].task, settings)
    for peer, make in peers.items():
        tell(f"{name}: warming up {peer}")
        warm_up(make, data, settings.jobs)
    found: dict[str, list[dict]] = {peer: [] for peer in peers}
    for r, names in orders(list(peers), settings.rounds, name):
        for peer in names:
            tell(f"{name}: round {r + 1} of {settings.rounds}: {peer}")
            model, turn = one_turn(peers[peer], data, n_trees, settings.jobs, r)
            turn["disk"] = bytes_on_disk(peer, model) / 2**20
            turn["one row"] = one_row(model, data)
            found[peer].append(turn)
    return [
        Measured("fit", name, peer, what, UNITS[what], tuple(turn[what] for turn in turns))
        for peer, turns in found.items()
        for what in UNITS
    ]


def warm_up(make: Callable, data: Split, n_jobs: int) -> None:
    one_row(one_turn(make, data, 1, n_jobs, 0)[0], data)


def one_turn(
    make: Callable, data: Split, n_trees: int, n_jobs: int, seed: int
) -> tuple[Any, dict[str, float]]:
    """A fitted model, and its seconds and score."""
    model = make(n_estimators=n_trees, n_jobs=n_jobs, random_state=seed)
    found = {"fit": timed(lambda: model.fit(data.X_train, data.y_train))[0]}
    found["predict"], answer = timed(lambda: model.predict(data.X_test))
    found["score"] = score(answer, data.y_test)
    return model, found


def one_row(model: Any, data: Split) -> float:
    """Seconds of asking for a single row."""
    model.set_params(n_jobs=1)
    rows = data.X_test[:ROWS]
    return statistics.median(
        timed(lambda k=k: model.predict(rows[k : k + 1]))[0] for k in range(len(rows))
    )


def score(answer, y: np.ndarray) -> float:
    """The share of right classes, or R²."""
    if np.issubdtype(y.dtype, np.floating):
        return float(1 - np.mean((answer - y) ** 2) / np.var(y))
    return float(np.mean(answer == y))
