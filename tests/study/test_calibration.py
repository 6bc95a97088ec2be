"""Calibration: against its twin, scikit-learn and the definitions; its sums, and its picture."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from pictures import all_boxes, check_apart, check_within, draw_all, legend, notes, words, x_words
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from forestlab import ForestClassifier, figures
from forestlab.core.combine import COMBINERS
from forestlab.figures.style import COLOURS
from forestlab.forest import Asked, by_depth, combined, rows_outside
from forestlab.study.calibration import (
    PART,
    Calibration,
    add_answers,
    bins_of,
    calibration,
    calibration_by_depth,
    empty_sums,
)
from forestlab.study.part import Look
from forestlab.study.surface import surface

pytestmark = pytest.mark.filterwarnings("error")

# Sums are in units of 2⁻³²: a mean is off by half of one. Parts of Brier's score are sums over at
# most 11 classes of squares of at most 1, whose error is twice that of what is squared.
HALF_UNIT = 2.0**-33
CLOSE = {"rtol": 0.0, "atol": 1.01 * HALF_UNIT}
CLOSE_PARTS = {"rtol": 0.0, "atol": 2 * 11 * HALF_UNIT}
PARTS = ["brier", "reliability", "resolution", "uncertainty", "within_bins"]


def sums_of(answers, truth, voters=None, n_bins=15):
    """All rows at once; answers (D, n, K), or (n, K) of one depth."""
    answers = np.array(answers, ndmin=3)
    sums = empty_sums(len(answers), answers.shape[2], n_bins)
    voters = np.ones(len(truth), int) if voters is None else voters
    add_answers(sums, answers, np.asarray(truth), voters)
    return sums


def calibration_of(answers, truth, voters=None, n_bins=15):
    return calibration(sums_of(answers, truth, voters, n_bins))


def assert_like_twin(found: Calibration, d, answers, truth, n_bins=15):
    expected = naive.calibration(answers, truth, n_bins)
    np.testing.assert_array_equal(found.rows[d], expected["rows"])
    for name in ("confidence", "accuracy", "ece", "mce"):
        np.testing.assert_allclose(getattr(found, name)[d], expected[name], **CLOSE, err_msg=name)
    for name in PARTS:
        one, other = getattr(found, name)[d], expected[name]
        np.testing.assert_allclose(one, other, **CLOSE_PARTS, err_msg=name)


def as_bytes(arrays):
    return [array.tobytes() for array in arrays]


# ---- made answers ------------------------------------------------------------------------------


def unsure(rng, n, n_classes):
    return rng.dirichlet(np.ones(n_classes), n)


def sure(rng, n, n_classes):
    return rng.dirichlet(np.full(n_classes, 0.1), n)


def votes(rng, n, n_classes):
    """Of 30 trees: many a share is on an edge of 15, 10 or 3 bins, and many are equal."""
    return rng.multinomial(30, np.full(n_classes, 1 / n_classes), n) / 30


def certain(rng, n, n_classes):
    return np.eye(n_classes)[rng.integers(0, n_classes, n)]


def constant(rng, n, n_classes):
    return np.full((n, n_classes), 1 / n_classes)


MADE = [unsure, sure, votes, certain, constant]


@pytest.mark.parametrize("n_bins", [1, 3, 10, 15])
@pytest.mark.parametrize("n_classes", [1, 2, 10])
@pytest.mark.parametrize("make", MADE)
def test_made_answers_like_the_twin_s(make, n_classes, n_bins):
    rng = np.random.default_rng(3)
    answers = np.array([make(rng, 40, n_classes) for _ in range(2)])
    truth = rng.integers(-1, n_classes, 40)
    voters = rng.integers(0, 4, 40)
    found = calibration_of(answers, truth, voters, n_bins)
    asked = voters > 0
    assert 0 < asked.sum() < 40
    for d in range(2):
        assert_like_twin(found, d, answers[d, asked], truth[asked], n_bins)


def test_one_row_is_like_the_twin_s():
    answers, truth = np.array([[0.7, 0.2, 0.1]]), np.array([1])
    assert_like_twin(calibration_of([answers], truth, n_bins=15), 0, answers, truth, 15)


def test_a_case_done_by_hand():
    # Two rows of confidence 0.9, one right; two of 0.6, both right. Four bins.
    answers = [[0.9, 0.1], [0.1, 0.9], [0.6, 0.4], [0.4, 0.6]]
    found = calibration_of(answers, [0, 0, 0, 1], n_bins=4)
    np.testing.assert_array_equal(found.rows, [[0, 0, 2, 2]])
    np.testing.assert_allclose(found.confidence, [[np.nan, np.nan, 0.6, 0.9]], **CLOSE)
    np.testing.assert_array_equal(found.accuracy, [[np.nan, np.nan, 1.0, 0.5]])
    np.testing.assert_allclose(found.ece, [(0.4 + 0.4) / 2], **CLOSE)
    np.testing.assert_allclose(found.mce, [0.4], **CLOSE)
    np.testing.assert_allclose(found.brier, [2 * (0.01 + 0.81 + 0.16 + 0.16) / 4], **CLOSE_PARTS)
    assert found.uncertainty == [2 * 0.75 * 0.25]
    # Class 0 has its four forecasts in four bins, and so has class 1: nothing differs within one.
    np.testing.assert_allclose(found.within_bins, [0.0], **CLOSE_PARTS)
    np.testing.assert_allclose(found.resolution, found.uncertainty, **CLOSE_PARTS)


@pytest.mark.parametrize("n_bins", [1, 2, 3, 7, 10, 15, 49, 100])
def test_an_edge_belongs_to_the_bin_below(n_bins):
    """Also when it is a share of votes of a multiple of as many trees."""
    for n_trees in (n_bins, 2 * n_bins, 7 * n_bins):
        edges = np.arange(n_bins + 1) * (n_trees // n_bins) / n_trees
        expected = np.maximum(np.arange(n_bins + 1) - 1, 0)
        np.testing.assert_array_equal(bins_of(edges, n_bins), expected)
        above = np.nextafter(edges[:-1], 1.0)
        np.testing.assert_array_equal(bins_of(above, n_bins), np.arange(n_bins))


@pytest.mark.parametrize("voters", [[], [0, 0, 0]])
def test_without_rows_there_is_nothing_to_say(voters):
    answers = np.full((2, len(voters), 3), np.nan)
    found = calibration_of(answers, np.zeros(len(voters), int), np.array(voters))
    assert not found.rows.any()
    for name in set(Calibration._fields) - {"rows"}:
        assert np.isnan(getattr(found, name)).all(), name


def test_answers_of_rows_without_voters_are_not_looked_at():
    rng = np.random.default_rng(4)
    answers, truth = unsure(rng, 30, 4), rng.integers(0, 4, 30)
    voters = np.arange(30) % 3
    silent = np.where(voters[:, None] > 0, answers, np.nan)
    asked = voters > 0
    expected = sums_of(answers[asked], truth[asked])
    assert as_bytes(sums_of(silent, truth, voters)) == as_bytes(expected)


# ---- properties --------------------------------------------------------------------------------

few_examples = settings(max_examples=60, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def answered(draw):
    """Answers (D, n, K), truth and voters."""
    rng = np.random.default_rng(draw(seeds))
    n_depths, n, n_classes = draw(st.tuples(*3 * [st.integers(1, 6)]))
    make = draw(st.sampled_from(MADE))
    answers = np.array([make(rng, 5 * n, n_classes) for _ in range(n_depths)])
    truth = rng.integers(draw(st.sampled_from([-1, 0])), n_classes, 5 * n)
    voters = rng.integers(draw(st.sampled_from([0, 1])), 3, 5 * n)
    voters[0] = 1
    return answers, truth, voters


@few_examples
@given(answered(), st.integers(1, 20))
def test_errors_are_shares_and_parts_add_up(rows, n_bins):
    found = calibration_of(*rows, n_bins)
    assert (found.ece >= 0).all()
    assert (found.ece <= found.mce * (1 + 1e-14)).all()  # a mean of at most 20 equal numbers
    assert (found.mce <= 1).all()
    assert (found.rows.sum(axis=1) == np.count_nonzero(rows[2])).all()
    assert (found.brier >= 0).all()
    assert (found.brier <= 2 + CLOSE_PARTS["atol"]).all()
    assert min(found.reliability.min(), found.resolution.min(), found.uncertainty.min()) >= 0
    # Sums of a few hundred terms below 1, in another order.
    assert (found.resolution <= found.uncertainty + 1e-13).all()
    total = found.reliability - found.resolution + found.uncertainty + found.within_bins
    np.testing.assert_allclose(found.brier, total, rtol=0, atol=4e-15)  # roundings of 2 or less


@few_examples
@given(answered(), seeds)
def test_neither_the_order_nor_the_blocks_of_rows_change_a_bit(rows, seed):
    answers, truth, voters = rows
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(truth))
    sums = empty_sums(len(answers), answers.shape[2])
    for block in np.split(order, np.sort(rng.integers(0, len(order), 3))):
        add_answers(sums, answers[:, block], truth[block], voters[block])
    assert as_bytes(sums) == as_bytes(sums_of(*rows))


@few_examples
@given(st.lists(st.integers(1, 40).flatmap(lambda q: st.tuples(st.integers(0, q), st.just(q)))))
def test_a_forest_that_is_right_as_often_as_it_says_has_no_error(groups):
    """Each group: q rows that are given m / q, m of which come true."""
    groups = [(7, 10), *groups]
    p = np.concatenate([np.full(q, m / q) for m, q in groups])
    truth = np.concatenate([np.arange(q) < m for m, q in groups]).astype(int)
    # A tie goes to the first class, of which the other half is.
    found = calibration_of(np.column_stack([1 - p, p]), truth)
    np.testing.assert_allclose(found.ece, 0, **CLOSE)
    np.testing.assert_allclose(found.mce, 0, **CLOSE)
    np.testing.assert_allclose(found.reliability, 0, atol=2 * HALF_UNIT**2 + 1e-30)


# ---- scikit-learn ------------------------------------------------------------------------------


@pytest.mark.parametrize("n_bins", [5, 15])
def test_curves_of_a_class_are_scikit_learn_s(n_bins):
    """It bins the probability of the positive class, not the top label's; empty bins it drops.

    Its edges are those of np.linspace, which miss ours by a bit here and there: no row is on one.
    """
    rng = np.random.default_rng(8)
    p = rng.beta(2, 5, 500)
    y = (rng.random(500) < p**2).astype(int)
    sums = sums_of(np.column_stack([1 - p, p]), y, n_bins=n_bins)
    came_true, forecast = calibration_curve(y, p, n_bins=n_bins)
    count = sums.forecasts[0, 1]
    held = count > 0
    assert not held.all() or n_bins == 5
    np.testing.assert_array_equal((sums.truth[0, 1, held] / count[held]), came_true)
    np.testing.assert_allclose(sums.p[0, 1, held] / 2.0**32 / count[held], forecast, **CLOSE)


def test_brier_s_score_is_twice_scikit_learn_s_of_two_classes():
    """Which counts only one of the two, whose squares are equal."""
    rng = np.random.default_rng(9)
    p, y = rng.random(300), rng.integers(0, 2, 300)
    found = calibration_of(np.column_stack([1 - p, p]), y)
    np.testing.assert_allclose(found.brier, 2 * brier_score_loss(y, p), **CLOSE_PARTS)


# ---- fits --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    """A model whose training lacks a class, its training rows, other rows, and codes of both."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(1400, 4)).round(2)
    codes = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(0, 0.5, 1400), [-1, 0.3, 2.5])
    codes = np.where(codes == 3, -1, codes)
    seen = np.flatnonzero(codes >= 0)[:300]
    model = ForestClassifier(20, random_state=0).fit(X[seen], codes[seen])
    others = np.setdiff1d(np.arange(1400), seen)
    return model, X[seen], codes[seen], X[others], codes[others]


@pytest.mark.parametrize("combiner", COMBINERS)
def test_fits_like_the_twin_s_at_every_depth(fitted, combiner):
    model, _, _, X, truth = fitted
    X, truth = X[:150], truth[:150]
    assert (truth == -1).any()
    found = calibration_by_depth(model.forest_, combiner, X, truth, 8, n_bins=10)
    for d in range(0, 8, 2):
        answers, _ = combined(model.forest_, "classification", combiner, X, d)
        assert_like_twin(found, d, answers, truth, 10)


@pytest.mark.parametrize("combiner", COMBINERS)
def test_the_score_is_the_one_that_metrics_give(fitted, combiner):
    model, _, _, X, truth = fitted
    asked = Asked(model.forest_, "classification", combiner, 6)
    all_trees, _ = surface(asked, X, truth, [20])
    found = calibration_by_depth(model.forest_, combiner, X, truth, 6)
    (brier,), (accuracy,) = all_trees.values["brier"], all_trees.values["accuracy"]
    np.testing.assert_allclose(found.brier, brier, **CLOSE_PARTS)
    right = np.nansum(found.accuracy * found.rows, axis=1) / len(truth)
    np.testing.assert_allclose(right, accuracy, rtol=1e-14)  # a mean of 15 bins' means


@pytest.mark.parametrize("combiner", COMBINERS)
def test_any_number_of_threads_gives_the_same_bits(fitted, combiner):
    model, _, _, X, truth = fitted
    blocks = []
    by_depth(model.forest_, "classification", combiner, X, 6, lambda *b: blocks.append(b), 2)
    assert len(blocks) > 3  # in one thread it is one
    one, two = (
        calibration_by_depth(model.forest_, combiner, X, truth, 6, n_jobs) for n_jobs in (1, 2)
    )
    assert as_bytes(one) == as_bytes(two)


@pytest.mark.parametrize("combiner", COMBINERS)
def test_out_of_bag_rows_are_judged_by_trees_that_left_them_out(fitted, combiner):
    """By the first three trees, so that some rows are in every bag."""
    _, X, truth, *_ = fitted
    first = ForestClassifier(3, random_state=0).fit(X, truth)
    outside = rows_outside(first.recipe_, first.n_rows_, first.chances_, first.seed_, 3)
    found = calibration_by_depth(first.forest_, combiner, X, truth, 5, 2, outside)
    for d in (0, 4):
        answers, voters = combined(first.forest_, "classification", combiner, X, d, outside=outside)
        asked = voters > 0
        assert 0 < asked.sum() < len(X)
        assert_like_twin(found, d, answers[asked], truth[asked])
    inside = calibration_by_depth(first.forest_, combiner, X, truth, 5)
    assert inside.brier[4] < found.brier[4]  # it has learnt those by heart


def test_a_combiner_that_has_no_classes_is_left_out(fitted, monkeypatch):
    of_numbers = {"regression": COMBINERS["average"]["regression"]}
    monkeypatch.setitem(COMBINERS, "only numbers", of_numbers)
    model, X, truth, *_ = fitted
    data = {"train": (X, truth)}
    look = Look(model.grown, data, model.grown.outside(), {}, 3, 50, 1, False, None)
    assert set(PART.find(look)["oob"].by_combiner) == {"average", "product", "vote"}


def test_no_rows_to_ask_for(fitted):
    model, X, truth, *_ = fitted
    found = calibration_by_depth(model.forest_, "average", X[:0], truth[:0], 3)
    assert found.rows.shape == (3, 15)
    assert np.isnan(found.ece).all()


# ---- the picture -------------------------------------------------------------------------------

TITLE = "Calibration of $ 5, and $ 7"


def made_curves(n, n_classes=3, n_depths=13, make=unsure, n_bins=15, seed=0):
    rng = np.random.default_rng(seed)
    answers = np.array([make(rng, n, n_classes) for _ in range(n_depths)])
    truth = np.array([rng.choice(n_classes, p=p) for p in answers[-1]], int)
    return calibration_of(answers, truth, n_bins=n_bins)._asdict()


THREE = {
    "average": made_curves(900),
    "product": made_curves(900, make=sure),
    "vote": made_curves(900, make=votes),
}
NO_ROWS = made_curves(0)

PICTURES = {
    "three": lambda: figures.reliability_diagram(THREE, TITLE),
    "three, depth 4": lambda: figures.reliability_diagram(THREE, TITLE, 4),
    "many rows": lambda: figures.reliability_diagram(
        {"vote": made_curves(1, n_depths=120) | {"rows": np.full((120, 15), 99_999)}}, TITLE
    ),
    "one row": lambda: figures.reliability_diagram({"average": made_curves(1)}, TITLE),
    "one class": lambda: figures.reliability_diagram({"vote": made_curves(30, 1)}, TITLE),
    "one depth": lambda: figures.reliability_diagram({"vote": made_curves(9, n_depths=1)}, TITLE),
    "one bin": lambda: figures.reliability_diagram({"vote": made_curves(9, n_bins=1)}, TITLE),
    "100 bins": lambda: figures.reliability_diagram({"vote": made_curves(999, n_bins=100)}, TITLE),
    "equal": lambda: figures.reliability_diagram(dict.fromkeys("abcdefghij", NO_ROWS), TITLE),
    "no rows": lambda: figures.reliability_diagram({"average": NO_ROWS}, TITLE),
    "one without": lambda: figures.reliability_diagram(THREE | {"product": NO_ROWS}, TITLE),
    "nothing": lambda: figures.reliability_diagram({}, "Calibration: a long title " * 20),
    "long names": lambda: figures.reliability_diagram({"a long name, of $ " * 9: NO_ROWS}, TITLE),
}


@pytest.fixture(scope="module")
def drawn():
    return draw_all(PICTURES)


@pytest.mark.parametrize("name", PICTURES)
def test_no_text_is_cut_off_or_on_another(drawn, name):
    figure = drawn[name]
    check_within(figure)
    check_apart(all_boxes(figure))
    diagram, errors, strip = figure.axes
    assert diagram.get_ylabel() == "share of rows that are right"
    assert (strip.get_xlabel()[:10], strip.get_ylabel()) == ("confidence", "rows")
    assert (errors.get_xlabel(), errors.get_ylabel()) == (
        "depth",
        "expected calibration error (ECE)",
    )
    assert diagram.bbox.x0 == strip.bbox.x0
    assert diagram.bbox.x1 == strip.bbox.x1
    assert " ".join(figure.get_suptitle().split()).startswith("Calibration")


@pytest.mark.parametrize(("name", "depth"), [("three", 12), ("three, depth 4", 4)])
def test_the_diagram_shows_its_depth(drawn, name, depth):
    diagram, errors, strip = drawn[name].axes
    diagonal, *lines = diagram.lines
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata()) == [0, 1]
    bars = np.array([bar.get_height() for bar in strip.patches]).reshape(3, 15)
    upright, *curves = errors.lines
    assert list(upright.get_xdata()) == [depth, depth]
    pairs = zip(THREE.values(), lines, bars, curves, COLOURS, strict=False)
    for one, line, heights, curve, colour in pairs:
        held = one["rows"][depth] > 0
        np.testing.assert_array_equal(line.get_xdata(), one["confidence"][depth, held])
        np.testing.assert_array_equal(line.get_ydata(), one["accuracy"][depth, held])
        np.testing.assert_array_equal(heights, one["rows"][depth])
        np.testing.assert_array_equal(curve.get_ydata(), one["ece"])
        assert to_hex(line.get_color()) == to_hex(curve.get_color()) == colour.lower()
    assert len(lines) == len(curves) == 3
    assert legend(errors) == [f"{name}: ECE {one['ece'][depth]:.3g}" for name, one in THREE.items()]
    assert notes(drawn[name]).startswith(f"depth {depth}, 900 rows; dashed: right as often")


def test_bars_stand_in_their_bins_side_by_side(drawn):
    _, _, strip = drawn["three"].axes
    spans = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in strip.patches]
    for b in range(15):
        ends = np.ravel(spans[b::15])  # of the bars of three combiners
        assert b / 15 < ends[0]
        assert (ends[1::2] > ends[::2]).all()
        np.testing.assert_allclose(ends[1:-1:2], ends[2::2])
        assert ends[-1] < (b + 1) / 15


def test_a_bin_of_more_rows_has_a_larger_point(drawn):
    rows = THREE["vote"]["rows"][-1]
    points = drawn["three"].axes[0].collections[2]
    assert len(set(rows)) > 5
    assert (points.get_sizes().argsort() == rows[rows > 0].argsort()).all()


def test_numbers_run_from_0_to_1_and_depths_are_whole(drawn):
    for name in ("three", "one row", "one class", "100 bins"):
        diagram, errors, strip = drawn[name].axes
        assert diagram.get_xlim() == diagram.get_ylim() == strip.get_xlim() == (0, 1)
        assert x_words(strip) == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
        assert all(depth.isdecimal() for depth in x_words(errors))
        assert errors.get_ylim()[0] == 0


def test_what_has_no_rows_is_said_to_have_none(drawn):
    assert legend(drawn["one without"].axes[1])[1] == "product: no rows"
    for name in ("no rows", "nothing", "equal"):
        assert notes(drawn[name]).split() == ["no", "rows", "no", "rows"]
    assert not any(written.strings for written in words(drawn["no rows"].axes[0]))
    assert len(legend(drawn["equal"].axes[1])) == 10
