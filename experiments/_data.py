"""The data of a logged run, made again from its logged config."""

from typing import Any

from omegaconf import OmegaConf

from experiments import LoggedRun
from forestlab.run.making import Data, Shelf


def data_of(run: LoggedRun) -> Data:
    """Loaded and split as for the run itself."""
    config: Any = OmegaConf.load(run.path("config.yaml"))
    return Shelf().data(config)
