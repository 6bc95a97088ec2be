"""Drawn trees: boxes apart, texts within their boxes, and all names there."""

import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle
from sklearn.datasets import load_iris

from forestlab import ForestClassifier
from forestlab.figures import tree_picture
from forestlab.figures.tree import CLASS_COLOURS
from forestlab.tree.handmade import build_tree

mpl.use("Agg")

LONG_NAMES = ["number of rooms in the house", "$ a month, before tax $", "x"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def bushy(n_levels, values, i=0):
    """A tree in which leaves stand on many levels, and questions differ in length."""
    if n_levels == 0 or (n_levels < 4 and i % 5 == 3):
        return values[i % len(values)]
    return {
        "feature": LONG_NAMES[i % 3],
        "cut": 10.0 ** (i % 7) + 0.125,
        "left": bushy(n_levels - 1, values, 2 * i + 1),
        "right": bushy(n_levels - 1, values, 2 * i + 2),
    }


def as_if_grown(view):
    """The same tree with rows and impurities, as a grown tree has them."""
    view.tree.nodes["n_rows"] = view.tree.nodes["weight"]
    view.tree.nodes["impurity"] = np.linspace(0.9, 0.01, view.n_nodes)
    return view


TREES = {
    "single leaf": build_tree(9),
    "classes": build_tree(bushy(4, ["accept", "decline", "ask again"])),
    "means": build_tree(bushy(4, [1.25, -3, 1e6])),
    "targets": build_tree(bushy(3, [[1, 2], [3, 4.5]])),
    "grown classes": as_if_grown(build_tree(bushy(5, list("abcdefghijkl")))),
    "grown means": as_if_grown(build_tree(bushy(5, [0.001, 2.5, 100.125]))),
}


def extents(ax, artists):
    ax.figure.canvas.draw()
    return {a.get_gid(): a.get_window_extent() for a in artists if a.get_gid()}


def texts(ax):
    return {text.get_gid(): text.get_text() for text in ax.texts if text.get_gid()}


def all_apart(boxes):
    return not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


def assert_tidy(ax, n_nodes):
    boxes, words = extents(ax, ax.patches), extents(ax, ax.texts)
    assert len(boxes) == len(words) == n_nodes
    assert all_apart(boxes.values())
    for gid, word in words.items():
        box = boxes[gid]
        assert box.x0 < word.x0 < word.x1 < box.x1
        assert box.y0 < word.y0 < word.y1 < box.y1


@pytest.mark.parametrize("name", TREES)
def test_boxes_stand_apart_and_hold_their_texts(name):
    view = TREES[name]
    ax = view.draw(max_depth=view.depth)
    assert_tidy(ax, view.n_nodes)
    frame = ax.figure.bbox
    for box in extents(ax, ax.patches).values():
        assert frame.x0 < box.x0 < box.x1 < frame.x1
        assert frame.y0 < box.y0 < box.y1 < frame.y1


def test_given_axes_show_the_whole_tree():
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), dpi=150)
    for ax, name in zip(axes, ("classes", "means"), strict=True):
        assert TREES[name].draw(ax, max_depth=4) is ax
        assert_tidy(ax, TREES[name].n_nodes)
        for box in extents(ax, ax.patches).values():
            assert ax.bbox.padded(1).contains(box.x0, box.y0)
            assert ax.bbox.padded(1).contains(box.x1, box.y1)
    assert figure.get_size_inches().tolist() == [11, 5]


def test_all_questions_and_values_appear():
    view = TREES["classes"]
    shown = texts(view.draw(max_depth=view.depth))
    for i in range(view.n_nodes):
        expected = view.value_text(i) if view.ends_at(i) else view.question(i)
        assert " ".join(shown[f"node {i}"].split()) == " ".join(expected.split())


def test_statistics_are_shown_of_grown_trees_only():
    grown = TREES["grown classes"]
    counts = "\nb: 3, d: 3, c: 2, …"
    root = texts(grown.draw())["node 0"]
    assert root.split("\n", 2)[2] == "class b\n21 rows\nimpurity 0.9" + counts
    assert "rows" not in texts(grown.draw(show_stats=False))["node 0"]
    assert "rows" not in texts(TREES["classes"].draw())["node 0"]


def test_what_rows_weigh_is_told_where_they_do_not_count_once_each():
    view = as_if_grown(build_tree(bushy(2, ["a", "b"])))
    assert "weight" not in texts(view.draw())["node 0"]
    view.tree.nodes["n_rows"][0] = 3
    figure = tree_picture(view)
    assert "\n3 rows, weight 4\n" in texts(figure.axes[0])["node 0"]
    assert said(figure)[-1] == "[ ]: weight of each, in this order"


def test_cut_branches_say_what_is_below():
    view = TREES["grown means"]
    ax = view.draw(max_depth=2)
    assert_tidy(ax, 7)
    for i in view.shown(2):
        n_below, _ = view.below(i)
        is_cut = view.ends_at(i, 2) and n_below > 0
        assert texts(ax)[f"node {i}"].endswith(f"… {n_below} nodes below") == is_cut


@pytest.mark.parametrize(("name", "every_edge"), [("classes", True), ("grown classes", False)])
def test_edges_say_yes_and_no(name, every_edge):
    ax = TREES[name].draw(max_depth=5)
    words = [text for text in ax.texts if text.get_text() in ("yes", "no")]
    assert len(words) == (TREES[name].n_nodes - 1 if every_edge else 2)
    ax.figure.canvas.draw()
    boxes = list(extents(ax, ax.patches).values())
    assert all_apart([*boxes, *(word.get_window_extent() for word in words)])
    yes, no = sorted(words[:2], key=lambda word: word.get_position()[0])
    assert (yes.get_text(), no.get_text()) == ("yes", "no")


def test_leaves_are_evenly_spaced_and_parents_centred():
    view = TREES["means"]
    boxes = extents(view.draw(max_depth=view.depth), plt.gca().patches)
    x = np.array([(boxes[f"node {i}"].x0 + boxes[f"node {i}"].x1) / 2 for i in view.shown()])
    leaf = np.array([view.ends_at(i) for i in view.shown()])
    steps = np.diff(x[leaf])
    np.testing.assert_allclose(steps, steps[0])
    children = [view.tree.nodes[side][~leaf] for side in ("left", "right")]
    np.testing.assert_allclose(x[~leaf], (x[children[0]] + x[children[1]]) / 2)


def luminance(colour):
    rgb = np.array(mpl.colors.to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("name", ["grown classes", "grown means"])
def test_text_stands_out_and_colours_tell_values_apart(name):
    view = TREES[name]
    ax = view.draw(max_depth=view.depth)
    fill = {patch.get_gid(): patch.get_facecolor() for patch in ax.patches}
    for text in ax.texts:
        if text.get_gid():
            paper, ink = luminance(fill[text.get_gid()]), luminance(text.get_color())
            assert (max(paper, ink) + 0.05) / (min(paper, ink) + 0.05) > 4.5
    leaves = [i for i in view.shown() if view.ends_at(i)]
    n_values = len({view.value_of(i) for i in leaves})
    assert len({fill[f"node {i}"] for i in leaves}) == min(n_values, 10)


def test_a_purer_node_has_a_stronger_colour():
    leaves = [{"value": {"a": a, "b": 6 - a}} for a in (4, 6)]
    view = build_tree({"feature": 0, "cut": 1, "left": leaves[0], "right": leaves[1]})
    mixed, pure = view.draw().patches[1:]
    assert luminance(mixed.get_facecolor()) > luminance(pure.get_facecolor())


def test_a_deep_tree_can_be_drawn():
    chain = 0
    for depth in range(150):
        chain = {"feature": 0, "cut": depth, "left": depth, "right": chain}
    ax = build_tree(chain).draw(max_depth=150)
    assert len(ax.patches) == 301
    assert max(ax.figure.get_size_inches()) < 102
    ax.figure.canvas.draw()


# ---- what is said around it --------------------------------------------------------------------


def said(figure):
    """The lines around the tree: the title first."""
    return [text.get_text() for text in figure.texts]


NARROW = as_if_grown(build_tree(bushy(3, [f"the class of number {c}" for c in range(8)])))


@pytest.mark.parametrize("view", [*TREES.values(), NARROW], ids=[*TREES, "narrow"])
def test_words_around_a_tree_are_on_the_paper_and_off_the_boxes(view):
    figure = tree_picture(view, max_depth=1)
    figure.canvas.draw()
    words = [text.get_window_extent() for text in figure.texts]
    assert all_apart([*words, *extents(figure.axes[0], figure.axes[0].patches).values()])
    for extent in words:
        assert figure.bbox.x0 < extent.x0 < extent.x1 < figure.bbox.x1
        assert figure.bbox.y0 < extent.y0 < extent.y1 < figure.bbox.y1


def test_a_picture_has_a_title():
    grown, typed = TREES["grown classes"], TREES["single leaf"]
    size = f"{grown.n_nodes} nodes, {grown.n_leaves} leaves, depth {grown.depth}"
    assert said(grown.draw().figure)[0] == f"Classification tree: {size}"
    assert said(typed.draw().figure)[0] == "Tree: 1 node, 1 leaf, depth 0"
    assert said(tree_picture(grown, title="The $1 tree"))[0] == "The $1 tree"
    assert "nodes," not in "".join(said(tree_picture(grown, title="")))


def test_given_axes_get_the_title_that_is_given():
    _, ax = plt.subplots()
    assert TREES["means"].draw(ax).get_title(loc="left") == ""
    assert TREES["means"].draw(ax, title="means").get_title(loc="left") == "means"
    assert said(ax.figure) == []


def swatches(figure):
    drawn = [one for one in figure.get_children() if isinstance(one, Rectangle)]
    return [mpl.colors.to_hex(one.get_facecolor()) for one in drawn if one is not figure.patch]


def test_the_legend_names_the_colours_of_classes():
    view = as_if_grown(build_tree(bushy(3, ["a", "b", "c"])))
    figure = tree_picture(view)
    assert said(figure)[1:] == ["a", "b", "c", "[ ]: rows of each, in this order"]
    boxes = {patch.get_gid(): patch.get_facecolor() for patch in figure.axes[0].patches}
    for i in range(view.n_nodes):
        if view.ends_at(i):  # pure, and so of the full colour
            number = list(view.class_names).index(view.value_of(i))
            assert mpl.colors.to_hex(boxes[f"node {i}"]) == swatches(figure)[number]


def test_the_legend_of_means_goes_from_the_least_to_the_greatest():
    view = TREES["grown means"]
    figure = tree_picture(view)
    shown = [view.value_of(int(gid.split()[1])) for gid in texts(figure.axes[0])]
    assert said(figure)[1] == "value"
    told = [float(step) for step in said(figure)[2:7]]
    np.testing.assert_allclose(told, np.linspace(min(shown), max(shown), 5), rtol=1e-3)
    drawn = [mpl.colors.to_hex(patch.get_facecolor()) for patch in figure.axes[0].patches]
    assert swatches(figure)[0] in drawn
    assert swatches(figure)[4] in drawn


def test_colours_that_stand_for_several_classes_are_not_named():
    many = as_if_grown(build_tree(bushy(5, list("abcdefghijkl"))))
    assert len(many.class_names) > 10
    assert len(said(tree_picture(many, max_depth=many.depth))) == 1
    assert said(tree_picture(TREES["targets"])) == ["Tree: 13 nodes, 7 leaves, depth 3"]


def test_inner_nodes_say_what_the_tree_would_answer_there():
    for name, word in (("grown classes", "class"), ("grown means", "value")):
        view = TREES[name]
        for gid, text in texts(view.draw(max_depth=3)).items():
            i = int(gid.split()[1])
            assert (f"\n{word} {view.value_text(i, 2)}\n" in text) != view.ends_at(i, 3)


def test_rows_of_each_class_are_counted_and_drawn_as_a_strip():
    view = build_tree(
        {
            "feature": 0,
            "cut": 1,
            "left": {"value": {"a": 3, "b": 1}},
            "right": {"value": {"b": 2.5, "c": 2.5}},
        }
    )
    view.tree.nodes["n_rows"] = view.tree.nodes["weight"]
    ax = view.draw()
    assert [text.split("\n")[-1] for text in texts(ax).values()] == [
        "[3, 3.5, 2.5]",
        "[3, 1, 0]",
        "[0, 2.5, 2.5]",
    ]
    (strips,) = [one for one in ax.collections if isinstance(one, PatchCollection)]
    boxes = [box.get_path().get_extents() for box in ax.patches]
    widths = np.array([path.get_extents().width for path in strips.get_paths()])
    shares = [[1 / 3, 3.5 / 9, 2.5 / 9], [3 / 4, 1 / 4], [1 / 2, 1 / 2]]
    inner = [widths[:3].sum(), widths[3:5].sum(), widths[5:].sum()]
    np.testing.assert_allclose(np.split(widths, [3, 5])[1] / inner[1], shares[1])
    np.testing.assert_allclose(np.split(widths, [3, 5])[0] / inner[0], shares[0])
    np.testing.assert_allclose(np.split(widths, [3, 5])[2] / inner[2], shares[2])
    assert all(width < box.width for width, box in zip(inner, boxes, strict=True))
    colours = [mpl.colors.to_hex(colour).upper() for colour in strips.get_facecolors()]
    assert colours == [CLASS_COLOURS[c] for c in (0, 1, 2, 0, 1, 1, 2)]


# ---- how deep, and where to --------------------------------------------------------------------


def test_a_large_tree_is_drawn_as_deep_as_can_be_read():
    view = TREES["grown classes"]
    assert view.n_nodes > 31
    figure = tree_picture(view)
    drawn = texts(figure.axes[0])
    depth = int(max(view.depths[int(gid.split()[1])] for gid in drawn))
    assert len(drawn) == len(view.shown(depth)) <= 23 < len(view.shown(depth + 1))
    left_out = view.n_nodes - len(drawn)
    levels = f"{view.depth - depth} more level" + "s" * (view.depth - depth > 1)
    assert said(figure)[-1] == f"… drawn to depth {depth}; left out: {levels}, {left_out} nodes"
    whole = tree_picture(view, max_depth=view.depth)
    assert len(texts(whole.axes[0])) == view.n_nodes
    assert "left out" not in "".join(said(whole))


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_tree_is_drawn_to_a_file(tmp_path, ending):
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    view = TREES["classes"]
    for path in (tmp_path / f"tree.{ending}", str(tmp_path / f"other.{ending}")):
        ax = view.draw(path)
        assert texts(ax)
        with open(path, "rb") as file:
            assert file.read(5).startswith(begins[ending])
    assert plt.get_fignums() == []  # nothing is left to be closed


@pytest.mark.parametrize("name", ["tree", "tree.docx"])
def test_a_file_of_no_known_kind_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"must end in one of .*\.png.*; got '.*tree"):
        TREES["classes"].draw(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_forests_and_trees_draw_themselves(tmp_path):
    X, y = load_iris(return_X_y=True)
    forest = ForestClassifier(2, random_state=0).fit(X, y)
    for t in range(2):
        drawn = texts(forest.draw(t, tmp_path / "tree.png", max_depth=1))
        assert drawn == texts(forest[t].draw(max_depth=1))
        assert drawn["node 0"].startswith(forest.view(t).question(0))
    assert (tmp_path / "tree.png").stat().st_size > 1000
