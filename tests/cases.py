"""Small data, and the ways to grow on it that tests go through.

A *case* is one choice on each of AXES; tests take all of them on few rows, or a *cover*: few cases
in which every two choices meet.
"""

import random
from collections import namedtuple
from itertools import combinations, product

import numpy as np
import pytest

from forestlab.core.arrays import Limits
from forestlab.core.categories import CHOICES
from forestlab.core.criteria import CRITERIA, Entered
from forestlab.core.leaves import LEAVES
from forestlab.core.missing import MISSING
from forestlab.core.options import OPTIONS, Axis, Band, Fitted, Oblique, Quadratic
from forestlab.core.search import SEARCHES
from forestlab.forest import Recipe

N_CLASSES = 5  # the first and the last have no rows
NO_LIMIT = 2**31 - 1
SEED = 2**63 + 11

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
    y = (signal[:, None] + rng.normal(size=(len(X), n_targets))).round(1)
    return np.maximum(y, 0) if CRITERIA[criterion].counts else y


def with_holes(rng, X, shares):
    """X with a share of each column missing, and the whole of its first row."""
    holes = rng.random(X.shape) < shares
    holes[0] = True
    return np.where(holes, np.nan, X)


def with_levels(X):
    """X with columns of categories, made of the numbers there; not all of their levels occur."""
    X = X.copy()
    for j, n_levels in enumerate(LEVELS):
        if n_levels:
            X[:, j] = np.floor(abs(X[:, j]) * 3.7) % (n_levels - 1)
    return X


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

LEARNERS = {
    "axis": Axis(),
    "oblique": Oblique(),
    "three signs": Oblique(3, "signs"),
    "fitted": Fitted(),
    "quadratic": Quadratic(),
    "band": Band(),
    "oblique band": Band(2, "uniform", "oblique"),
}

MAIN_AXES = {
    "criterion": tuple(CRITERIA),
    "n_targets": (1, 2),
    "search": tuple(SEARCHES),
    "learner": tuple(LEARNERS),
    "random_ties": (False, True),
    "rho": (0, 3),
}
AXES = MAIN_AXES | {
    "subspace": tuple(SUBSPACES),
    "count_constant": (False, True),
    "midpoint": (False, True),
    "rho": (0, 1, 3),
    "pairs": (False, True),
    "n_thresholds": (0, 2),
    "max_bins": (255, 7),
    "limits": tuple(LIMITS),
    "weighted": (False, True),
    "bag": tuple(BAGS),
    "data": tuple(DATA),
    "missing": tuple(MISSING),
    "leaf": tuple(LEAVES),
    "categories": ("none", *CHOICES),
}
LEVELS = 0, 5, 0, 14, 0  # of each column, if there are categories
HOLES = 0.1, 0.5, 0.0, 0.9, 1.0  # the share of each column that is missing, if any may be
Case = namedtuple("Case", AXES, defaults=[choices[0] for choices in AXES.values()])


def classifies(case):
    return CRITERIA[case.criterion].task == "classification"


def goes_together(criterion, learner, search):
    if search == "boundary" and not CRITERIA[criterion].at_boundaries:
        return False
    return "band" not in learner or search in ("exact", "histogram")


def makes_sense(case):
    """Rounding decides between equal numbers of fitted directions, so these have none."""
    if not goes_together(case.criterion, case.learner, case.search):
        return False
    if case.pairs and (case.rho == 0 or case.learner != "axis" or case.search == "uniform"):
        return False
    if case.learner == "fitted" and case.data != "continuous":
        return False
    if classifies(case):
        return case.n_targets == 1 and case.leaf == "mean"
    return case.bag != "balanced"


# Learner and search → criterion and whether nodes draw parameters, of the few kernels compiled.
FEW = {
    ("axis", "uniform"): ("gini", False),
    ("oblique", "exact"): ("gini", False),
    ("oblique", "histogram"): ("gini", False),
    ("three signs", "exact"): ("gini", False),
    ("oblique", "uniform"): ("variance", True),
    ("fitted", "exact"): ("variance", False),
    ("quadratic", "exact"): ("entropy", True),
    ("band", "exact"): ("variance", True),
    ("band", "histogram"): ("variance", True),
    ("oblique band", "exact"): ("gini", False),
}
# Criterion, boundaries or not, whole weights or not, missing values: likewise, of pairs.
PAIRED = {("gini", False, True, "error"), ("variance", True, False, "learned")}


# What else leaves are compiled with.
MADE_WITH = "criterion", "learner", "search", "rho", "weighted", "missing"
LEAF_KERNELS = {
    "median": dict(zip(MADE_WITH, ("variance", "axis", "exact", 0, True, "error"), strict=True)),
    "mode": dict(zip(MADE_WITH, ("variance", "axis", "boundary", 3, False, "error"), strict=True)),
}


# Likewise of categories: few, as each takes some twelve seconds. The first is quick.
CATEGORY_KERNELS = {
    "subset": [
        dict(zip(MADE_WITH, made, strict=True))
        for made in (
            ("gini", "axis", "exact", 0, True, "learned"),
            ("variance", "oblique", "exact", 0, False, "branch"),
            ("absolute_error", "axis", "exact", 0, False, "both"),
        )
    ],
    "equality": [
        dict(zip(MADE_WITH, made, strict=True))
        for made in (
            ("variance", "axis", "exact", 3, False, "both"),
            ("entropy", "band", "exact", 0, False, "error"),
        )
    ],
}


# Criterion whose sides rows enter, and learner → whether nodes draw parameters, what is missing.
FEW_ENTERED = {
    ("absolute_error", "axis"): {(False, "error")},
    ("absolute_error", "band"): {(False, "error")},
    ("poisson", "axis"): {(False, "error"), (True, "error")},
    ("gaussian", "axis"): {(False, "error"), (False, "learned")},
    ("kde", "axis"): {(False, "error")},
}


# Kernels of the ways in which sides are not learned: as `kernel_of` has them.
SETTLED = {
    ("variance", "axis", "exact", False, False, "branch", "", "mean", "none"),
    ("gini", "oblique", "exact", True, True, "branch", "", "mean", "none"),
    ("variance", "band", "exact", True, True, "branch", "", "mean", "none"),
    ("gaussian", "axis", "exact", False, False, "branch", "", "mean", "none"),
    ("gini", "axis", "exact", False, False, "both", "", "mean", "none"),
    ("entropy", "axis", "boundary", True, False, "both", "", "mean", "none"),
    ("variance", "oblique", "uniform", False, False, "both", "", "mean", "none"),
    ("variance", "band", "exact", True, False, "both", "", "mean", "none"),
    ("absolute_error", "axis", "exact", False, False, "both", "", "mean", "none"),
    ("variance", "axis", "exact", True, False, "both", "pairs", "mean", "none"),
}


def is_compiled(case):
    """Axis cuts: of criterion × search × rho half the kernels, in which still every two choices
    meet, and of those for missing values one a criterion. Of other learners, and of parameters
    drawn as pairs, a kernel or two each: compiling takes seconds, and all of them run uncompiled.
    """
    criterion = CRITERIA[case.criterion].alias_of or case.criterion
    if case.categories != "none":
        return any(
            all(getattr(case, axis) == it for axis, it in made.items())
            for made in CATEGORY_KERNELS[case.categories]
        )
    if case.missing in ("branch", "both"):
        return kernel_of(case) in SETTLED
    if case.leaf != "mean":
        return all(getattr(case, axis) == it for axis, it in LEAF_KERNELS[case.leaf].items())
    if isinstance(CRITERIA[criterion], Entered):
        few = FEW_ENTERED.get((criterion, case.learner), ())
        return case.search in ("exact", "histogram") and (case.rho > 0, case.missing) in few
    if case.learner != "axis" or case.search == "uniform":
        is_whole = not case.weighted and case.bag != "balanced"
        few = FEW.get((case.learner, case.search))
        return is_whole and few == (criterion, case.rho > 0)
    number = [name for name, row in CRITERIA.items() if not row.alias_of].index(criterion)
    boundary, randomised = case.search == "boundary", case.rho > 0
    if case.pairs:
        is_whole = not case.weighted and case.bag != "balanced"
        return (criterion, boundary, is_whole, case.missing) in PAIRED
    if case.missing == "error":
        return (number + boundary + randomised) % 2 == 0
    whole = not case.weighted and case.bag != "balanced"
    chosen = number % 2 == 1, number % 4 in (1, 2), number % 4 in (2, 3)
    return (whole, boundary, randomised) == chosen


def kernel_of(case):
    """What the kernel that grows a case's trees is made of."""
    criterion = CRITERIA[case.criterion].alias_of or case.criterion
    search = SEARCHES[case.search].alias_of or case.search
    is_whole = not case.weighted and case.bag != "balanced" and case.missing != "both"
    whole = is_whole and not isinstance(CRITERIA[criterion], Entered)
    choices = case.missing, "pairs" if case.pairs else "", case.leaf, case.categories
    return criterion, case.learner, search, case.rho > 0, whole, *choices


# Kernels that quick tests compile, at some ten seconds each. Those of learners that draw columns
# are compiled by tests/model/test_learners.py.
QUICK = {
    ("gini", "axis", "exact", False, True, "error", "", "mean", "none"),
    ("gini", "axis", "exact", False, False, "learned", "", "mean", "none"),
    ("gini", "axis", "exact", False, False, "both", "", "mean", "none"),
    ("gini", "axis", "exact", False, True, "branch", "", "mean", "none"),
    ("gini", "axis", "exact", True, True, "error", "pairs", "mean", "none"),
    ("variance", "axis", "boundary", False, False, "error", "", "mean", "none"),
    ("variance", "band", "exact", True, True, "error", "", "mean", "none"),
    ("gini", "axis", "exact", False, False, "learned", "", "mean", "subset"),
}


def is_quick(case):
    return kernel_of(case) in QUICK


def marked(cases):
    """Cases whose kernels quick tests do not compile are long."""
    return [
        case if is_quick(case) else pytest.param(case, marks=pytest.mark.long) for case in cases
    ]


def half_marked(cases):
    """Half of them, by chance, are long: all take two minutes."""
    rng = random.Random(2)
    return [
        case if rng.random() < 0.5 else pytest.param(case, marks=pytest.mark.long) for case in cases
    ]


def n_with(marks, cases):
    """How many of the cases have such marks: "", "long" or "not long"."""
    n_quick = sum(isinstance(case, Case) for case in cases)
    return {"": len(cases), "long": len(cases) - n_quick, "not long": n_quick}[marks]


def random_case(rng, **chosen):
    """A case that makes sense, with some choices made; leaves are means, and columns numbers,
    unless one says else."""
    chosen = {"leaf": "mean", "categories": "none"} | chosen
    while True:
        open_axes = {name: choices for name, choices in AXES.items() if name not in chosen}
        case = Case(**{name: rng.choice(choices) for name, choices in open_axes.items()} | chosen)
        if makes_sense(case):
            return case


def is_taken(main):
    """Do these choices go together? Of criteria whose sides rows enter, which take longer, half: of
    the last three axes any two choices still meet."""
    row = CRITERIA[main["criterion"]]
    if isinstance(row, Entered) and (main["n_targets"] + main["random_ties"] + main["rho"]) % 2:
        return False
    if main["n_targets"] > 1 and row.task != "regression":
        return False
    return goes_together(main["criterion"], main["learner"], main["search"])


def all_cases():
    """Every choice on the main axes, each with random ones on the others."""
    rng, of_leaves, of_columns = random.Random(0), random.Random(1), random.Random(3)
    mains = [dict(zip(MAIN_AXES, main, strict=True)) for main in product(*MAIN_AXES.values())]
    cases = [random_case(rng, **main) for main in mains if is_taken(main)]
    cases = [case._replace(categories=of_columns.choice(AXES["categories"])) for case in cases]
    return [
        case if classifies(case) else case._replace(leaf=of_leaves.choice(list(LEAVES)))
        for case in cases
    ]


def pairs(case):
    return frozenset(combinations(case._asdict().items(), 2))


def covering(cases, wanted=lambda pair: True):
    """Few of the cases in which every two wanted choices meet that do in any; chosen greedily."""
    pairs_of = {case: {*filter(wanted, pairs(case))} for case in cases if is_compiled(case)}
    still = set().union(*pairs_of.values())
    chosen = []
    while still:
        chosen.append(max(pairs_of, key=lambda case: len(pairs_of[case] & still)))
        still -= pairs_of[chosen[-1]]
    return chosen


def cover():
    """Few cases in which every two choices that can meet do. What is missing is a choice by itself:
    those who take no missing values cover all others, and the rest what meets with theirs; so are
    leaves that answer no mean."""
    rng = random.Random(0)
    chosen = covering([random_case(rng, missing="error") for _ in range(9000)])
    for missing in MISSING:
        if missing != "error":
            drawn = [random_case(rng, missing=missing) for _ in range(4000)]
            chosen += covering(drawn, lambda pair, way=("missing", missing): way in pair)
    for leaf, made in LEAF_KERNELS.items():
        drawn = [random_case(rng, leaf=leaf, **made) for _ in range(500)]
        chosen += covering(drawn, lambda pair, way=("leaf", leaf): way in pair)
    for choice, kernels in CATEGORY_KERNELS.items():
        for made in kernels:
            drawn = [random_case(rng, categories=choice, **made) for _ in range(300)]
            chosen += covering(drawn, lambda pair, way=("categories", choice): way in pair)
    return chosen


FLAGS = "count_constant", "midpoint", "weighted", "random_ties", "pairs"


def name_of(case):
    """For people to read in a list of tests: what is switched off is left out."""
    flags = [name for name in FLAGS if getattr(case, name)]
    counts = [f"{name} {getattr(case, name)}" for name in ("n_targets", "rho", "n_thresholds")]
    words = [case.criterion, case.learner, case.search]
    words += [case.subspace, case.limits, case.bag, case.data]
    words += [] if case.leaf == "mean" else [f"leaf {case.leaf}"]
    words += [] if case.categories == "none" else [f"categories {case.categories}"]
    missing = [] if case.missing == "error" else [f"missing {case.missing}"]
    return ", ".join([*words, f"{case.max_bins} bins", *counts, *flags, *missing])


def recipe_of(case, n_rows, **more):
    """The case's recipe; `more` are limits that replace its own."""
    subspace, bag = dict(SUBSPACES[case.subspace]), dict(BAGS[case.bag])
    limits = {
        "max_depth": NO_LIMIT,
        "min_samples_split": 2,
        "min_samples_leaf": 1,
        "min_weight_fraction_leaf": 0.0,
        "min_impurity_decrease": 0.0,
        "impurity_scale": CRITERIA[case.criterion].scale,
        "max_features": subspace.pop("max_features"),
        "rho": case.rho,
        "pairs": case.pairs,
        "count_constant": case.count_constant,
    }
    search = OPTIONS["search"][case.search](
        "midpoint" if case.midpoint else "value",
        case.n_thresholds or None,
        "random" if case.random_ties else "first",
        **({"bins": case.max_bins} if case.search == "histogram" else {}),
    )
    if bag:
        bag["bag_size"] = int(bag["bag_size"] * n_rows)
    return Recipe(
        case.criterion,
        search,
        Limits(**limits | LIMITS[case.limits] | more),
        N_CLASSES if classifies(case) else 0,
        missing=case.missing,
        **subspace,
        **bag,
        learner=LEARNERS[case.learner],
        leaf=case.leaf,
        **({} if case.categories == "none" else {"levels": LEVELS, "categories": case.categories}),
    )


def data_of(case, n_rows, seed=0):
    """X, y, weights and drawn_by of a case; the last two may be None."""
    rng = np.random.default_rng(seed)
    X = DATA[case.data](rng, n_rows)
    y = targets(rng, X, case.criterion, case.n_targets)
    if case.categories != "none":
        X = with_levels(X)
    weights = quarters(rng, n_rows) if case.weighted else None
    drawn_by = quarters(rng, n_rows) if case.bag == "by weight" else None
    if case.missing != "error":
        X = with_holes(rng, X, np.roll(HOLES, list(DATA).index(case.data)))
    return X, y, weights, drawn_by


def assert_same_tree(tree, nodes, stats, params, bits):
    """Equal in all that is chosen or counted; sums may be rounded differently.

    The kernels add and take away row by row, the twins sum afresh. Sums of N_ROWS numbers near 1
    are then off by some 1e-15; 1e-9 is far above that and far below any real difference. Where
    numbers cancel (a mean of 0, a spread of 0) only the absolute error is small.
    """
    assert len(tree.nodes) == len(nodes)
    projected = ("cut_low", "cut_high") if len(params) else ()
    for field in nodes.dtype.names:
        if field in ("weight", "impurity", *projected):
            np.testing.assert_allclose(tree.nodes[field], nodes[field], 1e-9, 1e-12, err_msg=field)
        else:
            np.testing.assert_array_equal(tree.nodes[field], nodes[field], err_msg=field)
    np.testing.assert_allclose(tree.stats, stats, 1e-9, 1e-12)
    np.testing.assert_allclose(tree.params, params, 1e-9, 1e-12)
    np.testing.assert_array_equal(tree.bits, np.array(bits, np.uint64))
