"""What `help` says of the estimators: all that there is, in lines that fit, with an example that
runs."""

import ast
import doctest
import inspect
import pydoc
import re

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import forestlab
from forestlab.model.documentation import attributes_of
from forestlab.model.estimators import STORED

X, KIND = load_iris(return_X_y=True, as_frame=True)
CLASSES = {name: getattr(forestlab, name) for name in STORED}
for_each = pytest.mark.parametrize("cls", CLASSES.values(), ids=list(CLASSES))

# Fits that leave all that any fit leaves.
OPTIONS = {
    "TreeClassifier": [{}, {"ccp_alpha": "cv"}],
    "TreeRegressor": [{}, {"ccp_alpha": "cv"}],
    "ForestClassifier": [{"oob_score": True, "shrink": "oob", "prune": "oob"}, {"aggregate": True}],
    "ForestRegressor": [{"oob_score": True, "shrink": "oob", "prune": "oob"}, {"aggregate": True}],
    "DensityForest": [{"covariance": "full"}],
}
OPTIONS["ForestClassifier"] += [{"ccp_alpha": "cv"}]
OPTIONS["ForestRegressor"] += [{"ccp_alpha": "cv"}]


@for_each
def test_the_example_runs(cls):
    (found,) = doctest.DocTestFinder(recurse=False).find(cls, globs={})
    assert len(found.examples) > 4
    runner, told = doctest.DocTestRunner(), []
    runner.run(found, out=told.append)
    assert runner.failures == 0, "".join(told)


@for_each
def test_sections_stand_in_their_order_and_lines_fit(cls):
    titles = re.findall(r"^(\w+)\n-+$", cls.__doc__, re.MULTILINE)
    assert titles == ["Parameters", "Attributes", "Examples"]
    assert max(map(len, cls.__doc__.splitlines())) <= 100
    assert "{" not in re.sub(r"\{\"[^{}]*\"\}", "", cls.__doc__)  # but for sets of names


@for_each
def test_every_parameter_has_its_default(cls):
    for name, its in inspect.signature(cls).parameters.items():
        (told,) = re.findall(rf"^{name} : .*default=(.+)$", cls.__doc__, re.MULTILINE)
        assert ast.literal_eval(told) == its.default


def fitted_attributes(cls):
    """All that end in "_" of models fitted in all ways: what they hold, and properties."""
    found = {name for name, its in inspect.getmembers(cls) if isinstance(its, property)}
    data = X.iloc[:, :3]
    if cls is not forestlab.DensityForest:
        data = data.assign(wide=pd.Categorical(np.where(X.iloc[:, 3] > 1, "yes", "no")))
    for options in OPTIONS[cls.__name__]:
        size = {"n_estimators": 30} if "n_estimators" in inspect.signature(cls).parameters else {}
        found |= set(vars(cls(**size, **options, random_state=0).fit(data, KIND)))
    return {name for name in found if name.endswith("_") and not name.startswith("_")}


@for_each
def test_every_attribute_is_documented_and_no_other(cls):
    told = [name for names in attributes_of(cls) for name in names.split(", ")]
    assert len(told) == len(set(told))
    assert set(told) == fitted_attributes(cls)
    for names, (kind, text) in attributes_of(cls).items():
        head = f"{names} : {kind}" if kind else names
        assert f"\n{head}\n    {text[:20]}" in cls.__doc__


def test_help_of_a_forest_does_not_repeat_that_of_its_trees():
    told = pydoc.plain(pydoc.render_doc(forestlab.ForestClassifier))
    assert told.count("n_thresholds : ") == 1


# ---- what scikit-learn adds --------------------------------------------------------------------


@for_each
def test_requests_of_routing_take_a_sentence(cls):
    requests = [name for name in dir(cls) if re.fullmatch("set_.*_request", name)]
    assert {"set_fit_request", "set_predict_request", "set_score_request"} <= set(requests)
    for name in requests:
        assert len(inspect.getdoc(getattr(cls, name)).splitlines()) == 1
        assert len(str(inspect.signature(getattr(cls, name)))) < 150
    asked = inspect.signature(cls.set_predict_request).parameters
    assert list(asked) == ["self", "depth", "n_trees"]


def test_depth_and_trees_are_routed():
    with config_context(enable_metadata_routing=True):
        forest = forestlab.ForestClassifier(5, random_state=0)
        forest.set_predict_request(depth=True, n_trees=True)
        pipeline = make_pipeline(StandardScaler(), forest).fit(X, KIND)
        scaled = pipeline[0].transform(X)
        asked = pipeline.predict(X, depth=1, n_trees=2)
        np.testing.assert_array_equal(asked, pipeline[1].predict(scaled, depth=1, n_trees=2))
        assert (asked != pipeline.predict(X)).any()


def test_a_subclass_routes_what_it_adds():
    class Own(forestlab.ForestClassifier):
        def fit(self, X, y, groups=None):
            self.groups_ = groups
            return super().fit(X, y)

    assert list(inspect.signature(Own.set_fit_request).parameters) == ["self", "groups"]
    with config_context(enable_metadata_routing=True):
        own = Own(2, random_state=0).set_fit_request(groups=True)
        pipeline = make_pipeline(StandardScaler(), own).fit(X, KIND, groups=KIND)
        assert pipeline[1].groups_ is KIND
