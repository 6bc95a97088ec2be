"""Every command and every example of the README, run."""

import json
import re
import shlex
import subprocess
import sys

import pytest
from command import ROOT, command, environment

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
NAMED = [re.match(r"# (\w+\.py)\n", block) for block in BLOCKS]  # files for the commands
FILES = {name[1]: block for name, block in zip(NAMED, BLOCKS, strict=True) if name}
EXAMPLES = [block for name, block in zip(NAMED, BLOCKS, strict=True) if not name]
STORIES = [block.splitlines() for block in re.findall(r"```bash\n(.*?)```", README, re.DOTALL)]
LINES = [line.split("#")[0].strip() for line in README.splitlines()]
COMMANDS = sorted({line for line in LINES if line.startswith("scripts/")})
MODULES = {
    "scripts/run": "forestlab.run",
    "scripts/compare": "forestlab.compare",
    "scripts/baseline": "forestlab.baseline",
    "scripts/experiments": "experiments",
    "scripts/sync": "forestlab.sync",
}


def test_the_readme_has_what_is_tested_here():
    assert len(EXAMPLES) == 5
    assert len(STORIES) == 7
    assert list(FILES) == ["roots.py", "rings.py"]
    apart = [line for line in COMMANDS if not any(line in story for story in STORIES)]
    # The command that tests/test_run.py begins with; tests/tracking/test_server.py; the caller of
    # this; tests/test_ui.py.
    main = "scripts/run model=forest dataset=digits -m max_depth=1,5,20"
    assert apart == [main, "scripts/serve", "scripts/test", "scripts/ui"]
    for script, module in MODULES.items():
        assert f"-m {module} " in (ROOT / script).read_text()


def test_each_experiment_stands_beside_its_document():
    lines = [line for line in README.splitlines() if line.startswith("| ")]
    for file in sorted((ROOT / "conf/experiment").glob("*.yaml")):
        module = (ROOT / "experiments" / f"{file.stem}.py").read_text()
        document = re.search(r'^DOCUMENT = "(\w+)', module, re.MULTILINE)[1]
        (line,) = [line for line in lines if f"`{file.stem}`" in line and f"| {document}" in line]
        assert line.count(f"`{file.stem}`") == 1


# One process for all, as importing and loading kernels anew for each of them took most of the time.
# Each piece, the lines of a story or an example, has a folder of its own, whose outputs/ is
# forestlab's home.
RUN_ALL = """
import contextlib, io, json, os, runpy, sys, traceback

def run(line):
    if isinstance(line, str):
        exec(compile(line, "README.md", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = line
        runpy.run_module(line[0], run_name="__main__", alter_sys=True)

for folder, lines in json.loads(sys.argv[1]):
    os.chdir(folder)
    os.environ["FORESTLAB_HOME"] = os.path.join(folder, "outputs")
    for line in lines:
        out, err, code = io.StringIO(), io.StringIO(), 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                run(line)
            except SystemExit as end:
                code = end.code
            except BaseException:
                traceback.print_exc()
                code = 1
        print(json.dumps([code or 0, out.getvalue(), err.getvalue()]), flush=True)
"""


def as_module(line):
    """What `scripts/…` calls, and with which arguments."""
    script, *arguments = shlex.split(line)
    return [MODULES[script], *arguments]


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Of each line of a story, and each example: its exit code, stdout and stderr."""
    pieces = [[code] for code in EXAMPLES] + STORIES
    todo = []
    for piece in pieces:
        folder = tmp_path_factory.mktemp("readme")
        (folder / "outputs").mkdir()
        for name, source in FILES.items():
            (folder / name).write_text(source)
        lines = [line if line in EXAMPLES else as_module(line) for line in piece]
        todo.append((str(folder), lines))
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, json.dumps(todo)],
        env=environment(ROOT / "outputs") | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    return dict(zip([line for piece in pieces for line in piece], told, strict=True))


@pytest.mark.parametrize("code", EXAMPLES, ids=lambda code: code.split("\n")[0][-30:])
def test_examples(code, said):
    status, out, err = said[code]
    assert status == 0, err
    assert out


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story[0])
def test_commands(story, said):
    for line in story:
        status, out, err = said[line]
        assert status == 0, (line, out, err)
        assert out
        if line.startswith("scripts/run"):
            assert "finished" in out


def test_help_lists_the_choices(tmp_path):
    done = command("--help", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "model: bagging, extra_trees, forest, rno, subspace, tree" in done.stdout


def test_the_test_command_is_what_continuous_integration_runs():
    assert "scripts/test" in COMMANDS
    steps = (ROOT / ".ci/run").read_text().splitlines()
    assert [line for line in steps if "scripts/" in line] == ["exec scripts/test"]
