"""The pictures of studies: surfaces, decision regions, bands over seeds, voters."""

import itertools
import statistics

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from pictures import (
    check_apart,
    check_within,
    draw_all,
    legend,
    notes,
    outside_panels,
    saved_twice,
    words,
    x_words,
)
from test_run_figures import names

from forestlab import figures
from forestlab.figures.regions import class_colours, fade
from forestlab.figures.style import NO_VALUE
from forestlab.figures.surface import Scale, best_cell, colour_scale
from forestlab.figures.voters import group_voters
from forestlab.study.plane import grid_of

TITLE = "Accuracy – a study of $ 5, and $ 7"
LONG = "a long title " * 30
SIZES = np.array([1, 2, 3, 5, 8, 12, 16, 20, 30, 40, 50, 60, 80, 100])
SPLITS = ("train", "valid", "test", "oob")
rng = np.random.default_rng(7)


def surface(n_depths=30, sizes=SIZES, top=0.95):
    """Like an accuracy: the prior at depth 0, then rising with depth and number of trees."""
    depths = np.arange(n_depths)
    values = top * (1 - np.exp(-depths / 4)) - 0.2 * (depths > 0) / np.asarray(sizes)[:, None]
    values = values + 0.01 * rng.random(values.shape)
    values[:, 0] = 0.1
    return values


def holed(values):
    values = values.copy()
    values[:2, -3:] = np.nan
    return values


def plane(n_classes, size=40, n_rows=60):
    """Grid, extent, rows and labels: each class is likely around a middle of its own."""
    middles = rng.normal(0, 3, (n_classes, 2))
    labels = np.arange(n_rows) % n_classes
    X = middles[labels] + rng.normal(0, 0.7, (n_rows, 2))
    places, extent = grid_of(X, size)
    near = np.exp(-0.5 * ((places[:, None] - middles) ** 2).sum(axis=2)) + 1e-3
    grid = (near / near.sum(axis=1, keepdims=True)).reshape(size, size, n_classes)
    return grid, extent, X, labels


def regions(n_classes, depths=(1, 3, 9), title=TITLE, features=("x", "y"), text="class", **options):
    grid, *rest = plane(n_classes, **options)
    grids = dict.fromkeys(depths, grid)
    return figures.decision_regions(grids, *rest, names(n_classes, text), features, title)


def densities(
    panels=("depth 1", "depth 3, chosen", "depth 9"),
    title=TITLE,
    features=("x", "y"),
    scale=1.0,
    **options,
):
    grid, extent, X, _ = plane(3, **options)
    grids = {note: scale * k * grid[..., 0] for k, note in enumerate(panels, 1)}
    return figures.density_maps(grids, extent, X, features, title)


def seeds(n, n_depths=12):
    return [0.9 - np.exp(-np.arange(n_depths + k % 3) / 3) + 0.02 * k for k in range(n)]


def votes(n_trees, n_rows, error=0.1):
    voters = np.bincount(rng.binomial(n_trees, 0.368, n_rows))
    which = np.flatnonzero(voters)
    return which, voters[which], np.where(which > 0, error + 0.3 / np.maximum(which, 1), np.nan)


def one_map(values, sizes, metric, split, title, better="higher"):
    return figures.surface_maps({split: values}, sizes, metric, title, better)


PICTURES = {
    "surface": lambda: one_map(surface(), SIZES, "accuracy", "test", TITLE),
    "surface, holes": lambda: one_map(holed(surface()), SIZES, "R²", "oob", LONG),
    "surface, lower": lambda: one_map(9e4 * (1 - surface()), SIZES, "mse", "valid", TITLE, "lower"),
    "surface, 1 size": lambda: one_map(
        surface(3, [100]), [100], "balanced_accuracy", "valid", TITLE
    ),
    "surface, 1 depth": lambda: one_map(surface(1), SIZES, "R²", "test", TITLE),
    "surface, 1 cell": lambda: one_map([[0.5]], [1], "R²", "test", TITLE),
    "surface, constant": lambda: one_map(np.zeros((3, 9)), [1, 9, 99], "e", "t", TITLE),
    "surface, rounding": lambda: one_map(
        1 + 1e-16 * np.arange(9).reshape(3, 3), [1, 9, 99], "e", "oob", TITLE, "lower"
    ),
    "surface, close": lambda: one_map(
        0.999 + 1e-5 * np.arange(9).reshape(3, 3), [1, 9, 99], "accuracy", "oob", TITLE
    ),
    "surface, no values": lambda: one_map(np.full((3, 9), np.nan), [1, 9, 99], "R²", "test", TITLE),
    "surface, 300 depths": lambda: one_map(surface(300), SIZES, "accuracy", "test", TITLE),
    "surface, 100 sizes": lambda: one_map(
        surface(20, 1 + np.arange(100)), 1 + np.arange(100), "accuracy", "test", TITLE
    ),
    "surfaces": lambda: figures.surface_maps(
        {split: surface() for split in SPLITS}, SIZES, "accuracy", TITLE
    ),
    "surfaces, 2": lambda: figures.surface_maps(
        {"train": surface(130, top=1.2), "oob": holed(surface(130))}, SIZES, "accuracy", LONG
    ),
    "surfaces, no oob": lambda: figures.surface_maps(
        {"train": 70 - surface(), "oob": np.full((14, 30), np.nan)}, SIZES, "rmse", TITLE, "lower"
    ),
    "regions": lambda: regions(3),
    "regions, 1 class": lambda: regions(1, ["full depth"]),
    "regions, 10 classes": lambda: regions(10, (0, 1, 3, 9, 20), title=LONG),
    "regions, 26 classes": lambda: regions(26, n_rows=400),
    "regions, 60 classes": lambda: regions(60),
    "regions, long names": lambda: regions(
        2,
        [1],
        features=["a very long name of a feature, in $"] * 2,
        text="$ a long name of a class",
    ),
    "regions, many rows": lambda: regions(2, n_rows=5001),
    "densities": lambda: densities(),
    "densities, 1 panel": lambda: densities(["depth 3, chosen"], LONG),
    "densities, long names": lambda: densities(
        features=["a very long name of a feature, in $"] * 2
    ),
    "densities, many rows": lambda: densities(n_rows=5001),
    "densities, none": lambda: densities(scale=0.0),
    "banded": lambda: figures.banded_curves({"forest": seeds(5), "tree": seeds(2)}, "R²", TITLE),
    "banded, 1 seed": lambda: figures.banded_curves({"tree": seeds(1)}, "R²", TITLE, "valid"),
    "banded, 1 depth": lambda: figures.banded_curves({"tree": seeds(4, 1)}, "R²", TITLE),
    "banded, no values": lambda: figures.banded_curves(
        {"tree": np.full((3, 5), np.nan), "none": []}, "R²", TITLE
    ),
    "banded, nothing": lambda: figures.banded_curves({}, "R²", TITLE),
    "banded, 50": lambda: figures.banded_curves(
        {f"max_features={k}, a very long label": seeds(3, 50) for k in range(50)}, "R²", LONG
    ),
    "voters": lambda: figures.voters_curve(*votes(100, 2000), TITLE),
    "voters, 10 trees": lambda: figures.voters_curve(*votes(10, 300_000), LONG),
    "voters, 1000 trees": lambda: figures.voters_curve(*votes(1000, 600_000), TITLE, "share wrong"),
    "voters, 1 row": lambda: figures.voters_curve([37], [1], [1.0], TITLE),
    "voters, 1 row, no share": lambda: figures.voters_curve([37], [1], [9.0], TITLE, std=[0.0]),
    "voters, no errors": lambda: figures.voters_curve([3, 4], [20, 30], [0.0, 0.0], TITLE),
    "voters, none": lambda: figures.voters_curve([0], [9], [np.nan], TITLE),
    "voters, no rows": lambda: figures.voters_curve([], [], [], TITLE),
    "voters, numbers": lambda: figures.voters_curve(
        np.arange(20, 50), np.full(30, 9), 4e3 + np.arange(30), TITLE, "|error|", np.full(30, 900.0)
    ),
}


@pytest.fixture(scope="module")
def drawn():
    return draw_all(PICTURES)


# ---- all pictures ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PICTURES)
def test_nothing_is_cut_off_and_the_first_axes_are_named(drawn, name):
    figure = drawn[name]
    check_within(figure)
    assert figure.axes[0].get_ylabel()
    assert any(ax.get_xlabel() for ax in figure.axes)
    assert " ".join(figure.get_suptitle().split()).startswith(("Accuracy – a study of $", "a long"))


@pytest.mark.parametrize("name", PICTURES)
def test_texts_stand_apart(drawn, name):
    check_apart(outside_panels(drawn[name]))


@pytest.mark.parametrize("name", ["surface, holes", "surfaces", "regions", "banded", "voters"])
def test_the_same_input_gives_the_same_bytes(tmp_path, name):
    saved_twice(PICTURES[name], rng, tmp_path)


def test_densities_have_the_same_colours_in_all_panels_and_rows_on_them(drawn):
    *panels, bar = drawn["densities"].axes
    assert len({ax.images[0].get_clim() for ax in drawn["densities"].axes}) == 1
    low, high = panels[0].images[0].get_clim()
    pooled = np.concatenate([ax.images[0].get_array().data.ravel() for ax in panels])
    assert (low, high) == (0.0, np.quantile(pooled, 0.999))  # spikes leave the rest its colours
    assert bar.get_ylim() == (0.0, high)
    assert [len(ax.lines[0].get_xdata()) for ax in panels] == [60] * 3
    assert len(drawn["densities, many rows"].axes[0].lines[0].get_xdata()) <= 2000
    assert drawn["densities, none"].axes[0].images[0].get_clim() == (0.0, 1.0)


# ---- surfaces ----------------------------------------------------------------------------------


def naive_best(values, sign):
    """(depth, size, value) of the best, by a walk through depths, then sizes; depth 0 has a say
    only if nothing is known of the others."""
    best = None
    known = ~np.isnan(values[:, 1:]).all()
    for depth in range(1 if known else 0, values.shape[1]):
        for i in range(values.shape[0]):
            value = values[i, depth]
            if value == value and (best is None or sign * value > sign * best[2]):
                best = (depth, i, value)
    return best


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_the_best_cell_is_ringed_and_named(better):
    for _ in range(6):
        values = rng.integers(0, 4, (3, 5)) / 4.0  # many are equal
        values[rng.random(values.shape) < 0.2] = np.nan
        depth, i, value = naive_best(values, 1 if better == "higher" else -1)
        assert best_cell(values, better) == (i, depth)
        figure = one_map(values, [1, 2, 50], "R²", "test", TITLE, better)
        (ring,) = figure.axes[0].lines
        assert (ring.get_xdata(), ring.get_ydata()) == ([depth], [i])
        trees = ["1 tree", "2 trees", "50 trees"][i]
        assert notes(figure) == f"test: {value:.4g} at depth {depth}, {trees}"


def test_a_surface_has_a_row_for_each_size_and_a_column_for_each_depth(drawn):
    for name, n_sizes in (("surface", 14), ("surface, 1 size", 1), ("surface, 1 cell", 1)):
        ax = drawn[name].axes[0]
        assert len(size_words(ax)) == n_sizes
        assert ax.get_xlabel() == "depth"
        assert ax.get_ylabel() == "number of trees"
        assert all(depth.isdecimal() for depth in x_words(ax))
        assert ax.get_ylim() == (-0.5, n_sizes - 0.5)  # few trees below
    assert size_words(drawn["surface"].axes[0]) == [str(size) for size in SIZES]
    assert len(size_words(drawn["surface, 100 sizes"].axes[0])) == 25
    assert drawn["surface"].axes[1].get_ylabel() == "accuracy"


def size_words(ax):
    transform = ax.get_yaxis_transform()
    return next(w.strings for w in words(ax) if w.get_offset_transform() == transform)


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_better_is_brighter(better):
    sign = 1 if better == "higher" else -1
    values = sign * np.array([[0.1, 0.7, 0.8, 0.9], [0.1, 0.75, 0.85, 0.95]])
    shades = image(one_map(values, [1, 2], "R²", "test", TITLE, better).axes[0])
    order = np.argsort(sign * values.ravel(), kind="stable")
    assert (np.diff(shades.ravel()[order]) >= 0).all()
    assert shades.max() == shades[1, 3] == 1.0
    assert shades.min() == shades[0, 0] == 0.0


def image(ax):
    return ax.images[0].get_array().filled(np.nan)


def test_unknown_cells_are_grey(drawn):
    values = np.array([[np.nan, 0.5], [np.inf, 0.75]])
    figure = one_map(values, [1, 2], "R²", "test", TITLE)
    ax = figure.axes[0]
    np.testing.assert_array_equal(np.isnan(image(ax)), [[True, False], [True, False]])
    papers = ax.images[0].to_rgba(ax.images[0].get_array())
    np.testing.assert_allclose(papers[0, 0, :3], to_rgb(NO_VALUE))
    assert ax.get_xlabel() == "depth (grey: no value)"
    assert notes(figure) == "test: 0.75 at depth 1, 2 trees"
    assert notes(drawn["surface, no values"]) == "test: no values"
    assert not drawn["surface, no values"].axes[0].lines


def bar_words(bar):
    """What stands beside the bar, {number: place, 0 … 1}, and at its tips."""
    beside, tips = {}, []
    for written in words(bar):
        for text, (_, y) in zip(written.strings, np.asarray(written.get_offsets()), strict=True):
            if text.startswith("to "):
                tips.append(text)
            else:
                beside[float(text)] = y
    return beside, tips


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_the_bar_numbers_its_colours_and_says_where_they_go_on(better):
    sign = 1 if better == "higher" else -1
    plateau = np.linspace(0.8, 0.9, 41)
    values = 5 + sign * np.append(plateau, [0.1, 0.1])[None]
    ax, bar = one_map(values, [9], "R²", "test", TITLE, better).axes
    # The fence cuts off the two of 0.1, and no other.
    lower, upper = np.quantile(sign * (values - 5), [0.25, 0.75])
    worst, best = 5 + sign * (lower - 1.5 * (upper - lower)), 5 + sign * 0.9
    assert 0.1 < lower - 1.5 * (upper - lower) < 0.8
    np.testing.assert_array_equal(image(ax)[0] == 0.0, [False] * 41 + [True] * 2)
    numbers, tips = bar_words(bar)
    assert tips == [f"to {5 + sign * 0.1:.3g}"]
    assert len(bar.patches) == 1
    assert len(numbers) >= 5
    for value, place in numbers.items():
        share = np.clip((value - best) / (worst - best), 0, 1)
        # So near to the best, a root makes a rounding error of 1e-16 one of 1e-8.
        np.testing.assert_allclose(place, 1 - np.sqrt(share), atol=1e-7)


def test_a_surface_without_outliers_is_shown_whole(drawn):
    values = np.linspace(0.2, 0.9, 12).reshape(3, 4)
    assert colour_scale(values, "higher") == Scale(0.2, 0.9)
    assert colour_scale(values, "lower") == Scale(0.9, 0.2)
    assert not one_map(values, [1, 2, 3], "R²", "test", TITLE).axes[1].patches


def test_nearly_all_equal_leaves_the_outliers_to_be_seen():
    values = np.ones(100)
    values[:3] = 0.5, 0.6, 0.7
    assert colour_scale(values, "higher") == Scale(0.5, 1.0)


def test_one_value_alone_is_numbered(drawn):
    for name, value in (("surface, 1 cell", 0.5), ("surface, constant", 0.0)):
        assert bar_words(drawn[name].axes[1]) == ({value: 1.0}, [])
    assert bar_words(drawn["surface, no values"].axes[1]) == ({}, [])


def test_each_split_has_a_scale_and_a_bar_of_its_own(drawn):
    test, train = np.array([[0.2, 0.5, 0.6]]), np.array([[0.1, 0.9, 1.0]])
    figure = figures.surface_maps({"train": train, "test": test}, [7], "R²", TITLE)
    first, second, *bars = figure.axes
    np.testing.assert_allclose(image(second), Scale(0.2, 0.6).shade(test))
    np.testing.assert_allclose(image(first), Scale(0.1, 1.0).shade(train))
    for bar, (least, most) in zip(bars, ((0.1, 1.0), (0.2, 0.6)), strict=True):
        numbers, tips = bar_words(bar)
        assert (min(numbers), max(numbers)) == (least, most)
        assert tips == []
    assert notes(figure) == "train: 1 at depth 2, 7 trees test: 0.6 at depth 2, 7 trees"
    assert [ax.get_ylabel() for ax in figure.axes] == ["number of trees", "", "", "R²"]
    assert [len(size_words(ax)) for ax in (first, second)] == [1, 0]


def test_a_bar_stands_beside_its_map_and_before_the_next(drawn):
    maps, bars = drawn["surfaces"].axes[:4], drawn["surfaces"].axes[4:]
    for k, (ax, bar) in enumerate(zip(maps, bars, strict=True)):
        assert ax.bbox.x1 < bar.bbox.x0
        assert k == 3 or bar.bbox.x1 < maps[k + 1].bbox.x0


def test_a_split_without_values_leaves_the_others_theirs(drawn):
    train, oob, *_ = drawn["surfaces, no oob"].axes
    assert np.ptp(image(train)) == 1.0
    assert np.isnan(image(oob)).all()
    assert "oob: no values" in notes(drawn["surfaces, no oob"])


# ---- regions -----------------------------------------------------------------------------------


def naive_fade(p, colour):
    """A pixel, by the formula."""
    n_classes = len(p)
    sure = (max(p) - 1 / n_classes) / (1 - 1 / n_classes)
    return [sure * channel + (1 - sure) for channel in colour[list(p).index(max(p))]]


def test_pixels_fade_to_white_as_the_class_gets_unsure():
    grid = rng.dirichlet(np.ones(4), (3, 5))
    grid[0, 0], grid[0, 1] = [0.25] * 4, [0, 1, 0, 0]
    colours = class_colours(4)
    shown = fade(grid, colours)
    for i, j in itertools.product(range(3), range(5)):
        np.testing.assert_allclose(shown[i, j], naive_fade(grid[i, j], colours))
    np.testing.assert_allclose(shown[0, 0], 1.0)
    np.testing.assert_allclose(shown[0, 1], colours[1])
    grid[1, 2, 3] = np.nan
    np.testing.assert_allclose(fade(grid, colours)[1, 2], to_rgb(NO_VALUE))
    np.testing.assert_allclose(
        fade(np.ones((2, 2, 1)), class_colours(1)), [[class_colours(1)[0]] * 2] * 2
    )


def test_a_class_is_painted_where_it_was_predicted():
    """Class 1 is right of x = 1 and above y = 10, and nothing is drawn over the places asked."""
    X = np.array([[0.0, 0.0], [2.0, 20.0]])
    places, extent = grid_of(X, 30)
    inside = (places[:, 0] > 1) & (places[:, 1] > 10)
    grid = np.stack([~inside, inside], axis=1).astype(float).reshape(30, 30, 2)
    figure = figures.decision_regions({3: grid}, extent, X, [0, 1], ["a", "b"], ["x", "y"], TITLE)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[::-1, :, :3] / 255  # from the bottom
    for x, y, k in ((1.5, 15, 1), (0.5, 15, 0), (1.5, 5, 0), (0.5, 5, 0)):
        column, row = figure.axes[0].transData.transform((x, y)).astype(int)
        # A channel is one of 256 steps.
        np.testing.assert_allclose(pixels[row, column], class_colours(2)[k], atol=1 / 255)


def test_panels_show_depths_rows_and_names(drawn):
    grid, extent, X, labels = plane(3)
    grids = {1: grid, np.int64(4): grid, "full depth": grid}
    figure = figures.decision_regions(grids, extent, X, labels, "abc", ["width", "height"], TITLE)
    assert notes(figure) == "depth 1 depth 4 full depth"
    assert [(ax.get_xlabel(), ax.get_ylabel()) for ax in figure.axes] == [
        ("width", "height"), ("width", ""), ("width", "")
    ]  # fmt: skip
    for ax in figure.axes:
        assert (*ax.get_xlim(), *ax.get_ylim()) == extent
        for k, line in enumerate(ax.lines):
            np.testing.assert_array_equal(np.column_stack(line.get_data()), X[labels == k])
            np.testing.assert_allclose(to_rgb(line.get_color()), class_colours(3)[k])
    assert legend(figure.axes[-1]) == ["a", "b", "c", "paler: less sure"]
    assert not legend(figure.axes[0])


@pytest.mark.parametrize("n_classes", [2, 7, 10, 11, 26, 40])
def test_classes_differ_in_colour(n_classes):
    colours = class_colours(n_classes)
    assert len(colours) == n_classes
    distances = [np.linalg.norm(a - b) for a, b in itertools.combinations(colours, 2)]
    # A tenth of a channel is about the least step that is seen side by side.
    assert min(distances) > 0.1


def test_many_classes_and_rows_are_said_to_be_more(drawn):
    assert legend(drawn["regions, 60 classes"].axes[-1])[-2:] == ["… 31 more", "paler: less sure"]
    many = drawn["regions, many rows"].axes[-1]
    assert legend(many)[-1] == "1667 of 5001 rows"
    assert sum(len(line.get_xdata()) for line in many.lines) == 1667


# ---- bands -------------------------------------------------------------------------------------


def naive_aligned(curves):
    longest = max(len(curve) for curve in curves)
    table = []
    for curve in curves:
        row = list(curve)
        while row and row[-1] != row[-1]:  # NaN
            row.pop()
        while len(row) < longest:
            row.append(row[-1] if row else np.nan)
        table.append(row)
    return np.array(table)


def test_short_curves_go_on_with_their_last_value():
    nan = np.nan
    curves = [[0.1, 0.5], [0.2], [nan, 0.3, nan, 0.4, nan], [nan, nan], [0.1, 0.2, 0.3, 0.4, 0.5]]
    np.testing.assert_array_equal(figures.aligned(curves), naive_aligned(curves))
    padded = figures.aligned(curves)
    np.testing.assert_array_equal(figures.aligned(padded), padded)
    assert figures.aligned([]).shape == (0, 0)
    assert figures.aligned([[], [1.0]]).shape == (2, 1)


def test_curves_that_run_on_each_other_are_all_seen():
    same = np.array([[0.3, 0.9, 0.9]])
    ax = figures.banded_curves(dict.fromkeys("abcd", same), "R²", TITLE).axes[0]
    widths = [line.get_linewidth() for line in ax.lines[::2]]
    marks = [line.get_markersize() for line in ax.lines[1::2]]
    for sizes in (widths, marks):  # the later, on top, are the smaller
        assert len(sizes) == 4
        assert (np.diff(sizes) < -0.5).all()


@pytest.mark.parametrize(("better", "sign"), [("higher", 1), ("lower", -1)])
def test_runs_are_shown_again_near_the_best(better, sign):
    depths = np.arange(9)
    curves = {f"run {k}": sign * (0.9 - np.exp(-depths) + 0.01 * k) for k in range(3)}
    lists = {name: [y] for name, y in curves.items()}
    whole, closer = figures.banded_curves(lists, "R²", TITLE, better=better).axes
    low, high = closer.get_ylim()
    ends = [y[-1] for y in curves.values()]
    assert low < min(ends) < max(ends) < high
    assert high - low < 0.1 < np.ptp(whole.get_ylim())
    for k, y in enumerate(curves.values()):
        np.testing.assert_array_equal(closer.lines[2 * k].get_ydata(), y)
    unknown = figures.banded_curves(lists, "R²", TITLE)  # which are the better ones
    assert len(unknown.axes) == 1


def test_a_band_is_a_standard_deviation_about_the_mean():
    curves = [[0.1, 0.5, 0.7], [0.2, 0.6], [0.3, 0.1, 0.6, 0.9]]
    table = naive_aligned(curves)
    ax = figures.banded_curves({"forest": curves}, "R²", TITLE).axes[0]
    mean = [statistics.mean(column) for column in table.T.tolist()]
    std = [statistics.stdev(column) for column in table.T.tolist()]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), mean)
    band = band_of(ax)
    for depth in range(4):
        ys = [y for x, y in band if x == depth]
        np.testing.assert_allclose(
            [min(ys), max(ys)], [mean[depth] - std[depth], mean[depth] + std[depth]]
        )
    assert notes(ax.figure) == "mean over seeds; bands: ± 1 standard deviation"
    assert legend(ax) == ["forest (3 seeds)"]
    assert ax.get_ylabel() == "R² (test)"


def band_of(ax):
    (band,) = [child for child in ax.collections if isinstance(child, PolyCollection)]
    return band.get_paths()[0].vertices


def test_a_padded_table_is_the_same_as_curves_of_unequal_length():
    curves = [np.array([0.1, 0.5, 0.7]), np.array([0.2, 0.6]), np.array([0.3, 0.1, 0.6, 0.9])]
    padded = np.full((3, 4), np.nan)
    for row, curve in zip(padded, curves, strict=True):
        row[: len(curve)] = curve
    one, other = (figures.banded_curves({"a": c}, "R²", TITLE).axes[0] for c in (curves, padded))
    np.testing.assert_array_equal(one.lines[0].get_ydata(), other.lines[0].get_ydata())
    np.testing.assert_array_equal(band_of(one), band_of(other))


def test_two_seeds_are_drawn_themselves(drawn):
    ax = figures.banded_curves({"a": [[0.1, 0.3], [0.2, 0.5]]}, "R²", TITLE).axes[0]
    thin, also_thin, mean, _ = ax.lines
    np.testing.assert_allclose([thin.get_ydata(), also_thin.get_ydata()], [[0.1, 0.3], [0.2, 0.5]])
    np.testing.assert_allclose(mean.get_ydata(), [0.15, 0.4])
    assert thin.get_linewidth() < mean.get_linewidth()
    assert notes(ax.figure) == "mean over seeds; thin: each seed"
    assert legend(drawn["banded"].axes[0]) == ["forest (5 seeds)", "tree (2 seeds)"]


def test_seeds_without_values_do_not_count(drawn):
    ax = drawn["banded, 1 seed"].axes[0]
    assert legend(ax) == ["tree (1 seed)"]
    assert len(ax.lines) == 2  # the curve, and the mark at its end
    assert not notes(ax.figure)
    assert legend(drawn["banded, no values"].axes[0]) == ["tree (0 seeds)", "none (0 seeds)"]
    curves = [[0.1, 0.2], [np.nan, np.nan], [0.3, 0.4]]
    assert legend(figures.banded_curves({"a": curves}, "R²", TITLE).axes[0]) == ["a (2 seeds)"]
    assert len(legend(drawn["banded, 50"].axes[0])) == 40


# ---- voters ------------------------------------------------------------------------------------


def test_groups_are_those_of_the_rows_themselves():
    """The rows are put one by one into the groups, and their errors averaged anew."""
    voters = rng.binomial(60, 0.368, 900)
    error = rng.gamma(2.0, 3.0, 900)
    which = np.unique(voters)
    parts = [error[voters == v] for v in which]
    groups = group_voters(
        which,
        np.array([len(part) for part in parts]),
        np.array([part.mean() for part in parts]),
        np.array([part.std() for part in parts]),
    )
    assert 5 < len(groups.rows) <= 20
    for k in range(len(groups.rows)):
        here = (voters >= groups.first[k]) & (voters <= groups.last[k])
        own = error[here]
        assert groups.rows[k] == len(own) >= 10
        half = statistics.stdev(own.tolist()) / len(own) ** 0.5
        expected = [voters[here].mean(), own.mean(), own.mean() - half, own.mean() + half]
        found = [groups.voters[k], groups.error[k], groups.low[k], groups.high[k]]
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    ("n_trees", "n_rows"), [(1, 50), (10, 9), (10, 2000), (100, 500), (1000, 9000)]
)
def test_every_row_with_voters_is_in_one_group(n_trees, n_rows):
    voters, rows, error = votes(n_trees, n_rows)
    groups = group_voters(voters, rows, error, None)
    assert groups.rows.sum() == rows[voters > 0].sum()
    assert len(groups.rows) <= 20
    assert (groups.first <= groups.last).all()
    assert (groups.first[1:] > groups.last[:-1]).all()
    assert (groups.rows >= 10).all() or len(groups.rows) == 1


def test_a_share_of_few_rows_is_not_certain():
    """Agresti and Coull's interval by hand, for 0 of 24 rows: the centre is ½ of 25."""
    groups = group_voters(np.array([5]), np.array([24]), np.array([0.0]), None)
    half = (0.02 * 0.98 / 25) ** 0.5
    np.testing.assert_allclose([groups.low[0], groups.high[0]], [0.0, 0.02 + half])
    all_wrong = group_voters(np.array([5]), np.array([24]), np.array([1.0]), None)
    np.testing.assert_allclose([all_wrong.low[0], all_wrong.high[0]], [0.98 - half, 1.0])


def test_voters_show_errors_and_below_them_rows(drawn):
    figure = figures.voters_curve([0, 3, 4], [2, 20, 60], [np.nan, 0.5, 0.1], TITLE)
    errors, rows = figure.axes
    assert (
        notes(figure) == "dashed: 0.2, mean of 80 rows; ± 1 standard error; 2 rows without voters"
    )
    dashed, points = errors.lines
    assert list(dashed.get_ydata()) == [0.2, 0.2]
    np.testing.assert_allclose(points.get_data(), [[3, 4], [0.5, 0.1]])
    np.testing.assert_array_equal([bar.get_height() for bar in rows.patches], [20, 60])
    assert errors.get_xlim() == rows.get_xlim() == (2.5, 4.5)
    assert errors.get_ylabel() == "error"
    for name in ("voters", "voters, 1000 trees", "voters, numbers"):
        errors, rows = drawn[name].axes
        areas = sum(bar.get_height() * bar.get_width() for bar in rows.patches)
        n_rows = int(notes(drawn[name]).split(" rows")[0].split()[-1])
        np.testing.assert_allclose(areas, n_rows)
        assert all(count.isdecimal() for count in x_words(rows))
    assert notes(drawn["voters, none"]) == "9 rows without voters no rows "
