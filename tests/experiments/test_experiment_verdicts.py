"""Every verdict can fail.

Each experiment has a made-up table on which all of its verdicts hold, and spoilt ones: labels
swapped or shuffled, noise that is larger than the effect, shifts beyond the margin. Nothing is
trained. A verdict that no spoilt table makes fail would say nothing when it holds.
"""

import pytest
import verdict_tables_000
import verdict_tables_002
import verdict_tables_003
import verdict_tables_004
import verdict_tables_pruning
import verdict_tables_stopping

import experiments
from experiments import _variants
from experiments._verdict import Verdict
from forestlab import run

CASES = verdict_tables_000.CASES | verdict_tables_002.CASES
CASES |= verdict_tables_003.CASES | verdict_tables_004.CASES
CASES |= verdict_tables_pruning.CASES | verdict_tables_stopping.CASES
NAMES = experiments.names()


def test_every_experiment_has_a_case():
    assert sorted(CASES) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_verdict_holds_on_a_table_made_for_it(name):
    found = experiments.load(name).judge(CASES[name].table())
    assert found
    assert all(isinstance(verdict, Verdict) for verdict in found)
    assert [verdict for verdict in found if not verdict.holds] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_verdict_can_fail(name):
    judge, case = experiments.load(name).judge, CASES[name]
    failed: set[int] = set()
    for told, spoil in case.spoils.items():
        spoilt = judge(spoil(case.table()))
        fails = {k for k, verdict in enumerate(spoilt) if not verdict.holds}
        assert fails, f"nothing fails when {told}"
        failed |= fails
    verdicts = judge(case.table())
    assert [v.what for k, v in enumerate(verdicts) if k not in failed] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_verdict_says_what_it_rests_on(name):
    for verdict in experiments.load(name).judge(CASES[name].table()):
        assert verdict.what
        assert verdict.reason
        assert verdict.repeats


# ---- overlaps ----------------------------------------------------------------------------------

SPLIT = {  # by experiment: the sets of which its runs are splits
    "boosting": ["digits", "breast_cancer", "diabetes"],
    "combine_noise": ["digits"],
    "manifold": ["digits"],
    "oob_estimate": ["digits"],
    "randomness_rho": ["digits"],
    "scale_and_noise": ["digits"],
    "threshold_search": ["digits", "pima"],
    "uncertainty": ["digits", "boston"],
}


@pytest.mark.parametrize("name", SPLIT)
def test_overlaps_are_those_of_the_sweep(name):
    """Experiments know the share of test to training rows of their sweep, which may change."""
    experiment = experiments.load(name)
    for config in run.jobs([f"experiment={name}"]):
        if config.dataset.name in SPLIT[name]:
            overlaps = getattr(experiment, "OVERLAPS", {})
            known = overlaps.get(config.dataset.name, getattr(experiment, "OVERLAP", None))
            assert known == pytest.approx(_overlap(config), rel=1e-9)


def test_the_overlap_of_variants_is_that_of_a_data_set_as_it_is():
    """Their sweep says nothing of how real sets are split, and takes long to compose."""
    (config,) = run.jobs(["dataset=iris"])
    assert pytest.approx(_overlap(config), rel=1e-9) == _variants.OVERLAP


def _overlap(config) -> float:
    data = config.dataset
    return data.test_size / ((1 - data.test_size) * (1 - data.valid_size))
