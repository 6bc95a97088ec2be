"""Drawn trees: boxes apart, texts within their boxes, and all names there."""

import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

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
    view.tree.nodes["n_rows"] = 1000 * view.tree.nodes["weight"]
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
    ax = view.draw()
    assert_tidy(ax, view.n_nodes)
    frame = ax.figure.bbox
    for box in extents(ax, ax.patches).values():
        assert frame.x0 < box.x0 < box.x1 < frame.x1
        assert frame.y0 < box.y0 < box.y1 < frame.y1


def test_given_axes_show_the_whole_tree():
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), dpi=150)
    for ax, name in zip(axes, ("classes", "means"), strict=True):
        assert TREES[name].draw(ax) is ax
        assert_tidy(ax, TREES[name].n_nodes)
        for box in extents(ax, ax.patches).values():
            assert ax.bbox.padded(1).contains(box.x0, box.y0)
            assert ax.bbox.padded(1).contains(box.x1, box.y1)
    assert figure.get_size_inches().tolist() == [11, 5]


def test_all_questions_and_values_appear():
    view = TREES["classes"]
    shown = texts(view.draw())
    for i in range(view.n_nodes):
        expected = view.value_text(i) if view.ends_at(i) else view.question(i)
        assert " ".join(shown[f"node {i}"].split()) == " ".join(expected.split())


def test_statistics_are_shown_of_grown_trees_only():
    grown = TREES["grown classes"]
    assert texts(grown.draw())["node 0"].endswith("\n21000 rows\nimpurity 0.9")
    assert "rows" not in texts(grown.draw(show_stats=False))["node 0"]
    assert "rows" not in texts(TREES["classes"].draw())["node 0"]


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
    ax = TREES[name].draw()
    words = [text for text in ax.texts if text.get_text() in ("yes", "no")]
    assert len(words) == (TREES[name].n_nodes - 1 if every_edge else 2)
    ax.figure.canvas.draw()
    boxes = list(extents(ax, ax.patches).values())
    assert all_apart([*boxes, *(word.get_window_extent() for word in words)])
    yes, no = sorted(words[:2], key=lambda word: word.get_position()[0])
    assert (yes.get_text(), no.get_text()) == ("yes", "no")


def test_leaves_are_evenly_spaced_and_parents_centred():
    view = TREES["means"]
    boxes = extents(view.draw(), plt.gca().patches)
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
    ax = view.draw()
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
    ax = build_tree(chain).draw()
    assert max(ax.figure.get_size_inches()) < 102
    ax.figure.canvas.draw()
