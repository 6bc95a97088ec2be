"""Slow, obvious twins of the kernels.

Nothing here is fast or incremental: a split is a mask over raw values, and every impurity is
computed from scratch. Trees have the kernels' layout, so the two can be laid side by side.
"""

from fractions import Fraction
from itertools import combinations, pairwise, permutations
from typing import NamedTuple

import naive_categories as categories
import naive_learners as learners
import numpy as np
from scipy.stats import gaussian_kde

from forestlab.core.arrays import BOTH, LEAF, LEFT, NODE, RIGHT, SIDE, UNSEEN
from forestlab.core.options import Band, Histogram, Uniform, name_of

TIE = 16 * 2.0**-52  # scores this close, relative to rows × weight × impurity of a node, are equal

# ---- random numbers: SplitMix64's finaliser, on Python's integers ------------------------------

GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
SIDES = 0xD1B54A32D192ED03, 0xABC98388FB8FAC03
BAG = 0x8CB92BA72F3D8DD7
TREE_FEATURES = 0xF1357AEA2E62A9C5
NODE_FEATURES = 0xDB4F0B9175AE2165
PARAMETERS = 0xBBE0563303A4615F
THRESHOLDS = 0xA0761D6478BD642F
TIES = 0x8EBC6AF09C88C6E3


def wrap(number):
    """What 64 bits hold of a number."""
    return number & (2**64 - 1)


def mix(bits):
    bits = wrap((bits ^ (bits >> 30)) * MIX_1)
    bits = wrap((bits ^ (bits >> 27)) * MIX_2)
    return bits ^ (bits >> 31)


def tree_key(seed, tree):
    return mix(wrap(mix(wrap(seed + GOLDEN)) + GOLDEN * (tree + 1)))


def child_key(key, side):
    return mix(key ^ SIDES[side])


def stream(key, purpose):
    return mix(key ^ wrap(purpose))


def draw(key, i):
    return mix(wrap(key + GOLDEN * (i + 1)))


def draw_below(key, i, n):
    """The upper 32 bits, as a fraction of n."""
    return (draw(key, i) >> 32) * n >> 32


def draw_unit(key, i):
    """The upper 53 bits, as a fraction."""
    return (draw(key, i) >> 11) / 2**53


def draw_among(key, i, n):
    return int(draw_unit(key, i) * n)


def shuffled(items, key, draw_below=draw_below):
    """All items after a Fisher-Yates shuffle from the front."""
    items = list(items)
    for i in range(len(items)):
        j = i + draw_below(key, i, len(items) - i)
        items[i], items[j] = items[j], items[i]
    return items


# ---- what a tree sees --------------------------------------------------------------------------


def bag(key, n_rows, size, replace=True, drawn_by=None):
    """How often each row is drawn."""
    key = stream(key, BAG)
    if not replace:
        rows = shuffled(range(n_rows), key)[:size]
    elif drawn_by is None:
        rows = [draw_below(key, i, n_rows) for i in range(size)]
    else:
        reach = np.cumsum(drawn_by)
        rows = [int((reach <= draw_unit(key, i) * reach[-1]).sum()) for i in range(size)]
    return np.bincount(rows, minlength=n_rows)


def balance(labels, counts):
    """Factors that give each class in a bag the same total, and all rows together their number."""
    totals = {label: counts[labels == label].sum() for label in labels}
    n_present = sum(total > 0 for total in totals.values())
    even = counts.sum() / n_present
    return np.array([even / totals[label] if totals[label] else 0.0 for label in labels])


def tree_weights(key, y, recipe, weights, drawn_by):
    """The weight of each training row in a tree; 0 where it is not in the bag."""
    if not recipe.bag_size:
        return weights
    counts = bag(key, len(y), recipe.bag_size, recipe.replace, drawn_by)
    factors = [balance(column, counts) for column in y.T] if recipe.balance_bags else [1]
    return counts * weights * np.prod(factors, axis=0)


def tree_features(key, n_features, size):
    return sorted(shuffled(range(n_features), stream(key, TREE_FEATURES))[:size])


# ---- what a search can tell apart --------------------------------------------------------------


def bin_ends(column, mass, max_bins):
    """The greatest values of quantile bins: the k-th is the least value with k shares below. What
    is missing is in no bin."""
    column, mass = column[~np.isnan(column)], mass[~np.isnan(column)]
    values = np.unique(column[mass > 0])
    if len(values) <= max_bins:
        return values
    reach = np.array([mass[column <= value].sum() for value in values])
    ends = [values[reach * max_bins >= k * mass.sum()][0] for k in range(1, max_bins)]
    return np.unique([*ends, values[-1]])


def bin_bounds(column, mass, max_bins):
    """The smallest and the greatest value in each row's bin; NaN for a row of no mass or value."""
    ends = bin_ends(column, mass, max_bins)
    bins = np.where((mass > 0) & ~np.isnan(column), [(ends < value).sum() for value in column], -1)
    of_bin = {b: column[bins == b] for b in set(bins)} | {-1: np.array([np.nan])}
    return np.array([(of_bin[b].min(), of_bin[b].max()) for b in bins]).T


def bounds(X, mass, recipe, max_bins):
    """For each value of X the smallest and the greatest that the search takes for the same."""
    if not isinstance(recipe.search, Histogram) or learners.is_drawn(recipe.learner):
        return X, X
    levels = recipe.levels or [0] * X.shape[1]
    both = [
        (column, column) if n else bin_bounds(column, mass, max_bins)
        for column, n in zip(X.T, levels, strict=True)
    ]
    return np.stack([low for low, _ in both], axis=1), np.stack([high for _, high in both], axis=1)


def standard(X, mass):
    """The mean and the deviation of each column, in units of its greatest number; 0 and 1 if
    nothing is known of it."""
    found = []
    for column in X.T:
        known = (mass > 0) & ~np.isnan(column)
        if not known.any():
            found.append((0.0, 1.0))
            continue
        values, place = np.unique(column[known], return_inverse=True)
        seen = np.bincount(place, mass[known])
        seen = seen / seen.sum()
        size = float(np.abs(values).max()) or 1.0
        mean = float((values / size) @ seen)
        spread = float(np.sqrt((values / size - mean) ** 2 @ seen))
        found.append((mean * size, (spread if spread > 0 else 1.0) * size))
    return np.array(found).T


# ---- impurities of rows with targets y and weights w -------------------------------------------


def shares(y, w):
    """The share of each class that is there, of one target."""
    weights = np.bincount(y[:, 0].astype(int), w)
    return weights[weights > 0] / w.sum()


def gini(y, w):
    return 1 - (shares(y, w) ** 2).sum()


def entropy(y, w):
    return -(shares(y, w) * np.log(shares(y, w))).sum()


def entropy2(y, w):
    return -(shares(y, w) * np.log2(shares(y, w))).sum()


def misclassification(y, w):
    return 1 - shares(y, w).max()


def variance(y, w):
    return (w @ (y - w @ y / w.sum()) ** 2 / w.sum()).mean()


def gaussian(y, w, yardstick):
    """½ log det(2πe Σ), with the ridge."""
    apart = y - w @ y / w.sum()
    covariance = (apart * w[:, None]).T @ apart / w.sum() + np.diag(yardstick)
    return np.linalg.slogdet(2 * np.pi * np.e * covariance)[1] / 2


def absolute_error(y, w):
    """Mean distance from the median: the least value with half the weight up to it."""
    found = []
    for column in y.T:
        order = np.argsort(column)
        median = column[order][np.cumsum(w[order]) >= w.sum() / 2][0]
        found.append(w @ abs(column - median) / w.sum())
    return np.mean(found)


def poisson(y, w):
    """Half the deviance, Σ y log(y / mean) / weight; infinite where the mean is 0."""
    found = []
    for column in y.T:
        mean = w @ column / w.sum()
        seen = column > 0
        terms = column[seen] * np.log(column[seen] / mean)
        found.append(w[seen] @ terms / w.sum() if mean > 0 else np.inf)
    return np.mean(found)


class Grid(NamedTuple):
    origin: float
    step: float
    bandwidth: float


def grid_points(y, grids):
    """The point of each target next to it."""
    steps = [(column - grid.origin) / grid.step for column, grid in zip(y.T, grids, strict=True)]
    return np.floor(np.array(steps) + 0.5).T


def kde(y, w, grids):
    """The entropy of a sum of kernels, each of which sums to 1 on its grid of 64 points."""
    found = []
    for points, grid in zip(grid_points(y, grids).T, grids, strict=True):
        apart = (np.arange(64) - points[:, None]) * grid.step / grid.bandwidth
        kernels = np.where(abs(apart) <= 3 * (1 + 1e-12), np.exp(-(apart**2) / 2), 0)
        p = w @ (kernels / kernels.sum(axis=1, keepdims=True)) / w.sum()
        found.append(-(p[p > 0] @ np.log(p[p > 0])) + np.log(grid.step))
    return np.mean(found)


def gaussian_diagonal(y, w, yardstick):
    """½ log(2πe σ²) of each target, with the ridge."""
    variances = w @ (y - w @ y / w.sum()) ** 2 / w.sum() + yardstick
    return np.log(2 * np.pi * np.e * variances).sum() / 2


IMPURITIES = {
    "gini": gini,
    "entropy": entropy,
    "log_loss": entropy,
    "entropy2": entropy2,
    "misclassification": misclassification,
    "variance": variance,
    "squared_error": variance,
    "absolute_error": absolute_error,
    "poisson": poisson,
    "gaussian": gaussian,
    "kde": kde,
    "gaussian_diagonal": gaussian_diagonal,
}


def ridges(y, mass, n):
    """A millionth of each target's variance; 1 if it does not vary."""
    y, mass = y[mass > 0], mass[mass > 0]
    variance = mass @ (y - mass @ y / mass.sum()) ** 2 / mass.sum()
    return np.where((y == y[0]).all(axis=0), 1, 1e-6 * variance)


def grids(y, mass, n):
    """Of each target a grid over the range and 3 bandwidths, by Silverman's rule, to either side;
    and half a step more below."""
    found = []
    for column in y[mass > 0].T:
        of_rows = mass[mass > 0]
        order, span = np.argsort(column), column.max() - column.min()
        reach = np.cumsum(of_rows[order])
        first, third = (column[order][reach >= share * reach[-1]][0] for share in (1 / 4, 3 / 4))
        deviation = np.sqrt(variance(column[:, None], of_rows))
        width = 0.9 * min(deviation, (third - first) / 1.34 or np.inf) * n**-0.2 if span else 1.0
        width = max(width, span / 56.5)
        step = (span + 6 * width) / 62.5
        found.append(Grid(column.min() - 3 * width - step / 2, step, width))
    return found


# What a criterion knows of all training rows, with their mass and number.
YARDSTICKS = {"gaussian": ridges, "gaussian_diagonal": ridges, "kde": grids}


def yardstick_of(criterion, y, mass, n):
    return YARDSTICKS[criterion](y, mass, n) if criterion in YARDSTICKS else None


def impurity_of(criterion, y, w, yardstick):
    """Of several targets of classes the mean of theirs."""
    if criterion in OF_CLASSES:
        return np.mean([IMPURITIES[criterion](column[:, None], w) for column in y.T])
    known = () if yardstick is None else (yardstick,)
    return IMPURITIES[criterion](y, w, *known)


OF_CLASSES = "gini", "entropy", "log_loss", "entropy2", "misclassification"

# By what a tie of n rows is measured, if not by the impurity.
ROUNDINGS = {
    "gaussian": lambda n, n_targets: n_targets * (1 + 1e6 / n),
    "gaussian_diagonal": lambda n, n_targets: n_targets * (1 + 1e6 / n),
    "kde": lambda n, n_targets: np.log(64),
}


def tie_of(criterion, n, weight, impurity, n_targets):
    """How far apart scores may be and still be equal."""
    by = ROUNDINGS[criterion](n, n_targets) if criterion in ROUNDINGS else impurity
    if criterion in OF_CLASSES and n_targets > 1:
        by *= 1 + n_targets / n
    return TIE * n * weight * by


def stats_of(y, w, n_classes, classes_each=()):
    """The statistics that a node keeps; there are no classes in regression."""
    if classes_each:
        columns = zip(y.T.astype(int), classes_each, strict=True)
        return np.concatenate([np.bincount(column, w, n) for column, n in columns])
    if n_classes:
        return np.bincount(y[:, 0].astype(int), w, n_classes)
    mean = w @ y / w.sum()
    return np.array([w.sum(), *mean, *(w @ (y - mean) ** 2)])


def weighted_median(y, w, low, high):
    """The middle of all numbers that have at least half of the weight on either side, but for what
    rounding of its sum may part, which differs from one processor to another."""
    half = w.sum() * (0.5 - TIE * len(w))
    enough = [v for v in y if w[y <= v].sum() >= half and w[y >= v].sum() >= half]
    return (min(enough) + max(enough)) / 2


def density_peak(y, w, low, high, n_points=64):
    """The greatest density by scipy's estimate, no narrower than a step between the points."""
    if (y == y[0]).all():
        return y[0]
    density = gaussian_kde(y, weights=w)
    points, step = np.linspace(low, high, n_points, retstep=True)
    width = np.sqrt(density.covariance[0, 0])
    density.set_bandwidth(density.factor * min(max(width, step), high - low) / width)
    found = density(points)
    best = int(np.flatnonzero(found >= found.max() * (1 - TIE * len(y)))[0])
    if best in (0, n_points - 1):
        return points[best]
    bent, slope, _ = np.polyfit([-1, 0, 1], np.log(found[best - 1 : best + 2]), 2)
    return points[best] - step * slope / (2 * bent)


LEAVES = {
    "mean": lambda y, w, low, high: w @ y / w.sum(),
    "median": weighted_median,
    "mode": density_peak,
}


def answered(stats, problem, rows):
    """The statistics with what the node answers in the place of the means."""
    y, leaf = problem.y, LEAVES[problem.recipe.leaf]
    in_root = problem.whole > 0
    for k in range(0 if problem.recipe.n_classes else y.shape[1]):
        ends = y[in_root, k].min(), y[in_root, k].max()
        stats[1 + k] = leaf(y[rows, k], problem.weights[rows], *ends)
    return stats


UNBOUNDED = -np.inf, np.inf


def clipped(stats, bounds):
    """The statistics with the answer, a mean or the share of the second class, within bounds."""
    if len(stats) == 2:
        share = np.clip(stats[1] / stats.sum(), *bounds)
        return stats.sum() * np.array([1 - share, share])
    return np.array([stats[0], np.clip(stats[1], *bounds), stats[2]])


def free_answer(problem, rows):
    """What some rows answer without bounds."""
    y, w = problem.y[rows, 0], problem.weights[rows]
    return w @ (y == 1 if problem.recipe.n_classes else y) / w.sum()


def keeps_order(problem, rows, is_left, candidate, bounds):
    """Are the answers of a cut's sides within the node's bounds, and in order?"""
    sign = problem.recipe.monotonic[candidate] if problem.recipe.monotonic else 0
    if sign == 0:
        return True
    answers = [free_answer(problem, rows[side]) for side in (is_left, ~is_left)]
    greatest = 1 if problem.recipe.n_classes else abs(problem.y[rows]).max()
    slack = TIE * len(rows) * greatest
    within = bounds[0] - slack <= min(answers) and max(answers) <= bounds[1] + slack
    return within and sign * (answers[0] - answers[1]) <= slack


def bounds_below(problem, rows, is_left, candidate, bounds):
    """The bounds of the left and of the right child."""
    sign = problem.recipe.monotonic[candidate] if problem.recipe.monotonic else 0
    if sign == 0:
        return bounds, bounds
    answers = [free_answer(problem, rows[side]) for side in (is_left, ~is_left)]
    middle = float(np.clip(sum(answers) / 2, *bounds))
    low, high = (bounds[0], middle), (middle, bounds[1])
    return (low, high) if sign > 0 else (high, low)


def posterior(stats):
    """The class shares of a node."""
    return stats / stats.sum()


def mean(stats):
    """The targets' means in a node."""
    return stats[1 : 1 + len(stats) // 2]


# ---- growing -----------------------------------------------------------------------------------


class Problem(NamedTuple):
    """What one tree grows on. A cut is named by the greatest `high` on its left; NaN is missing."""

    low: np.ndarray
    high: np.ndarray
    y: np.ndarray
    weights: np.ndarray  # of rows in the node at hand
    features: list
    recipe: tuple
    yardstick: np.ndarray | None
    centre: np.ndarray
    scale: np.ndarray
    whole: np.ndarray  # weights of rows in the tree
    shares: np.ndarray  # how much of each row is in the node at hand


class Split(NamedTuple):
    """Rows whose greatest number lies in (low, high] go left."""

    score: float
    number: int  # of the candidate
    low: float
    high: float
    at: float | None  # where the cut lies, if that was drawn
    candidate: object
    missing: int  # the side of rows whose number is missing


def goes_left(values, low, high, side):
    """Which of some values go left, if missing ones go to that side."""
    return np.where(np.isnan(values), side == LEFT, (low < values) & (values <= high))


def enough_somehow(problem, rows, values, low, high, weigh):
    """Are enough on either side of a cut, whichever way missing rows go? Or, if they go both ways,
    of those that are known."""
    if problem.recipe.missing == "both":
        rows, values = rows[~np.isnan(values)], values[~np.isnan(values)]
    sides = [goes_left(values, low, high, side) for side in (LEFT, RIGHT)]
    return any(leaves_enough(problem, rows, is_left, weigh) for is_left in sides)


def leaves_enough(problem, rows, is_left, weigh):
    """Are enough rows, and if asked enough weight, on either side?"""
    settings, w = problem.recipe.settings, problem.weights
    sides = rows[is_left], rows[~is_left]
    weight = settings.min_weight_fraction_leaf * problem.whole.sum() if weigh else 0
    return all(len(s) >= settings.min_samples_leaf and w[s].sum() >= weight for s in sides)


def is_left(problem, rows, candidate, low, high, side=RIGHT):
    return goes_left(learners.numbers(problem, rows, candidate)[1], low, high, side)


def asks_known(problem, values):
    """May one ask whether these are known?"""
    return problem.recipe.missing == "learned" and np.isnan(values).any()


def every_cut(problem, rows, values, cuts):
    return [cut for cut in cuts if enough_somehow(problem, rows, values, -np.inf, cut, weigh=False)]


def boundary_cuts(problem, rows, values, cuts):
    """Not between rows that share one target, unless a limit on the leaves allows nothing beyond;
    any if some are missing."""
    if np.isnan(values).any():
        return every_cut(problem, rows, values, cuts)
    allowed = [cut for cut in cuts if leaves_enough(problem, rows, values <= cut, weigh=True)]
    limits = ({*allowed[:1]} - {*cuts[:1]}) | ({*allowed[-1:]} - {*cuts[-1:]})
    above = dict(pairwise(np.unique(values)))
    around = {cut: np.isin(values, [cut, above[cut]]) for cut in allowed}
    return [
        cut
        for cut in allowed
        if cut in limits or len(np.unique(problem.y[rows][around[cut]], axis=0)) > 1
    ]


SEARCHES = {"exact": every_cut, "histogram": every_cut, "boundary": boundary_cuts}


def varies(problem, rows, feature):
    """Do values differ, or are some of them missing but not all, if one may ask that?"""
    values = problem.high[rows, feature]
    asked = np.isnan(values) if asks_known(problem, values) else False
    return len(np.unique(values[~np.isnan(values) | asked])) > 1


def cuts(problem, rows, candidate, key, pick=None):
    """The cuts of a candidate that a node looks at, ascending: (low, high, where it lies or None);
    or the one that is picked by the node's draw of that number."""
    recipe, settings = problem.recipe, problem.recipe.settings
    if isinstance(recipe.learner, Band):
        return learners.bands(problem, rows, candidate, key, pick)
    if isinstance(recipe.search, Uniform):
        return learners.drawn_cuts(problem, rows, candidate, key, pick)
    values, number = learners.numbers(problem, rows, candidate)[1], learners.number_of(candidate)
    search = SEARCHES[name_of("search", recipe.search)]
    # The last is no cut, as nothing lies behind it, but what is missing if one may ask for that.
    known = np.unique(values[~np.isnan(values)])
    found = list(known if asks_known(problem, values) else known[:-1])
    found = search(problem, rows, values, found)
    if settings.n_thresholds:
        found = sorted(shuffled(found, stream(key, THRESHOLDS + number))[: settings.n_thresholds])
    found = [(-np.inf, cut, None) for cut in found]
    return found if pick is None else learners.picked(found, key, pick)


def weighted_impurity(problem, rows):
    y, w = problem.y[rows], problem.weights[rows]
    return w.sum() * impurity_of(problem.recipe.criterion, y, w, problem.yardstick)


def on_side(problem, rows, candidate, cut, side, bounds):
    """The split with missing rows on that side, if it leaves enough on both sides, in order."""
    low, high, at = cut
    goes = is_left(problem, rows, candidate, low, high, side)
    if not leaves_enough(problem, rows, goes, weigh=True):
        return []
    if not keeps_order(problem, rows, goes, candidate, bounds):
        return []
    left, right = rows[goes], rows[~goes]
    score = weighted_impurity(problem, left) + weighted_impurity(problem, right)
    if score == np.inf:
        return []
    return [Split(score, learners.number_of(candidate), low, high, at, candidate, side)]


def scored(problem, rows, parameters, tie, bounds):
    """The splits at (candidate, cut) that leave enough on both sides. Missing rows go to the side
    that makes the better one, right if both are as good; it has the better one's score. Or to that
    of the typical value, or to both."""
    splits = []
    for candidate, cut in parameters:
        is_missing = np.isnan(learners.numbers(problem, rows, candidate)[1])
        tried, seen = [RIGHT, LEFT] if is_missing.any() else [RIGHT], rows
        if is_missing.any() and problem.recipe.missing == "branch":
            tried = [typical_side(problem, rows, candidate, *cut)]
        if is_missing.any() and problem.recipe.missing == "both":
            tried, seen = [BOTH], rows[~is_missing]
        sides = []
        for side in tried:
            sides += on_side(problem, seen, candidate, cut, side, bounds)
        if sides:
            least = min(split.score for split in sides)
            if len(seen) < len(rows):
                least += weighted_impurity(problem, rows) - weighted_impurity(problem, seen)
            splits.append(near(sides, tie)[0]._replace(score=least))
    return splits


def typical_side(problem, rows, candidate, low, high, at):
    """The side of the mean, within rounding of which a cut is equal to it; of categories that of
    their mode."""
    if isinstance(candidate, categories.Levels):
        return categories.typical_side(problem, rows, candidate)
    values, w = learners.middles(problem, rows, candidate), problem.weights[rows]
    known = ~np.isnan(values)
    unit = abs(values[known]).max() or 1.0
    mean, slack = w[known] @ (values[known] / unit) / w[known].sum(), TIE * len(rows)
    cut_low = threshold(problem, rows, candidate, low)
    cut_high = threshold(problem, rows, candidate, high) if at is None else at
    above = low == -np.inf or mean > cut_low / unit + slack
    return LEFT if above and mean <= cut_high / unit + slack else RIGHT


def near(splits, tie):
    """The splits that are as good as the best."""
    least = min((split.score for split in splits), default=0)
    return [split for split in splits if split.score <= least + tie]


def by_candidate(splits):
    return [[s for s in splits if s.number == j] for j in sorted({s.number for s in splits})]


def best(splits, tie, key, random_ties):
    """The best split, or None: of candidates that are as good as any the first, or one by chance;
    of its cuts that are as good as any the lowest."""
    candidates = near([min(own, key=lambda s: s.score) for own in by_candidate(splits)], tie)
    if not candidates:
        return None
    rank = {s.number: draw(stream(key, TIES), s.number) for s in candidates}
    number = min(rank, key=rank.get) if random_ties else min(rank)
    own = [split for split in splits if split.number == number]
    place = {split: getattr(split.candidate, "place", 0) for split in own}
    return min(near(own, tie), key=lambda split: (split.low, split.high, place[split]))


def node_features(problem, rows, key):
    """max_features random ones, ascending, and as many more as it takes until one varies, or that
    many do."""
    n, features = problem.recipe.settings.max_features, problem.features
    n_wanted = 1 if problem.recipe.settings.count_constant else n
    if n >= len(features):
        return features
    order = shuffled(features, stream(key, NODE_FEATURES))
    while n < len(order) and sum(varies(problem, rows, j) for j in order[:n]) < n_wanted:
        n += 1
    return sorted(order[:n])


def questions(problem, rows, candidate, key, pick=None):
    """Each (candidate, cut) that a node looks at of a candidate; or one that is picked."""
    if categories.column_of(problem, candidate) is not None:
        return categories.sets(problem, rows, candidate, key, pick)
    return [(candidate, cut) for cut in cuts(problem, rows, candidate, key, pick)]


def node_parameters(problem, rows, key):
    """Every cut of every feature looked at."""
    features = node_features(problem, rows, key)
    return [asked for j in features for asked in questions(problem, rows, j, key)]


def random_parameters(problem, rows, key):
    """rho times a feature that varies and one of its cuts; a feature without cuts counts too."""
    parameters_key = stream(key, PARAMETERS)
    live, drawn, n_draws = list(problem.features), [], 0
    while len(drawn) < problem.recipe.settings.rho and live:
        place = draw_below(parameters_key, n_draws, len(live))
        if varies(problem, rows, live[place]):
            found = questions(problem, rows, live[place], key, n_draws + 1)
            drawn.append(found[0] if found else None)
        else:
            live[place] = live[-1]
            live.pop()
        n_draws += 2
    return [parameter for parameter in drawn if parameter]


def random_pairs(problem, rows, key):
    """rho of all pairs of a feature and one of its cuts, or all of them if these are fewer."""
    every = [asked for j in problem.features for asked in questions(problem, rows, j, key)]
    return shuffled(every, stream(key, PARAMETERS), draw_among)[: problem.recipe.settings.rho]


def drawn_parameters(problem, rows, key):
    """Every cut of each candidate that the node draws, or of rho candidates one cut each."""
    is_random = problem.recipe.settings.rho > 0
    return [
        asked
        for drawn in learners.candidates(problem, rows, key)
        for asked in questions(problem, rows, drawn, key, drawn.number if is_random else None)
    ]


def find_split(problem, rows, key, bounds):
    """The split of a node, or None."""
    settings = problem.recipe.settings
    draw_parameters = random_pairs if settings.pairs else random_parameters
    if not settings.rho:
        draw_parameters = node_parameters
    if learners.is_drawn(problem.recipe.learner):
        draw_parameters = drawn_parameters
    weight, n_targets = problem.weights[rows].sum(), problem.y.shape[1]
    impurity = weighted_impurity(problem, rows) / weight
    tie = tie_of(problem.recipe.criterion, len(rows), weight, impurity, n_targets)
    splits = scored(problem, rows, draw_parameters(problem, rows, key), tie, bounds)
    return best(splits, tie, key, settings.random_ties)


def pays(problem, rows, split):
    """Does a split lower the impurity enough?"""
    gain = max(weighted_impurity(problem, rows) - split.score, 0)
    return gain >= problem.recipe.settings.min_impurity_decrease * problem.whole.sum()


def may_split(problem, rows, depth):
    settings = problem.recipe.settings
    return (
        not pure(problem, rows)
        and depth < settings.max_depth
        and len(rows) >= settings.min_samples_split
        and len(rows) >= 2 * settings.min_samples_leaf
    )


def pure(problem, rows):
    """Are all rows the same to the criterion?"""
    y = problem.y[rows]
    seen = grid_points(y, problem.yardstick) if problem.recipe.criterion == "kde" else y
    return len(np.unique(seen, axis=0)) == 1


def threshold(problem, rows, candidate, cut):
    """The cut's lower neighbour, or the middle of both if wanted and if floats leave room; infinity
    if it parts what is known from what is not."""
    if cut == -np.inf:
        return cut
    if isinstance(candidate, categories.Levels):
        return np.inf  # that is in its bits
    low, high = learners.numbers(problem, rows, candidate)
    if not (high > cut).any():
        return np.inf
    a, b = cut, low[high > cut].min()
    middle = a / 2 + b / 2
    return middle if problem.recipe.settings.midpoint and a <= middle < b else a


def missing_side(problem, rows, split, left):
    """Where a missing value goes from now on: as those seen did, else to the heavier child, or to
    the side of the typical value, or to both."""
    if np.isnan(learners.numbers(problem, rows, split.candidate)[1]).any():
        return split.missing
    if problem.recipe.missing == "both":
        return UNSEEN + BOTH
    if problem.recipe.missing == "branch":
        cut = split.low, split.high, split.at
        return UNSEEN + typical_side(problem, rows, split.candidate, *cut)
    w = problem.weights[rows]
    ahead = w[~left].sum() - w[left].sum()
    return UNSEEN + (RIGHT if ahead > TIE * len(rows) * w.sum() else LEFT)


LEAST_PIECE = 1 / 64


def part_left(share, of_left):
    """How much of a share of a row goes left: pieces under a 64th of the row are not made."""
    if min(share * of_left, share * (1 - of_left)) < LEAST_PIECE:
        return 1.0 if of_left >= 0.5 else 0.0
    return of_left


def parts_left(problem, rows, candidate, left):
    """How much of each row goes left, if missing ones go both ways; and the share by which."""
    known, w = ~np.isnan(learners.numbers(problem, rows, candidate)[1]), problem.weights[rows]
    share = np.float32(w[known & left].sum() / w[known].sum())
    parts = [part_left(problem.shares[row], float(share)) for row in rows]
    return np.where(known, left, parts), share


def leaf(problem, rows):
    w = problem.weights[rows]
    impurity = weighted_impurity(problem, rows) / w.sum()
    plain = {"kind": LEAF, "missing": RIGHT, "spare": 0, "feature": -1, "left": -1, "right": -1}
    plain |= {"cut_low": -np.inf, "cut_high": np.inf, "params": -1, "bits": -1, "missing_share": 0}
    return plain | {"n_rows": len(rows), "weight": w.sum(), "impurity": impurity}


def grow_node(problem, rows, depth, key, nodes, stats, pools, bounds=UNBOUNDED):
    """Append a node and all below it, left before right."""
    node = leaf(problem, rows)
    nodes.append(node)
    classes = problem.recipe.n_classes, problem.recipe.classes_each
    of_rows = stats_of(problem.y[rows], problem.weights[rows], *classes)
    of_rows = answered(of_rows, problem, rows)
    stats.append(clipped(of_rows, bounds) if problem.recipe.monotonic else of_rows)
    split = find_split(problem, rows, key, bounds) if may_split(problem, rows, depth) else None
    if split is None or not pays(problem, rows, split):
        return
    _, _, low, high, at, candidate, side = split
    node |= learners.written(problem, candidate, *pools)
    node["cut_low"] = threshold(problem, rows, candidate, low)
    node["cut_high"] = threshold(problem, rows, candidate, high) if at is None else at
    left = is_left(problem, rows, candidate, low, high, side)
    node["missing"], parts = missing_side(problem, rows, split, left), left.astype(float)
    if problem.recipe.missing == "both":
        parts, node["missing_share"] = parts_left(problem, rows, candidate, left)
    below = (bounds, bounds)
    if problem.recipe.monotonic:
        below = bounds_below(problem, rows, left, candidate, bounds)
    for side, name, part in (0, "left", parts), (1, "right", 1 - parts):
        node[name] = len(nodes)
        here = depth + 1, child_key(key, side)
        pieces = in_part(problem, rows, part)
        grow_node(pieces, rows[part > 0], *here, nodes, stats, pools, below[side])


def in_part(problem, rows, parts):
    """The problem of a child that gets so much of each row."""
    weights, shares = problem.weights.copy(), problem.shares.copy()
    weights[rows] *= parts
    shares[rows] *= parts
    return problem._replace(weights=weights, shares=shares)


def grow_tree(X, y, recipe, seed, t, weights=None, drawn_by=None, max_bins=255):
    """Tree t of a forest: its nodes, their statistics and its pools of parameters and bits."""
    key, ones = tree_key(seed, t), np.ones(len(y))
    weights = ones if weights is None else weights
    mass = weights * (ones if drawn_by is None else drawn_by)
    in_tree = tree_weights(key, y, recipe, weights, drawn_by)
    features = tree_features(key, X.shape[1], recipe.features_per_tree or X.shape[1])
    seen = bounds(X, mass, recipe, max_bins)
    yardstick = yardstick_of(recipe.criterion, y, mass, weights.sum())
    standards = standard(X, mass)
    whole = in_tree, ones
    problem = Problem(*seen, y, in_tree, features, recipe, yardstick, *standards, *whole)
    nodes, stats, params, bits = [], [], [], []
    grow_node(problem, np.flatnonzero(in_tree > 0), 0, key, nodes, stats, (params, bits))
    records = np.array([tuple(node[name] for name in NODE.names) for node in nodes], NODE)
    return records, stats, params, bits


# ---- grown trees -------------------------------------------------------------------------------


def walk(nodes, x, depth=None, pools=((), ())):
    """The node where a row ends, or is at some depth."""
    i = 0
    while nodes[i]["kind"] != LEAF and depth != 0:
        number = learners.asked(nodes[i], *pools, x)
        cut_low, cut_high = nodes[i]["cut_low"], nodes[i]["cut_high"]
        left = goes_left(number, cut_low, cut_high, nodes[i]["missing"] & SIDE)
        i = int(nodes[i]["left" if left else "right"])
        depth = None if depth is None else depth - 1
    return i


def ends(nodes, x, depth=None, pools=((), ()), i=0, share=1.0):
    """{node: share} where a row ends, or is at some depth; it may be several. `pools` are the
    tree's parameters and bits."""
    node = nodes[i]
    if node["kind"] == LEAF or depth == 0:
        return {i: share}
    number = learners.asked(node, *pools, x)
    side = node["missing"] & SIDE
    part = float(goes_left(number, node["cut_low"], node["cut_high"], side))
    if np.isnan(number) and side == BOTH:
        part = part_left(share, float(node["missing_share"]))
    found = {}
    for name, share_there in ("left", share * part), ("right", share * (1 - part)):
        if share_there > 0:
            below = None if depth is None else depth - 1
            found |= ends(nodes, x, below, pools, int(node[name]), share_there)
    return found


def depths(nodes):
    """The depth of each node; a parent stands before its children."""
    found = np.zeros(len(nodes), int)
    for i, node in enumerate(nodes):
        if node["kind"] != LEAF:
            found[[node["left"], node["right"]]] = found[i] + 1
    return found


def cut(nodes, depth):
    """The tree without what lies below a depth, and the old numbers of its nodes."""
    kept = np.flatnonzero(depths(nodes) <= depth)
    place = np.full(len(nodes) + 1, -1)  # the last entry is where a leaf's -1 points
    place[kept] = np.arange(len(kept))
    upper = nodes[kept]
    upper["left"], upper["right"] = place[upper["left"]], place[upper["right"]]
    plain = {"kind": LEAF, "feature": -1, "cut_low": -np.inf, "cut_high": np.inf, "params": -1}
    plain |= {"missing": RIGHT, "missing_share": 0, "bits": -1}
    for field, value in plain.items():
        upper[field][upper["left"] < 0] = value
    return upper, kept


# ---- asking many trees -------------------------------------------------------------------------


def path(nodes, x):
    """The nodes that a row visits, from the root on."""
    return [walk(nodes, x, depth) for depth in range(depths(nodes)[walk(nodes, x)] + 1)]


def normalised(numbers):
    return np.array(numbers) / sum(numbers)


def average_classes(ends, roots, units, shares):
    return np.average([posterior(stats) for stats in ends], axis=0, weights=shares)


def product_classes(ends, roots, units, shares):
    """Each leaf gets one more row of its tree's mean weight, a part of it for each class."""
    extended = [
        ((stats + unit / len(stats)) / (stats.sum() + unit)) ** share
        for stats, unit, share in zip(ends, units, shares, strict=True)
    ]
    return normalised(np.prod(extended, axis=0))


def vote_classes(ends, roots, units, shares):
    winners = [list(stats).index(max(stats)) for stats in ends]
    votes = list(zip(winners, shares, strict=True))
    return normalised([sum(s for k, s in votes if k == own) for own in range(len(ends[0]))])


def average_means(ends, roots, units, shares):
    return np.average([mean(stats) for stats in ends], axis=0, weights=shares)


def product_means(ends, roots, units, shares):
    """Normal distributions multiplied; each leaf's variance gets one more row, of its root's."""
    n_targets = len(ends[0]) // 2
    precisions = [
        share * (end[0] + unit) / (end[1 + n_targets :] + unit * root[1 + n_targets :] / root[0])
        for end, root, unit, share in zip(ends, roots, units, shares, strict=True)
    ]
    return sum(p * mean(end) for p, end in zip(precisions, ends, strict=True)) / sum(precisions)


COMBINERS = {
    ("average", "classification"): average_classes,
    ("average", "regression"): average_means,
    ("product", "classification"): product_classes,
    ("product", "regression"): product_means,
    ("vote", "classification"): vote_classes,
}


def answer(trees, combiner, task, x, depth=None):
    """What trees, as (nodes, stats), say together of a row; each end counts by its share."""
    found = [
        (stats[i], stats[0], nodes[0]["weight"] / nodes[0]["n_rows"], share)
        for nodes, stats in trees
        for i, share in ends(nodes, x, depth).items()
    ]
    return COMBINERS[combiner, task](*map(list, zip(*found, strict=True)))


def said(tree, x, depth, task):
    """The statistics of where a row ends in a tree; of several ends those of their mixture, which
    has the weight 1: mean posteriors, or means and mean squared deviations from these."""
    nodes, stats = tree
    found = ends(nodes, x, depth)
    if len(found) == 1:
        return stats[next(iter(found))]
    shares, there = list(found.values()), stats[list(found)]
    if task == "classification":
        return shares @ (there / there.sum(axis=1, keepdims=True))
    k = len(stats[0]) // 2
    means, squares = there[:, 1 : 1 + k], there[:, 1 + k :] / there[:, :1]
    mixed = shares @ means
    return np.array([1.0, *mixed, *(shares @ (squares + (means - mixed) ** 2))])


def out_of_bag(trees, bags, combiner, task, X):
    """Each training row's answer from the trees whose bag has it not, and how many these are."""
    answers, voters = [], (np.array(bags) == 0).sum(axis=0)
    for row, x in enumerate(X):
        asked = [tree for tree, counts in zip(trees, bags, strict=True) if counts[row] == 0]
        nothing = np.full(len(answer(trees, combiner, task, x)), np.nan)
        answers.append(answer(asked, combiner, task, x) if asked else nothing)
    return np.array(answers), voters


def importances(nodes, n_features):
    """Each feature's share in what splits take from weight × impurity."""
    taken = np.zeros(n_features)
    for node in nodes:
        if node["kind"] != LEAF:
            three = [node, nodes[node["left"]], nodes[node["right"]]]
            here, left, right = (one["weight"] * one["impurity"] for one in three)
            taken[node["feature"]] += here - left - right
    return taken / taken.sum() if taken.any() else taken


# ---- made sets with a known truth --------------------------------------------------------------


def normal(x, centre, deviation=1.0):
    """The density of independent normals at a row."""
    each = np.exp(-(((x - centre) / deviation) ** 2) / 2) / (deviation * np.sqrt(2 * np.pi))
    return np.prod(each)


def wave(peak):
    """At 21 places, a triangle of height 6."""
    return np.array([max(6 - abs(place - peak), 0) for place in range(1, 22)])


def mixed_waves(x, first, second, n_nodes):
    """The density of a row that mixes two waves, over all shares by Gauss and Legendre's rule."""
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    shares = (nodes + 1) / 2
    return sum(
        weight / 2 * normal(x, share * first + (1 - share) * second)
        for share, weight in zip(shares, weights, strict=True)
    )


def class_densities(name, x, n_nodes=64):
    a = 2 / np.sqrt(20)
    if name == "twonorm":
        return [normal(x, a), normal(x, -a)]
    if name == "threenorm":
        alternating = np.array([a, -a] * 10)
        return [(normal(x, a) + normal(x, -a)) / 2, normal(x, alternating)]
    if name == "ringnorm":
        return [normal(x, 0, 2), normal(x, 1 / np.sqrt(20))]
    pairs = (7, 15), (7, 11), (15, 11)
    return [mixed_waves(x, wave(one), wave(other), n_nodes) for one, other in pairs]


# ---- bias and variance over draws --------------------------------------------------------------


def squared_parts(answers, expected):
    """Bias² and variance of one place's answers in R draws, numbers."""
    R = len(answers)
    mean = sum(answers) / R
    variance = sum((answer - mean) ** 2 for answer in answers) / (R - 1)
    return (mean - expected) ** 2 - variance / R, variance


def label_parts(labels, posterior):
    """Bias, variance, bias effect, variance effect and error of one place's labels in R draws."""
    counts = [list(labels).count(k) for k in range(len(posterior))]
    main = counts.index(max(counts))
    p_right = np.mean([posterior[label] for label in labels])
    return (
        float(posterior[main] < max(posterior)),
        np.mean([label != main for label in labels]),
        max(posterior) - posterior[main],
        posterior[main] - p_right,
        1 - p_right,
    )


# ---- uncertainty of many trees -----------------------------------------------------------------


def jackknife(bags, answers, replace=True):
    """Variance of the mean of (n_trees,) answers, raw and corrected (Wager et al. 2014)."""
    (n_trees, n_rows), t = bags.shape, answers - answers[0]
    t = t - t.mean()  # exactly 0 if all answers are equal
    raw = chance = 0.0
    for row in range(n_rows):
        n = bags[:, row] - bags[:, row].mean()
        raw += np.mean(n * t) ** 2
        chance += np.mean(n**2) * np.mean(t**2) / (n_trees - 1)
    size = bags[0].sum()
    factor = 1 if replace else (n_rows - 1) / n_rows * (n_rows / (n_rows - size)) ** 2
    return factor * raw, factor * (raw - chance)


def rank_of(level, n):
    """The least whole number that is at least level × n, the level being what it is written as."""
    return next(k for k in range(n + 1) if k >= Fraction(str(level)) * n)


def conformal_quantile(scores, level):
    return sorted([*scores, np.inf])[rank_of(level, len(scores) + 1) - 1]


def credible_set(p, level):
    """Of the smallest sets that are probable enough the most probable one, as a mask."""

    def probability(classes):
        return sum(Fraction(p[k]) for k in classes)

    for size in range(1, len(p) + 1):
        chosen = max(combinations(range(len(p)), size), key=probability)
        if probability(chosen) >= level - 1e-9:  # what is reached but for rounding is reached
            break
    return [k in chosen for k in range(len(p))]


def leaf_weights(train_ends, weights, ends):
    """The weight of each training row for a row that ends in a leaf of each tree, as fractions."""
    mean = [Fraction(0)] * len(train_ends[0])
    for of_rows, held, of_row in zip(train_ends, weights, ends, strict=True):
        for leaf, share in shares_in(of_row).items():
            parts = [Fraction(shares_in(there).get(leaf, 0)) for there in of_rows]
            inside = [int(w) * part for w, part in zip(held, parts, strict=True)]
            total = sum(inside)
            if total:
                inside = [Fraction(share) * w / total for w in inside]
                mean = [m + w if w else m for m, w in zip(mean, inside, strict=True)]
    return mean


def shares_in(end):
    """{leaf: share} of a row; a leaf alone has all of it."""
    return end if isinstance(end, dict) else {end: 1}


def leaf_quantile(train_ends, weights, y, ends, level):
    """The least target of some weight up to which the weights reach the level as it is written."""
    mean = leaf_weights(train_ends, weights, ends)
    some = [(m, there) for m, there in zip(mean, y, strict=True) if m]
    total = sum(m for m, _ in some)
    for _, target in sorted(some, key=lambda one: one[1]):
        reached = sum(m for m, there in some if there <= target)
        if reached >= Fraction(str(level)) * total:
            return target
    return np.nan


def chance_less_sure(uncertainty, wrong):
    """That a wrong row is less sure than a right one."""
    pairs = [(u, v) for u in uncertainty[wrong] for v in uncertainty[~wrong]]
    return np.mean([(u > v) + (u == v) / 2 for u, v in pairs]) if pairs else np.nan


# ---- the surface -------------------------------------------------------------------------------


def surface_cell(trees, bags, combiner, task, X, truth, depth, metric):
    """A metric of some trees cut at a depth, over the rows that any of them answers for; with bags
    a row asks only trees whose bag does not hold it."""
    answers, true = [], []
    for i, x in enumerate(X):
        asked = [tree for t, tree in enumerate(trees) if bags is None or not bags[t][i]]
        if asked:
            answers.append(answer(asked, combiner, task, x, depth))
            true.append(truth[i])
    if not true:
        return float("nan")
    return METRICS[metric](np.array(true), np.array(answers))


def _label(answers):
    return answers.argmax(axis=1)


def _p(truth, answers):
    return np.array([p[k] if k >= 0 else 0.0 for k, p in zip(truth, answers, strict=True)])


def _balanced(truth, answers):
    right = _label(answers) == truth
    return np.mean([right[truth == k].mean() for k in sorted(set(truth))])


def _f1(truth, answers):
    """Macro: the mean over all classes that are, or are answered."""
    labels, scores = _label(answers), []
    for k in sorted({*truth, *labels}):
        right = sum(1 for t, a in zip(truth, labels, strict=True) if t == a == k)
        precision = right / max(sum(labels == k), 1)
        recall = right / max(sum(truth == k), 1)
        scores.append(2 * precision * recall / (precision + recall) if right else 0.0)
    return sum(scores) / len(scores)


def _brier(truth, answers):
    total = 0.0
    for k, p in zip(truth, answers, strict=True):
        told = [float(j == k) for j in range(len(p))]
        total += sum((a - b) ** 2 for a, b in zip(p, told, strict=True)) + (k < 0)
    return total / len(truth)


METRICS = {
    "accuracy": lambda truth, answers: np.mean(_label(answers) == truth),
    "balanced_accuracy": _balanced,
    "f1": _f1,
    "log_loss": lambda truth, answers: (
        -np.mean(np.log(np.maximum(_p(truth, answers), np.finfo(float).eps)))
    ),
    "brier": _brier,
    "rmse": lambda truth, answers: np.sqrt(np.mean((answers[:, 0] - truth) ** 2)),
    "mae": lambda truth, answers: np.mean(np.abs(answers[:, 0] - truth)),
    "r2": lambda truth, answers: (
        1 - np.sum((answers[:, 0] - truth) ** 2) / np.sum((truth - truth.mean()) ** 2)
    ),
    "log_likelihood": lambda truth, answers: sum(answers[:, 0]) / len(truth),
}


def error_by_voters(voters, errors):
    """{number of voters: (rows, mean error)}"""
    found = {}
    for n in sorted(set(voters)):
        here = [error for v, error in zip(voters, errors, strict=True) if v == n]
        found[n] = (len(here), sum(here) / len(here))
    return found


# ---- calibration: row by row ------------------------------------------------------------------
# ---- calibration: row by row -------------------------------------------------------------------


def bin_of(p, n_bins):
    return next(b for b in range(n_bins) if p <= (b + 1) / n_bins)


def calibration(answers, truth, n_bins):
    """What `study.calibration` finds at one depth, by name, of (n, K) probabilities."""
    tops = [list(p).index(max(p)) for p in answers]
    places = [bin_of(p[top], n_bins) for p, top in zip(answers, tops, strict=True)]
    found = {"rows": [], "confidence": [], "accuracy": []}
    for b in range(n_bins):
        rows = [i for i, place in enumerate(places) if place == b]
        found["rows"].append(len(rows))
        mean_of = np.mean if rows else (lambda _: np.nan)
        found["confidence"].append(mean_of([answers[i][tops[i]] for i in rows]))
        found["accuracy"].append(mean_of([tops[i] == truth[i] for i in rows]))
    gaps = [abs(found["accuracy"][b] - found["confidence"][b]) for b in places]
    return found | {"ece": np.mean(gaps), "mce": max(gaps)} | brier_parts(answers, truth, n_bins)


def brier_parts(answers, truth, n_bins):
    """Brier's score and its parts, from the definition of each; unseen classes are a class more."""
    n, n_classes = np.shape(answers)
    names = ["brier", "reliability", "resolution", "uncertainty", "within_bins"]
    parts = dict.fromkeys(names, 0.0)
    for k in range(-1, n_classes):
        forecasts = [p[k] if k >= 0 else 0.0 for p in answers]
        came_true = [float(label == k) for label in truth]
        base = sum(came_true) / n
        parts["uncertainty"] += base * (1 - base)
        for b in range(n_bins):
            rows = [i for i in range(n) if bin_of(forecasts[i], n_bins) == b]
            if not rows:
                continue
            forecast = sum(forecasts[i] for i in rows) / len(rows)
            observed = sum(came_true[i] for i in rows) / len(rows)
            parts["reliability"] += len(rows) / n * (forecast - observed) ** 2
            parts["resolution"] += len(rows) / n * (observed - base) ** 2
            for i in rows:
                apart, luck = forecasts[i] - forecast, came_true[i] - observed
                parts["within_bins"] += (apart**2 - 2 * apart * luck) / n
                parts["brier"] += (forecasts[i] - came_true[i]) ** 2 / n
    return parts


# ---- how strong trees are, and how alike -------------------------------------------------------


def label(stats):
    """The first of the classes of greatest weight."""
    return list(stats).index(max(stats))


def rival_without(votes, truth, classes, *left_out):
    """The classes that are level as rivals of the true one by the votes but those left out."""
    heard = [v for i, v in enumerate(votes) if i not in left_out]
    counts = {k: heard.count(k) for k in classes if k != truth}
    return [k for k in counts if counts[k] == max(counts.values())]


def against(vote, truth, rival):
    """A voter's own margin: 1, -1 or 0 for the truth, the rival or neither."""
    return int(vote == truth) - int(vote == rival)


def own_margin(votes, truth, classes, i):
    """Of voter i, plain and fair: the rival is chosen by all, or also by the others.

    Where classes are level the voters' choice is any of them, and of all voters the first.
    """
    plain = against(votes[i], truth, next(iter(rival_without(votes, truth, classes)), None))
    others = rival_without(votes, truth, classes, i)
    fair = np.mean([against(votes[i], truth, j) for j in others]) if others else plain
    weight = (1 + 1 / np.sqrt(len(votes))) / 2
    return plain, weight * fair + (1 - weight) * plain


def mean_product(votes, truth, classes):
    """Of two different voters' own margins, the rival being chosen by all, or by the others."""
    first = next(iter(rival_without(votes, truth, classes)), None)
    weight, products = (1 + 1 / np.sqrt(len(votes))) / 2, []
    for i, k in permutations(range(len(votes)), 2):
        plain = against(votes[i], truth, first) * against(votes[k], truth, first)
        others = rival_without(votes, truth, classes, i, k)
        fair = [against(votes[i], truth, j) * against(votes[k], truth, j) for j in others]
        products.append(weight * (np.mean(fair) if others else plain) + (1 - weight) * plain)
    return np.mean(products)


def bounded(strength, variance, spreads):
    """Strength, correlation and the bound of the error."""
    correlation = variance / np.mean(spreads) ** 2 if np.mean(spreads) else np.nan
    bound = correlation * (1 - strength**2) / strength**2 if strength > 0 else np.nan
    return strength, correlation, bound


def vote_strength(trees, bags, X, y, depth):
    """Strength, correlation, bound, and mean and spread of the trees' errors, out of bag; and the
    first three without the correction for few voters."""
    classes, of_trees = range(len(trees[0][1][0])), {}
    plain, fair, products = [], [], []
    for row, x in enumerate(X):
        asked = [t for t, counts in enumerate(bags) if counts[row] == 0]
        votes = [label(said(trees[t], x, depth, "classification")) for t in asked]
        own = [own_margin(votes, y[row], classes, i) for i in range(len(votes))]
        for t, vote, margins in zip(asked, votes, own, strict=True):
            of_trees.setdefault(t, []).append((vote != y[row], *margins))
        if votes:
            plain.append(np.mean([margin for margin, _ in own]))
            fair.append(np.mean([margin for _, margin in own]))
        if len(votes) > 1:
            products.append(mean_product(votes, y[row], classes))
    errors = [np.mean([wrong for wrong, _, _ in rows]) for rows in of_trees.values()]
    # A margin between -1 and 0 is one of -1 with that chance: its variance is that of the chances.
    spreads = [spread_of([m for _, m, _ in rows]) for rows in of_trees.values()]
    fair_spreads = [spread_of([m for _, _, m in rows]) for rows in of_trees.values()]
    variance = np.mean(products) - np.mean(fair) ** 2 if products else np.nan
    return (
        *bounded(np.mean(fair), variance, fair_spreads),
        np.mean(errors),
        np.std(errors),
        *bounded(np.mean(plain), np.var(plain), spreads),
    )


def spread_of(margins):
    """Of margins that are 1, or -1 with the chance -m if they are m ≤ 0."""
    return np.sqrt(max(np.mean(np.abs(margins)) - np.mean(margins) ** 2, 0))


def residual_strength(trees, bags, X, y, depth):
    """Correlation, bound, mean and spread of the trees' squared errors, mean of their roots."""
    residuals = np.full((len(trees), len(X)), np.nan)
    for t, tree in enumerate(trees):
        for row in np.flatnonzero(bags[t] == 0):
            residuals[t, row] = y[row] - said(tree, X[row], depth, "regression")[1]
    errors = [np.mean(r[~np.isnan(r)] ** 2) for r in residuals if not np.isnan(r).all()]
    products = []
    for column in residuals.T:
        known = column[~np.isnan(column)]
        if len(known) > 1:
            products.append(np.mean([a * b for a, b in permutations(known, 2)]))
    correlation = np.mean(products) / np.mean(np.sqrt(errors)) ** 2
    bound = correlation * np.mean(errors)
    return correlation, bound, np.mean(errors), np.std(errors), np.mean(np.sqrt(errors))


# ---- what a tree loses -------------------------------------------------------------------------

PERMUTATION = 0xC6A4A7935BD1E995


def loss(stats, truth, task):
    if task == "classification":
        return int(label(stats) != truth)
    off = stats[1] - truth
    return off * off  # off**2 would be rounded otherwise now and then


def some_rows(counts, most):
    """Those not in a bag, or `most` of them, evenly spaced."""
    rows = np.flatnonzero(counts == 0)
    n = min(len(rows), most)
    return [rows[k * len(rows) // n] for k in range(n)]


def loss_increases(tree, X, y, rows, seed, t, task, n_repeats=1):
    """What tree t loses on some rows when they exchange their values of each feature."""
    increases = []
    for feature in range(X.shape[1]):
        total = 0.0
        for repeat in range(n_repeats):
            key = stream(stream(tree_key(seed, t), PERMUTATION + feature), repeat)
            for row, other in zip(rows, shuffled(rows, key), strict=True):
                x = X[row].copy()
                x[feature] = X[other, feature]
                new = loss(said(tree, x, None, task), y[row], task)
                total += new - loss(said(tree, X[row], None, task), y[row], task)
        increases.append(total / (len(rows) * n_repeats) if rows else np.nan)
    return increases
