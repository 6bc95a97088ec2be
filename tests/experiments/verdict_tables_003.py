"""Tables of the experiments of document 003; see spoiling.py."""

import numpy as np
import pandas as pd
from spoiling import Case, noise, normal, product, put, shift, shuffle, swap

from experiments import bagging_time, boosting, manifold, max_margin, multiway_binary, variants
from experiments import extra_trees as of_extra_trees
from experiments import leaf_predictors as leaf_experiment
from forestlab.datasets.toys import GAP

# ---- combining, one strong feature, size -------------------------------------------------------

LOSSES = {  # by set, way and noise: accuracy, log loss, Brier score
    ("digits", "average", 0.0): (0.97, 0.3, 0.15),
    ("digits", "average", 0.4): (0.96, 1.0, 0.50),
    ("digits", "product", 0.0): (0.97, 1.1, 0.05),
    ("digits", "product", 0.4): (0.96, 1.4, 0.20),
    ("threenorm", "average", 0.0): (0.86, 0.4, 0.25),
    ("threenorm", "average", 0.4): (0.70, 0.6, 0.40),
    ("threenorm", "product", 0.0): (0.86, 4.9, 0.30),
    ("threenorm", "product", 0.4): (0.70, 8.7, 0.60),
}


def combine_noise():
    parts = []
    for k, ((dataset, combine, level), row) in enumerate(LOSSES.items()):
        part = product(dataset=[dataset], noise=[level], combine=[combine], seed=range(8))
        for column, value in zip(("accuracy", "log_loss", "brier"), row, strict=True):
            part[column] = value + normal(8, 0.003, k)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


KINDS = {  # by model and features: correlation, error of a tree, error of the forest, root share
    ("bagging", 20): (0.45, 0.20, 0.12, 1.0),
    ("forest", 4): (0.28, 0.24, 0.10, 0.2),
    ("subspace", 4): (0.15, 0.35, 0.12, 0.2),
    ("subspace", 8): (0.25, 0.28, 0.10, 0.4),
}


def dominant_feature():
    parts = []
    for k, ((model, n), row) in enumerate(KINDS.items()):
        part = product(model=[model], max_features=[n], seed=range(10))
        for column, value in zip(("correlation", "tree_error", "error"), row[:3], strict=True):
            part[column] = value + normal(10, 0.005, k)
        parts.append(part.assign(root_share=row[3]))
    return pd.concat(parts, ignore_index=True)


def forest_size():
    table = product(seed=range(10), n_trees=[1, 2, 5, 10, 20, 100, 200])
    size, of_seed = table["n_trees"], normal(10, 0.02).repeat(7)
    wobble = normal(len(table), 0.001, 1)
    return table.assign(
        error=0.2 + 0.1 / size + of_seed + wobble,
        log_loss=1.0 + 5.0 / size + of_seed + wobble,
        brier=0.3 + 0.2 / size + of_seed + wobble * (size > 1) * (size < 200),
        roughness=0.17 + 0.2 / size + of_seed + wobble,
    )


ANSWERS = {  # by set, way and metric: with each size
    ("threenorm", "average", "accuracy"): (0.68, 0.74, 0.79, 0.82, 0.84),
    ("threenorm", "vote", "accuracy"): (0.68, 0.73, 0.77, 0.81, 0.84),
    ("threenorm", "average", "log_loss"): (1.20, 0.60, 0.50, 0.47, 0.46),
    ("threenorm", "vote", "log_loss"): (9.00, 4.00, 0.70, 0.45, 0.44),
    ("skewed", "mean", "rmse"): (5.5, 5.5, 5.7, 5.9),
    ("skewed", "median", "rmse"): (5.5, 5.5, 5.8, 6.0),
    ("skewed", "mode", "rmse"): (5.5, 5.5, 5.9, 6.2),
    ("skewed", "mean", "mae"): (4.1, 4.1, 4.2, 4.4),
    ("skewed", "median", "mae"): (4.1, 4.1, 4.1, 4.3),
    ("skewed", "mode", "mae"): (4.1, 4.1, 4.2, 4.5),
}


def leaf_predictors():
    parts = []
    for k, ((dataset, way, metric), values) in enumerate(ANSWERS.items()):
        sizes = leaf_experiment.SIZES[dataset][2]
        part = product(dataset=[dataset], way=[way], metric=[metric], size=sizes, seed=range(8))
        parts.append(part.assign(value=np.repeat(values, 8) + normal(len(part), 0.001, k)))
    return pd.concat(parts, ignore_index=True)


def density():
    """Best at depth 4, of many trees; kernels are in between on clusters, and best on spirals."""
    table = product(
        way=["forest"], set=["clusters", "spirals"], seed=range(10), depth=range(9),
        n_trees=[1, 3, 10, 30, 100],
    )  # fmt: skip
    depth, size = table["depth"], table["n_trees"]
    value = -3.0 - 0.1 * (depth - 4) ** 2 - (0.3 + 0.05 * depth) / size
    table["valid"] = value + normal(len(table), 0.001)
    table["test"] = value + normal(len(table), 0.002, 1)
    others = product(way=["one normal", "kernels"], set=["clusters", "spirals"], seed=range(10))
    level = np.where(others["set"] == "clusters", -3.1, -2.8)
    level = np.where(others["way"] == "kernels", level, -4.0)
    return pd.concat([table, others.assign(test=level + normal(40, 0.01, 2))], ignore_index=True)


SIMPLE = {
    "density": Case(
        density,
        {"one normal is enough": shift("test", 2.0, way="one normal"),
         "shallow trees are as good": shift("test", 2.0, way="forest", depth=1),
         "deep trees are as good": shift("test", 3.0, way="forest", depth=8),
         "one tree is as good": shift("test", 1.0, way="forest", n_trees=1),
         "ten trees are as good": shift("test", 0.5, way="forest", n_trees=10),
         "kernels are better": shift("test", 0.3, way="kernels", set="clusters"),
         "kernels are worse": shift("test", -0.5, way="kernels", set="spirals"),
         "seeds vary": noise("test", 3.0)},
    ),
    "combine_noise": Case(
        combine_noise,
        {"ways are exchanged": swap("combine", "average", "product"),
         "repeats vary": noise("log_loss", 20.0, dataset="threenorm"),
         "the product is wrong more often": shift("accuracy", -0.03, combine="product"),
         "noise adds nothing": shift("log_loss", -4.0, dataset="threenorm", combine="product",
                                     noise=0.4),
         "noise harms the product": shift("brier", 0.5, combine="product", noise=0.4),
         "whose loss it is, is forgotten": shuffle("log_loss", dataset="digits")},
    ),
    "leaf_predictors": Case(
        leaf_predictors,
        {"votes are exchanged": swap("way", "average", "vote", dataset="threenorm"),
         "leaves are exchanged": swap("way", "mean", "median", dataset="skewed"),
         "votes are wrong more often": shift("value", -0.03, way="vote", metric="accuracy"),
         "modes are as good": shift("value", -0.2, way="mode", metric="rmse"),
         "seeds vary": noise("value", 1.0),
         "the size is forgotten": shuffle("value", metric="log_loss", way="vote")},
    ),
    "dominant_feature": Case(
        dominant_feature,
        {"few roots have it": put("root_share", 0.4, model="bagging"),
         "roots have it too often": put("root_share", 0.3, model="forest"),
         "its trees are less alike": shift("correlation", -0.3, model="bagging"),
         "each errs more": shift("tree_error", 0.1, model="bagging"),
         "their forest errs less": shift("error", -0.05, model="bagging"),
         "ways to draw are exchanged": swap("model", "forest", "subspace", max_features=4),
         "seeds vary": noise("error", 0.2)},
    ),
    "forest_size": Case(
        forest_size,
        {"it overfits": shift("error", 0.01, n_trees=200),
         "seeds vary": noise("error", 0.1),
         "losses rise": shift("log_loss", 1.0, n_trees=200),
         "scores rise": shift("brier", 0.1, n_trees=200),
         "not as theory has it": shift("brier", 0.05, n_trees=5),
         "no smoother": put("roughness", 0.3),
         "which size it is, is forgotten": shuffle("roughness")},
    ),
}  # fmt: skip


# ---- margin, randomness, depth -----------------------------------------------------------------

DISTANCES = {  # by way, rho and bootstrap: with one tree, and with all
    ("midway", 3, False): (0.25, 0.03),
    ("midway", 3, True): (0.30, 0.07),
    ("midway", "all", False): (0.0, 0.0),
    ("midway", "all", True): (0.10, 0.0),
    ("midway", 1, False): (0.4, 0.18),
    ("uniform", 30, False): (0.25, 0.01),
} | {
    key: row
    for way in ("pairs", "uniform", "oblique")
    for key, row in {
        (way, 3, False): (0.25, 0.01), (way, 3, True): (0.3, 0.05), (way, 1, False): (0.4, 0.18),
    }.items()
}  # fmt: skip


def margins():
    parts = []
    for k, ((way, rho, bootstrap), (one, many)) in enumerate(DISTANCES.items()):
        part = product(way=[way], rho=[rho], bootstrap=[bootstrap], seed=range(12),
                       n_trees=max_margin.SIZES)  # fmt: skip
        many = np.where(part["n_trees"] == max_margin.SIZES[-1], many, one)
        parts.append(part.assign(distance=many * (1.0 + normal(len(part), 0.2, k))))
    return pd.concat(parts, ignore_index=True).astype({"rho": object})


def randomness():
    table = product(dataset=["digits", "dominant"], rho=[1, 5, 20, 100, "all"],
                    bootstrap=[False, True], seed=range(6))  # fmt: skip
    step = table["rho"].map({1: 0, 5: 1, 20: 2, 100: 3, "all": 4}).astype(float)
    accuracy = table["rho"].map({1: 0.95, 5: 0.96, 20: 0.97, 100: 0.96, "all": 0.85})
    columns = {"correlation": 0.1 + 0.05 * step, "confidence": 0.6 + 0.05 * step}
    for k, (name, values) in enumerate((columns | {"accuracy": accuracy}).items()):
        table[name] = values.astype(float) + normal(len(table), 0.003, k)
    pairs = table[(table["dataset"] == "digits") & ~table["bootstrap"]].assign(draws="pairs")
    apart = pairs["rho"].map({1: 0.6, 5: 0.5, 20: 0.4, 100: 0.3, "all": 0.0}).astype(float)
    pairs["differ"] = apart * (1.0 + normal(len(pairs), 0.01, 9))
    return pd.concat([table.assign(draws="features"), pairs], ignore_index=True)


PARTS = {  # by model: squared error, bias², variance, wrong labels
    "bagging": (1.0, 0.45, 0.55, 0.2),
    "forest": (0.9, 0.5, 0.4, 0.15),
    "extra_trees": (0.7, 0.4, 0.2, 0.14),
}


def extra_trees():
    table = product(
        dataset=[*of_extra_trees.CLASSES, "friedman1"], model=list(PARTS), seed=range(5)
    )
    for k, column in enumerate(("error", "bias2", "variance", "wrong")):
        value = table["model"].map({model: parts[k] for model, parts in PARTS.items()})
        table[column] = value * (1.0 + normal(len(table), 0.02, k))
    extra, waves = table["model"] == "extra_trees", table["dataset"] == "waveform"
    for column, value in {"error": 1.0, "bias2": 0.7}.items():
        table.loc[extra & waves, column] = value + normal(5, 0.01, 7)
    table.loc[table["dataset"] == "friedman1", "wrong"] = np.nan
    return table


def tree_depth():
    """The best depth is 3 with few rows and 7 with many; deeper costs, most of all rno."""
    table = product(model=["rno", "forest"], rows=[50, 3200], seed=range(10), depth=range(1, 21))
    best = np.where(table["rows"] == 50, 3, 7)
    cost = np.where(table["model"] == "rno", 0.003, 0.001) * np.where(table["rows"] == 50, 0.3, 1)
    off = table["depth"] - best
    error = 0.1 + np.where(off > 0, cost * off, -0.01 * off)
    for k, split in enumerate(("valid", "test")):
        table[f"error_{split}"] = error + normal(len(table), 0.001, k)
    return table


LEARNERS = {  # by set and learner: the error of 3 trees and of 100, with rho of 2 and of 50
    ("spirals", "axis"): (0.20, 0.10, 0.18, 0.12), ("annuli", "axis"): (0.30, 0.16, 0.30, 0.16),
    ("spirals", "oblique"): (0.15, 0.09, 0.14, 0.08),
    ("annuli", "oblique"): (0.27, 0.15, 0.27, 0.15),
    ("spirals", "quadratic"): (0.15, 0.09, 0.14, 0.08),
    ("annuli", "quadratic"): (0.20, 0.13, 0.20, 0.13),
    ("spirals", "band"): (0.25, 0.11, 0.20, 0.12), ("annuli", "band"): (0.30, 0.16, 0.30, 0.16),
}  # fmt: skip


def learners():
    parts = []
    for k, ((dataset, learner), errors) in enumerate(LEARNERS.items()):
        part = product(dataset=[dataset], learner=[learner], rho=[2, 50],
                       seed=[*range(8), *range(100, 108)], n_trees=[3, 100])  # fmt: skip
        part["error"] = np.reshape(errors, (2, 1, 2)).repeat(16, axis=1).ravel()
        part["correlation"] = part["rho"].map({2: 0.2, 50: 0.4})
        for name in ("error", "correlation"):
            part[name] += normal(len(part), 0.004, k)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


GROWN = {
    "weak_learners": Case(
        learners,
        {"lines are no better": shift("error", 0.05, dataset="spirals", learner="oblique"),
         "conics are exchanged": swap("learner", "axis", "quadratic", dataset="spirals"),
         "conics are no better on rings": put("error", 0.3, dataset="annuli", n_trees=3),
         "more trees close nothing": shift("error", 0.1, dataset="spirals", learner="axis",
                                           n_trees=100),
         "more trees close it all": put("error", 0.1, dataset="spirals", n_trees=100),
         "bands are as good": shift("error", -0.1, dataset="spirals", learner="band"),
         "trees are less alike": swap("rho", 2, 50),
         "but for one learner": shift("correlation", -0.3, learner="band", rho=50),
         "seeds vary": noise("error", 0.3)},
    ),
    "max_margin": Case(
        margins,
        {"more trees are no nearer": shift("distance", 0.3, n_trees=243, rho=3, bootstrap=False,
                                           way="midway"),
         "bags are exchanged": swap("bootstrap", False, True, rho=3, way="midway"),
         "the cut is not midway": shift("distance", 0.001, rho="all", bootstrap=False, seed=3),
         "bags do not matter": put("distance", 0.0, rho="all", bootstrap=True),
         "they stay away": shift("distance", 0.1, rho="all", bootstrap=True),
         "one try is enough": put("distance", 0.0, rho=1, way="midway"),
         "more trees are no nearer with sums": shift("distance", 0.3, n_trees=243, rho=3,
                                                     way="oblique"),
         **{f"bags are exchanged, {way}": swap("bootstrap", False, True, rho=3, way=way)
            for way in ("pairs", "uniform")},
         "one try is enough, none twice": put("distance", 0.0, rho=1, way="pairs"),
         "thirty tries need no forest": put("distance", 0.05, rho=30),
         "seeds vary": noise("distance", 2.0)},
    ),
    "randomness_rho": Case(
        randomness,
        {"the ends are exchanged": swap("rho", 1, "all"),
         "a step falls": shift("confidence", -0.1, rho=20),
         "trees are not more alike": put("correlation", 0.2, rho=[20, 100]),
         "all is as right": put("accuracy", 0.97, rho="all"),
         "trees differ to the end": put("differ", 0.01, rho="all"),
         "they do not differ less": put("differ", 0.5, rho=[5, 20, 100]),
         "one is as right": put("accuracy", 0.97, dataset="dominant"),
         "splits vary": noise("confidence", 0.2)},
    ),
    "extra_trees": Case(
        extra_trees,
        {"they vary as bagging does": put("variance", 0.55, model="extra_trees"),
         "they vary as forests do on a set": put("variance", 0.4, model="extra_trees",
                                                 dataset="waveform"),
         "bias costs nothing": put("bias2", 0.4, model="extra_trees", dataset="waveform"),
         "bias costs": put("bias2", 0.5, model="extra_trees", dataset="ringnorm"),
         "they err as bagging does on a set": put("error", 1.0, model="extra_trees",
                                                  dataset="friedman1"),
         "they err less on waveform": put("error", 0.7, model="extra_trees", dataset="waveform"),
         "models are exchanged": swap("model", "forest", "extra_trees"),
         "labels are wrong as often": put("wrong", 0.2, model="extra_trees"),
         "seeds vary": noise("wrong", 0.3)},
    ),
    "tree_depth": Case(
        tree_depth,
        {"depth is free": put("error_test", 0.1),
         "rows are exchanged": swap("rows", 50, 3200),
         "models are exchanged": swap("model", "rno", "forest"),
         "seeds vary": noise("error_test", 0.3)},
    ),
}  # fmt: skip


# ---- variants ----------------------------------------------------------------------------------

SETS = {  # features, and the tree's RMSE if it is one
    "iris": 4, "wine": 13, "digits": 64, "twonorm": 20, "ringnorm": 20, "waveform": 21,
    "dominant": 20, "moons": 2, "blobs": 2, "friedman1": 10, "sine": 1,
}  # fmt: skip


def of_sets():
    """Points gained, with an interval of 0.5 to each side, but for iris, which tells nothing."""
    table = pd.DataFrame({"set": list(SETS), "features": list(SETS.values())}).assign(repeats=5)
    is_flat, is_sine = table["features"] == 2, table["set"] == "sine"
    gains = {
        "forest_over_tree": np.where(is_flat, 0.0, 9.0),
        "bagging_over_tree": np.where(is_flat, 0.0, 8.0),
        "subspace_over_tree": np.where(is_sine, 0.0, np.where(is_flat, -20.0, 5.0)),
        "rno_over_tree": np.where(is_sine, -0.2, 9.0),
        "forest_over_bagging": np.where(is_sine, 0.0, 1.0),
        "forest_over_subspace": 1.0,
        "forest_over_rno": np.where(is_sine, 9.0, 0.0),
        "rno_over_forest": np.where(is_sine, -9.0, 0.0),
    }
    assert set(gains) == {f"{one}_over_{other}" for one, other in variants.PAIRS}
    reach = np.where(table["set"] == "iris", 20.0, 0.5)
    for pair, gain in gains.items():
        table[pair] = gain
        table.loc[table["set"] == "friedman1", "forest_over_bagging"] = -3.0
        table[f"{pair}_low"], table[f"{pair}_high"] = table[pair] - reach, table[pair] + reach
    return table


def gaining(pair, by, **where):
    """Move a gain with its interval."""
    spoils = [shift(f"{pair}{end}", by, **where) for end in ("", "_low", "_high")]

    def spoil(table):
        for each in spoils:
            table = each(table)
        return table

    return spoil


def wider(table):
    for column in table:
        if column.endswith(("_low", "_high")):
            table[column] += -50.0 if column.endswith("_low") else 50.0
    return table


def chosen_depths():
    """The tree gains two points by its depth on each set; the forest only on sine."""
    made = [name for name in SETS if name not in ("iris", "wine", "digits")]
    table = product(part=["chosen"], set=made, variant=["tree", "forest"], repeat=range(5))
    gain = np.where((table["variant"] == "tree") | (table["set"] == "sine"), 2.0, 0.0)
    return table.assign(gain=gain + normal(len(table), 0.2))


VARIANTS = {
    "variants": Case(
        of_sets,
        {"intervals are wide": wider,
         "the forest is worse": gaining("forest_over_tree", -12.0),
         "bagging is worse": gaining("bagging_over_tree", -12.0),
         "subspaces are no use": gaining("subspace_over_tree", -6.0),
         "two features are enough": gaining("subspace_over_tree", 21.0, set="moons"),
         "bagging is better on dominant": gaining("forest_over_bagging", -2.0, set="dominant"),
         "the forest is better on friedman1": gaining("forest_over_bagging", 4.0, set="friedman1"),
         "rno needs bags": gaining("rno_over_forest", -3.0),
         "rno needs none": gaining("rno_over_tree", 9.0, set="sine"),
         "one feature has two subsets": gaining("subspace_over_tree", 0.001, set="sine")},
    ),
    "variants_depth": Case(
        chosen_depths,
        {"the depth does not matter": put("gain", 0.0),
         "models are exchanged": swap("variant", "tree", "forest"),
         "forests gain too": put("gain", 2.0, variant="forest"),
         "repeats vary": noise("gain", 9.0)},
    ),
}  # fmt: skip

# ---- differential entropy ----------------------------------------------------------------------

ENTROPIES = {  # by criterion: distances from where spread and shape change, nats, RMSE
    "variance": (0.1, 0.1, 1.4, 0.85),
    "gaussian": (0.003, 0.08, 1.0, 0.85),
    "kde": (0.004, 0.005, 1.0, 0.85),
}


def differential_entropy():
    parts = []
    for k, (criterion, row) in enumerate(ENTROPIES.items()):
        part = product(criterion=[criterion], seed=range(12))
        for column, value in zip(("from_quiet", "from_heaps", "nats", "rmse"), row, strict=True):
            part[column] = value + normal(12, 0.002, k)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


ENTROPY = {
    "differential_entropy": Case(
        differential_entropy,
        {"a normal sees no spread": put("from_quiet", 0.1, criterion="gaussian"),
         "variance sees it too": put("from_quiet", 0.003),
         "kernels see no spread": put("from_quiet", 0.1, criterion="kde"),
         "kernels see no heaps": put("from_heaps", 0.1, criterion="kde"),
         "a normal sees heaps": put("from_heaps", 0.004),
         "densities are alike": put("nats", 1.0),
         "means suffer": shift("rmse", 0.05, criterion="gaussian"),
         "seeds vary": noise("rmse", 0.1)},
    ),
}  # fmt: skip

# ---- maps, ways, boosting, time ----------------------------------------------------------------


def maps():
    """Deeper maps are better and join fewer pairs; forests differ by the number of their trees."""
    depths = product(part=["depth"], seed=range(8), depth=manifold.DEPTHS).assign(rising=0)
    depths["accuracy"] = 0.6 + 0.015 * depths["depth"] + normal(len(depths), 0.01)
    depths["joined"] = 1.0 - 0.04 * depths["depth"] + normal(len(depths), 0.005, 1)
    linear = product(part=["linear"], seed=range(8), way=list(manifold.LINEAR))
    linear["accuracy"] = 0.63 + normal(len(linear), 0.01, 2)
    trees = product(part=["trees"], seed=range(8), n_trees=manifold.SIZES)
    trees["zeros"] = 0.9 / trees["n_trees"] ** 0.2 + normal(len(trees), 0.005, 3)
    trees["square"] = 0.04 / trees["n_trees"] * (1.0 + normal(len(trees), 0.02, 4))
    return pd.concat([depths, linear, trees], ignore_index=True)


def multiway():
    """Each question of w ways leaves one row in w; fewer ways ask about more features."""
    trees = product(part=["tree"], set=multiway_binary.SETS, seed=range(10), ways=[2, 4, 8])
    is_middle = trees["set"] == multiway_binary.MIDDLE
    slope = np.where(is_middle, 0.01, -0.01)
    trees = trees.assign(rows=2600, differ=0, leaves=60, leaves_binary=60, inner_expected=59,
                         inner_binary=59, depth_expected=8, depth_binary=8)  # fmt: skip
    trees["accuracy"] = 0.7 + slope * trees["ways"] + normal(len(trees), 0.005)
    trees["features"] = 6.0 - 0.5 * trees["ways"] + normal(len(trees), 0.05, 1)
    levels = product(part=["level"], set=multiway_binary.SETS, seed=range(10), ways=[2, 4, 8],
                     questions=range(4))  # fmt: skip
    levels["rows"] = 600.0 / levels["ways"].astype(float) ** levels["questions"]
    return pd.concat([trees, levels], ignore_index=True)


BESIDE = {  # by set: tree, forest, boosting
    "digits": (0.86, 0.98, 0.96),
    "breast_cancer": (0.93, 0.96, 0.965),
    "waveform": (0.70, 0.83, 0.82),
    "diabetes": (-0.2, 0.31, 0.27),
    "friedman1": (0.58, 0.79, 0.90),
}


def beside_boosting():
    parts = []
    for k, (name, scores) in enumerate(BESIDE.items()):
        part = product(set=[name], seed=range(5), model=list(boosting.MODELS))
        parts.append(part.assign(score=np.tile(scores, 5) + normal(len(part), 0.004, k)))
    return pd.concat(parts, ignore_index=True)


RATIOS = {"bags": 0.65, "half": 0.5, "features": 0.35, "threads": 0.55, bagging_time.LOOPS: 0.5}


def timings():
    table = product(turn=range(12), contrast=list(RATIOS)).assign(slow=0.5, cores=2, differ=0)
    table["fast"] = 0.5 * table["contrast"].map(RATIOS) * np.exp(normal(len(table), 0.05))
    return table


TOLD = {
    "manifold": Case(
        maps,
        {"linear maps are as good": shift("accuracy", 0.3, part="linear"),
         "depth is no use": put("accuracy", 0.65, part="depth"),
         "an affinity rises": put("rising", 1, part="depth", depth=4, seed=3),
         "leaves join as many": put("joined", 0.9, part="depth"),
         "more trees join no more": put("zeros", 0.5, part="trees"),
         "forests of few are as near": put("square", 0.01, part="trees"),
         "splits vary": noise("accuracy", 0.5, part="depth")},
    ),
    "multiway_binary": Case(
        multiway,
        {"a row is answered otherwise": put("differ", 1, part="tree", set="waveform", seed=2),
         "a node is too many": put("inner_binary", 60, part="tree", ways=8, seed=1),
         "a level is too many": put("depth_binary", 9, part="tree", ways=4, seed=1),
         "a leaf is lost": put("leaves_binary", 59, part="tree", ways=2, seed=1),
         "ways are exchanged": swap("ways", 2, 8),
         "rows are as many": put("rows", 100.0, part="level"),
         "sets are exchanged": swap("set", "twonorm", "ringnorm"),
         "seeds vary": noise("accuracy", 0.5, part="tree")},
    ),
    "boosting": Case(
        beside_boosting,
        {"boosting is better": shift("score", 0.2, model="boosting"),
         "forests are better": shift("score", 0.2, model="forest"),
         "a tree is as good": shift("score", 0.12, model="tree", set="waveform"),
         "repeats vary": noise("score", 0.2)},
    ),
    "bagging_time": Case(
        timings,
        {"bags take longer": put("fast", 0.6, contrast="bags"),
         "half of the rows take as long": put("fast", 0.5, contrast="half"),
         "few features take longer": put("fast", 0.6, contrast="features"),
         "threads change an answer": put("differ", 1),
         "threads wait for each other": put("fast", 0.45, contrast="threads")},
    ),
}  # fmt: skip

CASES = SIMPLE | GROWN | VARIANTS | ENTROPY | TOLD
assert GAP > 0.2  # the distances above are near, or not, by it
