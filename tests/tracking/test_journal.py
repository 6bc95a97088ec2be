"""What a store did not take is on disk, and is delivered once: counted in the store afterwards."""

import contextlib
import json
import os
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest
from mlflow.exceptions import MlflowException

from forestlab import processes, sync, tracking
from forestlab.config import TrackingConfig
from forestlab.tracking import delivery, journal, manifest, models, runs

FILES = {"config.yaml": "seed: 0\n", "curves/depth.json": "[1, 2]", "curves/b.csv": "a\n1\n"}
MODEL = {"model.skops": "not looked at", "input_example.json": "{}"}
MLMODEL = f"artifact_path: {models.WHERE}\nmodel_id: {models.ID}\nrun_id: {models.RUN}\n"
METRICS = [["accuracy/test", 0.5, 0], ["accuracy/test", 0.75, 1], ["summary/x", 1e300, 0]]
METRICS += [["many", k / 7, k] for k in range(60)]  # more than one batch, as `place` has it
N_PARAMS = 12
PARENT = {
    "key": "p" * 32,
    "name": "sweep",
    "tags": {"kind": "sweep", "process": processes.mark(999_999_999)},  # which is not there
    "params": {"sweep": "sweep", "n_jobs": "2"},
    "started": 1000,
}


@pytest.fixture(scope="module")
def uri(tmp_path_factory):
    """Of a store in which each test has an experiment of its own."""
    found = f"sqlite:///{tmp_path_factory.mktemp('store') / 'mlflow.db'}"
    tracking.open_store(TrackingConfig(uri=found))
    return found


@pytest.fixture
def place(uri, tmp_path, request, monkeypatch):
    """A journal, and the store that its entries are for."""
    monkeypatch.setattr(runs, "MOST_METRICS", 50)
    store = tracking.open_store(TrackingConfig(uri=uri, experiment=request.node.name))
    return SimpleNamespace(folder=tmp_path / "journal", store=store, experiment=request.node.name)


def written(place, key="a" * 32, parent=None, name="forest iris", experiment=None, **more):
    """An entry that waits, as a run leaves it."""

    def fill(folder: Path) -> journal.Said:
        for names, inside in ((FILES, journal.ARTIFACTS), (MODEL, journal.MODEL)):
            for file, text in names.items():
                (folder / inside / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / inside / file).write_text(text)
        (folder / journal.MLMODEL).write_text(MLMODEL)
        said = {
            "key": key,
            "name": name,
            "experiment": experiment or place.experiment,
            "uri": place.store.uri,
            "has_secret": False,
            "started": 2000,
            "ended": 5000,
            "tags": {"dataset": "iris", "mlflow.user": "me"},
            "params": {f"key{k}": str(k) for k in range(N_PARAMS)},
            "metrics": METRICS,
            "dataset": {"name": "iris", "digest": "1", "source": "here", "profile": "{}"},
            "note": f"[page]({journal.PLACE}/artifacts/x), {journal.ADDRESS}",
            "model": "forest iris",
            "parent": parent,
        }
        return journal.Said(**said | more)

    return journal.write(place.folder, key, name, fill)


def held(store) -> list:
    """All that a store holds of its runs, but for what it draws itself."""
    found = []
    for run in tracking.search(store):
        info, run_id, client = run.info, run.info.run_id, store.client
        outputs = [output.model_id for output in run.outputs.model_outputs] if run.outputs else []
        hidden = [run_id, *outputs, f"/{store.experiment_id}/"]
        models_there = client.search_logged_models([store.experiment_id])
        own = [model for model in models_there if model.source_run_id == run_id]
        above = run.data.tags.get(tracking.PARENT)
        tags = {key: _shown(text, hidden) for key, text in run.data.tags.items()}
        found.append(
            {
                "info": (info.run_name, info.status, info.start_time, info.end_time),
                "above": client.get_run(above).info.run_name if above else None,
                "tags": tags | {tracking.PARENT: ""},
                "params": run.data.params,
                "metrics": {
                    key: sorted(
                        (point.step, point.value, point.timestamp)
                        for point in client.get_metric_history(run_id, key)
                    )
                    for key in run.data.metrics
                },
                "inputs": [each.dataset.to_dictionary() for each in run.inputs.dataset_inputs],
                "files": _files(run.info.artifact_uri, hidden),
                "models": [(m.name, m.status, m.params, len(m.metrics)) for m in own],
                "model_files": [_files(m.artifact_location, hidden) for m in own],
                "outputs": [model.model_id in outputs for model in own] + [len(outputs)],
            }
        )
    return sorted(found, key=lambda run: str(run["info"]))


def _shown(text: str, hidden: list[str]) -> str:
    for word in hidden:
        text = text.replace(word, "…")
    return text


def _files(uri: str, hidden: list[str]) -> dict[str, str]:
    folder = Path(uri.removeprefix("file://"))
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(p.relative_to(folder)): _shown(p.read_text(), hidden) for p in paths}


# ---- every step may fail -----------------------------------------------------------------------


class Failing:
    """A client whose k-th call fails: before it reaches the store, or when its answer is lost."""

    def __init__(self, client, at: int, is_lost: bool):
        self.client, self.at, self.is_lost, self.n = client, at, is_lost, 0

    def __getattr__(self, name):
        real = getattr(self.client, name)
        if not callable(real):
            return real

        def call(*given, **named):
            self.n += 1
            if self.n == self.at and not self.is_lost:
                raise MlflowException("the server is away")
            answer = real(*given, **named)
            if self.n == self.at:
                raise MlflowException("the answer was lost")
            return answer

        return call


def tried(place, at: int, is_lost: bool, experiment: str) -> int:
    """Deliver an entry to a store whose k-th call fails, then sync; returns the calls."""
    store = tracking.open_store(TrackingConfig(uri=place.store.uri, experiment=experiment))
    client = Failing(store.client, at, is_lost)
    waiting = written(place, experiment=experiment)
    try:
        tracking.deliver(store._replace(client=client), waiting)
    except tracking.TROUBLE:
        waiting.release()
        assert sync.main([str(place.folder)]) == 0
    else:
        waiting.remove()
    return client.n


@pytest.mark.parametrize("is_lost", [True, pytest.param(False, marks=pytest.mark.long)])
def test_whatever_step_fails_all_is_there_once(is_lost, place, capsys):
    whole = tried(place, 0, is_lost, f"{place.experiment} whole")
    assert whole >= 10
    (wanted,) = held(_store(place, "whole"))
    assert wanted["info"] == ("forest iris", "FINISHED", 2000, 5000)
    assert len(wanted["params"]) == N_PARAMS
    assert sum(map(len, wanted["metrics"].values())) == len(METRICS)
    assert set(wanted["files"]) == {*FILES, manifest.NAME}
    assert wanted["models"][0][:2] == ("forest-iris", "READY")
    assert wanted["model_files"] == [MODEL | {"MLmodel": wanted["model_files"][0]["MLmodel"]}]
    assert "{{" not in str(wanted)
    for at in range(1, whole + 1):
        n = tried(place, at, is_lost, f"{place.experiment} {at}")
        assert n == at, "the call that failed was not the last"
        assert held(_store(place, str(at))) == [wanted], f"call {at}"
        assert journal.entries(place.folder) == []
    assert capsys.readouterr().out.splitlines()[-1] == "delivered 1, left 0"


def _store(place, more: str):
    experiment = f"{place.experiment} {more}"
    return tracking.open_store(TrackingConfig(uri=place.store.uri, experiment=experiment))


def test_an_entry_that_was_delivered_and_not_removed_is_not_there_twice(place):
    written(place).release()
    entry = journal.entries(place.folder)[0]
    waiting = journal.claim(entry)
    tracking.deliver(place.store, waiting)
    waiting.release()  # killed just before it was removed
    once = held(place.store)
    assert sync.main([str(place.folder)]) == 0
    assert held(place.store) == once
    assert len(once) == 1


def test_a_run_made_twice_as_an_answer_was_lost_is_there_once(place):
    """MLflow's own client asks a server again."""
    waiting = written(place)
    for _ in range(2):
        tracking.start(place.store, "forest iris", {journal.KEY: waiting.said.key})
        tags = {journal.KEY: waiting.said.key}
        place.store.client.create_logged_model(place.store.experiment_id, "forest-iris", tags=tags)
    waiting.release()
    assert sync.main([str(place.folder)]) == 0
    assert len(tracking.search(place.store)) == 1
    assert len(place.store.client.search_logged_models([place.store.experiment_id])) == 1


# ---- several at a time -------------------------------------------------------------------------


def test_an_entry_that_another_process_has_is_left_to_it(place, capsys):
    waiting = written(place)
    assert journal.claim(waiting.path) is None
    assert sync.main([str(place.folder)]) == 0
    assert capsys.readouterr().out == "delivered 0, left 1 (another process is at it)\n"
    assert tracking.search(place.store) == []
    waiting.release()
    assert sync.main([str(place.folder)]) == 0
    assert len(tracking.search(place.store)) == 1


def test_what_is_delivered_between_the_look_and_the_lock_is_gone(place):
    waiting = written(place)
    waiting.remove()
    assert journal.claim(waiting.path) is None


def test_nothing_to_do_is_one_line(tmp_path, capsys):
    assert sync.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"nothing waits in {tmp_path}\n"
    assert sync.main([str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == f"error: there is no folder {tmp_path / 'none'}.\n"


def test_what_a_killed_process_was_writing_is_removed(place):
    place.folder.mkdir()
    old, young = place.folder / ".forestlab-old", place.folder / ".forestlab-young"
    for path in (old, young):
        path.mkdir()
        (path / "artifacts").mkdir()
    os.utime(old, (1, 1))
    written(place).release()
    assert sync.main([str(place.folder)]) == 0
    assert not old.exists()
    assert young.exists()


def test_an_entry_appears_whole_or_not_at_all(place):
    def fill(folder):
        (folder / journal.ARTIFACTS / "half.txt").write_text("half")
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        journal.write(place.folder, "a" * 32, "x", fill)
    assert list(place.folder.iterdir()) == []


# ---- damage ------------------------------------------------------------------------------------


def cut(entry: Path) -> None:
    text = (entry / journal.ENTRY).read_text()
    (entry / journal.ENTRY).write_text(text[: len(text) // 2])


def change(entry: Path) -> None:
    text = (entry / journal.ENTRY).read_text()
    (entry / journal.ENTRY).write_text(text.replace("0.75", "0.76"))


def link(entry: Path) -> None:
    file = entry / journal.ARTIFACTS / "config.yaml"
    file.rename(entry.parent / "elsewhere")
    file.symlink_to(entry.parent / "elsewhere")


def spoil(entry: Path) -> None:
    (entry / "model/model.skops").write_text("!")


def retype(entry: Path) -> None:
    text = json.loads((entry / journal.ENTRY).read_text())
    text["content"]["metrics"] = 5
    text["digest"] = journal._digest(text["content"])
    (entry / journal.ENTRY).write_text(json.dumps(text))


DAMAGES = {
    "entry.json cannot be read": cut,
    "entry.json is not as it was written": change,
    "artifacts/config.yaml is no file": link,
    "artifacts/config.yaml is missing": lambda e: (e / "artifacts/config.yaml").unlink(),
    "artifacts/more was not written with it": lambda e: (e / "artifacts/more").touch(),
    "model/model.skops is not as it was written": spoil,
    "object": retype,
}


def test_damaged_entries_are_left_and_the_others_go_on(place, capsys):
    for number, damage in enumerate(DAMAGES.values()):
        waiting = written(place, str(number) * 32, name=f"run {number}")
        waiting.release()
        damage(waiting.path)
    written(place, name="sound").release()
    assert sync.main([str(place.folder)]) == 1
    told = capsys.readouterr()
    for what in DAMAGES:
        assert told.err.count(what) == 1, told.err
    assert told.out.splitlines()[-1].startswith(f"delivered 1, left {len(DAMAGES)} (")
    finished = tracking.search(place.store, "attributes.status = 'FINISHED'")
    assert [run.info.run_name for run in finished] == ["sound"]
    assert len(journal.entries(place.folder)) == len(DAMAGES)


# ---- where it goes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("uri", "bare", "has_secret"),
    [
        ("http://127.0.0.1:5000", "http://127.0.0.1:5000", False),
        ("https://me:secret@host:1/a?token=secret", "https://host:1/a", True),
        ("postgresql://me:se@cret@host/db", "postgresql://host/db", True),
        ("sqlite:////a/b.db", "sqlite:////a/b.db", False),
        ("sqlite:///~/b.db?timeout=3", "sqlite:///~/b.db", True),
        ("databricks", "databricks", False),
    ],
)
def test_an_address_is_kept_without_secrets(uri, bare, has_secret):
    assert journal.place_of(uri) == (bare, has_secret)


def test_a_store_with_a_password_has_to_be_given(place, capsys, monkeypatch):
    written(place, uri="postgresql://host/db", has_secret=True).release()
    assert sync.main([str(place.folder)]) == 1
    assert "its store postgresql://host/db has a password or options: give --uri" in (
        capsys.readouterr().out
    )
    assert sync.main([str(place.folder), "--uri", place.store.uri]) == 0
    assert len(tracking.search(place.store)) == 1


def test_the_configured_store_has_the_password(place, monkeypatch):
    given = f"{place.store.uri}?timeout=30"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", given)
    written(place, has_secret=True).release()
    (entry,) = journal.entries(place.folder)
    assert sync._address(journal.read(entry)) == given


# ---- sweeps ------------------------------------------------------------------------------------


def test_children_come_below_a_parent_that_is_made_once(place, capsys):
    """Its process was killed: nobody ends it but sync."""
    for number in range(2):
        written(place, str(number) * 32, PARENT, f"run {number}").release()
    assert sync.main([str(place.folder)]) == 0
    (parent,) = tracking.search(place.store, "tags.kind = 'sweep'")
    assert parent.info.status == "KILLED"
    assert "without a comparison" in parent.data.tags[tracking.NOTE]
    children = tracking.children(place.store, parent.info.run_id)
    assert sorted(run.info.run_name for run in children) == ["run 0", "run 1"]


def test_a_parent_that_lives_is_not_ended(place):
    alive = PARENT | {"tags": PARENT["tags"] | {"process": processes.mark()}}
    written(place, parent=alive).release()
    assert sync.main([str(place.folder)]) == 0
    (parent,) = tracking.search(place.store, "tags.kind = 'sweep'")
    assert parent.info.status == "RUNNING"


def test_a_sweep_ends_after_its_runs(place, capsys):
    """Also if its entry is tried while one of them is still with another process."""
    first = written(place, "0" * 32, PARENT, "run 0")
    sweep = {"compares": False, "skipped": [], "pictures": False}
    said = {**PARENT, "experiment": place.experiment, "uri": place.store.uri, "ended": 9000}
    ends = journal.Said(**said, has_secret=False, sweep=sweep)
    journal.write(place.folder, ends.key, "sweep", lambda folder: ends).release()
    assert sync.main([str(place.folder)]) == 1
    assert "runs of the sweep wait" in capsys.readouterr().out
    assert tracking.search(place.store, "attributes.status = 'FINISHED'") == []
    first.release()
    assert sync.main([str(place.folder)]) == 0
    (parent,) = tracking.search(place.store, "tags.kind = 'sweep'")
    assert (parent.info.status, parent.info.end_time) == ("FINISHED", 9000)
    assert len(tracking.children(place.store, parent.info.run_id)) == 1


def test_a_parent_that_this_store_does_not_have_is_told(place, capsys):
    written(place, parent={"run_id": "f" * 32}).release()
    assert sync.main([str(place.folder)]) == 1
    assert "its sweep's run is not in this store" in capsys.readouterr().out


# ---- the manifest ------------------------------------------------------------------------------


def delivered(place):
    waiting = written(place)
    run_id = tracking.deliver(place.store, waiting)
    waiting.remove()
    return lambda: manifest.disagreement(place.store, place.store.client.get_run(run_id)), run_id


def test_a_manifest_agrees_with_what_was_logged_and_with_more(place):
    differs, run_id = delivered(place)
    assert differs() == ""
    tracking.log_text(place.store, run_id, "mine", "mine.txt")
    place.store.client.log_metric(run_id, "mine", 1.0)
    assert differs() == ""


def _file(place, run_id, name) -> Path:
    folder = place.store.client.get_run(run_id).info.artifact_uri
    return Path(folder.removeprefix("file://"), name)


def test_files_that_are_lost_or_changed_are_seen(place):
    differs, run_id = delivered(place)
    for name, text, why in (
        ("curves/b.csv", "a\n2\n", "curves/b.csv is not the one that was logged"),
        ("curves/b.csv", "a\n", "curves/b.csv has 2 bytes in place of 4"),
        ("curves/b.csv", None, "curves/b.csv is missing"),
        (manifest.NAME, "{}", "manifest.json is not the one that was logged"),
        (manifest.NAME, None, "manifest.json is missing"),
    ):
        file = _file(place, run_id, name)
        file.unlink() if text is None else file.write_text(text)
        assert differs() == why


def _do(place, words: str, *values) -> None:
    with contextlib.closing(sqlite3.connect(place.store.uri.removeprefix("sqlite:///"))) as base:
        base.execute(words, values)
        base.commit()


def test_numbers_that_are_lost_are_seen(place):
    differs, run_id = delivered(place)
    of_metric = "delete from metrics where run_uuid = ? and key = 'accuracy/test'"
    _do(place, f"{of_metric} and step = 0", run_id)
    assert differs() == "of the metric accuracy/test 1 of 2 values are there"
    _do(place, of_metric, run_id)
    assert differs() == "of the metric accuracy/test none is there"
    _do(place, "delete from params where run_uuid = ? and key = 'key7'", run_id)
    assert differs() == f"{N_PARAMS - 1} of {N_PARAMS} parameters are there"


def test_a_model_that_is_lost_is_seen(place):
    differs, _ = delivered(place)
    (model,) = place.store.client.search_logged_models([place.store.experiment_id])
    folder = Path(model.artifact_location.removeprefix("file://"))
    (folder / "model.skops").unlink()
    assert differs() == "its model's model.skops is missing"
    place.store.client.delete_logged_model(model.model_id)
    assert differs() == "its model is missing"


def test_a_run_of_before_there_were_manifests_is_trusted(place):
    run_id = tracking.start(place.store, "old", {})
    assert manifest.disagreement(place.store, place.store.client.get_run(run_id)) == ""


def test_parameters_and_data_are_told_before_the_fit_and_not_again(place, monkeypatch):
    waiting = written(place)
    said = waiting.said
    run_id = delivery.make(place.store, said.key, said.name, said.tags, said.started)
    delivery.tell(place.store, run_id, said)
    monkeypatch.setattr(delivery, "tell", None)  # not called
    tracking.deliver(place.store, waiting, tracking.Begun(run_id, is_told=True))
    (run,) = held(place.store)
    assert len(run["params"]) == N_PARAMS
    assert run["info"][1] == "FINISHED"
