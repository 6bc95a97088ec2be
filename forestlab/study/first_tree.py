"""The first tree, to look at."""

from forestlab.core.arrays import Tree, tree_of
from forestlab.study.part import About, Files, Findings, Look, Part
from forestlab.tree.view import TreeView

MOST_LISTED = 20_000  # nodes beyond which the tree is listed only down to LISTED_DEPTH
LISTED_DEPTH = 3
DRAWN_DEPTH = 3  # levels that are drawn


def _find(look: Look) -> Tree:
    return tree_of(look.grown.forest, 0)


def view_of(tree: Tree, findings: Findings, about: About) -> TreeView:
    return TreeView(tree, findings.task, about.features, findings.classes, about.levels)


def _table(found: Tree, findings: Findings, about: About) -> Files:
    view = view_of(found, findings, about)
    short = view.n_nodes <= MOST_LISTED
    text = view.export_text(show_stats=True, max_depth=None if short else LISTED_DEPTH)
    yield "tree/first.txt", text + "\n"
    if short:
        yield "tree/first.json", view.describe()


def _picture(found: Tree, findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    view, title = view_of(found, findings, about), f"{about.title}: the first tree"
    yield "tree/first.png", figures.tree_picture(view, DRAWN_DEPTH, title=title)


PART = Part(
    level="light",
    targets="all",
    needs_targets=False,
    find=_find,
    table=_table,
    picture=_picture,
    files={"tree/first": "the first tree, as text and as a table"},
)
