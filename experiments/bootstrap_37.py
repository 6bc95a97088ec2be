"""The share of rows that a bootstrap leaves out, against the number of rows."""

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgba
from scipy.stats import binom

from experiments import Verdict, every, within
from experiments._statistics import Measured, by_theory, mean_square
from forestlab.figures.legend import Entry, legend_above
from forestlab.figures.style import DASHES, LINE, MAIN, OTHER, dress, panels
from forestlab.figures.words import number_scale, scale

DOCUMENT = "004"
SAYS = """
A bootstrap of n rows, drawn with replacement, does not hold a given row with a probability of about
37 %: (1 − 1/n)ⁿ, which goes to 1/e = 0.368 as n grows.

On the way the document says that one draw does not pick the row with probability 1/n. That is the
probability that it does: 1 − 1/n is left, which its formula then uses. And 1/e is 0.3679, which it
cuts to 0.3678.

The share is measured as the mean number of trees that left a training row out, over the number of
trees; every run is a forest of 100 stumps, so of 100 bootstraps. The second picture is the same
number row by row: how many of 100 trees can vote on a row that they have not seen.
"""

BARS = to_rgba(MAIN, 0.6)
LIMIT = np.exp(-1.0)
VOTED = 10_000  # rows of the forests whose voters are counted


# ---- theory ------------------------------------------------------------------------------------


def share_left_out(n):
    """Expected share of n rows that n draws with replacement do not hold."""
    return (1.0 - 1.0 / n) ** n


def sd_left_out(n, n_bags):
    """Standard deviation of the share's mean over bags.

    Of two rows neither is held with probability (1 − 2/n)ⁿ: from it comes the variance of the
    number of rows left out, which is that of empty boxes when n balls fall into n of them.
    """
    both = (1.0 - 2.0 / n) ** n
    variance = n * (n - 1.0) * both + n * share_left_out(n) - (n * share_left_out(n)) ** 2
    return np.sqrt(variance / n_bags) / n


# ---- table -------------------------------------------------------------------------------------


def table(runs):
    """A row a run (share); then a row a number of voters, with the rows that have so many."""
    n = np.array([run.params["dataset.n_samples"] for run in runs])
    trees = np.array([run.params["n_estimators"] for run in runs])
    shares = pd.DataFrame(
        {
            "part": "share",
            "n": n,
            "seed": [run.params["seed"] for run in runs],
            "trees": trees,
            "left_out": [run.metrics["by_trees/oob_voters"] for run in runs] / trees,
            "expected": share_left_out(n),
            "expected_sd": sd_left_out(n, trees),
        }
    )
    counted = [run for run in runs if run.params["dataset.n_samples"] == VOTED]
    return pd.concat([shares, _voters(counted)], ignore_index=True)


def _voters(runs) -> pd.DataFrame:
    """Share of the rows of some forests that so many trees left out, beside the binomial one."""
    trees = runs[0].params["n_estimators"]
    found = [run.artifact("oob/voters.json") for run in runs]
    counts = np.zeros((len(runs), trees + 1))
    for row, voters in zip(counts, found, strict=True):
        row[voters["voters"]] = voters["rows"]
    voters = np.arange(trees + 1)
    return pd.DataFrame(
        {
            "part": "voters",
            "n": VOTED,
            "trees": trees,
            "voters": voters,
            "rows": counts.sum(axis=0),
            "rows_expected": counts.sum() * binom.pmf(voters, trees, share_left_out(VOTED)),
        }
    )


# ---- picture -----------------------------------------------------------------------------------


def draw(table):
    title = "A bootstrap leaves out 37 % of the rows, unless they are very few"
    figure, (left, right) = panels(title, [5.0, 3.6], 3.4, left=0.8)
    _draw_shares(left, table[table["part"] == "share"])
    _draw_voters(right, table[table["part"] == "voters"])
    return figure


def _draw_shares(ax, shares) -> None:
    sizes = np.unique(shares["n"])
    n = np.geomspace(2, 1.5 * sizes[-1], 300)
    ax.axhline(LIMIT, color=LINE, linewidth=1.0, linestyle=DASHES, zorder=1.5)
    sd = sd_left_out(n, shares["trees"].iloc[0])
    expected = share_left_out(n)
    ax.fill_between(n, expected - sd, expected + sd, color=OTHER, alpha=0.25, linewidth=0)
    ax.plot(n, expected, color=OTHER, linewidth=1.6)
    ax.plot(shares["n"], shares["left_out"], "o", color=MAIN, markersize=4.0, alpha=0.6,
            markeredgewidth=0)  # fmt: skip
    legend_above(
        ax,
        [
            Entry("a run of 100 bootstraps", MAIN, width=0.0, marker="o"),
            Entry("(1 − 1/n)ⁿ ± 1 sd", OTHER),
            Entry("dashed: 1/e", "none"),
        ],
    )
    dress(ax, "rows, n", "share of rows left out")
    ax.set_xscale("log")
    ax.set_xlim(2.0, 1.5 * sizes[-1])
    ax.set_ylim(0.2, 0.42)
    scale(ax, "x", sizes, [f"{size:,}" for size in sizes])
    number_scale(ax, "y")


def _draw_voters(ax, voters) -> None:
    seen = voters[(voters["rows"] > 0) | (voters["rows_expected"] > 1)]
    total = voters["rows"].sum()
    ax.bar(seen["voters"], seen["rows"] / total, width=0.9, color=BARS)
    ax.plot(seen["voters"], seen["rows_expected"] / total, color=OTHER, linewidth=1.6)
    legend_above(
        ax,
        [Entry(f"rows, n = {VOTED:,}", BARS, width=8.0), Entry("binomial, 100 and 37 %", OTHER)],
    )
    dress(ax, "trees, of 100, that left a row out", "share of rows")
    ax.set_xlim(seen["voters"].min() - 1, seen["voters"].max() + 1)
    ax.set_ylim(0.0, 1.1 * (seen["rows"] / total).max())
    number_scale(ax, "x", 8, integer=True)
    number_scale(ax, "y")


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    shares = table[table["part"] == "share"]
    z = (shares["left_out"] - shares["expected"]) / shares["expected_sd"]
    by_n = {n: _mean_share(of_n) for n, of_n in shares.groupby("n")}
    largest = by_n[max(by_n)]
    return [
        every(
            "share of rows left out, (1 − 1/n)ⁿ, at each number of rows",
            [
                within(
                    f"n = {n}",
                    found,
                    0.015,
                    "less than 0.019, by which (1 − 1/n)ⁿ of 10 rows and its limit differ",
                    share_left_out(n),
                )
                for n, found in by_n.items()
            ],
        ),
        within(
            "spread over runs: variance around it over that of theory, as a power of two",
            mean_square(z, "runs").through(np.log2),
            1.0,
            "a factor of two: bags without replacement would have none, and equal ones a hundred",
        ),
        within(
            f"share left out with {VOTED:,} rows; the document says 37 %, which is 1/e",
            largest,
            0.005,
            "37 % is rounded to a hundredth",
            0.37,
        ),
        within(
            "with 10 rows: the tenth root of the share left out, so the probability that one draw "
            "does not pick a row. The document says 1/n = 0.1; it is 1 − 1/n",
            by_n[10].through(lambda end: end ** (1 / 10)),
            0.01,
            "a hundredth: 1 − 1/n of 9 rows and of 11 are as far away",
            0.9,
        ),
        _binomial(table[table["part"] == "voters"]),
    ]


def _mean_share(of_n: pd.DataFrame) -> Measured:
    error = of_n["expected_sd"].iloc[0] / np.sqrt(len(of_n))
    return by_theory(of_n["left_out"].mean(), error, f"{len(of_n)} runs of 100 bags")


def _binomial(voters: pd.DataFrame) -> Verdict:
    """Of nearly normal and nearly independent numbers the variance is off by √(2 / n) of it."""
    mean, variance = _moments(voters)
    p, trees, rows = share_left_out(VOTED), int(voters["trees"].iloc[0]), voters["rows"].sum()
    expected = trees * p * (1 - p)
    return within(
        f"trees that may vote on a row, {mean:.2f} of {trees}: variance over rows, over the "
        "binomial one",
        by_theory(variance / expected, np.sqrt(2.0 / rows), f"{rows:,.0f} rows"),
        0.05,
        "a twentieth: if a bag's rows were drawn in pairs, it would be twice",
        1.0,
    )


def _moments(voters: pd.DataFrame) -> tuple[float, float]:
    mean = np.average(voters["voters"], weights=voters["rows"])
    return mean, np.average((voters["voters"] - mean) ** 2, weights=voters["rows"])
