"""How each class comes off at the depth that is chosen: precision, recall, F1, and how well its
probability tells its rows from all others."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from forestlab.forest import combined
from forestlab.study.coverage import error_detection
from forestlab.study.part import About, Files, Findings, Look, Number, Part, single, steps


class ByClass(NamedTuple):
    """Of K classes, each (K,): NaN of a class that no row is of, or none is answered with."""

    split: str  # test, or else valid
    rows: np.ndarray
    answered: np.ndarray  # rows that are answered with the class
    precision: np.ndarray  # share of those that are right
    recall: np.ndarray  # share of its rows that are
    f1: np.ndarray
    auc: np.ndarray  # area under the ROC curve of one class against the rest

    @property
    def mean_auc(self) -> float:
        """Over the classes there are; of two it is that of either."""
        return float(np.mean(self.auc, where=~np.isnan(self.auc)))


def by_class(truth: np.ndarray, answers: np.ndarray, split: str) -> ByClass:
    """From class codes (n,), -1 for a class that training did not see, and posteriors (n, K)."""
    codes, n_classes = answers.argmax(axis=1), answers.shape[1]
    rows = np.bincount(truth[truth >= 0], minlength=n_classes)
    answered = np.bincount(codes, minlength=n_classes)
    right = np.bincount(codes[codes == truth], minlength=n_classes)
    # Which rows are of a class is to its probability what being wrong is to uncertainty.
    auc = [error_detection(answers[:, k], truth == k) for k in range(n_classes)]
    return ByClass(
        split,
        rows,
        answered,
        precision=_share(right, answered),
        recall=_share(right, rows),
        f1=_share(right, (answered + rows) / 2.0),
        auc=np.array(auc),
    )


def _share(counts: np.ndarray, of: np.ndarray) -> np.ndarray:
    return np.divide(counts, of, out=np.full(len(of), np.nan), where=of > 0)


def _find(look: Look) -> ByClass | None:
    if look.judged is None or "chosen" not in look.found:
        return None
    depth, (X, truth) = look.found["chosen"].depth, look.data[look.judged]
    if depth == look.n_depths - 1:
        return by_class(truth, look.surfaces[look.judged].answers, look.judged)
    grown = look.grown
    answers, _ = combined(grown.forest, grown.task, grown.combine, X, depth, look.n_jobs)
    return by_class(truth, answers, look.judged)


def _numbers(found: ByClass, findings: Findings) -> Iterator[Number]:
    if not np.isnan(found.auc).all():
        yield single(f"chosen_auc_{found.split}", found.mean_auc)
    for name in ("precision", "recall", "auc"):
        yield from steps(f"by_class/{name}_{found.split}", getattr(found, name))


def _table(found: ByClass, findings: Findings, about: About) -> Files:
    import pandas as pd

    columns = {"class": list(map(str, findings.classes or []))} | found._asdict()
    yield f"by_class/{columns.pop('split')}.csv", pd.DataFrame(columns)


PART = Part(
    level="light",
    applies=lambda look: look.has_classes,
    find=_find,
    numbers=_numbers,
    table=_table,
    metrics={
        "summary/chosen_auc_SPLIT": "area under the ROC curve, one class against the rest, mean "
        "over the classes; of test, or else valid, at the chosen depth",
        "by_class/precision_SPLIT": "step: the class, in their order; at the chosen depth",
        "by_class/recall_SPLIT": "the same",
        "by_class/auc_SPLIT": "the same",
    },
    files={"by_class/SPLIT.csv": "precision, recall, F1 and area of each class"},
    higher=("summary/chosen_auc", "by_class"),
)
