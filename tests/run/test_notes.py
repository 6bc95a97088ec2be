"""What the description of a run says."""

import pytest
from command import composed

from forestlab.run import notes
from forestlab.run.shared import Shared

PLACE = "#/experiments/1/runs/2"
METRICS = {
    "accuracy/valid": 0.91234567,
    "accuracy/test": 0.9,
    "accuracy/oob": 0.88,
    "summary/chosen_depth": 3.0,
    "summary/chosen_accuracy_test": 0.95,
}


def beyond(*words):
    return notes.beyond(Shared().job(composed(*words)).config)


def test_defaults_and_what_a_choice_says_by_itself_go_without_saying():
    assert beyond("dataset=iris", "model=forest") == {}
    assert beyond("dataset=iris", "model=rno", "study=full", "tracking=lean", "n_jobs=2") == {}
    assert beyond("dataset=moons", "task=density") == {"task.name": "density"}


def test_what_was_said_is_told_seeds_last():
    said = beyond("dataset=iris", "seed=3", "max_depth=4", "model.rho=5", "model=rno")
    assert list(said.items()) == [("max_depth", 4), ("model.rho", 5), ("seed", 3)]
    assert beyond("dataset=iris", "criterion=entropy") == {"criterion.name": "entropy"}
    assert beyond("dataset=iris", "model.max_features=null") == {"model.max_features": None}


@pytest.fixture(scope="module")
def job():
    return Shared().job(composed("dataset=iris", "max_depth=4"))


def test_three_lines(job):
    what, result, ways = notes.note(job, METRICS, PLACE, "models:/m-1", "report.html").split("  \n")
    assert what == "**forest** on **iris**, 84 training rows of 4 features: `max_depth=4`."
    assert result == (
        "accuracy 0.9 on test, 0.9123 on validation, 0.88 out of bag; "
        "validation would choose depth 3: 0.95 on test."
    )
    assert ways.startswith(f"[report.html]({PLACE}/artifacts/report.html)")
    assert '`mlflow.sklearn.load_model("models:/m-1")`' in ways


def test_what_is_not_there_is_not_told(job):
    few = {"accuracy/test": 0.5}
    _, result, ways = notes.note(job, few, PLACE, None, None).split("  \n")
    assert result == "accuracy 0.5 on test."
    assert "load_model" not in ways
    assert "report.html" not in ways
    without = {name: value for name, value in METRICS.items() if name != "accuracy/valid"}
    assert "out-of-bag rows would choose depth 3" in notes.note(job, without, PLACE, None, None)
    assert notes.note(job, {}, PLACE, None, None).count("  \n") == 1
