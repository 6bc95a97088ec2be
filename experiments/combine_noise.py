"""Average, product and vote of trees that were taught wrong labels."""

from experiments import above, below, frame
from experiments._paper import banded, log_scale, paper
from experiments._statistics import Measured, over_repeats
from forestlab.compare.statistics import overlap_of
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
certainty, and its log loss is above the average's. But that is so without noise too. Noise adds to
it on threenorm, where it adds errors. On digits there are few errors at any noise; with many wrong
labels the log losses can no longer be told apart, and by the Brier score it is the average that
noise draws away from what is true, as its posteriors hold the wrong labels' share.
"""
COMBINERS = dict(zip(("average", "product", "vote"), COLOURS, strict=False))
OVERLAPS = {"digits": overlap_of(0.25), "threenorm": 0.0}  # of the repeats; threenorm is made anew
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

    def more(metric: str, dataset: str, noise: float) -> Measured:
        return over_repeats(over[metric].loc[dataset][noise], OVERLAPS[dataset])

    def rise(metric: str, dataset: str) -> Measured:
        of_set = over[metric].loc[dataset]
        return over_repeats(of_set[MOST] - of_set[0.0], OVERLAPS[dataset])

    less = "of the product less that of the average"
    added = f"what {MOST:.0%} wrong labels add to that"
    return [
        above(f"digits, right labels: log loss {less}", more("log_loss", "digits", 0.0)),
        above(f"threenorm, right labels: log loss {less}", more("log_loss", "threenorm", 0.0)),
        above(
            f"threenorm: {added}; noise harms the product, as the document says",
            rise("log_loss", "threenorm"),
        ),
        below(f"digits, right labels: Brier score {less}", more("brier", "digits", 0.0)),
        below(
            f"digits: {added}; noise harms the average, unlike what the document says",
            rise("brier", "digits"),
        ),
        *(
            above(
                f"{name}, {MOST:.0%} wrong labels: the document may mean that the product gives "
                f"fewer right ones; forestlab finds that it does not. Accuracy {less}",
                more("accuracy", name, MOST),
                -0.01,
                "a point of accuracy is the least loss that would matter",
            )
            for name in SETS
        ),
    ]
