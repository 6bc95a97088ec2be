"""Every command and every example of the README, run."""

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
}


def test_the_readme_has_what_is_tested_here():
    assert len(EXAMPLES) == 4
    assert len(STORIES) == 5
    assert list(FILES) == ["roots.py", "rings.py"]
    apart = [line for line in COMMANDS if not any(line in story for story in STORIES)]
    # The command that tests/test_run.py begins with; the caller of this; tests/test_ui.py.
    main = "scripts/run model=forest dataset=digits -m max_depth=1,5,20"
    assert apart == [main, "scripts/test", "scripts/ui"]
    for script, module in MODULES.items():
        assert f"-m {module} " in (ROOT / script).read_text()


@pytest.mark.parametrize("code", EXAMPLES, ids=lambda code: code.split("\n")[0][-30:])
def test_examples(code, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", f"import matplotlib\nmatplotlib.use('Agg')\n{code}"],
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story[0])
def test_commands(story, tmp_path):
    """The lines of a block, one after the other, in a folder whose outputs/ is forestlab's home."""
    home = tmp_path / "outputs"
    home.mkdir()
    for name, source in FILES.items():
        (tmp_path / name).write_text(source)
    for line in story:
        script, *arguments = shlex.split(line)
        done = subprocess.run(
            [sys.executable, "-m", MODULES[script], *arguments],
            env=environment(home),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        assert done.stdout
        if script == "scripts/run":
            assert "finished" in done.stdout


def test_help_lists_the_choices(tmp_path):
    done = command("--help", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "model: bagging, extra_trees, forest, rno, subspace, tree" in done.stdout


def test_the_test_command_is_what_continuous_integration_runs():
    assert "scripts/test" in COMMANDS
    steps = (ROOT / ".ci/run").read_text().splitlines()
    assert [line for line in steps if "scripts/" in line] == ["exec scripts/test"]


def bench(*arguments):
    """The rows that a benchmark prints, by their first 24 characters."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/bench.py", "digits", "--rounds", "1", *arguments],
        env=environment(ROOT / "outputs"),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return {line[:24].strip(): line.split() for line in done.stdout.splitlines()[1:]}


def test_the_benchmark_runs():
    """With the peers that are installed, one round of the smallest set."""
    rows = bench()
    assert {"forestlab histogram", "scikit-learn"} <= set(rows)
    assert float(rows["forestlab histogram"][-1]) > 0.9


def test_the_benchmark_of_the_surface_runs():
    _, fit, surface, ratio = bench("--surface")["digits"]
    # Of one round: what is printed has 3 digits after the point, and 2.
    assert float(ratio) == pytest.approx(float(surface) / float(fit), rel=0.05)


@pytest.mark.long
def test_the_benchmark_of_the_learners_runs():
    """Each has its seconds and, beside them, how many times those of axis cuts that is."""
    rows = bench("--learners")
    assert set(rows) == {"digits exact", "digits histogram"}
    for cells in rows.values():
        assert len(cells) == 2 + 3 * 5
        assert cells[2 + 2] == "1.00"
