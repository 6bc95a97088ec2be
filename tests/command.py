"""The command line as a test calls it, and what it logged."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from hydra import compose, initialize_config_dir
from mlflow import MlflowClient

from forestlab import config as configs

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 1800  # seconds after which a process hangs: twelve others on two cores make it slow, too


def environment(home: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MLFLOW")}
    return kept | {"FORESTLAB_HOME": str(home), "PYTHONPATH": str(ROOT)}


def as_a_terminal_does():
    """What a shell switches off for what runs in the background, or nohup, is switched on: to be
    called in a process before it begins."""
    for kind in (signal.SIGINT, signal.SIGHUP):
        signal.signal(kind, signal.SIG_DFL)


def command(*arguments: str, home: Path, cwd: Path | None = None, patch: str = ""):
    """Run `python -m forestlab.run`; `patch` is code to run in the process before it."""
    start = ["-c", f"{patch}\nimport sys\nfrom forestlab.run import main\nsys.exit(main())"]
    return subprocess.run(
        [sys.executable, *(start if patch else ["-m", "forestlab.run"]), *arguments],
        env=environment(home),
        cwd=cwd or home,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def beside_progress(stderr: str) -> list[str]:
    """The lines beside those that a kernel is compiled, and that a job of a sweep is done, which a
    log hears of after a while."""
    progress = re.compile(r"\[\d+/\d+\] .*: (finished|skipped), |.*compiling a kernel")
    return [line for line in stderr.splitlines() if not progress.match(line)]


def composed(*overrides: str):
    """The config of a run with these overrides."""
    configs.register()
    with initialize_config_dir(config_dir=str(configs.conf_folder()), version_base="1.3"):
        return compose("config", overrides=list(overrides))


class Logged:
    """What a home's store holds in an experiment."""

    def __init__(self, home: Path, experiment: str = "forestlab"):
        self.home, self.experiment = home, experiment
        self.client = MlflowClient(f"sqlite:///{home / 'mlflow.db'}")

    def runs(self, condition: str = ""):
        experiment = self.client.get_experiment_by_name(self.experiment)
        return self.client.search_runs(
            [experiment.experiment_id], condition, order_by=["attributes.start_time ASC"]
        )

    def history(self, run, metric: str) -> dict[int, float]:
        points = self.client.get_metric_history(run.info.run_id, metric)
        return {point.step: point.value for point in points}

    def artifact(self, run, name: str) -> bytes:
        folder = run.info.artifact_uri.removeprefix("file://")
        return (Path(folder) / name).read_bytes()

    def table(self, run, name: str):
        return json.loads(self.artifact(run, name))
