"""Slow, obvious twins of the weak learners: see naive.

A candidate is a feature's number, or `Drawn`: columns and factors. `numbers` says what a candidate
makes of rows: the smallest and the greatest number that its search takes for the same.
"""

from itertools import pairwise
from typing import NamedTuple

import naive
import naive_categories as categories
import numpy as np

from forestlab.core.arrays import AXIS, CATEGORY, OBLIQUE, QUADRATIC
from forestlab.core.options import Axis, Band, Fitted, Oblique, Quadratic

COLUMNS = 0xE7037ED1A0B428DB
FACTORS = 0x589965CC75374CC3
TRIES = 16
SEGMENTS = 64
RIDGE = 1e-3
STEPS = 8


class Drawn(NamedTuple):
    number: int
    columns: tuple
    factors: tuple


def is_drawn(learner):
    return not isinstance(learner, Axis) and getattr(learner, "projection", "") != "axis"


def number_of(candidate):
    return candidate if isinstance(candidate, int | np.integer) else candidate.number


# ---- drawing -----------------------------------------------------------------------------------


def differs(problem, rows, column):
    """Do values differ, or are some of them missing but not all?"""
    return len(np.unique(problem.high[rows, column])) > 1


def draw_columns(problem, rows, n_terms, key):
    """Different columns of numbers that vary, uniform."""
    drawn, n_draws = [], 0
    features = [j for j in problem.features if not categories.is_category(problem, j)]
    for _ in range(n_terms):
        others = [
            column for column in features if differs(problem, rows, column) and column not in drawn
        ]
        if not others:
            break
        for _ in range(TRIES):
            place = naive.draw_below(key, n_draws, len(features))
            n_draws += 1
            if features[place] in others:
                drawn.append(features[place])
                break
        else:
            drawn.append(others[naive.draw_below(key, n_draws, len(others))])
            n_draws += 1
    return drawn


def uniform(key, i):
    return 2 * naive.draw_unit(key, i) - 1


def uniform_or_0(key, i):
    """0 if the number drawn is below a half, else uniform in [-1, 1)."""
    unit = naive.draw_unit(key, i)
    return 0.0 if unit < 0.5 else 2 * (2 * unit - 1) - 1


def sign(key, i):
    return -1.0 if naive.draw_unit(key, i) < 0.5 else 1.0


def oblique_factors(problem, rows, columns, key):
    draw = sign if problem.recipe.learner.weights == "signs" else uniform
    return [draw(key, k) / problem.scale[column] for k, column in enumerate(columns)]


def quadratic_factors(problem, rows, columns, key):
    """Centres, factors of columns, factors of products; drawn column by column. Whether a form is
    round is drawn last."""
    scale, linear, products, i = problem.scale, [], [], 0
    for a, column in enumerate(columns):
        linear.append(uniform_or_0(key, i) / scale[column])
        for b in range(a + 1):
            products.append((a, b, uniform(key, i + 1 + b)))
        i += 2 + a
    if naive.draw_unit(key, i) < 0.5:
        products = [(a, b, products[0][2] if a == b else 0.0) for a, b, _ in products]
    products = [factor / (scale[columns[a]] * scale[columns[b]]) for a, b, factor in products]
    return [*problem.centre[columns], *linear, *products]


def fitted_factors(problem, rows, columns, key):
    """The power iteration of S⁻¹ B, from the slot of which most is said."""
    X, y, w = problem.high[rows], problem.y[rows], problem.weights[rows]
    if problem.recipe.n_classes:
        T = np.hstack([column[:, None] == np.unique(column) for column in y.T]).astype(float)
    else:
        T = y - w @ y / w.sum()
    Z = (X[:, columns] - problem.centre[columns]) / problem.scale[columns]
    known = ~np.isnan(Z).any(axis=1)
    if not known.any():
        return [uniform(key, k) / problem.scale[column] for k, column in enumerate(columns)]
    weights, w, T, Z = w, w[known], T[known], Z[known]
    squares = w @ (Z**2).sum(axis=1)
    Z = Z - w @ Z / w.sum()
    S = Z.T @ (w[:, None] * Z)
    S += RIDGE * np.trace(S) / len(S) * np.eye(len(S))
    C, shares = Z.T @ (w[:, None] * T), w @ T**2
    shares[shares == 0] = np.inf  # of what no row is known there is nothing to say
    said = (C**2).sum(axis=0) / shares
    rounding = (naive.TIE * len(rows)) ** 2
    if (w @ Z**2).sum() <= rounding * squares or said.max() <= rounding * np.trace(S):
        return [uniform(key, k) / problem.scale[column] for k, column in enumerate(columns)]
    direction = np.linalg.solve(S, C[:, first_of_most(problem, y, weights, said)])
    for _ in range(STEPS):
        direction = direction / direction[np.abs(direction).argmax()]
        direction = np.linalg.solve(S, C @ (C.T @ direction / shares))
    direction = direction / direction[np.abs(direction).argmax()]
    return direction / problem.scale[columns]


def first_of_most(problem, y, w, said):
    """The first slot of which most is said. The heaviest class of each target comes first, and the
    first class in its place; of two classes as much is said."""
    order, first = list(range(len(said))), 0
    for column in y.T if problem.recipe.n_classes else ():
        weights = [w[column == label].sum() for label in np.unique(column)]
        heaviest = first + int(np.argmax(weights))
        order[first], order[heaviest] = order[heaviest], order[first]
        first += len(weights)
    return max(order, key=lambda slot: said[slot])


FACTORS_OF = {
    Oblique: oblique_factors,
    Band: oblique_factors,
    Quadratic: quadratic_factors,
    Fitted: fitted_factors,
}


def candidates(problem, rows, key):
    """Those that a node draws: rho of them, or max_features."""
    recipe = problem.recipe
    factors_of = FACTORS_OF[type(recipe.learner)]
    found = []
    for number in range(recipe.limits.rho or recipe.limits.max_features):
        alone = categories.draw_column(problem, rows, key, number)
        columns_key = naive.stream(key, COLUMNS + number)
        columns = draw_columns(problem, rows, recipe.learner.terms, columns_key)
        if alone is None and not columns:
            alone = categories.draw_open(problem, rows, key, number)
            if alone is None:
                break
        if alone is not None:
            found.append(Drawn(number, (alone,), ()))
            continue
        factors = factors_of(problem, rows, columns, naive.stream(key, FACTORS + number))
        found.append(Drawn(number, tuple(columns), tuple(map(float, factors))))
    return found


# ---- numbers -----------------------------------------------------------------------------------


def oblique(X, columns, factors):
    total = np.zeros(len(X))
    for column, factor in zip(columns, factors, strict=True):
        total = total + X[:, column] * factor
    return total


def quadratic(X, columns, factors):
    n = len(columns)
    total, j = np.zeros(len(X)), 2 * n
    for a in range(n):
        x_a = X[:, columns[a]] - factors[a]
        total = total + x_a * factors[n + a]
        for b in range(a + 1):
            total = total + x_a * ((X[:, columns[b]] - factors[b]) * factors[j])
            j += 1
    return total


def numbers(problem, rows, candidate):
    """The smallest and the greatest that the search takes for the same as each row's number."""
    if isinstance(candidate, categories.Levels):
        return (categories.numbers(problem, rows, candidate),) * 2
    if not isinstance(candidate, Drawn):
        return problem.low[rows, candidate], problem.high[rows, candidate]
    found = form_of(problem, rows, candidate)
    n_bins, known = getattr(problem.recipe.search, "bins", 0), ~np.isnan(found)
    if not 0 < n_bins < len(rows) or not known.any():
        return found, found
    least, greatest = found[known].min(), found[known].max()
    if least == greatest:
        return found, found
    per_stretch = n_bins / (greatest - least)
    bins = np.minimum(np.where(known, (found - least) * per_stretch, -1).astype(int), n_bins - 1)
    of_bin = {b: found[bins == b] for b in set(bins)}
    return np.array([(of_bin[b].min(), of_bin[b].max()) for b in bins]).T


def form_of(problem, rows, candidate):
    form = quadratic if isinstance(problem.recipe.learner, Quadratic) else oblique
    return form(problem.high[rows], candidate.columns, candidate.factors)


def middles(problem, rows, candidate):
    """The number of each row; of a bin its middle."""
    if isinstance(candidate, Drawn):
        return form_of(problem, rows, candidate)
    low, high = problem.low[rows, candidate], problem.high[rows, candidate]
    return np.where(low == high, low, low / 2 + high / 2)


# ---- cuts --------------------------------------------------------------------------------------


def drawn_cuts(problem, rows, candidate, key, pick):
    """As Geurts: (-inf, the greatest number below, where the cut lies); each split once."""
    found = numbers(problem, rows, candidate)[1]
    values, settings = np.unique(found[~np.isnan(found)]), problem.recipe.settings
    if len(values) < 2:
        only = [(-np.inf, value, np.inf) for value in values if naive.asks_known(problem, found)]
        return [cut for cut in only if naive.enough_somehow(problem, rows, found, *cut[:2], False)]
    key = naive.stream(key, naive.THRESHOLDS + number_of(candidate))
    places = [pick] if pick is not None else range(min(max(settings.n_thresholds, 1), len(rows)))
    asked = {}
    for unit in sorted(naive.draw_unit(key, place) for place in places):
        number = values[0] * (1 - unit) + values[-1] * unit
        below = values[:-1][values[:-1] <= number].max(initial=values[0])
        above = values[values > below].min()
        asked.setdefault(below, number if below <= number < above else below)
    return [
        (-np.inf, below, number)
        for below, number in asked.items()
        if naive.enough_somehow(problem, rows, found, -np.inf, below, weigh=False)
    ]


def places(problem, rows, candidate, key):
    """The numbers after which a cut of a band may lie: at most SEGMENTS - 1."""
    values = numbers(problem, rows, candidate)[1]
    values = values[~np.isnan(values)]
    groups = np.unique(values)
    found = list(groups[:-1])
    if len(groups) > SEGMENTS:
        segment = {v: (np.sum(values <= v) - 1) * SEGMENTS // len(values) for v in groups}
        found = [a for a, b in pairwise(groups) if segment[a] != segment[b]]
    n_kept = problem.recipe.settings.n_thresholds
    if n_kept:
        key = naive.stream(key, naive.THRESHOLDS + number_of(candidate))
        found = sorted(naive.shuffled(found, key)[:n_kept])
    return found


def bands(problem, rows, candidate, key, pick):
    """(low, high, None) of every band, or of the one that is picked; that of all that are known is
    among them, if one may ask for these."""
    ends, values = places(problem, rows, candidate, key), numbers(problem, rows, candidate)[1]
    pairs = [(low, high) for a, low in enumerate([-np.inf, *ends[:-1]]) for high in ends[a:]]
    if naive.asks_known(problem, values) and not np.isnan(values).all():
        pairs.append((-np.inf, values[~np.isnan(values)].max()))
    found = [
        (low, high, None)
        for low, high in sorted(pairs)
        if naive.enough_somehow(problem, rows, values, low, high, weigh=False)
    ]
    return found if pick is None else picked(found, key, pick)


def picked(found, key, pick):
    """One of several, by the node's draw of that number."""
    if not found:
        return []
    return [found[naive.draw_below(naive.stream(key, naive.PARAMETERS), pick, len(found))]]


# ---- nodes -------------------------------------------------------------------------------------


def written(problem, candidate, params, bits):
    """What a node's record says of a candidate, whose parameters or bits join the pools."""
    if isinstance(candidate, categories.Levels):
        return categories.written(problem, candidate, bits)
    if not isinstance(candidate, Drawn):
        return {"kind": AXIS, "feature": candidate}
    start, columns, factors = len(params), list(candidate.columns), candidate.factors
    scale, n = problem.scale[columns], len(columns)
    if isinstance(problem.recipe.learner, Quadratic):
        sizes, products = abs(scale * factors[n : 2 * n]), iter(factors[2 * n :])
        for a in range(n):
            for b in range(a + 1):
                sizes[[a, b]] += abs(scale[a] * scale[b] * next(products)) / 2 * (1 + (a == b))
        params += [n, *columns, *factors, *sizes / sizes.sum()]
        return {"kind": QUADRATIC, "params": start}
    params.append(n)
    for pair in zip(columns, factors, strict=True):
        params += pair
    sizes = abs(scale * factors)
    params += list(sizes / sizes.sum())
    return {"kind": OBLIQUE, "params": start}


def asked(node, params, bits, x):
    """The number that a node asks about."""
    if node["kind"] == AXIS:
        return x[node["feature"]]
    if node["kind"] == CATEGORY:
        return categories.asked(node, bits, x)
    pool = list(params[node["params"] :])
    n, X = int(pool[0]), np.asarray(x, float)[None]
    if node["kind"] == QUADRATIC:
        size = 2 * n + n * (n + 1) // 2
        return quadratic(X, [int(c) for c in pool[1 : 1 + n]], pool[1 + n : 1 + n + size])[0]
    return oblique(X, [int(c) for c in pool[1 : 2 * n : 2]], pool[2 : 2 * n + 1 : 2])[0]
