"""The groups of OPTIONS in the configuration: their nodes are made from the values' classes."""

import dataclasses

import pandas as pd
import pytest
from command import composed
from omegaconf import OmegaConf

from forestlab import Axis, Boundary, Exact, Histogram, run
from forestlab import config as configs
from forestlab.baseline.runs import config_of
from forestlab.compare.query import parse
from forestlab.compare.variants import completed
from forestlab.config import ConfigError
from forestlab.core.options import OPTIONS, LearnerOptions, option, whole
from forestlab.run import making

# Taken when the options of `search` stood in the schema by hand and there was no `learner`: of a
# config as composed, and as it takes effect. Logged runs are found by them.
FINGERPRINTS = {
    "": ("64c220febfb8d925", "5499263bc2e12dcf"),
    "max_depth=5": ("102374b267e63449", "ad889644db45a52c"),
    "model=tree dataset=boston search.threshold=value": ("be6b04e5078db924", "128dd529fb27ecbd"),
    "search=histogram search.ties=first": ("c32bdc7db45cc476", "3f3b9bc337a14132"),
    "search=boundary search.n_thresholds=15 dataset=iris": (
        "96983ea6d0702f7f",
        "b3cab734179d7fd4",
    ),
    "model=rno model.rho=5 dataset=twonorm study=light": ("7502bfb59ea02e64", "7502bfb59ea02e64"),
}


@pytest.mark.parametrize(("words", "wanted"), FINGERPRINTS.items())
def test_fingerprints_are_those_of_logged_runs(words, wanted):
    config = composed(*words.split())
    assert (configs.fingerprint(config), configs.fingerprint(making.normalised(config))) == wanted
    assert configs.fingerprint(composed(*words.split(), "learner=axis")) == wanted[0]


def of_group(config, group: str) -> dict:
    return {key: value for key, value in configs.flat(config).items() if key.startswith(group)}


def test_logged_parameters_of_a_search():
    wanted = {
        "search.n_thresholds": 15,
        "search.name": "boundary",
        "search.threshold": "midpoint",
        "search.ties": "random",
    }
    for config in (composed("search=boundary", "search.n_thresholds=15"),):
        assert of_group(config, "search.") == wanted
        assert of_group(making.normalised(config), "search.") == wanted
        assert of_group(config, "learner.") == {"learner.name": "axis"}


@pytest.mark.parametrize(
    ("words", "search"),
    [
        ([], Exact()),
        (["search=histogram", "search.ties=first"], Histogram(ties="first")),
        (["search=boundary", "search.n_thresholds=15"], Boundary(n_thresholds=15)),
        (["search.name=boundary", "search.threshold=value"], Boundary("value")),
    ],
)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_an_estimator_gets_the_value_that_a_config_describes(words, search, task):
    model = making.build(composed(*words), task)
    assert (model.search, model.learner) == (search, Axis())
    assert model.threshold is model.n_thresholds is model.ties is None


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("search.ties=last", "search.ties must be one of 'random', 'first'; got 'last'."),
        ("search.n_thresholds=0", "search.n_thresholds must be a whole number of at least 1"),
        ("search.name=nonsense", "search must be one of 'exact', 'histogram', 'boundary'"),
        ("learner.name=nonsense", "learner must be one of 'axis'"),
    ],
)
def test_a_wrong_value_is_told_before_training(word, message, capsys):
    assert run.main(["dataset=iris", "tracking=none", word]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"error: {message}")
    assert told.count("\n") == 1


# ---- choices whose options differ --------------------------------------------------------------


@dataclasses.dataclass(frozen=True, repr=False)
class Oblique(LearnerOptions):
    """Sums of features."""

    terms: int = option(2, whole(1), "Features in a sum.")
    width: float | None = None


@dataclasses.dataclass(frozen=True, repr=False)
class Quadratic(LearnerOptions):
    """Sums of squares."""

    terms: int = option(5, whole(1), "Squares in a sum.")


@pytest.fixture
def learners(monkeypatch, tmp_path):
    """Two learners beside the first, and a folder of configs that has them; returns how to call
    `run.jobs`."""
    there = {"axis": Axis, "oblique": Oblique, "quadratic": Quadratic}
    monkeypatch.setitem(OPTIONS, "learner", there)
    for name in ("oblique", "quadratic"):
        (tmp_path / "learner").mkdir(exist_ok=True)
        (tmp_path / "learner" / f"{name}.yaml").write_text(f"name: {name}\n")
    yield lambda *words: run.jobs(["dataset=iris", "--config-dir", str(tmp_path), *words])
    monkeypatch.undo()
    configs.register()


CHOSEN = {
    "": ({"name": "axis"}, Axis()),
    "learner=oblique": ({"name": "oblique", "terms": 2, "width": None}, Oblique()),
    "learner=oblique learner.terms=3": (
        {"name": "oblique", "terms": 3, "width": None},
        Oblique(terms=3),
    ),
    "learner=oblique learner.width=0.5": (
        {"name": "oblique", "terms": 2, "width": 0.5},
        Oblique(width=0.5),
    ),
    "learner=quadratic": ({"name": "quadratic", "terms": 5}, Quadratic()),
    "learner.name=quadratic learner.terms=2": ({"name": "quadratic", "terms": 2}, Quadratic(2)),
}


@pytest.mark.parametrize(("words", "wanted"), CHOSEN.items(), ids=list(CHOSEN))
def test_a_choice_has_its_own_options_and_defaults(learners, words, wanted):
    node, value = wanted
    (config,) = learners(*words.split())
    assert OmegaConf.to_container(config.learner) == node  # as the run's config.yaml has it
    assert not OmegaConf.missing_keys(config)
    assert of_group(config, "learner.") == {f"learner.{key}": item for key, item in node.items()}
    assert configs.value_of(config, "learner") == value
    assert making.build(config, "classification").learner == value
    again = making.normalised(config)
    assert again == config
    assert configs.fingerprint(again) == configs.fingerprint(config)


def test_a_config_that_is_not_settled_says_the_same(learners):
    learners()
    config = composed("learner.name=quadratic")
    assert OmegaConf.is_missing(config.learner, "terms")
    assert of_group(config, "learner.") == {"learner.name": "quadratic", "learner.terms": 5}
    assert configs.value_of(config, "learner") == Quadratic()


def test_only_what_is_not_a_choices_default_is_in_a_fingerprint(learners):
    def chosen(*words):
        (config,) = learners(*words)
        return {k: v for k, v in configs.chosen(config).items() if k.startswith("learner.")}

    assert chosen() == {}
    assert chosen("learner=oblique") == {"learner.name": "oblique"}
    assert chosen("learner=oblique", "learner.terms=2") == {"learner.name": "oblique"}
    assert chosen("learner=quadratic", "learner.terms=2") == {
        "learner.name": "quadratic",
        "learner.terms": 2,
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("learner.terms=3", "learner.terms is an option of oblique and quadratic, not of axis"),
        ("learner=quadratic learner.width=1", "learner.width is an option of oblique, not of quad"),
        ("learner.width=null", "learner.width is an option of oblique, not of axis"),
        ("-m learner=oblique,axis learner.terms=2,3", "learner.terms is an option of oblique and"),
        ("learner=oblique +learner.x=1", "no option 'learner.x': learner has name, terms, width."),
    ],
)
def test_an_option_of_another_choice_is_refused(learners, words, message):
    with pytest.raises(ConfigError, match=message):
        learners(*words.split())


def test_a_sweep_over_choices_and_options(learners):
    found = learners("-m", "learner=oblique,quadratic", "learner.terms=2,3")
    values = [configs.value_of(config, "learner") for config in found]
    assert values == [Oblique(2), Oblique(3), Quadratic(2), Quadratic(3)]
    assert len({configs.fingerprint(config) for config in found}) == 4
    plain = learners("-m", "learner=axis,oblique,quadratic", "seed=0,1")
    assert [configs.value_of(config, "learner") for config in plain[::2]] == [
        Axis(),
        Oblique(),
        Quadratic(),
    ]


def test_logged_parameters_give_the_config_back(learners):
    for words in CHOSEN:
        (config,) = learners(*words.split())
        said = {key: configs.typed(str(value)) for key, value in configs.flat(config).items()}
        again = config_of(said)
        assert configs.flat(again) == configs.flat(config)
        assert configs.fingerprint(again) == configs.fingerprint(config)
        assert configs.agree({key: str(value) for key, value in said.items()}, again)


def test_runs_are_asked_for_by_an_option(learners):
    learners()
    assert "params.`learner.terms` = '3'" in str(parse("learner.terms = 3"))


def test_runs_of_before_an_option_had_their_choices_default(learners):
    learners()
    runs = pd.DataFrame(
        {
            "params.learner.name": [None, "axis", "oblique", "quadratic", "quadratic"],
            "params.learner.terms": [None, None, None, None, "7"],
        }
    )
    found = completed(runs)
    assert found["params.learner.name"].tolist() == ["axis", "axis", *runs.iloc[2:, 0]]
    assert found["params.learner.terms"].tolist() == ["None", "None", "2", "5", "7"]
