"""Findings become files: each picture as PNG, and beside it the table it was drawn from.

config.yaml
curves/depth.json, depth.png          every metric of every split at every depth
curves/oob_by_trees.json, .png        out-of-bag error of the first 1, 2, … trees
confusion/SPLIT.json, .png            counts, shares of rows, shares of all
uncertainty/SPLIT.json, .png          error against uncertainty and its parts, in bins
oob/voters.json, .png                 out-of-bag error by the number of trees that vote on a row
oob/predictions.parquet               every training row: its out-of-bag answer and voters
importance.json, .png                 by impurity and, in a full study, by permutation
tree/first.txt, first.json, first.png the first tree
predictions.parquet                   every validation and test row

and of a full study

surface.csv, surface.png              every metric over depth × number of trees
strength.json, .png                   strength and correlation at every depth
calibration/SPLIT.json, .png          reliability and Brier's parts, by combiner
coverage.json, .png                   how often intervals or label sets hold the truth
band.json, .png                       a regression along its one feature
regions.png                           a classification over its two features
bias_variance.json, .png              over further training sets, if study.draws asks for them
"""

import json
from pathlib import Path

import numpy as np

from forestlab.study.bias import DrawFindings
from forestlab.study.coverage import LEVELS
from forestlab.study.curves import error_by_voters
from forestlab.study.deeper import BAND_LEVEL, Deeper
from forestlab.study.findings import Findings
from forestlab.study.surface import Surface
from forestlab.study.uncertainty import Uncertainty
from forestlab.tree.view import TreeView

UNSEEN = "(not in training)"
MOST_LISTED = 20_000  # nodes beyond which the first tree is listed only down to LISTED_DEPTH
LISTED_DEPTH = 3


def write(
    folder: Path,
    found: Findings,
    drawn: DrawFindings | None,
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
    if "oob" in found.surfaces:
        _write_json(folder / "oob/voters.json", _voters_table(found.surfaces["oob"]))
        oob = _answers_table(found, "oob", rows["train"])
        oob.assign(voters=found.surfaces["oob"].voters).to_parquet(
            folder / "oob/predictions.parquet", index=False
        )
    if found.deeper is not None:
        _surface_table(found).to_csv(folder / "surface.csv", index=False)
        _write_deeper(folder, found.deeper)
    if drawn is not None:
        _write_json(folder / "bias_variance.json", _drawn_table(drawn))
    if pictures:
        _write_pictures(folder, found, drawn, tree, title, image_shape)


def _write_pictures(folder: Path, *findings) -> None:
    from forestlab import figures  # late: matplotlib
    from forestlab.study.pictures import pictures

    for name, picture in pictures(*findings):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        figures.save(picture, folder / name)


def _write_json(path: Path, table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(table, indent=1, default=_plain))


def _plain(value):
    """Arrays as lists; JSON knows neither NaN nor infinity."""
    if isinstance(value, np.ndarray):
        if value.ndim > 1:
            return list(value)
        return [number if np.isfinite(number) else None for number in value.tolist()]
    return value.item()


# ---- tables ------------------------------------------------------------------------------------


def _depth_table(found: Findings) -> dict:
    n_depths = len(next(iter(found.curves[found.main].values())))
    chosen = {"chosen": found.chosen_depth, "chosen_on": found.chosen_on}
    return {"depth": list(range(n_depths))} | chosen | found.curves


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
    """Mean uncertainty and error in bins of equal size, from the surest rows to the least sure: by
    the total, and by the spread where that is alike or cannot be told."""
    unsure, error = found.uncertainties[split], found.surfaces[split].errors
    bins = np.array_split(np.lexsort((unsure.spread, unsure.total)), min(n_bins, len(error)))
    parts = {name: getattr(unsure, name) for name in Uncertainty._fields} | {"error": error}
    table = {name: np.array([values[b].mean() for b in bins]) for name, values in parts.items()}
    assert found.gauge is not None
    told = found.gauge.untold
    about = {"cannot_be_told": told} if told else {"aleatoric_margin": found.gauge.margin}
    return about | {"rows": [len(b) for b in bins]} | table


def _importance_table(found: Findings, names: list[str]) -> dict:
    mean, std = found.importance.mean(axis=0), found.importance.std(axis=0)
    table = {"feature": names, "mean": mean, "std_over_trees": std}
    if found.deeper is not None and found.deeper.permutation is not None:
        permutation = found.deeper.permutation
        table |= {
            "permutation_mean": permutation.mean,
            "permutation_std_over_trees": permutation.std,
            "permutation_rows_a_tree": int(permutation.n_rows.max()),
        }
    return table


def _voters_table(oob: Surface) -> dict:
    return error_by_voters(oob)._asdict()


def _surface_table(found: Findings):
    """A row for each split, number of trees and depth, with every metric."""
    import pandas as pd

    parts = []
    for split, surface in found.surfaces.items():
        n_sizes, n_depths = surface.values[found.main].shape
        cells = {
            "split": split,
            "n_trees": np.repeat(surface.sizes, n_depths),
            "depth": np.tile(np.arange(n_depths), n_sizes),
        }
        values = {metric: values.ravel() for metric, values in surface.values.items()}
        parts.append(pd.DataFrame(cells | values))
    return pd.concat(parts, ignore_index=True)


def _write_deeper(folder: Path, deeper: Deeper) -> None:
    if deeper.strength is not None:
        _write_json(folder / "strength.json", deeper.strength._asdict())
    for split, by_combiner in deeper.calibrations.items():
        table = {combiner: found._asdict() for combiner, found in by_combiner.items()}
        _write_json(folder / f"calibration/{split}.json", table)
    if deeper.coverages:
        table = {method: found._asdict() for method, found in deeper.coverages.items()}
        _write_json(
            folder / "coverage.json", {"level": list(LEVELS), "split": deeper.split} | table
        )
    if deeper.along is not None:
        along = deeper.along
        bands = {method: band._asdict() for method, band in along.bands.items()}
        _write_json(
            folder / "band.json", {"x": along.x, "mean": along.mean, "level": BAND_LEVEL} | bands
        )


def _drawn_table(drawn: DrawFindings) -> dict:
    table: dict = {"draws": drawn.n_draws, "squared": drawn.squared._asdict()}
    return table | ({"labels": drawn.labels._asdict()} if drawn.labels is not None else {})


def _write_tree(folder: Path, tree: TreeView) -> None:
    (folder / "tree").mkdir(exist_ok=True)
    short = tree.n_nodes <= MOST_LISTED
    text = tree.export_text(show_stats=True, max_depth=None if short else LISTED_DEPTH)
    (folder / "tree/first.txt").write_text(text + "\n")
    if short:
        _write_json(folder / "tree/first.json", tree.describe())


def _predictions(found: Findings, rows: dict[str, np.ndarray]):
    """A table of every validation and test row: truth, answer, uncertainty."""
    import pandas as pd

    parts = []
    for split, unsure in found.uncertainties.items():
        kinds = {f"{name}_uncertainty": getattr(unsure, name) for name in Uncertainty._fields}
        parts.append(_answers_table(found, split, rows[split]).assign(**kinds))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _answers_table(found: Findings, split: str, rows: np.ndarray):
    """A table of every row of a split: truth and answer."""
    import pandas as pd

    surface = found.surfaces[split]
    # The last name is that of code -1.
    names = None if found.classes is None else np.array([*found.classes, UNSEEN], dtype=object)
    truth, answer = surface.truth, surface.predicted
    columns = {
        "row": rows,
        "split": split,
        "truth": truth if names is None else _column(names[truth]),
        "predicted": answer if names is None else _column(names[answer], surface.voters > 0),
        "error": surface.errors,
    }
    if names is not None:
        columns["p_true"] = _p_true(surface)
    return pd.DataFrame(columns)


def _p_true(surface: Surface) -> np.ndarray:
    """The probability given to the true class; 0 for one that training did not see."""
    p = np.take_along_axis(surface.answers, surface.truth[:, None], axis=1)[:, 0]
    return np.where(surface.truth >= 0, p, 0.0)


def _column(labels: np.ndarray, known: np.ndarray | None = None):
    """Labels of one type, as parquet wants them; None where there is no answer."""
    typed = labels.astype(str) if UNSEEN in labels else np.array(labels.tolist())
    if known is None or known.all():
        return typed
    return [label if is_known else None for label, is_known in zip(typed, known, strict=True)]
