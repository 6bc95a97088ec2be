"""The documents' diagrams of a tree, typed in, drawn and walked."""

from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes

from experiments import exactly
from forestlab.figures import draw_tree
from forestlab.figures.style import dress, panels
from forestlab.tree.handmade import build_tree
from forestlab.tree.view import Step, TreeView, short

DOCUMENT = "000"
SAYS = """
Document 000: a node asks whether feature j is at most v; if so the row goes left, else right, until
a leaf answers. It walks x = [8, 0, 5]: 8 ≤ 7 is false, 0 ≤ 1 is true, 5 ≤ 6 is true, so the answer
is 9. The rest of its tree stands in its picture only; what the text does not tell, is a question
mark here.

Document 001: to accept an offer of a job, or not. A salary that is not above $50,000 is declined at
once, and so is a commute of more than an hour; if neither, there is another question. Which one,
stands in its picture only: here it is whether there is free coffee, with which the offer is
accepted. forestlab's questions all ask for "at most", so yes and no are the other way round than in
the document's words, for the same tree.
"""

UNTOLD = "?"
EXAMPLE = {
    "feature": "x0",
    "cut": 7,
    "left": UNTOLD,
    "right": {
        "feature": "x1",
        "cut": 1,
        "left": {"feature": "x2", "cut": 6, "left": "9", "right": UNTOLD},
        "right": UNTOLD,
    },
}
OFFER = {
    "feature": "salary in $",
    "cut": 50_000,
    "left": "decline",
    "right": {
        "feature": "hours of commute",
        "cut": 1,
        "left": {
            "feature": "cups of free coffee",
            "cut": 0,
            "left": "decline",
            "right": "accept",
        },
        "right": "decline",
    },
}


class Walked(NamedTuple):
    """A row to walk, and what the document says of it."""

    diagram: str
    row: tuple[float, ...]
    answers: str  # to forestlab's questions, as they follow from the document; empty: not told
    says: str


DIAGRAMS = {"000, example": EXAMPLE, "001, job offer": OFFER}
WALKED = [
    Walked("000, example", (8, 0, 5), "no, yes, yes", "9"),
    Walked("000, example", (7, 0, 5), "", UNTOLD),
    Walked("001, job offer", (40_000, 0.5, 1), "yes", "decline"),
    Walked("001, job offer", (50_000, 0.5, 1), "yes", "decline"),
    Walked("001, job offer", (60_000, 1.5, 1), "no, no", "decline"),
    Walked("001, job offer", (60_000, 0.5, 0), "", UNTOLD),
    Walked("001, job offer", (60_000, 0.5, 1), "", UNTOLD),
]
SHOWN = {"000, example": (8, 0, 5), "001, job offer": (60_000, 1.5, 1)}  # ways that are marked


def view(diagram: str) -> TreeView:
    return build_tree(DIAGRAMS[diagram])


def table(runs):
    """A row a walk: the questions met with their answers, the end, and what the document says."""
    return pd.DataFrame([_walked(*each) for each in WALKED])


def _walked(diagram: str, row: tuple[float, ...], answers: str, says: str) -> dict[str, str]:
    *asked, end = view(diagram).walk(row)
    return {
        "diagram": diagram,
        "row": ", ".join(map(short, row)),
        "way": "; ".join(f"{step.question}? {_word(step)}" for step in asked),
        "answers": ", ".join(map(_word, asked)),
        "answers told": answers,
        "answer": end.value,
        "answer told": says,
    }


def _word(step: Step) -> str:
    return "yes" if step.answer else "no"


# ---- the picture -------------------------------------------------------------------------------


def draw(table):
    figure, axes = panels(
        "The diagrams of documents 000 and 001", [4.0, 5.2], 3.4, left=0.3, bottom=0.25, gap=0.5
    )
    for ax, (diagram, row) in zip(axes, SHOWN.items(), strict=True):
        tree = view(diagram)
        draw_tree(tree, ax)
        _mark(ax, tree, row)
        told = ", ".join(map(short, row))
        dress(ax, "", "", f"document {diagram}; outlined: the way of ({told})")
    return figure


def _mark(ax: Axes, tree: TreeView, row: tuple[float, ...]) -> None:
    """Outline the boxes on a row's way; leave blank those of which nothing is told."""
    boxes = {box.get_gid(): box for box in ax.patches}
    for step in tree.walk(row):
        boxes[f"node {step.node}"].set(edgecolor="black", linewidth=2.5)
    for i in range(tree.n_nodes):
        if tree.ends_at(i) and tree.value_of(i) == UNTOLD:
            boxes[f"node {i}"].set_facecolor("white")


# ---- the verdicts ------------------------------------------------------------------------------


def judge(table):
    told = table[table["answer told"] != UNTOLD]
    verdicts = []
    for _, walk in told.iterrows():
        document, _, _ = walk["diagram"].partition(",")
        claim = f"document {document}: the answer for ({walk['row']}), by {walk['answers told']}"
        verdicts.append(
            exactly(
                claim,
                f"{walk['answers told']}: {walk['answer told']}",
                f"{walk['answers']}: {walk['answer']}",
                "a walk has one end",
            )
        )
    return verdicts
