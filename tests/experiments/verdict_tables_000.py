"""Tables of the experiments of documents 000 to 002, and of Breiman's paper; see spoiling.py."""

import numpy as np
import pandas as pd
from spoiling import Case, noise, normal, product, put, rows_of, shift, swap

from experiments import impurity_worked, reference, tree_diagrams
from experiments._depth_curves import DEPTHS, SPLITS

# ---- 000: curves over depth --------------------------------------------------------------------


def tree_curves(key):
    """The document's own numbers, twice."""
    values = np.array(reference("000")[key]).T  # (3, 20)
    table = product(split=SPLITS, depth=DEPTHS)
    return table.assign(forestlab=values.ravel(), document=values.ravel())


def forest_curves(key, tree_key, at_every_node):
    """60 forests around the document's mean, its tree, and others that differ by a number."""
    document = reference("000")
    mean, sd = (np.array(document[name]).T.ravel() for name in (key, f"{key}_sd"))
    parts = [product(kind=["document"], split=SPLITS, depth=DEPTHS).assign(value=mean, sd=sd)]
    for kind, n, off in (("forest", 60, 0.0), ("at_every_node", 10, at_every_node)):
        table = product(kind=[kind], seed=range(n), split=SPLITS, depth=DEPTHS)
        values = np.tile(mean + off, n) + np.tile(sd, n) * normal(len(table), 1.0, n)
        parts.append(table.assign(value=values))
    tree = np.array(document[tree_key]).T.ravel()
    parts.append(product(kind=["tree"], seed=[0], split=SPLITS, depth=DEPTHS).assign(value=tree))
    return pd.concat(parts, ignore_index=True)


def flat(table):
    """Forests that are at every depth as at the deepest."""
    deepest = table[table["depth"] == 20].set_index(["kind", "seed", "split"])["value"]
    rows = rows_of(table, {"kind": "forest"})
    keys = pd.MultiIndex.from_frame(table.loc[rows, ["kind", "seed", "split"]])
    table.loc[rows, "value"] = deepest.loc[keys].to_numpy()
    return table


def best_elsewhere(value):
    return put("forestlab", value, split="valid", depth=15)


CURVES = {
    "tree_classification": Case(
        lambda: tree_curves("tree_digits_accuracy"),
        {"one number is off": shift("forestlab", 1e-4, depth=5, split="test"),
         "another depth is best": best_elsewhere(1.0)},
    ),
    "tree_regression": Case(
        lambda: tree_curves("tree_boston_rmse"),
        {"one number is off": shift("forestlab", 1e-4, depth=5, split="test"),
         "the tie costs more": shift("forestlab", 0.01, depth=9, split="test"),
         "another depth is best": best_elsewhere(0.0)},
    ),
    "forest_classification": Case(
        lambda: forest_curves("forest_digits_accuracy", "tree_digits_accuracy", 0.07),
        {"forests are others": shift("value", 0.03, kind="forest"),
         "the tree is better": shift("value", 0.1, kind="tree"),
         "depth does nothing": flat,
         "they are no better": shift("value", -0.07, kind="at_every_node"),
         "forests vary more": noise("value", 0.5, kind="forest")},
    ),
    "forest_regression": Case(
        lambda: forest_curves("forest_boston_rmse", "tree_boston_rmse", 0.0),
        {"forests are others": shift("value", 1.0, kind="forest"),
         "the tree is better": shift("value", -4.0, kind="tree"),
         "forests vary more": noise("value", 20.0, kind="forest")},
    ),
    "tree_diagrams": Case(
        lambda: tree_diagrams.table([]),
        {"other answers": put("answer", "accept"), "other ways": put("answers", "yes, yes")},
    ),
}  # fmt: skip


# ---- 001 ---------------------------------------------------------------------------------------

PARTS = {  # bias², variance of whole trees; noise
    ("friedman1", "tree"): (3.0, 9.0, 1.0),
    ("friedman1", "bagging"): (3.4, 1.5, 1.0),
    ("friedman1", "forest"): (5.0, 1.0, 1.0),
    ("friedman1", "rno"): (3.0, 1.2, 1.0),
    ("twonorm", "tree"): (0.05, 0.2, 0.02),
    ("twonorm", "bagging"): (0.055, 0.02, 0.02),
    ("sine", "tree"): (0.01, 0.09, 0.09),
    ("sine", "bagging"): (0.01, 0.02, 0.09),
    ("sine", "rno"): (0.01, 0.09, 0.09),
}


def bias_variance():
    """Two depths: a stump, whose bias is large, and whole trees."""
    parts = []
    for (dataset, model), (bias2, variance, noise_) in PARTS.items():
        table = product(dataset=[dataset], model=[model], seed=range(6), depth=[1, 2])
        is_whole = table["depth"] == 2
        off = 1.0 + normal(6, 0.01).repeat(2)
        table["bias2"] = np.where(is_whole, bias2, 5 * bias2) * off
        table["variance"] = np.where(is_whole, variance, variance / 5) * off
        table["noise"] = noise_
        table["error"] = table[["bias2", "variance", "noise"]].sum(axis=1)
        table["measured"] = table["error"] * (1.0 + normal(12, 0.03, 1))
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def exchanged(table):
    return table.rename(columns={"bias2": "variance", "variance": "bias2"})


def iris():
    """Of 30 flowers none to four are mistaken, by one forest a few less than by the other."""
    species = np.repeat(["setosa", "versicolor", "virginica"], 10)
    of_splits = product(model=["subspace", "forest"], split=range(30), seed=[0], row=range(30))
    again = product(model=["again"], split=[42], seed=range(10), row=range(30))
    table = pd.concat([of_splits, again], ignore_index=True)
    table["expected"] = table["predicted"] = species[table["row"]]
    n_wrong = table["split"] % 5 - (table["model"] == "forest") * (table["split"] % 5 == 4)
    is_wrong = (table["row"] >= 30 - n_wrong) & (table["model"] != "again")
    return table.assign(predicted=table["predicted"].mask(is_wrong, "versicolor"))


def mnist():
    table = product(model=["tree", "forest"], seed=range(5), digit=range(10)).assign(rows=1000)
    is_tree = table["model"] == "tree"
    off = np.round(normal(len(table), 3.0)).astype(int)
    table["right"] = np.where(is_tree, 877.0, 970.0) + off
    table["sure"] = np.where(is_tree, 877.0, 903.0) + off
    return table


OF_001 = {
    "bias_variance": Case(
        bias_variance,
        {"bias and variance are exchanged": exchanged,
         "tree and bagging are exchanged": swap("model", "tree", "bagging"),
         "bagging and forest are exchanged": swap("model", "bagging", "forest",
                                                  dataset="friedman1"),
         "stumps vary": put("variance", 99.0, model="tree", depth=1),
         "bias grows": shift("bias2", 2.0, model="bagging"),
         "a forest varies more": shift("variance", 20.0, model="forest"),
         "the parts do not add up": shift("measured", 1.0),
         "targets vary more": noise("measured", 9.0),
         "another rule": shift("error", 0.01, dataset="sine", model="rno")},
    ),
    "impurity_worked": Case(
        lambda: impurity_worked.table([]),
        {"splits are exchanged": swap("split", "subpar", "optimal", part="split"),
         "impurities are off": shift("after", 1e-5, part="split"),
         "gains are off": shift("gain", 1e-5, part="split"),
         "single ones are off": shift("before", 1e-5, part="impurity"),
         "red is asked": put("as_shown", True, part="question")},
    ),
    "iris_80_20": Case(
        iris,
        {"few are right": put("predicted", "virginica", row=[15, 16, 17], model="subspace"),
         "setosa is mistaken": put("predicted", "virginica", row=0, split=7),
         "one more is wrong": put("predicted", "versicolor", row=29, model="again")},
    ),
    "mnist_table": Case(
        mnist,
        {"trees are better": shift("right", 60, model="tree"),
         "forests are better": shift("sure", 60, model="forest"),
         "answers are worse": shift("right", -60, model="forest"),
         "one forest and the next differ": noise("sure", 200.0, model="forest"),
         "models are exchanged": swap("model", "tree", "forest"),
         "the tree is not sure": shift("sure", -1, model="tree")},
    ),
}  # fmt: skip


# ---- 002 ---------------------------------------------------------------------------------------

WAYS = {  # cuts, nodes, accuracy of a tree, accuracy of a forest
    "exact": (1000.0, 100.0, 0.74, 0.81),
    "histogram": (960.0, 100.0, 0.74, 0.81),
    "boundary": (520.0, 100.0, 0.74, 0.81),
    "boundary, k = 15": (380.0, 105.0, 0.735, 0.81),
    "boundary, k = 5": (220.0, 110.0, 0.73, 0.805),
    "boundary, k = 1": (70.0, 130.0, 0.72, 0.80),
}


def threshold_search():
    parts = []
    for dataset in ("pima", "digits", "waveform"):
        of_set = product(dataset=[dataset], model=["tree", "forest"], way=WAYS, split=range(8))
        cuts, nodes, tree, forest = np.array([WAYS[way] for way in of_set["way"]]).T
        if dataset == "digits":
            cuts = np.where(of_set["way"] == "boundary, k = 15", 515.0, cuts)
        row = {"cuts": cuts * (1.0 + of_set["split"] / 50), "nodes": nodes + of_set["split"]}
        of_set = of_set.assign(accuracy=np.where(of_set["model"] == "tree", tree, forest), **row)
        parts.append(of_set)
    table = pd.concat(parts, ignore_index=True)
    varies = ~table["way"].isin(["exact", "boundary"])
    return table.assign(accuracy=table["accuracy"] + varies * normal(len(table), 0.004))


OF_002 = {
    "threshold_search": Case(
        threshold_search,
        {"another tree": shift("accuracy", 0.001, way="boundary", split=3),
         "few are on boundaries": shift("cuts", -300.0, way="boundary"),
         "k spares nothing": shift("cuts", 500.0, way="boundary, k = 15"),
         "nodes are fewer": put("nodes", 90.0, way="boundary, k = 1"),
         "numbers of nodes vary": noise("nodes", 60.0),
         "bins and k cost": shift("accuracy", -0.03, way=["histogram", "boundary, k = 15"]),
         "one cut is as good": shift("accuracy", 0.02, way="boundary, k = 1", model="tree"),
         "one cut costs a forest": shift("accuracy", -0.03, way="boundary, k = 1"),
         "repeats vary": noise("accuracy", 0.1, way=["histogram", "boundary, k = 15"])},
    ),
}  # fmt: skip


# ---- Breiman -----------------------------------------------------------------------------------


def breiman():
    paper = {"sonar": 15.9, "ionosphere": 7.1, "twonorm": 3.9, "ringnorm": 4.9, "waveform": 17.2}
    table = pd.DataFrame({"set": list(paper), "paper": list(paper.values()), "repeats": 20})
    table["selection"] = table["paper"] + [0.5, -0.5, 0.1, -0.1, 0.1]
    table["selection_se"] = [1.0, 0.5, 0.1, 0.1, 0.1]
    table["paper_se"] = table["selection_se"] / 2
    table["single_input"] = table["paper"]
    table["several"] = table["paper"] + [0.5, -0.3, 0.6, 3.0, 0.1]
    table["difference_se"] = [0.5, 0.3, 0.1, 0.2, 0.1]
    return table


OF_BREIMAN = {
    "breiman_table2": Case(
        breiman,
        {"forests err more": shift("selection", 1.5),
         "repeats vary": shift("selection_se", 9.0),
         "ringnorm is as the others": shift("several", -3.0, set="ringnorm"),
         "the number matters": shift("several", 2.0, set=["sonar", "twonorm", "waveform"]),
         "pairs vary": shift("difference_se", 9.0)},
    ),
}  # fmt: skip

CASES = CURVES | OF_001 | OF_002 | OF_BREIMAN
