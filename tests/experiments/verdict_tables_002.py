"""Tables of the experiments about categories and missing values; see spoiling.py."""

import numpy as np
import pandas as pd
from spoiling import Case, noise, normal, product, put, shift, swap

from experiments import category_splits as of_categories
from experiments import missing_values as of_missing

# ---- categories --------------------------------------------------------------------------------

QUESTIONS = {
    "equality": "diameter ≤ 2; color in {Yellow}",
    "subset": "diameter ≤ 2; color in {Green, Red}",
}


def fruit_rules():
    table = product(criterion=["gini", "entropy"], categories=list(QUESTIONS))
    table["questions"] = table["categories"].map(QUESTIONS)
    return table.assign(leaves=3.0, **{"named rightly": "2, 4, 5"})


# By way: the error with few levels, and what is added with many, of a tree and of a forest; and
# how long a fit takes.
ASKED = {
    "subset": (0.25, 0.00, 0.00, 0.01),
    "equality": (0.25, 0.10, 0.05, 0.01),
    "one_hot": (0.25, 0.10, 0.15, 0.05),
    "numbers": (0.25, 0.15, 0.10, 0.01),
}


def category_splits():
    table = product(
        model=["tree", "forest"], levels=of_categories.LEVELS, way=list(ASKED), seed=range(8)
    )
    few, tree, forest, seconds = np.array([ASKED[way] for way in table["way"]]).T
    more = np.where(table["model"] == "tree", tree, forest)
    is_many = table["levels"] >= of_categories.MANY
    table["error"] = few + np.where(is_many, more, 0.0) + normal(len(table), 0.002)
    table["seconds"] = seconds * np.exp(normal(len(table), 0.1, 1))
    return table


# ---- missing values ----------------------------------------------------------------------------

LOST = {"learned": 3.2, "branch": 3.2, "both": 3.6, "fill": 3.3, "drop": 3.8}  # with half missing


def missing_values():
    ways = product(way=list(LOST), share=of_missing.SHARES, by=list(of_missing.BY), seed=range(8))
    whole = product(way=["learned", "columns"], share=[0.0], by=["none"], seed=range(8))
    ways["rmse"] = 2.5 + 2.0 * ways["share"] * (ways["way"].map(LOST) - 2.5)
    whole["rmse"] = np.where(whole["way"] == "columns", 4.5, 2.5)
    table = pd.concat([ways, whole], ignore_index=True)
    table["rmse"] += normal(len(table), 0.02)
    return table


CASES = {
    "fruit_rules": Case(
        fruit_rules,
        {"another question comes first": put("questions", "color in {Red}; diameter ≤ 2"),
         "ways are exchanged": swap("categories", "equality", "subset"),
         "a fruit is not told": put("named rightly", "2, 4, 4"),
         "there are more leaves": put("leaves", 4.0)},
    ),
    "category_splits": Case(
        category_splits,
        {"sets are no better": put("error", 0.25, levels=of_categories.MANY),
         "few levels matter": shift("error", 0.05, levels=of_categories.FEW, way="equality"),
         "columns ask otherwise": shift("error", 0.05, model="tree", way="one_hot"),
         "columns cost nothing": put("seconds", 0.01),
         "seeds vary": noise("error", 0.5)},
    ),
    "missing_values": Case(
        missing_values,
        {"columns are not needed": shift("rmse", -2.0, way="columns"),
         "few rows are enough": shift("rmse", -1.0, way="drop"),
         "means are as good": shift("rmse", -0.5, way="fill"),
         "both branches are as good": shift("rmse", -0.5, way="both"),
         "all ways are as bad": shift("rmse", 2.0, way=["learned", "branch", "both", "fill"]),
         "seeds vary": noise("rmse", 5.0)},
    ),
}  # fmt: skip
