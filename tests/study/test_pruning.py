"""What a run says of pruning: sizes, the path of α, and how far the rows that chose can be
trusted."""

import numpy as np
import pandas as pd
import pytest
from command import command, composed
from pictures import x_words
from test_study import Studied

from forestlab.config import ConfigError, PruningConfig
from forestlab.core.arrays import n_trees
from forestlab.figures import alpha_curve
from forestlab.run.batch import notes_on
from forestlab.run.making import build

NOISY = ("dataset=waveform", "dataset.n_samples=300", "dataset.label_noise=0.2", "study=light")
TREE = ("model=tree", *NOISY)


def grown_whole(studied):
    """The same model without pruning."""
    config = studied.config.copy()
    config.pruning = PruningConfig()
    model = build(config, studied.data.task, studied.data.dataset.frame.columns)
    return model.fit(*studied.rows("train"))


def mean_leaves(model):
    return (len(model.forest_.nodes) / n_trees(model.forest_) + 1) / 2


@pytest.fixture(scope="module")
def by_valid(tmp_path_factory):
    return Studied(tmp_path_factory.mktemp("valid"), "pruning=ccp", *TREE, pictures=True)


@pytest.fixture(scope="module")
def by_oob(tmp_path_factory):
    return Studied(tmp_path_factory.mktemp("oob"), "pruning=oob", "n_estimators=9", *NOISY)


def test_sizes_are_those_before_and_after(by_valid, by_oob):
    for studied in (by_valid, by_oob):
        whole, model = grown_whole(studied), studied.done.model
        assert studied.metrics["summary/pruning_n_leaves_before"] == {
            0: pytest.approx(mean_leaves(whole))
        }
        assert studied.metrics["summary/pruning_n_leaves"] == {0: pytest.approx(mean_leaves(model))}
        assert mean_leaves(model) < 0.8 * mean_leaves(whole)
        whole.name_features(studied.about.features)
        text = whole.view(0).export_text(max_depth=10)
        assert (studied.folder / "tree/before.txt").read_text() == text + "\n"


def test_the_path_of_alpha_is_logged_as_it_was_chosen_from(by_valid):
    model, metrics = by_valid.done.model, by_valid.metrics
    for name, values in (
        ("alpha", model.ccp_alphas_),
        ("loss", model.ccp_losses_),
        ("error", model.ccp_errors_),
    ):
        assert metrics[f"pruning/path_{name}"] == dict(enumerate(values))
    assert metrics["summary/pruning_alpha"] == {0: model.ccp_alpha_}
    table = pd.read_csv(by_valid.folder / "pruning.csv")
    np.testing.assert_allclose(table["ccp_alpha"], model.ccp_alphas_, rtol=1e-12)
    assert table["ccp_alpha"][table["chosen"]].tolist() == pytest.approx([model.ccp_alpha_])
    assert {"pruning.png", "tree/before.png"} <= by_valid.names()


def test_optimism_is_how_much_better_the_rows_that_chose_find_it(by_valid, by_oob):
    for studied, judge in ((by_valid, "valid"), (by_oob, "oob")):
        accuracy = {split: studied.metrics[f"accuracy/{split}"] for split in (judge, "test")}
        last = {split: values[max(values)] for split, values in accuracy.items()}
        assert studied.metrics["summary/pruning_optimism"] == {
            0: pytest.approx(last[judge] - last["test"])
        }


def test_of_errors_less_is_better(tmp_path):
    options = "dataset=friedman1", "dataset.n_samples=150", "model=tree", "study=light"
    metrics = Studied(tmp_path, "pruning=ccp", *options).metrics
    rmse = {split: metrics[f"rmse/{split}"] for split in ("valid", "test")}
    last = {split: values[max(values)] for split, values in rmse.items()}
    assert metrics["summary/pruning_optimism"] == {0: pytest.approx(last["test"] - last["valid"])}


def test_without_pruning_nothing_is_said_of_it(tmp_path):
    studied = Studied(tmp_path, *TREE)
    assert not [name for name in studied.metrics if name.startswith("pruning/")]


def test_a_pruned_forest_has_no_paths_of_rules(tmp_path):
    """Cut further it would not be what a fit gives."""
    small = "dataset=iris", "n_estimators=4", "study=full"
    for more in (("pruning=oob",), ("model.max_leaf_nodes=5",)):
        metrics = Studied(tmp_path / more[0], *small, *more).metrics
        assert not [name for name in metrics if name.startswith("by_alpha/")]


def test_rows_that_chose_are_said_to_be_optimistic(tmp_path):
    """Once, however many runs there are."""
    small = "dataset=iris", "n_estimators=2", "tracking=lean", "-m", "seed=0,1"
    said = command("pruning=oob", *small, home=tmp_path).stderr
    assert said.count("what is out of bag is optimistic; go by validation and test rows.") == 1
    config = composed("pruning=ccp", "model=tree")
    assert "validation rows have chosen α" in "".join(notes_on(config))
    config.pruning.ccp_alpha = "cv"
    assert not [*notes_on(config)]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("pruning=oob", "model=tree"), "pruning=oob does not go with a single tree: choose none."),
        (("pruning=ccp", "task=density"), "pruning=ccp does not go with task=density"),
        (("pruning.ccp_alpha=0.1",), "pruning.ccp_alpha=0.1 goes with pruning=ccp alone."),
        (("pruning.name=all",), "pruning.name=all must be one of none, ccp, oob."),
        (("pruning=ccp", "dataset.valid_size=0"), "dataset.valid_size=0.0 leaves none"),
        (("pruning=ccp", "study.draws=2", "dataset=twonorm"), "pruning.ccp_alpha must be cv or a"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path, options, sentence):
    with pytest.raises(ConfigError, match=sentence):
        Studied(tmp_path, "dataset=iris", *options)


def test_the_curve_of_alpha_shows_all_of_its_path():
    alphas = np.array([0.3, 0.04, 0.002, 0.0])
    losses, errors = np.array([0.5, 0.2, 0.25, 0.3]), np.full(4, 0.05)
    (ax,) = alpha_curve(alphas, losses, errors, 0.04, "wrong labels", "a title").axes
    line, ring = ax.lines[0], ax.lines[-1]
    assert line.get_ydata().tolist() == losses.tolist()
    assert line.get_xdata()[:3].tolist() == alphas[:3].tolist()
    assert 0 < line.get_xdata()[3] < 0.002  # 0 stands beside the scale
    assert (ring.get_xdata().tolist(), ring.get_ydata().tolist()) == ([0.04], [0.2])
    names = x_words(ax)
    assert (names[0], ax.get_xlabel(), ax.get_ylabel()) == (
        "0", "α, what a leaf costs", "wrong labels"
    )  # fmt: skip
