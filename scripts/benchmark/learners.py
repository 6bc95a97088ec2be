"""What a tree of each weak learner costs, in seconds of one core, beside one of axis cuts."""

import itertools
import time

from benchmark.data import SETS, Split, load
from benchmark.measured import Measured
from benchmark.rounds import Settings, orders

FEW_TREES = 5  # of each learner, a round


def measure(name: str, settings: Settings) -> list[Measured]:
    from forestlab.core.options import OPTIONS

    if SETS[name].task != "classification":
        return []
    data, learners = load(name, settings), list(OPTIONS["learner"])
    found: dict[tuple[str, str], list[float]] = {}
    for search in ("exact", "histogram"):
        for learner in learners:
            seconds_a_tree(learner, search, data, 1, 0)  # loads its kernels
        for r, names in orders(learners, settings.rounds, f"{name}, learners, {search}"):
            for learner in names:
                seconds = seconds_a_tree(learner, search, data, FEW_TREES, r)
                found.setdefault((search, learner), []).append(seconds)
    return [
        Measured(
            "learners", name, f"forestlab {search}", learner, "s", tuple(found[search, learner])
        )
        for search, learner in itertools.product(("exact", "histogram"), learners)
    ]


def seconds_a_tree(learner: str, search: str, data: Split, n_trees: int, seed: int) -> float:
    """Data made ready for it included."""
    from forestlab import ForestClassifier

    model = ForestClassifier(n_trees, learner=learner, search=search, random_state=seed)
    start = time.process_time()
    model.fit(data.X_train, data.y_train)
    return (time.process_time() - start) / n_trees
