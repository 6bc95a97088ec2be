"""How far the trees disagree on a row, and how wrong the forest is there."""

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from experiments import Verdict
from experiments._paired import mean_and_error
from experiments._paper import banded
from forestlab import datasets
from forestlab.figures.legend import Entry, legend_above
from forestlab.figures.style import LINE, MAIN, OTHER, SMALL, WRONG, dress, panels
from forestlab.figures.words import number_scale, scale

DOCUMENT = "004"
SAYS = """
The trees of a forest are so many estimates of a row's label. Where their variance is small they all
say about the same, and the forest may be trusted; where it is large, it is unsure.

For numbers (Boston) that is the variance of the trees' answers; for classes (digits), of which
there is no variance, the entropy of their votes: forestlab's spread. Test rows of ten splits are
put in order of it, and cut into tenths.

It holds, as an order. What the document does not say is that the trees' standard deviation is not
the size of the error: it is that of one tree, grown on a bootstrap, and the mean of 100 errs less.
The total uncertainty, whose size is learned from the out-of-bag errors of training rows, is.
"""

SHOWN = 8  # images of each kind
IMAGE = 0.62  # inches
PICTURED = 0  # the seed whose images are shown


# ---- table -------------------------------------------------------------------------------------


def table(runs):
    """Tenths of each run's test rows; a run's measures of order; rows to be shown as images."""
    pictured = next(
        run
        for run in runs
        if run.params["dataset.name"] == "digits" and run.params["seed"] == PICTURED
    )
    parts = [*map(_tenths, runs), pd.DataFrame(map(_order, runs)), _images(pictured)]
    return pd.concat(parts, ignore_index=True)


def _names(run, part: str) -> dict:
    return {
        "part": part,
        "dataset": run.params["dataset.name"],
        "seed": run.params["seed"],
    }


def _tenths(run) -> pd.DataFrame:
    """From the surest rows to the least sure."""
    rows = _test(run).sort_values(["uncertainty", "row"])
    tenths = [rows.iloc[part] for part in np.array_split(np.arange(len(rows)), 10)]
    means = {name: [part[name].mean() for part in tenths] for name in ("uncertainty", "error")}
    columns = {"tenth": np.arange(1, 11), "rows": [len(part) for part in tenths]} | means
    return pd.DataFrame(_names(run, "tenth") | columns)


def _test(run) -> pd.DataFrame:
    rows = run.table("predictions.parquet")
    return rows[rows["split"] == "test"].rename(columns={"spread_uncertainty": "uncertainty"})


def _order(run) -> dict:
    rows = _test(run)
    order = concordance(rows["uncertainty"].to_numpy(), rows["error"].to_numpy())
    size = np.sqrt(np.mean(rows["error"] ** 2) / rows["total_uncertainty"].mean())
    return _names(run, "order") | {"rows": len(rows), "order": order, "size": size}


def concordance(uncertainty: np.ndarray, error: np.ndarray) -> float:
    """How well one puts the other in order.

    Of wrong and right rows (errors of 1 and 0), the share of pairs in which the wrong row is the
    less sure, ties being half; of other errors, Spearman's correlation of ranks.
    """
    ranks = rankdata(uncertainty)
    wrong = error == 1
    if np.isin(error, (0, 1)).all():
        n_wrong, n_right = wrong.sum(), (~wrong).sum()
        return (ranks[wrong].sum() - n_wrong * (n_wrong + 1) / 2) / (n_wrong * n_right)
    return float(np.corrcoef(ranks, rankdata(error))[0, 1])


def _images(run) -> pd.DataFrame:
    """The surest rows and the least sure, each from left to right as they get less sure."""
    rows = _test(run).sort_values(["uncertainty", "row"])
    kinds = {"surest": rows[:SHOWN], "least sure": rows[-SHOWN:]}
    columns = ["row", "truth", "predicted", "uncertainty"]
    return pd.concat([part[columns].assign(**_names(run, kind)) for kind, part in kinds.items()])


# ---- picture -----------------------------------------------------------------------------------


def draw(table):
    title = "Where the trees of a forest disagree, it is wrong more often"
    below = 2 * (IMAGE + 0.62) + 0.75
    figure, (left, right) = panels(title, [4.0, 4.0], 2.8, bottom=below, left=0.75)
    tenths = table[table["part"] == "tenth"]
    _draw_digits(left, tenths[tenths["dataset"] == "digits"])
    _draw_boston(right, tenths[tenths["dataset"] == "boston"])
    top = below - 0.75
    _draw_images(figure, table[table["part"] == "surest"], f"the {SHOWN} surest", top)
    _draw_images(figure, table[table["part"] == "least sure"],
                 f"the {SHOWN} least sure;\nabove: true class,\nred if mistaken",
                 top - IMAGE - 0.62)  # fmt: skip
    return figure


def _draw_digits(ax, tenths) -> None:
    by_tenth = tenths.groupby("tenth")["error"]
    mean, sd = by_tenth.mean(), by_tenth.std()
    entropy = tenths.groupby("tenth")["uncertainty"].mean()
    ax.bar(mean.index, mean, width=0.85, color=WRONG, alpha=0.85)
    ax.vlines(mean.index, np.maximum(mean - sd, 0.0), mean + sd, colors=LINE, linewidths=1.2)
    n_seeds = tenths["seed"].nunique()
    dress(ax, "tenths of the test rows; entropy of the votes, from least to most", "error rate",
          f"digits, 100 trees, {n_seeds} splits, ± 1 sd; mean entropy "
          f"{entropy.iloc[0]:.2f} … {entropy.iloc[-1]:.2f} nats")  # fmt: skip
    _finish(ax, (mean + sd).max())


def _draw_boston(ax, tenths) -> None:
    tenths = tenths.assign(sd_of_trees=np.sqrt(tenths["uncertainty"]))
    banded(ax, tenths, "tenth", "error", MAIN, linewidth=1.6)
    banded(ax, tenths, "tenth", "sd_of_trees", OTHER, linewidth=1.6, marker="s")
    legend_above(
        ax,
        [
            Entry("boston: mean |error|", MAIN, marker="o"),
            Entry("standard deviation of the trees", OTHER, marker="s"),
        ],
    )
    dress(ax, "tenths of the test rows; variance of the trees, from least to most",
          "1000 $ (median price of a home)")  # fmt: skip
    _finish(ax, tenths["sd_of_trees"].max())


def _finish(ax, highest: float) -> None:
    ax.set_xlim(0.4, 10.6)
    ax.set_ylim(0.0, 1.06 * highest)
    scale(ax, "x", np.arange(1, 11), [str(tenth) for tenth in range(1, 11)])
    number_scale(ax, "y")


def _draw_images(figure, rows, told: str, top: float) -> None:
    """A strip of digits under the panels; `top` is its upper edge, in inches from below."""
    width, height = figure.get_size_inches()
    pixels, shape = digits()
    figure.text(0.15 / width, (top - IMAGE / 2) / height, told, va="center", fontsize=SMALL,
                color=LINE)  # fmt: skip
    step = (width - 1.4 - 0.3) / len(rows)
    for column, row in enumerate(rows.itertuples()):
        x = 1.4 + column * step + (step - IMAGE) / 2
        ax = figure.add_axes((x / width, (top - IMAGE) / height, IMAGE / width, IMAGE / height))
        ax.imshow(pixels[int(row.row)].reshape(shape), cmap="gray_r", interpolation="nearest")
        ax.set_xticks([])
        ax.set_yticks([])
        is_right = row.truth == row.predicted
        label = f"{row.truth:.0f}" if is_right else f"{row.truth:.0f} taken for {row.predicted:.0f}"
        ax.set_title(label, fontsize=SMALL, color="black" if is_right else WRONG, pad=2.5)
        ax.set_xlabel(
            f"{abs(row.uncertainty):.2f} nats", fontsize=SMALL - 1, color=LINE, labelpad=2.0
        )


def digits() -> tuple[np.ndarray, tuple[int, int]]:
    """The images of the data set, a row each, and their shape."""
    dataset = datasets.load(datasets.DatasetConfig(name="digits"))
    assert dataset.image_shape is not None
    return dataset.frame.to_numpy(), dataset.image_shape


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    tenths = table[table["part"] == "tenth"]
    images = table[table["part"].isin(["surest", "least sure"])]
    return [
        *_digits_verdicts(table, tenths[tenths["dataset"] == "digits"]),
        *_boston_verdicts(table, tenths[tenths["dataset"] == "boston"]),
        _shown(images),
    ]


def _of_runs(table, dataset: str, what: str) -> tuple[float, float]:
    """Mean over seeds and its standard error."""
    found = table[(table["part"] == "order") & (table["dataset"] == dataset)][what]
    return mean_and_error(found)


def _digits_verdicts(table, tenths) -> list[Verdict]:
    order, error = _of_runs(table, "digits", "order")
    wrong = tenths["rows"] * tenths["error"]
    sure = tenths["tenth"] <= 5
    n_sure = tenths.loc[sure, "rows"].sum()
    last = wrong[tenths["tenth"] == 10].sum() / wrong.sum()
    return [
        Verdict(
            "digits: probability that of a wrong and a right row the wrong one is less sure",
            0.5,
            order,
            0,
            f"none: over splits its mean has a standard error of {error:.2g}",
            "above",
        ),
        Verdict(
            "digits: error rate of the surer half",
            0.0,
            wrong[sure].sum() / n_sure,
            3.0 / n_sure,
            f"{n_sure:.0f} rows: fewer than 3 wrong ones say no more than none do",
        ),
        Verdict(
            f"digits: share of all {wrong.sum():.0f} wrong rows that are in the least sure tenth",
            0.5,
            last,
            0,
            "none: most is read as half at least; by chance it were a tenth",
            "above",
        ),
    ]


def _boston_verdicts(table, tenths) -> list[Verdict]:
    order, error = _of_runs(table, "boston", "order")
    size, size_error = _of_runs(table, "boston", "size")
    mean = tenths.groupby("tenth")["error"].mean()
    ratio = mean / np.sqrt(tenths.groupby("tenth")["uncertainty"].mean())
    return [
        Verdict(
            "boston: correlation of ranks between the trees' variance and |error|",
            0.0,
            order,
            0,
            f"none: over splits its mean has a standard error of {error:.2g}",
            "above",
        ),
        Verdict(
            "boston: mean |error| of the least sure tenth over that of the surest",
            2.0,
            mean.iloc[-1] / mean.iloc[0],
            0,
            "none: more is read as twice at least",
            "above",
        ),
        Verdict(
            "boston: mean |error| over the trees' standard deviation, greatest of all tenths: the "
            "trees scatter more than their mean errs",
            np.sqrt(2.0 / np.pi),
            ratio.max(),
            0,
            "none: 0.8 is the mean |error| of normal errors with that standard deviation",
            "below",
        ),
        Verdict(
            "boston: root mean squared error over the root of the mean total uncertainty: it is as "
            "large as the error",
            1.0,
            size,
            3.0 * size_error,
            f"three standard errors of the mean over splits, {size_error:.2g}",
        ),
    ]


def _shown(images) -> Verdict:
    """Rows of predictions and of the data set are the same ones."""
    target = datasets.load(datasets.DatasetConfig(name="digits")).target
    n_same = (target[images["row"].astype(int)] == images["truth"].astype(int)).sum()
    return Verdict(
        "images shown that have the label that was logged with their row",
        len(images),
        n_same,
        0,
        "all of them",
    )
