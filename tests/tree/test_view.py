"""One tree as a person sees it: typed in, walked, printed, described."""

import builtins
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from forestlab.core.arrays import Limits
from forestlab.core.options import Exact
from forestlab.core.prune import Rules, cut
from forestlab.forest import Recipe, grow_trees, prepare
from forestlab.tree.handmade import build_tree
from forestlab.tree.view import TreeView, short

NAN = np.nan

# The diagram of a textbook: x = [8, 0, 5] ends in 9. The other leaves are made up.
TEXTBOOK = {
    "feature": 0,
    "cut": 7,
    "left": {"feature": 1, "cut": 3, "left": 4, "right": 2},
    "right": {
        "feature": 1,
        "cut": 1,
        "left": {"feature": 2, "cut": 6, "left": {"value": 9}, "right": 5},
        "right": {"value": 7, "weight": 2},
    },
}

JOB_OFFER = {
    "feature": "salary",
    "cut": 50000,
    "left": "decline",
    "right": {
        "feature": "commute",
        "cut": 1,
        "left": {"feature": "free coffee", "in": [1], "left": "accept", "right": "decline"},
        "right": "decline",
    },
}


def split(left, right, **question):
    return {**question, "left": left, "right": right}


def grown(task="classification", depth=4, n_targets=1, seed=0):
    """A tree grown on noise, with its rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3))
    y = rng.normal(size=(80, n_targets))
    if task == "classification":
        y = rng.integers(0, 3, (80, 1))
    limits = Limits(
        max_depth=depth,
        min_samples_split=2,
        min_samples_leaf=3,
        min_weight_fraction_leaf=0.0,
        min_impurity_decrease=0.0,
        impurity_scale=1.0,
        max_features=3,
        rho=0,
    )
    criterion = "gini" if task == "classification" else "variance"
    recipe = Recipe(criterion, Exact(ties="first"), limits, 3 if task == "classification" else 0)
    training = prepare(X, y.astype(float), recipe)
    names = ["tiny", "small", "large"] if task == "classification" else None
    return TreeView(grow_trees(training, recipe, 0, 0, 1)[0], task, ["a", "b", "c"], names), X


# ---- the two textbook trees --------------------------------------------------------------------


def test_walk_of_the_textbook_row():
    view = build_tree(TEXTBOOK)
    steps = view.walk([8, 0, 5])
    assert [step.question for step in steps] == ["x0 ≤ 7", "x1 ≤ 1", "x2 ≤ 6", None]
    assert [step.answer for step in steps] == [False, True, True, None]
    assert [step.value for step in steps] == [8, 0, 5, 9]
    assert [step.node for step in steps] == [0, 4, 5, 6]
    assert view.predict([[8, 0, 5], [7, 3, 0], [7, 3.5, 0]]).tolist() == [9, 4, 2]


def test_explain():
    assert build_tree(TEXTBOOK).explain([8, 0, 5]) == (
        "x0 ≤ 7? 8 → no\nx1 ≤ 1? 0 → yes\nx2 ≤ 6? 5 → yes\nprediction: 9"
    )
    view = build_tree(JOB_OFFER)
    assert view.explain([60000, 1.5, 1]) == (
        "salary ≤ 50000? 60000 → no\ncommute ≤ 1? 1.5 → no\nprediction: decline"
    )
    assert view.explain([NAN, 0.5, 1]).startswith("salary ≤ 50000? missing → no\n")


def test_a_row_may_have_its_values_by_name():
    view = build_tree(JOB_OFFER)
    assert view.feature_names == ["salary", "commute", "free coffee"]
    row = {"free coffee": 1, "commute": 1.5, "salary": 60000}
    told = view.explain([60000, 1.5, 1])
    table = pd.DataFrame([row])
    for x in (row, pd.Series(row), table, pl.DataFrame([row]), row | {"name": "Ada"}):
        assert view.explain(x) == told
    assert view.explain(pd.Series([60000, 1.5, 1])) == told
    with pytest.raises(ValueError, match=r"'free coffee'; there is none of 'commute'"):
        view.explain({"salary": 1, "free coffee": 1})
    with pytest.raises(ValueError, match=r"x must be one row; got a table of 2"):
        view.explain(pd.concat([table, table]))


def test_job_offer():
    view = build_tree(JOB_OFFER)
    assert view.task == "classification"
    assert view.feature_names == ["salary", "commute", "free coffee"]
    rows = [[50000, 0, 1], [60000, 1, 1], [60000, 1, 0], [60000, 2, 1]]
    assert view.predict(rows).tolist() == ["decline", "accept", "decline", "decline"]


def test_text():
    view = build_tree(JOB_OFFER)
    assert str(view) == (
        "salary ≤ 50000?\n"
        "├─ yes: decline\n"
        "└─ no: commute ≤ 1?\n"
        "   ├─ yes: free coffee in {1}?\n"
        "   │  ├─ yes: accept\n"
        "   │  └─ no: decline\n"
        "   └─ no: decline"
    )
    assert repr(view) == "TreeView(classification, 7 nodes, depth 3)"
    assert (view.n_nodes, view.n_leaves, view.depth) == (7, 4, 3)


def test_text_of_a_cut_tree_says_what_is_below():
    assert build_tree(TEXTBOOK).export_text(max_depth=1, decimals=1) == (
        "x0 ≤ 7?\n├─ yes: 3 … 2 nodes below, 1 level deep\n└─ no: 7 … 4 nodes below, 2 levels deep"
    )
    assert build_tree(TEXTBOOK).export_text(max_depth=0) == "5.667 … 8 nodes below, 3 levels deep"


def test_text_with_statistics():
    view = build_tree(split({"value": {"no": 1, "yes": 3}}, "no", feature="age", cut=1234567.5))
    assert view.export_text(show_stats=True) == (
        "age ≤ 1234568? [weight 5; no: 2, yes: 3]\n"
        "├─ yes: yes [weight 4; no: 1, yes: 3]\n"
        "└─ no: no [weight 1; no: 1]"
    )
    view, X = grown()
    assert view.export_text(show_stats=True).splitlines()[0].count(f"[{len(X)} rows; impurity 0.6")


# ---- questions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "text", "goes_left", "goes_right"),
    [
        ({"feature": "b", "between": [1, 2.5]}, "1 < b ≤ 2.5", [0, 2.5], [0, 1]),
        ({"weights": {"a": 2, "b": -1}, "cut": 0.5}, "2·a − b ≤ 0.5", [1, 1.5], [1, 1]),
        ({"weights": {"a": -1, "b": 1}, "between": [0, 1]}, "0 < −a + b ≤ 1", [1, 2], [1, 1]),
        ({"feature": "a", "in": [0, 3, 64]}, "a in {0, 3, 64}", [64, 0], [1, 0]),
        ({"feature": "a", "in": [0, 3]}, "a in {0, 3}", [3, 0], [1000, 0]),
        ({"feature": "a", "cut": 1, "missing": "left"}, "a ≤ 1 or missing", [NAN, 0], [2, 0]),
        ({"feature": "a", "cut": 1, "missing": "right"}, "a ≤ 1", [1, 0], [NAN, 0]),
        ({"weights": {"a": 1, "b": 1}, "cut": 1}, "a + b ≤ 1", [0, 1], [0, NAN]),
    ],
)
def test_kinds_of_questions(question, text, goes_left, goes_right):
    view = build_tree(split("left", "right", **question), feature_names=["a", "b"])
    assert view.question(0) == text
    assert view.predict([goes_left, goes_right]).tolist() == ["left", "right"]
    assert view.walk(goes_left)[0].answer is True
    assert view.walk(goes_right)[0].answer is False


def test_categories_by_their_words():
    """Levels are what the description names, sorted; what it does not name goes right."""
    lower = split("no", "maybe", **{"feature": "wind", "in": ["weak"]})
    view = build_tree(split("yes", lower, **{"feature": "sky", "in": ["rain", "fog"]}))
    assert [own.tolist() for own in view.levels] == [["fog", "rain"], ["weak"]]
    assert view.question(0) == "sky in {fog, rain}"
    rows = [["fog", "weak"], ["sun", "weak"], ["sun", "strong"], [None, None]]
    assert view.predict(rows).tolist() == ["yes", "no", "maybe", "maybe"]
    assert view.explain(rows[1]).splitlines() == [
        "sky in {fog, rain}? sun, not seen here, → no",
        "wind in {weak}? weak → yes",
        "prediction: no",
    ]
    assert build_tree(view.describe()).describe() == view.describe()
    with pytest.raises(ValueError, match="column 'sky' takes strings such as 'fog'; got 1"):
        view.predict([[1, "weak"]])
    with pytest.raises(ValueError, match=r"rows of 2 features, not an array of shape \(1, 3\)"):
        view.predict([["fog", "weak", 1]])


def test_categories_that_neither_side_names_go_where_missing_values_go():
    sides = {"in": [7], "not_in": [9, 70], "missing": "left"}
    levels = {"a": [70, *range(10), 2.5]}
    for given, absent in ((levels, 3), (None, 3)):
        view = build_tree(split("left", "right", feature="a", **sides), levels=given)
        rows = [[7], [9], [70], [absent], [NAN]]
        assert view.predict(rows).tolist() == ["left", "right", "right", "left", "left"]
        back = build_tree(view.describe())
        assert back.predict(rows).tolist() == view.predict(rows).tolist()
        assert view.describe()["not_in"] == ([70, 9] if given else [9, 70])


@pytest.mark.parametrize(
    ("shares", "heaviest", "mean"),
    [((0.7, 0.9), 1, 1.67), ((0.3, 0.9), 3, 2.43), ((0.6, 0.5), 3, 2.1), ((0.7, 0.1), 2, 2.23),
     ((1.0, 0.0), 2, 2.0), ((0.5, 0.99), 1, 2.0)],
)  # fmt: skip
def test_missing_values_that_go_both_ways(shares, heaviest, mean):
    """The ends answer by their shares. A walk leads to the greatest, also where each single step
    would lead elsewhere. In the last case a hundredth of a half is too small a piece."""
    upper, lower = ({"missing": "both", "missing_share": share} for share in shares)
    view = build_tree(split(split(1, 2, feature=0, cut=-1, **lower), 3, feature=0, cut=1, **upper))
    # Shares are kept in single precision.
    np.testing.assert_allclose(view.predict([[NAN], [-2], [0], [2]]), [mean, 1, 2, 3], 1e-6)
    assert view.walk([NAN])[-1].value == heaviest
    assert view.question(0) == f"x0 ≤ 1 (missing: {short(shares[0])} yes)"
    assert build_tree(view.describe()).describe() == view.describe()


@pytest.mark.parametrize(
    ("number", "text"),
    [(7.0, "7"), (50000, "50000"), (1e7 + 0.25, "10000000"), (0.1 + 0.2, "0.3"), (-0.0, "0"),
     (1 / 3, "0.333333"), (1e-9, "1e-09"), (-2.5, "-2.5"), (np.inf, "inf"), (1e20, "1e+20")],
)  # fmt: skip
def test_short(number, text):
    assert short(number) == text


# ---- statistics, depths and grown trees --------------------------------------------------------


def test_inner_nodes_are_summed_up_from_their_leaves():
    values, weights = np.array([[1.0, 4.0], [2.0, 0.0], [6.0, 1.0]]), np.array([1.0, 2.0, 5.0])
    leaves = [{"value": v.tolist(), "weight": w} for v, w in zip(values, weights, strict=True)]
    view = build_tree(split(leaves[0], split(*leaves[1:], feature=0, cut=1), feature=0, cut=0))
    mean = np.average(values, axis=0, weights=weights)
    squares = weights @ (values - mean) ** 2
    np.testing.assert_allclose(view.tree.stats[0], [8.0, *mean, *squares])
    assert view.predict([[5.0]], depth=0).tolist() == [view.value_of(0)]
    assert view.predict([[5.0], [-1.0]]).tolist() == [[6, 1], [1, 4]]
    assert view.value_text(0, 1) == "[4.4, 1.1]"
    assert build_tree([0.00123, -1e-9, 0, 2.0]).value_text(0, 2) == "[0.0012, -1e-09, 0, 2]"
    view = build_tree(JOB_OFFER)
    assert view.tree.stats[0].tolist() == [1, 3]
    assert view.predict([[60000, 0, 1]], depth=2).tolist() == ["accept"]  # a tie: the first class
    assert [step.value for step in view.walk([60000, 0, 1], depth=1)] == [60000, "decline"]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_grown_trees_are_cut_and_described(task):
    view, X = grown(task)
    for depth in range(view.depth + 1):
        shorter = TreeView(cut(view.tree, Rules(depth)), task, view.feature_names, view.class_names)
        assert view.predict(X, depth).tolist() == shorter.predict(X).tolist()
    description = view.describe()
    again = build_tree(json.loads(json.dumps(description)))
    assert again.describe() == description
    assert str(again) == str(view)
    np.testing.assert_allclose(again.tree.nodes["weight"], view.tree.nodes["weight"])
    assert again.predict(X).tolist() == view.predict(X).tolist()
    assert all(view.walk(x)[-1].value == y for x, y in zip(X, view.predict(X), strict=True))


def test_several_targets():
    view, X = grown("regression", n_targets=2)
    assert view.predict(X).shape == (80, 2)
    assert view.predict(X)[3].tolist() == view.walk(X[3])[-1].value
    assert build_tree(view.describe()).predict(X).tolist() == view.predict(X).tolist()


@pytest.mark.parametrize("description", [TEXTBOOK, JOB_OFFER, 9, "decline", True])
def test_description_makes_a_round_trip(description):
    view = build_tree(description)
    assert build_tree(view.describe()).describe() == view.describe()
    assert build_tree(view.describe()).tree.nodes.tobytes() == view.tree.nodes.tobytes()


def test_names_and_tasks_can_be_given():
    names = ["rain", "salary", "commute", "free coffee"]
    view = build_tree(JOB_OFFER, feature_names=names, class_names=["decline", "perhaps", "accept"])
    assert view.tree.nodes["feature"][0] == 1
    assert view.predict([[0, 60000, 0, 1]]).tolist() == ["accept"]
    assert view.describe()["class_names"] == ["decline", "perhaps", "accept"]
    numbers = build_tree(split(3, 4, feature=0, cut=1), task="classification")
    assert numbers.predict([[0]]).tolist() == [3]
    assert numbers.tree.stats.shape == (3, 2)
    assert build_tree(split(True, False, feature=0, cut=1)).predict([[0]]).tolist() == [True]


def test_a_chain_of_5000_questions():
    chain = "end"
    for depth in reversed(range(5000)):
        chain = split("aside", chain, feature=0, cut=depth)
    view = build_tree(chain)
    assert (view.depth, view.n_nodes) == (5000, 10001)
    assert view.predict([[1e9], [7.5]], depth=None).tolist() == ["end", "aside"]
    assert len(view.walk([1e9])) == 5001
    lines = view.export_text().splitlines()
    assert len(lines) == 10001
    assert lines[-1].startswith("(4939 above)")
    assert lines[-1].endswith("└─ no: end")
    assert max(map(len, lines)) < 300
    assert build_tree(view.describe()).tree.nodes.tobytes() == view.tree.nodes.tobytes()
    assert view.export_text(max_depth=1).endswith("… 9998 nodes below, 4999 levels deep")


# ---- what is refused ---------------------------------------------------------------------------

ASK = {"feature": 0, "cut": 1}
OF_A = {"feature": "a", "in": ["u"]}


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({}, r"root: a leaf needs value; an inner node needs one of feature, weights"),
        ({"feature": 0, "left": 1, "right": 2}, r"root: .* one of cut, between, in"),
        ({**ASK, "left": 1}, r"root: an inner node needs left and right"),
        (split(1, split(split(1, 2), 3, **ASK), **ASK), r"root\.right\.left: a leaf needs value"),
        (split({"valeu": 1}, 2, **ASK), r"root\.left: \['valeu'\] not known; .* may have feature"),
        (split(1, {"value": 1, "cut": 2}, **ASK), r"root\.right: \['cut'\] .* value, weight"),
        (split({**split(1, 2, **ASK), "task": "regression"}, 1, **ASK), r"root\.left: \['task'\]"),
        (split(None, 2, **ASK), r"root\.left: value must be a finite number, not None"),
        (split(1, "a", **ASK), r"root\.left: 1 is none of the classes \['a'\]"),
        (split(1, [1, 2], **ASK), r"root\.right: all leaves must have the same number of targets"),
        (split({"value": 1, "weight": 0}, 2, **ASK), r"root\.left: weight must be positive"),
        (split({"value": {"a": -1}}, "a", **ASK), r"root\.left: classes need positive weights"),
        (split({"value": {}}, "a", **ASK), r"root\.left: classes need positive weights"),
        (split(1, 2, feature=0, cut="7"), r"root: cut must be a finite number, not '7'"),
        (split(1, 2, feature=0, cut=NAN), r"root: cut must be a finite number, not nan"),
        (split(1, 2, feature=-1, cut=7), r"root: -1 is neither the name of one feature nor"),
        (split(1, 2, feature=None, cut=7), r"root: None is neither the name"),
        (split(1, 2, feature=0, cut=7, between=[1, 2]), r"root: .* one of cut, between, in"),
        (split(1, 2, feature=0, between=[2, 1]), r"root: between must be \[low, high\]"),
        (split(1, 2, feature=0, between=2), r"root: between must be a list"),
        (split(1, 2, weights={}, cut=1), r"root: weights must be \{feature: factor"),
        (split(1, 2, weights=["a"], cut=1), r"root: weights must be \{feature: factor"),
        (split(1, 2, weights={"a": "b"}, cut=1), r"root: a weight must be a finite number"),
        (split(1, 2, **{"weights": {"a": 1}, "in": [1]}), r"root: 'in' goes with a feature"),
        (split(1, 2, **{"feature": 0, "in": []}), r"root: 'in' must list integers from 0 to"),
        (split(1, 2, **{"feature": 0, "in": [1.5]}), r"root: 'in' must list integers from 0 to"),
        (split(1, 2, **{"feature": 0, "in": 3}), r"root: in must be a list, not 3"),
        (split(1, 2, not_in=["a"], **ASK), r"root: not_in goes with in"),
        (split(1, 2, **OF_A | {"not_in": ["u"]}), r"root: a category is either in or not_in"),
        (split(1, 2, **OF_A, levels={"a": ["v"]}), r"root: 'u' is none of the levels \['v'\]"),
        (split(1, 2, **OF_A, levels={"a": ["u", 1]}), r"levels must be different strings, .*'a'"),
        (split(1, 2, **OF_A, levels={"a": ["u", "u"]}), r"levels must be different strings"),
        (split(1, 2, **OF_A, levels={"b": ["u"]}), r"of a feature, of \['a'\]; got 'b'"),
        (split(1, 2, missing="up", **ASK), r"root: missing must be one of left, right, both"),
        (split(1, 2, missing="both", **ASK), r"root: missing 'both' needs a missing_share"),
        (split(1, 2, missing_share=0.5, **ASK), r"root: missing 'both' needs a missing_share"),
        (split(1, 2, missing="both", missing_share=2, **ASK), r"root: missing_share lies between"),
        (split(split(1, 2, feature="a", cut=1), 2, **ASK), r"give feature_names too"),
        ({**ASK, "left": 1, "right": 2, "task": "ranking"}, r"task is one of 'classification',"),
    ],
)
def test_bad_descriptions_are_told_where(description, message):
    with pytest.raises(ValueError, match=message):
        build_tree(description)


def test_bad_names_and_rows():
    with pytest.raises(ValueError, match=r"root: 'salary' is neither .* of \['pay'\]"):
        build_tree(JOB_OFFER, feature_names=["pay"])
    with pytest.raises(ValueError, match=r"root\.left: 'decline' is none of the classes \['yes'\]"):
        build_tree(JOB_OFFER, class_names=["yes"])
    view = build_tree(TEXTBOOK)
    with pytest.raises(ValueError, match=r"rows of 3 features, not an array of shape \(1, 2\)"):
        view.predict([[1, 2]])
    with pytest.raises(ValueError, match="a depth is 0 or more, not -1"):
        view.predict([[1, 2, 3]], depth=-1)
    with pytest.raises(ValueError, match="1 class names for 2 classes"):
        TreeView(build_tree(JOB_OFFER).tree, "classification", ["a", "b", "c"], ["yes"])


def test_drawing_without_matplotlib_says_what_to_install(monkeypatch):
    load = builtins.__import__

    def refuse(name, *rest):
        if name == "forestlab.figures":
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r'pip install "forestlab\[figures\]"'):
        build_tree(TEXTBOOK).draw()
