"""The jobs of a sweep in this process, one after the other, by Hydra's own launcher.

Hydra's sweeper composes each job to see whether that can be done, and its launcher composes it
again. Here a job is composed from one that chose the same of all groups, with its values set.
"""

import copy
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hydra._internal.callbacks import Callbacks
from hydra._internal.config_loader_impl import ConfigLoaderImpl, get_overrides_dirname
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.types import HydraContext, RunMode
from omegaconf import OmegaConf

from forestlab.run.plan import MOST_CHECKED, hydra_with, is_value, parsed


def run_here(
    task: Callable, options: Namespace, hidden: Sequence[str], jobs: Sequence[Sequence[str]]
) -> None:
    """Call `task` for each job as Hydra's multirun does: in its folder, with its log and callbacks.

    Parameters
    ----------
    hidden : overrides for all, beside those of the command line
    jobs : the overrides of each, of which the first MOST_CHECKED are known to be right
    """
    with hydra_with(options.config_dir):
        hydra: Any = GlobalHydra.instance().hydra
        name = options.config_name or "config"
        words = [*options.overrides, *hidden, f"hydra.mode={RunMode.MULTIRUN.name}"]
        config = hydra.compose_config(name, words, RunMode.MULTIRUN, with_log_configuration=True)
        jobs = [[*hidden, *job] for job in jobs]  # a job has no other words than its own
        loader: Any = Composing(hydra.config_loader)
        for job in jobs[MOST_CHECKED:]:
            loader.load_sweep_config(config, list(job))
        callbacks = Callbacks(config)
        callbacks.on_multirun_start(config=config, config_name=name)
        launcher = Plugins.instance().instantiate_launcher(
            HydraContext(config_loader=loader, callbacks=callbacks), task, config
        )
        folder = Path(config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        OmegaConf.save(config, folder / "multirun.yaml")
        for done in launcher.launch(jobs, initial_job_idx=0):
            done.return_value  # noqa: B018 - raises what the job raised
        callbacks.on_multirun_end(config=config, config_name=name)


class Composing:
    """What a launcher asks for the config of a job. Groups are chosen before any value is set, so
    that jobs which choose the same differ in values alone."""

    def __init__(self, loader: ConfigLoaderImpl):
        self.loader = loader
        self.chosen: dict[tuple[str, ...], Any] = {}  # by the overrides that are no values

    def load_sweep_config(self, master_config: Any, sweep_overrides: list[str]) -> Any:
        """As that of Hydra's loader, and equal to it."""
        given = parsed(sweep_overrides)
        choices = tuple(str(one.input_line) for one in given if not is_value(one))
        if choices not in self.chosen:
            self.chosen[choices] = self.loader.load_sweep_config(master_config, list(choices))
        config = copy.deepcopy(self.chosen[choices])
        values = [one for one in given if is_value(one)]
        ConfigLoaderImpl._apply_overrides_to_config(values, config)
        config.hydra.overrides.task = list(sweep_overrides)
        told = config.hydra.job.config.override_dirname
        config.hydra.job.override_dirname = get_overrides_dirname(
            overrides=given,
            kv_sep=told.kv_sep,
            item_sep=told.item_sep,
            exclude_keys=told.exclude_keys,
        )
        return config
