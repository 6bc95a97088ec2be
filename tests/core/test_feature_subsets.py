"""Which features count among those drawn for a node: all, or those that vary there.

That whole trees are those of their twins is tested in test_grow.
"""

import numpy as np
import pytest

from forestlab import TreeClassifier

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # keys wrap around


def some(n_constant, seed=0):
    """Three columns that vary among others that do not, and noisy labels."""
    rng = np.random.default_rng(seed)
    X = np.ones((60, 3 + n_constant))
    places = np.sort(rng.permutation(3 + n_constant)[:3])
    X[:, places] = rng.normal(size=(60, 3))
    return X, (X[:, places].sum(axis=1) + rng.normal(size=60) > 0).astype(int)


def nodes_of(X, y, **options):
    return TreeClassifier(random_state=0, **options).fit(X, y).forest_.nodes.tobytes()


def test_as_many_as_vary_are_all_there_are():
    """Every node then draws until it has the three, so that the tree is the exhaustive one."""
    X, y = some(100)
    exhaustive = nodes_of(X, y)
    assert nodes_of(X, y, max_features=3, count_constant=False) == exhaustive
    assert nodes_of(X, y, max_features=3) != exhaustive
    assert nodes_of(X, y, max_features=2, count_constant=False) != exhaustive


def test_if_none_is_constant_nothing_changes():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 6)), rng.integers(0, 2, 80)
    options = {"max_features": 2, "min_samples_split": 10}
    trees = [nodes_of(X, y, count_constant=count, **options) for count in (True, False)]
    assert trees[0] == trees[1]


def test_one_that_varies_is_always_found():
    X, y = some(100)
    for count in (True, False):
        model = TreeClassifier(max_features=1, count_constant=count, random_state=0).fit(X, y)
        assert model.score(X, y) == 1.0  # pure leaves
