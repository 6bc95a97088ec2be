"""What can be known to be wrong with a config before anything is trained."""

from forestlab import config as configs
from forestlab.config import STUDIES, Config, ConfigError
from forestlab.core.tasks import TASKS
from forestlab.datasets.truth import TRUTHS
from forestlab.run.making import Shelf, recipe

TRACKINGS = ("mlflow", "lean", "documents", "none")


def check(config: Config, shelf: Shelf) -> None:
    """Raise ConfigError for what can be known to be wrong before anything is trained."""
    if not 0 <= config.seed < 2**32:
        raise ConfigError(f"seed must be a whole number from 0 to 2**32 - 1; got {config.seed}.")
    if config.tracking.name not in TRACKINGS:
        given = f"tracking.name={config.tracking.name}"
        raise ConfigError(f"{given} is not one of {', '.join(TRACKINGS)}: choose by tracking=….")
    _check_study(config)
    try:
        data = shelf.data(config)
        recipe(config, data)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    except MemoryError as error:
        told = f"dataset={configs.data_name(config.dataset)} does not fit into the memory: {error}"
        raise ConfigError(f"{told}.") from error
    if config.study.draws and not len(data.parts.test) + len(data.parts.valid):
        raise ConfigError("study.draws needs test or validation rows: dataset.test_size is 0.")


def _check_study(config: Config) -> None:
    wanted = config.study
    if wanted.name not in STUDIES:
        raise ConfigError(f"there is no study={wanted.name}: choose {', '.join(STUDIES)}.")
    least = {"rows": 1, "draws": 0, "draw_rows": 1}
    for key, lowest in least.items():
        value = getattr(wanted, key)
        if value is not None and value < lowest:
            raise ConfigError(f"study.{key} must be at least {lowest}; got {value}.")
    if wanted.draws == 1:
        raise ConfigError("study.draws must be 0 or at least 2: variance needs two draws; got 1.")
    if wanted.cuts and config.model.class_weight:
        raise ConfigError("study.cuts does not count with model.class_weight.")
    if config.task.name in TASKS and TASKS[config.task.name].of_features:
        for key in ("draws", "cuts"):
            if getattr(wanted, key):
                given = f"study.{key}={getattr(wanted, key)}"
                raise ConfigError(f"{given} does not go with task={config.task.name}.")
    if wanted.draws:
        _check_draws(config)


def _check_draws(config: Config) -> None:
    """Raise ConfigError unless further training sets can be drawn like the first."""
    draws = config.study.draws
    if config.dataset.name not in TRUTHS:
        raise ConfigError(
            f"study.draws={draws} needs a data set whose truth is known: "
            f"{', '.join(TRUTHS)}; got dataset={config.dataset.name}."
        )
    if config.dataset.one_hot:
        raise ConfigError(f"study.draws={draws} needs one target; got dataset.one_hot=True.")
    for key in ("rescale", "drop", "categorical", "missing_share"):
        if getattr(config.dataset, key):
            raise ConfigError(
                f"study.draws={draws} needs all columns as they are made; "
                f"got dataset.{key}={getattr(config.dataset, key)}."
            )
