"""The estimators in scikit-learn's tools: each is told enough to learn, and must."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
)
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_score,
    cross_validate,
    learning_curve,
    validation_curve,
)
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from forestlab import ForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor

FLOWERS, KIND = load_iris(return_X_y=True, as_frame=True)
PATIENTS, PROGRESS = load_diabetes(return_X_y=True, as_frame=True)
PETALS = ["petal length (cm)", "petal width (cm)"]  # what tells the kinds apart

FOREST = ForestClassifier(10, random_state=0)
TREE = TreeClassifier(max_depth=2, random_state=0)
REGRESSOR = ForestRegressor(10, random_state=0)
REGRESSION_TREE = TreeRegressor(max_depth=5, random_state=0)

# Each learns its own training data at least so well. A forest of ten knows its rows to some 0.99,
# a tree of depth 2 to 0.96; R² of a forest is 0.9, of shallow trees together 0.6.
LEARNERS = {
    "bagged trees": (BaggingClassifier(TREE, random_state=0), 0.94),
    "bagged forests": (BaggingClassifier(FOREST, 5, random_state=0), 0.96),
    "boosted trees": (AdaBoostClassifier(TREE, n_estimators=30, random_state=0), 0.96),
    "calibrated": (CalibratedClassifierCV(FOREST, cv=3), 0.96),
    "calibrated at once": (CalibratedClassifierCV(FOREST, cv=3, ensemble=False), 0.96),
    "stacked": (StackingClassifier([("a", FOREST), ("b", TREE)], final_estimator=TREE), 0.94),
    "in a pipeline": (make_pipeline(StandardScaler(), FOREST), 0.96),
    "searched": (GridSearchCV(FOREST, {"criterion": ["gini", "log_loss"]}, cv=3), 0.96),
    "on what it chose": (make_pipeline(SelectFromModel(FOREST), TREE), 0.94),
    "bagged regressions": (BaggingRegressor(REGRESSION_TREE, random_state=0), 0.6),
    "boosted regressions": (AdaBoostRegressor(REGRESSION_TREE, random_state=0), 0.6),
}


@pytest.mark.parametrize(("learner", "least"), LEARNERS.values(), ids=list(LEARNERS))
@pytest.mark.filterwarnings("error")
def test_a_learner_made_of_ours(learner, least):
    data = (PATIENTS, PROGRESS) if "regression" in str(learner).lower() else (FLOWERS, KIND)
    assert clone(learner).fit(*data).score(*data) >= least


def test_several_outputs():
    both = np.stack([PROGRESS, -PROGRESS], axis=1)
    assert MultiOutputRegressor(REGRESSOR).fit(PATIENTS, both).score(PATIENTS, both) > 0.8
    kinds = np.stack([KIND, KIND == 1], axis=1)
    assert MultiOutputClassifier(FOREST).fit(FLOWERS, kinds).score(FLOWERS, kinds) > 0.95


def test_bags_of_a_rare_class():
    """Most of the outer bags hold none of it, or give it no weight."""
    rare = np.arange(150) < 2
    for base in TREE, FOREST:
        for weights in None, np.where(rare, 1e-3, 1.0):
            bags = BaggingClassifier(base, 10, max_samples=0.3, random_state=0)
            chances = bags.fit(FLOWERS, rare, weights).predict_proba(FLOWERS)
            assert chances.shape == (150, 2)
            assert chances[2:, 1].mean() < 0.1


def test_in_processes_of_joblib():
    alone = cross_val_score(FOREST, FLOWERS, KIND)
    np.testing.assert_array_equal(cross_val_score(FOREST, FLOWERS, KIND, n_jobs=2), alone)
    grown = clone(FOREST).fit(FLOWERS, KIND)
    options = {"n_repeats": 2, "random_state": 0}
    one = permutation_importance(grown, FLOWERS, KIND, **options).importances
    two = permutation_importance(grown, FLOWERS, KIND, n_jobs=2, **options).importances
    np.testing.assert_array_equal(one, two)
    assert one[2:].mean() > 10 * one[:2].mean()


def test_names_go_through_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), FOREST).set_output(transform="pandas")
    assert pipeline.fit(FLOWERS, KIND)[-1].feature_names_in_.tolist() == list(FLOWERS)
    chosen = SelectFromModel(FOREST).set_output(transform="pandas").fit_transform(FLOWERS, KIND)
    assert list(chosen) == PETALS


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("max_features", [3, "sqrt", None])
def test_features_are_taken_away_one_by_one(max_features):
    """Down to fewer than max_features."""
    forest = clone(FOREST).set_params(max_features=max_features)
    ranking = RFE(forest, n_features_to_select=1).fit(FLOWERS, KIND).ranking_
    assert sorted(ranking) == [1, 2, 3, 4]
    assert sorted(ranking[2:]) == [1, 2]
    assert RFECV(forest, cv=3).fit(FLOWERS, KIND).cv_results_["mean_test_score"].max() > 0.9


@pytest.mark.filterwarnings("error")
def test_curves():
    """With fewer rows than max_samples, too."""
    forest = clone(FOREST).set_params(max_samples=100)
    sizes, _, scores = learning_curve(
        forest, FLOWERS, KIND, train_sizes=[20, 60, 120], shuffle=True, random_state=0
    )
    assert sizes.tolist() == [20, 60, 120]
    assert scores.mean(axis=1).min() > 0.8
    by_depth = {"param_name": "max_depth", "param_range": [1, 4]}
    shallow, deep = validation_curve(TREE, FLOWERS, KIND, **by_depth)[1].mean(axis=1)
    assert deep > shallow + 0.2


def test_partial_dependence():
    grown = clone(REGRESSOR).fit(PATIENTS, PROGRESS)
    asked = {"X": PATIENTS, "features": ["bmi"], "grid_resolution": 4}
    auto, brute = (partial_dependence(grown, method=way, **asked) for way in ("auto", "brute"))
    np.testing.assert_array_equal(auto.average, brute.average)
    assert (np.diff(auto.average[0]) > 0).all()
    # By the shares of training rows in the nodes instead of the rows: near, not the same.
    recursion = partial_dependence(grown.to_sklearn(), method="recursion", **asked)
    np.testing.assert_allclose(recursion.average, brute.average, 0.1)


def test_calibrating_a_frozen_forest():
    grown = FrozenEstimator(clone(FOREST).fit(FLOWERS[::2], KIND[::2]))
    calibrated = CalibratedClassifierCV(grown).fit(FLOWERS[1::2], KIND[1::2])
    assert calibrated.score(FLOWERS, KIND) > 0.9


def test_weights_are_routed():
    """To a forest that must not see one kind, so that it never predicts it."""
    weights = np.where(KIND == 1, 0.0, 1.0)
    with config_context(enable_metadata_routing=True):
        forest = clone(FOREST).set_fit_request(sample_weight=True)
        forest.set_score_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, forest).fit(FLOWERS, KIND, sample_weight=weights)
        assert not (pipeline.predict(FLOWERS) == 1).any()
        scores = cross_validate(pipeline, FLOWERS, KIND, params={"sample_weight": weights}, cv=3)
        assert scores["test_score"].min() == 1
        search = GridSearchCV(forest, {"max_depth": [1, 3]}, cv=3)
        assert search.fit(FLOWERS, KIND, sample_weight=weights).best_score_ == 1
    step = {"forestclassifier__sample_weight": weights}
    pipeline = make_pipeline(StandardScaler(), FOREST).fit(FLOWERS, KIND, **step)
    assert not (pipeline.predict(FLOWERS) == 1).any()
