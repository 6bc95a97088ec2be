"""The rules of a basket of fruits, learnt from its table as it is."""

import json

import pandas as pd

from experiments import exactly
from forestlab.figures import draw_tree
from forestlab.figures.style import dress, panels
from forestlab.tree.handmade import build_tree

DOCUMENT = "001"
SAYS = """
A basket holds two apples, two grapes and a lemon, of which color and diameter are known. A rule
asks whether a text equals a given one, or whether a number is greater than a given one; the rule
that lowers impurity most is asked first, until all fruits of a batch are the same.

By these rules two questions are enough: the diameter, which parts the grapes from the others, and
whether a fruit is yellow, which parts the lemon from the apples. Before the first question 2 of the
5 fruits are named rightly, after it 4, after the second all. Gini and entropy agree. The document's
"is it red?" is not among them: it lowers impurity less than the diameter, whose batches its table
shows. Rules that ask for a set of colors grow the same tree, in other words.
"""
WAYS = {"equality": "one color", "subset": "a set of colors"}


def table(runs):
    """A row a tree: its questions in the order in which they are asked, and how many fruits it
    names rightly after each."""
    return pd.DataFrame([_row(run) for run in runs])


def _row(run) -> dict[str, object]:
    tree = run.artifact("tree/first.json")
    return {
        "criterion": run.params["criterion.name"],
        "categories": run.params["model.categories"],
        "questions": "; ".join(questions(tree)),
        "named rightly": ", ".join(f"{5 * share:g}" for share in run.curve("accuracy/train")),
        "leaves": run.metrics["summary/trees_n_leaves"],
        "tree": json.dumps(tree),
    }


def questions(node: dict) -> list[str]:
    """Those of a tree as it describes itself, from its root on, left before right."""
    if "feature" not in node:
        return []
    asked = f"≤ {node['cut']:g}" if "cut" in node else f"in {{{', '.join(node['in'])}}}"
    below = questions(node["left"]) + questions(node["right"])
    return [f"{node['feature']} {asked}", *below]


def draw(table):
    figure, axes = panels(
        "The rules of a basket of five fruits", [3.2] * 2, 2.8, left=0.3, bottom=0.25, gap=0.5
    )
    for ax, (way, words) in zip(axes, WAYS.items(), strict=True):
        draw_tree(build_tree(json.loads(table.set_index("categories")["tree"][way].iloc[0])), ax)
        dress(ax, "", "", f"rules ask for {words}")
    return figure


def judge(table):
    asked = {
        "equality": "diameter ≤ 2; color in {Yellow}",
        "subset": "diameter ≤ 2; color in {Green, Red}",
    }
    reason = "five rows, and no two questions lower impurity by the same"
    verdicts = []
    for (criterion, way), row in table.groupby(["criterion", "categories"]):
        of = f"{criterion}, rules for {WAYS[way]}"
        (found,) = row.to_dict("records")
        verdicts += [
            exactly(f"{of}: the questions", asked[way], found["questions"], reason),
            exactly(
                f"{of}: fruits named rightly by depth", "2, 4, 5", found["named rightly"], reason
            ),
            exactly(f"{of}: leaves", 3, found["leaves"], reason),
        ]
    return verdicts
