"""Time to grow trees on bags, on subsets of features, and by two threads."""

import hashlib
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments import above, below, exactly
from experiments._statistics import Measured, over_seeds
from forestlab import ForestClassifier, datasets
from forestlab.config import DatasetConfig
from forestlab.figures.style import COLOURS, DASHES, LINE, dress, panels
from forestlab.figures.words import number_scale, scale

DOCUMENT = "003"
SAYS = """
Bagging grows each tree on a part of the training rows only, which seems wasteful but makes training
faster. Document 004 lists among the advantages of forests that they can be grown in parallel (its
example, XGBoost, is of boosting, whose trees wait for each other), and document 002 that a random
subset of features at each node spares computation.

Seconds depend on the machine and on what else it does, so only ratios are told: two ways to grow a
forest are timed one after the other, in turns that change their order, in one process, and each
pair gives one ratio. A bootstrap has as many draws as there are rows, but only 63 % of the rows in
it: forestlab grows on these, with weights, and takes that much less time. Half of the rows without
replacement do as well.

How much two threads save is compared with what the machine gives to two threads that have nothing
in common, measured in the same turns, since a busy machine has no second core to give. If it gives
less than half of one, the verdict on threads is left out.
"""
N_ROWS, N_TREES, N_TURNS = 4000, 12, 12
ENOUGH = 1.5  # cores, without which two threads tell nothing
MOST_LOST = 0.25


class Contrast(NamedTuple):
    """Two ways, as parameters of a forest, of which the first is said to be faster."""

    fast: dict
    slow: dict
    words: str


ALL_ROWS = {"bootstrap": False, "max_features": None}
BAGGED = {"bootstrap": True, "max_features": None}
CONTRASTS = {
    "bags": Contrast(BAGGED, ALL_ROWS, "bootstraps, to all rows"),
    "half": Contrast(ALL_ROWS | {"max_samples": 0.5}, ALL_ROWS, "half of the rows, to all"),
    "features": Contrast(BAGGED | {"max_features": "sqrt"}, BAGGED, "√p features, to all"),
    "threads": Contrast(BAGGED | {"n_jobs": 2}, BAGGED, "two threads, to one"),
}
LOOPS = "loops"  # what two threads save where they have nothing in common
N_BYTES = 1_000_000  # to be hashed, which keeps a core busy without Python's lock


# ---- table -------------------------------------------------------------------------------------


def table(runs):
    """A row a turn and contrast: seconds of both ways; and whether both answer alike."""
    made = datasets.load(DatasetConfig(name="waveform", n_samples=N_ROWS, data_seed=0))
    X, y = made.frame.to_numpy(), made.target
    ways = {name: _forests(contrast, X, y) for name, contrast in CONTRASTS.items()}
    warm = [timed(*pair, True) for pair in (*ways.values(), ways["threads"])]  # compiles, too
    ways[LOOPS] = _loops(warm[-1]["slow"])  # as long as a fit
    rows = [
        {"turn": turn, "contrast": name, "cores": n_cores()} | timed(fast, slow, turn % 2 == 0)
        for turn in range(N_TURNS)
        for name, (fast, slow) in ways.items()
    ]
    return pd.DataFrame(rows).assign(differ=_differ(X, y))


def n_cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def timed(fast: Callable, slow: Callable, fast_first: bool) -> dict[str, float]:
    """Seconds of both; each turn has the other order."""
    seconds = {}
    ways = [("fast", fast), ("slow", slow)]
    for name, way in ways if fast_first else reversed(ways):
        start = time.perf_counter()
        way()
        seconds[name] = time.perf_counter() - start
    return seconds


def _forests(contrast: Contrast, X, y) -> tuple[Callable, Callable]:
    def of(params: dict) -> Callable:
        return lambda: ForestClassifier(N_TREES, random_state=0, **params).fit(X, y)

    return of(contrast.fast), of(contrast.slow)


def _loops(seconds: float) -> tuple[Callable, Callable]:
    """Two loops in two threads, and one after the other, which takes about so long."""
    data = bytes(N_BYTES)

    def loop(n: int) -> None:
        for _ in range(n):
            hashlib.sha256(data)

    start = time.perf_counter()
    loop(10)
    n = max(1, round(10 * seconds / 2.0 / (time.perf_counter() - start)))

    def together() -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(loop, (n, n)))

    return together, lambda: loop(2 * n)


def _differ(X, y) -> int:
    """Answers that two threads change."""
    one, two = (way().predict_proba(X) for way in _forests(CONTRASTS["threads"], X, y))
    return int((one != two).sum())


# ---- picture -----------------------------------------------------------------------------------


def draw(table):
    words = {name: contrast.words for name, contrast in CONTRASTS.items()}
    words[LOOPS] = "two threads, to one: loops"
    figure, (ax,) = panels(
        f"Time to grow {N_TREES} trees on {N_ROWS:,} waves, as a ratio",
        [5.6], 2.6, left=2.2, right=0.4,
    )  # fmt: skip
    for place, name in enumerate(words):
        ratios = _ratios(table, name)
        found = mean_ratio(table, name)
        ax.plot(ratios, np.full(len(ratios), place), "o", color=COLOURS[0], markersize=4.0,
                alpha=0.35, markeredgewidth=0)  # fmt: skip
        ends = [[found.mean - found.low], [found.high - found.mean]]
        ax.errorbar(found.mean, place, xerr=ends, marker="D", markersize=6.0, capsize=4.0,
                    color="black")  # fmt: skip
    ax.axvline(1.0, color=LINE, linewidth=1.0, linestyle=DASHES)
    ax.set_xlim(0.0, max(1.3, 1.05 * max(_ratios(table, name).max() for name in words)))
    ax.set_ylim(len(words) - 0.5, -0.5)
    cores = int(table["cores"].iloc[0])
    note = f"dots: {N_TURNS} turns; diamonds: mean and 95 %; a machine of {cores} cores"
    dress(ax, "seconds of one way over those of the other", "", note)
    scale(ax, "y", np.arange(len(words)), list(words.values()), grid=False)
    number_scale(ax, "x")
    return figure


# ---- verdicts ----------------------------------------------------------------------------------


def _ratios(table: pd.DataFrame, name: str) -> np.ndarray:
    own = table[table["contrast"] == name].sort_values("turn")
    return (own["fast"] / own["slow"]).to_numpy()


def mean_ratio(table: pd.DataFrame, *names: str) -> Measured:
    """The mean over turns of a ratio, or of one over another, by their logarithms: twice as fast
    and half as fast are as far from equal."""
    logs = np.log(_ratios(table, names[0]))
    for name in names[1:]:
        logs = logs - np.log(_ratios(table, name))
    return over_seeds(logs, "turns").through(np.exp)


def judge(table):
    bar = "1: as fast"
    verdicts = [
        below(
            "seconds to grow trees on bootstraps, over those on all rows",
            mean_ratio(table, "bags"),
            1.0,
            bar,
        ),
        below(
            "seconds with half of the rows for each tree, over those with all",
            mean_ratio(table, "half"),
            1.0,
            bar,
        ),
        below(
            "document 002: seconds with √p features at each node, over those with all",
            mean_ratio(table, "features"),
            1.0,
            bar,
        ),
        exactly(
            "document 004: answers that two threads change",
            0,
            int(table["differ"].max()),
            "a tree's random numbers depend on its place alone",
        ),
    ]
    return verdicts + _of_threads(table)


def _of_threads(table: pd.DataFrame) -> list:
    """What two threads save, if the machine had a second core to give."""
    given = mean_ratio(table, LOOPS)
    if 1.0 / given.mean < ENOUGH:
        return []
    return [
        above(
            "document 004: speed-up by two threads, over that of two loops with nothing in common",
            mean_ratio(table, LOOPS, "threads"),
            1.0 - MOST_LOST,
            "three quarters of it: the rest of a fit, as encoding the columns, is done by one",
        )
    ]
