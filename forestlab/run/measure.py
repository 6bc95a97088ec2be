"""Fit, predict and study, each on its clock: all that gives a run its numbers."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from forestlab import datasets
from forestlab.config import Config
from forestlab.core.jit import compile_seconds
from forestlab.datasets.truth import TRUTHS, draw, truth
from forestlab.run.making import Data, Job, build
from forestlab.run.progress import LINE, NOW

now = logging.getLogger(NOW)

MOST_NUMBERS = 100_000  # of data that a stump is grown on first: hundredths of a second


class Done(NamedTuple):
    """What came of fitting and studying."""

    model: Any
    found: Any  # study.part.Findings
    seconds: dict[str, float]

    def numbers(self) -> list:
        """Every number, as it is logged."""
        from forestlab.study.numbers import numbers_of

        return numbers_of(self.found, self.seconds)


def fit_and_study(job: Job, show: bool) -> Done:
    """Fit, predict and study; nothing is logged yet."""
    from forestlab.model.parameters import n_threads
    from forestlab.study.findings import study

    waited = compile_seconds()
    config, data = job.config, job.data
    splits = data.splits()
    model = _built(config, data)
    training = data.given(data.parts.train), splits["train"][1]
    now.info("loading kernels")
    _load_kernels(config, data, *training)
    n_jobs, wanted = n_threads(config.n_jobs), config.study
    seconds: dict[str, float] = {}
    with timing(seconds, "fit"), _shown(model, show):
        model.fit(*training, **_valid_rows(config, data))
    now.info("predicting")
    asked = data.given(data.parts.test if len(data.parts.test) else data.parts.train)
    with timing(seconds, "predict"):
        model.predict(asked)
    model.name_features(data.dataset.frame.columns)
    with timing(seconds, "study"):
        draw = partial(_draw_and_fit, config, data, n_jobs, show) if wanted.draws else None
        options = wanted.name, wanted.rows, wanted.cuts, draw, data.dataset.target_names
        found = study(model.grown, splits, n_jobs, *options, _truth_of(config))
    if compile_seconds() > waited:
        seconds["compile"] = compile_seconds() - waited
    return Done(model, found, seconds)


def _valid_rows(config: Config, data: Data) -> dict[str, Any]:
    """The rows that choose α, if they are to."""
    if config.pruning.ccp_alpha != "valid":
        return {}
    return {"X_val": data.given(data.parts.valid), "y_val": data.y[data.parts.valid]}


@contextmanager
def _shown(model: Any, show: bool) -> Iterator[None]:
    """Have a fit show its progress; the model that is logged does not say so."""
    own = ("verbose", "_progress")
    before = {name: vars(model)[name] for name in own if name in vars(model)}
    model.verbose = int(show)
    model._progress = lambda trees: LINE.counted(trees, "growing", "trees", compile_seconds)
    try:
        yield
    finally:
        for name in own:
            delattr(model, name)
        vars(model).update(before)


def _built(config: Config, data: Data):
    return build(config, data.task, data.dataset.frame.columns)


def _load_kernels(config: Config, data: Data, X: Any, y: np.ndarray) -> None:
    """Grow a stump and ask it, before a clock runs.

    The first fit of a process takes 0.4 s to load kernels, which `timing` would leave out, and
    some 0.02 s to set other things up, which it would not: as long again as a small fit. Later
    stumps cost 0.003 s on iris, 0.01 s on digits.
    """
    if X.size > MOST_NUMBERS:
        return
    stump = _built(config, data)
    small: dict[str, Any] = {"max_depth": 1, "n_estimators": 1, "backend": "threads"}
    small |= {"ccp_alpha": 0.0, "prune": None, "shrink": None}
    stump.set_params(**{key: small[key] for key in small if key in stump.get_params()})
    stump.fit(X, y).predict(X[:1])


@contextmanager
def timing(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Keep how long this takes, without the time that it waits for kernels."""
    start, waited = time.perf_counter(), compile_seconds()
    yield
    seconds[name] = time.perf_counter() - start - (compile_seconds() - waited)


def _truth_of(config: Config) -> Callable[[np.ndarray], np.ndarray] | None:
    """Rows → their targets without noise, of sets of which that is known."""
    wanted = config.dataset
    if wanted.name not in TRUTHS or wanted.rescale or wanted.drop or wanted.categorical:
        return None
    return lambda X: truth(wanted.name, X, wanted.noise).expected


def _draw_and_fit(config: Config, data: Data, n_jobs: int, show: bool):
    """Bias and variance over further training sets, on the test rows, else on validation."""
    from forestlab.forest import Grown
    from forestlab.study.bias import bias_variance

    wanted = config.dataset
    rows = data.parts.test if len(data.parts.test) else data.parts.valid
    known = truth(wanted.name, data.X[rows], wanted.noise)
    n_rows = config.study.draw_rows or len(data.parts.train)

    def grow(seed: int) -> Grown:
        X, y = draw(wanted.name, n_rows, seed, wanted.noise)
        if wanted.label_noise:
            y = datasets.noisy_labels(y, wanted.label_noise, seed)
        return _built(config, data).set_params(random_state=seed).fit(X, y).grown

    return bias_variance(
        grow,
        data.X[rows],
        *known,
        config.study.draws,
        seed=wanted.data_seed,
        y=data.y[rows],
        n_jobs=n_jobs,
        show=_counted_draws if show else None,
    )


def _counted_draws(draws):
    return LINE.counted(draws, "drawing training sets:", "grown", compile_seconds)
