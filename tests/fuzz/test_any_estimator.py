"""Estimators with any parameters on any table: they fit and answer, or say why not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fuzz import estimators
from fuzz.forked import faults

from forestlab import ForestClassifier, ForestRegressor

TESTS = Path(__file__).parents[1]
DENSE = ("normal", "whole", "constant", "huge", "tiny", "missing", "all missing", "infinite")
LIMITS = ("max_depth", "min_samples_split", "min_samples_leaf", "max_features", "max_samples")


@pytest.mark.parametrize("n", [250, pytest.param(10_000, marks=pytest.mark.long)])
def test_any_parameters_on_any_table(n):
    """Without the JIT, so that all kernels are at hand and look at bounds."""
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.estimators", "0", str(n)],
        cwd=TESTS,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": f"{TESTS.parent}:{TESTS}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [{}, n]


def compiled_case(rng):
    """Any table and limits, by the two kernels that are compiled."""
    cls = estimators.one((ForestClassifier, ForestRegressor), rng)
    names = rng.choice(LIMITS, size=2, replace=False)
    params = {str(name): estimators.one(estimators.CHOICES[name], rng) for name in names}
    shape = estimators.one(estimators.ROWS, rng), estimators.one(estimators.COLUMNS, rng)
    X = estimators.TABLES[estimators.one(DENSE, rng)](rng.normal(size=shape), rng)
    y = estimators.any_targets(cls, rng, shape[0])
    if np.ndim(y) > 1:
        return None
    try:
        model = cls(2, **params).fit(X, y)
        return estimators._answers(model, X, rng)
    except Exception as error:
        return repr(error) if estimators.unclear(error) else None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [100, pytest.param(10_000, marks=pytest.mark.long)])
def test_compiled_kernels_do_not_crash(n):
    X = np.arange(40.0).reshape(20, 2)
    for model in ForestClassifier(2), ForestRegressor(2):
        for some in X, np.where(X > 30, np.nan, X):
            model.fit(some, X[:, 0] > 9).predict(some)  # compiles, if need be
    assert faults(compiled_case, range(n)) == ({}, n)
