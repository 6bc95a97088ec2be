"""A thread's memory has room for all that a tree can need: kernels do not look where they write."""

import numpy as np
import pytest

from forestlab.core.arrays import NODE, Settings
from forestlab.core.scratch import Sizes, make_scratch

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
def test_every_question_has_its_place(rho):
    scratch = make_scratch(SIZES, PLAIN._replace(rho=rho))
    assert len(scratch.found) == max(rho, SIZES.n_features)


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
