"""Out-of-bag error of the first 1, 2, … trees."""

import numpy as np

from forestlab.core.arrays import Forest, n_trees
from forestlab.forest import by_fixed_blocks, tree_by_tree
from forestlab.study.part import About, Files, Findings, Look, Number, Part, steps
from forestlab.study.shown import shown
from forestlab.study.tasks import STUDIED, Studied


def oob_by_trees(
    forest: Forest, task: str, combiner: str, X, truth, outside, n_jobs: int = 1
) -> np.ndarray:
    """Out-of-bag error of the first 1, 2, … trees, (n_trees,); NaN before any vote.

    The share of wrong labels, or for regression the root mean squared error, over the rows that
    some of those trees left out.
    """

    def add_up(rows: slice, block: np.ndarray) -> np.ndarray:
        """(n_trees, 2): the sum of errors, and of how many rows."""
        asked = tree_by_tree(forest, task, combiner, block, rows.start, outside)
        return np.array([_errors(told, *found, truth[rows]) for found in asked])

    told = STUDIED[task]
    total = np.zeros((n_trees(forest), 2))
    for sums in by_fixed_blocks(add_up, X, n_jobs):
        total += sums
    errors, n_rows = total.T
    mean = np.divide(errors, n_rows, out=np.full(len(total), np.nan), where=n_rows > 0)
    return told.finish(mean)


def _errors(told: Studied, answers: np.ndarray, voters: np.ndarray, truth) -> tuple[float, int]:
    """The number of wrong labels, or the sum of squared errors, of rows with voters; and theirs."""
    voted = voters > 0
    return float(np.sum(told.loss(answers, truth), where=voted)), int(np.sum(voted))


def _find(look: Look) -> np.ndarray:
    if look.by_target:
        return np.mean([found.parts["by_trees"] for found in look.by_target.values()], axis=0)
    grown, (X, truth) = look.grown, look.data["train"]
    asked = grown.forest, grown.task, grown.combine
    return oob_by_trees(*asked, X, truth, look.outside, look.n_jobs)


def _numbers(found: np.ndarray, findings: Findings) -> list[Number]:
    return steps(f"by_trees/oob_{findings.studied.loss_name}", found, 1)


def _table(found: np.ndarray, findings: Findings, about: About) -> Files:
    table = {"n_trees": list(range(1, len(found) + 1)), findings.studied.loss_name: found}
    yield "curves/oob_by_trees.json", table


def _picture(found: np.ndarray, findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    sizes, how = np.arange(1, len(found) + 1), shown(findings.main)
    title = about.titled(f"Out-of-bag {how.name} by number of trees")
    picture = figures.size_curve(sizes, {"oob": found}, how.label, title, how.better)
    yield "curves/oob_by_trees.png", picture


PART = Part(
    level="light",
    targets="both",
    applies=lambda look: look.outside is not None,
    find=_find,
    numbers=_numbers,
    table=_table,
    picture=_picture,
    metrics={
        "by_trees/oob_error": "step: number of trees, every one",
        "by_trees/oob_rmse": "the same of numbers",
    },
    files={"curves/oob_by_trees": "out-of-bag error of the first 1, 2, … trees"},
)
