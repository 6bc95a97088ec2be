"""The main job, by its real command line, read back through the MLflow client."""

import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd
import pytest
from command import ROOT, Logged, as_a_terminal_does, beside_progress, command, environment
from mlflow import MlflowClient
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix, log_loss
from sklearn.model_selection import train_test_split

from forestlab import ForestClassifier, run
from forestlab import config as configs
from forestlab.baseline import check
from forestlab.run import job
from forestlab.run.shared import Shared

EXACT = ["model=forest", "dataset=digits", "-m", "max_depth=1,5,20"]
SMALL = ["n_estimators=3", "tracking.model=false", "tracking.pictures=false"]


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """The user's own command, from a folder that is not the checkout."""
    home = tmp_path_factory.mktemp("home")
    done = command(*EXACT, home=home)
    assert done.returncode == 0, done.stderr
    logged = Logged(home)
    logged.stdout, logged.stderr = done.stdout, done.stderr
    logged.parent, *logged.children = logged.runs()
    return logged


@pytest.fixture(scope="module")
def deepest(sweep):
    return sweep.children[2]


@pytest.fixture(scope="module")
def digits():
    """The document's split of digits, and the same forest grown through the estimator."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=2020)
    X, X_valid, y, y_valid = train_test_split(X, y, random_state=2020)
    model = ForestClassifier(100, max_depth=20, n_jobs=2, random_state=0).fit(X, y)
    return model, {"train": (X, y), "valid": (X_valid, y_valid), "test": (X_test, y_test)}


# ---- a sweep -----------------------------------------------------------------------------------


def test_a_sweep_is_a_parent_with_children(sweep):
    assert sweep.parent.info.status == "FINISHED"
    assert [run.info.status for run in sweep.children] == ["FINISHED"] * 3
    assert [run.info.run_name for run in sweep.children] == [
        f"forest digits max_depth={depth}" for depth in (1, 5, 20)
    ]
    parents = {run.data.tags["mlflow.parentRunId"] for run in sweep.children}
    assert parents == {sweep.parent.info.run_id}


def test_the_parent_carries_the_comparison(sweep):
    rows = sweep.table(sweep.parent, "comparison/children.json")
    assert [row["name"] for row in rows] == [run.info.run_name for run in sweep.children]
    assert [row["metrics"] for row in rows] == [run.data.metrics for run in sweep.children]
    assert sweep.artifact(sweep.parent, "comparison/swept.png")[:4] == b"\x89PNG"
    table = pd.read_csv(io.BytesIO(sweep.artifact(sweep.parent, "comparison/swept.csv")))
    assert table["max_depth"].tolist() == [1, 5, 20]
    assert table["accuracy/test"].tolist() == [
        run.data.metrics["accuracy/test"] for run in sweep.children
    ]


def test_the_parent_has_the_best_childs_metrics_and_the_curve(sweep, deepest):
    assert sweep.parent.data.tags["best_run"] == deepest.info.run_id
    metrics = dict(sweep.parent.data.metrics)
    curves = {name for name in metrics if name.startswith("by_max_depth/")}
    assert curves == {f"by_max_depth/accuracy/{s}" for s in ("train", "valid", "test", "oob")}
    assert {name: metrics[name] for name in metrics.keys() - curves} == deepest.data.metrics
    for name in ("accuracy/test", "log_loss/oob"):
        assert sweep.history(sweep.parent, name) == sweep.history(deepest, name)
    by_depth = sweep.history(sweep.parent, "by_max_depth/accuracy/valid")
    assert by_depth == {
        depth: run.data.metrics["accuracy/valid"]
        for depth, run in zip((1, 5, 20), sweep.children, strict=True)
    }


def test_the_parent_has_a_note_and_a_page(sweep, deepest):
    note = sweep.parent.data.tags["mlflow.note.content"]
    assert "`max_depth` (1, 5, 20)" in note
    experiment = sweep.parent.info.experiment_id
    links = [f"#/experiments/{experiment}/runs/{run.info.run_id}" for run in sweep.children]
    places = [note.rindex(link) for link in links]
    assert places == sorted(places, reverse=True)  # the deepest is best
    page = sweep.artifact(sweep.parent, "report.html")
    assert len(page) < 3_000_000
    assert b"Error rate against max_depth, digits" in page


def test_the_table_at_the_end(sweep):
    lines = sweep.stdout.splitlines()
    assert lines[0].split()[:2] == ["run", "status"]
    for line, child in zip(lines[1:4], sweep.children, strict=True):
        assert line.startswith(child.info.run_name)
        assert f"{child.data.metrics['accuracy/test']:.4g}" in line
    assert sweep.parent.info.run_id in sweep.stdout
    assert str(sweep.home / "mlflow.db") in sweep.stdout


def test_no_line_is_written_over_without_a_terminal(sweep):
    assert beside_progress(sweep.stderr) == []
    assert "\r" not in sweep.stderr


def test_all_is_written_under_home(sweep):
    assert [path.name for path in (sweep.home / "journal").glob("[!.]*")] == []
    assert sorted(path.name for path in sweep.home.iterdir()) == [
        ".mlflow.db.lock",
        "hydra",
        "journal",
        "mlartifacts",
        "mlflow.db",
    ]
    jobs = sorted(
        path.parent.parent.name for path in sweep.home.glob("hydra/*/*/*/.hydra/config.yaml")
    )
    assert jobs == ["0", "1", "2"]


# ---- what a run holds --------------------------------------------------------------------------


def test_parameters_are_the_whole_config(deepest):
    params = deepest.data.params
    assert params["max_depth"] == "20"
    assert params["dataset.name"] == "digits"
    assert params["model.max_features"] == "sqrt"
    assert params["search.name"] == "exact"
    assert params["criterion.name"] == "gini"  # not auto: what it came to
    assert params["task.name"] == "classification"
    assert deepest.data.tags["auto"] == "criterion.name task.name"
    assert {"seed", "n_jobs", "dataset.split_seed", "tracking.experiment"} <= set(params)


def test_tags_say_where_it_came_from(sweep, deepest):
    tags = deepest.data.tags
    assert {"version.numba", "version.mlflow", "cpu", "core_version", "config_hash"} <= set(tags)
    assert tags["seed"] == "0"
    assert tags["oob"] == "yes"
    hashes = [run.data.tags["config_hash"] for run in sweep.children]
    assert len(set(hashes)) == 3
    if (ROOT / ".git").exists():
        head = subprocess.run(
            ["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True
        ).stdout.strip()
        assert tags["mlflow.source.git.commit"] == head
        assert tags["git.dirty"] in ("true", "false")


def test_the_dataset_is_an_input(deepest):
    (entry,) = deepest.inputs.dataset_inputs
    assert entry.dataset.name == "digits"
    assert entry.dataset.digest == deepest.data.tags["dataset_digest"]
    profile = json.loads(entry.dataset.profile)
    assert profile == {"train": 1010, "valid": 337, "test": 450, "rows": 1797, "features": 64}


def test_metrics_at_every_depth(sweep, deepest, digits):
    model, splits = digits
    n_depths = max(tree.depth for tree in model.trees_) + 1
    for split, (X, y) in splits.items():
        accuracies = sweep.history(deepest, f"accuracy/{split}")
        losses = sweep.history(deepest, f"log_loss/{split}")
        assert list(accuracies) == list(losses) == list(range(n_depths))
        for depth in range(n_depths):
            p = model.predict_proba(X, depth=depth)
            assert accuracies[depth] == np.mean(p.argmax(axis=1) == y)
            # MLflow keeps float64; scikit-learn sums in another order.
            assert losses[depth] == pytest.approx(log_loss(y, p), rel=1e-9)


def test_out_of_bag_at_every_depth_and_size(sweep, deepest, digits):
    model, splits = digits
    X, y = splits["train"]
    for depth, value in sweep.history(deepest, "accuracy/oob").items():
        answers, voters = model.predict_oob(X, depth=depth)
        voted = voters > 0
        assert value == np.mean(answers[voted].argmax(axis=1) == y[voted])
    errors = sweep.history(deepest, "by_trees/oob_error")
    assert list(errors) == list(range(1, 101))
    assert errors[100] == pytest.approx(1 - deepest.data.metrics["accuracy/oob"], abs=1e-12)


def test_chosen_depth_is_the_first_best_on_validation(sweep, deepest):
    valid = sweep.history(deepest, "accuracy/valid")
    depth = min((d for d in valid if d > 0), key=lambda d: (-valid[d], d))
    assert deepest.data.metrics["summary/chosen_depth"] == depth
    test = sweep.history(deepest, "accuracy/test")
    assert deepest.data.metrics["summary/chosen_accuracy_test"] == test[depth]


def test_sizes_and_seconds(deepest, digits):
    model, _ = digits
    metrics = deepest.data.metrics
    assert metrics["summary/trees_n_nodes"] == len(model.forest_.nodes) / 100
    assert metrics["summary/trees_n_leaves"] == np.mean([tree.n_leaves for tree in model.trees_])
    assert metrics["summary/trees_depth"] == np.mean([tree.depth for tree in model.trees_])
    assert all(metrics[f"summary/seconds_{name}"] > 0 for name in ("fit", "predict", "log"))


def test_confusion_tables(sweep, deepest, digits):
    model, splits = digits
    X, y = splits["test"]
    counts = confusion_matrix(y, model.predict(X))
    table = sweep.table(deepest, "confusion/test.json")
    assert table["counts"] == counts.tolist()
    np.testing.assert_allclose(table["row_shares"], counts / counts.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(table["shares"], counts / counts.sum())
    assert np.sum(sweep.table(deepest, "confusion/oob.json")["counts"]) == 1010


def test_predictions_with_their_uncertainty(sweep, deepest, digits):
    model, splits = digits
    table = pd.read_parquet(io.BytesIO(sweep.artifact(deepest, "predictions.parquet")))
    assert table["split"].value_counts().to_dict() == {"valid": 337, "test": 450}
    test = table[table["split"] == "test"]
    assert (test["predicted"] == model.predict(splits["test"][0])).all()
    X, y = load_digits(return_X_y=True)
    assert (y[test["row"]] == test["truth"]).all()
    assert (X[test["row"]] == splits["test"][0]).all()
    chances = test[[f"probability_{digit}" for digit in range(10)]].to_numpy()
    assert (chances == model.predict_proba(splits["test"][0])).all()
    parts = test["aleatoric_uncertainty"] + test["epistemic_uncertainty"]
    np.testing.assert_allclose(parts, test["total_uncertainty"])


@pytest.mark.parametrize(
    "name",
    [
        "curves/depth",
        "curves/oob_by_trees",
        "confusion/test",
        "confusion/oob",
        "uncertainty/valid",
        "uncertainty/test",
        "importance",
        "tree/first",
    ],
)
def test_every_picture_has_its_table(sweep, deepest, name):
    assert sweep.artifact(deepest, f"{name}.png")[:8] == b"\x89PNG\r\n\x1a\n"
    assert sweep.table(deepest, f"{name}.json")


def test_the_model_loads_in_both_flavours(sweep, deepest, digits):
    model, _ = digits
    frame = load_digits(as_frame=True).data.loc[:20]
    mlflow.set_tracking_uri(f"sqlite:///{sweep.home / 'mlflow.db'}")
    (output,) = deepest.outputs.model_outputs
    uri = f"models:/{output.model_id}"
    wanted = model.predict(frame.to_numpy()).tolist()
    assert mlflow.pyfunc.load_model(uri).predict(frame).tolist() == wanted
    assert mlflow.sklearn.load_model(uri).predict(frame).tolist() == wanted
    assert mlflow.get_logged_model(output.model_id).name == "forest-digits"
    info = mlflow.models.get_model_info(uri)
    assert info.signature.inputs.input_names() == list(frame.columns)
    assert info.saved_input_example_info is not None
    requirements = (Path(mlflow.artifacts.download_artifacts(uri)) / "requirements.txt").read_text()
    assert "forestlab==" in requirements
    assert "skops==" in requirements


# ---- other commands ----------------------------------------------------------------------------


FAIL_AT_5 = """
from forestlab.run import job
fit = job.fit_and_study
def failing(wanted, show):
    if wanted.config.max_depth == 5:
        raise RuntimeError("the roof is on fire")
    return fit(wanted, show)
job.fit_and_study = failing
"""


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    home = tmp_path_factory.mktemp("failed")
    done = command(*EXACT, *SMALL, home=home, patch=FAIL_AT_5)
    logged = Logged(home)
    logged.done = done
    logged.parent, *logged.children = logged.runs()
    return logged


def test_a_failing_child_does_not_stop_the_others(failed):
    assert failed.done.returncode == 1
    assert [run.info.status for run in failed.children] == ["FINISHED", "FAILED", "FINISHED"]
    assert failed.parent.info.status == "FAILED"
    assert beside_progress(failed.done.stderr) == [
        "error: forest digits max_depth=5 failed: RuntimeError: the roof is on fire"
    ]
    assert b"the roof is on fire" in failed.artifact(failed.children[1], "traceback.txt")


def test_resume_runs_what_is_missing(failed):
    """After `failed`: two children are skipped, one runs; threads do not make a new result."""
    stale = failed.client.create_run(
        failed.parent.info.experiment_id, tags={"host": os.uname().nodename, "pid": "999999999"}
    )
    done = command(*EXACT, *SMALL, "resume=true", "n_jobs=1", home=failed.home)
    assert done.returncode == 0, done.stderr
    assert [line.split()[3] for line in done.stdout.splitlines()[1:4]] == [
        "skipped",
        "finished",
        "skipped",
    ]
    runs = failed.runs("tags.model = 'forest'")
    assert [run.data.params["max_depth"] for run in runs[3:]] == ["5"]
    assert failed.client.get_run(stale.info.run_id).info.status == "KILLED"
    parent = failed.runs("tags.kind = 'sweep'")[-1]
    rows = failed.table(parent, "comparison/children.json")
    assert sorted(row["params"]["max_depth"] for row in rows) == ["1", "20", "5"]


@pytest.mark.parametrize("given", ["{worst area: -1, mean radius: 1}", "[1%s]" % (29 * ",0")])
def test_constraints_are_heeded_logged_and_resumed(given, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    words = ["dataset=breast_cancer", "dataset.n_samples=200", "n_estimators=3", "study=off"]
    words += ["tracking=lean", "tracking.model=true", "resume=true", f"model.monotonic_cst={given}"]
    for status in "finished", "skipped":
        assert run.main(words) == 0
        assert status in capsys.readouterr().out
    (logged,) = Logged(tmp_path).runs()
    text = logged.data.params["model.monotonic_cst"]
    assert text.replace(" ", "") in ("{'meanradius':1,'worstarea':-1}", given)
    assert "MLFLOW_TRACKING_URI" not in os.environ  # or the next run would go there, too
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    model = mlflow.sklearn.load_model(f"runs:/{logged.info.run_id}/forest-breast_cancer")
    signs = [1, *[0] * 29]
    signs[23] = -1 if "worst" in given else 0
    assert list(model.monotonic_cst) == list(model.recipe_.monotonic) == signs


def test_resume_runs_again_what_kept_less(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    lean = ["dataset=iris", "n_estimators=3", "study=off", "tracking=lean", "resume=true"]
    told = []
    for kept in ([], ["tracking.pictures=true"], ["tracking.pictures=true"], []):
        assert run.main([*lean, *kept]) == 0
        told.append(capsys.readouterr().out.splitlines()[1].split()[-4])
    assert told == ["finished", "finished", "skipped", "skipped"]


@dataclass
class OtherSplit(configs.DatasetConfig):
    valid_size: float = 0.2  # another default


@dataclass
class Coloured(configs.ModelConfig):
    colour: str = "red"  # an option more


@dataclass
class ChangedDefault(configs.Config):
    dataset: OtherSplit = field(default_factory=OtherSplit)


@dataclass
class AddedOption(configs.Config):
    model: Coloured = field(default_factory=Coloured)


@pytest.fixture
def schema(monkeypatch):
    """Puts another schema in the place of Config."""

    def put(other) -> None:
        monkeypatch.setattr(configs.keys, "Config", other)
        configs.flat_defaults.cache_clear()

    yield put
    monkeypatch.undo()
    configs.flat_defaults.cache_clear()
    configs.register()


def test_a_changed_default_is_another_result_and_an_added_option_is_not(
    schema, tmp_path, monkeypatch
):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    words = ["dataset=iris", "n_estimators=3", "study=off", "tracking=lean", "resume=true"]
    (config,) = run.jobs([*words, f"tracking.uri=sqlite:///{tmp_path / 'mlflow.db'}"])
    shared = Shared()
    store, digest = shared.store(config.tracking), shared.job(config).data.digest
    recorded = check.Wanted("iris", configs.chosen(config), digest)

    def status() -> str:
        outcome = run.perform([*words, f"tracking.uri={store.uri}"])
        assert outcome.code == 0
        return outcome.results[0].status

    def is_found() -> bool:
        return check._find(store, recorded, "never") is not None

    now = configs.Config
    assert [status(), status(), is_found()] == ["FINISHED", "SKIPPED", True]
    schema(ChangedDefault)
    assert not is_found()
    assert [status(), status(), is_found()] == ["FINISHED", "SKIPPED", True]
    schema(AddedOption)
    assert [status(), is_found()] == ["SKIPPED", True]
    schema(now)
    assert [status(), is_found()] == ["SKIPPED", True]


def test_the_store_is_opened_when_the_forest_is_measured(tmp_path, monkeypatch):
    """MLflow's import would slow it; a long fit is not waited for."""
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    words = ["dataset=iris", "n_estimators=3", "study=off", "tracking=lean"]
    measure, open_store = job.fit_and_study, Shared.store
    begun, order = threading.Event(), []

    def opening(shared, tracking):
        begun.set()
        order.append("opened")
        return open_store(shared, tracking)

    def measured(wanted, show):
        begun.wait(patience)
        done = measure(wanted, show)
        order.append("measured")
        return done

    monkeypatch.setattr(Shared, "store", opening)
    monkeypatch.setattr(job, "fit_and_study", measured)
    patience = 0.2
    assert run.main(words) == 0
    assert order[:2] == ["measured", "opened"]
    order.clear()
    begun.clear()
    patience = 60
    monkeypatch.setattr(job, "HEAD_START", 0)
    assert run.main(words) == 0
    assert order[:2] == ["opened", "measured"]


@pytest.mark.parametrize(
    ("sent", "code", "arguments"),
    [
        pytest.param(signal.SIGTERM, 143, ["-m", "seed=0,1"], marks=pytest.mark.long),
        (signal.SIGINT, 130, ["-m", "seed=0,1"]),
    ],
)
def test_signals_end_runs_as_killed(sent, code, arguments, tmp_path):
    long = ["dataset=digits", "n_estimators=100000"]  # minutes
    process = subprocess.Popen(
        [sys.executable, "-m", "forestlab.run", *long, *arguments],
        env=environment(tmp_path),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=as_a_terminal_does,
    )
    try:
        _wait_for_child(tmp_path)
        time.sleep(1)
        process.send_signal(sent)
        err = process.communicate(timeout=20)[1]
    finally:
        process.kill()
    assert process.returncode == code
    assert "Traceback" not in err
    assert [run.info.status for run in Logged(tmp_path).runs()] == ["KILLED", "KILLED"]


def _wait_for_child(home: Path) -> None:
    """Look into the store without MLflow, whose client would try to migrate what is being made."""
    for _ in range(120):
        time.sleep(0.5)
        try:
            with sqlite3.connect(f"file:{home / 'mlflow.db'}?mode=ro", uri=True) as database:
                if database.execute("select count(*) from runs").fetchone() == (2,):
                    return
        except sqlite3.OperationalError:
            continue
    pytest.fail("no child run was started")


def test_without_tracking_nothing_is_written(tmp_path):
    done = command("tracking=none", "model=tree", "dataset=iris", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "tree iris" in done.stdout
    assert not (tmp_path / "mlflow.db").exists()
    assert "logged" not in done.stdout


def test_without_bagging_there_is_no_oob(tmp_path):
    uri = f"sqlite:///{tmp_path / 'other.db'}"
    done = command(
        "model=subspace", "dataset=diabetes", f"tracking.uri={uri}", *SMALL, home=tmp_path
    )
    assert done.returncode == 0, done.stderr
    (run,) = MlflowClient(uri).search_runs(["1"])
    assert run.info.artifact_uri.startswith((tmp_path / "mlartifacts").as_uri())
    assert run.data.tags["oob"] == "none"
    assert not [name for name in run.data.metrics if "oob" in name]
    assert {"rmse/test", "mae/valid", "r2/train"} <= set(run.data.metrics)
    assert uri.removeprefix("sqlite:///") in done.stdout
