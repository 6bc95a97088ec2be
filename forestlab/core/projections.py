"""Projections: weak learners that turn several columns into one number.

A candidate is drawn: a few different columns that vary in the node, and *factors* that make one
number of them. All is drawn from the node's key and the candidate's number, and kept until the node
is done. The number of a row is computed as a walk computes it (see questions), to the bit, so that
rows reach the leaf that they grew into. How numbers become groups stands in `local_keys`.

Columns are *standardised* by the training rows (see Columns): factors are drawn, or fitted, for
columns of mean 0 and deviation 1, so that units do not matter.
"""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import OBLIQUE, QUADRATIC
from forestlab.core.bits import has_bit, set_bit
from forestlab.core.jit import jitable
from forestlab.core.rng import COLUMNS, FACTORS, draw_below, draw_unit, stream

TRIES = 16  # draws among all columns, until those that vary are listed
BLOCK = 16  # rows that are looked at together


class Projections(NamedTuple):
    """Scratch of one thread."""

    columns: np.ndarray  # (n_candidates, n_terms) int64: drawn for each candidate; -1: no more
    factors: np.ndarray  # (n_candidates, n_factors) float64
    numbers: np.ndarray  # (n,) float64: of the candidate at hand, a row each
    sorted: np.ndarray  # (n,) float64
    spare: np.ndarray  # (n,) float64
    varying: np.ndarray  # (n_features,) int64
    fit: np.ndarray  # float64: sums that a direction is fitted to, or sizes of factors
    params: np.ndarray  # float64: the growing tree's pool
    n_params: np.ndarray  # (1,) int64: how much of it is used


def make_projections(
    n_rows: int, n_features: int, n_candidates: int, n_terms: int, n_factors: int, n_slots: int,
    most_nodes: int,
) -> Projections:  # fmt: skip
    return Projections(
        np.empty((n_candidates, n_terms), np.int64),
        np.empty((n_candidates, n_factors)),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(n_features, np.int64),
        np.empty(n_terms * (2 * n_terms + n_slots + 4) + n_slots),
        np.empty(most_nodes // 2 * (1 + 2 * n_terms + n_factors)),
        np.zeros(1, np.int64),
    )


# ---- drawing -----------------------------------------------------------------------------------


@jitable
def varies(plan, node, column):
    """Whether a column varies in the node; one that does not is noted.

    Rows are looked at in blocks without a branch. One by one, this was a quarter of the time of
    growing trees on images, most of whose columns hardly vary in small nodes.
    """
    if has_bit(node.constant, column):
        return False
    codes, rows = plan.columns.codes[column], node.rows
    n_rows, first = rows.shape[0], codes[rows[0]]
    for start in range(1, n_rows, BLOCK):
        differs = False
        for i in range(start, min(start + BLOCK, n_rows)):
            differs |= codes[rows[i]] != first
        if differs:
            return True
    set_bit(node.constant, column)
    return False


@jitable
def is_among(columns, n, column):
    found = False
    for k in range(n):
        found |= columns[k] == column
    return found


@jitable
def list_others(plan, node, drawn, n_drawn, others):
    """List the columns that vary and are not drawn yet; return how many."""
    n = 0
    for k in range(node.features.shape[0]):
        column = node.features[k]
        if varies(plan, node, column) and not is_among(drawn, n_drawn, column):
            others[n] = column
            n += 1
    return n


@jitable
def draw_columns(plan, node, scratch, candidate):
    """Draw a candidate's columns, uniform among those that vary; return how many there are."""
    drawn, others = scratch.projections.columns[candidate], scratch.projections.varying
    key = stream(node.key, COLUMNS + np.uint64(candidate))
    n_features, n_draws = node.features.shape[0], 0
    for k in range(drawn.shape[0]):
        drawn[k] = -1
    for k in range(drawn.shape[0]):
        tries = 0
        while drawn[k] < 0 and tries < TRIES:
            column = node.features[draw_below(key, n_draws, n_features)]
            n_draws += 1
            tries += 1
            if not is_among(drawn, k, column) and varies(plan, node, column):
                drawn[k] = column
        if drawn[k] < 0:
            n_others = list_others(plan, node, drawn, k, others)
            if n_others == 0:
                return k
            drawn[k] = others[draw_below(key, n_draws, n_others)]
            n_draws += 1
    return drawn.shape[0]


@jitable
def draw_factor(key, i, signs):
    """Uniform in [-1, 1), or -1 or 1."""
    unit = draw_unit(key, i)
    if signs:
        return -1.0 if unit < 0.5 else 1.0
    return 2.0 * unit - 1.0


@jitable
def draw_oblique(plan, node, scratch, candidate):
    """A sum of the columns, each with a factor; returns whether any varies."""
    n = draw_columns(plan, node, scratch, candidate)
    columns, factors = scratch.projections.columns[candidate], scratch.projections.factors
    key = stream(node.key, FACTORS + np.uint64(candidate))
    for k in range(n):
        factor = draw_factor(key, k, plan.settings.signs)
        factors[candidate, k] = factor / plan.columns.scale[columns[k]]
    return n > 0


@jitable
def draw_quadratic(plan, node, scratch, candidate):
    """A form of degree 2; its factors are centres, those of columns, those of their products.

    A column's own factor is 0 as often as not, and half of the forms are *round*: all squares have
    one factor, and mixed products none. Were all factors drawn freely, hardly a form would be a
    circle: of 1,000 the best parted a disc from the rest with 90 % of rows right, of these 98 %.
    """
    n = draw_columns(plan, node, scratch, candidate)
    columns, factors = scratch.projections.columns[candidate], scratch.projections.factors
    centre, scale = plan.columns.centre, plan.columns.scale
    key = stream(node.key, FACTORS + np.uint64(candidate))
    is_round = draw_unit(key, n_products(n) + n) < 0.5
    of_squares = draw_factor(key, 1, False)
    j = 2 * n
    for a in range(n):
        factors[candidate, a] = centre[columns[a]]
        unit = draw_unit(key, n_products(a) + a)
        own = 0.0 if unit < 0.5 else 4.0 * unit - 3.0
        factors[candidate, n + a] = own / scale[columns[a]]
        for b in range(a + 1):
            factor = draw_factor(key, n_products(a) + a + 1 + b, False)
            if is_round:
                factor = of_squares if a == b else 0.0
            factors[candidate, j] = factor / (scale[columns[a]] * scale[columns[b]])
            j += 1
    return n > 0


@jitable
def n_products(n):
    """Of two of n columns, the same one twice among them."""
    return n * (n + 1) // 2


# ---- numbers -----------------------------------------------------------------------------------


@jitable
def n_drawn(projections, candidate):
    n = 0
    while n < projections.columns.shape[1] and projections.columns[candidate, n] >= 0:
        n += 1
    return n


@jitable
def values_of(columns, column):
    """A column's codes, and the values that they stand for."""
    return columns.codes[column], columns.lower[columns.first[column] :]


@jitable
def oblique_numbers(plan, node, scratch, candidate):
    """The candidate's number of each row, column by column."""
    projections, numbers, rows = scratch.projections, scratch.projections.numbers, node.rows
    n_rows = rows.shape[0]
    numbers[:n_rows] = 0.0
    for k in range(n_drawn(projections, candidate)):
        codes, values = values_of(plan.columns, projections.columns[candidate, k])
        factor = projections.factors[candidate, k]
        for i in range(n_rows):
            numbers[i] += values[codes[rows[i]]] * factor


@jitable
def quadratic_numbers(plan, node, scratch, candidate):
    """The candidate's number of each row, product by product."""
    projections, numbers, rows = scratch.projections, scratch.projections.numbers, node.rows
    columns, factors = projections.columns[candidate], projections.factors[candidate]
    n, n_rows = n_drawn(projections, candidate), rows.shape[0]
    numbers[:n_rows] = 0.0
    j = 2 * n
    for a in range(n):
        codes_a, values_a = values_of(plan.columns, columns[a])
        centre_a, linear = factors[a], factors[n + a]
        for i in range(n_rows):
            numbers[i] += (values_a[codes_a[rows[i]]] - centre_a) * linear
        for b in range(a + 1):
            codes_b, values_b = values_of(plan.columns, columns[b])
            centre_b, factor = factors[b], factors[j]
            for i in range(n_rows):
                x_a = values_a[codes_a[rows[i]]] - centre_a
                x_b = values_b[codes_b[rows[i]]] - centre_b
                numbers[i] += x_a * (x_b * factor)
            j += 1


# ---- records -----------------------------------------------------------------------------------


@jitable
def put(projections, number):
    """Add a number to the tree's pool."""
    projections.params[projections.n_params[0]] = number
    projections.n_params[0] += 1


@jitable
def write_cuts(projections, question, record):
    record["params"] = projections.n_params[0]
    record["cut_low"] = question.cut_low
    record["cut_high"] = question.cut_high


@jitable
def put_shares(projections, sizes, n):
    """Add what each of n columns has to do with the number, in shares that add up to 1."""
    total = 0.0
    for k in range(n):
        total += sizes[k]
    for k in range(n):
        put(projections, sizes[k] / total if total > 0.0 else 1.0 / n)


@jitable
def oblique_write(plan, scratch, question, record):
    """A column's share goes by its factor, as that of the standardised column."""
    projections, candidate = scratch.projections, question.candidate
    columns, factors = projections.columns[candidate], projections.factors[candidate]
    write_cuts(projections, question, record)
    record["kind"] = OBLIQUE
    n, sizes = n_drawn(projections, candidate), projections.fit
    put(projections, n)
    for k in range(n):
        put(projections, columns[k])
        put(projections, factors[k])
        sizes[k] = abs(factors[k]) * plan.columns.scale[columns[k]]
    put_shares(projections, sizes, n)


@jitable
def quadratic_write(plan, scratch, question, record):
    """A column's share goes by its factor and those of its products, half for each of two."""
    projections, candidate = scratch.projections, question.candidate
    columns, factors = projections.columns[candidate], projections.factors[candidate]
    scale = plan.columns.scale
    write_cuts(projections, question, record)
    record["kind"] = QUADRATIC
    n, sizes = n_drawn(projections, candidate), projections.fit
    put(projections, n)
    for a in range(n):
        put(projections, columns[a])
    for j in range(2 * n + n_products(n)):
        put(projections, factors[j])
    j = 2 * n
    for a in range(n):
        sizes[a] = abs(factors[n + a]) * scale[columns[a]]
        for b in range(a + 1):
            size = abs(factors[j]) * scale[columns[a]] * scale[columns[b]]
            sizes[a] += size / 2
            sizes[b] += size / 2
            j += 1
    put_shares(projections, sizes, n)
