"""Runs and sweeps whose store does not take them: kept, told in a line, delivered as they were."""

import json

import pytest
from command import Logged, composed
from mlflow.exceptions import MlflowException

from forestlab import run, sync
from forestlab.run import job
from forestlab.run.batch import Batch, run_jobs
from forestlab.run.shared import Shared
from forestlab.run.sweep import Parent
from forestlab.tracking import delivery, journal, runs

SMALL = ["dataset=iris", "study=off", "n_estimators=2", "tracking=lean"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    return tmp_path


def fail(*given):
    raise MlflowException("the server at http://me:secret@host is away")


@pytest.fixture
def away(monkeypatch):
    """A store that takes no numbers, until this is called."""
    with monkeypatch.context() as patch:
        patch.setattr(delivery, "send_numbers", fail)
        yield patch.undo


def entries(home) -> list:
    return journal.entries(home / "journal")


def test_a_run_is_kept_with_its_model_and_delivered(home, away, capsys, monkeypatch):
    words = [*SMALL, "tracking.model=true", "resume=true"]
    assert run.main(words) == 3
    told = capsys.readouterr()
    assert "kept  " in told.out
    assert "accuracy/test" in told.out
    says = f"kept: 1 result in {home / 'journal'}, as the store did not take all (the server at "
    assert f"{says}http://me:***@host is away); " in told.out
    assert "logged as run" not in told.out
    assert told.err == ""
    (kept,) = entries(home)
    said = json.loads((kept / "entry.json").read_text())["content"]
    assert Logged(home).runs()[0].info.status == "RUNNING"

    # What waits is not done again.
    monkeypatch.setattr(job, "fit_and_study", None)
    assert run.main(words) == 3
    assert "kept: 1 result in" in capsys.readouterr().out
    assert entries(home) == [kept]

    away()
    assert sync.main([]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "delivered 1, left 0"
    (logged,) = Logged(home).runs()
    assert logged.info.status == "FINISHED"
    assert (logged.info.start_time, logged.info.end_time) == (said["started"], said["ended"])
    assert logged.data.params == said["params"]
    assert logged.data.metrics == {name: value for name, value, _ in said["metrics"]}
    assert logged.outputs.model_outputs
    assert entries(home) == []

    # And stands for the job from now on.
    assert run.main(words) == 0
    assert "skipped" in capsys.readouterr().out


def test_what_waits_is_delivered_by_a_run_that_resumes(home, away, capsys, monkeypatch):
    words = [*SMALL, "resume=true"]
    assert run.main(words) == 3
    (kept,) = entries(home)
    metrics = journal.read(kept).metrics
    away()
    monkeypatch.setattr(job, "fit_and_study", None)
    elsewhere = [*words, f"tracking.uri=sqlite:///{home}/other.db"]
    assert run.main(elsewhere) == 3  # it was meant for another store
    assert entries(home) == [kept]
    assert run.main(words) == 0
    assert "finished" in capsys.readouterr().out
    assert entries(home) == []
    (logged,) = Logged(home).runs()
    assert logged.info.status == "FINISHED"
    assert logged.data.metrics == {name: value for name, value, _ in metrics}


@pytest.mark.long
def test_a_run_that_lost_a_file_is_done_again(home, capsys):
    words = [*SMALL, "resume=true"]
    assert run.main(words) == 0
    (logged,) = Logged(home).runs()
    folder = home / "mlartifacts" / logged.info.run_id / "artifacts"
    (folder / "config.yaml").unlink()
    capsys.readouterr()
    assert run.main(words) == 0
    told = capsys.readouterr()
    assert "finished" in told.out
    assert told.err == (
        f"run {logged.info.run_id} ({logged.info.run_name}) is not taken for done: config.yaml is "
        "missing.\n"
    )
    assert len(Logged(home).runs()) == 2


def sweep_of(n_jobs: int, compares: bool = True):
    jobs = [composed(*SMALL, f"seed={seed}") for seed in range(n_jobs)]
    shared = Shared()
    batch = Batch(shared, Parent(shared, jobs[0], "three", n_jobs, compares=compares), n_jobs)
    return batch, lambda: [batch.do(config, f"seed {config.seed}") for config in jobs]


@pytest.mark.parametrize("is_made", [pytest.param(True, marks=pytest.mark.long), False])
def test_a_sweep_is_kept_and_ends_with_its_comparison(is_made, home, away, monkeypatch, capsys):
    """Also if the store was away from the first job on, and never heard of the sweep."""
    batch, start = sweep_of(2)
    with monkeypatch.context() as patch:
        if not is_made:
            patch.setattr(runs, "start", fail)
        assert run_jobs(batch, start) == "FINISHED"
    assert [result.status for result in batch.results] == ["KEPT", "KEPT"]
    assert all("accuracy/test" in result.metrics for result in batch.results)
    assert batch.parent.why
    assert len(entries(home)) == 3
    away()
    assert sync.main([]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "delivered 3, left 0"
    parent, *children = Logged(home).runs()
    assert [child.info.run_name for child in children] == ["seed 0", "seed 1"]
    assert {r.info.status for r in (parent, *children)} == {"FINISHED"}
    assert {r.data.tags["mlflow.parentRunId"] for r in children} == {parent.info.run_id}
    assert parent.data.tags["best_run"] in {child.info.run_id for child in children}
    rows = Logged(home).table(parent, "comparison/children.json")
    assert [row["metrics"] for row in rows] == [child.data.metrics for child in children]


def test_a_sweep_that_is_stopped_while_a_run_is_sent_does_not_seem_to_run(
    home, monkeypatch, capsys
):
    """Nor does the run, though its process was killed before it could say so."""
    batch, start = sweep_of(2)
    with monkeypatch.context() as patch:

        def stop(*given):
            raise KeyboardInterrupt

        patch.setattr(delivery, "send_numbers", stop)
        patch.setattr(job, "_end", lambda *given: None)
        with pytest.raises(KeyboardInterrupt):
            run_jobs(batch, start)
    assert [r.info.status for r in Logged(home).runs()] == ["KILLED", "KILLED"]
    assert batch.parent.why == "runs of the sweep wait"
    assert len(entries(home)) == 2
    assert sync.main([]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "delivered 2, left 0"
    parent, child = Logged(home).runs()
    assert (parent.info.status, child.info.status) == ("KILLED", "FINISHED")
    assert "accuracy/test" in child.data.metrics


@pytest.mark.long
def test_a_sweep_that_cannot_be_ended_is_ended_by_sync(home, monkeypatch, capsys):
    batch, start = sweep_of(1)
    with monkeypatch.context() as patch:
        finish = runs.finish

        def failing(store, run_id, *given):
            if run_id == batch.parent.run_id:
                raise MlflowException("away")
            finish(store, run_id, *given)

        patch.setattr("forestlab.tracking.finish", failing)
        assert run_jobs(batch, start) == "FINISHED"
    assert [result.status for result in batch.results] == ["FINISHED"]
    assert batch.parent.why == "away"
    before = Logged(home).runs()[0]
    assert before.info.status == "RUNNING"
    assert sync.main([]) == 0
    parent, _ = Logged(home).runs()
    assert parent.info.status == "FINISHED"
    for name in parent.data.metrics:  # which were logged before it failed: none is there twice
        points = Logged(home).client.get_metric_history(parent.info.run_id, name)
        steps = [point.step for point in points]
        assert len(steps) == len({*steps})


def test_a_store_that_failed_is_asked_first_whether_it_is_there(monkeypatch):
    """In each job MLflow would wait for it half a minute."""
    shared, asked = Shared(), []
    config = composed(*SMALL, "tracking.uri=http://127.0.0.1:9").tracking
    shared._stores[config.uri, config.experiment] = "open"
    monkeypatch.setattr("forestlab.run.shared.check_store", asked.append)
    assert (shared.store(config), asked) == ("open", [])
    shared.failed(config)
    assert (shared.store(config), len(asked)) == ("open", 1)
    assert (shared.store(config), len(asked)) == ("open", 1)
