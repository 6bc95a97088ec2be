"""What nodes ask: of every kind one, in one tree, read and checked and put in words."""

import numpy as np
import pytest

from forestlab.core.arrays import (
    AXIS,
    CATEGORY,
    LEAF,
    LEFT,
    NODE,
    OBLIQUE,
    QUADRATIC,
    RIGHT,
    Tree,
    plant,
)
from forestlab.core.questions import (
    KINDS,
    categories,
    check_questions,
    condition,
    described,
    kind_of,
    number_asked,
    reads,
    renumbered,
    short,
    terms,
    write_leaf,
)
from forestlab.forest import ends

N_FEATURES = 8
NAMES = list("abcdefgh")
FORM = {
    "features": ["g", "d"],
    "centres": [0.5, 0.0],
    "factors": [2.0, -1.0],
    "products": [1.0, -0.5, 0.25],  # of g with itself, of d with g, of d with itself
    "shares": [0.75, 0.25],
}
# What stands before the first node's stretch belongs to nobody.
OF_FORM = [2, 6, 3, *FORM["centres"], *FORM["factors"], *FORM["products"], *FORM["shares"]]
OF_SUM = [3, 7, 1.5, 0, -1, 2, 0.25, 0.5, 0.375, 0.125]
PARAMS = np.array([99.0, *OF_FORM, *OF_SUM])
ALL = 2**64 - 1
BITS = np.array([99, 2, 0b1001, 1 << 63 | 1, ALL - 0b100000, ALL], np.uint64)
#      0: a form of g and d
#      1: a category of e     |  6: a sum of h, a and c
#  2: leaf  |  3: a cut of b  |  7: a band of f  |  10: leaf
#         4: leaf  5: leaf    |  8: leaf  9: leaf
INNER = {
    0: {"kind": QUADRATIC, "left": 1, "right": 6, "params": 1, "cut_high": 0.5},
    1: {"kind": CATEGORY, "left": 2, "right": 3, "feature": 4, "bits": 1},
    3: {"kind": AXIS, "left": 4, "right": 5, "feature": 1, "cut_high": -0.25},
    6: {"kind": OBLIQUE, "left": 7, "right": 10, "params": 13, "cut_high": 0.75},
    7: {"kind": AXIS, "left": 8, "right": 9, "feature": 5, "cut_low": -1, "cut_high": 2.5},
}
# A node, a feature and its share in the answer.
READS = [(0, 6, 0.75), (0, 3, 0.25), (1, 4, 1), (3, 1, 1)]
READS += [(6, 7, 0.5), (6, 0, 0.375), (6, 2, 0.125), (7, 5, 1)]


def tree_of_all_kinds():
    nodes = np.zeros(11, NODE)
    for i in range(len(nodes)):
        write_leaf(nodes[i])
        for field, value in INNER.get(i, {}).items():
            nodes[i][field] = value
    stats = np.stack([np.ones(11), np.arange(11.0), np.zeros(11)], axis=1)
    return Tree(nodes, stats, PARAMS.copy(), BITS.copy())


def rows(n_rows, n_features=N_FEATURES):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n_rows, n_features))
    X[:, 4] = rng.integers(0, 130, n_rows) * (rng.random(n_rows) < 0.5)
    return X


def form_in_twin(x):
    g, d = x[6] - 0.5, x[3]
    return 2 * g - d + g * g - 0.5 * d * g + 0.25 * d * d


def side_in_twin(i, x):
    """What the drawing says of a row at an inner node: whether it goes left."""
    if i == 0:
        return form_in_twin(x) <= 0.5
    if i == 1:
        return x[4] in (0, 3, 64, 127)
    if i == 6:
        return 1.5 * x[7] - x[0] + 0.25 * x[2] <= 0.75
    return x[1] <= -0.25 if i == 3 else -1 < x[5] <= 2.5


def end_in_twin(x):
    i = 0
    while i in INNER:
        i = INNER[i]["left" if side_in_twin(i, x) else "right"]
    return i


# ---- what they read ----------------------------------------------------------------------------


def test_rows_end_where_the_questions_lead():
    X = rows(200)
    expected = [end_in_twin(x) for x in X]
    assert set(expected) == {2, 4, 5, 8, 9, 10}
    assert ends(plant([tree_of_all_kinds()]), X)[0].tolist() == expected


def test_the_number_asked_about_is_that_of_the_formula():
    x, tree = rows(1)[0], tree_of_all_kinds()
    expected = {0: form_in_twin(x), 1: x[4], 3: x[1], 7: x[5]}
    expected[6] = 1.5 * x[7] - x[0] + 0.25 * x[2]
    for i, number in expected.items():
        found = number_asked(tree, i, x)
        assert type(found) is float
        assert found == pytest.approx(number, rel=1e-12)


def test_all_that_is_read_is_told_by_node():
    found = reads(tree_of_all_kinds())
    assert list(zip(*(part.tolist() for part in found), strict=True)) == READS
    leaf = tree_of_all_kinds()._replace(nodes=tree_of_all_kinds().nodes[2:3])
    assert [len(part) for part in reads(leaf)] == [0, 0, 0]
    for parts in found, reads(leaf):
        assert [part.dtype for part in parts] == [np.int64, np.int64, np.float64]


def test_rows_without_what_is_not_read_end_in_the_same_places():
    """Columns nobody reads stand before, between and behind those that are read."""
    tree, X = tree_of_all_kinds(), rows(200, 3 * N_FEATURES)
    features = np.arange(N_FEATURES) * 3 + 1
    X[:, features] = rows(200)
    wide = tree_of_all_kinds()
    wide.nodes["feature"][[1, 3, 7]] = features[wide.nodes["feature"][[1, 3, 7]]]
    for place in (2, 3, 14, 16, 18):
        wide.params[place] = features[int(wide.params[place])]
    before = wide.nodes.tobytes(), wide.params.tobytes()
    again = renumbered(wide, features)
    assert again.nodes.tobytes() == tree.nodes.tobytes()
    assert again.params.tobytes() == tree.params.tobytes()
    assert (wide.nodes.tobytes(), wide.params.tobytes()) == before
    np.testing.assert_array_equal(
        ends(plant([wide]), X), ends(plant([again]), np.ascontiguousarray(X[:, features]))
    )


# ---- what is refused ---------------------------------------------------------------------------


def test_what_fits_is_not_refused():
    """The last parameter and the last word are the pools' own last ones."""
    check_questions(tree_of_all_kinds(), N_FEATURES)


def with_node(i, **fields):
    def change(tree):
        for field, value in fields.items():
            tree.nodes[field][i] = value
        return tree

    return change


def with_params(place, value):
    def change(tree):
        tree.params[place] = value
        return tree

    return change


def with_bits(place, value):
    def change(tree):
        tree.bits[place] = value
        return tree

    return change


WRONG = {
    "no such kind": (with_node(3, kind=5), "kinds of node"),
    "a feature too many": (with_node(3, feature=8), "features"),
    "no feature": (with_node(3, feature=-1), "features"),
    "no category's feature": (with_node(1, feature=8), "features"),
    "no term's feature": (with_params(18, 8), "features"),
    "no form's feature": (with_params(2, -1), "features"),
    "a form too long": (with_params(1, 4), "parameters"),
    "a term too many": (with_params(13, 4), "parameters"),
    "half a term": (with_params(13, 2.5), "parameters"),
    "less than no terms": (with_params(13, -1), "parameters"),
    "endless terms": (with_params(13, np.inf), "parameters"),
    "no number of terms": (with_params(13, np.nan), "parameters"),
    "before the pool": (with_node(6, params=-1), "parameters"),
    "behind the pool": (with_node(6, params=len(PARAMS)), "parameters"),
    "the last of the pool": (with_node(6, params=len(PARAMS) - 1), "parameters"),
    "a pool too short": (lambda tree: tree._replace(params=tree.params[:-1]), "parameters"),
    "before the words": (with_node(1, bits=-1), "categories"),
    "behind the words": (with_node(1, bits=len(BITS)), "categories"),
    "a word too many": (with_bits(1, 3), "categories"),
    "endless words": (with_bits(1, 2**64 - 1), "categories"),
    "a word too few": (lambda tree: tree._replace(bits=tree.bits[:-1]), "categories"),
}


@pytest.mark.parametrize(("change", "what"), WRONG.values(), ids=WRONG)
def test_what_would_be_read_astray_is_refused(change, what):
    with pytest.raises(ValueError, match=f"^its {what} do not fit together$"):
        check_questions(change(tree_of_all_kinds()), N_FEATURES)


@pytest.mark.parametrize("start", [0, len(PARAMS) - 1])
def test_no_terms_are_enough(start):
    """A sum of nothing needs its count alone, be it the first of the pool or the last."""
    tree = tree_of_all_kinds()
    tree.nodes["params"][6] = start
    tree.params[start] = 0
    check_questions(tree, N_FEATURES)
    assert number_asked(tree, 6, rows(1)[0]) == 0.0


def test_no_words_are_enough():
    tree = tree_of_all_kinds()
    for start in (0, 3):
        tree.nodes["bits"][1], tree.bits[start] = start, 0
        check_questions(tree, N_FEATURES)
        assert categories(tree, 1) == []


def test_a_leaf_asks_nothing_whatever_it_names():
    tree = with_node(2, feature=99, params=99, bits=99)(tree_of_all_kinds())
    check_questions(tree, N_FEATURES)


# ---- in words ----------------------------------------------------------------------------------


def test_whether_a_value_is_known_is_asked_in_words():
    tree = tree_of_all_kinds()
    tree.nodes["cut_high"][3] = np.inf
    assert condition(tree, 3, NAMES) == "b is known"
    start = tree.nodes["bits"][1]
    n_words = int(tree.bits[start])
    tree.bits[start + 1 + n_words : start + 1 + 2 * n_words] = tree.bits[start + 1 :][:n_words]
    assert condition(tree, 1, NAMES) == "e is known"
    tree.nodes["missing"][[1, 3]] = LEFT
    assert condition(tree, 3, NAMES) == "b ≤ inf"  # then it asks nothing
    assert condition(tree, 1, NAMES) == "e in {0, 3, 64, 127}"


def test_questions_in_words():
    tree = tree_of_all_kinds()
    assert {i: condition(tree, i, NAMES) for i in INNER} == {
        0: "2·(g − 0.5) − d + (g − 0.5)² − 0.5·d·(g − 0.5) + 0.25·d² ≤ 0.5",
        1: "e in {0, 3, 64, 127}",
        3: "b ≤ -0.25",
        6: "1.5·h − a + 0.25·c ≤ 0.75",
        7: "-1 < f ≤ 2.5",
    }
    tree.params[[15, 17, 19]] = -1, 1, -3
    assert condition(tree, 6, NAMES) == "−h + a − 3·c ≤ 0.75"
    tree.params[[15, 17, 19]] = -2, -0.5, 0
    assert condition(tree, 6, NAMES) == "−2·h − 0.5·a ≤ 0.75"  # what is not there is not told
    for factor, text in (0.5, "0.5·h − 0.5·a"), (0, "−0.5·a"), (1, "h − 0.5·a"):
        tree.params[15] = factor
        assert condition(tree, 6, NAMES) == f"{text} ≤ 0.75"
    tree.params[[15, 17, 19]] = 0
    assert condition(tree, 6, NAMES) == "0·h ≤ 0.75"
    tree.params[4:6] = -3, 0.25
    text = "2·(g + 3) − (d − 0.25) + (g + 3)² − 0.5·(d − 0.25)·(g + 3) + 0.25·(d − 0.25)²"
    assert condition(tree, 0, NAMES) == f"{text} ≤ 0.5"


def test_the_parts_of_a_question():
    tree = tree_of_all_kinds()
    assert terms(tree, 6) == [(7, 1.5), (0, -1.0), (2, 0.25)]
    assert categories(tree, 1) == [0, 3, 64, 127]


def test_questions_described(monkeypatch):
    tree = tree_of_all_kinds()
    found = {i: described(tree, i, NAMES) for i in INNER}
    assert found == {
        0: {"form": FORM, "cut": 0.5},
        1: {
            "feature": "e",
            "in": [0, 3, 64, 127],
            "not_in": [level for level in range(128) if level not in (0, 3, 5, 64, 127)],
        },
        3: {"feature": "b", "cut": -0.25},
        6: {"weights": {"h": 1.5, "a": -1.0, "c": 0.25}, "cut": 0.75},
        7: {"feature": "f", "between": [-1.0, 2.5]},
    }
    for i, description in found.items():
        assert kind_of(description) == tree.nodes["kind"][i]
    monkeypatch.setitem(KINDS, OBLIQUE, KINDS[OBLIQUE]._replace(key=""))
    told = r"^node 6 asks about 1\.5·h − a \+ 0\.25·c, which has no description$"
    with pytest.raises(ValueError, match=told):
        described(tree, 6, NAMES)
    with pytest.raises(ValueError, match=r"^'in' goes with a feature, not with weights$"):
        kind_of({"weights": {"a": 1}, "in": [1]})


def test_what_is_described_is_what_the_pool_holds():
    for kind, value, stretch in (
        (QUADRATIC, FORM, OF_FORM),
        (OBLIQUE, {"h": 4, "a": -3, "c": 1}, [3, 7, 4, 0, -3, 2, 1, 0.5, 0.375, 0.125]),
        (OBLIQUE, {"h": 0, "a": 0.0}, [2, 7, 0, 0, 0, 0.5, 0.5]),  # then all as much
    ):
        row = KINDS[kind]
        numbers = [NAMES.index(feature) for feature in row.features(value)]
        assert row.params(value, numbers) == stretch


FORM_WORDS = r"^form must be \{features, centres, factors, products, shares\}$"
SIZE_WORDS = {"centres": 2, "factors": 2, "products": 3, "shares": 2}


@pytest.mark.parametrize("value", ["g", {}, FORM | {"more": 1}, {"features": ["g"]}], ids=str)
def test_what_is_no_form_is_refused(value):
    with pytest.raises(ValueError, match=FORM_WORDS):
        KINDS[QUADRATIC].features(value)


@pytest.mark.parametrize("part", SIZE_WORDS)
def test_a_form_has_all_its_numbers(part):
    for numbers in FORM[part][1:], [*FORM[part], 1.0]:
        with pytest.raises(
            ValueError, match=rf"^form: {part} must be {SIZE_WORDS[part]} for 2 features$"
        ):
            KINDS[QUADRATIC].features(FORM | {part: numbers})


@pytest.mark.parametrize("value", [["a"], {}, 1.0], ids=str)
def test_what_are_no_weights_is_refused(value):
    with pytest.raises(ValueError, match=r"^weights must be \{feature: factor, …\}$"):
        KINDS[OBLIQUE].features(value)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.5, "0.5"),
        (1.0, "1"),
        (123456.75, "123457"),
        (1234567.75, "1234568"),
        (-12345678.25, "-12345678"),
        (0.1234567, "0.123457"),
        (1e15 - 1, "999999999999999"),
        (1 - 1e15, "-999999999999999"),
        (1e15, "1e+15"),
        (-1e15, "-1e+15"),
        (np.nan, "nan"),
        (-np.inf, "-inf"),
        (np.float32(0.1), "0.1"),
    ],
)
def test_numbers_are_short_but_whole_before_the_point(number, text):
    assert short(number) == text


def test_every_kind_is_asked():
    """Also one that is added to the table: it belongs into the tree above."""
    tree = tree_of_all_kinds()
    assert set(tree.nodes["kind"]) == {LEAF, *KINDS}
    assert (tree.nodes["missing"] == RIGHT).all()
