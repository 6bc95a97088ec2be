"""How sure a forest is of each row, and why it is not surer.

*Total* is the error to be expected of the forest's answer: the mean squared error; of classes, the
Brier score, put in nats. *Aleatoric* is the noise of the data, which more data of the kind would
not remove and the best of models would have. *Epistemic* is the rest, what the forest does not
know. *Spread* is what the trees by themselves say: the entropy of their mean posterior, or the
variance of the trees' answers and within their leaves. It needs no other rows, but trees with pure
leaves take noise for knowledge and the averaging of unlike trees for doubt, so it is neither the
size of an error nor can it be split: leaves that hold one row each have no noise of their own.

The parts are learned on *held-out* rows, `most_rows` at most: training rows, each answered by the
trees that left it out, or else those of validation. Everything is reckoned in squares, a class
being a vector with a 1 in its own place, so that a posterior's variance is its Gini impurity.

- Noise is how far targets differ between near rows, carried back to distance 0 (`study.noise`), but
  at most the held-out error of ever more trees. At a row it is the mean over held-out rows of its
  *region*: those that share its nodes in the forest cut at a depth where about REGION of them do.
- The excess of a row is a + b · max(spread - noise, 0), where a, b ≥ 0 fit the held-out squared
  errors less the noise best. An error of V voters is put as that of all T trees: the variance
  between trees enters it with 1/V instead of 1/T.
- Squares become nats as if a row had one likely class and a chance of others, shared out among the
  second, third, … of the forest's order as the true classes of wrong held-out rows are.

Where the truth is known, the mean aleatoric uncertainty of test rows comes back as follows. Ranges
are those of 100 trees, 10 trees, leaves of 5 rows, depth 5, trees without bags, a single tree, and
one with a bag, each the mean of three seeds with 1,000 to 2,000 training rows:

                     labels as they are    0.1 replaced           0.3 replaced           nats
    digits           0     0    … 0.01     0.54  0.43 … 0.49      1.27  1.18 … 1.24
    twonorm          0.06  0.10 … 0.13     0.35  0.37 … 0.40      0.62  0.61 … 0.63
    threenorm        0.25  0.33 … 0.36     0.44  0.48 … 0.50      0.64  0.63 … 0.65
    ringnorm         0.04  0.22 … 0.46     0.34  0.42 … 0.55      0.62  0.62 … 0.65
    waveform         0.28  0.31 … 0.41     0.57  0.55 … 0.62      0.89  0.89 … 0.92
    dominant         0.19  0.23 … 0.26     0.41  0.42 … 0.45      0.63  0.62 … 0.64
    blobs            0.12  0.16 … 0.21     0.51  0.53 … 0.55      0.98  0.99 … 1.02
    moons            0     0               0.33  0.31 … 0.32      0.61  0.60 … 0.62
    checkerboard     0     0.05 … 0.16     0.33  0.39 … 0.40      0.61  0.62
    spirals3         0     0    … 0.004    0.39  0.38 … 0.41      0.82  0.79 … 0.82

                     no noise              0.5 (0.25)             1                      squares
    sine             0     0               0.25  0.25 … 0.26      1     1.00 … 1.03
    friedman1        0     0.07 … 0.79     0.25  0.35 … 0.98      1     1.22 … 1.79

A signal that is as hard for the forest as for neighbours is taken for noise: ringnorm's error is.
That apart, the mean is off by at most 0.2 nats (100 trees: 0.12), or 7 % of the target's variance
(friedman1's is 24). Between rows, only differences of regions are seen: noise that follows a column
by which the trees do not split is spread evenly.

Other ways were measured on digits (0, 0.54 and 1.27 nats) and friedman1 without noise:

    leaves shrunken along their path, as out-of-bag rows like best   0.91  1.07  1.75     8.4
    leaves counted anew by out-of-bag rows                           0.44  0.61  0.85
    the forest's posterior, sharpened and mixed as those like best   0.08  0.58  1.34
    the same of 10 trees                                             0.44  0.91  1.73
    squared out-of-bag residuals near a row, less their variance                      2.4 to 3.4

They cannot tell noise from what a tree, or the forest, does not resolve.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Forest, n_trees
from forestlab.core.tasks import TASKS
from forestlab.forest import Reached, reached
from forestlab.study.held_out import Data, HeldOut, answers_of, held_out
from forestlab.study.noise import NEIGHBOURS, noise_of
from forestlab.study.part import About, Files, Findings, Look, Number, Part, single
from forestlab.study.rows import evenly

REGION = 50  # held-out rows
LEAST = 20  # held-out rows that anything is learned from
OTHERS = 10  # times as many rows are neighbours sought among as for


class Uncertainty(NamedTuple):
    """Each (n,), in nats, or in squared units of the target; NaN where it cannot be told.

    total = aleatoric + epistemic
    """

    total: np.ndarray
    aleatoric: np.ndarray
    epistemic: np.ndarray
    spread: np.ndarray


def entropy(p: np.ndarray) -> np.ndarray:
    """In nats, over the last axis; scipy's entr takes 1.4 to 1.8 times as long."""
    return -np.sum(p * np.log(p, out=np.zeros_like(p), where=p > 0), axis=-1)


# ---- learning from rows held out ---------------------------------------------------------------


class Gauge(NamedTuple):
    """What held-out rows tell of a forest's uncertainty: the noise of every region, the line of
    the excess, and how a class that is not the likely one is shared out among the others."""

    forest: Forest
    task: str
    n_rows: int  # held out
    untold: str = ""  # why nothing can be told; empty if it can
    depth: int = 0  # where the forest is cut into regions
    noise: np.ndarray = np.zeros(0)  # (n_nodes,) of each region
    line: tuple[float, float] = (0.0, 0.0)
    others: np.ndarray = np.zeros(0)  # (n_classes - 1,) shares, in the forest's order
    margin: float = np.nan  # of the mean noise, in the units of `Uncertainty`

    def of(self, X: np.ndarray, n_jobs: int = 1) -> Uncertainty:
        """The uncertainty of each row of X."""
        answers = answers_of(self.forest, self.task, reached(self.forest, X, None, n_jobs))
        has_classes = TASKS[self.task].has_classes
        spread = entropy(answers.mean) if has_classes else answers.spread
        if self.untold:
            unknown = np.full(len(X), np.nan)
            return Uncertainty(unknown, unknown, unknown, spread)
        noise = noise_at(self.noise, reached(self.forest, X, self.depth, n_jobs))
        total = noise + excess(self.line, answers.spread, noise)
        if has_classes:
            noise, total = nats(noise, self.others), nats(total, self.others)
        epistemic = np.maximum(total - noise, 0.0)  # rounding may leave a hair below
        return Uncertainty(noise + epistemic, noise, epistemic, spread)


def gauge(
    forest: Forest, task: str, data: Data, outside: np.ndarray | None, most_rows: int, n_jobs: int
) -> Gauge:
    """Learn to tell uncertainty from {split: (X, truth)}, truth as `Surface` has it.

    Parameters
    ----------
    outside : (n_trees, …) packed bits from `rows_outside`; None without bags
    most_rows : that are learned from; their neighbours are sought among ten times as many
    """
    held = held_out(forest, task, data, outside, most_rows, n_jobs)
    untold = why_untold(forest, task, len(data["train"][0]), held)
    if held is None or untold:
        return Gauge(forest, task, 0 if held is None else len(held.X), untold)
    error, answers = held.error, held.answers
    endless = error - answers.between / answers.voters
    as_all = endless + answers.between / n_trees(forest)
    contributed = noise_of_held_out(forest, task, data["train"], held, most_rows, n_jobs)
    depth = max(int(np.log2(len(error) / REGION)), 0)
    regions = reached(forest, held.X, depth, n_jobs)
    mean = max(min(contributed.mean(), endless.mean()), 0.0)
    noise = regional(regions, contributed, len(forest.nodes), mean)
    here = noise_at(noise, regions)
    line = rising_line(np.maximum(answers.spread - here, 0.0), as_all - here)
    margin, others = margin_of(contributed), np.zeros(0)
    if TASKS[task].has_classes:
        others = shares_of_others(held)
        margin = float(np.diff(nats(np.array([mean, mean + margin]), others))[0])
    return Gauge(forest, task, len(error), "", depth, noise, line, others, margin)


def why_untold(forest: Forest, task: str, n_train: int, held: HeldOut | None) -> str:
    """A sentence, or nothing if there is enough to learn from."""
    if TASKS[task].has_classes and forest.stats.shape[1] == 1:
        return "training saw one class alone"
    if held is None:
        return "no row was held out: there are neither bags nor validation rows"
    if len(held.X) < LEAST or n_train <= NEIGHBOURS:
        return (
            f"{len(held.X)} rows were held out of {n_train} for training; "
            f"it takes {LEAST}, and more than {NEIGHBOURS}"
        )
    return ""


def noise_of_held_out(forest, task: str, train, held: HeldOut, most_rows: int, n_jobs: int):
    """What each held-out row contributes to the noise, (m,)."""
    X, truth = train
    others = evenly(len(X), OTHERS * most_rows)
    own = np.searchsorted(others, held.rows)
    is_there = others[np.minimum(own, len(others) - 1)] == held.rows
    places_there = np.where(is_there, own, -1).astype(np.int64)
    sought = X[others], truth[others]
    return noise_of(forest, task, (held.X, held.truth), sought, places_there, n_jobs)


def margin_of(contributed: np.ndarray) -> float:
    """Twice the standard error of the mean noise, if rows were independent. Near rows share
    neighbours: over seeds, the standard deviation was between 0.2 and 1.1 of this."""
    return float(2.0 * contributed.std(ddof=1) / np.sqrt(len(contributed)))


def regional(regions: Reached, contributed: np.ndarray, n_nodes: int, mean: float) -> np.ndarray:
    """The noise of every node, (n_nodes,): the mean of what rows there contribute, by their shares
    in it, scaled so that `noise_at` those rows has the given mean; where no row is, that mean.

    Parameters
    ----------
    regions : where the rows are
    contributed : (m,)
    """
    trees = [regions.pieces(t) for t in range(len(regions.nodes))]
    rows, nodes, shares = (np.concatenate(part) for part in zip(*trees, strict=True))
    counts = np.bincount(nodes, shares, n_nodes)
    sums = np.bincount(nodes, shares * contributed[rows], n_nodes)
    found = np.divide(sums, counts, out=np.zeros(n_nodes), where=counts > 0)
    before = noise_at(found, regions).mean()
    return np.where(counts > 0, found * (mean / before if before > 0.0 else 0.0), mean)


def noise_at(noise: np.ndarray, regions: Reached) -> np.ndarray:
    """Of rows in some nodes: the mean over trees, at least 0, (m,)."""
    trees = range(len(regions.nodes))
    each = [regions.mixed(t, lambda nodes, rows: noise[nodes]) for t in trees]
    return np.maximum(np.mean(each, axis=0), 0.0)


def rising_line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """(a, b), neither below 0, for which a + b · x fits y best; then scaled so that its mean is
    that of y, or 0 if that is below."""
    middle_x, middle_y = x.mean(), y.mean()
    if middle_y <= 0.0:
        return 0.0, 0.0
    variance = ((x - middle_x) ** 2).sum()
    slope = ((x - middle_x) * y).sum() / variance if variance > 0.0 else 0.0
    if slope <= 0.0:
        return middle_y, 0.0
    if slope * middle_x < middle_y:
        return middle_y - slope * middle_x, slope
    return 0.0, middle_y / middle_x  # the line through 0 and the means


def excess(line: tuple[float, float], spread: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """What a line says of rows."""
    return line[0] + line[1] * np.maximum(spread - noise, 0.0)


# ---- squares to nats ---------------------------------------------------------------------------


def shares_of_others(held: HeldOut) -> np.ndarray:
    """How often the true class of wrong rows is the second, third, … in the forest's order, as
    shares, (n_classes - 1,); one more row is spread evenly, as there may be none."""
    order = np.argsort(-held.answers.mean, axis=1, kind="stable")
    ranks = (order == held.truth[:, None]).argmax(axis=1)
    n_others = order.shape[1] - 1
    counts = np.bincount(ranks, minlength=n_others + 1)[1:] + 1.0 / n_others
    return counts / counts.sum()


def nats(squares: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The entropy of posteriors of given Gini impurities, in which the likely class has all but a
    chance c and the others share that: 1 - (1 - c)² - c² Σ shares² is the impurity."""
    both = 1.0 + (others**2).sum()
    chance = (1.0 - np.sqrt(np.maximum(1.0 - both * squares, 0.0))) / both
    return entropy(np.stack([1.0 - chance, chance], axis=-1)) + chance * entropy(others)


# ---- the part ----------------------------------------------------------------------------------


class Uncertainties(NamedTuple):
    gauge: Gauge
    of: dict[str, Uncertainty]  # by split: valid and test


def _find(look: Look) -> Uncertainties:
    grown = look.grown
    told = gauge(grown.forest, grown.task, look.data, look.outside, look.most_rows, look.n_jobs)
    known = [split for split in ("valid", "test") if split in look.data]
    return Uncertainties(told, {name: told.of(look.data[name][0], look.n_jobs) for name in known})


def _numbers(found: Uncertainties, findings: Findings) -> Iterator[Number]:
    """Means over rows; a part that cannot be told has none."""
    for split, unsure in found.of.items():
        for name, values in unsure._asdict().items():
            if np.isfinite(values).any():
                yield single(f"{name}_{split}", values.mean())
    yield single("rows_uncertainty", found.gauge.n_rows)
    if not found.gauge.untold:
        yield single("aleatoric_margin", found.gauge.margin)


def _table(found: Uncertainties, findings: Findings, about: About) -> Files:
    told = found.gauge.untold
    remark = {"cannot_be_told": told} if told else {"aleatoric_margin": found.gauge.margin}
    for split, unsure in found.of.items():
        yield f"uncertainty/{split}.json", remark | in_bins(unsure, findings.surfaces[split].errors)


def in_bins(unsure: Uncertainty, error: np.ndarray, n_bins: int = 10) -> dict:
    """Mean uncertainty and error in bins of equal size, from the surest rows to the least sure: by
    the total, and by the spread where that is alike or cannot be told."""
    bins = np.array_split(np.lexsort((unsure.spread, unsure.total)), min(n_bins, len(error)))
    parts = unsure._asdict() | {"error": error}
    means = {name: np.array([values[b].mean() for b in bins]) for name, values in parts.items()}
    return {"rows": [len(b) for b in bins]} | means


def _picture(found: Uncertainties, findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    has = findings.has_classes
    draw = figures.uncertainty_classification if has else figures.uncertainty_regression
    remark = found.gauge.margin, found.gauge.untold
    for split, unsure in found.of.items():
        errors = findings.surfaces[split].errors
        title = about.titled(f"Errors by uncertainty, {figures.SPLIT_ROWS[split]}")
        picture = draw(unsure, errors, title, *remark)
        if picture is not None:
            yield f"uncertainty/{split}.png", picture


PART = Part(
    level="light",
    find=_find,
    numbers=_numbers,
    table=_table,
    picture=_picture,
    metrics={
        "summary/total_SPLIT": "mean uncertainty of valid and test rows, if it can be told; in "
        "nats, or squared units of the target",
        "summary/aleatoric_SPLIT": "of it, the noise of the data",
        "summary/epistemic_SPLIT": "of it, what the forest does not know",
        "summary/spread_SPLIT": "what the trees by themselves say",
        "summary/aleatoric_margin": "of the mean, twice its standard error",
        "summary/rows_uncertainty": "held out, that uncertainty is learned from",
    },
    files={"uncertainty/SPLIT": "error against uncertainty and its parts, in bins"},
)
