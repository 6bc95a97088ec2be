"""forestlab installed as a wheel, away from its checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from forestlab.compare import page

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_holds_the_configs(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for path in (ROOT / "conf").rglob("*.yaml"):
        assert f"forestlab/conf/{path.relative_to(ROOT / 'conf')}" in names
    assert not [name for name in names if name.startswith(("tests", "scripts", "outputs"))]


def test_the_wheel_holds_the_templates(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    templates = {path.relative_to(ROOT).as_posix() for path in page.TEMPLATES.iterdir()}
    assert len(templates) >= 3
    assert templates <= set(names)


def test_the_wheel_holds_the_experiments_inside_its_package(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    listed = ["git", "ls-files", "experiments"]
    known = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    shipped = {f"forestlab/shipped/{name}" for name in known.split()}
    assert len(shipped) > 50
    assert shipped <= names
    assert {name.split("/")[0] for name in names if "dist-info" not in name} == {"forestlab"}
    assert not [name for name in names if "__pycache__" in name]


def test_experiments_and_the_list_of_commands_come_from_a_wheel(wheel, tmp_path):
    """Unpacked, away from the checkout, with the packages that are installed here."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "unpacked")
    (tmp_path / "work").mkdir()
    for words, told in {("--help",): "usage: forestlab COMMAND", ("experiments",): "000"}.items():
        done = subprocess.run(
            [sys.executable, "-P", "-m", "forestlab", *words],
            cwd=tmp_path / "work",
            env=os.environ | {"PYTHONPATH": str(tmp_path / "unpacked")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert told in done.stdout


def test_the_wheel_holds_what_pages_of_runs_are_made_of(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    parts = {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "forestlab/report/web").iterdir()
    }
    assert len(parts) >= 10
    assert parts <= set(names)


@pytest.mark.long
def test_the_command_works_from_a_wheel(wheel, tmp_path):
    """In a fresh environment with the pinned versions; outputs/ comes under the working folder."""
    lock = ROOT / "scripts/requirements.lock"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    install = [python, "-m", "pip", "install", "-qq"]
    subprocess.run([*install, "-r", lock], check=True)
    subprocess.run([*install, "--no-deps", wheel], check=True)
    work = tmp_path / "work"
    work.mkdir()
    dropped = ("PYTHONPATH", "FORESTLAB_HOME", "MLFLOW_TRACKING_URI")
    variables = {key: value for key, value in os.environ.items() if key not in dropped}
    script = tmp_path / "venv/bin/forestlab"
    command = [script, "run", "model=forest", "dataset=digits", "-m", "max_depth=1,5,20"]
    done = subprocess.run(command, cwd=work, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "forest digits max_depth=20  finished" in done.stdout
    assert sorted(path.name for path in work.iterdir()) == ["outputs"]
    assert (work / "outputs/mlflow.db").is_file()
    assert "look at it: forestlab ui" in done.stdout
    drawn = [script, "experiments", "tree_diagrams", "impurity_worked"]
    done = subprocess.run(drawn, cwd=work, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (work / "outputs/figures/index.html").is_file()
