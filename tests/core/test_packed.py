"""Packed trees answer to the bit what the trees themselves do."""

import naive
import numpy as np
import pytest
from small import CLOSE, PAIRS, answers_of, as_bytes, data_for, forest_for, trees_of

from forestlab.core import packed as packing
from forestlab.core.arrays import plant
from forestlab.core.packed import LEAF, MOST_ROWS, NARROW, WIDE, packed, step_type
from forestlab.core.walk import NO_DEPTH
from forestlab.forest import combined
from forestlab.tree.handmade import build_tree

DTYPES = [np.float32, np.float64]


def both_ways(forest, task, combiner, X, n_jobs=1):
    """By packed trees, and by the walk that may stop at any depth."""
    whole = combined(forest, task, combiner, X, None, n_jobs)
    return whole, combined(forest, task, combiner, X, NO_DEPTH - 1, n_jobs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("combiner", "task"), PAIRS)
def test_packed_trees_answer_as_the_trees_do(combiner, task, dtype):
    X, y = data_for(task, 2 * MOST_ROWS + 50)
    X = (X / 3).astype(dtype)
    model = forest_for(task, combine=combiner, min_samples_leaf=2).fit(X[::2], y[::2])
    assert packed(model.forest_, task, combiner, (), step_type(X.dtype)) is not None
    for n_jobs in 1, 2:
        by_packed, by_steps = both_ways(model.forest_, task, combiner, X, n_jobs)
        assert as_bytes(*by_packed) == as_bytes(*by_steps)
    twins = [naive.answer(trees_of(model), combiner, task, x.astype(float), None) for x in X[:20]]
    np.testing.assert_allclose(answers_of(model, X[:20]), twins, **CLOSE)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("n_rows", [1, 15, 16, 17, 255, 256, 257, 600])
def test_rows_that_go_sixteen_at_once_end_where_one_by_one_they_do(task, n_rows, monkeypatch):
    """Processors that have no lanes, or values that do not fit them, go the other way."""
    X, y = data_for(task, 600)
    X = (X / 3).astype(np.float32)
    forest = forest_for(task).fit(X, y).forest_
    made = packed(forest, task, "average", (), NARROW)
    found, twin = np.zeros((2, n_rows, made.numbers.shape[1]))
    lists = packing.make_lists(X)
    packing.sum_lanes(made, packing.words_of(made.steps), lists, X[:n_rows], 7, found)
    monkeypatch.setattr(packing, "has_lanes", lambda: False)
    assert not packing.goes_in_lanes(X)
    packing.add_packed(made, X[:n_rows], 7, twin)
    assert twin.any(axis=1).all()
    assert found.tobytes() == twin.tobytes()


@pytest.mark.parametrize("cut", [0.1, 1 / 3, 7.0, 1e-50, -1e-50, 1e300, -1e300, 3.4028235e38, 0.0])
def test_a_narrow_cut_parts_float32_values_as_the_wide_one_does(cut):
    near = np.clip(np.float64(cut), -3.4e38, 3.4e38).astype(np.float32)
    below, above = (np.nextafter(near, np.float32(to)) for to in (-np.inf, np.inf))
    values = np.array([[below], [near], [above], [-1], [1]], np.float32)
    values = values[np.isfinite(values).all(axis=1)]
    tree = build_tree({"feature": 0, "cut": cut, "left": 1.0, "right": 2.0}, ["a"]).tree
    answers, _ = combined(plant([tree]), "regression", "average", values)
    expected = np.where(values.astype(np.float64) <= cut, 1.0, 2.0)
    np.testing.assert_array_equal(answers, expected)


def test_values_that_float32_would_round_meet_the_cut_itself():
    cut = 0.1
    values = np.array([[np.nextafter(cut, 0)], [cut], [np.nextafter(cut, 1)]])
    assert len(set(values.astype(np.float32).ravel())) == 1
    tree = build_tree({"feature": 0, "cut": cut, "left": 1.0, "right": 2.0}, ["a"]).tree
    answers, _ = combined(plant([tree]), "regression", "average", values)
    assert answers.ravel().tolist() == [1, 1, 2]


def test_steps_are_narrow_where_float32_holds_every_value():
    kinds = {NARROW: ["f2", "f4", "i1", "u1", "i2", "u2", "?"], WIDE: ["f8", "i4", "u4", "i8"]}
    for steps, names in kinds.items():
        assert [step_type(np.dtype(name)) for name in names] == [steps] * len(names)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_pure_leaves_need_no_numbers(n_jobs):
    left, right = {"value": {"a": 0, "b": 3}}, {"value": {"a": 1, "b": 1}}
    question = {"feature": 1, "cut": 2, "left": left, "right": right}
    forest = plant([build_tree(question, ["x", "y"], ["a", "b"]).tree] * 2)
    found = packed(forest, "classification", "average", (), NARROW, n_jobs)
    assert found.n_bits == 1
    assert found.first_number.tolist() == [0, 2, 4]
    assert found.numbers[[0, 2]].tolist() == [[0.5, 0.5]] * 2
    leaf = int(LEAF)
    assert found.steps["what"].tolist() == [2 << 1 | 1, leaf | 1 << 1, leaf | 2 << 1] * 2


def test_a_tree_that_steps_cannot_hold_is_not_packed():
    forest = plant([build_tree({"feature": 0, "cut": 2, "left": 1.0, "right": 2.0}, ["x"]).tree])
    assert packed(forest, "regression", "average", (), NARROW) is not None
    for feature, fits in ((2**29 - 1, True), (2**29, False)):  # skip is 2, of two bits
        forest.steps["feature"][0] = feature
        assert (packed(forest, "regression", "average", (), NARROW) is not None) == fits


def test_a_model_packs_its_trees_once_for_each_way_to_ask():
    X, y = data_for("classification")
    model = forest_for("classification").fit(X, y)
    before = model.predict_proba(X)
    made = dict(vars(model)["_made"])
    assert model.predict_proba(X).tobytes() == before.tobytes()
    assert vars(model)["_made"] == made
    for changed in ({"combine": "product"}, {"combine": "average", "shrink": 20.0}):
        early = forest_for("classification", **changed).fit(X, y).predict_proba(X)
        late = model.set_params(**changed).predict_proba(X)
        assert late.tobytes() == early.tobytes() != before.tobytes()
