"""One walk gives what asking the cut forests one by one gives, at every value of every rule."""

import numpy as np
import pandas as pd
import pytest
from small import FORESTS, PAIRS, as_bytes, data_for, forest_for

from forestlab.core.arrays import n_trees, plant, tree_of
from forestlab.core.descend import answers_kernel
from forestlab.core.prune import Rules, collapsed
from forestlab.core.running import answer_depths
from forestlab.forest import Asked, DepthWalk, combined, cut_forest, paths_of
from forestlab.forest.stopping import depth_path, numbers_of
from forestlab.forest.threads import BLOCK_ROWS
from forestlab.study.surfaces import surfaces_of
from forestlab.study.trees import depth_of
from forestlab.tree.handmade import build_tree

PARAMETERS = {
    "depth": "max_depth",
    "split_size": "min_samples_split",
    "gain": "min_impurity_decrease",
    "leaves": "max_leaf_nodes",
    "alpha": "ccp_alpha",
}
KINDS = ("numbers", "categories", "both ways")


def quick(combiner, task, kind):
    """Of other kernels than a study's tests compile anyway, few."""
    return kind == "numbers" or (combiner, task) == ("average", "classification")


CASES = [
    pytest.param(*pair, kind, marks=() if quick(*pair, kind) else pytest.mark.long)
    for pair in PAIRS
    for kind in KINDS
]


def grown_on(task, combiner, kind):
    """A model, and rows of its kind."""
    X, y = data_for(task)
    options = {"combine": combiner}
    if kind == "both ways":
        X = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
        options["missing"] = "both"
    if kind == "categories":
        frame = pd.DataFrame(X, columns=list("abcd"))
        words = np.array(list("pqrstuv"))[(X[:, 0] + 4).astype(int) % 7]
        frame["a"] = pd.Categorical(words)
        model = forest_for(task, **options).fit(frame, y)
        X = X.copy()
        X[:, 0] = np.searchsorted(model.categories_[0].astype(str), words)
        return model, X, y
    return forest_for(task, **options).fit(X, y), X, y


def along(asked, X, outside):
    """What all trees answer at each stop, and those that left a row out."""
    walk = DepthWalk(asked, np.ascontiguousarray(X), 0, True, outside)
    for n in sorted({1, n_trees(asked.forest)}):  # some at a time
        walk.ask(n)
    finish = answers_kernel(asked.task, asked.combiner)
    found = []
    for sums in (walk.stops.everyone, walk.stops.left_out):
        answers = np.empty((asked.n_stops, len(sums.voters), asked.n_answers))
        finish(sums, 0, answers)
        found.append(answers)
    return found


def check(model, X, stops, cut):
    """The answers at each stop of the rules are those of cut(rule, place)."""
    forest = model.forest_
    n_depths = depth_of(forest) + 1
    answering = answer_depths(forest, list(stops.values()), n_depths)
    asked = Asked(forest, model.task, model.combine, n_depths, answering)
    outside = model.grown.outside()
    everyone, left_out = along(asked, X, outside)
    places = [(rule, place) for rule, (_, size) in stops.items() for place in range(size)]
    assert len(places) == len(everyone)
    for stop, (rule, place) in enumerate(places):
        smaller = cut(rule, place)
        for found, bits in ((everyone, None), (left_out, outside)):
            told, _ = combined(smaller, model.task, model.combine, X, outside=bits)
            assert as_bytes(found[stop]) == as_bytes(told), (rule, place, bits is None)


@pytest.mark.parametrize(("combiner", "task", "kind"), CASES)
def test_a_path_has_the_answers_of_the_forests_that_rules_cut(combiner, task, kind):
    model, X, _ = grown_on(task, combiner, kind)
    paths = paths_of(model.forest_)
    assert set(paths) == set(PARAMETERS)
    assert min(len(path.values) for path in paths.values()) > 3

    def cut(rule, place):
        return cut_forest(model.forest_, Rules(**{PARAMETERS[rule]: paths[rule].values[place]}))

    check(model, X, {rule: (path.opens, len(path.values)) for rule, path in paths.items()}, cut)


@pytest.mark.parametrize(("combiner", "task", "kind"), CASES)
def test_nodes_may_open_anywhere(combiner, task, kind):
    """Also all at once, and several on a path at the same stop; some never."""
    model, X, _ = grown_on(task, combiner, kind)
    forest, rng = model.forest_, np.random.default_rng(3)
    stops = {}
    for size in (1, 2, 5, 70):  # more than a line of the cache
        opens = rng.integers(0, size + 1, len(forest.nodes))
        for t in range(n_trees(forest)):
            first, nodes = forest.first_node[t], tree_of(forest, t).nodes
            for i in range(len(nodes)):
                for child in (nodes["left"][i], nodes["right"][i]):
                    if child < 0:
                        opens[first + i] = size
                    else:
                        opens[first + child] = max(opens[first + child], opens[first + i])
        stops[size] = opens, size

    def cut(size, place):
        shut = stops[size][0] > place
        parts = np.split(shut, forest.first_node[1:-1])
        return plant([collapsed(tree_of(forest, t), part) for t, part in enumerate(parts)])

    check(model, X, stops, cut)


@pytest.mark.parametrize("task", FORESTS)
def test_metrics_along_a_path_have_the_bits_of_a_cut_forest_at_any_number_of_threads(task):
    X, y = data_for(task, BLOCK_ROWS + 40)
    model = forest_for(task, 5).fit(X, y)
    grown = model.grown
    data = {"train": (X, grown.codes(y))}
    n_depths, paths = depth_of(grown.forest) + 1, list(paths_of(grown.forest).values())
    asked = data, grown.outside(), n_depths, [5]
    one, two = (surfaces_of(grown, *asked, n_jobs, paths) for n_jobs in (1, 2))
    for split, found in one.items():
        assert as_bytes(*found.along.values()) == as_bytes(*two[split].along.values())
    stop = 0
    for path in paths:
        for place in range(0, len(path.values), 5):
            rules = Rules(**{PARAMETERS[path.rule]: path.values[place]})
            cut = grown._replace(forest=cut_forest(grown.forest, rules))
            told = surfaces_of(cut, *asked, 1)
            for split, found in one.items():
                for metric, values in found.along.items():
                    last = told[split].values[metric][-1, -1]
                    assert as_bytes(values[stop + place]) == as_bytes(last), (path.rule, metric)
        stop += len(path.values)
    assert stop == len(values)


def test_very_deep_trees_have_wider_numbers():
    """A tree that cuts one row off at each of 300 depths: a byte does not hold them."""
    branch = {"value": 300.0}
    for i in reversed(range(300)):
        branch = {"feature": "a", "cut": i + 0.5, "left": {"value": float(i)}, "right": branch}
    forest = plant([build_tree(branch, ["a"]).tree])
    path = depth_path(numbers_of(forest))
    answering = answer_depths(forest, [(path.opens, len(path.values))], 301)
    assert answering.dtype == np.uint16
    X = np.arange(301.0)[:, None]
    everyone, _ = along(Asked(forest, "regression", "average", 301, answering), X, None)
    for depth in (1, 200, 255, 256, 257, 300):
        told, _ = combined(forest, "regression", "average", X, depth)
        assert as_bytes(everyone[depth - 1]) == as_bytes(told), depth
