"""Average, product and vote of trees that were taught wrong labels."""

from experiments import Verdict, frame
from experiments._paired import above_zero, below_zero, mean_and_error
from experiments._paper import banded, log_scale, paper
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, dress
from forestlab.figures.words import number_scale

DOCUMENT = "003"
SAYS = """
Trees become a forest by the average of their posteriors or by the product of them; one should be
careful with the product, as it makes the forest less robust to noise.

The document does not say robust in what, nor what to do with a class that a leaf has not seen,
which would veto it for ever; in forestlab every leaf gets one more observation, spread over all
classes. So made, the product gives as many right labels as the average at any noise. What it loses
are probabilities: a product of a hundred posteriors is nearly 0 or 1, so that it errs with
certainty, and its log loss is the worst of the three. But that is so without noise too. Noise adds
to it on threenorm, where it adds errors; on digits there are few errors at any noise, and it is the
average that noise draws away from what is true, as its posteriors hold the wrong labels' share.
"""
COMBINERS = dict(zip(("average", "product", "vote"), COLOURS, strict=False))
SETS = {"digits": "digits, 10 classes", "threenorm": "threenorm, 2 classes"}
MOST = 0.4  # noise
METRICS = {"accuracy": "accuracy", "log_loss": "log loss (nats)", "brier": "Brier score"}


def table(runs):
    columns = ["dataset.name", "dataset.label_noise", "model.combine", "seed"]
    found = frame(runs, *columns, *(f"{metric}/test" for metric in METRICS))
    return found.set_axis(["dataset", "noise", "combine", "seed", *METRICS], axis=1)


def draw(table):
    entries = [Entry(name, colour, marker="o") for name, colour in COMBINERS.items()]
    entries.append(Entry("bands: ± 1 sd of seeds", "none"))
    figure, rows = paper(
        "Three ways to combine 100 trees, against the noise in the labels that they learn from",
        [[2.6] * 3] * 2,
        [2.1] * 2,
        right=inches_beside(entries),
    )
    for axes, (name, note) in zip(rows, SETS.items(), strict=True):
        for ax, (metric, label) in zip(axes, METRICS.items(), strict=True):
            of_set = table[table["dataset"] == name]
            for combine, colour in COMBINERS.items():
                banded(ax, of_set[of_set["combine"] == combine], "noise", metric, colour)
            dress(ax, "share of wrong training labels", f"{label}, test", note)
            number_scale(ax, "x", 5)
            if metric == "log_loss":
                log_scale(ax, "y", (0.3, 0.5, 1, 2, 5, 10))
            else:
                number_scale(ax, "y")
    legend_beside(rows[0][-1], entries)
    return figure


def judge(table):
    wide = table.pivot(
        index=["dataset", "seed"], columns=["combine", "noise"], values=list(METRICS)
    )
    over = {metric: wide[metric]["product"] - wide[metric]["average"] for metric in METRICS}
    verdicts = []
    for name in SETS:
        loss, accuracy = over["log_loss"].loc[name], over["accuracy"].loc[name]
        verdicts += [
            above_zero(
                f"{name}, {100 * noise:g} % wrong labels: log loss of the product less that of the "
                "average",
                loss[noise],
            )
            for noise in (0.0, MOST)
        ]
        better, error = mean_and_error(accuracy[MOST])
        verdicts.append(
            Verdict(
                f"{name}, {100 * MOST:g} % wrong labels: the document may mean that the product "
                "gives fewer right labels; forestlab finds that it does not. Its accuracy less "
                "that of the average",
                0.0,
                better,
                2.0 * error,
                f"two standard errors of the mean of {len(accuracy)} pairs",
                "above",
            )
        )
    rise = over["log_loss"][MOST] - over["log_loss"][0.0]
    of_what = f"from 0 to {100 * MOST:g} % wrong labels, less what it adds to that of the average"
    return [
        *verdicts,
        above_zero(f"threenorm: what noise adds to the log loss of the product {of_what}",
                   rise.loc["threenorm"]),
        below_zero("digits: the same; here noise adds less, unlike what the document says",
                   rise.loc["digits"]),
    ]  # fmt: skip
