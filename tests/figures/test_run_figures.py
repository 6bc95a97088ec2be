"""The pictures of a run: they show what they are given, name all axes, and cut nothing off."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread
from pictures import (
    check_apart,
    check_within,
    draw_all,
    legend,
    notes,
    outside_panels,
    saved_twice,
    word_boxes,
    words,
    x_words,
)

from forestlab import figures
from forestlab.figures.style import quantile_bins, told_apart
from forestlab.figures.words import numbers
from forestlab.figures.zoom import near

TITLE = "Accuracy – a run of $ 5, and $ 7"
SPLITS = ("train", "valid", "test", "oob")
rng = np.random.default_rng(7)


def rising(n, top=0.9):
    return top * (1.0 - np.exp(-np.arange(n) / 3.0)) + 0.05


def parts(total, share=0.5):
    return total, share * total, total - share * total, 2.0 * total


def classification(n, share_wrong=0.2):
    return parts(rng.gamma(2.0, 0.3, n), rng.uniform(0.2, 0.9, n)), rng.random(n) < share_wrong


def untold(n):
    return np.full(n, np.nan), np.full(n, np.nan), np.full(n, np.nan), rising(n)


def matrix(n_classes):
    counts = rng.poisson(40 / n_classes, (n_classes, n_classes)) * rng.integers(0, 2, n_classes)
    return counts + np.diag(rng.poisson(90, n_classes))


def names(n, text="class"):
    return [f"{text} {i}" for i in range(n)]


REASON = "no row was held out: there are neither bags nor validation rows"
CURVES = {split: rising(13, 0.9 - 0.05 * k) for k, split in enumerate(SPLITS)}
NAN = np.full(13, np.nan)
# Beyond some depth, train has no errors; the others are close to each other.
ERRORS = {
    split: np.maximum(0.9 * np.exp(-np.arange(13.0)), 0.02 + 0.001 * k)
    for k, split in enumerate(SPLITS)
}
ERRORS["train"] = np.where(np.arange(13) < 5, 0.9 * np.exp(-np.arange(13.0)), 0.0)

PICTURES = {
    "depth": lambda: figures.depth_curve(CURVES, "accuracy", TITLE, 12, "valid"),
    "depth, no oob": lambda: figures.depth_curve(CURVES | {"oob": NAN}, "accuracy", TITLE),
    "depth, one": lambda: figures.depth_curve({"test": [0.5], "valid": [0.4]}, "R²", TITLE),
    "depth, no values": lambda: figures.depth_curve({"valid": NAN}, "R²", TITLE),
    "depth, no curves": lambda: figures.depth_curve({}, "R²", TITLE),
    "depth, large": lambda: figures.depth_curve({"test": 3e7 / rising(9)}, "MSE", TITLE),
    "depth, errors": lambda: figures.depth_curve(ERRORS, "error", TITLE, 4, "valid", "lower"),
    "depth, no errors": lambda: figures.depth_curve(
        {"test": np.zeros(9)}, "error", TITLE, better="lower"
    ),
    "size, errors": lambda: figures.size_curve(np.arange(1, 14), ERRORS, "error", TITLE, "lower"),
    "depth, constant": lambda: figures.depth_curve({"test": np.ones(9)}, "MSE", TITLE),
    "depth, almost constant": lambda: figures.depth_curve(
        {"test": 0.99991 + 1e-6 * np.arange(5)}, "MSE", TITLE
    ),
    "depth, 300": lambda: figures.depth_curve({"valid": rising(300)}, "MSE", "a long title " * 30),
    "size": lambda: figures.size_curve(np.arange(1, 14), CURVES, "error", TITLE),
    "size, many": lambda: figures.size_curve(2 ** np.arange(13), CURVES, "error", TITLE),
    "size, one": lambda: figures.size_curve([1], {"test": [0.3], "oob": [np.nan]}, "error", TITLE),
    "size, one of many": lambda: figures.size_curve([300], {"test": [0.3]}, "error", TITLE),
    "size, 60 to 70": lambda: figures.size_curve([60, 70], {"test": [0.3, 0.2]}, "error", TITLE),
    "confusion": lambda: figures.confusion(matrix(10), range(10), TITLE),
    "confusion, 1": lambda: figures.confusion([[3]], ["all"], TITLE),
    "confusion, 2": lambda: figures.confusion([[40123, 312], [0, 2]], ["no", "yes"], TITLE),
    "confusion, no rows": lambda: figures.confusion(np.zeros((2, 2)), ["no", "yes"], TITLE),
    "confusion, 20": lambda: figures.confusion(200 * matrix(20), names(20), TITLE),
    "confusion, 30": lambda: figures.confusion(matrix(30), names(30, "$ long name " * 9), TITLE),
    "confusion, 300": lambda: figures.confusion(matrix(300), names(300), TITLE),
    "classification": lambda: figures.uncertainty_classification(*classification(900), TITLE),
    "classification, 5": lambda: figures.uncertainty_classification(*classification(5), TITLE),
    "classification, no errors": lambda: figures.uncertainty_classification(
        *classification(90, 0.0), TITLE
    ),
    "classification, all wrong": lambda: figures.uncertainty_classification(
        *classification(90, 1.0), TITLE
    ),
    "classification, no noise": lambda: figures.uncertainty_classification(
        parts(rising(50), 0.0), np.arange(50) < 9, TITLE, 1e-7
    ),
    "classification, untold": lambda: figures.uncertainty_classification(
        untold(50), np.arange(50) < 9, TITLE, np.nan, REASON
    ),
    "regression": lambda: figures.uncertainty_regression(parts(rising(99)), rising(99) ** 2, TITLE),
    "regression, large": lambda: figures.uncertainty_regression(
        parts(1e7 * rising(99)), 4e3 * rising(99), TITLE, 12345.6
    ),
    "regression, many": lambda: figures.uncertainty_regression(
        parts(rng.gamma(3, 1, 6000)), rng.gamma(1, 1, 6000), TITLE
    ),
    "regression, 5": lambda: figures.uncertainty_regression(parts(rising(5)), rising(5), TITLE),
    "regression, no errors": lambda: figures.uncertainty_regression(
        parts(rising(50)), np.zeros(50), TITLE
    ),
    "regression, untold": lambda: figures.uncertainty_regression(
        untold(50), rising(50), TITLE, np.nan, REASON
    ),
    "importance": lambda: figures.importance(names(64), rising(64), 0.1 * rising(64), TITLE),
    "importance, 1": lambda: figures.importance(["only"], [1.0], [0.0], TITLE),
    "importance, none": lambda: figures.importance(names(3), np.zeros(3), None, TITLE),
    "importance, negative": lambda: figures.importance(
        names(3, "a long name of a feature, in $"), [-0.1, 0.2, 0.0], [0.1, 0.1, 0.1], TITLE
    ),
    "importance, 784": lambda: figures.importance(names(784), rising(784), None, TITLE),
    "pixels": lambda: figures.importance(
        names(784), rising(784), None, TITLE, image_shape=(28, 28)
    ),
    "pixels, negative": lambda: figures.importance(
        names(60), rng.normal(0, 1, 60), None, TITLE, image_shape=(5, 4, 3)
    ),
    "two importances": lambda: figures.two_importances(
        names(64), (rising(64), 0.1 * rising(64)), (rng.normal(0, 1, 64), rising(64)), TITLE
    ),
    "two importances, 1": lambda: figures.two_importances(["only"], ([1], None), ([0], [0]), TITLE),
    "two importances, long names": lambda: figures.two_importances(
        names(3, "a long name of a feature, in $"), (np.ones(3), None), (np.zeros(3), None), TITLE
    ),
    "two maps": lambda: figures.two_importances(
        names(784), (rising(784), None), (rising(784) - 0.06, None), TITLE, (28, 28)
    ),
    "strength": lambda: figures.strength_curve(
        2 * rising(13) - 0.9, rising(13), 0.2 / rising(13) ** 2, TITLE, 0.9 - 0.8 * rising(13)
    ),
    "strength, no error": lambda: figures.strength_curve(rising(60), rising(60), rising(60), TITLE),
    "strength, no values": lambda: figures.strength_curve(NAN, NAN, NAN, TITLE),
    "strength, one": lambda: figures.strength_curve([-0.7], [1.0], [np.nan], TITLE, [0.8]),
    "strength, wide": lambda: figures.strength_curve(
        rising(13), rising(13), 10.0 ** np.arange(9, -4, -1), TITLE
    ),
    "residuals": lambda: figures.residual_curve(
        9 - 5 * rising(13), 1 - 0.5 * rising(13), 40 - 30 * rising(13), TITLE, 7 - 5 * rising(13)
    ),
    "residuals, no values": lambda: figures.residual_curve(NAN, NAN, NAN, TITLE),
    "residuals, one": lambda: figures.residual_curve([9e6], [-0.02], [-1e3], TITLE),
    "banded": lambda: figures.banded_curves({"ρ=1, $": [rising(5)]}, "R²", TITLE, "valid"),
    "banded, 100": lambda: figures.banded_curves(
        {f"max_features={k}, a very long label": [rising(5 + k % 3, k)] for k in range(100)},
        "R²",
        TITLE,
        "test",
    ),
}


@pytest.fixture(scope="module")
def drawn():
    return draw_all(PICTURES)


# ---- all pictures ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PICTURES)
def test_nothing_is_cut_off_and_all_axes_are_named(drawn, name):
    figure = drawn[name]
    assert isinstance(figure, Figure)
    check_within(figure)
    is_bar = [ax.bbox.width < 20 for ax in figure.axes]
    for ax, bar in zip(figure.axes, is_bar, strict=True):
        assert ax.get_ylabel() or "two importances" in name  # the names on the left are of both
        assert ax.get_xlabel() or bar
    assert " ".join(figure.get_suptitle().split()).startswith(("Accuracy – a run of $", "a long"))


@pytest.mark.parametrize("name", PICTURES)
def test_texts_stand_apart(drawn, name):
    figure = drawn[name]
    aslant = "classification" in name or "regression" in name

    def beside_slanted(a, b):
        return aslant and min(a.y0, b.y0) < figure.axes[0].bbox.y0

    check_apart(outside_panels(figure), beside_slanted)


@pytest.mark.parametrize("name", ["depth", "confusion", "classification", "regression", "pixels"])
def test_the_same_input_gives_the_same_bytes(tmp_path, name):
    assert b"atplotlib" not in saved_twice(PICTURES[name], rng, tmp_path)
    picture = PICTURES["depth"]()
    figures.save(picture, tmp_path / "picture.png")
    shown = np.asarray(picture.canvas.buffer_rgba())
    assert (imread(tmp_path / "picture.png") * 255 == shown[:, :, :3]).all()


def test_a_figure_without_a_canvas_of_agg_can_be_saved(tmp_path):
    figures.save(Figure((1, 1)), tmp_path / "empty.png")
    assert (tmp_path / "empty.png").stat().st_size > 50


def test_pictures_need_no_pyplot():
    code = "import forestlab.figures, sys; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# ---- curves ------------------------------------------------------------------------------------


def lines(ax):
    return {line.get_label(): line for line in ax.lines}


@pytest.mark.parametrize("name", ["depth", "size"])
def test_curves_show_their_values_in_their_split_s_colour(drawn, name):
    shown = lines(drawn[name].axes[0])
    for split in SPLITS:
        np.testing.assert_array_equal(shown[split].get_ydata(), CURVES[split])
        first = 1 if name == "size" else 0
        np.testing.assert_array_equal(shown[split].get_xdata(), np.arange(13) + first)
        assert to_hex(shown[split].get_color()) == figures.SPLIT_COLOURS[split].lower()
    assert len(set(figures.SPLIT_COLOURS.values())) == 4


def test_the_chosen_depth_is_marked():
    curves = {"valid": [0.1, 0.7, np.nan, 0.7], "test": [0.0, 0.25, 0.5, 0.75]}
    figure = figures.depth_curve(curves, "score", TITLE, 1, "valid")
    assert notes(figure) == "dashed: depth 1, chosen by validation rows; ring: test 0.25"
    *_, upright, ring = figure.axes[0].lines
    assert list(upright.get_xdata()) == [1, 1]
    assert (ring.get_xdata(), ring.get_ydata()) == ([1], [0.25])


def test_the_marked_depth_needs_no_reason_and_none_is_marked_by_itself():
    curves = {"oob": [0.1, 0.3, 0.2], "test": [0.5, 0.6, 0.7]}
    assert notes(figures.depth_curve(curves, "R²", TITLE, chosen=2)) == (
        "dashed: depth 2; ring: test 0.7"
    )
    assert notes(figures.depth_curve(curves, "R²", TITLE)) == ""


def test_errors_have_a_logarithmic_scale_on_which_none_is_below_all_others(drawn):
    for name in ("depth, errors", "size, errors"):
        ax = drawn[name].axes[0]
        assert ax.get_yscale() == "log"
        shown, least = lines(ax), min(y[y > 0].min() for y in ERRORS.values())
        np.testing.assert_array_equal(shown["test"].get_ydata(), ERRORS["test"])
        train = shown["train"].get_ydata()
        np.testing.assert_array_equal(train[:5], ERRORS["train"][:5])
        floor = train[5]
        assert (train[5:] == floor).all()
        assert ax.get_ylim()[0] < floor < least
        assert y_places(ax)["0"] == floor
    assert drawn["depth"].axes[0].get_yscale() == "linear"
    assert drawn["depth, no errors"].axes[0].get_yscale() == "linear"


def y_places(ax):
    """What stands along the y axis, and where."""
    transform = ax.get_yaxis_transform()
    written = next(w for w in words(ax) if w.get_offset_transform() == transform)
    return dict(zip(written.strings, np.asarray(written.get_offsets())[:, 1], strict=True))


def test_a_closer_look_shows_what_the_whole_range_hides(drawn):
    whole, closer = drawn["depth, errors"].axes
    low, high = closer.get_ylim()
    near_best = [ERRORS[split][-1] for split in SPLITS if split != "train"]
    assert low < min(near_best) < max(near_best) < high < 0.1
    assert max(near_best) - min(near_best) > 0.09 * (high - low)
    np.testing.assert_array_equal(lines(closer)["test"].get_ydata(), ERRORS["test"])
    for ax in (whole, closer):
        *_, upright, ring = ax.lines
        assert list(upright.get_xdata()) == [4, 4]
        assert (ring.get_xdata(), ring.get_ydata()) == ([4], [ERRORS["test"][4]])
    assert notes(drawn["depth, errors"]) == (
        "dashed: depth 4, chosen by validation rows the same, near the best; ring: test 0.022"
    )


@pytest.mark.parametrize(
    ("ends", "values"),
    [([0.5, 0.5], [0.1, 0.9]), ([0.2, 0.8], [0.1, 0.9]), ([np.nan], [0.1, 0.9]), ([], [])],
)
def test_there_is_no_closer_look_at_one_value_or_at_most_of_the_range(ends, values):
    assert near(ends, np.array(values)) is None


def test_a_closer_look_at_errors_does_not_go_below_0():
    low, high = near([0.001, 0.011], np.array([0.001, 0.011, 0.9]))
    assert low == 0.0
    assert high == pytest.approx(0.011 + 0.009 - 0.00001)  # a hundredth of the whole range
    assert near([-0.5, -0.4], np.array([-9.0, -0.4]))[0] == pytest.approx(-0.5 - 0.086)


def test_depths_and_sizes_are_whole_numbers(drawn):
    for name in ("depth", "depth, one", "depth, 300", "size", "size, many", "size, one"):
        depths = x_words(drawn[name].axes[0])
        assert depths
        assert all(depth.isdecimal() for depth in depths)


def test_many_trees_are_on_a_logarithmic_axis(drawn):
    assert drawn["size"].axes[0].get_xscale() == "linear"
    assert drawn["size, many"].axes[0].get_xscale() == "log"
    assert x_words(drawn["size, many"].axes[0])[:4] == ["1", "2", "5", "10"]
    assert notes(drawn["size, one"]) == "with 1 tree: test 0.3"


def test_an_absent_curve_is_said_to_be_absent(drawn):
    assert legend(drawn["depth"].axes[-1]) == list(SPLITS)
    assert legend(drawn["depth, no oob"].axes[-1]) == ["train", "valid", "test", "oob: none"]


def test_each_run_of_a_sweep_has_a_line(drawn):
    ax = drawn["banded, 100"].axes[0]
    shown = ax.lines[:200:2]  # between them stand the marks at their ends
    assert len({to_hex(line.get_color()) for line in shown}) == 100
    for k, line in enumerate(shown):
        np.testing.assert_array_equal(line.get_ydata(), rising(5 + k % 3, k))
    assert len(legend(ax)) == 40
    assert legend(ax)[-1] == "… 61 more"
    assert drawn["banded"].axes[0].get_ylabel() == "R² (valid)"


def test_numbers_are_written_so_that_they_differ():
    assert numbers(np.array([-0.0, 0.5, 1e7])) == ["0", "0.5", "1e+07"]
    assert numbers(np.array([0.12345671, 0.12345672])) == ["0.12345671", "0.12345672"]
    assert numbers(np.array([0.12341, 0.12342]), 3, 4) == ["0.1234", "0.1234"]


# ---- confusion ---------------------------------------------------------------------------------


def cells(ax):
    """(row, column) → what its cell says"""
    written = next(w for w in words(ax) if w.get_offset_transform() == ax.transData)
    places = np.asarray(written.get_offsets()).astype(int)
    return {(i, j): s for (j, i), s in zip(places.tolist(), written.strings, strict=True)}


def test_confusion_shows_counts_recalls_and_shares():
    figure = figures.confusion([[6, 2, 0], [0, 0, 0], [0, 3, 9]], ["a", "b", "c"], TITLE)
    counts, recalls, shares = figure.axes
    assert cells(counts) == {(0, 0): "6", (0, 1): "2", (2, 1): "3", (2, 2): "9"}
    assert cells(recalls) == {(0, 0): "75.0", (0, 1): "25.0", (2, 1): "25.0", (2, 2): "75.0"}
    assert cells(shares) == {(0, 0): "30.0", (0, 1): "10.0", (2, 1): "15.0", (2, 2): "45.0"}
    assert np.isnan(recalls.images[0].get_array().filled(np.nan)[1]).all()
    np.testing.assert_allclose(shares.images[0].get_array().sum(), 100)
    assert "20; 75.0% right" in notes(figure)
    assert [(ax.get_xlabel(), ax.get_ylabel()) for ax in figure.axes] == 3 * [("predicted", "true")]


@pytest.mark.parametrize("name", ["confusion", "confusion, 2", "confusion, 20"])
def test_cell_numbers_fit_their_cells_and_stand_out(drawn, name):
    for ax in drawn[name].axes:
        written = next(w for w in words(ax) if w.get_offset_transform() == ax.transData)
        pixels = ax.bbox.width / len(ax.images[0].get_array())
        assert max(box.width for box in word_boxes(written)) < pixels
        papers = ax.images[0].to_rgba(ax.images[0].get_array())
        for (i, j), letters in zip(cells(ax), written.get_facecolors(), strict=True):
            paper, letter = luminance(papers[i, j]), luminance(letters)
            assert (max(paper, letter) + 0.05) / (min(paper, letter) + 0.05) > 4.5


def luminance(colour):
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_many_classes_have_colours_only_and_few_labels(drawn):
    for name, n_labels in (("confusion, 30", 30), ("confusion, 300", 20)):
        figure = drawn[name]
        assert [len(w.strings) for w in words(figure.axes[0])] == [n_labels, n_labels]
        assert "darkest" in notes(figure)
        assert max(figure.bbox.size) < 2500


# ---- uncertainty -------------------------------------------------------------------------------


def test_error_rates_are_those_of_the_bins(drawn):
    total = np.repeat([0.0, 0.5, 1.0], [50, 30, 20])
    wrong = np.concatenate([np.zeros(50), np.arange(30) < 6, np.arange(20) < 15])
    figure = figures.uncertainty_classification(parts(total), wrong, TITLE)
    ax = figure.axes[0]
    assert [bar.get_height() for bar in ax.patches] == [0.0, 6 / 30, 15 / 20]
    assert words(ax)[0].strings == ["50", "30", "20"]
    assert words(ax)[1].strings == ["0", "0.5", "1"]  # the bins' means
    assert notes(figure).startswith("21 of 100 rows wrong")


def test_bars_are_the_noise_and_on_it_what_is_not_known():
    total, abs_error = np.repeat([1.0, 4.0], 20), np.repeat([3.0, 4.0, 0.0, 2.0], 10)
    pictures = (
        figures.uncertainty_classification(parts(total, 0.25), total > 2, TITLE, 0.0123),
        figures.uncertainty_regression(parts(total, 0.25), abs_error, TITLE, 0.0123),
    )
    for figure in pictures:
        noise, unknown = np.split(np.array(figure.axes[1].patches), 2)
        assert [bar.get_height() for bar in noise] == [0.25, 1.0]
        assert [bar.get_y() for bar in unknown] == [0.25, 1.0]
        assert [bar.get_height() for bar in unknown] == [0.75, 3.0]
        assert "noise (aleatoric): 0.62 ± 0.01" in legend(figure.axes[1])
    (measured,) = pictures[1].axes[1].lines
    np.testing.assert_allclose(measured.get_ydata(), [12.5, 2.0])  # means of 9, 16 and of 0, 4


def test_every_row_stands_where_its_parts_are():
    found, wrong = classification(90)
    right_rows, wrong_rows = (
        figures.uncertainty_classification(found, wrong, TITLE).axes[2].collections[:2]
    )
    both = np.column_stack([found[1], found[2]])
    np.testing.assert_array_equal(right_rows.get_offsets(), both[~wrong])
    np.testing.assert_array_equal(wrong_rows.get_offsets(), both[wrong])


def test_what_cannot_be_told_is_said_and_no_panel_is_empty(drawn):
    for name in ("classification, untold", "regression, untold"):
        (ax,) = drawn[name].axes
        title = drawn[name].get_suptitle().replace("\n", " ")
        assert title.endswith(f"(noise and what is not known cannot be told: {REASON})")
        assert len(ax.patches) + len(ax.collections) > 0
        assert "aleatoric" not in " ".join(legend(ax))
    (rates,) = [drawn["classification, untold"].axes[0].patches]
    assert sum(bar.get_height() for bar in rates) > 0


def test_rows_with_a_nan_are_left_out():
    values = np.array([0.1, np.nan, 0.3, 0.2])
    found = parts(values)
    figure = figures.uncertainty_classification(found, values > 0.25, TITLE)
    assert notes(figure).startswith("1 of 3 rows wrong")
    assert notes(figures.uncertainty_regression(found, values, TITLE)).startswith("3 rows")
    unvoted = figures.uncertainty_classification(parts(rising(4)), values, TITLE)
    assert notes(unvoted).startswith("3 of 3 rows wrong")


def test_regression_shows_the_error_of_rows_by_the_root_of_the_total():
    total, abs_error = np.repeat([1.0, 4.0], 20), rising(40)
    scatter = figures.uncertainty_regression(parts(total), abs_error, TITLE).axes[0]
    np.testing.assert_array_equal(
        scatter.collections[0].get_offsets(), np.column_stack([np.sqrt(total), abs_error])
    )


def test_many_rows_are_shown_as_hexagons_that_count_them_all(drawn):
    hexagons = drawn["regression, many"].axes[0].collections[0]
    assert hexagons.get_array().sum() == 6000


@pytest.mark.parametrize("n", [1, 5, 37, 1000])
def test_quantile_bins_are_about_equal_and_hold_what_they_say(n):
    values = rng.normal(size=n)
    edges, places = quantile_bins(values)
    assert edges[0] == values.min()
    assert edges[-1] == values.max()
    assert np.ptp(np.bincount(places)) <= 1
    assert (values <= edges[places + 1]).all()
    assert ((values > edges[places]) | (places == 0)).all()


def test_rows_that_are_all_alike_have_no_picture():
    for n in (0, 1, 50):
        same, wrong = parts(np.ones(n), 0.5), np.arange(n) < 9
        assert figures.uncertainty_classification(same, wrong, TITLE, 0.0123) is None
        assert figures.uncertainty_regression(same, rising(n), TITLE) is None
    alike = np.full(3, np.nan), np.full(3, np.nan), np.full(3, np.nan), np.ones(3)
    assert figures.uncertainty_classification(alike, wrong[:3], TITLE, np.nan, REASON) is None


def test_rows_are_shown_by_their_parts_only_where_both_vary(drawn):
    assert len(drawn["classification"].axes) == 3
    for share in (0.0, 1.0):
        found = parts(rising(50), share)
        figure = figures.uncertainty_classification(found, np.arange(50) < 9, TITLE)
        assert len(figure.axes) == 2


def test_bins_are_told_by_their_means_each_by_another_number(drawn):
    for name in ("classification", "regression", "regression, large"):
        shown = x_words(drawn[name].axes[1])
        assert len(shown) == len(set(shown)) == 10 if name == "classification" else 9
        assert shown == sorted(shown, key=float)


def test_values_that_differ_by_rounding_share_a_bin():
    values = np.repeat([0.1, 0.1 + 1e-16, 0.3], 20)
    edges, places = quantile_bins(values)
    np.testing.assert_array_equal(np.bincount(places), [40, 20])
    assert edges[-1] == 0.3


# ---- names -------------------------------------------------------------------------------------


def test_long_names_keep_what_tells_them_apart():
    long = [f"the quite long name of number {k:02d}, and so on" for k in range(26)]
    for letters in (12, 20, 30, 40):
        shown = told_apart(long, letters)
        assert len(set(shown)) == 26
        assert max(map(len, shown)) <= letters
        assert all(f"{k:02d}" in name for k, name in enumerate(shown))
    assert told_apart(["short", "names"], 12) == ["short", "names"]
    assert told_apart(["one long name alone"], 10) == ["one lo…one"]
    assert told_apart([], 10) == []


# ---- importance --------------------------------------------------------------------------------


def test_bars_are_sorted_and_named():
    mean, std = np.array([0.1, 0.5, 0.3, 0.3]), np.array([0.01, 0.05, 0.03, 0.02])
    ax = figures.importance(list("abcd"), mean, std, TITLE, most=3).axes[0]
    assert [bar.get_width() for bar in ax.patches] == [0.5, 0.3, 0.3]
    assert words(ax)[0].strings == ["b", "c", "d"]
    low, high = ax.get_ylim()
    assert low > high  # the first bar is on top
    spreads = np.array(ax.collections[0].get_segments())[:, :, 0]
    np.testing.assert_allclose(spreads, [[0.45, 0.55], [0.27, 0.33], [0.28, 0.32]])
    assert ax.texts[0].get_text() == (
        "the 3 most important of 4 features; lines: ± 1 standard error over trees"
    )
    assert ax.get_xlim()[0] == 0.0  # where nothing is below


def test_pixels_are_a_heat_map(drawn):
    ax, bar = drawn["pixels"].axes
    np.testing.assert_allclose(ax.images[0].get_array(), rising(784).reshape(28, 28))
    assert bar.get_ylabel() == "importance"
    assert bar.get_ylim() == (0, rising(784).max())
    assert drawn["pixels, negative"].axes[0].images[0].get_array().shape == (5, 4)


def test_two_kinds_of_importance_show_the_same_features():
    impurity, permutation = np.array([0.1, 0.5, 0.3, 0.05]), np.array([0.0, 0.2, -0.1, 0.9])
    figure = figures.two_importances(
        list("abcd"), (impurity, 0.1 * impurity), (permutation, None), TITLE, most=3
    )
    left, right = figure.axes
    assert [bar.get_width() for bar in left.patches] == [0.5, 0.3, 0.05]  # d is first in the other
    assert [bar.get_width() for bar in right.patches] == [0.2, -0.1, 0.9]
    assert [words(ax)[0].strings for ax in (left, right)] == [["b", "c", "d"], []]
    spreads = np.array(left.collections[0].get_segments())[:, :, 0]
    np.testing.assert_allclose(spreads, [[0.45, 0.55], [0.27, 0.33], [0.045, 0.055]])
    assert "the 3 of 4 features" in notes(figure)


def test_two_maps_have_scales_of_their_own(drawn):
    one, bar, other, other_bar = drawn["two maps"].axes
    np.testing.assert_allclose(one.images[0].get_array(), rising(784).reshape(28, 28))
    np.testing.assert_allclose(other.images[0].get_array(), rising(784).reshape(28, 28) - 0.06)
    assert bar.get_ylim() == (0, rising(784).max())
    assert other_bar.get_ylim() == (0, (rising(784) - 0.06).max())  # -0.01 is not seen


# ---- strength ----------------------------------------------------------------------------------


def test_strength_shows_its_curves(drawn):
    left, right = drawn["strength"].axes
    np.testing.assert_array_equal(lines(left)["strength"].get_ydata(), 2 * rising(13) - 0.9)
    np.testing.assert_array_equal(lines(left)["correlation"].get_ydata(), rising(13))
    np.testing.assert_array_equal(
        lines(right)["Breiman's bound"].get_ydata(), 0.2 / rising(13) ** 2
    )
    assert right.get_yscale() == "log"
    low, high = right.get_ylim()
    error = lines(right)["error, out of bag"].get_ydata()
    assert low < error.min() < lines(right)["Breiman's bound"].get_ydata().max() < high
    assert legend(left) == ["strength", "correlation"]
    assert legend(right) == ["Breiman's bound", "error, out of bag"]
    assert legend(drawn["strength, no error"].axes[1]) == []


def test_residuals_show_the_root_of_their_bound(drawn):
    left, right = drawn["residuals"].axes
    np.testing.assert_array_equal(lines(left)["trees, mean"].get_ydata(), 9 - 5 * rising(13))
    bound, forest = (lines(left)[n] for n in ("bound: of ever more trees", "forest, out of bag"))
    np.testing.assert_allclose(bound.get_ydata(), np.sqrt(40 - 30 * rising(13)))
    assert bound.get_linewidth() > 3 * forest.get_linewidth()  # where they run on each other,
    assert left.lines.index(bound) < left.lines.index(forest)  # both are seen
    np.testing.assert_array_equal(lines(right)["correlation"].get_ydata(), 1 - 0.5 * rising(13))
    assert notes(drawn["residuals, no values"]) == "no values no values"
