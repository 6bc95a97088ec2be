"""A thread's memory has room for all that a tree can need: kernels do not look where they write."""

import numpy as np
import pytest

from forestlab.core.arrays import NODE, Settings
from forestlab.core.groups import make_groups
from forestlab.core.lanes import (
    PARTED,
    PER_CLASS,
    PER_KEY,
    PER_KEY_OF_NUMBERS,
    PER_ROW,
    make_swept,
)
from forestlab.core.lazy_shuffle import make_swapped
from forestlab.core.scratch import GRID, QUESTION, SEGMENTS, WAITING, Sizes, make_scratch
from forestlab.core.vectors import LANES

PLAIN = Settings(
    max_depth=2**31,
    min_samples_split=2,
    min_samples_leaf=1,
    min_weight_fraction_leaf=0.0,
    min_impurity_decrease=0.0,
    impurity_scale=1.0,
    max_features=1,
    rho=0,
    n_thresholds=0,
    midpoint=True,
    random_ties=False,
)
SIZES = Sizes(n_rows=20, n_features=3, n_codes=7, n_slots=4, n_stats=5, n_parts=2)


@pytest.mark.parametrize("n_features", [1, 63, 64, 65, 128, 129])
def test_every_feature_has_a_bit(n_features):
    constant = make_scratch(SIZES._replace(n_features=n_features), PLAIN).constant
    assert 64 * (constant.shape[1] - 1) < n_features <= 64 * constant.shape[1]
    assert constant.dtype == np.uint64
    assert not constant.any()


@pytest.mark.parametrize("n_rows", [1, 2, 3, 50])
@pytest.mark.parametrize("max_depth", [1, 2, 49, 2**31])
@pytest.mark.parametrize("min_samples_leaf", [1, 3, 60])
def test_every_node_has_its_place(n_rows, max_depth, min_samples_leaf):
    """A tree of n leaves has n - 1 nodes above them, and on a way down one waits at each."""
    settings = PLAIN._replace(max_depth=max_depth, min_samples_leaf=min_samples_leaf)
    scratch = make_scratch(SIZES._replace(n_rows=n_rows), settings)
    most_leaves = min(max(n_rows // min_samples_leaf, 1), 2 ** min(max_depth, 60))
    assert len(scratch.nodes) >= 2 * most_leaves - 1
    assert scratch.nodes.dtype == NODE
    assert scratch.stats.shape == (len(scratch.nodes), SIZES.n_stats)
    assert scratch.answers == ()
    several = make_scratch(SIZES._replace(n_rows=n_rows, n_means=2), settings).answers
    assert (several.means.shape, several.span.shape) == ((len(scratch.nodes), 2), (2, 2))
    assert len(scratch.stack) == len(scratch.constant) > min(max_depth, n_rows - 1)


@pytest.mark.parametrize("rho", [0, 3, 40])
@pytest.mark.parametrize("max_features", [1, 30])
@pytest.mark.parametrize("n_terms", [0, 2])
def test_every_question_has_its_place(rho, max_features, n_terms):
    """Of one column each there are no more than features; others are drawn."""
    settings = PLAIN._replace(rho=rho, max_features=max_features, n_terms=n_terms)
    scratch = make_scratch(SIZES, settings)
    drawn = max_features if n_terms else 0
    assert len(scratch.found) == max(rho, SIZES.n_features, drawn)
    assert scratch.found.dtype == QUESTION
    assert scratch.stack.dtype == WAITING


@pytest.mark.parametrize("n_codes", [7, 50])
def test_every_key_has_its_place(n_codes):
    """Keys of a projection are the ranks of its rows, however few codes columns have."""
    plain = make_scratch(SIZES._replace(n_codes=n_codes), PLAIN).groups
    projected = make_scratch(SIZES._replace(n_codes=n_codes), PLAIN._replace(n_terms=2)).groups
    for groups, n_keys in ((plain, n_codes), (projected, max(n_codes, 20))):
        twin = make_groups(SIZES.n_rows, n_keys, SIZES.n_slots)
        assert [(part.shape, part.dtype) for part in groups] == [
            (part.shape, part.dtype) for part in twin
        ]


@pytest.mark.parametrize("n_classes", [0, 2, 300])
@pytest.mark.parametrize("n_codes", [2, 256, 60_000])
@pytest.mark.parametrize("n_rows", [1, 300, 50_000])
def test_every_lane_has_its_place(n_rows, n_codes, n_classes):
    """Sixteen more are read and written than there are; and a table has keys only where these are
    fewer than what it costs to sort, of whatever classes a node has."""
    swept = make_swept(n_rows, n_codes, n_classes)
    room = n_rows + LANES
    assert min(len(swept.keys), len(swept.scores), len(swept.weight_left)) >= room
    assert len(swept.masses) >= (2 * room if n_classes else 0)
    assert len(swept.ways) == 2 ** (PARTED - 1)
    for held in (n_rows, PARTED + 1):
        for present in range(n_classes + 1) if n_classes else (0,):
            each = PER_KEY + PER_CLASS * present if n_classes else PER_KEY_OF_NUMBERS
            if n_codes * each > PER_ROW * held:
                continue
            assert len(swept.tally) >= n_codes + LANES
            assert len(swept.scores) >= n_codes + LANES
            up_to_lanes = -(-n_codes // LANES) * LANES
            assert len(swept.table) >= max(present, 1) * up_to_lanes + LANES
            assert n_classes or len(swept.sums) >= n_codes + LANES
    for emptied in swept.table, swept.sums, swept.tally:
        assert not emptied.any()


def test_every_projection_has_its_place():
    settings = PLAIN._replace(n_terms=3, max_features=11)
    scratch = make_scratch(SIZES._replace(n_factors=9), settings)
    projections = scratch.projections
    assert projections.columns.shape == (11, 3)
    assert projections.factors.shape == (11, 9)
    rows = projections.numbers, projections.sorted, projections.spare
    assert {part.shape for part in rows} == {(20,)}
    assert projections.varying.shape == (3,)
    # Half of the nodes ask: a count, columns, factors and shares each.
    assert len(projections.params) == len(scratch.nodes) // 2 * (1 + 2 * 3 + 9)
    assert len(projections.fit) == 3 * (2 * 3 + SIZES.n_slots + 4) + SIZES.n_slots
    assert projections.n_params.tolist() == [0]
    assert make_scratch(SIZES, PLAIN).projections == ()


def test_every_band_has_its_place():
    """What is missing has a row behind the segments, and "is it known?" a score behind those of
    the pairs of their ends."""
    wanted = make_scratch(SIZES._replace(has_bands=True), PLAIN).bands
    assert [part.shape for part in wanted[:3]] == 3 * [(SEGMENTS + 1, SIZES.n_slots)]
    n_bands = SEGMENTS * (SEGMENTS - 1) // 2
    assert wanted.scores.shape == wanted.if_right.shape == (n_bands + 1,)
    assert {part.dtype for part in wanted} == {np.dtype(np.float64)}
    assert make_scratch(SIZES, PLAIN).bands == ()


def test_every_piece_of_a_row_has_its_place():
    assert make_scratch(SIZES, PLAIN).arena == ()
    scratch = make_scratch(SIZES._replace(room=70), PLAIN)
    assert [part.shape for part in scratch.arena] == [(70,), (70,), (70,), (20,)]
    assert scratch.arena.rows.dtype == np.uint32
    assert len(scratch.nodes) == 2 * 70
    assert len(scratch.stack) == len(make_scratch(SIZES, PLAIN).stack)


def test_every_row_has_its_place():
    scratch = make_scratch(SIZES, PLAIN)
    assert scratch.slots.shape == scratch.amounts.shape == (20, 2)
    assert scratch.right_rows.shape == scratch.right_weights.shape == (20,)
    assert scratch.slots.dtype == scratch.right_rows.dtype == np.uint32
    sides = scratch.sums, scratch.total, scratch.left, scratch.right
    assert {len(side) for side in sides} == {4}
    assert scratch.features.shape == scratch.swaps.shape == (3,)
    assert scratch.scored.tolist() == [0]
    assert scratch.scored.dtype == np.int64


@pytest.mark.parametrize("rho", [1, 50, 1000])
@pytest.mark.parametrize("n_codes", [7, 50])
def test_every_pair_has_its_place(rho, n_codes):
    """No more are drawn than there are: of each column one for each code that its rows can have."""
    settings = PLAIN._replace(rho=rho, pairs=True)
    scratch = make_scratch(SIZES._replace(n_codes=n_codes), settings)
    n_drawn = min(rho, 3 * min(20, n_codes))
    end, drawn, swapped = scratch.pairs
    assert (end.shape, drawn.shape) == ((3,), (n_drawn,))
    assert {part.dtype for part in (end, drawn, *swapped)} == {np.dtype(np.int64)}
    assert [part.shape for part in swapped] == [part.shape for part in make_swapped(n_drawn)]
    assert len(scratch.found) == 3  # the best of each feature
    assert make_scratch(SIZES, PLAIN._replace(rho=rho)).pairs == ()


def test_every_number_of_a_side_has_its_place():
    """A number a slot, or as many as the criterion says; the node's sums stay a number a slot."""
    scratch = make_scratch(SIZES._replace(n_side=9), PLAIN)
    assert {len(side) for side in (scratch.total, scratch.left, scratch.right)} == {9}
    assert len(scratch.sums) == 4


def test_every_note_has_its_place():
    assert make_scratch(SIZES, PLAIN).memo == ()
    assert make_scratch(SIZES._replace(n_memo=11), PLAIN).memo.shape == (11,)


@pytest.mark.parametrize("max_depth", [1, 6, 2**31])
def test_every_bound_has_its_place(max_depth):
    """Two for each node that waits."""
    scratch = make_scratch(SIZES._replace(bounded=True), PLAIN._replace(max_depth=max_depth))
    assert [part.shape for part in scratch.bounds] == [(len(scratch.stack), 2), (1,)]
    assert make_scratch(SIZES, PLAIN).bounds == ()


def test_every_target_has_a_density():
    answers = make_scratch(SIZES._replace(n_means=2), PLAIN).answers
    assert answers.density.shape == (GRID,)
