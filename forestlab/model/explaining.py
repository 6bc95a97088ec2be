"""Why a model answers as it does: in words for one row, in numbers for many.

`Explained` has the numbers, of trees and forests alike; `explain_row` the words of a forest: its
answer, who of its trees says what, which features moved the answer most, and the way down one tree.
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from forestlab.core.questions import short
from forestlab.forest import contributions
from forestlab.model import frames
from forestlab.model.base import Model, Predictor
from forestlab.model.frames import Column, Table
from forestlab.model.members import first_trees, tree_number
from forestlab.tree.levels import is_missing, row_of

MOST_FEATURES = 6  # that are told of, those that moved the answer most
MOST_CLASSES = 5
MOST_NAMED = 8  # trees that are named where they say something else


class RowReader(Model):
    def _row(self, x) -> tuple[list, np.ndarray]:
        """One row as it was given, in the order of the features; and as numbers, (1, n)."""
        names = self._names()
        values = row_of(x, names)
        levels = getattr(self, "categories_", None) or [None] * len(names)
        columns = [
            Column(name, frames.as_objects([value]))
            for name, value in zip(names, values, strict=True)
        ]
        X, unseen = frames.encoded(Table(columns, levels))
        X = check_array(X, estimator=self, input_name="x", **self._numbers())
        self._require_known(X)
        X[unseen] = np.nan
        return values, X


class Explained(RowReader, Predictor):
    def contributions(self, X, depth=None, n_trees=None) -> tuple[Any, Any]:
        """By how much each feature moved each answer away from what the roots of the trees say.

        On a row's way down a tree every step changes what the tree would answer; the change counts
        for the feature that was asked about (of a question of several, for each by its share), and
        is averaged over trees. Roots and features together add up to `predict`, or
        `predict_proba`, up to rounding. So it needs trees that are averaged.

        Parameters
        ----------
        X : (n_rows, n_features)
        depth, n_trees : as in `predict`

        Returns
        -------
        roots : (n_classes,) probabilities, or a mean; of several targets a list, or (n_targets,)
        parts : (n_rows, n_features, n_classes), or (n_rows, n_features); of several targets a list
            of such, or (n_rows, n_features, n_targets)
        """
        check_is_fitted(self, "forest_")
        if len(self.forest_.first_node) > 2 and self.combine != "average":
            raise ValueError(
                "contributions add up to the mean of trees, so combine must be 'average'; got "
                f"{self.combine!r}."
            )
        return self._contributions(self._check_X(X), depth, n_trees)

    def _contributions(self, X, depth=None, n_trees=None) -> tuple[Any, Any]:
        forest = first_trees(self._answering(), n_trees)
        found = self._reached(X, depth, n_trees)
        answers = self._of_nodes(np.arange(len(forest.nodes)))
        is_flat = answers.ndim == 1
        answers = answers[:, None] if is_flat else answers
        roots, parts = contributions(forest, answers, found, self.n_features_in_)
        if is_flat:
            return float(roots[0]), parts[:, :, 0]
        return self._by_target(roots), self._by_target(parts)


# ---- words -------------------------------------------------------------------------------------


def explain_row(model, x, tree=0, depth=None, n_trees=None) -> str:
    """A forest's answer for one row, in words; see `Ensemble.explain`."""
    check_is_fitted(model, "forest_")
    t = tree_number("tree", tree, len(model))
    values, X = model._row(x)
    names = [
        f"{name} = {_value(value)}" for name, value in zip(model._names(), values, strict=True)
    ]
    answers, each = model._answer(X, depth, n_trees)[0], model._of_trees(X, depth, n_trees)
    moved = model._contributions(X, depth, n_trees) if model.combine == "average" else None
    lines = []
    for k in range(model.n_outputs_):
        told = _target(model, k, answers, each, moved, names)
        lines += [f"target {k}:", *_indented(told)] if model.n_outputs_ > 1 else told
    if moved is None:
        lines.append(f"what features add cannot be told of combine={model.combine!r}")
    way = model.view(t).explain(values, depth).splitlines()
    return "\n".join([*lines, f"the way down tree {t}:", *_indented(way)])


def _target(model, k: int, answers, each, moved, names: list[str]) -> list[str]:
    """What there is to say of one of the targets."""
    if hasattr(model, "classes_"):
        several = model.n_outputs_ > 1
        classes = model.classes_[k] if several else model.classes_
        answer, by_tree = (answers[k][0], each[k][:, 0]) if several else (answers[0], each[:, 0])
        best = int(answer.argmax())
        lines = _of_classes(classes, answer, by_tree)
        told = f"{classes[best]} had {{:.3f}} before any question; features added"
        if moved is not None:
            roots, parts = (moved[0][k], moved[1][k]) if several else moved
            lines += _of_features(told.format(roots[best]), parts[0, :, best], names, 3)
        return lines
    by_tree = each[:, 0] if each.ndim == 2 else each[:, 0, k]
    lines = _of_numbers(float(answers[0, k]), by_tree)
    if moved is not None:
        roots, parts = np.atleast_1d(moved[0]), moved[1][0].reshape(len(names), -1)
        told = f"before any question it was {_rounded(roots[k])}; features added"
        decimals = 2 - int(np.floor(np.log10(np.abs(parts[:, k]).max(initial=1e-300) or 1.0)))
        lines += _of_features(told, parts[:, k], names, max(0, decimals))
    return lines


def _of_classes(classes, answer: np.ndarray, each: np.ndarray) -> list[str]:
    """The classes by their probabilities, and which trees say what."""
    order = np.argsort(-answer, kind="stable")
    likely = [f"{classes[c]} {answer[c]:.3f}" for c in order[:MOST_CLASSES] if answer[c] > 0]
    rest = answer[order[MOST_CLASSES:]]
    more = [f"{len(rest)} more {rest.sum():.3f}"] if rest.any() else []
    said = each.argmax(axis=1)
    voters = {c: np.flatnonzero(said == c) for c in order}
    best, *others = sorted((c for c in order if len(voters[c])), key=lambda c: -len(voters[c]))
    first = f"trees: {len(voters[best])} of {len(each)} say {classes[best]}"
    dissent = [f"{_say(voters[c])} {classes[c]} ({_numbered(voters[c])})" for c in others]
    return [
        f"prediction: {classes[order[0]]}",
        f"probabilities: {', '.join(likely + more)}",
        "; ".join([first, *dissent]),
    ]


def _of_numbers(answer: float, each: np.ndarray) -> list[str]:
    """The mean, and how far trees are apart."""
    low, early, late, high = map(_rounded, np.quantile(each, [0, 0.25, 0.75, 1]))
    spread = f"trees: {len(each)}, from {low} (tree {each.argmin()}) to {high} "
    return [
        f"prediction: {short(answer)}",
        f"{spread}(tree {each.argmax()}), half of them from {early} to {late}",
    ]


def _of_features(told: str, parts: np.ndarray, names: list[str], decimals: int) -> list[str]:
    """What each feature added, the most first."""
    form = f"+.{decimals}f"
    order = np.argsort(-np.abs(parts), kind="stable")
    order = order[parts[order] != 0]
    added = [(format(parts[j], form), names[j]) for j in order[:MOST_FEATURES]]
    rest = parts[order[MOST_FEATURES:]]
    if len(rest):
        added.append((format(rest.sum(), form), f"{len(rest)} more features"))
    width = max((len(number) for number, _ in added), default=0)
    return [told, *(f"  {number:>{width}}  {name}" for number, name in added)]


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _rounded(number) -> str:
    """Four digits."""
    return short(float(f"{number:.4g}"))


def _value(value) -> str:
    if is_missing(value):
        return "missing"
    return str(value) if isinstance(value, str | bool | np.bool_) else short(value)


def _say(trees: np.ndarray) -> str:
    return f"{len(trees)} {'says' if len(trees) == 1 else 'say'}"


def _numbered(trees: np.ndarray) -> str:
    named, more = ", ".join(map(str, trees[:MOST_NAMED])), ", …" if len(trees) > MOST_NAMED else ""
    return f"tree{'s' if len(trees) > 1 else ''} {named}{more}"
