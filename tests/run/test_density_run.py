"""`task=density` by its command line: what is logged, compared, guarded, and refused."""

import mlflow
import numpy as np
import pytest
from command import Logged, composed
from sklearn.model_selection import train_test_split

from forestlab import DensityForest, run
from forestlab import config as configs
from forestlab.baseline.__main__ import main as baseline
from forestlab.compare.__main__ import main as comparison
from forestlab.compare.query import parse
from forestlab.compare.tables import higher_is_better
from forestlab.run.making import Shelf, build

WORDS = ["task=density", "dataset=clouds", "dataset.n_samples=240", "search=histogram"]
SWEEP = ["-m", "max_depth=1,4", "n_estimators=6"]


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORESTLAB_HOME", str(home))
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        assert run.main([*WORDS, *SWEEP]) == 0
        found = Logged(home)
        found.parent, *found.children = found.runs()
        yield found


@pytest.fixture(scope="module")
def deepest(logged):
    return logged.children[1]


@pytest.fixture(scope="module")
def parts():
    """The rows of the split, and the same forest grown through the estimator, without targets."""
    X = Shelf().data(composed(*WORDS)).dataset.frame
    rest, test = train_test_split(X, random_state=2020)
    train, valid = train_test_split(rest, random_state=2020)
    options = {"max_features": "sqrt", "max_depth": 4, "search": "histogram", "random_state": 0}
    return DensityForest(6, **options).fit(train), {"train": train, "valid": valid, "test": test}


def test_the_log_likelihood_of_every_depth(logged, deepest, parts):
    model, splits = parts
    assert deepest.data.tags["task"] == "density"
    for split, rows in splits.items():
        history = logged.history(deepest, f"log_likelihood/{split}")
        assert list(history) == list(range(1 + max(view.depth for view in model.trees_)))
        for depth, value in history.items():
            expected = model.score_samples(rows, depth).mean()
            assert value == pytest.approx(expected, rel=1e-12)  # a sum in another order
    for name in ("log_likelihood/oob", "summary/chosen_depth", "summary/chosen_log_likelihood_test",
                 "summary/log_likelihood_normal_test", "summary/trees_n_leaves",
                 "summary/seconds_fit"):  # fmt: skip
        assert np.isfinite(deepest.data.metrics[name])
    assert not any("accuracy" in name or "rmse" in name for name in deepest.data.metrics)


def test_a_sweep_has_what_its_deepest_run_says_of_the_others(logged, deepest):
    """Depth 1 of the run of depth 4 is the run of depth 1."""
    of_depth_1 = logged.children[0]
    assert of_depth_1.data.params["max_depth"] == "1"
    for split in ("train", "valid", "test", "oob"):
        name = f"log_likelihood/{split}"
        assert logged.history(of_depth_1, name)[1] == logged.history(deepest, name)[1]


def test_the_parent_carries_the_comparison(logged):
    assert logged.artifact(logged.parent, "comparison/swept.png")[:4] == b"\x89PNG"
    assert b"Log-likelihood against" in logged.artifact(logged.parent, "report.html")


def test_the_model_loads_in_both_flavours(logged, deepest, parts):
    model, splits = parts
    mlflow.set_tracking_uri(f"sqlite:///{logged.home / 'mlflow.db'}")
    (output,) = deepest.outputs.model_outputs
    uri, wanted = f"models:/{output.model_id}", model.score_samples(splits["test"])
    again = mlflow.sklearn.load_model(uri)
    assert type(again) is DensityForest
    assert again.score_samples(splits["test"]).tolist() == wanted.tolist()
    assert again.sample(5, random_state=0).shape == (5, 2)
    assert mlflow.pyfunc.load_model(uri).predict(splits["test"]).tolist() == wanted.tolist()


def test_what_is_logged_is_not_done_again(logged, capsys):
    n_before = len(logged.runs())
    assert run.main([*WORDS, *SWEEP, "resume=true"]) == 0
    assert capsys.readouterr().out.count(" skipped ") == 2
    assert len(logged.runs()) == n_before


def test_runs_are_compared_by_their_log_likelihood(logged, capsys):
    assert comparison(["task = density"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("log_likelihood/test on clouds: higher is better; 2 runs, 2 variants")
    assert higher_is_better("summary/log_likelihood_normal_test")


def test_numbers_are_guarded(logged, tmp_path, capsys):
    folder = ["--folder", str(tmp_path)]
    query = ["--query", "tags.task = 'density'"]
    assert baseline(["record", "mine", *query, *folder]) == 0
    assert "log_likelihood/test" in next(tmp_path.iterdir()).read_text()
    assert baseline(["check", "mine", *folder]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("words", "covariance"), [([], "diagonal"), (["criterion=gaussian"], "full")]
)
def test_the_criterion_says_what_leaves_keep(words, covariance):
    model = build(composed(*WORDS, *words), "density")
    assert type(model) is DensityForest
    assert (model.covariance, model.min_samples_leaf, model.ridge) == (covariance, 10, 1e-3)
    changed = composed(*WORDS, "model.min_samples_leaf=3", "model.ridge=0.01", "model=rno")
    model = build(changed, "density")
    assert (model.min_samples_leaf, model.ridge, model.rho, model.bootstrap) == (3, 0.01, 10, False)


def test_targets_do_not_matter_and_other_tasks_keep_their_leaves():
    for name, task in (("iris", "classification"), ("diabetes", "regression")):
        data = Shelf().data(composed(*WORDS[:1], f"dataset={name}"))
        assert (data.task, data.dataset.task) == ("density", task)
        assert data.y is data.X
        assert Shelf().data(composed(f"dataset={name}")).task == task
    assert composed("dataset=iris").model.min_samples_leaf == 1


def test_one_feature_and_one_tree(capsys):
    words = ["task=density", "dataset=sine", "dataset.n_samples=120", "model=tree"]
    assert run.main([*words, "search=histogram", "tracking=none"]) == 0
    assert "log_likelihood/test" in capsys.readouterr().out


MISTAKES = {
    "criterion=gini": "criterion=gini does not fit task=density: choose auto, gaussian_diagonal, "
    "gaussian.",
    "learner=oblique": "learner=oblique does not go with task=density: choose axis.",
    "model=subspace": "model.subspace=tree does not go with task=density.",
    "task=densty": "there is no task=densty: choose auto, density.",
    "task.name=densty": "task=densty does not fit dataset=iris, a classification set: choose auto, "
    "density.",
    "task.nam=density": "there is no option 'task.nam'",
    "model.leaf=median": "model.leaf=median does not go with task=density.",
    "model.rho_draws=pairs": "model.rho_draws=pairs does not go with task=density.",
    "model.combine=product": "model.combine=product does not go with task=density.",
    "dataset.label_noise=0.1": "dataset.label_noise=0.1 does not go with task=density, which looks "
    "at no labels.",
    "study.cuts=true": "study.cuts=True does not go with task=density.",
    "study.draws=5": "study.draws=5 does not go with task=density.",
    "criterion=gaussian": "criterion=gaussian takes up to 3 columns with task=density, and "
    "dataset=iris has 4: choose gaussian_diagonal.",
    "model.ridge=0": "ridge must be a number from 1e-09 to 1; got 0.0.",
    "task=auto model.ridge=0.1": "model.ridge=0.1 does not go with classification.",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_what_does_not_go_together_is_told_before_training(words, capsys):
    assert run.main(["task=density", "dataset=iris", "tracking=none", *words.split()]) == 2
    told = capsys.readouterr()
    assert told.err.startswith(f"error: {MISTAKES[words]}")
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_the_task_of_a_run_is_asked_for_by_its_tag():
    """The configuration may say auto."""
    assert "tags.`task` = 'density'" in parse("task = density").filter
    assert configs.chosen(composed("dataset=iris")) == configs.chosen(
        composed("dataset=iris", "task=auto")
    )
