"""Logged runs: found by what a person calls them, and read into what a baseline needs."""

import re
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from forestlab import config as configs
from forestlab.baseline.groups import Logged
from forestlab.baseline.rules import TOLD
from forestlab.config import SEEDS, ConfigError, TrackingConfig


def settings(options) -> TrackingConfig:
    """Where to look and to log; a baseline needs neither pictures nor models."""
    found = TrackingConfig(
        uri=options.uri, experiment=options.experiment, pictures=False, model=False
    )
    configs.check_store(found)
    return found


def config_of(chosen: dict[str, Any], tracking: TrackingConfig | None = None) -> Any:
    """The config that has these values and is the default otherwise."""
    config: Any = OmegaConf.structured(configs.schema())
    for key, value in chosen.items():
        try:
            OmegaConf.update(config, key, value)
        except OmegaConfBaseException as error:
            reason = str(error).splitlines()[0]
            raise ConfigError(f"{key}={value} is no option any more: {reason}.") from error
    if tracking is not None:
        config.tracking = tracking
    return config


def read_config(run) -> dict[str, Any]:
    """What of a run's config is not the default, and all its seeds."""
    said = {key: configs.typed(text) for key, text in run.data.params.items()}
    config = config_of(said | dict.fromkeys(run.data.tags.get("auto", "").split(), configs.AUTO))
    if configs.fingerprint(config) != run.data.tags["config_hash"]:
        raise ConfigError(
            f"the config of run {run.info.run_id} cannot be read back from its parameters; "
            "if a default has changed since, run it again."
        )
    return configs.chosen(config) | {key: OmegaConf.select(config, key) for key in SEEDS}


def logged(run, config: dict[str, Any] | None = None) -> Logged:
    """What a baseline needs of an MLflow run, whose config is read if it is not known."""
    tags = run.data.tags
    return Logged(
        run.info.run_name,
        read_config(run) if config is None else config,
        {key: tags[key] for key in TOLD if key in tags},
        tags["dataset_digest"],
        dict(run.data.metrics),
    )


def find_one(store, text: str):
    """The run of an id, of the beginning of one, or of a name."""
    from forestlab import tracking

    found = []
    if re.fullmatch("[0-9a-f]{3,32}", text):
        found = tracking.search(store, f"attributes.run_id LIKE '{text}%'")
    if not found:
        quote = '"' if "'" in text else "'"
        found = tracking.search(store, f"attributes.run_name = {quote}{text}{quote}")
    if not found:
        raise ConfigError(f"there is no run {text!r}.")
    if len(found) > 1:
        ids = [run.info.run_id[:8] for run in found[:4]] + ["…"] * (len(found) > 4)
        raise ConfigError(f"{len(found)} runs are called {text!r}: choose {', '.join(ids)}.")
    return found[0]
