"""How strong the trees are, and how alike: what a forest's error is bounded by.

Everything is measured on out-of-bag rows, at every depth, after Breiman, Random Forests (2001):
sections 2.2 and 11, and appendix II for the *plain* estimates. All is said of ever more trees of
the kind, to which the bounds apply too; the out-of-bag error of few voters may lie above.

The plain estimates of votes are those of ever more trees only if there are many. What is taken off:

*Chance of the voters.* A row's margin m from M voters scatters about that of ever more, and the
variance of margins over rows holds this scatter: with two classes (1 - m²) / (M - 1), the share of
a tree's variance that a mean of M has. So the square of a margin is taken as the mean product of
two different voters' own margins (1, -1 or 0), as it is done for residuals.

*Choice of the rival.* With three classes or more the voters also choose whom their votes are
compared with, and the class that got most is likely to have got more than it will. If each voter
is compared with the rival that the others choose, the error is on the other side: they may choose
a class that is not the rival in the end. Of many voters both errors are of order 1/M, and cancel
where any small difference between two classes is as likely as any other: a difference δ, measured
with deviation σ, adds σ φ(δ/σ) - |δ| Φ(-|δ|/σ) to the greater share, and takes |δ| Φ(-|δ|/σ) from
that of the class which others choose; over all δ both are σ²/2. Of one voter only the second says
anything. So the second has the weight (1 + 1/√M) / 2, in strength and correlation alike.

What remains with several classes: the strength of few trees is a little high, and the correlation
may be off to either side, by about what one forest differs from the next. Measured with one random
cut a node on digits (10 classes), mean and standard deviation of forests of 10, 25, 100 and 400
trees: correlation 0.09 ± 0.014, 0.103 ± 0.008, 0.108 ± 0.002 and 0.108 ± 0.001, where the plain
estimates are 0.37, 0.17, 0.12 and 0.11; strength 0.52, 0.51, 0.51 and 0.51, plain 0.37, 0.44, 0.49
and 0.50. With two classes there is no choice, and so no such error at any size.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Forest, n_trees
from forestlab.core.strength import (
    Residuals,
    Votes,
    empty_residuals,
    empty_votes,
    make_tile,
    residuals_kernel,
    votes_kernel,
)
from forestlab.core.tasks import TASKS
from forestlab.core.walk import TILE, make_frontier, walk_for
from forestlab.forest import BLOCK_NUMBERS, by_fixed_blocks
from forestlab.study.part import About, Files, Findings, Look, Number, Part, steps


class VoteStrength(NamedTuple):
    """Of a classification forest cut at depth 0 … D - 1; each (D,), NaN if no row was left out.

    A row's *margin* is the share of its voters for the true class less the share for its rival,
    the class, of the others, that has most. Votes are those of the trees that left the row out.
    """

    strength: np.ndarray  # mean margin, -1 … 1
    # Variance of margins / (mean s.d. of a tree's own margin)². By the chance of few trees it may
    # be a little below 0; NaN if no row has two voters, or trees' own margins do not vary.
    correlation: np.ndarray
    bound: np.ndarray  # of the error: correlation × (1 - s²) / s²; NaN unless the strength s > 0
    tree_error: np.ndarray  # mean over trees of the share of wrong votes
    tree_error_std: np.ndarray  # and its standard deviation over trees
    strength_plain: np.ndarray  # the same three as Breiman estimates them
    correlation_plain: np.ndarray
    bound_plain: np.ndarray


class ResidualStrength(NamedTuple):
    """Of a regression forest cut at depth 0 … D - 1; each (D,), NaN if no row was left out."""

    correlation: np.ndarray  # of two trees' residuals, weighted by the trees' errors
    bound: np.ndarray  # of the forest's mean squared error: correlation × tree_mse
    tree_mse: np.ndarray  # mean over trees of their mean squared errors
    tree_mse_std: np.ndarray  # and its standard deviation over trees
    tree_rmse: np.ndarray  # mean over trees of the roots of these


def strength(
    forest: Forest, task: str, X, truth, n_depths: int, outside, n_jobs: int = 1
) -> VoteStrength | ResidualStrength:
    """How strong and how correlated a forest's trees are, at depth 0 … n_depths - 1.

    Parameters
    ----------
    X : (n_rows, n_features) the training rows
    truth : (n_rows,) class codes, or numbers; one target
    outside : (n_trees, …) packed bits from `rows_outside`
    """
    measure = of_votes if TASKS[task].has_classes else of_residuals
    return measure(forest, X, truth, n_depths, outside, n_jobs)


# ---- classification ----------------------------------------------------------------------------


def of_votes(forest: Forest, X, truth, n_depths: int, outside, n_jobs: int = 1) -> VoteStrength:
    """Strength and correlation by out-of-bag votes.

    A thread holds the votes of all trees at all depths for as many rows at a time (128 at most, one
    at least) as keeps them and their counts within BLOCK_NUMBERS four-byte numbers, 8 MB.
    """
    labels = TASKS["classification"].values(forest.stats)
    codes = np.asarray(truth).astype(np.int32)
    row_numbers = n_depths * (n_trees(forest) + forest.stats.shape[1])
    tile_rows = int(np.clip(BLOCK_NUMBERS // row_numbers, 1, TILE))

    # Made here, before threads would each make one.
    walk = walk_for(forest, X)
    count_votes = votes_kernel(walk)

    def count(rows: slice, block: np.ndarray) -> Votes:
        votes = empty_votes(n_depths, n_trees(forest))
        tile = make_tile(n_depths, n_trees(forest), tile_rows, forest.stats.shape[1])
        count_votes(
            forest, make_frontier(forest, walk), labels, block, codes[rows], outside, rows.start,
            tile, votes,
        )  # fmt: skip
        return votes

    total = empty_votes(n_depths, n_trees(forest))
    for votes in by_fixed_blocks(count, X, n_jobs):
        for sums, part in zip(total, votes, strict=True):
            sums += part
    return _of_counts(total)


def _of_counts(votes: Votes) -> VoteStrength:
    left_out = votes.n_outside > 0
    n_outside = votes.n_outside[left_out]
    with np.errstate(divide="ignore", invalid="ignore"):
        for_truth, for_rival, counted = (
            np.compress(left_out, sums, axis=1) / n_outside
            for sums in (votes.for_truth, votes.for_rival, votes.counted)
        )
        n_judged, n_paired = votes.n_rows
        plain = votes.margins / n_judged
        # Of equal margins rounding may leave a hair below 0.
        plain_variance = np.maximum(votes.squares / n_judged - plain**2, 0.0)
        s = votes.fair / n_judged
        variance = votes.products / n_paired - s**2
        error = 1.0 - for_truth
        return VoteStrength(
            *_bounded(s, variance, for_truth, counted),
            _mean(error),
            _std(error),
            *_bounded(plain, plain_variance, for_truth, for_rival),
        )


def _bounded(s, variance, p1, p2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Strength, correlation and bound, from the strength s and the variance of margins.

    A tree's own margin is 1, -1 or 0. With the shares p1, p2, (D, T), of the first two its variance
    is p1 + p2 - (p1 - p2)²; the paper prints a plus before the square.
    """
    own = _mean(np.sqrt(p1 + p2 - (p1 - p2) ** 2)) ** 2
    correlation = np.where(own > 0.0, variance / own, np.nan)
    return s, correlation, np.where(s > 0.0, correlation * (1.0 - s**2) / s**2, np.nan)


# ---- regression --------------------------------------------------------------------------------


def of_residuals(
    forest: Forest, X, truth, n_depths: int, outside, n_jobs: int = 1
) -> ResidualStrength:
    """Errors of trees and the correlation of their residuals r on out-of-bag rows.

    For a row with M ≥ 2 voters the mean of r·r' over pairs of different voters is
    ((Σ r)² - Σ r²) / (M (M - 1)); the mean of that over rows, divided by the square of the trees'
    mean root mean squared error, is the correlation. Blocks have a fixed number of rows: a thread
    holds two numbers a row and depth, and the sums have the same bits on any number of threads.
    """
    means = TASKS["regression"].values(forest.stats)
    numbers = np.array(truth, np.float64)

    walk = walk_for(forest, X)
    add_residuals = residuals_kernel(walk)

    def add(rows: slice, block: np.ndarray) -> tuple[np.ndarray | int, ...]:
        residuals = empty_residuals(n_depths, n_trees(forest), len(block))
        add_residuals(
            forest, make_frontier(forest, walk), means, block, numbers[rows], outside, rows.start,
            residuals,
        )  # fmt: skip
        return residuals.n_outside, residuals.of_trees, *_products(residuals)

    shapes = n_trees(forest), (n_depths, n_trees(forest)), (), n_depths
    n_outside, of_trees, n_paired, products = (np.zeros(shape) for shape in shapes)
    for part in by_fixed_blocks(add, X, n_jobs):
        n_outside += part[0]
        of_trees += part[1]
        n_paired += part[2]
        products += part[3]
    left_out = n_outside > 0
    mse = np.compress(left_out, of_trees, axis=1) / n_outside[left_out]
    with np.errstate(invalid="ignore"):
        rmse = _mean(np.sqrt(mse))
        correlation = products / n_paired / rmse**2
        return ResidualStrength(correlation, correlation * _mean(mse), _mean(mse), _std(mse), rmse)


def _products(residuals: Residuals) -> tuple[int, np.ndarray]:
    """How many rows have two voters or more; and, (D,), the sum over these of the mean product."""
    paired = residuals.voters > 1
    n = residuals.voters[paired]
    sums, squares = (
        np.compress(paired, part, axis=1) for part in (residuals.sums, residuals.squares)
    )
    return len(n), ((sums**2 - squares) / (n * (n - 1))).sum(axis=1)


# ---- over trees --------------------------------------------------------------------------------


def _mean(values: np.ndarray) -> np.ndarray:
    """Over trees, (D, T) → (D,); NaN without any."""
    return values.sum(axis=1) / values.shape[1]


def _std(values: np.ndarray) -> np.ndarray:
    return np.sqrt(_mean((values - _mean(values)[:, None]) ** 2))


# ---- the part ----------------------------------------------------------------------------------


def _find(look: Look) -> VoteStrength | ResidualStrength:
    grown, train = look.grown, look.data["train"]
    return strength(grown.forest, grown.task, *train, look.n_depths, look.outside, look.n_jobs)


def _numbers(found: VoteStrength | ResidualStrength, findings: Findings) -> Iterator[Number]:
    for name, values in found._asdict().items():
        yield from steps(f"{name}/oob", values)


def _table(found, findings: Findings, about: About) -> Files:
    yield "strength.json", found._asdict()


def _picture(found: VoteStrength | ResidualStrength, findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    oob = findings.curves[findings.main]["oob"]
    if isinstance(found, VoteStrength):
        three = found.strength, found.correlation, found.bound
        title = about.titled("Strength and correlation of the trees, out of bag, by depth")
        picture = figures.strength_curve(*three, title, 1.0 - oob)
    else:
        three = found.tree_rmse, found.correlation, found.bound
        title = about.titled("Error and correlation of the trees, out of bag, by depth")
        picture = figures.residual_curve(*three, title, oob)
    yield "strength.png", picture


PART = Part(
    level="full",
    applies=lambda look: look.outside is not None,
    find=_find,
    numbers=_numbers,
    table=_table,
    picture=_picture,
    metrics={
        "strength/oob": "mean margin of votes",
        "correlation/oob": "of the trees' margins, or of their residuals",
        "bound/oob": "of the error, or of the mean squared error, that follows from these",
        "strength_plain/oob": "as Breiman estimates it",
        "correlation_plain/oob": "the same",
        "bound_plain/oob": "the same",
        "tree_error/oob": "share of wrong votes, mean over trees",
        "tree_error_std/oob": "its standard deviation over trees",
        "tree_mse/oob": "mean squared error, mean over trees",
        "tree_mse_std/oob": "its standard deviation over trees",
        "tree_rmse/oob": "root mean squared error, mean over trees",
    },
    higher=("strength", "strength_plain"),
    files={"strength": "strength and correlation at every depth"},
)
