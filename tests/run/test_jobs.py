"""Jobs in this process: what they share, how they end, and that nothing of them stays."""

import gc
import weakref

import pytest
from command import Logged, composed

from forestlab import datasets, run
from forestlab.run import job, making
from forestlab.run.batch import Batch, run_jobs
from forestlab.run.making import MOST_KEPT, Shelf
from forestlab.run.shared import Shared
from forestlab.run.sweep import Parent

FREE = ["study=off", "n_estimators=2", "tracking=none"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return tmp_path


@pytest.fixture
def loads(monkeypatch):
    """The names of the data sets that were loaded, in their order."""
    found, load = [], datasets.load

    def loading(config):
        found.append(config.name)
        return load(config)

    monkeypatch.setattr(making.datasets, "load", loading)
    return found


# ---- data --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [["-m", "seed=0,1", "dataset.split_seed=1,2"], ['sweeps=["seed=0,1,2"]'], []]
)
def test_jobs_that_share_their_data_load_them_once(words, loads):
    outcome = run.perform(["dataset=iris", *FREE, *words])
    assert {result.status for result in outcome.results} == {"FINISHED"}
    assert loads == ["iris"]
    assert run.main(["dataset=iris", *FREE]) == 0  # a command of its own: nothing has waited
    assert loads == ["iris", "iris"]


def test_commands_may_share_too(loads):
    shared = Shared()
    for seed in (0, 1):
        assert run.perform(["dataset=iris", f"seed={seed}", *FREE], shared).code == 0
    assert loads == ["iris"]


def test_a_shelf_keeps_the_data_sets_that_were_used_last(loads):
    assert MOST_KEPT == 2
    shelf = Shelf()
    for name in ("iris", "wine", "iris", "diabetes", "iris", "wine"):
        shelf.data(composed(f"dataset={name}"))
    assert loads == ["iris", "wine", "diabetes", "wine"]


def test_what_a_shelf_does_not_keep_is_gone_before_more_is_loaded(monkeypatch):
    """Two large data sets fill the memory; there need be no room for a third."""
    shelf, alive = Shelf(), []
    load = datasets.load
    kept = weakref.WeakValueDictionary()

    def loading(config):
        gc.collect()
        alive.append(sorted(kept))
        dataset = load(config)
        kept[config.name] = dataset.frame
        return dataset

    monkeypatch.setattr(making.datasets, "load", loading)
    for name in ("iris", "wine", "diabetes"):
        shelf.data(composed(f"dataset={name}"))
    assert alive == [[], ["iris"], ["wine"]]


@pytest.mark.parametrize(
    "other",
    ["dataset.n_samples=90", "dataset.drop=['sepal length (cm)']", "dataset.rescale=true"],
)
def test_other_data_are_not_taken_for_the_same(other, loads):
    shelf = Shelf()
    first, second = (shelf.data(composed("dataset=iris", *more)) for more in ([], [other]))
    assert loads == ["iris", "iris"]
    assert first.digest != second.digest


def test_what_is_on_the_shelf_is_split_as_each_job_says():
    shelf = Shelf()
    first = shelf.data(composed("dataset=iris"))
    second = shelf.data(composed("dataset=iris", "dataset.label_noise=1", "dataset.valid_size=0"))
    assert first.dataset is second.dataset
    assert len(second.parts.valid) == 0 < len(first.parts.valid)
    rows = second.parts.train
    assert (second.y[rows] != first.y[rows]).all()
    assert (first.y == first.dataset.target).all()


# ---- results -----------------------------------------------------------------------------------


def test_each_command_has_its_own_results():
    first = run.perform(["dataset=iris", *FREE, "-m", "seed=0,1"])
    second = run.perform(["dataset=wine", *FREE])
    wrong = run.perform(["dataset=wine", "n_estimators=0"])
    assert [result.name for result in first.results] == ["forest iris seed=0", "forest iris seed=1"]
    assert [result.name for result in second.results] == ["forest wine n_estimators=2"]
    assert (wrong.code, list(wrong.results)) == (2, [])


def test_a_sweep_leaves_neither_words_nor_variables(monkeypatch):
    monkeypatch.setattr("sys.argv", ["own", "words"])
    before = dict(run.command.os.environ)
    assert run.main(["dataset=iris", *FREE, "-m", "seed=0,1"]) == 0
    assert run.command.sys.argv == ["own", "words"]
    after = dict(run.command.os.environ)
    assert {key for key in after if after[key] != before.get(key)} <= {"HYDRA_FULL_ERROR"}


class Sweep:
    """Three jobs with a run above them, whose second meets something."""

    def __init__(self, monkeypatch, home, meets, n_jobs=3):
        fit = job.fit_and_study

        def meeting(wanted, show):
            if wanted.config.seed == 1:
                raise meets
            return fit(wanted, show)

        monkeypatch.setattr(job, "fit_and_study", meeting)
        small = ["dataset=iris", "study=off", "n_estimators=2", "tracking=lean"]
        jobs = [composed(*small, f"seed={seed}") for seed in range(n_jobs)]
        shared = Shared()
        self.batch = Batch(shared, Parent(shared, jobs[0], "three", n_jobs), n_jobs)
        self.start = lambda: [self.batch.do(config, f"seed {config.seed}") for config in jobs]
        self.home = home

    def run(self) -> str:
        return run_jobs(self.batch, self.start)

    def statuses(self) -> list[str]:
        return [found.info.status for found in Logged(self.home).runs()]


def test_a_job_that_fails_lets_the_others_go_on(monkeypatch, home, capsys):
    sweep = Sweep(monkeypatch, home, RuntimeError("the roof is on fire"))
    assert sweep.run() == "FAILED"
    assert [r.status for r in sweep.batch.results] == ["FINISHED", "FAILED", "FINISHED"]
    assert sweep.statuses() == ["FAILED", "FINISHED", "FAILED", "FINISHED"]
    assert "error: seed 1 failed: RuntimeError: the roof is on fire\n" in capsys.readouterr().err


@pytest.mark.parametrize("stops", [KeyboardInterrupt(), SystemExit(143)])
def test_what_is_stopped_is_killed(stops, monkeypatch, home):
    sweep = Sweep(monkeypatch, home, stops)
    with pytest.raises(type(stops)):
        sweep.run()
    assert [r.status for r in sweep.batch.results] == ["FINISHED"]
    assert sweep.statuses() == ["KILLED", "FINISHED", "KILLED"]


def test_a_sweep_whose_launcher_gives_up_has_failed(monkeypatch, home):
    sweep = Sweep(monkeypatch, home, None, n_jobs=1)
    do_all = sweep.start

    def start():
        do_all()
        raise SystemExit(1)

    sweep.start = start
    with pytest.raises(SystemExit):
        sweep.run()
    assert sweep.statuses() == ["FAILED", "FINISHED"]


def test_what_is_refused_counts_as_failed(monkeypatch, home):
    sweep = Sweep(monkeypatch, home, None, n_jobs=1)
    do_all = sweep.start

    def start():
        do_all()
        sweep.batch.refuse("another")

    sweep.start = start
    assert sweep.run() == "FAILED"
    assert [r.status for r in sweep.batch.results] == ["FINISHED", "FAILED"]
    assert sweep.statuses() == ["FAILED", "FINISHED"]


@pytest.mark.parametrize("tracking", ["none", "lean"])
def test_the_run_above_is_opened_by_the_first_job_that_logs(tracking, home):
    """Nothing waits for MLflow before the first tree grows; without tracking there is no run."""
    shared, config = Shared(), composed("dataset=iris", *FREE, f"tracking={tracking}")
    batch = Batch(shared, Parent(shared, config, "one", 1), 1)
    opened = []

    def start():
        opened.append(batch.parent.is_open)
        batch.do(config, "one")
        opened.append(batch.parent.is_open)
        assert (batch.parent_id() is None) == (tracking == "none")

    assert run_jobs(batch, start) == "FINISHED"
    assert opened == [False, tracking != "none"]
    assert (home / "mlflow.db").exists() == (tracking != "none")
