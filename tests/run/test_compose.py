"""Every config composes, and every data set goes with every model."""

from pathlib import Path

import numpy as np
import pytest
from command import composed
from omegaconf import OmegaConf

from forestlab import config as configs
from forestlab import run
from forestlab.core.criteria import CRITERIA
from forestlab.core.learners import LEARNERS
from forestlab.core.options import OPTIONS, Band
from forestlab.core.search import SEARCHES
from forestlab.core.tasks import TASKS
from forestlab.datasets import LOADERS
from forestlab.datasets.downloaded import DOWNLOADED
from forestlab.run import job
from forestlab.run.checks import TRACKINGS, check
from forestlab.run.making import Shelf, normalised
from forestlab.run.shared import Shared

GROUPS = ("dataset", "model", "criterion", "search", "learner", "task", "study", "tracking")
MODELS = ("tree", "bagging", "subspace", "forest", "rno", "extra_trees")
GIVEN = ("csv", "parquet", "openml")  # need something of the user's


def choices(group: str) -> list[str]:
    return sorted(path.stem for path in (configs.conf_folder() / group).glob("*.yaml"))


@pytest.mark.parametrize("group", GROUPS)
def test_every_choice_composes(group):
    for name in choices(group):
        config = composed(f"{group}={name}")
        assert OmegaConf.select(config, f"{group}.name") == name


def test_what_refers_to_another_key_is_looked_up_once():
    for settled in (
        *run.jobs(["dataset=iris", "dataset.data_seed=${seed}", "seed=3"]),
        *run.jobs(["experiment=bias_variance", "seed=3"]),
        normalised(composed("dataset.data_seed=${seed}", "seed=3")),
    ):
        assert settled.dataset.data_seed == 3
        assert not OmegaConf.is_interpolation(settled.dataset, "data_seed")


def test_there_is_a_file_for_every_row_of_the_tables():
    assert choices("model") == sorted(MODELS)
    assert set(choices("dataset")) == set(LOADERS)
    assert set(choices("criterion")) == {"auto", *CRITERIA}
    assert set(choices("tracking")) == set(TRACKINGS)
    assert set(choices("search")) == set(SEARCHES) == set(OPTIONS["search"])
    assert set(choices("learner")) == set(OPTIONS["learner"])
    assert set(choices("task")) == {
        "auto",
        *(name for name, row in TASKS.items() if row.of_features),
    }
    rows = {choice().row or name for name, choice in OPTIONS["learner"].items()}
    assert rows | {Band(projection="oblique").row} == set(LEARNERS)


def result_of(config, name):
    shared = Shared()
    check(config, shared.shelf)
    return job.run(shared.job(config, name), shared, lambda: None, show=False)


FEWER = ("linnerud", "fruits")  # rows than these
ALL_TRAINED_ON = ("fruits",)


@pytest.mark.parametrize(
    ("model", "study"),
    [("forest", "light"), *(pytest.param(name, "full", marks=pytest.mark.long) for name in MODELS)],
)
def test_every_dataset_goes_with_every_model(model, study):
    small = ["tracking=none", "n_jobs=1", "n_estimators=3", f"study={study}"]
    for name in sorted(set(LOADERS) - {*DOWNLOADED, *GIVEN}):
        rows = [] if name in FEWER else ["dataset.n_samples=120"]
        config = composed(f"model={model}", f"dataset={name}", *rows, *small)
        result = result_of(config, name)
        assert result.status == "FINISHED"
        main = "accuracy" if "accuracy/train" in result.metrics else "rmse"
        bagged = model in ("bagging", "forest")
        splits = {key.split("/")[1] for key in result.metrics if key.startswith(f"{main}/")}
        held_out = set() if name in ALL_TRAINED_ON else {"valid", "test"}
        assert splits == {"train"} | held_out | ({"oob"} if bagged else set()), name


def test_a_tree_is_one_tree_whatever_a_sweep_says():
    config = composed("model=tree", "n_estimators=20")
    assert normalised(config).n_estimators == 1
    assert config.n_estimators == 20
    assert normalised(composed("model=forest", "n_estimators=20")).n_estimators == 20


def test_own_file(tmp_path):
    path = tmp_path / "own.csv"
    rows = "\n".join(f"{k},{k % 7},{'yes' if k % 3 else 'no'}" for k in range(60))
    path.write_text(f"a,b,answer\n{rows}\n")
    config = composed(
        "dataset=csv", f"dataset.path={path}", "dataset.target=answer", "tracking=none"
    )
    assert result_of(config, "own").metrics["accuracy/train"] == 1.0


def test_a_run_on_other_scales_has_the_same_numbers():
    small = ["dataset=wine", "n_estimators=5", "n_jobs=1", "tracking=none", "study=light"]
    plain, scaled = (
        result_of(composed(*small, f"dataset.rescale={wanted}"), "wine")
        for wanted in ("false", "true")
    )
    found, again = (
        {
            key: value
            for key, value in result.metrics.items()
            if not key.startswith("summary/seconds_")
        }
        for result in (plain, scaled)
    )
    assert "accuracy/oob" in found
    assert again == found


def test_draws_of_rescaled_columns_are_refused():
    drawing = ["dataset=twonorm", "study=light", "study.draws=2", "tracking=none"]
    check(composed(*drawing), Shelf())
    with pytest.raises(
        configs.ConfigError, match=r"study.draws=2 needs all columns as they are made"
    ):
        check(composed(*drawing, "dataset.rescale=true"), Shelf())


def test_a_class_that_training_does_not_see_is_wrong_and_not_another():
    """Labels a, c in training; b, between them, and d, behind them, only in the test rows."""
    from forestlab import TreeClassifier
    from forestlab.study.findings import study

    X, y = np.arange(8.0)[:, None], np.array(list("aaaacccc"))
    model = TreeClassifier().fit(X, y)
    test = (np.array([[0.0], [1.0], [6.0], [7.0]]), np.array(list("abcd")))
    found = study(model.grown, {"train": (X, y), "test": test}, 1)
    assert found.curves["accuracy"]["test"][-1] == 0.5
    assert found.parts["confusion"]["test"].tolist() == [[1, 0], [0, 1]]
    assert found.curves["brier"]["test"][-1] == 1.0  # right rows 0, unseen ones 1 + 1


# ---- the fingerprint ---------------------------------------------------------------------------


def test_a_target_is_a_name_whatever_its_letters():
    """A column may be called 3; a list of one is that one."""
    csv = ("dataset=csv", "dataset.path=a.csv")
    said = [composed(*csv, f"dataset.target={text}") for text in ("3", "'3'", "[3]")]
    assert len({configs.fingerprint(config) for config in said}) == 1
    assert configs.chosen(said[0])["dataset.target"] == "3"
    several = composed(*csv, "dataset.target=[3,b]")
    assert configs.chosen(several)["dataset.target"] == ["3", "b"]
    assert configs.fingerprint(several) != configs.fingerprint(said[0])
    assert "dataset.target" not in configs.chosen(composed(*csv))


def test_the_fingerprint_names_the_result():
    first = configs.fingerprint(composed("max_depth=5"))
    assert configs.fingerprint(composed("max_depth=5", "n_jobs=3", "tracking=none")) == first
    assert configs.fingerprint(composed("max_depth=5", "resume=true")) == first
    assert configs.fingerprint(composed("max_depth=5", "dataset.rescale=false")) == first
    assert configs.fingerprint(composed("max_depth=6")) != first
    assert configs.fingerprint(composed("max_depth=5", "seed=1")) != first
    # A leaf of one row, the default, is not a leaf of all rows.
    assert configs.fingerprint(composed("max_depth=5", "model.min_samples_leaf=1.0")) != first
    assert configs.fingerprint(composed("max_depth=5", "dataset.split_seed=1")) != first
    assert configs.fingerprint(composed("max_depth=5", "dataset.rescale=true")) != first


def test_constraints_by_name_are_one_value():
    """Names may have letters that MLflow refuses in the name of a parameter."""
    by_name = composed(r"model.monotonic_cst={b \(cm\): -1, a: 1}")
    assert configs.flat(by_name)["model.monotonic_cst"] == {"a": 1, "b (cm)": -1}
    swapped = composed(r"model.monotonic_cst={a: 1, b \(cm\): -1}")
    assert configs.fingerprint(swapped) == configs.fingerprint(by_name)
    logged = {key: configs.param_text(value) for key, value in configs.flat(by_name).items()}
    assert configs.agree(logged, swapped)
    assert not configs.agree(logged, composed("model.monotonic_cst={a: 1}"))
    listed = composed("model.monotonic_cst=[1,-1]")
    assert configs.flat(listed)["model.monotonic_cst"] == [1, -1]
    assert len({configs.fingerprint(config) for config in (by_name, listed, composed())}) == 3


def test_plug_ins_are_part_of_the_fingerprint_if_there_are_any():
    bare = OmegaConf.to_container(composed("max_depth=5"))
    assert bare.pop("plugins") == []
    first = configs.fingerprint(OmegaConf.create(bare))
    assert configs.fingerprint(composed("max_depth=5")) == first
    assert configs.fingerprint(composed("max_depth=5", "plugins=[mine]")) != first


def test_a_new_option_does_not_change_old_fingerprints():
    config = composed("max_depth=5")
    more = OmegaConf.create(OmegaConf.to_container(config))
    defaults = configs.flat_defaults()
    shown = {key for key, value in configs.flat(more).items() if defaults.get(key) != value}
    # Only what was chosen counts: an option at its default is not part of the fingerprint.
    assert "model.combine" not in shown
    assert "max_depth" in shown


def test_home_and_conf_are_absolute(monkeypatch, tmp_path):
    monkeypatch.delenv("FORESTLAB_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    root = Path(configs.__file__).resolve().parent.parent.parent
    assert configs.home() == root / "outputs"
    monkeypatch.setenv("FORESTLAB_HOME", "here")
    assert configs.home() == tmp_path / "here"
