"""Small data, and the ways to grow on it that tests go through.

A *case* is one choice on each of AXES; tests take all of them on few rows, or a *cover*: few cases
in which every two choices meet.
"""

import random
from collections import namedtuple
from itertools import combinations, product

import numpy as np

from forestlab.core.arrays import Settings
from forestlab.core.criteria import CRITERIA
from forestlab.core.search import SEARCHES
from forestlab.forest import Recipe

N_CLASSES = 5  # the first and the last have no rows
NO_LIMIT = 2**31 - 1

# ---- data --------------------------------------------------------------------------------------


def continuous(rng, n_rows):
    return rng.normal(size=(n_rows, 5))


def ties(rng, n_rows):
    return rng.integers(-2, 3, (n_rows, 5)).astype(float)


def constants(rng, n_rows):
    """Three columns of five are constant, another nearly so."""
    X = np.ones((n_rows, 5))
    X[:, 1] = rng.normal(size=n_rows)
    X[: n_rows // 4, 3] = 0
    return X


def duplicates(rng, n_rows):
    """Equal rows, whose targets may differ."""
    return rng.normal(size=(n_rows // 3, 5))[rng.integers(0, n_rows // 3, n_rows)]


def xor(rng, n_rows):
    """Two columns decide together and not alone; a third is noise."""
    X = np.zeros((n_rows, 5))
    X[:, 0], X[:, 1] = np.arange(n_rows) % 2, np.arange(n_rows) // 2 % 2
    X[:, 4] = rng.integers(0, 3, n_rows)
    return X


DATA = {make.__name__: make for make in (continuous, ties, constants, duplicates, xor)}


def targets(rng, X, criterion, n_targets):
    """The exclusive or of the first two columns, with noise; (n_rows, n_targets)."""
    signal = (X[:, 0] > X[:, 0].mean()) ^ (X[:, 1] > X[:, 1].mean())
    if CRITERIA[criterion].task == "classification":
        return (1 + signal + (rng.random(len(X)) < 0.2))[:, None].astype(float)
    return (signal[:, None] + rng.normal(size=(len(X), n_targets))).round(1)


def quarters(rng, n_rows):
    """Weights, some of them 0, whose sums are exact in floats: quantiles are the same however
    summed."""
    return np.append(1.0, rng.integers(0, 9, n_rows - 1) / 4)


def awkward(rng, shape, dtype=float):
    """Floats that are close but not equal, equal but not the same, or huge, among others."""
    limits, one = np.finfo(dtype), np.ones(1, dtype)
    steps = np.concatenate([np.nextafter(one, 0), one, np.nextafter(one, 2)])
    ends = [0.0, -0.0, limits.smallest_subnormal, limits.max, -limits.max]
    special = rng.choice(np.concatenate([steps, np.array(ends, dtype)]), shape)
    others = rng.normal(size=shape).round(rng.integers(0, 3)).astype(dtype)
    return np.where(rng.random(shape) < rng.random(), special, others)


# ---- cases -------------------------------------------------------------------------------------

SUBSPACES = {
    "all": {"max_features": 5},
    "tree": {"max_features": 5, "features_per_tree": 3},
    "node": {"max_features": 2},
    "both": {"max_features": 1, "features_per_tree": 4},
}
BAGS = {
    "none": {},
    "with replacement": {"bag_size": 1.0},
    "by weight": {"bag_size": 1.0},
    "half": {"bag_size": 0.5, "replace": False},
    "balanced": {"bag_size": 1.0, "balance_bags": True},
}
LIMITS = {
    "none": {},
    "leaf of 3": {"min_samples_leaf": 3},
    "heavy leaf": {"min_weight_fraction_leaf": 0.07},
    "early": {"max_depth": 3, "min_samples_split": 7, "min_impurity_decrease": 0.013},
}

MAIN_AXES = {
    "criterion": tuple(CRITERIA),
    "n_targets": (1, 2),
    "search": tuple(SEARCHES),
    "subspace": ("all", "tree", "node"),
    "midpoint": (False, True),
    "rho": (0, 1, 3),
    "n_thresholds": (0, 2),
}
AXES = MAIN_AXES | {
    "subspace": tuple(SUBSPACES),
    "max_bins": (255, 7),
    "random_ties": (False, True),
    "limits": tuple(LIMITS),
    "weighted": (False, True),
    "bag": tuple(BAGS),
    "data": tuple(DATA),
}
Case = namedtuple("Case", AXES)


def classifies(case):
    return CRITERIA[case.criterion].task == "classification"


def makes_sense(case):
    return case.n_targets == 1 if classifies(case) else case.bag != "balanced"


def in_compiled_half(case):
    """Of criterion × search × rho half the kernels, in which still every two choices meet."""
    criterion = CRITERIA[case.criterion].alias_of or case.criterion
    number = [name for name, row in CRITERIA.items() if not row.alias_of].index(criterion)
    return (number + (case.search == "boundary") + (case.rho > 0)) % 2 == 0


def random_case(rng, **chosen):
    """A case that makes sense, with some choices made."""
    while True:
        case = Case(**{name: rng.choice(choices) for name, choices in AXES.items()} | chosen)
        if makes_sense(case):
            return case


def all_cases():
    """Every choice on the main axes, each with random ones on the others."""
    rng = random.Random(0)
    mains = [dict(zip(MAIN_AXES, main, strict=True)) for main in product(*MAIN_AXES.values())]
    return [
        random_case(rng, **main)
        for main in mains
        if main["n_targets"] == 1 or CRITERIA[main["criterion"]].task == "regression"
    ]


def pairs(case):
    return frozenset(combinations(case._asdict().items(), 2))


def cover():
    """Few cases in which every two choices that can meet do; chosen greedily."""
    rng = random.Random(0)
    drawn = [random_case(rng) for _ in range(4000)]
    pairs_of = {case: pairs(case) for case in drawn if in_compiled_half(case)}
    missing = set().union(*pairs_of.values())
    chosen = []
    while missing:
        chosen.append(max(pairs_of, key=lambda case: len(pairs_of[case] & missing)))
        missing -= pairs_of[chosen[-1]]
    return chosen


def name_of(case):
    """For people to read in a list of tests: what is switched off is left out."""
    flags = [name for name in ("midpoint", "weighted", "random_ties") if getattr(case, name)]
    counts = [f"{name} {getattr(case, name)}" for name in ("n_targets", "rho", "n_thresholds")]
    words = [case.criterion, case.search, case.subspace, case.limits, case.bag, case.data]
    return ", ".join([*words, f"{case.max_bins} bins", *counts, *flags])


def recipe_of(case, n_rows, **more):
    """The case's recipe; `more` are settings that replace its own."""
    subspace, bag = dict(SUBSPACES[case.subspace]), dict(BAGS[case.bag])
    settings = {
        "max_depth": NO_LIMIT,
        "min_samples_split": 2,
        "min_samples_leaf": 1,
        "min_weight_fraction_leaf": 0.0,
        "min_impurity_decrease": 0.0,
        "impurity_scale": CRITERIA[case.criterion].scale,
        "max_features": subspace.pop("max_features"),
        "rho": case.rho,
        "n_thresholds": case.n_thresholds,
        "midpoint": case.midpoint,
        "random_ties": case.random_ties,
    }
    if bag:
        bag["bag_size"] = int(bag["bag_size"] * n_rows)
    return Recipe(
        case.criterion,
        case.search,
        Settings(**settings | LIMITS[case.limits] | more),
        N_CLASSES if classifies(case) else 0,
        **subspace,
        **bag,
    )


def data_of(case, n_rows, seed=0):
    """X, y, weights and drawn_by of a case; the last two may be None."""
    rng = np.random.default_rng(seed)
    X = DATA[case.data](rng, n_rows)
    y = targets(rng, X, case.criterion, case.n_targets)
    weights = quarters(rng, n_rows) if case.weighted else None
    return X, y, weights, quarters(rng, n_rows) if case.bag == "by weight" else None
