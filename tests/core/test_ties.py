"""Which of equally good features wins: by chance, whatever their order, or the first.

Draws are judged by a chi-square test; a threshold is set where a fair draw, with other keys, would
fail once in a million times.
"""

import numpy as np
import pytest
from scipy.stats import chi2, t

from forestlab import ForestClassifier, ForestRegressor, TreeClassifier
from forestlab.core.node import best_of, keep, nothing
from forestlab.core.scratch import QUESTION

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # keys wrap around

RARE = 1e-6
N_DRAWS = 3000


def first_features(**options):
    """How often a root asks for each of five columns, of which the last four are copies."""
    rng = np.random.default_rng(0)
    column = rng.normal(size=40)
    X = np.column_stack([rng.normal(size=40), *4 * [column]])
    y = (column > 0).astype(int)
    options = {"bootstrap": False, "max_features": None, "max_depth": 1} | options
    forest = ForestClassifier(N_DRAWS, random_state=0, **options).fit(X, y).forest_
    return np.bincount(forest.nodes["feature"][forest.first_node[:-1]], minlength=5)


def fair(counts):
    expected = counts.sum() / len(counts)
    statistic = ((counts - expected) ** 2).sum() / expected
    return chi2.sf(statistic, len(counts) - 1) > RARE


def test_equal_columns_share():
    counts = first_features()
    assert counts[0] == 0
    assert fair(counts[1:])


def test_equal_columns_share_with_random_parameters():
    """Of eight random parameters some are good cuts of one of the copies, mostly of several."""
    counts = first_features(rho=8)
    assert counts[1:].sum() > 0.9 * N_DRAWS
    assert fair(counts[1:])


def test_equal_columns_share_within_a_subset():
    counts = first_features(max_features=3)
    assert fair(counts[1:])


def test_the_first_of_equal_columns_wins_if_wanted():
    assert first_features(ties="first").tolist() == [0, N_DRAWS, 0, 0, 0]


def lead_of_first(importances):
    """The t statistic of how far the first column is ahead of its share, over many sets."""
    lead = importances[:, 0] - 1 / importances.shape[1]
    return lead.mean() / (lead.std(ddof=1) / np.sqrt(len(lead)))


@pytest.mark.parametrize("ties", ["random", "first"])
def test_noise_is_as_important_in_the_first_column_as_in_any(ties):
    """And with the other rule it is not, so that this test can tell."""
    found = []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(80, 8)), rng.normal(size=80)
        model = ForestRegressor(40, ties=ties, random_state=seed).fit(X, y)
        found.append(model.feature_importances_)
    limit = t.isf(RARE / 2, len(found) - 1)
    lead = lead_of_first(np.array(found))
    assert lead > limit if ties == "first" else abs(lead) < limit


def test_the_order_of_columns_changes_nothing_in_law():
    """The same column reversed: the mean error over many forests is the same within its error."""
    errors = {False: [], True: []}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.random((80, 6))
        y = 10 * X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=80)
        X_test = rng.random((200, 6))
        y_test = 10 * X_test[:, 0] * X_test[:, 1] + X_test[:, 2]
        for turned, found in errors.items():
            step = -1 if turned else 1
            model = ForestRegressor(20, random_state=seed).fit(X[:, ::step], y)
            found.append(np.mean((model.predict(X_test[:, ::step]) - y_test) ** 2))
    difference = np.subtract(errors[True], errors[False])
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    assert abs(difference.mean()) < t.isf(RARE / 2, len(difference) - 1) * error


def found_at(score, feature, high):
    return nothing()._replace(score=score, candidate=feature, high=high)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
def test_a_tie_is_with_the_best_of_all_and_not_with_a_neighbour(order):
    """Scores 0, 0.9 and 1.8 ties apart: the third is no match for the first, in any order."""
    splits = [found_at(0.9 * tie, 2 - tie, 1) for tie in range(3)]  # the worst stands first
    found, n_found, least = np.zeros(3, QUESTION), 0, np.inf
    for i in order:
        n_found, least = keep(found, n_found, least, splits[i])
    assert best_of(found, n_found, least, 1.0, np.uint64(0), False).candidate == 1


def test_of_one_features_equal_cuts_the_lowest_wins():
    found, n_found, least = np.zeros(3, QUESTION), 0, np.inf
    for high in (7, 3, 5):
        n_found, least = keep(found, n_found, least, found_at(1.0, 4, high))
    for random_ties in (False, True):
        assert best_of(found, n_found, least, 0.0, np.uint64(9), random_ties).high == 3


def test_of_one_features_equal_bands_that_with_the_lowest_first_cut_wins():
    found, n_found, least = np.zeros(3, QUESTION), 0, np.inf
    for low, high in ((2, 5), (2, 4), (1, 7)):
        n_found, least = keep(found, n_found, least, found_at(1.0, 4, high)._replace(low=low))
    best = [best_of(found, n, least, 0.0, np.uint64(9), False) for n in (2, 3)]
    assert [(question.low, question.high) for question in best] == [(2, 4), (1, 7)]


@pytest.mark.parametrize("ties", ["first", "random"])
def test_a_tree_says_how_ties_are_decided(ties):
    X, y = np.arange(6.0)[:, None], np.arange(6) % 2
    model = TreeClassifier(ties=ties, random_state=0).fit(X, y)
    assert model.recipe_.settings.random_ties == (ties == "random")
