"""What a job is called."""

from collections.abc import Sequence

from hydra.core.override_parser.types import Override

from forestlab import config as configs
from forestlab.config import Config
from forestlab.run.plan import is_told, told

TOLD_FIRST = ("model", "dataset", "dataset.path", "dataset.openml_name")  # in a job's name


def job_name(config: Config, overrides: Sequence[Override], swept: Sequence[str] = ()) -> str:
    """The model, the data set, and what was said beyond them: in a sweep what varies in it."""
    more = {
        override.key_or_group: told(override)  # the last word on a key counts
        for override in overrides
        if is_told(override)
        and override.key_or_group not in TOLD_FIRST
        and (not swept or override.key_or_group in swept)
    }
    return " ".join([config.model.name, configs.data_name(config.dataset), *more.values()])
