"""Every number that a study logs, found by slow plain ways: loops over rows, trees and depths.

Nothing of forestlab's own study is used: trees are walked by `naive`, and each quantity follows its
definition. A *world* is a grown forest and the rows on which it is studied.
"""

from fractions import Fraction
from typing import NamedTuple

import naive
import naive_stopping
import naive_uncertainty
import numpy as np
from scipy import stats

LEVELS = "0.5", "0.6", "0.7", "0.8", "0.9", "0.95", "0.99"
MAIN = {"classification": ("accuracy", -1), "regression": ("rmse", 1)}  # and which sign is lower
METRICS = {
    "classification": ("accuracy", "balanced_accuracy", "f1", "log_loss", "brier"),
    "regression": ("rmse", "mae", "r2"),
}
COMBINERS = "average", "product", "vote"
VOTE_STRENGTH = (
    "strength", "correlation", "bound", "tree_error", "tree_error_std",
    "strength_plain", "correlation_plain", "bound_plain",
)  # fmt: skip
RESIDUAL_STRENGTH = "correlation", "bound", "tree_mse", "tree_mse_std", "tree_rmse"
BINS = 15
EITHER = None  # the value of what rounding decides
UNCERTAINTY = "total", "aleatoric", "epistemic", "spread"
NEIGHBOURS, REGION, LEAST_HELD_OUT = 10, 50, 20
CALIBRATION = {"ece": "ece", "reliability": "reliability", "resolution": "resolution",
               "brier_of_data": "uncertainty", "within_bins": "within_bins"}  # fmt: skip


class World(NamedTuple):
    task: str
    combiner: str
    trees: list  # of nodes and statistics
    bags: np.ndarray | None  # (n_trees, n) how often each holds each training row
    replace: bool
    splits: dict  # name → X and truth: numbers, or class codes with -1 for a class not in training
    sizes: list  # numbers of trees on which the surface stands
    most_rows: int
    gains: tuple = ()  # of each tree's nodes
    costs: tuple = ()  # of each tree's nodes as leaves
    grids: dict | None = None  # of each stopping rule the values

    @property
    def names(self):
        return [*self.splits, *(["oob"] if self.bags is not None else [])]

    @property
    def n_depths(self):
        return max(naive.depths(nodes).max() for nodes, _ in self.trees) + 1

    @property
    def judged(self):
        """The split on which intervals and uncertainties are judged."""
        return next((name for name in ("test", "valid") if name in self.splits), None)


# ---- answers -----------------------------------------------------------------------------------


def rows_of(world, split):
    return world.splits["train" if split == "oob" else split]


def trees_asked(world, split, row, size=None):
    trees = range(len(world.trees))[:size]
    return [t for t in trees if split != "oob" or world.bags[t][row] == 0]


def answer(world, split, row, depth=None, size=None, combiner=None):
    """What the trees say together of a row; None if there is none to ask."""
    asked = [world.trees[t] for t in trees_asked(world, split, row, size)]
    x = rows_of(world, split)[0][row]
    combiner = combiner or world.combiner
    return naive.answer(asked, combiner, world.task, x, depth) if asked else None


def answered(world, split, rows=None, **how):
    """The truth and the answers of the rows that have one."""
    X, truth = rows_of(world, split)
    found = {i: answer(world, split, i, **how) for i in (range(len(X)) if rows is None else rows)}
    known = [i for i, p in found.items() if p is not None]
    return truth[known], np.array([found[i] for i in known])


def score(world, split, metric, **how):
    truth, answers = answered(world, split, **how)
    return naive.METRICS[metric](truth, answers) if len(truth) else np.nan


def evenly(n, most):
    """At most so many of n row numbers, from the first to the last."""
    k = min(n, most)
    return [round(i * (n - 1) / (k - 1)) for i in range(k)] if k > 1 else [0][:k]


def ends(world, X):
    """{leaf: share} of each tree where each row ends, n_trees lists of n."""
    return [[naive.ends(nodes, x) for x in X] for nodes, _ in world.trees]


# ---- curves, sizes, the chosen depth -----------------------------------------------------------


def curves(world):
    for metric in METRICS[world.task]:
        for split in world.names:
            for depth in range(world.n_depths):
                yield f"{metric}/{split}", depth, score(world, split, metric, depth=depth)


def by_trees(world):
    for split in world.names:
        for size in world.sizes:
            for metric in METRICS[world.task] if len(world.sizes) > 1 else ():
                yield f"by_trees/{metric}/{split}", size, score(world, split, metric, size=size)
    if world.bags is None:
        return
    n_rows = len(world.splits["train"][0])
    for size in range(1, len(world.trees) + 1):
        if world.task == "classification":
            yield "by_trees/oob_error", size, 1 - score(world, "oob", "accuracy", size=size)
        else:
            yield "by_trees/oob_rmse", size, score(world, "oob", "rmse", size=size)
    for size in world.sizes:
        voters = [len(trees_asked(world, "oob", row, size)) for row in range(n_rows)]
        yield "by_trees/oob_voters", size, np.mean(voters)


def chosen(world):
    """The least of the best depths, but 0, on validation or out of bag."""
    judge = next((name for name in ("valid", "oob") if name in world.names), None)
    if judge is None:
        return
    main, sign = MAIN[world.task]
    values = [score(world, judge, main, depth=depth) for depth in range(world.n_depths)]
    depths = sorted(range(1, world.n_depths), key=lambda depth: (sign * values[depth], depth))
    yield "summary/chosen_depth", 0, depths[0]
    if "test" in world.splits:
        for metric in METRICS[world.task]:
            value = score(world, "test", metric, depth=depths[0])
            yield f"summary/chosen_{metric}_test", 0, value


def by_class(world):
    """Each class against the rest at the chosen depth, on test or else validation."""
    depth = {name: value for name, _, value in chosen(world)}.get("summary/chosen_depth")
    if world.judged is None or depth is None or world.task != "classification":
        return
    truth, answers = answered(world, world.judged, depth=depth)
    labels, areas = np.argmax(answers, axis=1), []
    for k, p in enumerate(answers.T):
        right = np.sum((labels == k) & (truth == k))
        areas.append(naive.chance_less_sure(without_rounding(p), truth == k))
        shares = right / max(sum(labels == k), 1), right / max(sum(truth == k), 1)
        counts = sum(labels == k), sum(truth == k)
        for name, share, count in zip(("precision", "recall"), shares, counts, strict=True):
            yield f"by_class/{name}_{world.judged}", k, share if count else np.nan
        yield f"by_class/auc_{world.judged}", k, areas[-1]
    yield f"summary/chosen_auc_{world.judged}", 0, np.nanmean(areas)


# ---- stopping rules ----------------------------------------------------------------------------


def asking(rule, value, nodes, gains, costs):
    """The nodes that ask with a value of a stopping rule."""
    if rule == "leaves":
        return naive_stopping.best_first(nodes, gains, value)
    if rule == "alpha":
        every = naive_stopping.asking(nodes, np.zeros(len(nodes), bool))
        return naive_stopping.cheapest(nodes, costs, value)[1] if value > 0 else every
    small = {
        "split_size": nodes["n_rows"] < value,
        "gain": gains < value * nodes["weight"][0],
    }
    return naive_stopping.asking(nodes, small[rule])


def stopped(world, rule, value):
    """The world of the trees that end where a rule says so; and how many leaves they have."""
    trees, n_leaves = [], []
    for (nodes, kept_stats), *kept in zip(world.trees, world.gains, world.costs, strict=True):
        asked = asking(rule, value, nodes, *kept)
        cut = nodes.copy()
        cut["kind"][[i for i in range(len(nodes)) if i not in asked]] = naive.LEAF
        trees.append((cut, kept_stats))
        n_leaves.append(1 + len(asked))
    return world._replace(trees=trees), np.mean(n_leaves)


def stopping(world):
    if world.n_depths < 3:
        return
    main, sign = MAIN[world.task]
    judge = next((name for name in ("valid", "oob") if name in world.names), None)
    for rule, grid in world.grids.items():
        scores = []
        for place, value in enumerate(grid):
            cut, n_leaves = stopped(world, rule, value)
            scores.append({"n_leaves": n_leaves} if rule in ("leaves", "split_size") else
                          {"n_leaves": n_leaves, "value": value})  # fmt: skip
            for split in world.names:
                truth, answers = answered(cut, split)
                for metric in METRICS[world.task]:
                    known = naive.METRICS[metric](truth, answers) if len(truth) else np.nan
                    scores[-1][f"{metric}/{split}"] = known
            step = place if "value" in scores[-1] else int(value)
            for name, score in scores[-1].items():
                yield f"by_{rule}/{name}", step, score
        if judge is None:
            continue
        # The first of the best; trees that are cut alike may differ here by the order of sums.
        values = [sign * score[f"{main}/{judge}"] for score in scores]
        best = next(i for i, value in enumerate(values) if value <= min(values) + 1e-12)
        yield f"summary/by_{rule}_chosen", 0, grid[best]
        yield f"summary/by_{rule}_n_leaves_chosen", 0, scores[best]["n_leaves"]
        for metric in METRICS[world.task] if "test" in world.splits else ():
            yield f"summary/by_{rule}_{metric}_test_chosen", 0, scores[best][f"{metric}/test"]


def stopping_of_all(each, task):
    """Of several targets, whose twins these are: means over them, and what these would choose."""
    main, sign = MAIN[task]
    names = {name for name, _ in each[0] if name.startswith("by_")}
    names = {name for name in names if not name.startswith(("by_trees/", "by_class/"))}
    found = {at: np.mean([twins[at] for twins in each]) for at in each[0] if at[0] in names}
    for rule in {name.split("/")[0] for name in names}:
        judge = {step: sign * value for (name, step), value in found.items()
                 if name == f"{rule}/{main}/valid"}  # fmt: skip
        size = {step: found[f"{rule}/n_leaves", step] for step in judge}
        tied = [step for step in judge if judge[step] <= min(judge.values()) + 1e-12]
        best = max(tied) if rule == "by_split_size" else min(tied)  # the strictest
        found[f"summary/{rule}_chosen", 0] = found.get((f"{rule}/value", best), best)
        found[f"summary/{rule}_n_leaves_chosen", 0] = size[best]
        for metric in METRICS[task]:
            found[f"summary/{rule}_{metric}_test_chosen", 0] = found[f"{rule}/{metric}/test", best]
    return found


def shapes(world):
    depths = [naive.depths(nodes) for nodes, _ in world.trees]
    leaves = [np.sum(nodes["kind"] == naive.LEAF) for nodes, _ in world.trees]
    yield "summary/trees_n_nodes", 0, np.mean([len(depth) for depth in depths])
    yield "summary/trees_n_leaves", 0, np.mean(leaves)
    yield "summary/trees_depth", 0, np.mean([max(depth) for depth in depths])


# ---- strength, calibration ---------------------------------------------------------------------


def strength(world):
    if world.bags is None:
        return
    twin, names = naive.residual_strength, RESIDUAL_STRENGTH
    if world.task == "classification":
        twin, names = naive.vote_strength, VOTE_STRENGTH
    for depth in range(world.n_depths):
        found = twin(world.trees, world.bags, *world.splits["train"], depth)
        for name, value in zip(names, found, strict=True):
            yield f"{name}/oob", depth, value


def calibration(world):
    if world.task != "classification":
        return
    for split in [name for name in (world.judged, "oob") if name in world.names]:
        rows = evenly(len(rows_of(world, split)[0]), 10 * world.most_rows)
        yield f"summary/rows_calibration_{split}", 0, len(rows)
        for combiner in COMBINERS:
            for depth in range(world.n_depths):
                truth, answers = answered(world, split, rows, depth=depth, combiner=combiner)
                found = naive.calibration(answers.tolist(), truth, BINS)
                if combiner != "vote" and rounding_decides(answers):
                    found = dict.fromkeys(found, EITHER)
                for name, part in CALIBRATION.items():
                    yield f"{name}/{split}_{combiner}", depth, found[part]


def rounding_decides(answers):
    """Between two classes, or in which bin one is? Not of shares of votes, which are exact."""
    second, first = np.sort(answers, axis=1)[:, -2:].T
    inner = answers[(answers > 0.5 / BINS) & (answers < 1 - 0.5 / BINS)] * BINS
    on_an_edge = np.abs(inner - inner.round()) < 1e-9
    return (first - second < 1e-9).any() or on_an_edge.any()


# ---- uncertainty -------------------------------------------------------------------------------


def held_out(world):
    """How many rows uncertainty is learned from, and the validation rows among them, if any."""
    valid = world.splits.get("valid")
    if world.bags is not None:
        able = sum((world.bags == 0).sum(axis=0) >= 2)
        return min(able, world.most_rows), None
    if valid is None:
        return 0, None
    seen = valid[1] >= 0 if world.task == "classification" else np.ones(len(valid[1]), bool)
    return min(seen.sum(), world.most_rows), (valid[0][seen], valid[1][seen])


def uncertainty(world, X):
    """Total, aleatoric, epistemic and spread of rows, (4, n); the first three may be NaN."""
    n_rows, valid = held_out(world)
    if n_rows >= LEAST_HELD_OUT:
        train = world.splits["train"]
        return naive_uncertainty.uncertainty(
            world.trees, world.task, train, valid, world.bags, X, NEIGHBOURS, REGION
        )
    spread = []
    for x in X:
        mean, within, between = naive_uncertainty.answers(world.trees, world.task, x)
        is_of_classes = world.task == "classification"
        spread.append(naive_uncertainty.entropy(mean) if is_of_classes else within + between)
    return np.array([np.full(len(X), np.nan)] * 3 + [spread])


def uncertainties(world):
    for split in ("valid", "test"):
        if split in world.splits:
            parts = uncertainty(world, world.splits[split][0])
            for name, values in zip(UNCERTAINTY, parts, strict=True):
                if not np.isnan(values).any():
                    yield f"summary/{name}_{split}", 0, np.mean(values)
    n_rows, valid = held_out(world)
    yield "summary/rows_uncertainty", 0, n_rows
    if n_rows >= LEAST_HELD_OUT:
        rows = world.splits["train"], valid, world.bags
        told = naive_uncertainty.learned(world.trees, world.task, *rows, NEIGHBOURS, REGION)
        yield "summary/aleatoric_margin", 0, told.margin


# ---- intervals and sets ------------------------------------------------------------------------


def looked_at(world):
    """The rows that are judged: numbers, X and truth."""
    X, truth = world.splits[world.judged]
    rows = evenly(len(X), world.most_rows)
    return rows, X[rows], truth[rows]


def tree_answers(world, x, told):
    """Each tree's mean, or its probability of the class that the forest tells."""
    found = [naive.said(tree, x, None, world.task) for tree in world.trees]
    if world.task == "regression":
        return np.array([naive.mean(node)[0] for node in found])
    return np.array([naive.posterior(node)[told] for node in found])


def variances(world):
    """The jackknife's raw and corrected variance of each row that is judged, (m, 2)."""
    rows, X, _ = looked_at(world)
    answers = [answer(world, world.judged, row) for row in rows]
    told = [list(p).index(max(p)) for p in answers]
    by_tree = [tree_answers(world, x, k) for x, k in zip(X, told, strict=True)]
    return np.array([naive.jackknife(world.bags, t, world.replace) for t in by_tree])


def is_known(raw, corrected):
    """Is a variance left, and not by rounding alone? That all trees agree is known, too."""
    return corrected > 1e-12 * raw or raw == 0


def jackknife(world):
    if world.bags is None or world.judged is None:
        return
    raw, corrected = variances(world).T
    known = [is_known(*pair) for pair in zip(raw, corrected, strict=True)]
    yield "summary/jackknife_negative_share", 0, 1 - np.mean(known)
    if any(known):
        yield "summary/jackknife_mean_sd", 0, np.mean(np.sqrt(corrected[known]))
    if corrected.mean() > 0:
        needed = len(world.trees) * (raw - corrected).mean() / corrected.mean()
        yield "summary/jackknife_trees_needed", 0, needed


def scores(world):
    """How badly each training row with an out-of-bag answer fits it."""
    truth, answers = answered(world, "oob")
    if world.task == "regression":
        return np.abs(truth - answers[:, 0])
    return [1 - p[k] for k, p in zip(truth, answers, strict=True)]


def sets(world, level):
    """method → a label set for each row that is judged."""
    answers = [answer(world, world.judged, row) for row in looked_at(world)[0]]
    found = {"posterior": [naive.credible_set(list(p), float(level)) for p in answers]}
    if world.bags is not None:
        most = naive.conformal_quantile(scores(world), level)
        # What is reached but for rounding is reached.
        found["conformal"] = [[1 - share <= most + 1e-9 for share in p] for p in answers]
    return found


def bands(world, level, rows=None, variance=None):
    """method → the two ends for each row that is judged, or for others; None where unknown.

    `variance` are the jackknife's pairs, raw and corrected, for those rows.
    """
    X = looked_at(world)[1] if rows is None else rows
    means = [naive.answer(world.trees, world.combiner, world.task, x)[0] for x in X]
    z = stats.norm.ppf((1 + float(level)) / 2)
    spreads = [sum(naive_uncertainty.answers(world.trees, world.task, x)[1:]) for x in X]
    found = {
        "trees": [(m - z * v**0.5, m + z * v**0.5) for m, v in zip(means, spreads, strict=True)]
    }
    if world.bags is not None:
        variance = variances(world) if variance is None else variance
        found["jackknife"] = [
            (m - z * v**0.5, m + z * v**0.5) if is_known(raw, v) else None
            for m, (raw, v) in zip(means, variance, strict=True)
        ]
        reach = naive.conformal_quantile(scores(world), level)
        found["conformal"] = [(m - reach, m + reach) for m in means]
    return found | {"quantiles": quantile_bands(world, level, X)}


def quantile_bands(world, level, X):
    train, y = world.splits["train"]
    held = np.ones((len(world.trees), len(y)), int) if world.bags is None else world.bags
    train_ends, tails = ends(world, train), [(1 - Fraction(level)) / 2, (1 + Fraction(level)) / 2]
    return [
        [naive.leaf_quantile(train_ends, held, y, column, tail) for tail in tails]
        for column in zip(*ends(world, X), strict=True)
    ]


def coverage(world):
    if world.judged is None:
        return
    truth = looked_at(world)[2]
    yield "summary/rows_intervals", 0, len(truth)
    for level in LEVELS:
        percent = int(Fraction(level) * 100)
        if world.task == "classification":
            found = sets(world, level)
            measure = set_measures
        else:
            found, measure = bands(world, level), band_measures
        for method, each in found.items():
            n_known, share, width = measure(each, truth)
            if percent <= 90:
                yield f"coverage/{method}", percent, share
            if np.isfinite(width) and percent <= 90:
                yield f"width/{method}", percent, width
            if level == LEVELS[0]:
                yield f"summary/rows_coverage_{method}", 0, n_known


def set_measures(each, truth):
    holds = [k >= 0 and held[k] for held, k in zip(each, truth, strict=True)]
    return len(each), np.mean(holds), np.mean([sum(held) for held in each])


def band_measures(each, truth):
    known = [(band, y) for band, y in zip(each, truth, strict=True) if band is not None]
    if not known:
        return 0, np.nan, np.nan
    holds = [low <= y <= high for (low, high), y in known]
    return len(known), np.mean(holds), np.mean([high - low for (low, high), _ in known])


# ---- which errors uncertainty finds ------------------------------------------------------------


def detection(world):
    if world.judged is None:
        return
    rows, X, truth = looked_at(world)
    answers = np.array([answer(world, world.judged, row) for row in rows])
    measures = dict(zip(UNCERTAINTY, uncertainty(world, X), strict=True))
    if world.task == "classification":
        measures["confidence"] = 1 - answers.max(axis=1)
    if world.bags is not None:
        measures["jackknife"] = variances(world)[:, 1]
    for name, values in measures.items():
        if np.isnan(values).any():
            continue
        values = without_rounding(values)
        if world.task == "classification":
            wrong = answers.argmax(axis=1) != truth
            yield f"summary/detection_{name}", 0, naive.chance_less_sure(values, wrong)
        else:
            error = np.abs(answers[:, 0] - truth)
            yield f"summary/detection_{name}", 0, stats.spearmanr(values, error).statistic


def without_rounding(values):
    """The values, those that are equal but for rounding being equal."""
    near = 1e-12 * max(abs(values))
    return np.array([min(v for v in values if abs(v - value) <= near) for value in values])


def permuted_rows(world):
    if world.bags is not None:
        yield "summary/rows_permutation", 0, max((counts == 0).sum() for counts in world.bags)


PARTS = (
    curves, by_trees, chosen, by_class, shapes, uncertainties, strength, calibration, coverage,
    jackknife, detection, permuted_rows, stopping,
)  # fmt: skip


def logged(world):
    """{(name, step): value} of a full study."""
    found = [one for part in PARTS for one in part(world)]
    numbers = {(name, step): value for name, step, value in found}
    assert len(numbers) == len(found)
    return numbers


# ---- repeated draws ----------------------------------------------------------------------------


def drawn(task, combiner, forests, X, expected, noise, y):
    """{(name, step): value} over forests, each a list of trees, grown on draws of their own.

    Probabilities have a column for each class, in the same order in all forests.
    """
    n_depths = max(naive.depths(nodes).max() for trees in forests for nodes, _ in trees) + 1
    found = {("summary/rows_draws", 0): len(forests)}
    for depth in range(n_depths):
        answers = np.array(
            [[naive.answer(trees, combiner, task, x, depth) for x in X] for trees in forests]
        )
        squared = squared_of(
            answers, np.reshape(expected, (len(X), -1)), noise, targets_of(y, expected)
        )
        found |= {(f"{name}/draws", depth): value for name, value in squared.items()}
        if task == "classification":
            labels = labels_of(answers.argmax(axis=2), expected, y)
            found |= {(f"labels_{name}/draws", depth): value for name, value in labels.items()}
    return found


def targets_of(y, expected):
    return np.eye(expected.shape[1])[y] if expected.ndim == 2 else y[:, None]


def squared_of(answers, expected, noise, targets):
    """Of (R, m, q) answers, numbers or probabilities, whose q parts add up."""
    parts = [
        [naive.squared_parts(answers[:, i, k], expected[i, k]) for k in range(expected.shape[1])]
        for i in range(len(expected))
    ]
    bias2, variance = np.sum(parts, axis=1).mean(axis=0)
    known = np.mean(noise)
    return {
        "bias2": bias2,
        "variance": variance,
        "noise": known,
        "expected_error": bias2 + variance + known,
        "measured_error": np.mean(((answers - targets) ** 2).sum(axis=2)),
    }


def labels_of(labels, posterior, y):
    parts = [naive.label_parts(labels[:, i], p) for i, p in enumerate(posterior)]
    names = "bias", "variance", "bias_effect", "variance_effect", "expected_error"
    found = dict(zip(names, np.mean(parts, axis=0), strict=True))
    noise = np.mean([1 - max(p) for p in posterior])
    return found | {"noise": noise, "measured_error": np.mean(labels != y)}
