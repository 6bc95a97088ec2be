"""The figures and tables of the documents: their files, their sweeps, and making them."""

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from command import ROOT, Logged, command, environment
from hydra._internal.utils import get_args_parser
from matplotlib.figure import Figure

import experiments
from experiments import __main__, _page, _pictures, _reproduce, _runs, above, below, exactly, within
from experiments._statistics import Measured, certain
from forestlab import figures, tracking
from forestlab.config import DOCUMENTS, ConfigError, TrackingConfig, conf_folder, fingerprint, flat
from forestlab.run import command as run
from forestlab.run.making import normalised
from forestlab.tracking import journal

NAMES = experiments.names()
SOURCES = ("000", "001", "002", "003", "004", "Agarwal 2022", "Breiman 2001", "Geurts 2006")
PNG = b"\x89PNG\r\n\x1a\n"


def make(*arguments, home, patch: str = ""):
    """Run `python -m experiments`; `patch` is code to run in the process before it."""
    code = f"{patch}\nimport sys\nfrom experiments.__main__ import main\nsys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment(home),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=2 * 3600,  # all of them take half an hour on two processors
    )


# ---- every experiment --------------------------------------------------------------------------


def test_every_module_has_a_config_and_every_config_a_module():
    assert sorted(NAMES) == sorted(path.stem for path in (conf_folder() / "experiment").iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_says_what_it_is(name):
    experiment = experiments.load(name)
    assert 10 < len(experiments.title(experiment)) < 90
    assert experiment.DOCUMENT in SOURCES
    assert len(experiment.SAYS) > 100
    assert all(callable(getattr(experiment, step)) for step in ("table", "draw", "judge"))


# Many runs to compose: seconds each.
LARGE = [
    *("breiman_table2", "variants", "variants_depth", "category_splits", "cost_complexity"),
    *("extra_trees", "stopping_rules", "leaf_predictors", "leaf_size", "max_margin"),
    *("missing_values", "randomness_rho", "scale_and_noise", "oob_pruning", "shrinkage"),
    *("threshold_search", "weak_learners"),
]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long) if name in LARGE else name for name in NAMES],
)
def test_every_sweep_composes_without_pictures(name):
    configs = run.jobs([f"experiment={name}"])
    for config in configs:
        assert not config.tracking.pictures
        assert config.tracking.experiment == DOCUMENTS
    # No result is asked for twice: a tree is one tree, whatever n_estimators its line sweeps.
    assert len({fingerprint(normalised(config)) for config in configs}) == len(configs)


def test_the_list(capsys):
    assert __main__.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == NAMES
    (line,) = [line for line in lines if line.startswith("tree_regression ")]
    assert line.split(maxsplit=2)[1:] == [
        "000",
        "RMSE of one tree on the homes of Boston, against its depth",
    ]


def test_a_name_that_there_is_not(capsys):
    assert __main__.main(["tree_regresion"]) == 2
    told = capsys.readouterr().err
    assert told == "error: there is no experiment 'tree_regresion': did you mean tree_regression?\n"
    assert __main__.main(["all", "--without", "nothing"]) == 2


# ---- making them -------------------------------------------------------------------------------

FAIL_ON_DIGITS = """
from forestlab.run import job
fit = job.fit_and_study
def failing(wanted, show):
    if wanted.config.dataset.name == "digits":
        raise RuntimeError("the roof is on fire")
    return fit(wanted, show)
job.fit_and_study = failing
"""


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """Two experiments, of which the first has a run that fails."""
    home = tmp_path_factory.mktemp("home")
    done = make("tree_classification", "tree_regression", home=home, patch=FAIL_ON_DIGITS)
    files = sorted(path.name for path in (home / "figures").iterdir())
    return home, done, files, (home / "figures/index.html").read_text()


@pytest.fixture(scope="module")
def made(failed):
    """The same once more, without the fire."""
    home = failed[0]
    done = make("tree_classification", "tree_regression", home=home)
    return home, done, Logged(home, DOCUMENTS)


def test_a_failing_run_is_told_and_the_others_go_on(failed):
    _, done, files, page = failed
    assert done.returncode == 1
    told = [line for line in done.stderr.splitlines() if "compiling a kernel" not in line]
    assert told == [
        "error: tree digits seed=0 failed: RuntimeError: the roof is on fire",
        "error: tree_classification: 1 of 1 runs failed, nothing drawn",
    ]
    kinds = ("csv", "json", "png", "svg")
    assert files == ["index.html", *(f"tree_regression.{kind}" for kind in kinds)]
    assert "tree_regression" in page
    assert "tree_classification" not in page


def test_only_what_is_missing_runs(made):
    home, done, logged = made
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    told = [line for line in lines if not line.startswith("  ")]
    assert told[0] == "tree_classification: 1 of 1 runs to do"
    assert told[1].startswith("tree_classification: 1 run, ")
    assert "2 of 2 verdicts hold" in told[1]
    assert told[2].startswith("tree_regression: 1 run, ")
    assert told[2].endswith(f"see {home / 'figures/tree_regression.png'}")
    assert told[3].startswith("2 of 2 experiments hold, 0 min ")
    assert len(told) == 4
    verdicts = [line for line in lines if line.startswith("  ")]
    assert len(verdicts) == 2 + 3
    assert verdicts[1].split()[:3] == ["held", "7", "7"]
    assert verdicts[1].endswith("  nothing is random  the depth that is best on validation")
    runs = logged.runs("tags.model = 'tree'")
    assert [run.data.params["dataset.name"] for run in runs] == ["digits", "boston", "digits"]
    assert [run.info.status for run in runs] == ["FAILED", "FINISHED", "FINISHED"]


def test_runs_know_their_experiment(made):
    *_, logged = made
    runs = logged.runs("tags.experiment = 'tree_regression'")
    parent, child = runs
    assert parent.info.run_name == "tree_regression"
    assert parent.data.tags["kind"] == "sweep"
    assert child.info.run_name == "tree boston seed=0"
    assert child.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert "sweeps" not in child.data.params


def test_runs_of_documents_are_not_among_a_persons(made):
    """Neither those of `experiments` nor those of experiment=…, which they share."""
    home, _, logged = made
    assert logged.client.get_experiment_by_name("forestlab") is None
    n_before = len(logged.runs())
    done = command("experiment=tree_regression", "resume=true", home=home)
    assert done.returncode == 0, done.stderr
    assert "skipped" in done.stdout
    assert len(logged.runs()) == n_before
    assert logged.client.get_experiment_by_name("forestlab") is None


@pytest.mark.parametrize("name", ["tree_classification", "tree_regression"])
def test_files(made, name):
    folder = made[0] / "figures"
    assert (folder / f"{name}.png").read_bytes()[:8] == PNG
    assert "<svg" in (folder / f"{name}.svg").read_text()
    table = pd.read_csv(folder / f"{name}.csv")
    assert list(table.columns) == ["split", "depth", "forestlab", "document"]
    assert len(table) == 60
    texts = json.loads((folder / f"{name}.json").read_text())
    assert {verdict["outcome"] for verdict in texts["verdicts"]} == {"held"}
    assert [entry["name"] for entry in texts["runs"]] == [
        f"tree {'digits' if 'class' in name else 'boston'} seed=0"
    ]


def test_the_page_keeps_what_was_made_before(made):
    home, _, logged = made
    page = (home / "figures/index.html").read_text()
    for name in ("tree_classification", "tree_regression"):
        assert f'<img src="{name}.png"' in page
    assert "2 experiments, 2 logged runs; 5 verdicts: 5 held." in page
    (child,) = logged.runs("tags.experiment = 'tree_regression' and tags.model = 'tree'")
    assert f"http://127.0.0.1:5000/#/experiments/1/runs/{child.info.run_id}" in page


@pytest.mark.long
def test_all_of_them(tmp_path):
    """Every verdict of every experiment holds; a second call runs nothing."""
    done = make("all", home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in NAMES:
        assert (tmp_path / f"figures/{name}.png").read_bytes()[:8] == PNG
    done = make("all", home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "to do" not in done.stdout
    *lines, last = [line for line in done.stdout.splitlines() if not line.startswith("  ")]
    assert [line.split(":")[0] for line in lines] == NAMES
    assert last.startswith(f"{len(NAMES)} of {len(NAMES)} experiments hold, ")


# ---- sweeps of several products ----------------------------------------------------------------

LINES = 'sweeps=["model=tree seed=0,1", "model=forest n_estimators=2,3 seed=5"]'
SMALL = ["dataset=iris", "max_depth=2", "tracking=none"]
JOBS = [
    "tree iris seed=0",
    "tree iris seed=1",
    "forest iris n_estimators=2 seed=5",
    "forest iris n_estimators=3 seed=5",
]


def test_each_line_is_a_product(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    configs = run.jobs([LINES, *SMALL])
    assert [c.model.name for c in configs] == ["tree", "tree", "forest", "forest"]
    assert [c.n_estimators for c in configs][2:] == [2, 3]
    assert [c.seed for c in configs] == [0, 1, 5, 5]
    outcome = run.perform([LINES, *SMALL])
    assert outcome.code == 0
    assert [result.name for result in outcome.results] == JOBS
    assert "forest iris n_estimators=3 seed=5  finished" in capsys.readouterr().out


def test_other_launchers_get_the_products_from_hydra(monkeypatch, tmp_path):
    """They are handed one multirun for each line, here to the launcher that is always there."""
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    plan = run.plan

    def by_hydra(options):
        planned = plan(options)
        assert planned.overrides
        return planned._replace(overrides=())

    monkeypatch.setattr(run, "plan", by_hydra)
    outcome = run.perform([LINES, *SMALL])
    assert outcome.code == 0
    assert [result.name for result in outcome.results] == JOBS
    folders = sorted(path.parent.name for path in tmp_path.glob("hydra/*/*/*/.hydra"))
    assert folders == ["0-0", "0-1", "1-0", "1-1"]


@pytest.mark.parametrize("argument", ["experiment=tree_regression", "+experiment=tree_regression"])
def test_an_experiment_on_the_command_line(argument, monkeypatch, tmp_path):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    outcome = run.perform([argument, "tracking=none"])
    assert outcome.code == 0
    (result,) = outcome.results
    assert result.name == "tree boston seed=0"
    # As test_documents has it: the document's tree, all of it.
    assert result.metrics["rmse/test"] == pytest.approx(6.968218, abs=1e-5)


def test_an_experiment_without_runs_has_no_jobs():
    assert run.jobs(["sweeps=[]"]) == []


def test_the_command_line_wins_over_the_lines():
    configs = run.jobs(["experiment=forest_regression", "seed=7,8", "n_estimators=3"])
    assert [(c.model.name, c.seed, c.n_estimators) for c in configs] == [
        ("tree", 7, 3),
        ("tree", 8, 3),
        ("subspace", 7, 3),
        ("subspace", 8, 3),
    ]


def test_all_jobs_are_told_though_few_are_checked():
    assert run.MOST_CHECKED < 70
    assert len(run.jobs(["dataset=iris", "-m", "seed=range(70)"])) == 70
    options = get_args_parser().parse_args(["-m", "dataset=iris", "seed=range(70)"])
    assert len(run.plan(options).configs) == run.MOST_CHECKED


def test_sweeps_name_no_result():
    same = ["dataset=iris", "study=light"]  # by default a single run is studied more fully
    (single,), (swept,) = run.jobs(same), run.jobs([*same, 'sweeps=["seed=0"]'])
    assert fingerprint(single) == fingerprint(swept)
    assert "sweeps" not in flat(swept)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["experiment=tree_regression,forest_regression"], "one at a time"),
        (["experiment=tree"], "no experiment=tree: choose "),
        (["experiment=impurity_worked"], "has no runs: it is only drawn"),
    ],
)
def test_a_mistake_is_one_line(arguments, told, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    assert run.main(arguments) == 2
    captured = capsys.readouterr().err
    assert captured.startswith("error: ")
    assert captured.count("\n") == 1
    assert told in captured


# ---- what experiments are written with ---------------------------------------------------------


@pytest.fixture(scope="module")
def logged_tree(made):
    """The run of tree_regression as its table sees it, and the store."""
    home, _, logged = made
    uri = f"sqlite:///{home / 'mlflow.db'}"
    store = tracking.open_store(TrackingConfig(uri=uri, experiment=DOCUMENTS))
    (found,) = logged.runs("tags.experiment = 'tree_regression' and tags.model = 'tree'")
    return _runs.LoggedRun(store, found), store


def test_a_logged_run(logged_tree):
    logged, _ = logged_tree
    params = logged.params
    assert params["max_depth"] == 20
    assert params["model.bootstrap"] is False
    assert params["model.max_features"] is None
    assert params["dataset.test_size"] == 0.25
    assert params["search.threshold"] == "value"
    assert params["dataset.drop"] == []
    curve = logged.curve("rmse/test")
    assert curve[-1] == logged.metrics["rmse/test"]
    assert logged.artifact("curves/depth.json")["rmse"]["test"] == curve.tolist()
    rows = logged.table("predictions.parquet")
    test = rows[rows["split"] == "test"]
    errors = test["truth"] - test["predicted"]
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(curve[-1], rel=1e-12)
    table = experiments.frame([logged], "max_depth", "rmse/test")
    assert table.to_dict("list") == {"max_depth": [20], "rmse/test": [curve[-1]]}
    with pytest.raises(ConfigError, match="has no model"):
        logged.model()


def test_a_logged_model(logged_tree, tmp_path):
    from forestlab import TreeRegressor

    _, store = logged_tree
    X = pd.DataFrame({"a": np.arange(20.0)})
    model = TreeRegressor(max_depth=2).fit(X, X["a"] ** 2)

    def fill(folder):
        tracking.save_model(folder, model, X[:3], [])
        known = {"uri": store.uri, "has_secret": False, "started": 1, "tags": {}, "params": {}}
        return journal.Said("a" * 32, "a model", "", **known, ended=2, model="a model")

    run_id = tracking.deliver(store, journal.write(tmp_path, "a" * 32, "a model", fill))
    logged = _runs.LoggedRun(store, store.client.get_run(run_id))
    assert (logged.model().predict(X) == model.predict(X)).all()


def test_the_page_escapes_what_it_shows(tmp_path):
    evil = "<script>alert('&')</script>"
    (tmp_path / "evil.csv").write_text(f'{evil},number\n"{evil}",0.123456789\n')
    verdict = exactly(evil, evil, "other", evil, repeats=evil)
    texts = {
        "name": "evil",
        "title": evil,
        "document": "000",
        "says": evil,
        "verdicts": [_reproduce.told(verdict)],
        "runs": [{"name": evil, "url": '"><b>'}],
        "ui": evil,
    }
    (tmp_path / "evil.json").write_text(json.dumps(texts))
    _page.write_page(tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert "<script" not in page
    assert '"><b>' not in page
    assert "&lt;script&gt;" in page
    assert "0.123457" in page
    assert "not held" in page


def test_the_page_says_when_there_are_no_runs(tmp_path):
    (tmp_path / "drawn.csv").write_text("a\n1\n")
    figures.save(Figure((3.0, 2.0), dpi=100), tmp_path / "drawn.png")
    texts = {"name": "drawn", "title": "A diagram", "document": "003", "says": "One.\n\nTwo."}
    (tmp_path / "drawn.json").write_text(json.dumps(texts | {"verdicts": [], "runs": [], "ui": ""}))
    old = {"what": "of an older version, which the page does not know", "holds": True}
    (tmp_path / "old.json").write_text(json.dumps(texts | {"name": "old", "verdicts": [old]}))
    _page.write_page(tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert "No runs: computed from forestlab’s own functions." in page
    assert "<p>One.</p>\n<p>Two.</p>" in page
    # Room is kept for the picture; a lazy one would be missing where the page is printed.
    assert re.search(r'<img src="drawn.png"[^>]* width="300" height="200">', page)
    assert "<h2>Document 003: Random Forest Summary, 2018</h2>" in page
    assert "older version" not in page


THREE = [
    above("sure", Measured(0.02, 0.01, 0.03, "10 seeds")),
    above("unsure", Measured(0.02, -0.01, 0.05, "4 seeds")),
    within("apart", Measured(0.5, 0.4, 0.6, "4 seeds"), 0.1, "a tenth", 0.1),
]


def test_the_page_shows_three_outcomes_and_their_intervals(tmp_path):
    (tmp_path / "three.csv").write_text("a\n1\n")
    texts = {"name": "three", "title": "Three", "document": "003", "says": "", "runs": [], "ui": ""}
    told = [_reproduce.told(verdict) for verdict in THREE]
    (tmp_path / "three.json").write_text(json.dumps(texts | {"verdicts": told}))
    _page.write_page(tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert "3 verdicts: 1 held, 1 not held, 1 undecided." in page
    assert '<a href="#three"><span class="not-held">✗</span> three</a>' in page
    for outcome, mark in _page.MARKS.items():
        assert f'<span class="{outcome.replace(" ", "-")}">{mark} {outcome}</span>' in page
    pictures = re.findall(r'<svg class="interval ([a-z-]+)"[^>]*aria-label="(.*?)">', page)
    assert pictures == [
        ("held", "from 0.01 to 0.03"),
        ("undecided", "from -0.01 to 0.05"),
        ("not-held", "from 0.4 to 0.6"),
    ]
    assert "0.50 ± 0.10" in page
    assert "0.1 ± 0.1" in page


@pytest.mark.parametrize(
    ("verdict", "band", "line"),
    [
        # 124 pixels from the least to the greatest of the interval and the bar, 4 to each side.
        (above("", Measured(2.0, 1.0, 3.0, "")), (4.0, 128.0), (45.3, 86.7, 128.0)),
        (below("", Measured(2.0, 1.0, 3.0, ""), 4.0), (0.0, 128.0), (4.0, 45.3, 86.7)),
        (within("", Measured(2.0, 1.0, 3.0, ""), 4.0, "", 2.0), (4.0, 124.0), (50.5, 66.0, 81.5)),
    ],
)
def test_an_interval_is_drawn_to_scale(verdict, band, line):
    drawn = _page._interval(_reproduce.told(verdict))
    x, width = re.search(r'<rect x="([\d.]+)" width="([\d.]+)"', drawn).groups()
    assert (float(x), float(width)) == pytest.approx(band)
    low, high = re.search(r'd="M([\d.]+) 7.0H([\d.]+)"', drawn).groups()
    middle = re.search(r'cx="([\d.]+)"', drawn).group(1)
    assert (float(low), float(middle), float(high)) == pytest.approx(line)


def test_what_is_certain_or_a_text_has_no_interval():
    for verdict in (exactly("", 1.0, 1.0, ""), exactly("", "a", "b", ""), above("", certain(1.0))):
        assert _page._interval(_reproduce.told(verdict)) == ""


def test_verdicts_in_the_terminal():
    lines = __main__.lines([*THREE, exactly("it " * 40 + "ends", 7, 7, "")])
    assert lines[:3] == [
        "  held       0.020 ± 0.010  above 0    10 seeds           sure",
        "  undecided  0.020 ± 0.030  above 0    4 seeds            unsure",
        "  not held   0.50 ± 0.10    0.1 ± 0.1  4 seeds            apart",
    ]
    assert lines[3].startswith("  held       7              7          nothing is random  it it ")
    assert lines[3].endswith(" it ends")
    assert __main__.lines([]) == []


def test_a_picture_of_a_table():
    table = pd.DataFrame({"model": ["one tree", "forest"], "accuracy": [0.8765432, 0.97]})
    figure = _pictures.draw_table(table, "Accuracy", digits=3)
    (ax,) = figure.axes
    assert [text.get_text() for text in ax.texts] == [
        "model", "one tree", "forest", "accuracy", "0.877", "0.97",
    ]  # fmt: skip
    figure.draw_without_rendering()
    whole = figure.bbox
    for text in ax.texts:
        box = text.get_window_extent()
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
