"""Grown trees against their naive twins, and what must hold of every grown tree.

The twins are compared twice: over all cases without the JIT, in a process of its own, as numba
reads that switch only once; and compiled over a cover of the cases.
"""

import re
from itertools import pairwise

import naive
import numpy as np
import pytest
from cases import (
    LIMITS,
    SEED,
    Case,
    all_cases,
    assert_same_tree,
    awkward,
    classifies,
    cover,
    data_of,
    half_marked,
    is_quick,
    marked,
    n_with,
    name_of,
    quarters,
    recipe_of,
    with_holes,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from without_jit import WITHOUT_JIT, running_without_jit

from forestlab.core.arrays import LEAF, Tree, tree_of
from forestlab.core.criteria import CRITERIA, Entered
from forestlab.core.groups import group_by_sort, make_groups
from forestlab.core.prune import Rules, cut
from forestlab.core.questions import KINDS
from forestlab.core.search import thin
from forestlab.forest import grow_forest, grow_trees, prepare

COVER = cover()
QUICK = [case for case in COVER if is_quick(case)]
CASES = half_marked(all_cases()) if WITHOUT_JIT else marked(COVER)
N_ROWS = 36 if WITHOUT_JIT else 200  # all within a byte of codes

# Cases that ask about one column at a time: floats as awkward as they can be are for these alone.
ON_COLUMNS = [case for case in QUICK if case.learner in ("axis", "band")]
# Of these what needs no kernel more, where choices are replaced.
ALL_KNOWN = [case for case in ON_COLUMNS if case.missing == "error"]
UNWEIGHTED = [case for case in ON_COLUMNS if not case.weighted and case.bag != "balanced"]
UNWEIGHTED += ALL_KNOWN
over_cover = pytest.mark.parametrize("case", marked(COVER), ids=name_of)
few_examples = settings(max_examples=100, deadline=None, derandomize=True)

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(autouse=True, scope="module")
def _wrapping_integers():
    """Keys wrap around by design; numpy warns of it where nothing is compiled."""
    with np.errstate(over="ignore"):
        yield


def train(case, recipe, X, y, weights=None, drawn_by=None):
    return prepare(X, y, recipe, weights, drawn_by)


def grow(case, X, y, weights=None, drawn_by=None, t=1, **more):
    recipe = recipe_of(case, len(y), **more)
    return grow_trees(train(case, recipe, X, y, weights, drawn_by), recipe, SEED, t, 1)[0]


def moments(tree):
    """The statistics with the means in the place of other answers."""
    stats, n_means = tree.stats.copy(), tree.means.shape[1]
    if n_means:
        stats[:, 1 : 1 + n_means] = tree.means
    return stats


# ---- the twins ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run_without_jit(request):
    marks = request.config.option.markexpr
    with running_without_jit(test_tree_is_that_of_its_twin, marks) as run:
        yield run


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_tree_is_that_of_its_twin(case, run_without_jit):
    data = data_of(case, N_ROWS)
    twin = naive.grow_tree(*data[:2], recipe_of(case, N_ROWS), SEED, 1, *data[2:], case.max_bins)
    assert_same_tree(grow(case, *data), *twin)


def wide_data():
    """More distinct values than a byte has, so codes of two, and nodes too sparse for bins."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 5))
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=600) > 0)[:, None].astype(float)


def test_twin_with_wide_codes():
    case = Case(criterion="gini")
    X, y = wide_data()
    recipe = recipe_of(case, len(y), max_depth=4)
    assert train(case, recipe, X, y).columns.codes.dtype == np.uint16
    twin = naive.grow_tree(X, y, recipe, SEED, 1)
    assert_same_tree(grow(case, X, y, max_depth=4), *twin)


@over_cover
def test_twin_with_many_constant_columns(case):
    """Which are constant is kept as bits, here in three words."""
    X, y, weights, drawn_by = data_of(case, 36)
    many, levels = np.zeros((36, 130)), np.zeros(130, int)
    where = np.random.default_rng(2).choice(130, 5, replace=False)
    recipe = recipe_of(case, 36)._replace(features_per_tree=0)
    many[:, where], levels[where] = X, recipe.levels or 0
    recipe = recipe._replace(levels=tuple(levels.tolist()) if recipe.levels else ())
    training = train(case, recipe, many, y, weights, drawn_by)
    twin = naive.grow_tree(many, y, recipe, SEED, 1, weights, drawn_by, case.max_bins)
    assert_same_tree(grow_trees(training, recipe, SEED, 1, 1)[0], *twin)


@pytest.mark.parametrize("case", marked([Case(criterion) for criterion in naive.IMPURITIES]))
def test_a_split_without_gain_is_made_unless_forbidden(case):
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
    exclusive = np.array([[1], [2], [2], [1]], float)
    assert len(grow(case, corners, exclusive).nodes) == 7
    assert len(grow(case, corners, exclusive, min_impurity_decrease=1e-6).nodes) == 1


@pytest.mark.parametrize("midpoint", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_cut_separates_any_two_numbers(midpoint, dtype):
    case = Case(criterion="gini", midpoint=midpoint)
    values = np.unique(awkward(np.random.default_rng(0), 1000, dtype))
    for a, b in pairwise(values):
        nodes = grow(case, np.array([[b], [a]], dtype), np.array([[0.0], [1.0]])).nodes
        assert a <= nodes["cut_high"][0] < b
        assert naive.walk(nodes, [a]) == 1
        assert naive.walk(nodes, [b]) == 2


# ---- what holds of every tree ------------------------------------------------------------------

generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@st.composite
def problems(draw, cases=ON_COLUMNS, **replaced):
    """A case, X of either float type, y, weights and drawn_by.

    Hypothesis chooses case, size and a seed; numbers it chose itself would be mostly the same.
    """
    case = draw(st.sampled_from(cases))._replace(**replaced)
    n_rows, rng = draw(st.integers(1, 30)), draw(generators)
    X = awkward(rng, (n_rows, 5), draw(st.sampled_from([np.float64, np.float32])))
    for j, n_levels in enumerate(recipe_of(case, n_rows).levels):
        if n_levels:
            X[:, j] = rng.integers(0, n_levels, n_rows)
    if case.missing != "error":
        X = with_holes(rng, X, rng.choice([0, 0.2, 0.8, 1], 5)).astype(X.dtype)
    y = rng.integers(0, 3, (n_rows, case.n_targets)).astype(float)
    y += 1.0 * CRITERIA[case.criterion].counts  # which may not all be 0
    weights = quarters(rng, n_rows) if case.weighted else None
    return case, X, y, weights, quarters(rng, n_rows) if case.bag == "by weight" else None


@few_examples
@given(problems())
def test_twin_on_any_data(problem):
    case, X, y, weights, drawn_by = problem
    recipe = recipe_of(case, len(y))
    twin = naive.grow_tree(X.astype(float), y, recipe, SEED, 1, weights, drawn_by, case.max_bins)
    assert_same_tree(grow(*problem), *twin)


@few_examples
@given(problems())
def test_children_share_out_their_parent(problem):
    case, *data = problem
    nodes, stats = grow(case, *data)[:2]
    parents = np.flatnonzero(nodes["kind"] != LEAF)
    left, right = nodes["left"][parents], nodes["right"][parents]
    n_rows, weight = nodes["n_rows"], nodes["weight"]
    assert (left == parents + 1).all()
    assert (right > left).all()
    if case.missing == "both":
        assert (n_rows[left] + n_rows[right] >= n_rows[parents]).all()
    else:
        np.testing.assert_array_equal(n_rows[left] + n_rows[right], n_rows[parents])
    # Weights that balance classes are no round numbers, nor are those of pieces of rows; sums of 30
    # are off by 1e-15 of themselves.
    np.testing.assert_allclose(weight[left] + weight[right], weight[parents], 1e-12)
    np.testing.assert_allclose(weight[nodes["kind"] == LEAF].sum(), weight[0], 1e-12)
    n_sums = stats.shape[1] if classifies(case) else 1
    sums = stats[:, :n_sums]
    np.testing.assert_allclose(sums[left] + sums[right], sums[parents], 1e-12)
    least = recipe_of(case, 1).settings.min_samples_leaf
    assert (n_rows[[*left, *right]] >= least).all()


@few_examples
@given(problems())
def test_rows_reach_the_leaf_they_grew_into(problem):
    case, X, y, weights, drawn_by = problem
    tree = grow(*problem)
    weights = np.ones(len(y)) if weights is None else weights
    recipe = recipe_of(case, len(y))
    weights = naive.tree_weights(naive.tree_key(SEED, 1), y, recipe, weights, drawn_by)
    ends = [naive.ends(tree.nodes, x, None, (tree.params, tree.bits)) for x in X]
    for leaf in np.flatnonzero(tree.nodes["kind"] == LEAF):
        pieces = weights * [found.get(leaf, 0.0) for found in ends]
        rows = pieces > 0
        assert rows.sum() == tree.nodes["n_rows"][leaf]
        of_rows = naive.stats_of(y[rows], pieces[rows], recipe.n_classes)
        # As in assert_same_tree: sums in another order.
        np.testing.assert_allclose(moments(tree)[leaf], of_rows, 1e-9, 1e-12)


@few_examples
@given(problems(UNWEIGHTED, bag="none", limits="none", weighted=False), generators)
def test_a_weight_of_two_is_the_row_twice(problem, rng):
    case, X, y, *_ = problem
    times = rng.integers(1, 4, len(y))
    weighted = grow(case, X, y, times.astype(float))
    repeated = grow(case, np.repeat(X, times, axis=0), np.repeat(y, times, axis=0))
    for field in ("kind", "feature", "left", "right", "cut_high", "missing"):
        np.testing.assert_array_equal(weighted.nodes[field], repeated.nodes[field], err_msg=field)
    # Weights are whole, but of pieces of rows; shares are kept in single precision.
    exact = 1e-12 if case.missing == "both" else 0
    np.testing.assert_allclose(weighted.nodes["weight"], repeated.nodes["weight"], exact)
    shares = weighted.nodes["missing_share"], repeated.nodes["missing_share"]
    np.testing.assert_allclose(*shares, 1e-6)


@few_examples
@given(problems([case for case in ON_COLUMNS if case.rho], limits="none"))
def test_more_parameters_are_no_worse(problem):
    """The parameters drawn for rho are the first of those drawn for rho + 1."""
    roots = [grow(*problem, max_depth=1, rho=rho) for rho in range(1, 9)]
    scores = [root_score(problem[0], tree) for tree in roots]
    # Of scores within a tie the first feature wins, so a score may rise by that much.
    assert all(b <= a + tie for (a, tie), (b, _) in pairwise(scores))


def root_score(case, tree):
    """The weight × impurity below the root, and how near to it a tie is."""
    nodes = tree.nodes
    below, root = nodes[1:] if len(nodes) > 1 else nodes, nodes[0]
    known = root["n_rows"], root["weight"], root["impurity"], case.n_targets
    return below["weight"] @ below["impurity"], naive.tie_of(case.criterion, *known)


LEAF_LIMITS = [
    *({"min_samples_leaf": rows} for rows in range(1, 6)),
    *({"min_weight_fraction_leaf": share} for share in (0.1, 0.25)),
]


@few_examples
@given(
    problems([case for case in ALL_KNOWN if case.search == "boundary"], rho=0, n_thresholds=0),
    st.data(),
)
def test_boundaries_are_enough(problem, data):
    """Whatever the leaves need: a better cut would lie at a boundary, or at the limit itself."""
    case, *rest = problem
    limits = data.draw(st.sampled_from(LEAF_LIMITS))
    found = [
        root_score(case, grow(case._replace(search=search), *rest, max_depth=1, **limits))
        for search in ("boundary", "exact")
    ]
    # Each may be off by a tie, and take a cut that is a tie from its best.
    assert abs(found[0][0] - found[1][0]) <= 4 * found[0][1]


@few_examples
@given(st.integers(1, 40), st.integers(0, 2**64 - 1))
def test_fewer_thresholds_are_some_of_more(n_cuts, key):
    groups = make_groups(n_cuts, 1, 1)
    before = set()
    for n_kept in range(1, n_cuts + 2):
        groups.cuts[:n_cuts] = np.arange(n_cuts)
        kept = groups.cuts[: thin(groups, n_cuts, n_kept, np.uint64(key))].tolist()
        assert kept == sorted(naive.shuffled(range(n_cuts), key)[:n_kept])
        assert before <= set(kept)
        assert not groups.chosen.any()
        before = set(kept)


@few_examples
@given(generators, st.integers(1, 80), st.integers(1, 32))
def test_sorted_groups(rng, n_rows, n_bits):
    """Rows stand by key, those of one key in their order; in used scratch too."""
    keys = rng.integers(0, 2**n_bits, n_rows, np.uint32)
    groups = make_groups(n_rows, 2**n_bits, 1)
    groups.keys[:] = keys
    for _ in range(2):
        n_groups = group_by_sort(groups, int(keys.min()), int(keys.max()), n_rows)
    values, counts = np.unique(keys, return_counts=True)
    np.testing.assert_array_equal(groups.key[:n_groups], values - values[0])
    np.testing.assert_array_equal(groups.end[:n_groups], np.cumsum(counts))
    places = groups.order & np.uint64(2**32 - 1)
    np.testing.assert_array_equal(places, np.argsort(keys, kind="stable"))


# ---- randomness by place -----------------------------------------------------------------------


@over_cover
def test_a_shallow_tree_is_the_top_of_a_deep_one(case):
    data = data_of(case, 200)
    deep = grow(case, *data, max_depth=40)
    for depth in range(naive.depths(deep.nodes).max() + 1):
        shallow = grow(case, *data, max_depth=depth)
        nodes, kept = naive.cut(deep.nodes, depth)
        gains = np.where(nodes["kind"] == LEAF, 0.0, deep.gains[kept])
        beside = {"means": deep.means[kept], "gains": gains}
        upper = deep._replace(nodes=nodes, stats=deep.stats[kept], **beside)
        assert as_bytes(with_own_pool(shallow)) == as_bytes(with_own_pool(upper))


RULES = (
    Rules(max_depth=4),
    Rules(min_samples_split=9),
    Rules(min_impurity_decrease=0.02),
    Rules(max_leaf_nodes=6),
    Rules(ccp_alpha=0.01),
    Rules(5, 8, 0.014, 7, 0.005),
)


@over_cover
def test_a_tree_cut_by_rules_is_the_one_grown_by_them(case):
    """With all that it keeps beside its nodes; growing by number of leaves, most is not grown."""
    data = data_of(case, N_ROWS)
    whole = grow(case, *data)
    own = {name: value for name, value in LIMITS[case.limits].items() if name in Rules._fields}
    for rules in RULES:
        if any(_is_looser(name, value, own.get(name)) for name, value in rules._asdict().items()):
            continue
        limits = {name: value for name, value in rules._asdict().items() if "ccp" not in name}
        recipe = recipe_of(case, N_ROWS, **{k: v for k, v in limits.items() if _says(k, v)})
        recipe = recipe._replace(ccp_alpha=rules.ccp_alpha)
        grown = grow_trees(train(case, recipe, *data), recipe, SEED, 1, 1)[0]
        for name, one, other in zip(Tree._fields, cut(whole, rules), grown, strict=True):
            assert one.tobytes() == other.tobytes(), name


def _says(name, value):
    return value != getattr(Rules(), name)


def _is_looser(name, value, own):
    if own is None or not _says(name, value):
        return False
    return value > own if name == "max_depth" else value < own


@over_cover
def test_gains_are_what_splits_lower_impurity_by(case):
    """Where all rows go one way or the other, and criteria are impurities times weights."""
    if case.missing == "both" or isinstance(CRITERIA[case.criterion], Entered):
        pytest.skip("gains are of known rows, or of scores")
    tree = grow(case, *data_of(case, N_ROWS))
    nodes, inner = tree.nodes, tree.nodes["kind"] != LEAF
    total = nodes["weight"] * nodes["impurity"]
    children = total[nodes["left"][inner]] + total[nodes["right"][inner]]
    # Sums of N_ROWS numbers near 1, rounded in another order, and differences of such.
    np.testing.assert_allclose(tree.gains[inner], total[inner] - children, 1e-7, 1e-9)
    assert (tree.gains[~inner] == 0).all()


def with_own_pool(tree):
    """The tree with its nodes' parameters and sets in their order, and no others."""
    nodes, params, bits = tree.nodes.copy(), [np.zeros(0)], [np.zeros(0, np.uint64)]
    for node in nodes:
        if node["params"] >= 0:
            start = node["params"]
            size = 1 + KINDS[node["kind"]].n_params(int(tree.params[start]))
            node["params"] = sum(map(len, params))
            params.append(tree.params[start : start + size])
        if node["bits"] >= 0:
            start, n_before = node["bits"], sum(map(len, bits))
            bits.append(tree.bits[start : start + 1 + 2 * int(tree.bits[start])])
            node["bits"] = n_before
    return tree._replace(nodes=nodes, params=np.concatenate(params), bits=np.concatenate(bits))


@over_cover
def test_a_forest_is_the_same_alone_or_as_a_part_and_on_any_threads(case):
    X, y, weights, drawn_by = data_of(case, 200)
    recipe = recipe_of(case, 200)
    training = train(case, recipe, X, y, weights, drawn_by)
    forest = grow_forest(training, recipe, SEED, 6)
    for n_jobs in 2, 4:
        assert as_bytes(grow_forest(training, recipe, SEED, 6, n_jobs)) == as_bytes(forest)
    for n_trees in range(1, 6):
        part = grow_forest(training, recipe, SEED, n_trees, 2)
        for t in range(n_trees):
            assert as_bytes(tree_of(part, t)) == as_bytes(tree_of(forest, t))
    assert as_bytes(grow_trees(training, recipe, SEED, 5, 1)[0]) == as_bytes(tree_of(forest, 5))


def as_bytes(arrays):
    return [array.tobytes() for array in arrays]


# ---- the twins again ---------------------------------------------------------------------------


@pytest.mark.skipif(WITHOUT_JIT, reason="this is that process")
def test_trees_are_those_of_their_twins_without_the_jit(run_without_jit, request):
    """The last test, as it waits for the other process."""
    output, _ = run_without_jit.communicate()
    assert run_without_jit.returncode == 0, output
    n_cases = n_with(request.config.option.markexpr, half_marked(all_cases()))
    assert re.search(rf"\b{n_cases} passed", output)
