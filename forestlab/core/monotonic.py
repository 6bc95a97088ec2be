"""Monotonic constraints: answers that only rise, or only fall, as a feature rises.

The *sign* of a feature says which: 1, answers may not fall as it rises; -1, they may not rise; 0,
no matter. The answer is a node's mean, or of two classes the share of the second.

- A cut of a feature with a sign is *forbidden* if the answers on its two sides would be in the
  wrong order, or if one of them would leave the node's bounds.
- Every node has *bounds*, a lower and an upper one. Where a feature with a sign is cut, the middle
  of the two sides' answers bounds all nodes below from above on one side, and from below on the
  other; else children have the bounds of their parent.
- Every node's answer is *clipped* to its bounds, so that a tree cut at any depth keeps the order.

So do scikit-learn's trees. Rounding decides nothing: answers are out of order only if they are so
by more than sums of so many rows may be off, and what is admitted beyond that is clipped.

Statistics keep the clipped answer, in place of the mean, which is then kept beside them (see
arrays); or as class weights that have the sum of the node's and are read as just this share.
Impurities are those of the rows.
"""

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

import numpy as np

from forestlab.core.groups import POSITION
from forestlab.core.jit import jitable
from forestlab.core.learners import Learner
from forestlab.core.search import TIE
from forestlab.core.sides import n_items

HERE = np.dtype(
    [
        ("lower", np.float64),  # the bounds of the node at hand
        ("upper", np.float64),
        ("centre", np.float64),  # what its rows' contributions are counted from
        ("slack", np.float64),  # by how much rounding may put answers out of order
        ("slot", np.uint32),  # of the second class
        ("sign", np.int8),  # of the feature at hand
    ]
)


class Bounds(NamedTuple):
    """Scratch of one thread."""

    waiting: np.ndarray  # (…, 2) float64: the bounds of each node that waits
    here: np.ndarray  # (1,) HERE


def make_bounds(deepest: int) -> Bounds:
    return Bounds(np.empty((deepest, 2)), np.zeros(1, HERE))


# ---- what a node answers -----------------------------------------------------------------------

NUDGES = 24  # of ten million random shares and weights none needed more than 23


@jitable
def write_share(stats, lower, upper):
    """Weights of two classes, with the sum that they have but for some last bits, of which the
    second is read as a share within bounds, to the bit: where both are one number, as that."""
    whole = weight = stats[0] + stats[1]
    share, step = min(max(stats[1] / whole, lower), upper), 2.0**-52
    for _ in range(NUDGES):
        stats[1] = share * weight
        stats[0] = weight - stats[1]
        found = stats[1] / (stats[0] + stats[1])  # as whoever asks a tree does
        beyond = max(found - upper, 0.0) - max(lower - found, 0.0)
        if beyond == 0.0:
            return
        share = min(max(share - beyond, lower), upper)
        weight = whole * (1.0 + step)  # steps that double reach all ways of rounding soonest
        step *= 2.0


@jitable
def clip_share(plan, rows, scratch, place, i):
    """Clip what node i, which waited at a place, answers; note what its cuts are judged by."""
    stats, here = scratch.stats[i], scratch.bounds.here[0]
    lower, upper = scratch.bounds.waiting[place, 0], scratch.bounds.waiting[place, 1]
    here["lower"], here["upper"] = lower, upper
    here["centre"], here["slack"] = 0.0, TIE * rows.shape[0]
    here["slot"] = 0 if stats[1] > stats[0] else 1  # the main class has the first
    share = stats[1] / (stats[0] + stats[1])
    if share < lower or share > upper:
        write_share(stats, lower, upper)


@jitable
def clip_mean(plan, rows, scratch, place, i):
    """Likewise."""
    stats, here = scratch.stats[i], scratch.bounds.here[0]
    lower, upper = scratch.bounds.waiting[place, 0], scratch.bounds.waiting[place, 1]
    greatest = 0.0
    for j in range(rows.shape[0]):
        greatest = max(greatest, abs(plan.y[rows[j], 0]))
    here["lower"], here["upper"] = lower, upper
    here["centre"], here["slack"] = stats[1], TIE * rows.shape[0] * greatest
    scratch.answers.means[i, 0] = stats[1]
    stats[1] = min(max(stats[1], lower), upper)


# ---- which cuts are forbidden ------------------------------------------------------------------


@jitable
def add_classes(scratch, item, dense, slot, numbers):
    """Add a bin, or a row in the order of its key, to a side's weight and that of its second
    class."""
    weight, of_second = numbers
    groups, slots, amounts = scratch.groups, scratch.slots, scratch.amounts
    if dense:
        cell = np.uint64(groups.key[item]) * np.uint64(2)
        both = groups.bins[cell] + groups.bins[cell + np.uint64(1)]
        return weight + both, of_second + groups.bins[cell + np.uint64(slot)]
    i = groups.order[item] & POSITION
    amount = amounts[i, 0]
    return weight + amount, of_second + (amount if slots[i, 0] == slot else 0.0)


@jitable
def add_moments(scratch, item, dense, slot, numbers):
    """Likewise, to a side's weight and its sum about the node's mean."""
    weight, total = numbers
    groups, amounts = scratch.groups, scratch.amounts
    if dense:
        cell = np.uint64(groups.key[item]) * np.uint64(2)
        return weight + groups.bins[cell], total + groups.bins[cell + np.uint64(1)]
    i = groups.order[item] & POSITION
    return weight + amounts[i, 0], total + amounts[i, 1]


@jitable
def keeps_order(left, right, here):
    """May the sides of a cut have these answers?"""
    slack = here["slack"]
    least, greatest = min(left, right), max(left, right)
    within = here["lower"] - slack <= least and greatest <= here["upper"] + slack
    return within and here["sign"] * (left - right) <= slack


def make_scan_allowed(scan: Callable, task: str) -> Callable:
    """What scores listed cuts, given what scores them all: forbidden ones are infinitely bad.

    It goes over the rows of features with a sign once more, whatever the criterion. Each side is
    summed from its own end, as weights may span any range.
    """
    add = add_classes if task == "classification" else add_moments

    @jitable
    def scan_allowed(plan, node, scratch, n_groups, n_cuts, dense, last_left):
        least = scan(plan, node, scratch, n_groups, n_cuts, dense, last_left)
        here = scratch.bounds.here[0]
        if here["sign"] == 0:
            return least
        groups, slot, centre = scratch.groups, here["slot"], here["centre"]
        cuts, scores = groups.cuts, groups.scores
        answers = groups.right_scores  # of the left sides: what was there has been added up
        numbers = (0.0, 0.0)
        still = n_items(groups, n_groups, dense)
        if last_left:
            end = n_items(groups, n_groups - 1, dense)
            while still > end:
                still -= np.uint64(1)
                numbers = add(scratch, still, dense, slot, numbers)
        done = np.uint64(0)
        for c in range(n_cuts):
            end = n_items(groups, cuts[c] + 1, dense)
            while done < end:
                numbers = add(scratch, done, dense, slot, numbers)
                done += np.uint64(1)
            answers[c] = centre + numbers[1] / numbers[0]
        numbers = (0.0, 0.0)
        least = inf
        for last in range(n_cuts):
            c = n_cuts - 1 - last
            end = n_items(groups, cuts[c] + 1, dense)
            while still > end:
                still -= np.uint64(1)
                numbers = add(scratch, still, dense, slot, numbers)
            # Nothing is on the right if all that is missing goes left and nothing else is there.
            if numbers[0] > 0.0:
                right = centre + numbers[1] / numbers[0]
                if not keeps_order(answers[c], right, here):
                    scores[c] = inf
            least = min(least, scores[c])
        return least

    return scan_allowed


def with_signs(learner: Learner) -> Learner:
    """A learner of features that notes the sign of the one at hand."""
    return learner._replace(
        project=_noting(learner.project), project_some=_noting(learner.project_some)
    )


def _noting(project: Any) -> Callable:
    @jitable
    def project_and_note(plan, node, scratch, feature):
        scratch.bounds.here[0]["sign"] = plan.signs[feature]
        return project(plan, node, scratch, feature)

    return project_and_note


# ---- the bounds of children --------------------------------------------------------------------


@jitable
def share_of(plan, rows, weights, first, end):
    """The share of the second class among some rows of a node."""
    weight, of_second = 0.0, 0.0
    for i in range(first, end):
        weight += weights[i]
        of_second += weights[i] if plan.y[rows[i], 0] == 1.0 else 0.0
    return of_second / weight


@jitable
def mean_of(plan, rows, weights, first, end):
    weight, total = 0.0, 0.0
    for i in range(first, end):
        weight += weights[i]
        total += weights[i] * plan.y[rows[i], 0]
    return total / weight


@jitable
def bound(waiting, place, lower, upper):
    waiting[place, 0], waiting[place, 1] = lower, upper


@jitable
def unbounded(scratch):
    """As the root of a tree is."""
    bound(scratch.bounds.waiting, 0, -inf, inf)


def make_hand_down(task: str) -> Callable:
    answer_of = share_of if task == "classification" else mean_of

    @jitable
    def hand_down(plan, node, scratch, question, n_left, place):
        """Bound the children of a node, whose rows have gone left and right: the right one, which
        waits at a place, and the left one above it."""
        waiting, here = scratch.bounds.waiting, scratch.bounds.here[0]
        lower, upper, sign = here["lower"], here["upper"], plan.signs[question.candidate]
        rows, weights = node.rows, node.weights
        bound(waiting, place, lower, upper)
        bound(waiting, place + 1, lower, upper)
        if sign == 0:
            return
        left = answer_of(plan, rows, weights, 0, n_left)
        right = answer_of(plan, rows, weights, n_left, rows.shape[0])
        middle = min(max((left + right) / 2, lower), upper)
        low_side, high_side = (place + 1, place) if sign > 0 else (place, place + 1)
        waiting[low_side, 1] = waiting[high_side, 0] = middle

    return hand_down


# ---- where nothing is constrained --------------------------------------------------------------


@jitable
def free(scratch):
    """There are no bounds."""


@jitable
def keep_answer(plan, rows, scratch, place, i):
    """It is what it is."""


@jitable
def nothing_to_hand_down(plan, node, scratch, question, n_left, place):
    """There are no bounds."""


class Constraint(NamedTuple):
    """What a kernel does about bounds."""

    begin: Callable
    clip: Callable
    hand_down: Callable


def make_constraint(task: str, monotonic: bool) -> Constraint:
    if not monotonic:
        return Constraint(free, keep_answer, nothing_to_hand_down)
    clip = clip_share if task == "classification" else clip_mean
    return Constraint(unbounded, clip, make_hand_down(task))
