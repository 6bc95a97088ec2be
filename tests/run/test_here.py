"""A sweep in this process: its jobs are configs that Hydra would have composed, one by one."""

from pathlib import Path

from command import command
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from omegaconf import OmegaConf

from forestlab import config as configs
from forestlab.run.here import Composing
from forestlab.run.plan import MOST_CHECKED, hydra_with

JOBS = [
    ["dataset=digits", "seed=1"],
    ["dataset=digits", "seed=2", "max_depth=5"],
    ["seed=2", "dataset=digits"],
    ["dataset=iris", "model=tree", "criterion=entropy", "seed=3"],
    ["model=rno", "model.rho=5", "dataset=iris"],
    ["model.rho=5", "model=rno", "dataset=iris"],
    ["++max_depth=5", "dataset=iris"],
    ["+experiment=tree_regression", "seed=4"],
    ["dataset={name: twonorm, n_samples: 50}", "study=off"],
    ["tracking.run_name='a b=c'", "dataset=iris"],
    ["dataset=iris"],
]


def whole(config):
    """All that a config says, as it stands in files."""
    return OmegaConf.to_yaml(config)


def test_jobs_are_composed_as_hydra_composes_them():
    configs.register()
    with hydra_with(None):
        hydra = GlobalHydra.instance().hydra
        words = ["hydra.mode=MULTIRUN", "hydra.job.name=mine"]
        master = hydra.compose_config("config", words, RunMode.MULTIRUN)
        ours = Composing(hydra.config_loader)
        for job in JOBS:
            known = hydra.config_loader.load_sweep_config(master, list(job))
            found = ours.load_sweep_config(master, list(job))
            assert whole(found) == whole(known), job
            assert found.hydra.sweep.dir == known.hydra.sweep.dir  # of one time, that of the first
        assert len(ours.chosen) < len(JOBS)


def test_a_job_does_not_change_the_next():
    configs.register()
    with hydra_with(None):
        hydra = GlobalHydra.instance().hydra
        master = hydra.compose_config("config", [], RunMode.MULTIRUN)
        ours = Composing(hydra.config_loader)
        first = ours.load_sweep_config(master, ["max_depth=1"])
        first.dataset.name = "spoilt"
        second = ours.load_sweep_config(master, ["seed=1"])
        assert (second.max_depth, second.dataset.name) == (None, "digits")


def test_a_mistake_in_a_late_job_is_told_before_the_first(tmp_path: Path):
    """Of a job behind those that are checked, before anything is trained."""
    depths = ",".join(map(str, range(1, MOST_CHECKED + 1)))
    words = ["dataset=iris", "n_estimators=1", "study=off", "tracking=none"]
    done = command(*words, "-m", f"max_depth={depths},many", home=tmp_path)
    assert done.returncode == 1
    assert "error: " in done.stderr
    assert "finished" not in done.stdout + done.stderr
