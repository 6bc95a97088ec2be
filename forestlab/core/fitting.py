"""Directions fitted to a node's rows: linear discriminants, and ridge regression.

Of the drawn columns, standardised and centred on the node's mean, let S be the sums of products of
two columns over the rows, and c_s, for each slot s of the targets (see criteria), the sums of
products of the columns with what rows contribute to s. The direction is that in which the columns
say most about the targets beside their own variance: the first eigenvector of S⁻¹ B, where
B = Σ c_s c_sᵀ / g_s and g_s is how much there is to say about s: the weight of a class, or the sum
of squares of a target. That is Fisher's discriminant of classes, and of one target its least
squares. S has a *ridge* added, a share of its mean diagonal. Rows that lack a value of the columns
have no say.

The eigenvector is found by power iteration, of as many steps each time: two classes or one target
need one. Columns that vary, or say something of the targets, only by rounding, as in an exclusive
or, get random factors.
"""

import numpy as np

from forestlab.core.jit import jitable
from forestlab.core.projections import draw_columns, draw_oblique
from forestlab.core.search import TIE

STEPS = 8  # of the power iteration
RIDGE = 1e-3  # of the mean diagonal


@jitable
def draw_fitted(plan, node, scratch, candidate):
    """Draw columns and fit their factors; returns whether any column varies."""
    n = draw_columns(plan, node, scratch, candidate)
    if n == 0:
        return False
    columns = scratch.projections.columns[candidate, :n]
    factors = scratch.projections.factors[candidate]
    n_slots = scratch.sums.shape[0]
    fit = scratch.projections.fit
    products = fit[: n * n].reshape(n, n)
    done = n * n
    crossed = fit[done : done + n_slots * n].reshape(n_slots, n)
    done += n_slots * n
    shares = fit[done : done + n_slots]
    done += n_slots
    mean, at = fit[done : done + n], fit[done + n : done + 2 * n]
    direction, turned = fit[done + 2 * n : done + 3 * n], fit[done + 3 * n : done + 4 * n]
    if not sum_products(plan, node, scratch, columns, mean, at, products, crossed, shares):
        return draw_oblique(plan, node, scratch, candidate)
    spread = 0.0
    for k in range(n):
        spread += products[k, k]
    rounding = TIE * node.rows.shape[0]
    if most_said(crossed, shares, n)[1] <= rounding * rounding * spread:
        return draw_oblique(plan, node, scratch, candidate)
    factorise(products, n)
    first_direction(products, crossed, shares, direction, n)
    for _ in range(STEPS):
        turn(products, crossed, shares, direction, turned, n)
    for k in range(n):
        factors[k] = direction[k] / plan.columns.scale[columns[k]]
    return True


@jitable
def value_of(plan, column, row):
    return plan.columns.lower[plan.columns.first[column] + plan.columns.codes[column, row]]


@jitable
def standardised(plan, column, row):
    return (value_of(plan, column, row) - plan.columns.centre[column]) / plan.columns.scale[column]


@jitable
def locate(plan, columns, row, at):
    """at[k] = the row's value of column k; says whether it has all of them."""
    known = True
    for k in range(columns.shape[0]):
        at[k] = standardised(plan, columns[k], row)
        known &= at[k] == at[k]
    return known


@jitable
def sum_products(plan, node, scratch, columns, mean, at, products, crossed, shares):
    """S with its ridge, c_s and g_s of the node's rows, but those that lack a value; says whether
    the columns vary there, by more than rounding. A row's weight is its first amount."""
    slots, amounts, n = scratch.slots, scratch.amounts, columns.shape[0]
    n_rows = node.rows.shape[0]
    weight, squares = 0.0, 0.0
    mean[:] = 0.0
    products[:] = 0.0
    crossed[:] = 0.0
    shares[:] = 0.0
    for i in range(n_rows):
        if locate(plan, columns, node.rows[i], at):
            weight += amounts[i, 0]
            for k in range(n):
                mean[k] += amounts[i, 0] * at[k]
                squares += amounts[i, 0] * at[k] * at[k]
    if weight == 0.0:
        return False
    for k in range(n):
        mean[k] /= weight
    for i in range(n_rows):
        if not locate(plan, columns, node.rows[i], at):
            continue
        for k in range(n):
            at[k] -= mean[k]
            for m in range(k + 1):
                products[k, m] += amounts[i, 0] * at[k] * at[m]
        for part in range(slots.shape[1]):
            slot, amount = slots[i, part], amounts[i, part]
            shares[slot] += amount * (amount / amounts[i, 0])
            for k in range(n):
                crossed[slot, k] += amount * at[k]
    spread, ridge = 0.0, 0.0
    for k in range(n):
        spread += products[k, k]
        ridge += RIDGE / n * products[k, k]
    for k in range(n):
        products[k, k] += ridge
    rounding = TIE * n_rows
    return spread > rounding * rounding * squares


@jitable
def factorise(products, n):
    """Cholesky: the lower triangle L of L Lᵀ, in place."""
    for k in range(n):
        for m in range(k):
            total = products[k, m]
            for j in range(m):
                total -= products[k, j] * products[m, j]
            products[k, m] = total / products[m, m]
        total = products[k, k]
        for j in range(k):
            total -= products[k, j] * products[k, j]
        products[k, k] = np.sqrt(max(total, 1e-300))


@jitable
def solve(lower, vector, n):
    """vector = (L Lᵀ)⁻¹ vector, scaled so that its greatest entry is 1; 0 stays 0."""
    for k in range(n):
        for j in range(k):
            vector[k] -= lower[k, j] * vector[j]
        vector[k] /= lower[k, k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            vector[k] -= lower[j, k] * vector[j]
        vector[k] /= lower[k, k]
    greatest = 0
    for k in range(1, n):
        if abs(vector[k]) > abs(vector[greatest]):
            greatest = k
    pivot = vector[greatest]
    if pivot != 0.0:
        for k in range(n):
            vector[k] /= pivot


@jitable
def most_said(crossed, shares, n):
    """The slot about which the columns say most, and how much: c_s² / g_s."""
    best, most = 0, -1.0
    for slot in range(shares.shape[0]):
        said = 0.0
        for k in range(n):
            said += crossed[slot, k] * crossed[slot, k]
        said = said / shares[slot] if shares[slot] > 0.0 else 0.0
        if said > most:
            best, most = slot, said
    return best, most


@jitable
def first_direction(lower, crossed, shares, direction, n):
    """S⁻¹ c_s of the slot about which the columns say most."""
    best = most_said(crossed, shares, n)[0]
    for k in range(n):
        direction[k] = crossed[best, k]
    solve(lower, direction, n)


@jitable
def turn(lower, crossed, shares, direction, turned, n):
    """direction = S⁻¹ B direction."""
    turned[:] = 0.0
    for slot in range(shares.shape[0]):
        if shares[slot] > 0.0:
            along = 0.0
            for k in range(n):
                along += crossed[slot, k] * direction[k]
            along /= shares[slot]
            for k in range(n):
                turned[k] += along * crossed[slot, k]
    solve(lower, turned, n)
    for k in range(n):
        direction[k] = turned[k]
