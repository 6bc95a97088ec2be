"""Tables of the experiments about pruned and shrunk trees; see spoiling.py."""

import numpy as np
from spoiling import Case, noise, normal, product, put, shift, swap

from experiments import oob_pruning as of_pruning
from experiments import shrinkage as of_shrinkage

# ---- out-of-bag pruning ------------------------------------------------------------------------


def oob_pruning():
    """Pruned forests have half of the leaves and err a little less, out of bag far less."""
    table = product(dataset=of_pruning.SETS, pruning=["none", "oob"], seed=range(8))
    is_pruned, is_class = table["pruning"] == "oob", table["dataset"].isin(of_pruning.CLASSES)
    unit = np.where(is_class, 1.0, 10.0)  # of numbers the error is 2 as grown
    table["test"] = unit * (0.2 - 0.005 * is_pruned + normal(len(table), 0.001))
    table["alike"] = table["test"] + 0.1 * is_class
    table["oob"] = table["alike"] + unit * (normal(len(table), 0.002, 1) - 0.04 * is_pruned)
    table["n_leaves_before"] = np.where(is_pruned, 100.0, np.nan)
    table["n_leaves"] = np.where(is_pruned, 50.0 + normal(len(table), 1.0, 2), np.nan)
    return table


# ---- shrinkage ---------------------------------------------------------------------------------

# By set: what the ways add to the squared error, as shares of the plain forest's, of 5 and of 100
# trees.
ADDED = {
    "moons": {"depth": (-0.15, -0.09), "1": (-0.04, -0.02), "10": (-0.13, -0.06),
              "oob": (-0.15, -0.07), "prunings": (-0.15, -0.06)},
    "threenorm": {"depth": (0.08, 0.0), "1": (-0.02, 0.01), "10": (-0.04, 0.06),
                  "oob": (0.0, 0.0), "prunings": (0.15, 0.4)},
    "friedman1": {"depth": (0.08, 0.0), "1": (-0.01, 0.02), "10": (0.01, 0.2),
                  "oob": (0.08, 0.0), "prunings": (0.14, 0.5)},
    "friedman1, noisy": {"depth": (0.0, 0.0), "1": (-0.02, 0.01), "10": (-0.07, 0.05),
                         "oob": (-0.05, 0.005), "prunings": (0.02, 0.2)},
}  # fmt: skip
PLAIN = {"moons": 0.3, "threenorm": 0.3, "friedman1": 8.0, "friedman1, noisy": 32.0}


def shrinkage():
    table = product(
        dataset=list(ADDED), trees=[of_shrinkage.FEW, of_shrinkage.MANY],
        way=["plain", *of_shrinkage.WAYS], seed=range(8),
    )  # fmt: skip
    is_many = (table["trees"] == of_shrinkage.MANY).to_numpy().astype(int)
    pairs = zip(table["dataset"], table["way"], is_many, strict=True)
    added = np.array([ADDED[name].get(way, (0.0, 0.0))[k] for name, way, k in pairs])
    share = 1.0 + added + normal(len(table), 0.003)
    table["squared"] = table["dataset"].map(PLAIN) * share
    surest = np.where(is_many, 0.7, 2.0)  # a few whole trees are sure where they err
    table["log_loss"] = np.where(table["way"] == "plain", surest, 0.5)
    table["log_loss"] += normal(len(table), 0.02, 1)
    table["wrong"] = 0.2 + 0.2 * added + normal(len(table), 0.001, 2)
    return table


FEW = of_shrinkage.FEW
CASES = {
    "oob_pruning": Case(
        oob_pruning,
        {"few leaves go": put("n_leaves", 90.0, pruning="oob", dataset="threenorm"),
         "pruned forests are worse": shift("test", 0.02, pruning="oob", dataset="waveform"),
         "those of numbers are": shift("test", 0.2, pruning="oob", dataset="friedman1"),
         "pruning gains nothing": shift("test", 0.007, pruning="oob", dataset="twonorm"),
         "the out-of-bag error stays": shift("oob", 0.05, pruning="oob", dataset="twonorm"),
         "it was too low before": shift("oob", -0.05, pruning="none", dataset="threenorm"),
         "ways are exchanged": swap("pruning", "none", "oob"),
         "it can be trusted": shift("oob", 0.4, pruning="oob"),
         "seeds vary": noise("oob", 1.0)},
    ),
    "shrinkage": Case(
        shrinkage,
        {"shrinking gains nothing": swap("way", "plain", "oob", dataset="moons"),
         "it harms a little": shift("squared", 1.0, way="oob", dataset="friedman1, noisy"),
         "few trees gain less": shift("squared", 0.03, way="oob", dataset="moons", trees=FEW),
         "few trees stay unsure": shift("log_loss", 2.0, way="oob", trees=FEW),
         "noisy numbers gain nothing": shift("squared", 2.0, way="oob", trees=FEW),
         "two voters are enough": shift("squared", -1.0, way="oob", dataset="friedman1"),
         "any λ will do": shift("squared", -0.1, way="10", dataset="threenorm"),
         "prunings help everywhere": shift("squared", -20.0, way="prunings"),
         "prunings do harm": shift("squared", 0.1, way="prunings"),
         "a depth is better": shift("squared", -0.1, way="depth"),
         "labels stay as wrong": put("wrong", 0.2),
         "seeds vary": noise("squared", 20.0)},
    ),
}  # fmt: skip
