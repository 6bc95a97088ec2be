"""Weights of any unit and any range, and rows of none."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import AdaBoostClassifier

from forestlab import ForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor
from forestlab.core.search import SEARCHES, TIE
from forestlab.forest import prepare

few_examples = settings(max_examples=60, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)

# ---- impurities without rounding ---------------------------------------------------------------


def class_weights(y, w):
    return [sum((v for v, label in zip(w, y, strict=True) if label == k), 0) for k in set(y)]


def gini(y, w):
    """Weight × impurity, as the others here."""
    total = sum(w)
    return total - sum(n * n for n in class_weights(y, w)) / total


def entropy(y, w):
    total = sum(w)
    return sum(n * (total / n).ln() for n in class_weights(y, w))


def misclassification(y, w):
    return sum(w) - max(class_weights(y, w))


def variance(y, w):
    mean = sum(v * t for v, t in zip(w, y, strict=True)) / sum(w)
    return sum(v * (t - mean) ** 2 for v, t in zip(w, y, strict=True))


EXACT = {
    "gini": (gini, Fraction),
    "entropy": (entropy, Decimal),
    "misclassification": (misclassification, Fraction),
    "variance": (variance, Fraction),
}


def scores(criterion, x, y, w):
    """The exact weight × impurity of the whole, and of both sides of each cut of x."""
    impurity, exact = EXACT[criterion]
    y = [exact(float(t)) for t in y] if criterion == "variance" else list(y)
    w = [exact(float(v)) for v in w]
    found = {}
    with localcontext(prec=60):
        for cut in np.unique(x)[:-1]:
            sides = [[i for i in range(len(x)) if (x[i] <= cut) == left] for left in (True, False)]
            found[cut] = sum(impurity([y[i] for i in s], [w[i] for i in s]) for s in sides)
        return impurity(y, w), found


def tree_of(criterion, **options):
    cls = TreeRegressor if criterion == "variance" else TreeClassifier
    return cls(criterion=criterion, max_depth=1, threshold="value", random_state=0, **options)


@pytest.mark.parametrize("span", [0, 8, 16, 40, 90])
@pytest.mark.parametrize(
    "criterion", ["gini", *(pytest.param(c, marks=pytest.mark.long) for c in EXACT if c != "gini")]
)
@few_examples
@given(seed=seeds)
def test_a_cut_is_the_best_however_much_weights_differ(criterion, span, seed):
    """Checked without any rounding: the cut's score is within two ties of the least there is.

    The tree finds a score that is off by a tie at most, and takes the lowest cut within another.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    x, y = rng.integers(0, 12, n).astype(float), rng.integers(0, 3, n)
    w = 10.0 ** rng.uniform(-span, 0, n)
    if len(set(x)) == 1 or len(set(y)) == 1:
        return
    whole, found = scores(criterion, x, y, w)
    tree = tree_of(criterion).fit(x[:, None], y, sample_weight=w)
    cut = float(tree.forest_.nodes["cut_high"][0])
    tie = TIE * n * float(whole)
    assert float(found[cut] - min(found.values())) <= 2 * tie
    # The impurity itself: as good, however near to 0 it is.
    weight, impurity = (tree.forest_.nodes[name][0] for name in ("weight", "impurity"))
    assert float(whole) == pytest.approx(weight * impurity, rel=TIE * n)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
def test_rows_of_hardly_any_weight_do_not_draw_the_cut(criterion):
    X = np.arange(40.0)[:, None]
    y = (X[:, 0] > 14).astype(int)
    y[[3, 20, 30]] ^= 1
    w = np.random.default_rng(6).random(40)
    w[-6:] = 2.2e-16
    tree = tree_of(criterion, ties="first").set_params(threshold="midpoint")
    assert tree.fit(X, y, sample_weight=w).forest_.nodes["cut_high"][0] == 14.5


def test_boosting_reaches_such_weights_and_goes_on():
    """Weights of rows that are right again and again fall to 1e-15 of the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    boosted = AdaBoostClassifier(TreeClassifier(max_depth=2), n_estimators=150, random_state=0)
    boosted.fit(X, y)
    assert len(boosted.estimators_) == 150 or boosted.estimator_errors_[-1] == 0
    assert boosted.score(X, y) > 0.99


# ---- units -------------------------------------------------------------------------------------


def few_rows(cls, n=60):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 3))
    noisy = X[:, 0] + rng.normal(size=n)
    return X, noisy if cls is ForestRegressor else (noisy > 0).astype(int), rng.random(n) + 0.5


@pytest.mark.parametrize("combine", ["average", "product"])
@pytest.mark.parametrize("cls", [ForestClassifier, ForestRegressor])
@pytest.mark.parametrize("factor", [0.01, 100.0, 2.0**40])
def test_the_unit_of_weights_does_not_matter(cls, combine, factor):
    X, y, w = few_rows(cls)
    options = {"min_samples_leaf": 3, "bootstrap": False, "combine": combine, "random_state": 0}
    one, other = (cls(5, **options).fit(X, y, sample_weight=weights) for weights in (w, factor * w))
    answer = "predict_proba" if cls is ForestClassifier else "predict"
    # Sums of 60 numbers, rounded anew: far below the 0.1 by which a fixed smoothing was off.
    np.testing.assert_allclose(getattr(one, answer)(X), getattr(other, answer)(X), 1e-10)


# ---- rows of no weight -------------------------------------------------------------------------


# Each search has a kernel of its own.
QUICK = "exact", "histogram"
SOME = [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in SEARCHES]


@pytest.mark.parametrize("search", SOME)
@pytest.mark.parametrize("cls", [ForestClassifier, ForestRegressor])
def test_rows_of_no_weight_are_as_if_they_were_not_there(cls, search):
    """Many more of them than bins, between, below and above the others."""
    X, y, w = few_rows(cls, 700)
    rng = np.random.default_rng(2)
    X_all, y_all = np.vstack([X, 3 * rng.normal(size=(900, 3))]), np.append(y, y.max() - y[:200])
    y_all = np.append(y_all, y[:700])
    w_all = np.append(w, np.zeros(900))
    order = rng.permutation(1600)
    order = np.concatenate([order[order < 700], order[order >= 700]])
    options = {"bootstrap": False, "max_depth": 6, "search": search, "random_state": 0}
    alone = cls(3, **options).fit(X[order[:700]], y[order[:700]], sample_weight=w[order[:700]])
    beside = cls(3, **options).fit(X_all[order], y_all[order], sample_weight=w_all[order])
    assert alone.forest_.nodes.tobytes() == beside.forest_.nodes.tobytes()


def test_an_out_of_bag_score_is_of_rows_with_weight():
    X, y, w = few_rows(ForestClassifier)
    w[::2] = 0.0
    upside_down = y.copy()
    upside_down[::2] = 1 - y[::2]
    found = [
        ForestClassifier(40, oob_score=True, random_state=0).fit(X, labels, sample_weight=w)
        for labels in (y, upside_down)
    ]
    assert found[0].oob_score_ == found[1].oob_score_
    right = found[0].oob_decision_function_.argmax(axis=1) == y
    assert found[0].oob_score_ == right[1::2].mean()


# ---- too large, too small ----------------------------------------------------------------------

X_SMALL = np.arange(6.0)[:, None]
LABELS = np.arange(6) % 2


@pytest.mark.parametrize("weight", [1e160, 1e308, 1e-160])
@pytest.mark.parametrize("cls", [TreeClassifier, ForestClassifier])
def test_class_weights_that_overflow_are_refused(cls, weight):
    with pytest.raises(ValueError, match=r"class_weight, must lie between .*; got 1e"):
        cls(class_weight={0: 1.0, 1: weight}).fit(X_SMALL, LABELS)


def test_weights_that_overflow_together_are_refused():
    w = np.full(6, 1e60)
    TreeClassifier().fit(X_SMALL, LABELS, sample_weight=w)
    with pytest.raises(ValueError, match="must lie between"):
        TreeClassifier(class_weight={0: 1.0, 1: 1e60}).fit(X_SMALL, LABELS, sample_weight=w)


@pytest.mark.parametrize(
    ("scale", "weight", "refused"),
    [
        (1e149, 1e9, "too large"),
        (1e151, 1.0, "too large"),
        (1e-152, 1.0, "too small"),
        (1e-120, 1e-70, "too small"),
        (1e148, 1.0, None),
        (1e-148, 1.0, None),
        (1e60, 1e100, None),
    ],
)
def test_targets_whose_squares_no_float_holds_are_refused(scale, weight, refused):
    y, w = scale * np.array([1.0, -2.0, 3.0, -4.0, 5.0, -6.0]), np.full(6, weight)
    for model in TreeRegressor(), ForestRegressor(5, bootstrap=False):
        if refused:
            with pytest.raises(ValueError, match=refused):
                model.fit(X_SMALL, y, sample_weight=w)
        else:
            np.testing.assert_allclose(model.fit(X_SMALL, y, sample_weight=w).predict(X_SMALL), y)


@pytest.mark.parametrize("kind", ["not to be written", "with gaps", "backwards", "one for all"])
def test_weights_may_lie_in_memory_as_they_like(kind):
    """The trees are those of a plain array, and so is the kernel: numba would take another one for
    an array of another layout, and what has no strides was taken for 1."""
    rng = np.random.default_rng(5)
    X, y, w = rng.normal(size=(80, 3)), rng.integers(0, 3, 80), rng.integers(1, 5, 80).astype(float)
    laid = {
        "not to be written": np.frombuffer(w.tobytes()),
        "with gaps": np.stack([w, w], axis=1)[:, 0],
        "backwards": w[::-1].copy()[::-1],
        "one for all": np.broadcast_to(3.0, 80),
    }[kind]
    plain = np.array(laid)
    for model in TreeClassifier(random_state=0), ForestClassifier(3, bootstrap=False):
        model.set_params(random_state=0)
        found = model.fit(X, y, sample_weight=laid).forest_
        given = prepare(X, y[:, None].astype(float), model.recipe_, laid).weights
        assert given.flags.writeable
        assert given.strides == (8,)
        twin = model.fit(X, y, sample_weight=plain).forest_
        assert found.nodes.tobytes() == twin.nodes.tobytes()
        assert found.stats.tobytes() == twin.stats.tobytes()
        assert found.nodes["weight"][0] == plain.sum()
