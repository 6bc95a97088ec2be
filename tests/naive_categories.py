"""Slow, obvious twins of what is asked of categories: see naive.

A candidate about categories is `Levels`: a column and a set of its levels. As a number a level is 0
if it is in the set, and else 1, so that it is cut behind 0.
"""

from itertools import combinations
from typing import NamedTuple

import naive
import naive_learners as learners
import numpy as np

from forestlab.core.arrays import CATEGORY, LEFT, RIGHT
from forestlab.core.options import Uniform

KINDS = 0x1D8E4E27C47D124F
LEVELS = 0xEB44ACCAB455D165
EVERY = 8
STEPS = 24
CUT = -np.inf, 0.0, None
# Criteria by which no set is better than one that begins the order of one number.
IN_ORDER = "gini", "entropy", "log_loss", "entropy2", "misclassification"
IN_ORDER += "variance", "squared_error", "poisson"


class Levels(NamedTuple):
    number: int  # of the candidate
    column: int
    members: frozenset
    present: frozenset
    place: int  # of the set among those of the column


def column_of(problem, candidate):
    """The column of categories that a feature or what was drawn is; None: it is of numbers."""
    column = candidate.columns[0] if isinstance(candidate, learners.Drawn) else candidate
    return column if is_category(problem, column) else None


def is_category(problem, column):
    return bool(problem.recipe.levels) and problem.recipe.levels[column] > 0


# ---- drawing -----------------------------------------------------------------------------------


def draw_column(problem, rows, key, number):
    """The column of categories that the draw of a candidate hits, if it varies; else None."""
    key = naive.stream(key, KINDS + number)
    column = problem.features[naive.draw_below(key, 0, len(problem.features))]
    return column if column in open_columns(problem, rows) else None


def draw_open(problem, rows, key, number):
    """One of those that vary, where no numbers do."""
    found = open_columns(problem, rows)
    key = naive.stream(key, KINDS + number)
    return found[naive.draw_below(key, 1, len(found))] if found else None


def open_columns(problem, rows):
    own = [column for column in problem.features if is_category(problem, column)]
    return [column for column in own if naive.varies(problem, rows, column)]


# ---- which sets --------------------------------------------------------------------------------


def sets(problem, rows, candidate, key, pick=None):
    """The sets that a node looks at, each as (candidate, cut)."""
    column, number = column_of(problem, candidate), learners.number_of(candidate)
    values = problem.high[rows, column]
    known = rows[~np.isnan(values)]
    levels = sorted({int(value) for value in problem.high[known, column]})
    asks = naive.asks_known(problem, values)
    if not levels or (len(levels) == 1 and not asks):
        return []
    if isinstance(problem.recipe.search, Uniform):
        found = drawn_sets(problem, len(rows), levels, number, key, pick)
    else:
        found = listed_sets(problem, rows, known, column, levels) + ([{*levels}] if asks else [])
        found = dict(enumerate(found))
    present = frozenset(levels)
    asked = [Levels(number, column, frozenset(it), present, place) for place, it in found.items()]
    asked = [one for one in asked if is_enough(problem, rows, one)]
    if isinstance(problem.recipe.search, Uniform):
        return [(one, CUT) for one in asked]
    n_kept = problem.recipe.settings.n_thresholds
    if n_kept:
        some = naive.shuffled(range(len(asked)), naive.stream(key, naive.THRESHOLDS + number))
        asked = [asked[i] for i in sorted(some[:n_kept])]
    found = [(one, CUT) for one in asked]
    return found if pick is None else learners.picked(found, key, pick)


def is_enough(problem, rows, one):
    values = numbers(problem, rows, one)
    return naive.enough_somehow(problem, rows, values, -np.inf, 0.0, weigh=False)


def listed_sets(problem, rows, known, column, levels):
    if problem.recipe.categories == "equality":
        return [{level} for level in (levels if len(levels) > 2 else levels[:-1])]
    line = in_line(problem, rows, known, column, levels)
    if len(levels) <= EVERY and (line is None or problem.recipe.criterion not in IN_ORDER):
        return [
            {levels[g] for g in range(len(levels)) if mask >> g & 1}
            for mask in range(1, 2 ** (len(levels) - 1))
        ]
    values = along_component(problem, rows, known, column, levels) if line is None else line
    return beginnings(sorted(levels, key=lambda level: (values[level], level)))


def beginnings(order):
    return [{*order[: n + 1]} for n in range(len(order) - 1)]


def drawn_sets(problem, n_rows, levels, number, key, pick):
    """{place: set} of a level, or of the beginning of a random order, drawn; each once."""
    of_cuts = naive.stream(key, naive.THRESHOLDS + number)
    of_levels = naive.stream(key, LEVELS + number)
    settings = problem.recipe.settings
    places = [pick] if pick is not None else range(min(max(settings.n_thresholds, 1), n_rows))
    order = sorted(levels, key=lambda level: naive.draw(of_levels, level))
    choices = beginnings(order) or [{*levels}]
    if problem.recipe.categories == "equality":
        choices = [{level} for level in levels]
    drawn = {int(naive.draw_unit(of_cuts, place) * len(choices)) for place in places}
    return {i: choices[i] for i in sorted(drawn)}


# ---- orders ------------------------------------------------------------------------------------


def slots_of(problem, rows):
    """The order of classes in a node: the heaviest takes the first place, and that its place."""
    weights = naive.stats_of(problem.y[rows], problem.weights[rows], problem.recipe.n_classes)
    order, main = list(range(len(weights))), int(np.argmax(weights))
    order[0], order[main] = order[main], order[0]
    return order


def in_line(problem, rows, known, column, levels):
    """{level: number} of one target's mean, or of the share of one of two classes; else None."""
    y, w = problem.y, problem.weights
    if y.shape[1] > 1:
        return None
    of = {level: known[problem.high[known, column] == level] for level in levels}
    if not problem.recipe.n_classes:
        centre = w[rows] @ y[rows, 0] / w[rows].sum()
        return {g: w[own] @ (y[own, 0] - centre) / w[own].sum() for g, own in of.items()}
    present = [label for label in slots_of(problem, rows) if (y[known, 0] == label).any()]
    if len(present) > 2:
        return None
    return {g: w[own][y[own, 0] == present[-1]].sum() / w[own].sum() for g, own in of.items()}


def profiles_of(problem, rows, known, column, levels):
    """What the rows of each level contribute: class weights, or sums of targets about their means;
    and the weights of levels."""
    y, w = problem.y, problem.weights
    found, weights = [], []
    for level in levels:
        own = known[problem.high[known, column] == level]
        weights.append(w[own].sum())
        if problem.recipe.n_classes:
            found.append([w[own][y[own, 0] == k].sum() for k in slots_of(problem, rows)])
        else:
            centre = w[rows] @ y[rows] / w[rows].sum()
            found.append(w[own] @ (y[own] - centre))
    return np.array(found), np.array(weights)


def along_component(problem, rows, known, column, levels):
    """{level: number} along the first principal component, by the power iteration."""
    sums, weights = profiles_of(problem, rows, known, column, levels)
    apart = sums / weights[:, None] - sums.sum(axis=0) / weights.sum()
    direction = np.zeros(apart.shape[1])
    direction[np.argmax(weights @ apart**2)] = 1
    for _ in range(STEPS):
        turned = apart.T @ (weights * (apart @ direction))
        greatest = turned[np.argmax(abs(turned))]
        if greatest == 0:
            break
        direction = turned / greatest
    return dict(zip(levels, apart @ direction, strict=True))


# ---- questions ---------------------------------------------------------------------------------


def numbers(problem, rows, asked):
    """0 for a level of the set, 1 for another, NaN where it is missing."""
    values = problem.high[rows, asked.column]
    outside = ~np.isin(values, list(asked.members))
    return np.where(np.isnan(values), np.nan, outside.astype(float))


def typical_side(problem, rows, asked):
    """The side of the heaviest level; of equal ones the first."""
    values, w = problem.high[rows, asked.column], problem.weights[rows]
    mass = {level: w[values == level].sum() for level in asked.present}
    slack = naive.TIE * len(rows) * w[~np.isnan(values)].sum()
    mode = min(level for level in mass if mass[level] >= max(mass.values()) - slack)
    return LEFT if mode in asked.members else RIGHT


def written(problem, asked, bits):
    """What a node's record says; the levels that go left, and those that are there, join the
    pool."""
    start, n_words = len(bits), -(-problem.recipe.levels[asked.column] // 64)
    bits.append(n_words)
    for levels in asked.members, asked.present:
        whole = sum(1 << level for level in levels)
        bits += [whole >> 64 * word & (2**64 - 1) for word in range(n_words)]
    return {"kind": CATEGORY, "feature": asked.column, "bits": start}


def asked(node, bits, x):
    """0 for a level of the node's set, for another what is below any cut; NaN where it is missing,
    or no row of the node had it."""
    level, start = x[node["feature"]], node["bits"]
    if np.isnan(level):
        return np.nan
    n = int(bits[start])
    left, present = (
        sum(int(bits[start + 1 + part * n + word]) << 64 * word for word in range(n))
        for part in (0, 1)
    )
    if not present >> int(level) & 1:
        return np.nan
    return 0.0 if left >> int(level) & 1 else -np.inf


def subsets(levels):
    """All that part some levels in two, each once."""
    first, *others = sorted(levels)
    for n in range(len(others)):
        for more in combinations(others, n):
            yield {first, *more}
