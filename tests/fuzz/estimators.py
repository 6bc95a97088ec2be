"""Estimators with random parameters, on random tables: each fits and answers, or says why not.

    NUMBA_DISABLE_JIT=1 python -m fuzz.estimators FIRST END

writes, as JSON, what went wrong in these cases, by their numbers, and how many there were. Without
the JIT a kernel that would read past the end of an array raises, and all kernels are at hand.
"""

import json
import pickle
import sys
import warnings

import numpy as np
import pandas as pd
from fuzz.forked import faults
from scipy import sparse

from forestlab import (
    DensityForest,
    ForestClassifier,
    ForestRegressor,
    TreeClassifier,
    TreeRegressor,
)
from forestlab.core.criteria import CRITERIA
from forestlab.core.options import OPTIONS, Histogram, Oblique

ESTIMATORS = (TreeClassifier, TreeRegressor, ForestClassifier, ForestRegressor, DensityForest)

# ---- parameters --------------------------------------------------------------------------------

COUNTS = (1, 2, 5, 2**31, 2**70, 0, -1, np.int8(3), np.uint64(2), True)
SHARES = (0.1, 0.5, 1.0, 0.0, -0.5, 1.5, np.float32(0.3), np.nan, np.inf, 1e-300, 1e300)
WRONG = (None, "x", "", b"x", [], [1], {}, {"a": 1}, (), object, np.array([1, 2]), 1j, np.nan, -3)
FLAGS = (True, False, np.bool_(True), 1, "yes")
CHOICES = {
    "n_estimators": (1, 2, 3, 0, -1, 2.0, True, 10**15),
    "criterion": (*CRITERIA, "log_loss", "Gini"),
    "max_depth": (None, *COUNTS),
    "min_samples_split": (*COUNTS, *SHARES),
    "min_samples_leaf": (*COUNTS, *SHARES),
    "min_weight_fraction_leaf": SHARES,
    "min_impurity_decrease": SHARES,
    "max_leaf_nodes": (None, *COUNTS),
    "ccp_alpha": (*SHARES, "cv", "valid", "best"),
    "ccp_rule": ("best", "one_se"),
    "ccp_cost": ("criterion", "misclassification"),
    "max_features": (None, "sqrt", "log2", "log", *COUNTS, *SHARES),
    "count_constant": FLAGS,
    "subspace": ("node", "tree"),
    "bootstrap": FLAGS,
    "max_samples": (None, 1, 2, 5, 40, 0, True, *SHARES),
    "oob_score": (*FLAGS, "accuracy", "r2", "nothing"),
    "search": (*OPTIONS["search"], Histogram(n_thresholds=2), Histogram(bins=2), Histogram(bins=0)),
    "threshold": ("midpoint", "value"),
    "n_thresholds": COUNTS,
    "ties": ("random", "first"),
    "learner": (*OPTIONS["learner"], Oblique(terms=5), Oblique(terms=10**6), Oblique(weights="x")),
    "rho": (None, *COUNTS),
    "rho_draws": ("features", "pairs"),
    "missing": ("learned", "branch", "both", "error"),
    "categorical_features": (None, "from_dtype", [0], [True, False], ["a"], [99], [-1]),
    "categories": ("subset", "equality"),
    "leaf": ("mean", "median", "mode"),
    "monotonic_cst": ([1], [1, 0], [1, -1, 0, 0], {"a": 1}, {"zz": 1}, [2, 0]),
    "prune": (None, "oob"),
    "shrink": (None, 0.0, 10, 1e300, "oob", -1, np.nan),
    "aggregate": FLAGS,
    "aggregate_step": SHARES,
    "combine": ("average", "product", "vote"),
    "class_weight": ("balanced", "balanced_subsample", {0: 2, 1: 1}, {"a": 2}, [{0: 1}], {0: -1}),
    "n_jobs": (None, 1, 2, -1, 0, -(10**6), 10**20),
    "random_state": (0, 2**32 - 1, 2**32, -1, np.random.RandomState(0), np.random.default_rng(0)),
    "covariance": ("diagonal", "full"),
    "ridge": SHARES,
    "verbose": (0,),
    "warm_start": FLAGS,
    "backend": ("threads",),  # another is a matter of seconds: tests/forest/test_spread.py
}


def one(values, rng):
    return values[rng.integers(len(values))]


def any_params(cls, rng):
    names = [name for name in cls().get_params(deep=False) if name in CHOICES]
    drawn = rng.choice(names, size=rng.integers(0, 4), replace=False)
    few = {"n_estimators": 2} if "n_estimators" in names else {}
    return few | {
        name: one(WRONG if rng.random() < 0.08 and name != "verbose" else CHOICES[name], rng)
        for name in map(str, drawn)
    }


# ---- tables ------------------------------------------------------------------------------------


def _with(values, some, rng):
    """Numbers, of which some are others."""
    X = values.copy()
    if X.size:
        X.reshape(-1)[rng.integers(X.size, size=1 + X.size // 6)] = some
    return X


def _frame(X, rng):
    frame = pd.DataFrame(X, columns=list("abcdef")[: X.shape[1]])
    if X.shape[1]:
        levels = np.array(["up", "down", "", "é"])[rng.integers(0, 4, len(X))]
        frame[frame.columns[0]] = one((pd.Categorical(levels), levels, levels == "up"), rng)
    return frame


TABLES = {
    "normal": lambda X, rng: X,
    "whole": lambda X, rng: np.floor(X),
    "constant": lambda X, rng: np.ones_like(X),
    "rounded": lambda X, rng: X.astype(np.float32),
    "small": lambda X, rng: X.astype(np.int8),
    "unsigned": lambda X, rng: np.abs(X).astype(np.uint64),
    "truth": lambda X, rng: X > 0,
    "huge": lambda X, rng: X * 1e300,
    "tiny": lambda X, rng: X * 1e-310,
    "missing": lambda X, rng: _with(X, np.nan, rng),
    "all missing": lambda X, rng: np.full_like(X, np.nan),
    "infinite": lambda X, rng: _with(X, np.inf, rng),
    "words": lambda X, rng: np.where(X > 0, "a", "b"),
    "objects": lambda X, rng: np.where(X > 0, "a", X).astype(object),
    "none": lambda X, rng: _with(X.astype(object), None, rng),
    "things": lambda X, rng: _with(X.astype(object), object(), rng),
    "complex": lambda X, rng: X + 1j,
    "dates": lambda X, rng: np.abs(X * 1e9).astype("M8[s]"),
    "frame": _frame,
    "twice a name": lambda X, rng: pd.DataFrame(X, columns=["a"] * X.shape[1]),
    "rows": lambda X, rng: X.tolist(),
    "ragged": lambda X, rng: [[1, 2], [3]] * (len(X) // 2),
    "sparse": lambda X, rng: sparse.csr_matrix(np.maximum(X, 0)),
    "sparse columns": lambda X, rng: sparse.csc_array(np.maximum(X, 0)),
    "flat": lambda X, rng: X.ravel(),
    "deep": lambda X, rng: X[None],
    "number": lambda X, rng: 3,
    "nothing": lambda X, rng: None,
}
USUAL = ("normal", "whole", "missing", "frame", "rounded", "sparse")


def any_table(rng, shape):
    kind = one(USUAL if rng.random() < 0.8 else tuple(TABLES), rng)
    with np.errstate(all="ignore"):
        return TABLES[kind](rng.normal(size=shape), rng)


TARGETS = {
    "two": lambda n, rng: rng.integers(0, 2, n),
    "three": lambda n, rng: rng.integers(0, 3, n),
    "words": lambda n, rng: np.array(["a", "b", "c"])[rng.integers(0, 3, n)],
    "objects": lambda n, rng: np.array(["a", "b"], object)[rng.integers(0, 2, n)],
    "truth": lambda n, rng: rng.random(n) > 0.5,
    "one": lambda n, rng: np.zeros(n),
    "numbers": lambda n, rng: rng.normal(size=n),
    "counts": lambda n, rng: rng.integers(0, 9, n).astype(float),
    "huge": lambda n, rng: rng.normal(size=n) * 1e200,
    "tiny": lambda n, rng: rng.normal(size=n) * 1e-200,
    "missing": lambda n, rng: _with(rng.normal(size=n), np.nan, rng),
    "infinite": lambda n, rng: _with(rng.normal(size=n), -np.inf, rng),
    "several classes": lambda n, rng: rng.integers(0, 3, (n, 2)),
    "several numbers": lambda n, rng: rng.normal(size=(n, 2)),
    "mixed": lambda n, rng: np.array([1, "a"] * n, object)[:n],
    "none": lambda n, rng: np.array([None] * n),
    "longer": lambda n, rng: np.zeros(n + 1),
    "deep": lambda n, rng: np.zeros((n, 1, 1)),
    "list": lambda n, rng: list(range(n)),
    "series": lambda n, rng: pd.Series(rng.integers(0, 2, n)),
    "dates": lambda n, rng: np.arange(n).astype("M8[D]"),
    "nothing": lambda n, rng: None,
}
WEIGHTS = {
    "none": lambda n, rng: None,
    "some": lambda n, rng: rng.random(n),
    "zeros": lambda n, rng: (rng.random(n) > 0.5) * 1.0,
    "no": lambda n, rng: np.zeros(n),
    "negative": lambda n, rng: rng.normal(size=n),
    "missing": lambda n, rng: np.full(n, np.nan),
    "huge": lambda n, rng: rng.random(n) * 1e300,
    "longer": lambda n, rng: np.ones(n + 1),
    "words": lambda n, rng: np.array(["a"] * n),
}


def any_targets(cls, rng, n):
    usual = ("numbers", "counts", "several numbers") if "Regressor" in cls.__name__ else ()
    usual = usual or ("two", "three", "words", "truth", "several classes")
    return TARGETS[one(usual if rng.random() < 0.85 else tuple(TARGETS), rng)](n, rng)


# ---- a case ------------------------------------------------------------------------------------

# What Python or NumPy says where nobody has looked: no sentence for a user.
UNCLEAR = (
    "not supported between",
    "has no len",
    "unsupported operand",
    "could not be broadcast",
    "could not broadcast",
    "is not iterable",
    "is not subscriptable",
    "out of bounds",
    "unexpected keyword",
    "positional argument",
    "truth value of an array",
    "zero-size array",
    "ufunc",
    "unhashable",
    "must be real number",
    "object is not callable",
    "cannot reshape",
    "negative dimensions",
)


def unclear(error):
    text = str(error)
    if not isinstance(error, ValueError | TypeError) or not text.strip():
        return True
    if text.startswith(("Complex data not", "Expected 2D array")):  # scikit-learn shows all of it
        return False
    return len(text) > 1_500 or any(words in text for words in UNCLEAR)


ROWS, COLUMNS = (0, 1, 2, 3, *[12] * 12, *[25] * 12), (0, *[1, 2, 3, 4] * 8)


def case(rng):
    """What went wrong, or None."""
    cls = one(ESTIMATORS, rng)
    shape = one(ROWS, rng), one(COLUMNS, rng)
    params, X = any_params(cls, rng), any_table(rng, shape)
    y = any_targets(cls, rng, shape[0])
    weight = WEIGHTS[one(tuple(WEIGHTS) if rng.random() < 0.15 else ("none",), rng)](shape[0], rng)
    told = f"{cls.__name__}({params}) of {type(X).__name__} {shape}"
    try:
        model = cls(**params).fit(X, y, sample_weight=weight)
        answered = _answers(model, X, rng)
        asked = any_table(rng, (one((0, 1, 7), rng), shape[1]))
    except Exception as error:
        return f"{told}: {error!r}" if unclear(error) else None
    try:
        model.predict(asked)
    except Exception as error:
        return f"{told}, asked of {type(asked).__name__}: {error!r}" if unclear(error) else None
    return f"{told}: {answered}" if answered else None


def _answers(model, X, rng):
    """What is wrong with the answers of a fitted model, or None."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    answers = np.asarray(model.predict(X))
    if len(answers) != n:
        return "as many answers as rows are expected"
    if answers.dtype.kind == "f" and not np.isfinite(answers).all():
        return f"answers {answers[~np.isfinite(answers)][:3]}"
    if hasattr(model, "predict_proba"):
        found = model.predict_proba(X, depth=one((None, 0, 1, 2**40), rng))
        for p in found if isinstance(found, list) else [found]:
            if not (np.allclose(p.sum(axis=1), 1) and (p >= 0).all()):
                return f"probabilities {p[:2]}"
    if rng.random() < 0.2:
        again = pickle.loads(pickle.dumps(model))
        if not np.array_equal(np.asarray(again.predict(X)), answers):
            return "a pickle answers otherwise"
    return None


def quiet(rng):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return case(rng)


if __name__ == "__main__":
    found, n_done = faults(quiet, range(int(sys.argv[1]), int(sys.argv[2])))
    print(json.dumps([found, n_done]))
