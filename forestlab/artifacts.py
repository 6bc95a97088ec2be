"""Findings become files: each picture as PNG, and beside it the table it was drawn from.

config.yaml
curves/depth.json, depth.png          every metric of every split at every depth
curves/oob_by_trees.json, .png        out-of-bag error of the first 1, 2, … trees
confusion/SPLIT.json, .png            counts, shares of rows, shares of all
uncertainty/SPLIT.json, .png          error against uncertainty, in bins
importance.json, .png
tree/first.txt, first.json, first.png the first tree
predictions.parquet                   every validation and test row
"""

import json
from pathlib import Path
from typing import Literal

import numpy as np

from forestlab.study.findings import Findings
from forestlab.study.metrics import METRICS
from forestlab.study.surface import Surface
from forestlab.study.uncertainty import Uncertainty
from forestlab.view import TreeView

UNSEEN = "(not in training)"
DRAWN_DEPTH = 3  # levels of the first tree that are drawn
MOST_LISTED = 20_000  # nodes beyond which the first tree is listed only down to the drawn depth


def write(
    folder: Path,
    found: Findings,
    tree: TreeView,
    rows: dict[str, np.ndarray],
    title: str,
    image_shape: tuple[int, int] | None = None,
    pictures: bool = True,
) -> None:
    """Write all files; `rows` are the row numbers of each split in the data set."""
    names = tree.feature_names
    _write_json(folder / "curves/depth.json", _depth_table(found))
    if found.oob_by_trees is not None:
        _write_json(folder / "curves/oob_by_trees.json", _size_table(found))
    for split, counts in found.confusions.items():
        _write_json(folder / f"confusion/{split}.json", confusion_table(counts, found.classes))
    for split in found.uncertainties:
        _write_json(folder / f"uncertainty/{split}.json", uncertainty_table(found, split))
    _write_json(folder / "importance.json", _importance_table(found, names))
    _write_tree(folder, tree)
    _predictions(found, rows).to_parquet(folder / "predictions.parquet", index=False)
    if pictures:
        _draw(folder, found, tree, title, image_shape)


def _write_json(path: Path, table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(table, indent=1, default=_plain))


def _plain(value):
    if isinstance(value, np.ndarray):
        return [None if number != number else number for number in value.tolist()]
    return value.item()


# ---- tables ------------------------------------------------------------------------------------


def _depth_table(found: Findings) -> dict:
    n_depths = len(next(iter(found.curves[found.main].values())))
    return {"depth": list(range(n_depths)), "chosen": found.chosen_depth} | found.curves


def _size_table(found: Findings) -> dict:
    errors = found.oob_by_trees
    assert errors is not None
    name = "error" if found.task == "classification" else "rmse"
    return {"n_trees": list(range(1, len(errors) + 1)), name: errors}


def confusion_table(counts: np.ndarray, classes) -> dict:
    """Counts, shares of each true class, and shares of all rows."""
    rows = counts.sum(axis=1, keepdims=True)
    return {
        "classes": [str(name) for name in classes],
        "counts": counts.tolist(),
        "row_shares": (counts / np.maximum(rows, 1)).tolist(),
        "shares": (counts / max(counts.sum(), 1)).tolist(),
    }


def uncertainty_table(found: Findings, split: str, n_bins: int = 10) -> dict:
    """Mean uncertainty and error in bins of equal size, from the surest rows to the least sure."""
    unsure, error = found.uncertainties[split], found.surfaces[split].errors
    order = np.argsort(unsure.total, kind="stable")
    bins = [part for part in np.array_split(order, n_bins) if len(part)]
    table = {name: [getattr(unsure, name)[b].mean() for b in bins] for name in Uncertainty._fields}
    return {"rows": [len(b) for b in bins], **table, "error": [error[b].mean() for b in bins]}


def _importance_table(found: Findings, names: list[str]) -> dict:
    mean, std = found.importance.mean(axis=0), found.importance.std(axis=0)
    return {"feature": names, "mean": mean, "std_over_trees": std}


def _write_tree(folder: Path, tree: TreeView) -> None:
    (folder / "tree").mkdir(exist_ok=True)
    short = tree.n_nodes <= MOST_LISTED
    text = tree.export_text(show_stats=True, max_depth=None if short else DRAWN_DEPTH)
    (folder / "tree/first.txt").write_text(text + "\n")
    if short:
        _write_json(folder / "tree/first.json", tree.describe())


def _predictions(found: Findings, rows: dict[str, np.ndarray]):
    """A table of every validation and test row: truth, answer, uncertainty."""
    import pandas as pd

    parts = []
    for split, unsure in found.uncertainties.items():
        surface = found.surfaces[split]
        # The last name is that of code -1.
        names = None if found.classes is None else np.array([*found.classes, UNSEEN], dtype=object)
        truth, answer = surface.truth, surface.predicted
        columns = {
            "row": rows[split],
            "split": split,
            "truth": truth if names is None else _column(names[truth.astype(int)]),
            "predicted": answer if names is None else _column(names[answer]),
            "error": surface.errors,
            **{f"{name}_uncertainty": getattr(unsure, name) for name in Uncertainty._fields},
        }
        if names is not None:
            columns["p_true"] = _p_true(surface)
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _p_true(surface: Surface) -> np.ndarray:
    """The probability given to the true class; 0 for one that training did not see."""
    p = np.take_along_axis(surface.answers, surface.truth[:, None], axis=1)[:, 0]
    return np.where(surface.truth >= 0, p, 0.0)


def _column(labels: np.ndarray) -> np.ndarray:
    """Labels of one type, as parquet wants them."""
    return labels.astype(str) if UNSEEN in labels else np.array(labels.tolist())


# ---- pictures ----------------------------------------------------------------------------------


def _draw(folder: Path, found: Findings, tree: TreeView, title: str, image_shape) -> None:
    from forestlab import figures

    better: Literal["higher", "lower"]
    better = "higher" if METRICS[found.main].higher_is_better else "lower"
    curve = found.curves[found.main]
    figures.save(
        figures.depth_curve(curve, found.main, title, found.chosen_depth, better),
        folder / "curves/depth.png",
    )
    if found.oob_by_trees is not None:
        sizes = np.arange(1, len(found.oob_by_trees) + 1)
        name = "error" if found.task == "classification" else "rmse"
        picture = figures.size_curve(sizes, {"oob": found.oob_by_trees}, name, title)
        figures.save(picture, folder / "curves/oob_by_trees.png")
    for split, counts in found.confusions.items():
        picture = figures.confusion(counts, found.classes or [], f"{title}, {split}")
        figures.save(picture, folder / f"confusion/{split}.png")
    for split in found.uncertainties:
        figures.save(
            _uncertainty_picture(figures, found, split, f"{title}, {split}"),
            folder / f"uncertainty/{split}.png",
        )
    mean, std = found.importance.mean(axis=0), found.importance.std(axis=0)
    figures.save(
        figures.importance(tree.feature_names, mean, std, title, image_shape=image_shape),
        folder / "importance.png",
    )
    figures.save(tree.draw(max_depth=DRAWN_DEPTH).figure, folder / "tree/first.png")


def _uncertainty_picture(figures, found: Findings, split: str, title: str):
    unsure, error = found.uncertainties[split], found.surfaces[split].errors
    if found.task == "classification":
        return figures.uncertainty_classification(*unsure, error > 0, title)
    return figures.uncertainty_regression(np.sqrt(unsure.epistemic), error, title)
