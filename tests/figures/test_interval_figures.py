"""The pictures of intervals: bands along a feature, coverage and width by level."""

import warnings

import numpy as np
import pytest
import test_run_figures
from matplotlib.colors import to_hex

from forestlab import figures
from forestlab.figures.style import NO_VALUE
from forestlab.study.coverage import LEVELS

TITLE = test_run_figures.TITLE
UP = np.array(LEVELS)
GRID = np.linspace(0.0, 1.0, 50)


def band(x=GRID, reach=0.3):
    return np.sin(6 * x) - reach, np.sin(6 * x) + reach


def curves(n, levels=UP):
    names = [f"a method, number {k}" for k in range(n)]
    return (
        {name: levels ** (1 + k / 3) for k, name in enumerate(names)},
        {name: (1 + k) / (1.01 - levels) for k, name in enumerate(names)},
    )


def picture(bands, x=GRID, train=(GRID, GRID), **more):
    return figures.prediction_band(x, np.sin(6 * x), bands, train, TITLE, **more)


EMPTY = np.zeros(0)
PICTURES = {
    "coverage": lambda: figures.coverage_curve(LEVELS, *curves(4), TITLE),
    "coverage of sets": lambda: figures.coverage_curve(LEVELS, *curves(2), TITLE, "set"),
    "coverage, 11": lambda: figures.coverage_curve(LEVELS, *curves(11), TITLE),
    "coverage, long name": lambda: figures.coverage_curve(
        LEVELS, {"$ long name " * 9: UP}, {"$ long name " * 9: 1e-9 * UP}, TITLE
    ),
    "coverage, one level": lambda: figures.coverage_curve([0.9], *curves(2, UP[4:5]), TITLE),
    "coverage, no level": lambda: figures.coverage_curve([], *curves(2, EMPTY), TITLE),
    "coverage, no method": lambda: figures.coverage_curve(LEVELS, {}, {}, TITLE),
    "coverage, not finite": lambda: figures.coverage_curve(
        LEVELS, {"a": np.full(7, np.nan)}, {"a": np.full(7, np.inf)}, TITLE
    ),
    "coverage, none and no width": lambda: figures.coverage_curve(
        LEVELS, {"a": np.zeros(7)}, {"a": np.zeros(7)}, TITLE
    ),
    "band": lambda: picture({"one": band()}, truth=(GRID, GRID)),
    "band, 4": lambda: picture({f"a method, number {k}": band(reach=k) for k in range(4)}),
    "band, long name": lambda: picture({"$ long name " * 9: band(), "b": band()}),
    "band, infinite": lambda: picture({"one": (np.full(50, -np.inf), np.full(50, np.inf))}),
    "band, NaN": lambda: picture({"one": np.full((2, 50), np.nan)}),
    "band, some unknown": lambda: picture(
        {"one": band(), "two": np.where(GRID < 0.3, np.nan, band())},
        remarks={"two": "unknown at 30%, 1,200 trees needed"},
    ),
    "band, one row, unknown": lambda: picture(
        {"one": np.full((2, 1), np.nan)}, GRID[:1], (GRID[:1], GRID[:1])
    ),
    "coverage, some unknown": lambda: figures.coverage_curve(
        LEVELS, *curves(2), TITLE, remarks={"a method, number 1": "590 of 1000 rows"}
    ),
    "band, no method": lambda: picture({}),
    "band, no rows": lambda: picture({"one": band(EMPTY)}, EMPTY, (EMPTY, EMPTY)),
    "band, one row": lambda: picture({"one": band(GRID[:1])}, GRID[:1], (GRID[:1], GRID[:1])),
    "band, constant": lambda: picture(
        {"one": (np.ones(50), np.ones(50))}, np.zeros(50), (np.zeros(50), np.zeros(50))
    ),
}


@pytest.fixture(scope="module")
def drawn():
    """All pictures, drawn once, with warnings as errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pictures = {name: draw() for name, draw in PICTURES.items()}
        for one in pictures.values():
            one.canvas.draw()
    return pictures


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_name_their_axes_and_cut_nothing_off(drawn, name):
    test_run_figures.test_nothing_is_cut_off_and_all_axes_are_named(drawn, name)
    test_run_figures.test_texts_stand_apart(drawn, name)


def test_coverage_curves_show_their_values_beside_the_promise(drawn):
    left, right = drawn["coverage"].axes
    for ax, expected in zip((left, right), curves(4), strict=True):
        shown = test_run_figures.lines(ax)
        for name, values in expected.items():
            np.testing.assert_array_equal(shown[name].get_xdata(), UP)
            np.testing.assert_array_equal(shown[name].get_ydata(), values)
    promise = left.lines[-1]
    assert promise.get_slope() == 1.0
    assert promise.get_xy1() == (0.0, 0.0)
    assert test_run_figures.legend(right) == list(curves(4)[0])
    assert (
        drawn["coverage of sets"].axes[1].get_ylabel() == "mean size of a set (number of classes)"
    )


def test_bands_lie_around_the_mean_in_order_of_the_feature():
    shuffled = np.random.default_rng(0).permutation(GRID)
    ax = picture({"one": band(shuffled)}, shuffled).axes[0]
    shown = test_run_figures.lines(ax)["forest"]
    np.testing.assert_array_equal(shown.get_xdata(), GRID)
    np.testing.assert_array_equal(shown.get_ydata(), np.sin(6 * GRID))
    outline = ax.collections[0].get_paths()[0].vertices
    low, high = band()
    for x, a, b in zip(GRID, low, high, strict=True):
        assert {a, b} <= set(outline[outline[:, 0] == x, 1])


def test_what_is_unknown_is_grey_and_said_to_be(drawn):
    """Not an interval of no width: each such place has its share of the paper."""
    one, two = drawn["band, some unknown"].axes
    for ax, n_unknown in ((one, 0), (two, (GRID < 0.3).sum())):
        grey = [
            path.get_extents()
            for part in ax.collections
            if {to_hex(c) for c in part.get_facecolor()} == {NO_VALUE.lower()}
            for path in part.get_paths()
        ]
        assert len(grey) == n_unknown
        if grey:
            edges = sorted({x for span in grey for x in (span.x0, span.x1)})
            np.testing.assert_allclose(edges[1:], (GRID[1:] + GRID[:-1])[:n_unknown] / 2)
            assert edges[0] == 0.0
            assert {(span.y0, span.y1) for span in grey} == {ax.get_ylim()}
    assert test_run_figures.legend(two)[-1] == "unknown"
    assert "unknown" not in test_run_figures.legend(drawn["band"].axes[-1])
    notes = test_run_figures.notes(drawn["band, some unknown"])
    assert notes.endswith("two: unknown at 30%, 1,200 trees needed")
    labels = test_run_figures.legend(drawn["coverage, some unknown"].axes[1])
    assert labels == ["a method, number 0", "a method, number 1: 590 of 1000 rows"]


def test_five_bands_do_not_stand_side_by_side():
    with pytest.raises(ValueError, match="at most 4 methods"):
        picture({str(k): band() for k in range(5)})
