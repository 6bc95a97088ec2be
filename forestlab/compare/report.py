"""How a comparison is told: as text in the terminal, as CSV, as a page with pictures."""

import datetime
import re
import textwrap
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd

from forestlab.compare import page, variants
from forestlab.compare.tables import Table
from forestlab.run.tables import NARROWEST_NAME, in_columns, told_apart, window
from forestlab.study.metrics import METRICS

WIDEST, WIDEST_NOTE = 120, 100  # letters in a line
CSV = [
    "task", "dataset", "metric", "baseline", "level", "variant", "seeds", "mean", "std", "low",
    "high", "pairs", "difference", "difference_low", "difference_high", "p", "p_holm",
]  # fmt: skip
BOUNDS: dict[str, tuple[float, float | None]] = {  # between which a metric is
    "accuracy": (0.0, 1.0),
    "balanced_accuracy": (0.0, 1.0),
    "f1": (0.0, 1.0),
    "log_loss": (0.0, None),
    "brier": (0.0, 2.0),
    "rmse": (0.0, None),
    "mae": (0.0, None),
}
CSV_MARK = ",".join(CSV)


# ---- in letters --------------------------------------------------------------------------------


def heading(table: Table) -> str:
    better = "higher" if table.higher else "lower"
    n_runs, n_variants = len(table.runs), len(table.summary)
    return (
        f"{table.metric} on {table.dataset}: {better} is better; {n_runs} run{'s' * (n_runs > 1)}, "
        f"{n_variants} variant{'s' * (n_variants > 1)}"
    )


def reading(table: Table) -> list[str]:
    """What the columns are."""
    if len(table.summary) == 1:
        return []
    n_tests = int(table.summary["p"].notna().sum())
    which = "as asked" if table.is_given else "the best here, which flatters it"
    holm = f", with Holm's correction for {n_tests} tests" if n_tests > 1 else ""
    test = f"; p: paired t-test{holm}" if n_tests else ""
    lines = [f"difference: from {table.baseline} ({which}), over the seeds that both have{test}"]
    if table.overlap:
        lines.append(
            "splits of one data set share rows: intervals and p allow for it, by the share of test "
            f"to training rows, {table.overlap:.2g} (Nadeau and Bengio 2003)"
        )
    return lines


def text(table: Table) -> str:
    """The table as it is printed."""
    own = letters(table)
    half = f"±{100.0 * table.level:g}%"
    columns = [("seeds", "seeds"), ("mean", "mean"), (half, "half"), ("sd", "std")]
    if len(own) > 1:
        columns += [("difference", "difference"), (half, "difference_half"), ("p", "p_holm")]
    cells = [[name, *own[column]] for name, column in columns]
    room = min(WIDEST, window()) - sum(2 + max(map(len, column)) for column in cells)
    names = ["variant", *told_apart(list(own.index), max(room, NARROWEST_NAME))]
    rows = in_columns(list(zip(names, *cells, strict=True)), "<" + ">" * len(cells))
    notes = [
        textwrap.fill(note, min(WIDEST_NOTE, window()), subsequent_indent="  ")
        for note in [*reading(table), *table.notes]
    ]
    return "\n".join([heading(table), "", *rows, "", *notes]).rstrip()


def letters(table: Table) -> pd.DataFrame:
    """The summary in letters, with as many decimals as the largest mean has in four digits.

    `low` and `high` do not go beyond what the metric can be, as Student's interval may; `half` and
    `difference_half` are half the widths of the intervals.
    """
    summary = table.summary
    largest = float(summary["mean"].abs().max())
    decimals = int(np.clip(3 - np.floor(np.log10(largest)), 0, 9)) if largest > 0.0 else 4

    def write(numbers: pd.Series, sign: str = "") -> pd.Series:
        return numbers.map(lambda x: "" if np.isnan(x) else f"{x:{sign}.{decimals}f}")

    ends = summary[["low", "high"]].clip(*BOUNDS.get(table.metric.split("/")[0], (None, None)))
    written = summary[["mean", "std"]].join(ends).apply(write)
    written["half"] = write(summary["high"] - summary["mean"])
    for name in ("difference", "difference_low", "difference_high"):
        written[name] = write(summary[name], "+")
    written["difference_half"] = write(summary["difference_high"] - summary["difference"])
    written["p_holm"] = summary["p_holm"].map(_p)
    written[["seeds", "pairs"]] = summary[["seeds", "pairs"]].astype(str)
    written.loc[table.baseline, ["difference", "pairs"]] = ["baseline", ""]
    return written


def _p(value: float) -> str:
    if np.isnan(value):
        return ""
    return f"{value:.3f}" if value >= 0.001 else "<0.001"


def csv(tables: list[Table]) -> str:
    """All tables as one, with the numbers as they are."""
    parts = [
        table.summary.reset_index().assign(
            **{key: getattr(table, key) for key in ("task", "dataset", "metric", "baseline")},
            level=table.level,
        )
        for table in tables
    ]
    return pd.concat(parts)[CSV].to_csv(index=False, lineterminator="\n")


# ---- the page ----------------------------------------------------------------------------------


def report(
    tables: list[Table],
    store,
    asked: str,
    experiment: str,
    title: str = "Comparison of runs",
    first: Mapping[int, Any] = MappingProxyType({}),
) -> str:
    """The page with tables, pictures and runs; `first` has figures to begin with, by the `id` of
    their table."""
    now = datetime.datetime.now().astimezone()
    about = {
        "query": asked.strip() or "all finished runs",
        "store": re.sub(r"(?<=://)[^/@]+@", "", store.uri),  # a page is shared, a name is not
        "experiment": experiment,
        "made": f"{now:%Y-%m-%d %H:%M %Z}",
    }
    sections = [_section(table, store, first.get(id(table))) for table in tables]
    return page.render("report.html", title=title, about=about, sections=sections)


def _section(table: Table, store, first=None) -> dict[str, Any]:
    """What report.html says of a table."""
    pictures = [] if first is None else [page.picture(first)]
    if table.summary["difference"].notna().any():
        pictures.append(page.picture(_intervals(table)))
    # A forest that max_depth stopped is one that is cut there: its curve is the other's beginning.
    depths = table.runs.get("params.max_depth", pd.Series(dtype=object))
    if table.metric.split("/")[0] in METRICS and depths.nunique(dropna=False) < 2:
        pictures.append(page.picture(_curves(table, store)))
    return {
        "heading": heading(table),
        "summary": _summary(table),
        "notes": [*reading(table), *table.notes, *_cautions(table)],
        "pictures": pictures,
        "n_runs": len(table.runs),
        "runs": page.table(_run_list(table)),
    }


def _summary(table: Table) -> str:
    own = letters(table)
    level = f"{100.0 * table.level:g} %"
    columns: dict[str, Any] = {
        "variant": own.index,
        "seeds": own["seeds"],
        "mean": own["mean"],
        "sd": own["std"],
        f"{level} interval": _range(own["low"], own["high"]),
    }
    if len(own) > 1:
        others = own.drop(index=table.baseline)
        # A column that says what another does would push the last ones off a narrow window.
        columns |= {} if others["pairs"].equals(others["seeds"]) else {"pairs": own["pairs"]}
        columns |= {
            "difference": own["difference"],
            f"its {level} interval": _range(own["difference_low"], own["difference_high"]),
            "p": own["p_holm"],
        }
    shown = pd.DataFrame(columns, own.index)
    # Of a seed each there are no spreads and intervals.
    shown = shown.loc[:, [name for name in shown if (shown[name] != "").any()]]
    return page.table(shown, right=[name for name in shown if name != "variant"])


def _range(low: pd.Series, high: pd.Series) -> pd.Series:
    return (low + " … " + high).where(low != "", "")


def _cautions(table: Table) -> list[str]:
    """What the intervals do not tell."""
    _, split_seed, data_seed = (
        column in table.runs and table.runs[column].nunique() > 1 for column in variants.SEEDS
    )
    if split_seed:
        told = "splits of one data set share rows: over split_seed the intervals are too narrow"
        return [told] if variants.shares_rows(table.runs) and not table.overlap else []
    if data_seed or table.summary["seeds"].max() < 2:
        return []
    return ["all seeds share one split: the intervals tell of the seeds' chance, not of other rows"]


def _intervals(table: Table):
    from forestlab import figures

    others = table.summary.drop(index=table.baseline)
    side, level = "right" if table.higher else "left", f"{100.0 * table.level:g} %"
    has_any = others["difference_low"].notna().any()
    spread = f"; {level} intervals over pairs of seeds" if has_any else "; one seed each"
    return figures.interval_plot(
        list(others.index),
        others["difference"].to_numpy(),
        others["difference_low"].to_numpy(),
        others["difference_high"].to_numpy(),
        f"difference in {table.metric}",
        f"Difference in {table.metric} from {table.baseline}: {table.dataset}",
        f"better on the {side}{spread}",
    )


def _curves(table: Table, store):
    from forestlab import figures

    metric, _, split = table.metric.partition("/")
    title = f"{table.metric} by depth: {table.dataset}"
    better: Literal["higher", "lower"] = "higher" if table.higher else "lower"
    return figures.banded_curves(seed_curves(table, store), metric, title, split, better)


def seed_curves(table: Table, store) -> dict[str, np.ndarray]:
    """By variant, best first: (n_runs, n_depths) the metric at each depth.

    A forest cut below its deepest leaf is whole: curves go on with their last value.
    """
    from forestlab import tracking

    curves = {}
    for variant in table.summary.index:
        ids = table.runs.loc[table.runs["variant"] == variant, "run_id"]
        rows = [tracking.curve(store, run_id, table.metric) for run_id in ids]
        longest = max(map(len, rows))
        padded = [np.pad(row, (0, longest - len(row)), mode="edge") for row in rows]
        curves[str(variant)] = np.array(padded)
    return curves


def _run_list(table: Table) -> pd.DataFrame:
    """A row a run, best variant first: what tells the runs apart, metrics, what follows, name."""
    places = {variant: place for place, variant in enumerate(table.summary.index)}
    order = [table.runs["variant"].map(places), table.runs["run_name"].map(variants.natural)]
    runs = table.runs.loc[pd.concat(order, axis=1).sort_values(["variant", "run_name"]).index]
    seeds = [name for name in variants.SEEDS if name in runs and runs[name].nunique() > 1]
    name = table.metric.split("/")[0]
    more = [f"{name}/{split}" for split in ("train", "valid", "test", "oob")]
    metrics = [
        f"metrics.{key}"
        for key in (table.metric, *more, "summary/chosen_depth", "summary/seconds_fit")
    ]
    there = [column for column in dict.fromkeys(metrics) if column in runs]
    differing = variants.differing(runs)
    told = variants.needed(runs, differing)
    rest = [column for column in differing if column not in told]
    columns = ["run_id", *told, *seeds, *there, *rest, "run_name"]
    return runs[columns].rename(columns=lambda column: column.split(".", 1)[-1])
