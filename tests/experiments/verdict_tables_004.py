"""Tables of the experiments of document 004; see spoiling.py."""

import numpy as np
import pandas as pd
from scipy.stats import binom
from sklearn.datasets import load_digits
from spoiling import Case, noise, normal, product, put, shift, shuffle, swap

from experiments import bootstrap_37, oob_estimate

# ---- bootstraps --------------------------------------------------------------------------------


def bootstraps():
    """Shares as theory has them, and the voters of 80,000 rows."""
    table = product(part=["share"], n=[3, 10, 100, bootstrap_37.VOTED], seed=range(30))
    table["trees"] = 100
    table["expected"] = bootstrap_37.share_left_out(table["n"])
    table["expected_sd"] = bootstrap_37.sd_left_out(table["n"], 100)
    table["left_out"] = table["expected"] + table["expected_sd"] * normal(len(table), 1.0)
    voters = pd.DataFrame({"part": "voters", "trees": 100, "voters": np.arange(101)})
    p = bootstrap_37.share_left_out(bootstrap_37.VOTED)
    voters["rows"] = np.round(80_000 * binom.pmf(voters["voters"], 100, p))
    return pd.concat([table, voters], ignore_index=True)


# ---- out of bag --------------------------------------------------------------------------------

SIZES = [1, 2, 3, 5, 7, 10, 50, 200]


def error_of(n_trees):
    return 0.03 + 0.17 / np.asarray(n_trees, float)


def out_of_bag():
    """Errors fall with the number of trees; out of bag, as if there were 0.37 of them."""
    trees = product(part=["trees"], dataset=["digits", "twonorm"], seed=range(10), n=SIZES)
    voters = np.maximum(1.0, 0.37 * trees["n"])
    trees = trees.assign(test=error_of(trees["n"]), expected_oob=error_of(voters), voters=voters)
    trees["oob"] = trees["expected_oob"] + normal(len(trees), 0.003)
    depth = product(part=["depth"], dataset=["digits"], seed=range(10), n=[4, 12])
    cut = np.where(depth["n"] == oob_estimate.CUT, 0.1, 0.03)
    depth = depth.assign(test=cut, oob=cut + normal(len(depth), 0.005, 1))
    small = product(part=["voters"], dataset=["twonorm"], seed=range(10), n=range(1, 8))
    small = small.assign(rows=small["n"].map({1: 60, 2: 150, 3: 240, 4: 240, 5: 170, 6: 80, 7: 30}))
    small["oob"] = error_of(small["n"]) + normal(len(small), 0.005, 2)
    return pd.concat([trees, depth, small], ignore_index=True)


# ---- scales and noise --------------------------------------------------------------------------

LOST = {"tree": 0.1, "bagging": 0.02, "forest": 0.02}  # accuracy by 20 % wrong labels


def scale_and_noise():
    pairs = product(part=["scale"], dataset=["wine", "boston"], seed=[0, 1])
    pairs = pairs.assign(answers=100, differ=0, largest_difference=0.0)
    noisy = product(part=["noise"], dataset=["twonorm", "digits"], model=list(LOST),
                    seed=range(8), label_noise=[0.0, 0.2, 0.4])  # fmt: skip
    lost = noisy["model"].map(LOST) * noisy["label_noise"] / 0.2
    return pd.concat(
        [pairs, noisy.assign(train=1.0, test=0.95 - lost + normal(len(noisy), 0.003))],
        ignore_index=True,
    )


# ---- uncertainty -------------------------------------------------------------------------------


def uncertainty():
    """Errors rise with the tenth: on digits nearly all are in the last."""
    tenths = product(part=["tenth"], dataset=["digits", "boston"], seed=range(10),
                     tenth=range(1, 11)).assign(rows=45)  # fmt: skip
    is_digits = tenths["dataset"] == "digits"
    of_digits = np.where(tenths["tenth"] == 10, 0.2, np.where(tenths["tenth"] > 7, 0.02, 0.0))
    wobble = 1.0 + normal(len(tenths), 0.05)
    tenths["error"] = np.where(is_digits, of_digits, 0.5 * tenths["tenth"]) * wobble
    tenths["uncertainty"] = np.square(tenths["tenth"])
    orders = product(part=["order"], dataset=["digits", "boston"], seed=range(10))
    orders["order"] = np.where(orders["dataset"] == "digits", 0.96, 0.35) + normal(20, 0.02, 1)
    sizes = product(part=["order"], dataset=["friedman1"], seed=range(6))
    sizes = sizes.assign(size=1.0 + normal(6, 0.02, 2), spread_size=0.7)
    images = product(part=["surest", "least sure"], dataset=["digits"], row=range(8))
    images["truth"] = load_digits().target[images["row"]]
    return pd.concat([tenths, orders, sizes, images], ignore_index=True)


CASES = {
    "bootstrap_37": Case(
        bootstraps,
        {"more rows are left out": shift("left_out", 0.02, part="share"),
         "rows are picked more often": put("left_out", 0.1, part="share", n=10),
         "runs vary": noise("left_out", 0.3, part="share"),
         "numbers of voters are shuffled": shuffle("rows", part="voters")},
    ),
    "oob_estimate": Case(
        out_of_bag,
        {"out of bag is as test": shift("oob", -0.2, part="trees"),
         "it never agrees": shift("oob", 0.05, part="trees", n=200),
         "seeds vary": noise("oob", 0.3),
         "few voters err no more": shift("oob", -0.1, part="voters", n=[1, 2]),
         "many voters err more": shift("oob", 0.1, part="voters", n=[3, 4, 5, 6, 7]),
         "depths are exchanged": swap("n", 4, 12, part="depth"),
         "only test changes": put("oob", 0.03, part="depth")},
    ),
    "scale_and_noise": Case(
        scale_and_noise,
        {"one answer differs": put("differ", 1, part="scale", dataset="wine", seed=0),
         "a number differs": put("largest_difference", 1e-16, part="scale", seed=1),
         "a label is not fitted": shift("train", -0.001, part="noise", model="tree", seed=3),
         "models are exchanged": swap("model", "tree", "forest", part="noise"),
         "bagging is as a tree": swap("model", "tree", "bagging", part="noise"),
         "noise does not matter": put("test", 0.95, part="noise"),
         "seeds vary": noise("test", 0.3, part="noise")},
    ),
    "uncertainty": Case(
        uncertainty,
        {"the order is by chance": put("order", 0.0, part="order"),
         "tenths are shuffled": shuffle("error", part="tenth", dataset="digits"),
         "all tenths err alike": put("error", 2.0, part="tenth", dataset="boston"),
         "trees scatter less": put("uncertainty", 0.01, part="tenth"),
         "errors are smaller": put("size", 0.8, dataset="friedman1"),
         "splits vary": noise("error", 20.0, part="tenth", dataset="boston"),
         "images are of other rows": shift("row", 1, part=["surest", "least sure"])},
    ),
}  # fmt: skip
