"""Walks of a block of rows through the trees, from which metrics are made.

A *walk* asks the trees in turn: after `ask(n)`, n of them. Then `outcomes` tells how the rows came
off at every depth, with all trees and, of training rows, out of bag; `along` the same at the values
of stopping rules; and `answers` what they are answered as deep as the trees are. A task says in
`study.tasks` which walk is its own.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np

from forestlab.core.descend import answers_kernel, judge_kernel
from forestlab.core.running import RunningSums
from forestlab.forest import Asked, AskedDensity, DensityWalk, DepthWalk
from forestlab.study.metrics import Outcome

# truth, depths, answers, origin → an outcome with room for what is answered
Room = Callable[[np.ndarray, int, int, float], Outcome]


class Block(NamedTuple):
    """n rows, of which the first is number `first` of all."""

    X: np.ndarray  # (n, n_features)
    first: int
    truth: np.ndarray  # (n, …)
    origin: float  # of all rows' truth: a number to sum squares from
    outside: np.ndarray | None  # if these are training rows, bits of all of them


class Walk(Protocol):
    def ask(self, n: int) -> None:
        """Ask the next trees, until n have been asked."""

    def outcomes(self) -> Iterator[tuple[np.ndarray, Outcome]]:
        """The number of voters of each row, (n,), and the outcome of those that have some; of all
        trees, then out of bag. An outcome is to be read before the next."""

    def along(self) -> Iterator[Outcome]:
        """The outcomes at all values of stopping rules, likewise; none without rules."""

    def answers(self) -> list[np.ndarray]:
        """(n, K) at the deepest level, likewise."""


def _voted(outcome: Outcome, voters: np.ndarray) -> Outcome:
    """The outcome of the rows that have voters."""
    voted = voters > 0
    if voted.all():
        return outcome
    return outcome._replace(
        truth=outcome.truth[voted],
        answer=outcome.answer[:, voted],
        p_true=outcome.p_true[:, voted],
        brier=outcome.brier[:, voted],
    )


# ---- by sums of nodes' statistics --------------------------------------------------------------


class AnswersWalk:
    """Of trees whose statistics are added up: classes, or numbers."""

    def __init__(self, room: Room, asked: Asked, block: Block):
        self.asked = asked
        self.walk = DepthWalk(asked, block.X, block.first, True, block.outside)
        self.room = lambda n: room(block.truth, n, asked.n_answers, block.origin)
        self.outcome = self.room(asked.n_depths)
        self.judge = judge_kernel(asked.task, asked.combiner)
        self.studies = [self.walk.everyone]
        if block.outside is not None:
            self.studies.append(self.walk.left_out)

    def ask(self, n: int) -> None:
        self.walk.ask(n)

    def outcomes(self) -> Iterator[tuple[np.ndarray, Outcome]]:
        for sums in self.studies:
            yield sums.voters, _voted(_judged(self.judge, sums, self.outcome), sums.voters)

    def along(self) -> Iterator[Outcome]:
        if self.walk.stops:
            outcome = self.room(self.asked.n_stops)
            stops = self.walk.stops.everyone, self.walk.stops.left_out
            for sums in stops[: len(self.studies)]:
                yield _voted(_judged(self.judge, sums, outcome), sums.voters)

    def answers(self) -> list[np.ndarray]:
        finish, found = answers_kernel(self.asked.task, self.asked.combiner), []
        for sums in self.studies:
            answers = np.empty((1, len(sums.voters), self.asked.n_answers))
            finish(sums, self.asked.n_depths - 1, answers)
            found.append(answers[0])
        return found


def _judged(judge: Callable, sums: RunningSums, outcome: Outcome) -> Outcome:
    judge(sums, outcome.truth, outcome.answer, outcome.p_true, outcome.brier)
    return outcome


def outcome_of_answers(
    task: str, room: Room, answers: np.ndarray, truth: np.ndarray, origin: float
) -> Outcome:
    """The outcome at one depth of answers that have been given, (n, K)."""
    once = np.ones(len(answers), np.int64)  # answers are the mean of themselves
    outcome = room(truth, 1, answers.shape[1], origin)
    return _judged(judge_kernel(task, "average"), RunningSums(answers.copy(), once, once), outcome)


# ---- by densities ------------------------------------------------------------------------------


class LogDensities:
    """Of trees whose nodes are distributions: answers are logarithms of densities."""

    def __init__(self, asked: AskedDensity, block: Block):
        self.walk = DensityWalk(asked, block.X, block.first, block.outside)
        self.truth = block.truth
        self.studies = [self.walk.everyone]
        if block.outside is not None:
            self.studies.append(self.walk.left_out)

    def ask(self, n: int) -> None:
        self.walk.ask(n)

    def outcomes(self) -> Iterator[tuple[np.ndarray, Outcome]]:
        for sums in self.studies:
            yield sums.voters, _voted(outcome_of_densities(sums.means(), self.truth), sums.voters)

    def along(self) -> Iterator[Outcome]:
        return iter(())

    def answers(self) -> list[np.ndarray]:
        return [sums.means()[-1][:, None] for sums in self.studies]


def outcome_of_densities(logs: np.ndarray, truth: np.ndarray) -> Outcome:
    """The outcome of densities at every depth, (n_depths, n) logarithms."""
    nothing = np.empty((0, len(truth)))
    return Outcome(truth, logs, nothing, nothing, 0)
