"""What the experiments on stopping and pruning read from logged runs, beside small tables."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from verdict_tables_stopping import cost_complexity as pruned_table

from experiments import cost_complexity, leaf_size, stopping_rules


def logged(tmp_path, files=None, metrics=None, **params):
    """What `table` asks of a logged run."""
    for name, table in (files or {}).items():
        table.to_csv(tmp_path / name, index=False)
    return SimpleNamespace(params=params, metrics=metrics or {}, path=lambda name: tmp_path / name)


# ---- paths -------------------------------------------------------------------------------------

DEPTHS = pd.DataFrame(
    {
        "rule": "max_depth",
        "value": [0.0, 1.0, 2.0, 3.0],
        "n_leaves": [1.0, 2.0, 4.0, 8.0],
        "chosen_on": [None, None, "valid", None],
        "rmse_train": [5.0, 4.0, 2.0, 0.0],
        "rmse_valid": [5.0, 4.0, 3.0, 3.5],
        "rmse_test": [5.0, 4.0, 2.0, 3.0],
    }
)
ALPHAS = DEPTHS.assign(rule="ccp_alpha", value=[0.3, 0.2, 0.1, 0.0])
STOPPED = {"stopping.csv": pd.concat([DEPTHS, ALPHAS])}
SINE = {"dataset.name": "sine", "model.name": "tree", "seed": 3}


def test_what_validation_chose_and_whole_trees(tmp_path):
    table = stopping_rules.table([logged(tmp_path, STOPPED, **SINE)])
    assert table["seed"].unique().tolist() == [3]
    single = table[table["part"] != "path"].set_index(["rule", "part"])[["leaves", "error"]]
    assert single.T.to_dict("list") == {
        ("none", "whole"): [8.0, 3.0],
        ("max_depth", "chosen"): [4.0, 2.0],
        ("ccp_alpha", "chosen"): [4.0, 2.0],
    }
    shares = stopping_rules.to_whole(table, "tree")
    assert shares.loc[3, ("sine", "max_depth")] == pytest.approx(2.0 / 3.0)


def test_paths_are_read_between_their_leaves():
    path = DEPTHS.assign(error=DEPTHS["rmse_test"])
    found = stopping_rules.at_leaves(path[::-1]).set_index("leaves")["error"]
    assert found.index.tolist() == [2, 3, 5, 8]
    assert found[[2, 8]].tolist() == [4.0, 3.0]
    # log 3 lies log(3/2) of log 2 from 2 to 4, on the way from 4.0 to 2.0.
    assert found[3] == pytest.approx(4.0 - 2.0 * np.log(1.5) / np.log(2.0))


# ---- pruning -----------------------------------------------------------------------------------

PRUNED = {"dataset.name": "friedman1", "dataset.noise": 3, "seed": cost_complexity.DRAWN}
PRUNED |= {"pruning.ccp_cost": "criterion", "pruning.ccp_rule": "best"}


def test_a_path_and_what_cross_validation_found(tmp_path):
    crossed = pd.DataFrame({"ccp_alpha": [0.2, 0.0], "loss": [9.0, 16.0], "standard_error": 0.6})
    metrics = {"rmse/test": 3.5, "summary/trees_n_leaves": 6.0}
    whole = logged(tmp_path, STOPPED, metrics, **PRUNED, **{"pruning.name": "none"})
    alpha = {"summary/pruning_alpha": 0.2}
    pruned = logged(tmp_path, {"pruning.csv": crossed}, metrics | alpha, **PRUNED,
                    **{"pruning.name": "ccp"})  # fmt: skip
    table = cost_complexity.table([whole, pruned])
    assert table["noise"].unique().tolist() == ["noisy"]
    trees = table[table["part"] == "tree"].set_index("way")
    assert trees["alpha"].to_dict() == {"whole": 0.0, "best": 0.2}
    path = table[table["part"] == "path"]
    assert path["alpha"].tolist() == [0.3, 0.2, 0.1, 0.0]
    assert path["leaves"].tolist() == [1.0, 2.0, 4.0, 8.0]
    assert path["valid"].tolist() == [5.0, 4.0, 3.0, 3.5]
    found = table[table["part"] == "cv"]
    assert found["cv"].tolist() == [3.0, 4.0]
    assert found["se"].tolist() == pytest.approx([0.1, 0.075])  # of a root: ÷ twice the root


def test_ways_to_prune():
    assert cost_complexity.way_of(PRUNED | {"pruning.name": "none"}) == "whole"
    ccp = PRUNED | {"pruning.name": "ccp"}
    assert cost_complexity.way_of(ccp) == "best"
    assert cost_complexity.way_of(ccp | {"pruning.ccp_rule": "one_se"}) == "one_se"
    by_labels = ccp | {"pruning.ccp_cost": "misclassification"}
    assert cost_complexity.way_of(by_labels) == "misclassification"


def test_steps_of_a_path_that_are_not_nested_are_counted():
    table = pruned_table()
    assert cost_complexity.n_not_nested(table) == 0
    one = (table["part"] == "path") & (table["seed"] == 0) & (table["noise"] == "clean")
    table.loc[one & (table["alpha"] == 0.01), "leaves"] = 400.0  # more than whole trees have
    assert cost_complexity.n_not_nested(table) == 2
    table.loc[one & (table["alpha"] == 0.1), "train"] = 0.15  # of labels, it may rise
    assert cost_complexity.n_not_nested(table) == 3


# ---- leaves ------------------------------------------------------------------------------------


def sized(tmp_path, leaf=1, split=2, model="tree", **metrics):
    params = {"dataset.name": "waveform", "model.name": model, "seed": 0}
    params |= {"model.min_samples_leaf": leaf, "model.min_samples_split": split}
    metrics = {"accuracy/test": 0.7, "accuracy/valid": 0.6, "summary/trees_n_leaves": 9.0} | metrics
    return logged(tmp_path, metrics=metrics, **params)


def test_whole_trees_begin_both_ways(tmp_path):
    runs = [sized(tmp_path), sized(tmp_path, leaf=10), sized(tmp_path, split=11),
            sized(tmp_path, model="forest")]  # fmt: skip
    found = leaf_size.table(runs)
    assert found[["model", "rule", "size"]].to_numpy().tolist() == [
        ["tree", "leaf", 1],
        ["tree", "split", 1],
        ["tree", "leaf", 10],
        ["tree", "split", 10],
        ["forest", "leaf", 1],
    ]
    assert found["test"].tolist() == pytest.approx([0.3] * 5)
    assert found["valid"].tolist() == pytest.approx([0.4] * 5)


def test_validation_chooses_the_size():
    found = pd.DataFrame(
        {
            "seed": [0, 0, 0, 1, 1, 1],
            "size": [1, 3, 10, 1, 3, 10],
            "valid": [0.3, 0.2, 0.2, 0.1, 0.2, 0.3],
            "test": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
        }
    )
    chosen = leaf_size.chosen(found)
    assert chosen["size"].tolist() == [10, 1]
    assert chosen["test"].tolist() == [0.3, 0.4]
