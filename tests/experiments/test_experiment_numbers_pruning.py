"""What the experiments on pruned and shrunk trees read out of runs, beside slow twins."""

from typing import NamedTuple

import numpy as np
import pytest

from experiments import oob_pruning, shrinkage
from forestlab.datasets.splitting import noisy_labels


class Run(NamedTuple):
    """As LoggedRun; curves hold the metrics at every depth."""

    params: dict
    curves: dict

    @property
    def metrics(self):
        return {name: values[-1] for name, values in self.curves.items()}

    def curve(self, name):
        return np.array(self.curves[name])


# ---- out-of-bag pruning ------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_error_with_noisy_labels(n_classes):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, n_classes, 200_000)
    answers = np.where(rng.random(len(truth)) < 0.3, (truth + 1) % n_classes, truth)
    found = np.mean(answers != noisy_labels(truth, 0.2, 1))
    expected = oob_pruning.with_noise(np.mean(answers != truth), 0.2, n_classes)
    assert found == pytest.approx(expected, abs=0.005)  # 5 standard errors


def pruned_run(dataset, pruning, curves, label_noise=0.2):
    params = {"dataset.name": dataset, "dataset.label_noise": label_noise, "seed": 7}
    return Run(params | {"pruning.name": pruning}, curves)


def test_only_labels_are_made_noisy():
    leaves = {"summary/pruning_n_leaves_before": [40.0], "summary/pruning_n_leaves": [10.0]}
    classes = {"accuracy/test": [0.5, 0.9], "accuracy/oob": [0.5, 0.75]}
    numbers = {"rmse/test": [3.0, 2.0], "rmse/oob": [3.0, 2.5]}
    runs = [
        pruned_run("twonorm", "oob", classes | leaves),
        pruned_run("friedman1", "none", numbers, label_noise=0.0),
    ]
    table = oob_pruning.table(runs)
    assert table["pruning"].tolist() == ["oob", "none"]
    assert table["test"].tolist() == pytest.approx([0.1, 2.0])
    assert table["oob"].tolist() == pytest.approx([0.25, 2.5])
    assert table["alike"].tolist() == pytest.approx([0.1 * 0.8 + 0.9 * 0.2, 2.0])
    assert table["n_leaves"].tolist() == pytest.approx([10.0, np.nan], nan_ok=True)
    assert table["n_leaves_before"].tolist() == pytest.approx([40.0, np.nan], nan_ok=True)


# ---- shrinkage ---------------------------------------------------------------------------------

BRIER = {"brier/test": [0.5, 0.4, 0.3, 0.2], "brier/oob": [0.1, 0.3, 0.2, 0.4]}
OTHERS = {"log_loss/test": [4.0, 3.0, 2.0, 1.0], "accuracy/test": [0.6, 0.7, 0.8, 0.9]}


def shrunk_run(shrink=None, aggregate=False, curves=BRIER | OTHERS, dataset=("moons", 0.5)):
    params = {"dataset.name": dataset[0], "dataset.noise": dataset[1], "n_estimators": 5}
    return Run(params | {"model.shrink": shrink, "model.aggregate": aggregate, "seed": 3}, curves)


def test_ways_are_told_apart():
    ways = [(None, False), (1, False), (10.0, False), ("oob", False), (None, True)]
    found = [shrinkage.way_of(shrunk_run(*way)) for way in ways]
    assert found == ["plain", "1", "10", "oob", "prunings"]


def test_the_plain_forest_is_also_cut_at_the_best_depth_out_of_bag():
    table = shrinkage.table([shrunk_run(), shrunk_run("oob")])
    assert table["way"].tolist() == ["plain", "oob", "depth"]
    assert table["squared"].tolist() == [0.2, 0.2, 0.3]  # depth 2: depth 0 is no tree
    assert table["log_loss"].tolist() == [1.0, 1.0, 2.0]
    assert table["wrong"].tolist() == pytest.approx([0.1, 0.1, 0.2])


def test_numbers_are_told_by_squares():
    curves = {"rmse/test": [4.0, 3.0, 2.0], "rmse/oob": [4.0, 1.0, 2.0]}
    table = shrinkage.table([shrunk_run(curves=curves, dataset=("friedman1", 5))])
    assert table["dataset"].tolist() == ["friedman1, noisy"] * 2
    assert table["squared"].tolist() == [4.0, 9.0]
