"""How much would the forest's answer change with other training data?

The *infinitesimal jackknife* reads this from the bags (Wager, Hastie and Efron 2014): a training
row whose count in the bags goes along with the trees' answers moves the forest, and the variance is
the sum over training rows of the squared covariance of the two. It is the variance of the forest's
mean, not of a target: intervals made of it alone do not hold the noise.

With few trees chance covariances add up. Their expectation is taken off in `corrected`: what the
same answers would give if they were dealt out to the bags at random. (Wager, Hastie and Efron
divide by the number of trees where it wants one less, which takes off too little if these are few.)
What is left may be negative; then the variance is *unknown*, not 0.

How many trees it takes: what chance adds falls as 1 / trees, and `trees_needed` are so many that it
is as large as the variance itself, in the mean over rows. A row's variance is then known to about
√(6 / n) of itself, n being the training rows. For if the answers of B trees vary by v, and counts
by 1, each covariance is off by √(v / B) and their sum of squares V by √(4 V v / B + 2 n v² / B²);
n v / B is what chance adds. Measured: 3200 trees on diabetes (295 rows), 630 on a sine (267),
130,000 on digits (1647), where of 100 trees the variance of nearly half of the rows is unknown.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from forestlab.forest import BLOCK_NUMBERS, Reached
from forestlab.study.coverage import SAME
from forestlab.study.part import Findings, Look, Number, Part, single


class Jackknife(NamedTuple):
    raw: np.ndarray  # (m,) variance, too large when trees are few
    corrected: np.ndarray  # (m,) less what chance contributes
    negative: float  # share of rows whose variance is unknown: its corrected value is not above 0
    trees_needed: float  # NaN if the mean variance is not above 0, so that this cannot be told

    @property
    def sd(self) -> np.ndarray:
        """(m,) standard deviation; NaN where it is unknown."""
        unknown = _is_unknown(self.raw, self.corrected)
        return np.sqrt(np.where(unknown, np.nan, self.corrected))


def jackknife(bags: np.ndarray, answers: np.ndarray, replace: bool = True) -> Jackknife:
    """The variance of a bagged forest's mean answer for m rows.

    NaN if the bags do not vary: one tree, one row, or every row in every bag.

    Parameters
    ----------
    bags : (n_trees, n_rows) how often each tree's bag holds each training row, bags of equal size
        and rows drawn with equal chances
    answers : (n_trees, m) each tree's mean, or its probability of the class that the forest
        predicts
    replace : whether rows were drawn with replacement. Bags of s rows drawn without vary less than
        new samples would, for which Wager and Athey (2018) multiply by n (n - 1) / (n - s)².
    """
    n_trees, n_rows = bags.shape
    shared = _shared(bags)
    # Σ over rows of the variance of their counts; exactly 0 if these do not vary.
    spread = (n_trees * np.trace(shared) - shared.sum()) / n_trees**2
    if not spread:
        unknown = np.full(answers.shape[1], np.nan)
        return Jackknife(unknown, unknown, float("nan"), float("nan"))
    factor = 1.0
    if not replace:
        n_left_out = n_rows - int(bags[0].sum())
        factor = n_rows * (n_rows - 1) / n_left_out**2
    centred = _centred(answers)
    # Centred answers add up to 0, so counts need not be centred: Σᵢ (Σ_b N_bi c_b)² = cᵀ N Nᵀ c,
    # in n_trees² (n_rows + m) steps instead of n_rows · n_trees · m. einsum does not call BLAS,
    # whose rounding depends on the number of threads.
    squares = np.einsum("bm,bm->m", centred, np.einsum("ab,bm->am", shared, centred))
    raw = np.maximum(squares, 0.0) * factor / n_trees**2  # rounding may leave a hair below 0
    # Dealt out to the bags at random, Σ_b N_b c_b has the variance Σ (N - N̄)² Σ c² / (n_trees - 1).
    squared = np.einsum("bm,bm->m", centred, centred)
    chance = spread * squared * factor / (n_trees * (n_trees - 1))
    corrected = raw - chance
    negative = float(np.mean(_is_unknown(raw, corrected))) if len(raw) else float("nan")
    return Jackknife(raw, corrected, negative, _trees_needed(chance, corrected, n_trees))


def _is_unknown(raw: np.ndarray, corrected: np.ndarray) -> np.ndarray:
    """Where nothing is left but for rounding; that trees agree, and there is none, is known."""
    return (raw > 0.0) & (corrected <= SAME * raw)


def _trees_needed(chance: np.ndarray, corrected: np.ndarray, n_trees: int) -> float:
    """So many that chance, which falls as 1 / trees, is as large as what it is taken from."""
    known = corrected.sum()
    return float(n_trees * chance.sum() / known) if known > 0.0 else float("nan")


def _shared(bags: np.ndarray) -> np.ndarray:
    """N Nᵀ: for each two trees, the sum over rows of the product of their counts.

    Floats hold whole numbers below 2⁵³ exactly, so BLAS may sum in any order.
    """
    n_trees, n_rows = bags.shape
    width = max(1, BLOCK_NUMBERS // n_trees)
    products = np.zeros((n_trees, n_trees))
    for start in range(0, n_rows, width):
        block = bags[:, start : start + width].astype(np.float64)
        products += block @ block.T
    return products


def _centred(answers: np.ndarray) -> np.ndarray:
    """Less their mean over the trees; exactly 0 where all trees agree."""
    beside_first = answers - answers[0]
    return beside_first - beside_first.mean(axis=0)


# ---- the part ----------------------------------------------------------------------------------


def jackknife_of(look: Look, leaves: Reached, predicted: np.ndarray) -> Jackknife | None:
    """Of m rows that end in `leaves`.

    None without bags, or if rows were drawn by unequal chances, which it cannot take.
    """
    grown = look.grown
    if look.outside is None or len(grown.chances):
        return None
    answers = look.studied.by_tree(grown.forest, leaves, predicted)
    return jackknife(grown.bags(look.n_jobs), answers, grown.recipe.replace)


def _find(look: Look) -> Jackknife | None:
    rows = look.found["judged"]
    return jackknife_of(look, rows.leaves, rows.predicted)


def _numbers(found: Jackknife, findings: Findings) -> Iterator[Number]:
    yield single("jackknife_negative_share", found.negative)
    sd = found.sd
    if not np.isnan(sd).all():
        yield single("jackknife_mean_sd", np.nanmean(sd))
    if np.isfinite(found.trees_needed):
        yield single("jackknife_trees_needed", found.trees_needed)


PART = Part(
    level="full",
    applies=lambda look: "judged" in look.found,
    find=_find,
    numbers=_numbers,
    metrics={
        "summary/jackknife_negative_share": "of rows, whose variance is unknown with so few trees",
        "summary/jackknife_mean_sd": "of the others",
        "summary/jackknife_trees_needed": "to know the variance; see study/jackknife.py",
    },
)
