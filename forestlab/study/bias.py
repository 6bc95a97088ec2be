"""Bias, variance and noise at every depth, over repeated draws of the training rows.

A *draw* is a fresh training set and a fresh seed. The model grown on each is asked at the same m
*places*, of which the truth is known: what is *expected* of the target there, and its *noise*, the
mean square of what is left. A class is a vector, 1 in its own place and 0 elsewhere, expected are
the classes' probabilities, and the Brier score is a squared error like that of numbers.

What is exact: at every place, for any number of draws R,

    mean over draws of |answer - expected|² = bias² + variance

where variance is the unbiased one (÷ R - 1), and bias² is that of the mean answer less variance /
R, which the chance of R draws adds to it. So both are right on average however few the draws, and
bias² may come out a little below 0. With the noise, which is known, this is the error that is
expected of new targets at these places: `error` = noise + bias² + variance, to rounding.

What is not: the error on the targets that were drawn for the places, `measured`, scatters about
`error`; and with few draws, `error` scatters about its mean over all training sets.

Labels are right or wrong, so their bias and variance need other definitions. The *main* label is
the one that most draws give. Domingos (2000) calls the places where it is not the best label
biased, and variance the share of draws that give another; these two do not add up to the error.
What they do to it does (James 2003): the *bias effect* is what the main label costs over the best
one, the *variance effect* what the draws cost over their main label, and

    error = noise + bias effect + variance effect

exactly, where noise is the error of the best label. The variance effect is below 0 where draws
that differ from a wrong main label do better. Unlike the squares, these parts are not right on
average when draws are few: their main label is then partly a matter of chance.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from forestlab.core.tasks import TASKS
from forestlab.forest import Grown, by_depth
from forestlab.study.part import About, Files, Findings, Look, Number, Part, single, steps
from forestlab.study.trees import depth_of


class Decomposition(NamedTuple):
    """Of the squared error, or the Brier score: means over the places, (D,) each."""

    bias2: np.ndarray
    variance: np.ndarray
    noise: np.ndarray  # the same at every depth
    error: np.ndarray  # the sum of these three
    measured: np.ndarray | None = None  # on the places' own targets


class LabelDecomposition(NamedTuple):
    """Of the share of wrong labels: means over the places, (D,) each."""

    bias: np.ndarray  # share of places whose main label is not the best
    variance: np.ndarray  # share of draws whose label is not the main one
    bias_effect: np.ndarray
    variance_effect: np.ndarray
    noise: np.ndarray  # the least possible error, the same at every depth
    error: np.ndarray  # noise + bias_effect + variance_effect
    measured: np.ndarray | None = None


class DrawFindings(NamedTuple):
    """What repeated draws tell of a model; depths run from 0 to D - 1."""

    task: str
    n_draws: int
    squared: Decomposition  # of numbers, or of probabilities: the Brier score
    labels: LabelDecomposition | None  # None for numbers


# ---- adding up draws ---------------------------------------------------------------------------


class Sums(NamedTuple):
    """What is kept of the draws so far, at D depths and m places; e is answer - expected."""

    n_draws: int
    errors: np.ndarray  # (D, m, q) Σ e; q is 1 or the number of classes
    squares: np.ndarray  # (D, m) Σ |e|²
    votes: np.ndarray  # (D, m, n_classes) draws that gave each label; no classes for numbers


def add_draw(sums: Sums | None, answers: np.ndarray, expected: np.ndarray) -> Sums:
    """The sums with one more draw.

    Parameters
    ----------
    sums : of the draws before; None for the first
    answers : (D, m) numbers, or (D, m, n_classes) probabilities. If draws differ in D, the last
        depth of the shallower ones goes on: a tree cut deeper than it is stays as it is.
    expected : (m,), or (m, n_classes)
    """
    errors = (answers - expected).reshape(*answers.shape[:2], -1)
    n_classes = expected.shape[1] if expected.ndim == 2 else 0
    labels = answers.argmax(axis=2) if n_classes else np.zeros(answers.shape, np.intp)
    votes = np.equal(labels[..., None], np.arange(n_classes)).astype(np.int32)
    own = Sums(1, errors, np.einsum("dmk,dmk->dm", errors, errors), votes)
    if sums is None:
        return own
    n_depths = max(len(sums.squares), len(answers))

    def together(old: np.ndarray, new: np.ndarray) -> np.ndarray:
        return _deepened(old, n_depths) + _deepened(new, n_depths)

    return Sums(
        sums.n_draws + 1,
        together(sums.errors, own.errors),
        together(sums.squares, own.squares),
        together(sums.votes, own.votes),
    )


def _deepened(array: np.ndarray, n_depths: int) -> np.ndarray:
    """The array with its last depth repeated, up to so many depths."""
    more = np.repeat(array[-1:], n_depths - len(array), axis=0)
    return np.concatenate([array, more]) if len(more) else array


# ---- what the sums say -------------------------------------------------------------------------


def decompose_squares(sums: Sums, expected: np.ndarray, noise, y=None) -> Decomposition:
    """The squared error's parts, of two draws or more.

    Parameters
    ----------
    expected, noise : (m,) or (m, n_classes), and (m,) or one number
    y : (m,) drawn targets, numbers or class codes, to measure the error on; or None
    """
    R = sums.n_draws
    _require_two(R)
    square = np.einsum("dmk,dmk->dm", sums.errors, sums.errors) / R**2  # of the mean error
    variance = (sums.squares - R * square) / (R - 1)
    bias2 = square - variance / R
    bias2, variance = bias2.mean(axis=1), variance.mean(axis=1)
    known = np.full(len(variance), np.mean(noise))
    error = bias2 + variance + known
    return Decomposition(bias2, variance, known, error, _measured_squares(sums, expected, y))


def _measured_squares(sums: Sums, expected: np.ndarray, y) -> np.ndarray | None:
    """Mean of |answer - y|² = |e + gap|² over draws and places, gap being expected - y."""
    if y is None:
        return None
    targets = np.eye(expected.shape[1])[y] if expected.ndim == 2 else y
    gap = (expected - targets).reshape(len(expected), -1)
    crossed = np.einsum("dmk,mk->dm", sums.errors, gap)
    return ((sums.squares + 2.0 * crossed) / sums.n_draws + (gap**2).sum(axis=1)).mean(axis=1)


def decompose_labels(sums: Sums, posterior: np.ndarray, y=None) -> LabelDecomposition:
    """The label error's parts; the main label is the first of those with most votes."""
    shares = sums.votes / sums.n_draws
    main = sums.votes.argmax(axis=2)
    best = posterior.max(axis=1)
    p_main = np.take_along_axis(posterior.T, main, axis=0)  # (D, m)
    p_right = np.einsum("dmk,mk->dm", shares, posterior)
    measured = None
    if y is not None:
        measured = 1.0 - shares[:, np.arange(len(y)), y].mean(axis=1)
    return LabelDecomposition(
        (p_main < best).mean(axis=1),
        1.0 - shares.max(axis=2).mean(axis=1),
        (best - p_main).mean(axis=1),
        (p_main - p_right).mean(axis=1),
        np.full(len(main), 1.0 - best.mean()),
        1.0 - p_right.mean(axis=1),
        measured,
    )


def _require_two(n_draws: int) -> None:
    if n_draws < 2:
        raise ValueError(f"A variance needs two draws or more; got {n_draws}.")


# ---- models ------------------------------------------------------------------------------------


def bias_variance(
    grow: Callable[[int], Grown],
    X: np.ndarray,
    expected: np.ndarray,
    noise,
    n_draws: int,
    seed: int = 0,
    y: np.ndarray | None = None,
    n_jobs: int = 1,
    show: Callable[[Iterable], Iterable] | None = None,
) -> DrawFindings:
    """Grow a model on each of many training sets and take its error apart at every depth.

    Parameters
    ----------
    grow : seed → a forest grown with it, on a training set drawn with it, so that variance is that
        of the training rows and of the forest's own draws together; classes are numbered from 0
    X : (m, n_features) the places; none of them may be a training row
    expected, noise : the truth at the places: (m,) numbers or (m, n_classes) probabilities, and
        (m,) or one number
    n_draws : at least 2; the first of many draws are the same as those of few
    seed : of the draws' seeds; models with the same one are grown on the same training sets
    y : (m,) targets drawn at the places, to measure the error on; or None
    n_jobs : threads that walk the trees
    show : wraps the loop over draws: progress
    """
    _require_two(n_draws)
    n_classes = expected.shape[1] if expected.ndim == 2 else 0
    seeds = np.random.SeedSequence(seed).generate_state(n_draws).tolist()
    sums = None
    for own_seed in show(seeds) if show else seeds:
        grown = grow(own_seed)
        if TASKS[grown.task].has_classes != bool(n_classes):
            of = "classes" if n_classes else "numbers"
            raise ValueError(f"The truth is one of {of}, the model one of {grown.task}.")
        sums = add_draw(sums, answers_by_depth(grown, X, n_classes, n_jobs), expected)
    assert sums is not None
    squared = decompose_squares(sums, expected, noise, y)
    labels = decompose_labels(sums, expected, y) if n_classes else None
    return DrawFindings(grown.task, n_draws, squared, labels)


def answers_by_depth(grown: Grown, X: np.ndarray, n_classes: int, n_jobs: int = 1) -> np.ndarray:
    """What a forest answers at each depth it has: (D, m), or (D, m, n_classes).

    A class that training did not see has the probability 0; 0 classes are numbers.
    """
    n_depths = depth_of(grown.forest) + 1
    answers = np.zeros((n_depths, len(X), n_classes or 1))
    columns = grown.classes if n_classes else [0]

    def note(rows: slice, block: np.ndarray, voters: np.ndarray) -> None:
        answers[:, rows, columns] = block

    by_depth(grown.forest, grown.task, grown.combine, X, n_depths, note, n_jobs)
    return answers if n_classes else answers[..., 0]


# ---- the part ----------------------------------------------------------------------------------


def _find(look: Look) -> DrawFindings | None:
    return look.draw() if look.draw is not None else None


def _numbers(found: DrawFindings, findings: Findings) -> Iterator[Number]:
    names = {"error": "expected_error", "measured": "measured_error"}
    for prefix, parts in (("", found.squared), ("labels_", found.labels)):
        for name, values in parts._asdict().items() if parts is not None else ():
            if values is not None:
                yield from steps(f"{prefix}{names.get(name, name)}/draws", values)
    yield single("rows_draws", found.n_draws)


def _table(found: DrawFindings, findings: Findings, about: About) -> Files:
    table: dict = {"draws": found.n_draws, "squared": found.squared._asdict()}
    labels = {"labels": found.labels._asdict()} if found.labels is not None else {}
    yield "bias_variance.json", table | labels


def _picture(found: DrawFindings, findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    kind: Literal["squared", "brier"] = "squared" if found.labels is None else "brier"
    title = about.titled(f"Noise, bias and variance by depth, over {found.n_draws} training sets")
    yield "bias_variance.png", figures.bias_variance_curve({"": found.squared}, title, kind)


PARTS_OF_ERROR = {
    "bias2/draws": "of the squared error, or Brier's score, over training sets drawn",
    "variance/draws": "the same",
    "noise/draws": "the same",
    "expected_error/draws": "the sum of these",
    "measured_error/draws": "on the targets that were drawn",
    "labels_bias/draws": "share of rows whose main label is not the best",
    "labels_variance/draws": "share of draws whose label is not the main one",
    "labels_bias_effect/draws": "of the share of wrong labels",
    "labels_variance_effect/draws": "the same",
    "labels_noise/draws": "the same",
    "labels_expected_error/draws": "the sum of these",
    "labels_measured_error/draws": "on the labels that were drawn",
    "summary/rows_draws": "training sets drawn",
}
PART = Part(
    level="off",
    targets="all",
    find=_find,
    numbers=_numbers,
    table=_table,
    picture=_picture,
    metrics=PARTS_OF_ERROR,
    files={"bias_variance": "over further training sets, if study.draws asks for them"},
)
