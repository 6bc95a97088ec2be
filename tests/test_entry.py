"""The command `forestlab`, and how every command ends: in a line, whoever ends it and when."""

import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command import ROOT, as_a_terminal_does, environment

from forestlab import __main__ as forestlab_command
from forestlab import __version__, entry
from forestlab.run import ui


@pytest.fixture(autouse=True)
def _own_ways():
    """The handler and the streams of whoever runs the tests come back."""
    before = signal.getsignal(signal.SIGINT), sys.stdout, sys.stderr
    yield
    signal.signal(signal.SIGINT, before[0])
    _, sys.stdout, sys.stderr = before


# ---- one name for all --------------------------------------------------------------------------


def test_the_version_is_forestlabs_and_takes_no_imports(tmp_path):
    """Within 0.1 s, as long as nothing large is imported."""
    script = "import sys\nfrom forestlab.__main__ import main\nmain(['--version'])\n"
    script += "print(sorted({*sys.modules} & {'hydra', 'mlflow', 'numba', 'numpy', 'pandas'}))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    version, imported = done.stdout.splitlines()
    assert version.startswith(f"forestlab {__version__} (Python 3.")
    assert ", numba 0." in version
    assert imported == "[]"


def test_help_lists_the_commands(capsys):
    assert forestlab_command.main(["--help"]) == forestlab_command.main([]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in forestlab_command.COMMANDS)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("compar", "did you mean compare?"),
        ("max_depth=3", "did you mean forestlab run max_depth=3 …?"),
        ("xyz", "there are run, compare, "),
    ],
)
def test_a_mistyped_command_is_told_in_a_line(word, hint, capsys):
    assert forestlab_command.main([word]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"error: there is no command {word!r}: {hint}")
    assert told.count("\n") == 1


@pytest.mark.parametrize("name", forestlab_command.COMMANDS)
def test_each_command_is_there_and_gets_its_words(name, monkeypatch):
    called = []
    monkeypatch.setattr(
        forestlab_command, "enter", lambda module, words: called.append((module, words)) or 7
    )
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert forestlab_command.main([name, "--help", "x=1"]) == 7
    ((module, words),) = called
    assert words == ["--help", "x=1"]
    assert callable(importlib.import_module(module).main)


@pytest.fixture
def started(monkeypatch, tmp_path):
    """What the UI would become."""
    found = []
    monkeypatch.setattr(ui.os, "execv", lambda program, words: found.append((program, words)))
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "true")  # to be restored
    monkeypatch.setenv("MLFLOW_BACKEND_STORE_URI", "")
    return found


@pytest.mark.parametrize(
    ("words", "port"),
    [([], 5000), (["--port", "5001"], 5001), (["--port=5002"], 5002), (["-p", "5003"], 5003)],
)
def test_the_ui_shows_the_store(words, port, started, tmp_path, capsys):
    (tmp_path / "mlflow.db").touch()
    ui.main(words)
    ((program, called),) = started
    assert program == sys.executable
    assert called[:4] == [sys.executable, "-m", "mlflow", "server"]
    assert os.environ["MLFLOW_BACKEND_STORE_URI"] == f"sqlite:///{tmp_path / 'mlflow.db'}"
    assert called[len(called) - len(words) :] == words
    assert f"http://127.0.0.1:{port}" in capsys.readouterr().err


def test_without_a_store_there_is_no_ui(started, tmp_path, capsys):
    assert ui.main([]) == 1
    assert capsys.readouterr().err.startswith(f"error: nothing is logged yet in {tmp_path}")
    assert started == []


# ---- ends --------------------------------------------------------------------------------------

# Presses Ctrl-C when a module is about to be imported, and then takes its time.
PRESSED = """
import importlib.abc, os, runpy, signal, sys, time

class Press(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(20)

module, wanted = sys.argv[1:]
sys.argv = ["-m"]  # as it is while a package is imported to be run
sys.meta_path.insert(0, Press())
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("forestlab.run", "hydra"),
        ("forestlab.run", "numba"),
        ("forestlab.compare", "pandas"),
        ("forestlab.baseline", "omegaconf"),
        ("experiments", "pandas"),
    ],
)
def test_ctrl_c_while_modules_are_imported_ends_in_a_line(module, imported, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PRESSED, module, imported],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=as_a_terminal_does,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")


def test_what_runs_is_unwound_once():
    signal.signal(signal.SIGINT, entry._end_at_once)
    with entry.unwinding():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is entry._end_at_once  # who presses it again
    with entry.unwinding():
        assert signal.getsignal(signal.SIGINT) is not entry._end_at_once
    assert signal.getsignal(signal.SIGINT) is entry._end_at_once


def test_a_program_keeps_its_own_way_with_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    entry.begin()
    with entry.unwinding():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_command_that_was_stopped_does_not_wait_for_threads():
    script = (
        "import threading, time\nfrom forestlab import entry\n"
        "threading.Thread(target=time.sleep, args=(30,)).start()\nprint('told')\n"
        "entry.ended(130)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=20
    )
    assert (done.returncode, done.stdout) == (130, "told\n")


@pytest.mark.parametrize(
    "words", ["forestlab.study", "forestlab --help", "forestlab.run --hydra-help", "experiments"]
)
def test_a_reader_that_has_gone_is_no_error(words, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", *words.split()],
        env=environment(tmp_path),
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_streams_that_are_files_are_kept_as_they_are_encoded(tmp_path):
    with (tmp_path / "told").open("w", encoding="utf-16") as stream:
        made = entry._patient(stream)
        print("é…", file=made, flush=True)
    assert Path(tmp_path / "told").read_text(encoding="utf-16") == "é…\n"
