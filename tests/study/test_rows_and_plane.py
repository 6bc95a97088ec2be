"""Which rows and places are looked at: those spaced evenly, and the pixels of a plane."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from forestlab.study.plane import grid_of, has_range
from forestlab.study.rows import evenly


def test_rows_are_spaced_evenly():
    assert evenly(5, 10).tolist() == [0, 1, 2, 3, 4]
    assert evenly(101, 5).tolist() == [0, 25, 50, 75, 100]
    assert evenly(7, 1).tolist() == [0]


def test_the_grid_holds_the_rows_and_pixels_are_equally_far_apart():
    X = np.array([[0.0, 10.0], [2.0, 30.0], [1.0, 20.0]])
    places, extent = grid_of(X, 5)
    left, right, bottom, top = extent
    assert (left, right, bottom, top) == (-0.1, 2.1, 9.0, 31.0)
    for row, column in itertools.product(range(5), range(5)):
        x = left + (column + 0.5) * (right - left) / 5
        y = bottom + (row + 0.5) * (top - bottom) / 5
        np.testing.assert_allclose(places[5 * row + column], [x, y])


def test_a_feature_that_does_not_vary_has_a_margin_too():
    places, extent = grid_of(np.full((4, 2), 3.0), 2)
    assert extent == (2.5, 3.5, 2.5, 3.5)
    assert sorted(set(places.ravel())) == [2.75, 3.25]
    assert grid_of(np.zeros((1, 2)))[0].shape == (22500, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_the_grid_is_that_of_the_values_whatever_their_type(dtype):
    X = np.array([[-99.7, 100], [99.2, 3.1], [64, 50]]).astype(dtype)
    places, extent = grid_of(X, 7)
    plain, same = grid_of(X.astype(np.float64), 7)
    np.testing.assert_array_equal(places, plain)
    assert extent == same


@pytest.mark.parametrize(
    ("rows", "has"),
    [
        ([[1, 2], [3, 4]], True),
        ([[1, np.nan], [np.nan, 4]], True),  # each feature is known of some row
        ([[np.nan, np.nan], [3, 4]], True),  # all of a row are missing
        ([[1, np.nan], [3, np.nan]], False),
        ([[np.nan, 2], [np.nan, 4]], False),
    ],
)
def test_a_plane_needs_some_values_of_each_feature(rows, has):
    look = SimpleNamespace(of_numbers=True, data={"train": (np.array(rows, float), np.zeros(2))})
    assert has_range(look) == has
    look.of_numbers = False  # levels of a category have nothing between them
    assert not has_range(look)
