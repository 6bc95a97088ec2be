"""Tables of the experiments about stopping and pruning; see spoiling.py."""

import numpy as np
import pandas as pd
from spoiling import Case, noise, normal, product, put, shift

from experiments import cost_complexity as of_pruning
from experiments import leaf_size as of_leaves
from experiments import stopping_rules as of_stopping

# ---- stopping ----------------------------------------------------------------------------------

STOPPED = {"min_samples_split": 0.85}  # share of the error of whole trees; 0.8 by the other rules
IN_FOREST = {"waveform": 0.93, "friedman1": 1.0}


def stopping_rules():
    """What validation chose, and whole trees with an error of 1; paths are only drawn."""
    tree = product(
        model=["tree"], set=list(of_stopping.SETS), rule=list(of_stopping.RULES), seed=range(10)
    )
    tree["error"] = tree["rule"].map(STOPPED).fillna(0.8)
    forest = product(
        model=["bagging"], set=list(IN_FOREST), rule=list(of_stopping.RULES), seed=range(8)
    )
    forest["error"] = forest["set"].map(IN_FOREST)
    chosen = pd.concat([tree, forest]).assign(part="chosen", leaves=20.0)
    chosen["error"] += normal(len(chosen), 0.003)
    whole = chosen[chosen["rule"] == "max_depth"].assign(rule="none", part="whole", error=1.0)
    return pd.concat([chosen, whole.assign(leaves=200.0)], ignore_index=True)


# ---- cost-complexity ---------------------------------------------------------------------------

# By set and noise: the errors of whole trees, with the best α, and within one standard error.
PRUNED = {
    ("waveform", "clean"): (0.27, 0.25, 0.26),
    ("waveform", "noisy"): (0.38, 0.28, 0.29),
    ("friedman1", "clean"): (2.9, 2.8, 2.9),
    ("friedman1", "noisy"): (4.9, 4.2, 4.3),
}
PLACE = {"whole": 0, "best": 1, "misclassification": 1, "one_se": 2}
SIZES = {"whole": 300.0, "best": 30.0, "misclassification": 30.0, "one_se": 10.0}


def cost_complexity():
    trees = product(set=of_pruning.SETS, noise=["clean", "noisy"], way=list(PLACE), seed=range(8))
    trees = trees[(trees["set"] == "waveform") | (trees["way"] != "misclassification")]
    keys = zip(trees["set"], trees["noise"], trees["way"], strict=True)
    trees["test"] = [PRUNED[dataset, noise][PLACE[way]] for dataset, noise, way in keys]
    trees["test"] *= 1.0 + normal(len(trees), 0.003)
    trees["leaves"] = trees["way"].map(SIZES) * np.exp(normal(len(trees), 0.1, 1))
    return pd.concat([trees.assign(part="tree"), _paths()], ignore_index=True)


def _paths():
    """Of three trees each; the best is a little better than the one that is chosen."""
    step = product(set=of_pruning.SETS, noise=["clean", "noisy"], seed=range(8), step=range(3))
    step["alpha"] = step["step"].map({0: 0.1, 1: 0.01, 2: 0.0})
    step["leaves"] = step["step"].map({0: 10.0, 1: 30.0, 2: 300.0})
    step["train"] = 0.3 - 0.1 * step["step"]
    errors = [PRUNED[key] for key in zip(step["set"], step["noise"], strict=True)]
    step["test"] = [(e[2], 0.98 * e[1], e[0])[k] for e, k in zip(errors, step["step"], strict=True)]
    return step.drop(columns="step").assign(part="path", way="whole")


# ---- leaves ------------------------------------------------------------------------------------

# By set and way: the errors with leaves, or nodes, of 1, 3, … rows.
ERRORS = {
    ("waveform", "tree", "leaf"): (0.38, 0.36, 0.32, 0.27, 0.32, 0.45),
    ("waveform", "tree", "split"): (0.38, 0.38, 0.36, 0.34, 0.29, 0.34),
    ("waveform", "forest", "leaf"): (0.18, 0.175, 0.16, 0.17, 0.19, 0.28),
    ("friedman1", "tree", "leaf"): (5.1, 4.7, 4.2, 4.1, 4.3, 5.2),
    ("friedman1", "tree", "split"): (5.1, 5.0, 4.7, 4.3, 4.2, 4.5),
    ("friedman1", "forest", "leaf"): (3.5, 3.55, 3.7, 3.9, 4.5, 5.2),
}


def leaf_size():
    rows = product(way=list(ERRORS), size=of_leaves.SIZES, seed=range(8))
    at = dict(zip(of_leaves.SIZES, range(6), strict=True))
    keys = zip(rows["way"], rows["size"], strict=True)
    error = np.array([ERRORS[way][at[size]] for way, size in keys])
    rows["test"] = error * (1.0 + normal(len(rows), 0.003))
    rows["valid"] = error * (1.0 + normal(len(rows), 0.003, 1))
    ways = pd.DataFrame(rows.pop("way").tolist(), columns=["set", "model", "rule"])
    rows = pd.concat([ways, rows], axis=1)
    times = np.where(rows["rule"] == "split", 3.0, 1.0)
    rows["leaves"] = times * 1000.0 / rows["size"] * np.exp(normal(len(rows), 0.05, 2))
    return rows


TREE, FOREST = {"model": "tree"}, {"model": "forest"}
CASES = {
    "stopping_rules": Case(
        stopping_rules,
        {"a rule does not help on a set":
            shift("error", 0.25, part="chosen", set="moons", rule="max_depth", **TREE),
         "rows of a node are as good":
            shift("error", -0.05, part="chosen", rule="min_samples_split", **TREE),
         "α is better than the others":
            shift("error", -0.05, part="chosen", rule="ccp_alpha", **TREE),
         "forests gain as much":
            put("error", 0.8, part="chosen", set="waveform", model="bagging"),
         "forests gain on numbers":
            put("error", 0.9, part="chosen", set="friedman1", model="bagging"),
         "forests gain nothing on labels":
            put("error", 1.0, part="chosen", set="waveform", model="bagging"),
         "seeds vary": noise("error", 0.5)},
    ),
    "cost_complexity": Case(
        cost_complexity,
        {"a larger α has more leaves": put("leaves", 40.0, part="path", alpha=0.1),
         "a larger α fits closer": put("train", 0.0, part="path", alpha=0.1),
         "clean trees stay large":
            put("leaves", 200.0, part="tree", noise="clean", way="best", set="waveform"),
         "noisy trees stay large":
            put("leaves", 100.0, part="tree", noise="noisy", way="one_se", set="friedman1"),
         "pruning does not help with noise":
            put("test", 4.9, part="tree", set="friedman1", noise="noisy", way="one_se"),
         "pruning harms without noise":
            shift("test", 0.2, part="tree", set="friedman1", noise="clean", way="best"),
         "another α would be far better":
            shift("test", -0.1, part="path", set="waveform", noise="noisy", alpha=0.01),
         "one standard error costs nothing":
            put("test", 0.24, part="tree", set="waveform", noise="clean", way="one_se"),
         "wrong labels guide better":
            shift("test", -0.05, part="tree", set="waveform", way="misclassification"),
         "seeds vary": noise("test", 2.0, part="tree")},
    ),
    "leaf_size": Case(
        leaf_size,
        {"small leaves are as good": put("test", 0.27, set="waveform", size=1, **TREE),
         "large leaves are as good": put("test", 4.1, set="friedman1", size=300, **TREE),
         "larger leaves are chosen for numbers":
            put("valid", 9.0, set="friedman1", size=[1, 3], **FOREST),
         "larger leaves cost a forest nothing":
            put("test", 3.5, set="friedman1", size=10, **FOREST),
         "a forest gains nothing on labels": shift("test", -0.02, set="waveform", size=1, **FOREST),
         "a forest gains as much": shift("test", 0.1, set="waveform", size=1, **FOREST),
         "both rules make as many leaves": put("leaves", 50.0, size=30),
         "nodes are as good": shift("test", -0.1, set="waveform", rule="split"),
         "seeds vary": noise("test", 2.0)},
    ),
}  # fmt: skip
