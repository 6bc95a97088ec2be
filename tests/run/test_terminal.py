"""What a person sees: the line on what happens now, tables that fit, and how to go on."""

import logging
import re
import sys

import pytest
from tqdm import tqdm

from forestlab import ForestClassifier, run
from forestlab.model import base
from forestlab.run import progress, terminal
from forestlab.run.job import Result
from forestlab.run.progress import Line, Printed, duration, listen
from forestlab.run.tables import abridged, fitted, told_apart

METRICS = {
    "accuracy/valid": 0.91234,
    "accuracy/test": 0.9,
    "accuracy/oob": 0.89,
    "summary/chosen_depth": 5.0,
    "summary/seconds_fit": 0.01234,
}


class Window:
    """A stream that says that it is a terminal."""

    def __init__(self):
        self.written = ""

    def isatty(self):
        return True

    def write(self, text):
        self.written += text

    def flush(self):
        pass

    def last(self):
        """What stands on the line at last."""
        return re.sub(r"\x1b\[K", "", self.written.split("\r")[-1])


@pytest.fixture
def watched(monkeypatch):
    """Opens a window, in the test itself: pytest has its own stream before."""

    def open_window() -> Window:
        made = Window()
        monkeypatch.setattr(sys, "stderr", made)
        return made

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    yield open_window
    terminal.LINE.end()


@pytest.fixture
def line():
    made = Line()
    yield made
    made.end()


# ---- the line ----------------------------------------------------------------------------------


def test_the_line_says_what_happens_and_goes(line, watched):
    window = watched()
    line.begin("forest iris")
    line.tell("studying")
    assert window.last() == "forest iris: studying"
    line.clear()
    assert window.last() == ""


def test_what_happens_is_whole_where_the_name_is_long():
    line = Line()
    line._title, line._what, line._since = "forest " + "x" * 200 + " seed=3", "logging files", 0.0
    shown = line.text(65.0, 79)
    assert len(shown) == 79
    assert shown.startswith("forest x")
    assert shown.endswith("seed=3: logging files (1 min 5 s)")


def test_a_bar_that_waits_for_the_compiler_predicts_nothing(monkeypatch):
    """A second a tree, after a minute for the kernel."""
    now, waited, line = [0.0], [0.0], Line()
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    seen = []
    for tree in line.counted(range(10), "growing", "trees", lambda: waited[0]):
        seen.append(line._what)
        now[0] += 1.0 if tree else 61.0
        waited[0] += 0.0 if tree else 60.0
    assert seen[:2] == ["growing 0/10 trees", "growing 1/10 trees, 9 s left"]
    assert seen[2] == "growing 2/10 trees, 8 s left"
    assert line._what == "growing 10/10 trees"


def test_a_bar_in_python_leaves_out_what_it_waited(monkeypatch):
    waited, bars = iter([0.0, 60.0, 60.0, 60.0]), []

    class Bar(tqdm):
        def __init__(self, *given, **more):
            super().__init__(*given, **more)
            bars.append((self, self.start_t))

    monkeypatch.setattr(base, "tqdm", Bar)
    monkeypatch.setattr(base, "compile_seconds", lambda: next(waited))
    assert list(ForestClassifier._progress(range(2))) == [0, 1]
    ((bar, start),) = bars
    assert (bar.n, bar.start_t) == (2, start + 60.0)


def test_loggers_tell_the_line(line, watched):
    window = watched()
    logger, now = logging.getLogger("forestlab"), logging.getLogger(progress.NOW)
    before = logger.handlers, now.handlers, now.level
    try:
        listen(line)
        listen(line)  # as each job does
        assert [type(handler) for handler in logger.handlers].count(Printed) == 1
        line.begin("tree iris")
        now.info("drawing %d/%d", 7, 13)
        assert window.last() == "tree iris: drawing 7/13"
        logger.warning("forestlab: compiling a kernel to %s (seconds, once)", "grow gini trees")
        assert window.last() == "tree iris: compiling a kernel to grow gini trees, once"
        line.compiling("")
        assert window.last() == "tree iris: drawing 7/13"
    finally:
        logger.handlers, now.handlers, now.level = before


def test_where_nobody_watches_there_is_no_line(capsys):
    line = Line()
    line.begin("forest iris")
    line.tell("studying")
    line.end()
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.4, "0 s"), (59.6, "1 min 0 s"), (125, "2 min 5 s"), (3720, "1 h 2 min")],
)
def test_durations(seconds, told):
    assert duration(seconds) == told


def test_a_run_says_every_step(watched, tmp_path, monkeypatch):
    window = watched()
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    assert run.main(["dataset=iris", "n_estimators=3", "study=light", "tracking=none"]) == 0
    steps = ["reading iris", "loading kernels", "predicting", "studying curves"]
    places = [window.written.index(step) for step in steps]
    assert places == sorted(places)
    assert "\n" not in window.written  # the result is in the table, once
    assert window.last() == ""


# ---- tables ------------------------------------------------------------------------------------


def result(name, status="FINISHED"):
    return Result(name, status, None, METRICS)


@pytest.mark.parametrize("width", [80, 120])
def test_tables_fit_the_window_and_keep_what_differs(width, capsys, monkeypatch):
    monkeypatch.setattr(terminal, "window", lambda *_: width)
    names = [
        f"extra_trees breast_cancer model.max_features={k} dataset.missing_share=0.25 "
        f"model.min_samples_leaf={leaf}"
        for k in (1, 2)
        for leaf in (5, 10)
    ]
    terminal.summary([result(name) for name in names], None)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    head, rows = lines[:-4], lines[-4:]
    assert "accuracy" in head[0]
    assert "test" in " ".join(head)
    for row, k, leaf in zip(rows, (1, 1, 2, 2), (5, 10, 5, 10), strict=True):
        assert re.search(rf"max_?\w*(…res|features)={k}", row)
        assert re.search(rf"(…eaf|leaf)={leaf} ", row)
        assert "0.9123" in row


def test_where_there_is_room_nothing_is_shortened(capsys):
    terminal.summary([result("forest iris seed=1"), result("forest iris seed=2", "FAILED")], None)
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.split() == ["run", "status", *list(METRICS)[:3], "chosen_depth", "seconds_fit"]
    assert first.startswith("forest iris seed=1  finished ")
    assert second.startswith("forest iris seed=2  failed ")


def test_statuses_that_differ_are_kept_in_narrow_windows():
    rows = [("a" * 30, "finished", "0.5", "1"), ("b" * 30, "failed", "", "")]
    lines = fitted(("run", "status", "accuracy/test", "seconds/fit"), rows, "<<>>", 60)
    assert "failed" in lines[-1]
    assert max(map(len, lines)) <= 60


@pytest.mark.parametrize(
    ("names", "most", "short"),
    [
        (["forest iris", "tree iris"], 20, ["forest iris", "tree iris"]),
        (["f iris n=20 seed=1", "f iris n=20 seed=2"], 14, ["f iris seed=1", "f iris seed=2"]),
        (["f iris model.rho=1", "f iris model.rho=22"], 14, ["f iris rho=1", "f iris rho=22"]),
        (["aaaaaaaaaa-1-zzz", "aaaaaaaaaa-2-zzz"], 8, ["…1…", "…2…"]),
        (["f " + "x" * 9, "f " + "x" * 9], 6, ["f x…xx", "f x…xx"]),  # the same
        (["ab" + "c" * 20 + "y", "xb" + "c" * 21 + "y"], 5, ["ab…", "xbc…"]),
        (["a_key=1 q", "another_key=1 q"], 10, ["a_key=1", "anot…key=1"]),
        (["forest a=1 b=2", "forest a=2 b=1"], 8, ["a=1 b=2", "a=2 b=1"]),
        (["a12345678z", "a12x45678z", "b"], 5, ["a1…8z", "a…z 2", "b"]),
    ],
)
def test_names_are_told_apart(names, most, short):
    assert told_apart(names, most) == short
    assert max(map(len, short)) <= most


def test_the_middle_is_left_out():
    assert abridged("abcdefgh", 8) == "abcdefgh"
    assert abridged("abcdefgh", 5) == "ab…gh"


# ---- the end -----------------------------------------------------------------------------------


def test_a_stopped_sweep_says_how_to_go_on(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "command", lambda name: f"forestlab {name}")
    words = ["dataset=iris", "-m", "seed=0,1", "resume=false", "plugins=[a b]"]
    terminal.killed(3, 12, words)
    assert capsys.readouterr().err.splitlines() == [
        "stopped after 3 of 12 runs",
        "to go on: forestlab run dataset=iris -m seed=0,1 'plugins=[a b]' resume=true",
    ]
    terminal.killed()
    assert capsys.readouterr().err == "stopped\n"


def test_each_run_of_a_sweep_is_told_in_a_line_of_the_window(watched):
    window = watched()
    watch = terminal.Watch(12)
    watch.begin("forest " + "x" * 100, 3)
    watch.done(result("forest " + "x" * 100), 4)
    (told,) = re.sub(r"\r\x1b\[K", "", window.written).splitlines()
    assert told.startswith("[4/12] forest xx")
    assert told.endswith("xx: finished, 0 s, accuracy/test 0.9")
    assert len(told) <= 80


def test_a_log_hears_of_a_sweep_now_and_then(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    watch = terminal.Watch(3)
    for number, seconds in enumerate((1.0, 11.0, 12.0), 1):
        watch.begin("tree iris", number - 1)
        now[0] = seconds
        watch.done(result("tree iris"), number)
    told = capsys.readouterr().err
    assert told.startswith("[2/3] tree iris: finished, 10 s, ")
    assert told.count("\n") == 1
    assert "\r" not in told
