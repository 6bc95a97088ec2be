"""Codes of sparse columns against those of the dense ones, which are tested against their twins."""

import numpy as np
import pytest
from cases import awkward, quarters, with_holes
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array

from forestlab.core import memory
from forestlab.core.encode import encode_some
from forestlab.core.sparse import FEW, Stored, encode_sparse
from forestlab.core.tally import SMALL

few_examples = settings(max_examples=150, deadline=None, derandomize=True)

generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@st.composite
def matrices(draw, holes=False):
    """Columns of whole numbers, of numbers of both signs, of one sign, and awkward ones, with zeros
    among them, or none, or nothing else."""
    n_rows, rng = draw(st.integers(1, 3 * FEW)), draw(generators)
    whole = rng.integers(0, rng.choice([3, 20, SMALL]), n_rows)
    signed = rng.normal(size=n_rows).round(int(rng.integers(0, 3)))  # has -0.0 in it
    X = np.stack([whole, signed, rng.random(n_rows) + 0.5, awkward(rng, n_rows)], axis=1)
    X = np.where(rng.random(X.shape) < rng.choice([0, 0.1, 0.5, 1], 4), X, 0.0)
    return with_holes(rng, X, rng.choice([0, 0.2, 0.8, 1], 4)) if holes else X


def stored(X, rng=None):
    """The columns of X without zeros, but for some if `rng` draws them."""
    kept = X != 0
    if rng is not None:
        kept |= rng.random(X.shape) < 0.2
    columns, rows = np.nonzero(kept.T)
    found = csc_array((X[rows, columns], (rows, columns)), X.shape)
    indices = found.indices.astype(np.int32)
    return Stored(found.data.astype(float), indices, found.indptr.astype(np.int64), len(X))


def assert_same_codes(X, *how, rng=None, **more):
    """Of all rows but those of no weight."""
    dense, dense_lacks = encode_some(X, *how, **more)
    sparse, sparse_lacks = encode_sparse(stored(X, rng), *how, **more)
    counted = np.ones(len(X), bool) if not how or how[0] is None else how[0] > 0
    assert dense_lacks == sparse_lacks
    assert dense.codes.dtype == sparse.codes.dtype
    np.testing.assert_array_equal(sparse.codes[:, counted], dense.codes[:, counted])
    for name in ("first", "lower", "upper"):
        assert getattr(dense, name).tobytes() == getattr(sparse, name).tobytes(), name


@few_examples
@given(matrices(), st.sampled_from([0, 1, 3, 12]), st.none() | generators, generators)
def test_codes_are_those_of_the_dense_columns(X, max_bins, weighing, rng):
    weights = None if weighing is None else quarters(weighing, len(X))
    assert_same_codes(X, weights, max_bins, rng=rng)


@few_examples
@given(matrices(holes=True), st.sampled_from([0, 1, 3, 12]), st.none() | generators)
def test_missing_values_have_the_same_code(X, max_bins, weighing):
    weights = None if weighing is None else quarters(weighing, len(X))
    assert_same_codes(X, weights, max_bins, rng=np.random.default_rng(0))


def test_weights_that_are_rounded_when_summed_give_the_same_bins():
    """Running sums are taken in the same order, so they have the same bits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 20)) * (rng.random((500, 20)) < 0.4)
    for seed in range(5):
        assert_same_codes(X, np.random.default_rng(seed).random(500), 16)


@pytest.mark.parametrize(
    ("n_values", "dtype"),
    [(256, np.uint8), (257, np.uint16), (2**16, np.uint16), (2**16 + 1, np.uint32)],
)
@pytest.mark.parametrize("missing", [False, True])
def test_codes_have_the_smallest_type(n_values, dtype, missing):
    """Of which missing values have one."""
    values = np.arange(-3, n_values - 3) / 2
    if missing:
        values[-1] = np.nan
    X = np.stack([np.random.default_rng(0).permutation(values), np.zeros(n_values)], axis=1)
    assert encode_sparse(stored(X))[0].codes.dtype == dtype
    assert_same_codes(X)


@pytest.mark.parametrize("max_bins", [0, 7])
def test_any_number_of_threads(max_bins):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 33)) * (rng.random((100, 33)) < 0.3)
    for n_jobs in (1, 2, 9):
        assert_same_codes(X, None, max_bins, n_jobs)


@pytest.mark.parametrize("max_bins", [0, 2])
def test_columns_of_categories_have_all_their_levels(max_bins):
    """One that no row has, and a missing one that only a row of no weight has, among them."""
    X = np.array([[0.0, 2, 0.5], [3, 0, 0], [0, np.nan, -1], [1, 1, 0]])
    weights = np.array([1.0, 2, 0, 1])
    assert_same_codes(X, weights, max_bins, levels=(5, 3, 0))
    found = encode_sparse(stored(X), weights, max_bins, levels=(5, 3, 0))[0]
    assert found.levels.tolist() == [5, 3, 0]
    assert found.codes[:2].tolist() == [[0, 3, 0, 1], [2, 0, 3, 1]]


def test_missing_values_are_refused_unless_allowed():
    X = np.array([[0.0, 1.0], [0.0, np.nan]])
    with pytest.raises(ValueError, match=r"^values of X are missing \(NaN\)$"):
        encode_sparse(stored(X), missing=False)
    weightless = encode_sparse(stored(X), np.array([1.0, 0.0]), missing=False)[0]
    assert weightless.first.tolist() == [0, 1, 2]


# ---- memory ------------------------------------------------------------------------------------


def empty(n_rows, n_features):
    return Stored(np.zeros(0), np.zeros(0, np.int32), np.zeros(n_features + 1, np.int64), n_rows)


def test_codes_that_no_machine_has_room_for_are_refused():
    told = r"10,000,000 rows × 1,000,000 features × 1 byte, would take 10,000,000,000,000 bytes"
    with pytest.raises(MemoryError, match=told + r".*: keep fewer features, .* or fewer rows\.$"):
        encode_sparse(empty(10**7, 10**6))


@pytest.mark.parametrize(("left", "fits"), [(1200, True), (1199, False), (None, True)])
def test_codes_may_take_all_that_is_left(left, fits, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: left)
    wide = Stored(np.arange(300.0), np.arange(300, dtype=np.int32), np.array([0, 300, 300]), 300)
    if fits:
        assert encode_sparse(wide)[0].codes.nbytes == 1200  # two bytes for each of 300 × 2
        return
    with pytest.raises(MemoryError, match=r"1,200 bytes, 1,199 are available: .*'histogram'"):
        encode_sparse(wide)
    monkeypatch.setattr(memory, "available", lambda: 600)
    assert encode_sparse(wide, max_bins=255)[0].codes.nbytes == 600


def test_memory_that_is_not_given_is_told_of_likewise(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: None)
    with pytest.raises(MemoryError, match=r"^it would take [\d,]+ bytes, too many: do without\.$"):
        memory.reserve((2**45, 2), np.uint64, "it", "do without")


def test_what_is_left_is_the_least_that_anything_allows(tmp_path, monkeypatch):
    machine, most, used, facts = (
        tmp_path / name for name in ("meminfo", "max", "current", "memory.stat")
    )
    monkeypatch.setattr(memory, "MEMINFO", machine)
    monkeypatch.setattr(memory, "GROUPS", ((tmp_path, "max", "current"),))
    assert memory.available() is None
    machine.write_text("MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable:   5 kB\n")
    assert memory.available() == 5 * 1024
    most.write_text("max\n")
    used.write_text("1000\n")
    facts.write_text("anon 500\ninactive_file 300\n")  # which would be given up
    assert memory.available() == 5 * 1024
    most.write_text("3000\n")
    assert memory.available() == 2300
    most.write_text("600\n")
    assert memory.available() == 0
