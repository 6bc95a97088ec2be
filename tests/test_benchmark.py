"""scripts/benchmark: what it makes of seconds. Nothing here is timed to be judged."""

import json
import math
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmark import against, job, measured, pictures, readme, rounds, tables
from benchmark.growth import curve, exponent
from benchmark.measured import EXACT, FIRST, OURS, Measured, Record
from command import ROOT, environment


def record(**seconds):
    """A record of fits on digits: `ours=(1.0, 1.1)`, `theirs=(…)`."""
    names = {"ours": OURS, "exact": EXACT, "theirs": FIRST}
    found = [
        Measured("fit", "digits", names[name], "fit", "s", tuple(values))
        for name, values in seconds.items()
    ]
    return Record({"date": "2026-11-18"}, found)


# ---- the record --------------------------------------------------------------------------------


def test_a_record_comes_back(tmp_path):
    before = record(ours=(1.0, 1.5), theirs=(4.0, 5.0))
    before.take([Measured("growth", "rows", OURS, "fit", "s", (0.25,), 1000)])
    measured.write(before, tmp_path / "deep" / "bench.json")
    assert measured.read(tmp_path / "deep" / "bench.json") == before


def test_what_is_measured_anew_replaces_what_was_there():
    kept = record(ours=(1.0,), theirs=(4.0,))
    kept.take(record(ours=(2.0,)).measured)
    assert kept.find("fit", "digits", OURS, "fit").values == (2.0,)
    assert len(kept.measured) == 2


def test_ratios_are_of_one_round():
    """The machine was ten times slower in the second round: the ratio does not notice."""
    found = record(ours=(1.0, 10.0, 1.0), theirs=(4.0, 40.0, 5.0))
    assert found.ratio("fit", "digits", FIRST, "fit") == 4.0
    assert found.ratio("fit", "digits", "ydf", "fit") is None


def test_a_record_of_another_machine_is_kept_beside_the_new_one(tmp_path):
    path = tmp_path / "bench.json"
    old = record(ours=(1.0,))
    old.about = {"machine": "a", "date": "1"}
    measured.write(old, path)
    same = measured.open_record(path, {"machine": "a", "date": "2"}, ["machine"])
    assert (same.measured, same.about["date"]) == (old.measured, "2")
    new = measured.open_record(path, {"machine": "b", "date": "2"}, ["machine"])
    assert new.measured == []
    (beside,) = tmp_path.glob("bench-*.json")
    assert measured.read(beside) == old


# ---- two records -------------------------------------------------------------------------------


def verdict(before, now):
    (change,) = against.changes(record(**before), record(**now))
    return change


@pytest.mark.parametrize(
    ("ours", "said"),
    [
        ((0.5, 0.6, 0.55), "faster"),
        ((2.0, 1.9, 2.1), "slower"),
        ((0.9, 1.05, 0.95), "as before"),  # rounds overlap
        ((0.995, 0.999, 0.997), "as before"),  # they do not, by less than anybody cares about
        ((0.5, 0.5), "too few rounds"),
    ],
)
def test_a_change_is_told_where_no_rounds_overlap(ours, said):
    change = verdict({"ours": (1.0, 1.1, 1.02)}, {"ours": ours})
    assert change.verdict == said
    assert not change.is_relative
    assert against.got_slower([change]) == (said == "slower")


def test_a_slower_machine_is_no_change():
    """Beside scikit-learn, which is three times as slow too."""
    then = {"ours": (1.0, 1.1, 1.2), "theirs": (4.0, 4.4, 4.8)}
    now = {"ours": (3.0, 3.1, 3.2), "theirs": (12.0, 12.4, 12.8)}
    change = verdict(then, now)
    assert change.is_relative
    assert (change.ratio, change.verdict) == (pytest.approx(1.0), "as before")
    assert "as before" in against.table([change])


def test_the_spread_is_that_of_any_two_rounds():
    change = verdict({"ours": (1.0, 2.0, 1.5)}, {"ours": (0.5, 1.0, 0.75)})
    assert (change.ratio, change.low, change.high) == (2.0, 1.0, 4.0)


def test_scores_and_peers_are_not_compared():
    score = Measured("fit", "digits", OURS, "score", "", (0.9, 0.9, 0.9))
    theirs = Measured("fit", "digits", FIRST, "fit", "s", (1.0, 1.0, 1.0))
    both = Record({}, [score, theirs])
    assert against.changes(both, both) == []


# ---- growth ------------------------------------------------------------------------------------


def test_the_exponent_of_a_power():
    sizes = [10, 100, 1000, 10_000]
    found = exponent(sizes, [3e-3 * n**1.25 for n in sizes])
    assert found.slope == pytest.approx(1.25)
    assert found.scale == pytest.approx(3e-3)
    assert found.error == pytest.approx(0.0, abs=1e-9)


def test_the_error_of_an_exponent_is_that_of_a_regression():
    from scipy.stats import linregress

    rng = np.random.default_rng(0)
    sizes = np.array([1, 2, 4, 8, 16, 32])
    seconds = sizes * np.exp(rng.normal(0, 0.2, 6))
    known = linregress(np.log(sizes), np.log(seconds))
    found = exponent(sizes, seconds)
    assert found.slope == pytest.approx(known.slope)
    assert found.error == pytest.approx(known.stderr)


def test_two_points_have_no_error():
    assert math.isnan(exponent([1, 2], [1.0, 2.0]).error)


def test_a_curve_is_in_the_order_of_sizes():
    found = Record({})
    for at, seconds in ((4000, 4.0), (1000, 1.0), (2000, 2.0)):
        found.take([Measured("growth", "rows", OURS, "fit", "s", (seconds, seconds), at)])
    assert curve(found, "rows", OURS, "fit") == ([1000, 2000, 4000], [1.0, 2.0, 4.0])
    assert curve(found, "trees", OURS, "fit") == ([], [])
    assert "1.00 ± 0.00" in tables.growth(found)


# ---- the README --------------------------------------------------------------------------------


def full_record():
    """As a run of all parts leaves it, of one set."""
    found = record(ours=(1.0, 2.0), exact=(1.5, 3.0), theirs=(4.0, 9.0))
    found.about = {
        "date": "2026-11-18",
        "machine": "a machine",
        "jobs": 2,
        "rows": None,
        "versions": {FIRST: "1.9"},
        "trees": {"digits": 100},
    }
    for what, unit in (("predict", "s"), ("one row", "s"), ("disk", "MB"), ("score", "")):
        for peer, value in ((OURS, 0.5), (EXACT, 0.5), (FIRST, 0.75)):
            found.take([Measured("fit", "digits", peer, what, unit, (value, value))])
    for peer, value in ((OURS, 2.0), (FIRST, 60.0)):
        found.take([Measured("surface", "digits", peer, "every depth", "s", (value,))])
    for name, value in (("run", 9.0), ("plain", 90.0), ("child", 0.25), ("first", 19.6)):
        found.take([Measured("job", name, "any", "wall", "s", (value,))])
    return found


def test_the_readme_says_what_the_record_says():
    text = readme.section(full_record())
    # Of the fit 4 and 4.5: their median, the others 1.5; no memory was measured.
    row = "| digits | 1,347 × 64, 100 | 4.2 | 1.5 | 1.5 | – | 1.5 | 1.5 | 0.500, 0.750 |"
    assert row in text
    told = " ".join(text.split())
    assert "30 times as fast on digits" in told
    assert "takes 9.0 s with all" in told
    assert "first command of all, which compiles, 20 s" in told
    assert max(map(len, text.split("|")[0].splitlines())) <= 120


def test_only_what_is_between_the_marks_is_rewritten():
    before = f"# a\n\n{readme.BEGIN}\nold\n{readme.END}\n\n## b\n<!-- end -->\n"
    once = readme.with_section(before, full_record())
    assert once.startswith(f"# a\n\n{readme.BEGIN}\n\na machine")
    assert once.endswith(f"{readme.END}\n\n## b\n<!-- end -->\n")
    assert "old" not in once
    assert readme.with_section(once, full_record()) == once
    with pytest.raises(ValueError, match="has no"):
        readme.with_section("# a\n", full_record())


def test_the_readme_is_that_of_the_record_beside_it():
    text = (ROOT / "README.md").read_text()
    assert readme.with_section(text, measured.read(ROOT / readme.RECORD)) == text


def test_pictures_are_drawn(tmp_path):
    found = full_record()
    for at in (1000, 2000, 4000):
        for what in ("fit", "predict"):
            found.take([Measured("growth", "rows", OURS, what, "s", (at * 1e-6,), at)])
    (path,) = pictures.growth(found, tmp_path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert len(pictures.ratios_picture(found).axes) == 2


# ---- whole jobs --------------------------------------------------------------------------------


def test_the_seconds_of_fits_are_those_of_the_newest_runs(tmp_path):
    store = tmp_path / "mlflow.db"
    with sqlite3.connect(store) as database:
        database.execute("create table runs (run_uuid text, start_time int)")
        database.execute("create table metrics (run_uuid text, key text, value real)")
        for number, seconds in enumerate((9.0, 1.0, 2.0, 3.0)):
            database.execute("insert into runs values (?, ?)", (str(number), number))
            for key, value in (("summary/seconds_fit", seconds), ("rmse/test", 50.0)):
                database.execute("insert into metrics values (?, ?, ?)", (str(number), key, value))
    assert job.seconds_of_fits(store, 3) == 2.0


def test_a_command_that_fails_is_no_measurement(tmp_path):
    wall, cpu = job.took([sys.executable, "-c", "pass"], tmp_path)
    assert cpu > 0
    assert wall > 0
    with pytest.raises(RuntimeError, match="no good"):
        job.took([sys.executable, "-c", "raise SystemExit('no good')"], tmp_path)


# ---- rounds ------------------------------------------------------------------------------------


def test_no_peer_is_always_first():
    names = ["a", "b", "c"]
    turns = [rounds.order(names, r) for r in range(6)]
    assert all(sorted(turn) == names for turn in turns)
    for place in range(3):
        assert {turn[place] for turn in turns} == set(names)


# ---- the command -------------------------------------------------------------------------------


def bench(out: Path, *arguments):
    """The rows that a benchmark prints, by their first 24 characters."""
    paths = f"{ROOT}:{ROOT / 'scripts'}"
    small = ["--rounds", "1", "--rows", "300", "--trees", "5", "--out", str(out)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmark", *arguments, *small],
        env=environment(ROOT / "outputs") | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return {line[:24].strip(): line.split() for line in done.stdout.splitlines()}


def test_the_benchmark_runs(tmp_path):
    """With the peers that are installed, one round of the smallest set; then it is compared."""
    out = tmp_path / "bench.json"
    rows = bench(out, "digits", "--fit", "--surface", "--encoding")
    assert {"forestlab histogram", "scikit-learn"} <= set(rows)
    kept = json.loads(out.read_text())
    scores = [one["values"] for one in kept["measured"] if one["what"] == "score"]
    assert len(scores) >= 3
    assert np.min(scores) > 0.7
    _, fit, surface, ratio, *_ = rows["digits"]
    # Of one round: what is printed has 3 digits after the point.
    assert float(ratio) == pytest.approx(float(surface) / float(fit), rel=0.05)
    rows = bench(out, "--against", str(out), "--strict")
    assert any("fit digits" in row for row in rows)


@pytest.mark.long
def test_the_benchmark_of_the_learners_runs(tmp_path):
    """Each has its seconds and, beside them, how many times those of axis cuts that is."""
    rows = bench(tmp_path / "bench.json", "digits", "--learners")
    for search in ("exact", "histogram"):
        cells = rows[f"digits {search}"]
        assert len(cells) == 2 + 3 * 5
        assert cells[2 + 2] == "1.00"


@pytest.mark.long
def test_the_benchmark_of_memory_runs(tmp_path):
    rows = bench(tmp_path / "bench.json", "digits", "--memory")
    assert {"forestlab exact", "scikit-learn"} <= set(rows)
