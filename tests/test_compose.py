"""Every config composes, and every data set goes with every model."""

from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from forestlab import config as configs
from forestlab import run
from forestlab.core.criteria import CRITERIA
from forestlab.core.search import SEARCHES
from forestlab.datasets import LOADERS
from forestlab.datasets.downloaded import DOWNLOADED
from forestlab.run import job

GROUPS = ("dataset", "model", "criterion", "search", "study", "tracking")
MODELS = ("tree", "bagging", "subspace", "forest", "rno")
GIVEN = ("csv", "parquet", "openml")  # need something of the user's


def choices(group: str) -> list[str]:
    return sorted(path.stem for path in (configs.conf_folder() / group).glob("*.yaml"))


def composed(*overrides: str):
    configs.register()
    with initialize_config_dir(config_dir=str(configs.conf_folder()), version_base="1.3"):
        return compose("config", overrides=list(overrides))


@pytest.mark.parametrize("group", GROUPS)
def test_every_choice_composes(group):
    for name in choices(group):
        config = composed(f"{group}={name}")
        assert OmegaConf.select(config, f"{group}.name") == name


def test_what_refers_to_another_key_is_looked_up_once():
    for settled in (
        *run.jobs(["dataset=iris", "dataset.data_seed=${seed}", "seed=3"]),
        *run.jobs(["experiment=bias_variance", "seed=3"]),
        job.normalised(composed("dataset.data_seed=${seed}", "seed=3")),
    ):
        assert settled.dataset.data_seed == 3
        assert not OmegaConf.is_interpolation(settled.dataset, "data_seed")


def test_there_is_a_file_for_every_row_of_the_tables():
    assert choices("model") == sorted(MODELS)
    assert set(choices("dataset")) == set(LOADERS)
    assert set(choices("criterion")) == {"auto", *CRITERIA}
    assert set(choices("search")) == set(SEARCHES)


@pytest.mark.parametrize("model", MODELS)
def test_every_dataset_goes_with_every_model(model):
    small = ["tracking=none", "n_jobs=1", "n_estimators=3"]
    for name in sorted(set(LOADERS) - {*DOWNLOADED, *GIVEN}):
        config = composed(f"model={model}", f"dataset={name}", "dataset.n_samples=120", *small)
        job.check(config)
        result = job.run(config, name, lambda: None, show=False)
        assert result.status == "FINISHED"
        main = "accuracy" if "accuracy/train" in result.metrics else "rmse"
        bagged = model in ("bagging", "forest")
        splits = {key.split("/")[1] for key in result.metrics if key.startswith(f"{main}/")}
        assert splits == {"train", "valid", "test"} | ({"oob"} if bagged else set()), name


def test_a_tree_is_one_tree_whatever_a_sweep_says():
    config = composed("model=tree", "n_estimators=20")
    assert job.normalised(config).n_estimators == 1
    assert config.n_estimators == 20
    assert job.normalised(composed("model=forest", "n_estimators=20")).n_estimators == 20


def test_own_file(tmp_path):
    path = tmp_path / "own.csv"
    rows = "\n".join(f"{k},{k % 7},{'yes' if k % 3 else 'no'}" for k in range(60))
    path.write_text(f"a,b,answer\n{rows}\n")
    config = composed(
        "dataset=csv", f"dataset.path={path}", "dataset.target=answer", "tracking=none"
    )
    job.check(config)
    assert job.run(config, "own", lambda: None, show=False).metrics["accuracy/train"] == 1.0


def test_a_run_on_other_scales_has_the_same_numbers():
    small = ["dataset=wine", "n_estimators=5", "n_jobs=1", "tracking=none", "study=light"]
    plain, scaled = (
        job.run(composed(*small, f"dataset.rescale={wanted}"), "wine", lambda: None, show=False)
        for wanted in ("false", "true")
    )
    found, again = (
        {key: value for key, value in result.metrics.items() if not key.startswith("seconds/")}
        for result in (plain, scaled)
    )
    assert "accuracy/oob" in found
    assert again == found


def test_draws_of_rescaled_columns_are_refused():
    drawing = ["dataset=twonorm", "study=light", "study.draws=2", "tracking=none"]
    job.check(composed(*drawing))
    with pytest.raises(
        configs.ConfigError, match=r"study.draws=2 needs all columns as they are made"
    ):
        job.check(composed(*drawing, "dataset.rescale=true"))


def test_a_class_that_training_does_not_see_is_wrong_and_not_another():
    """Labels a, c in training; b, between them, and d, behind them, only in the test rows."""
    from forestlab import TreeClassifier
    from forestlab.study.findings import study

    X, y = np.arange(8.0)[:, None], np.array(list("aaaacccc"))
    model = TreeClassifier().fit(X, y)
    test = (np.array([[0.0], [1.0], [6.0], [7.0]]), np.array(list("abcd")))
    found = study(model.grown, {"train": (X, y), "test": test}, 1)
    assert found.curves["accuracy"]["test"][-1] == 0.5
    assert found.confusions["test"].tolist() == [[1, 0], [0, 1]]
    assert found.curves["brier"]["test"][-1] == 1.0  # right rows 0, unseen ones 1 + 1


# ---- the fingerprint ---------------------------------------------------------------------------


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
    root = Path(configs.__file__).resolve().parent.parent
    assert configs.home() == root / "outputs"
    monkeypatch.setenv("FORESTLAB_HOME", "here")
    assert configs.home() == tmp_path / "here"
