"""Which runs have a page, and what of a run stands in it."""

import subprocess
import sys

import pytest
from command import ROOT, composed, environment
from shown import data_of

from forestlab import report
from forestlab.run.log import _write
from forestlab.run.measure import fit_and_study
from forestlab.run.shared import Shared

SMALL = ("dataset.n_samples=150", "n_estimators=3", "max_depth=3")


def files_of(folder, *overrides):
    job = Shared().job(composed(*overrides), "a forest of a run")
    _write(job, folder, fit_and_study(job, False))
    return {str(path.relative_to(folder)) for path in folder.rglob("*.*")}


def test_a_full_study_has_a_page(tmp_path):
    names = files_of(tmp_path, "dataset=levels", "dataset.levels=5", "study=full", *SMALL)
    assert report.NAME in names
    text = (tmp_path / report.NAME).read_text(encoding="utf-8")
    assert "<title>a forest of a run</title>" in text
    told = data_of(text)
    (one,) = told["targets"]
    assert told["title"] == "a forest of a run"
    (levels,) = one["rows"]["features"]["levels"].values()
    assert len(levels) == 5
    assert any(" in {" in words for words in one["trees"]["texts"])


@pytest.mark.parametrize("options", [("study=light",), ("study=full", "tracking=lean")])
def test_others_have_none(tmp_path, options):
    names = files_of(tmp_path, "dataset=moons", *SMALL, *options)
    assert "config.yaml" in names
    assert report.NAME not in names


def test_rows_that_are_images_are_shown_as_such(tmp_path):
    files_of(tmp_path, "dataset=digits", "n_estimators=2", "max_depth=3", "study=full")
    (one,) = data_of((tmp_path / report.NAME).read_text(encoding="utf-8"))["targets"]
    assert one["rows"]["features"]["image"] == [8, 8]
    assert one["rows"]["features"]["values"].dtype == "uint8"
    assert one["rows"]["features"]["values"].shape == (450, 64)


def test_pages_need_neither_pictures_nor_tables(tmp_path):
    """matplotlib and pandas take long to load."""
    script = (
        "import sys, forestlab.report\nprint('matplotlib' in sys.modules, 'pandas' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(tmp_path), cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["False", "False"]
