"""Options as values: what estimators take, tell, keep and refuse of them."""

import dataclasses
import json
import pickle
import re

import numpy as np
import pytest
import skops.io
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_estimators import data_for, few_trees, for_each, trees_of

from forestlab import (
    Axis,
    Band,
    Boundary,
    Exact,
    ForestClassifier,
    Histogram,
    Oblique,
    TreeClassifier,
    load,
)
from forestlab.core.arrays import Limits, Settings
from forestlab.core.options import OPTIONS, LearnerOptions, listed, option, replaced, whole
from forestlab.forest import Recipe
from forestlab.model import descriptions
from forestlab.model.storage import TEXT
from forestlab.model.values import described

SEARCHES, LEARNERS = OPTIONS["search"], OPTIONS["learner"]


@dataclasses.dataclass(frozen=True, repr=False)
class Sum(LearnerOptions):
    """Whether a sum of features is at most a number."""

    size: int = option(2, whole(1), "Features in a sum.")


def recipe_of(model):
    X, y = data_for(type(model))
    return model.fit(X, y).recipe_


# ---- said in several ways ----------------------------------------------------------------------

SAID = {
    "by itself": {"search": "boundary", "threshold": "value", "n_thresholds": 2, "ties": "first"},
    "in a value": {"search": Boundary("value", 2, "first")},
    "in both alike": {"search": Boundary("value", 2, "first"), "n_thresholds": 2},
    "in some": {"search": Boundary("value", 2, "first"), "ties": None, "learner": Axis()},
}


@for_each
def test_an_option_may_be_said_by_itself_or_in_a_value(cls):
    X, y = data_for(cls)
    grown = [few_trees(cls, **said).fit(X, y) for said in SAID.values()]
    assert {model.recipe_ for model in grown} == {grown[0].recipe_}
    assert grown[0].recipe_.search == Boundary("value", 2, "first")
    assert grown[0].recipe_.learner == Axis()
    for model in grown[1:]:
        assert trees_of(model) == trees_of(grown[0])
    assert trees_of(few_trees(cls).fit(X, y)) != trees_of(grown[0])


@pytest.mark.parametrize("name", SEARCHES)
def test_a_name_is_short_for_a_value(name):
    short, whole_value = (few_trees(TreeClassifier, search=s) for s in (name, SEARCHES[name]()))
    assert recipe_of(short) == recipe_of(whole_value)
    assert trees_of(short) == trees_of(whole_value)


def test_the_kernels_read_numbers():
    def read(**params):
        settings = recipe_of(TreeClassifier(**params)).settings._asdict()
        return {name: item for name, item in settings.items() if name not in Limits._fields}

    plain = {"n_thresholds": 0, "midpoint": True, "random_ties": True}
    plain |= {"n_terms": 0, "signs": False, "local_bins": 0, "of_search": (), "of_learner": ()}
    assert read() == plain
    said = {"n_thresholds": 3, "midpoint": False, "random_ties": False, "local_bins": 255}
    assert read(search=Histogram("value", 3, "first")) == plain | said
    assert read(learner=Oblique(3, "signs")) == plain | {"n_terms": 3, "signs": True}


def test_a_number_of_any_type_compiles_nothing_more():
    """To numba an int32 is another type; and no int64 holds 2**70."""
    for given, number in ((np.int32(3), 3), (np.uint8(3), 3), (2**70, 2**31 - 1)):
        found = recipe_of(TreeClassifier(n_thresholds=given)).settings.n_thresholds
        assert (type(found), found) == (int, number)


def test_a_value_reads_as_it_is_written():
    assert repr(Exact()) == "Exact()"
    assert repr(Histogram(n_thresholds=5)) == "Histogram(n_thresholds=5)"
    assert repr(Boundary("value", None, "first")) == "Boundary(threshold='value', ties='first')"
    model = ForestClassifier(search=Histogram(n_thresholds=5))
    assert repr(model) == "ForestClassifier(search=Histogram(n_thresholds=5))"


# ---- as scikit-learn reaches inside ------------------------------------------------------------


@for_each
def test_parameters_inside_are_listed_and_set(cls):
    model = cls()
    listed = {
        "search__threshold": "midpoint",
        "search__n_thresholds": None,
        "search__ties": "random",
    }
    assert listed.items() <= model.get_params().items()
    assert not listed.keys() & model.get_params(deep=False).keys()
    assert model.set_params(search__n_thresholds=5, search__ties="first") is model
    assert model.search == Exact(n_thresholds=5, ties="first")
    assert model.get_params()["search__n_thresholds"] == 5
    model.set_params(search__n_thresholds=7, search="histogram")  # what holds it is set first
    assert model.search == Histogram(n_thresholds=7)
    assert recipe_of(model).search == Histogram(n_thresholds=7)


@for_each
@pytest.mark.parametrize("search", ["boundary", Boundary(ties="first"), "nonsense", None])
def test_setting_what_was_got_changes_nothing(cls, search):
    model = cls(search=search, n_thresholds=4)
    before = model.get_params()
    assert model.set_params(**before).get_params() == before
    assert model.search is search


def test_a_value_is_not_changed_by_an_estimator_that_holds_it():
    value = Histogram()
    assert TreeClassifier(search=value).set_params(search__ties="first").search != value
    assert value == Histogram()
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.ties = "first"


@for_each
def test_a_clone_has_equal_values(cls):
    model = few_trees(cls, search=Boundary(n_thresholds=3), learner=Axis())
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert recipe_of(again) == recipe_of(model)
    assert trees_of(again) == trees_of(model)


@for_each
def test_a_grid_search_reaches_inside(cls):
    X, y = data_for(cls)
    grid = {"search": ["exact", Boundary()], "search__n_thresholds": [1, None]}
    found = GridSearchCV(few_trees(cls), grid, cv=3).fit(X, y)
    assert len(found.cv_results_["params"]) == 4
    assert len(set(found.cv_results_["mean_test_score"])) > 1
    best = found.best_params_
    wanted = replaced("search", best["search"], {"n_thresholds": best["search__n_thresholds"]})
    assert found.best_estimator_.recipe_.search == wanted


def test_a_pipeline_reaches_inside():
    pipeline = make_pipeline(StandardScaler(), few_trees(TreeClassifier))
    pipeline.set_params(treeclassifier__search__n_thresholds=2)
    assert pipeline.fit(*data_for(TreeClassifier))[-1].recipe_.search == Exact(n_thresholds=2)


# ---- what is refused ---------------------------------------------------------------------------

REFUSED = {
    "said twice": (
        {"search": Histogram(n_thresholds=2), "n_thresholds": 3},
        "n_thresholds is said twice: 3 by itself, and 2 in search=Histogram(n_thresholds=2). "
        "Say it in one place.",
    ),
    "a default and another": (
        {"search": Exact(), "ties": "first"},
        "ties is said twice: 'first' by itself, and 'random' in search=Exact(). Say it in one "
        "place.",
    ),
    "a word": (
        {"search": Exact(threshold="middle")},
        "search.threshold must be one of 'midpoint', 'value'; got 'middle'.",
    ),
    "another word": (
        {"search": Exact(ties=None)},
        "search.ties must be one of 'random', 'first'; got None.",
    ),
    "a number": (
        {"search": Boundary(n_thresholds=0)},
        "search.n_thresholds must be a whole number of at least 1 or None; got 0.",
    ),
    "a truth": (
        {"search": Boundary(n_thresholds=True)},
        "search.n_thresholds must be a whole number of at least 1 or None; got True.",
    ),
    "no effect": (
        {"learner": Band(3)},
        "learner.terms=3 has no effect: projection='axis' is of one column.",
    ),
    "by itself, no effect": (
        {"search": "uniform", "threshold": "value"},
        "search.threshold='value' has no effect: cuts are drawn, not laid between values.",
    ),
    "a class": (
        {"search": Histogram},
        f"search must be one of {listed(SEARCHES)}, or a value such as Exact(); got {Histogram!r}.",
    ),
    "of another group": (
        {"learner": Exact()},
        f"learner must be one of {listed(LEARNERS)}, or a value such as Axis(); got Exact().",
    ),
    "from elsewhere": (
        {"learner": Sum(3)},
        f"learner must be one of {listed(LEARNERS)}, or a value such as Axis(); got Sum(size=3).",
    ),
}


@pytest.mark.parametrize(("params", "message"), REFUSED.values(), ids=list(REFUSED))
@for_each
def test_what_is_wrong_gets_one_sentence(cls, params, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        few_trees(cls, **params).fit(*data_for(cls))


def test_an_option_inside_that_there_is_not_is_refused():
    model = TreeClassifier(search="boundary")
    with pytest.raises(ValueError, match="terms is no option of search='boundary': it has thresh"):
        model.set_params(search__terms=3)
    with pytest.raises(ValueError, match="terms is no option of learner='axis': it has none"):
        model.set_params(learner__terms=3)
    with pytest.raises(ValueError, match=r"search must be one of .*; got 'no'"):
        model.set_params(search="no", search__ties="first")


def test_an_option_by_itself_that_a_search_has_not_is_refused(monkeypatch):
    @dataclasses.dataclass(frozen=True, repr=False)
    class Bare(LearnerOptions):
        """A search of no options."""

    monkeypatch.setitem(SEARCHES, "bare", Bare)
    model = TreeClassifier(search="bare", ties="first")
    with pytest.raises(ValueError, match="ties is no option of search='bare': it has none"):
        model.fit(*data_for(TreeClassifier))


# ---- files -------------------------------------------------------------------------------------


def by_file(model, folder):
    model.save(folder / "model")
    return load(folder / "model")


def by_pickle(model, folder):
    return pickle.loads(pickle.dumps(model))


def by_skops(model, folder):
    skops.io.dump(model, folder / "model")
    names = skops.io.get_untrusted_types(file=folder / "model")
    return skops.io.load(folder / "model", trusted=names)


@pytest.mark.parametrize("way", [by_file, by_pickle, by_skops])
@pytest.mark.parametrize(
    "said", [{"search": "histogram", "ties": "first"}, {"search": Boundary("value", np.int64(3))}]
)
@for_each
def test_values_come_back(cls, said, way, tmp_path):
    model = few_trees(cls, learner=Axis(), **said)
    recipe = recipe_of(model)
    back = way(model, tmp_path)
    assert back.get_params() == model.get_params()
    assert type(back.search) is type(model.search)
    assert back.recipe_ == recipe
    assert back.recipe_.settings == recipe.settings
    assert trees_of(clone(back).fit(*data_for(cls))) == trees_of(model)


def text_of(path) -> dict:
    with np.load(path, allow_pickle=False) as file:
        return json.loads(file[TEXT].tobytes())


def with_text(path, text: dict):
    with np.load(path, allow_pickle=False) as file:
        parts = {name: file[name] for name in file.files}
    with open(path, "wb") as file:
        np.savez(file, **parts | {TEXT: np.frombuffer(json.dumps(text).encode(), np.uint8)})
    return path


def saved(path, **params):
    few_trees(ForestClassifier, **params).fit(*data_for(ForestClassifier)).save(path)
    return path


def test_a_person_can_read_the_values_of_a_file(tmp_path):
    text = text_of(saved(tmp_path / "model", search=Histogram(n_thresholds=3)))
    node = {"name": "histogram", "threshold": "midpoint", "n_thresholds": 3, "ties": "random"}
    node |= {"bins": 255}
    assert text["params"]["search"] == text["recipe"]["search"] == node
    assert text["params"]["learner"] == "axis"
    assert text["recipe"]["learner"] == {"name": "axis"}


NODES = {
    "another name": ({"name": "nonsense"}, "search='nonsense', which there is not"),
    "another option": ({"name": "exact", "terms": 3}, "terms is no option of search='exact'"),
    "another value": ({"name": "exact", "ties": "no"}, "search.ties must be one of 'random'"),
    "no name": ({"ties": "first"}, ""),
    "no node": ({}, ""),
}


@pytest.mark.parametrize("where", ["params", "recipe"])
@pytest.mark.parametrize(("node", "message"), NODES.values(), ids=list(NODES))
def test_values_of_a_file_are_not_believed(node, message, where, tmp_path):
    path = saved(tmp_path / "model", search=Exact())
    text = text_of(path)
    text[where]["search"] = node
    with pytest.raises(ValueError, match=f"(damaged|was grown with).*{message}"):
        load(with_text(path, text))


def test_a_value_of_a_file_has_the_default_of_an_option_added_since(tmp_path):
    path = saved(tmp_path / "model", search=Exact(n_thresholds=3))
    text = text_of(path)
    for where in ("params", "recipe"):
        del text[where]["search"]["ties"]
    back = load(with_text(path, text))
    assert back.search == back.recipe_.search == Exact(n_thresholds=3)


# ---- of version 0.1, whose options were no values ----------------------------------------------


@pytest.mark.parametrize(
    ("params", "numbers", "search", "left"),
    [
        ({}, {}, Exact(), {}),
        (
            {"search": "boundary", "threshold": "value", "n_thresholds": 3, "ties": "first"},
            {"midpoint": False, "n_thresholds": 3, "random_ties": False},
            Boundary("value", 3, "first"),
            {"threshold": "value", "n_thresholds": 3, "ties": "first"},
        ),
    ],
)
def test_a_file_whose_recipe_has_names_is_read(params, numbers, search, left, tmp_path):
    path = saved(tmp_path / "model", **params)
    now, text = load(path), text_of(path)
    plain = {"search": "exact", "threshold": "midpoint", "n_thresholds": None, "ties": "random"}
    text["params"] = text["params"] | plain | params
    del text["params"]["learner"], text["recipe"]["learner"]
    settings = {"n_thresholds": 0, "midpoint": True, "random_ties": True} | numbers
    text["recipe"]["settings"] = text["recipe"].pop("limits") | settings
    text["recipe"]["search"] = text["params"]["search"]
    back = load(with_text(path, text))
    assert back.recipe_ == now.recipe_
    assert back.recipe_.search == search
    assert back.get_params() == now.get_params()
    assert {name: back.get_params()[name] for name in left} == left
    X, y = data_for(ForestClassifier)
    assert trees_of(clone(back).fit(X, y)) == trees_of(now)


@pytest.mark.parametrize("learner", [[], ["axis"]], ids=["without learner", "with learner"])
def test_a_pickle_whose_recipe_has_names_is_read(learner):
    """As pickle and skops make it: a tuple's fields by their places, an estimator by its state."""
    said = {"search": "boundary", "threshold": "value", "n_thresholds": 3, "ties": "first"}
    said |= {"missing": "error"}
    model = few_trees(ForestClassifier, **said).fit(*data_for(ForestClassifier))
    now = model.recipe_
    state = model.__getstate__()
    del state["learner"]
    settings = Settings(*now.limits[:8], 3, False, False)  # as many as there were then
    state["recipe_"] = Recipe(now.criterion, "boundary", settings, *now[3:8], *learner)
    back = ForestClassifier.__new__(ForestClassifier)
    back.__setstate__(state)
    assert back.recipe_ == now
    assert type(back.recipe_.limits) is Limits
    assert back.recipe_.search == Boundary("value", 3, "first")
    assert back.get_params() == model.get_params()


# ---- words -------------------------------------------------------------------------------------


def test_documentation_tells_of_options_that_only_a_value_has(monkeypatch):
    monkeypatch.setitem(OPTIONS["learner"], "sum", Sum)
    kind, text = described("learner", "What a node asks")
    assert kind == "str or value, default='axis'"
    assert "'sum', whether a sum of features is at most a number" in text
    assert "`size` of 'sum', int, default=2, features in a sum" in text.format()
    assert descriptions.DESCRIPTIONS["ties"][0] == '{"random", "first"} or None, default=None'
