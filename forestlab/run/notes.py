"""A run's description in MLflow's UI, in three lines of Markdown: what was said beyond the
defaults, what came of it, and how to open it."""

from collections.abc import Mapping
from typing import Any

from omegaconf import OmegaConf

from forestlab import config as configs
from forestlab.config import GROUPS, SEEDS
from forestlab.core.tasks import TASKS
from forestlab.run.making import Job

UNTOLD = ("study", "plugins")  # beside what changes no number
SPLITS = {"test": "on test", "valid": "on validation", "oob": "out of bag"}


def note(
    job: Job, metrics: Mapping[str, float], place: str, model: str | None, page: str | None
) -> str:
    """The lines.

    Parameters
    ----------
    metrics : the last value of each
    place : of the run in the UI, as in #/experiments/1/runs/2
    model : the address of the logged model, if there is one
    page : the name of the artifact to open first, if there is one
    """
    lines = [_what(job), _result(job, metrics)]
    ways = [f"[{page}]({place}/artifacts/{page}) shows it"] if page else []
    if model:
        ways.append(f'`mlflow.sklearn.load_model("{model}")` loads the forest')
    ways.append(f"[config.yaml]({place}/artifacts/config.yaml) is all that was chosen")
    return "  \n".join([*filter(None, lines), f"{'; '.join(ways)}."])


def _what(job: Job) -> str:
    data, config = job.data, job.config
    said = [f"`{key}={value}`" for key, value in beyond(config).items()]
    sizes = f"{len(data.parts.train)} training rows of {data.X.shape[1]} features"
    told = ", ".join(said) or "nothing said beyond the defaults"
    name = configs.data_name(config.dataset)
    return f"**{config.model.name}** on **{name}**, {sizes}: {told}."


def _result(job: Job, metrics: Mapping[str, float]) -> str:
    main = TASKS[job.data.task].main
    there = {split: metrics.get(f"{main}/{split}") for split in SPLITS}
    scores = [f"{value:.4g} {SPLITS[split]}" for split, value in there.items() if value is not None]
    depth, test = metrics.get("summary/chosen_depth"), metrics.get(f"summary/chosen_{main}_test")
    told = f"{main} {', '.join(scores)}" if scores else ""
    if depth is None:
        return f"{told}." if told else ""
    judge = "validation" if there["valid"] is not None else "out-of-bag rows"
    there_test = f": {test:.4g} on test" if test is not None else ""
    return f"{told}; {judge} would choose depth {depth:.0f}{there_test}."


def beyond(config: Any) -> dict[str, Any]:
    """What a config says that neither the defaults nor the files of its choices do, seeds last."""
    of_choices: dict[str, Any] = {}
    for group in GROUPS:
        of_choices |= _of_choice(group, str(OmegaConf.select(config, f"{group}.name")))
    every = configs.deciding(config)
    said = configs.chosen(config) | {key: every[key] for key in of_choices if key in every}
    return {
        key: value
        for key, value in sorted(said.items(), key=lambda pair: (pair[0] in SEEDS, pair[0]))
        if key.split(".")[0] not in UNTOLD
        and key not in ("model.name", "dataset.name")
        and (key not in of_choices or of_choices[key] != value)
    }


def _of_choice(group: str, name: str) -> dict[str, Any]:
    """What the file of a choice says beside its name; of one from outside nothing is known."""
    path = configs.conf_folder() / group / f"{name}.yaml"
    if not path.is_file():
        return {}
    content: Any = OmegaConf.to_container(OmegaConf.load(path))
    content.pop("defaults", None)
    found = configs.dotted(content if group in content else {group: content})
    return {key: value for key, value in found.items() if key != f"{group}.name"}
