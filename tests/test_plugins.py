"""What is added from outside, in the places that CONTRIBUTING names, works as if it were there.

Each is added by a module of its own, in a process of its own or forgotten after it, so that nothing
of it stays.
"""

import json
import os
import re
import subprocess
import sys

import pandas as pd
import pytest
from command import ROOT, Logged, command, environment

import experiments
import experiments.__main__
from forestlab import config as configs
from forestlab import run
from forestlab.core.options import OPTIONS
from forestlab.core.search import SEARCHES
from forestlab.datasets import LOADERS
from forestlab.run import plugins
from forestlab.study.parts import PARTS

ADDED = {
    "criterion": """
from math import sqrt
from forestlab.core.criteria import CRITERIA
from forestlab.core.jit import jitable

@jitable
def root_score(side, numbers):
    '''Impurity: the root of Gini's.'''
    weight, _, crossed = numbers
    return sqrt(2.0 * crossed) if weight > 0.0 else 0.0

CRITERIA["root"] = CRITERIA["gini"]._replace(score=root_score)
""",
    "registered": """
from math import sqrt
from forestlab import register_criterion
from forestlab.core.criteria import gini_add

def root_score(side, numbers):
    weight, _, crossed = numbers
    return sqrt(2.0 * crossed) if weight > 0.0 else 0.0

register_criterion("root", "classification", add=gini_add, score=root_score)
""",
    "search": """
from dataclasses import dataclass
from forestlab.core.jit import jitable
from forestlab.core.options import OPTIONS, SearchOptions
from forestlab.core.search import SEARCHES, Search

@dataclass(frozen=True, repr=False)
class Middle(SearchOptions):
    '''Only the cut that has a share of the groups on its left.'''

    place: float = 0.5

    def numbers(self):
        return super().numbers() | {"of_search": (float(self.place),)}

@jitable
def propose_middle(plan, node, scratch, look):
    place = plan.settings.of_search[0]
    scratch.groups.cuts[0] = min(int((look.n_groups - 1) * place), look.n_groups - 2)
    return 1 if look.n_groups > 1 else 0

SEARCHES["middle"] = Search(propose_middle)
OPTIONS["search"]["middle"] = Middle
""",
    "combiner": """
from forestlab.core.combine import COMBINERS, Combiner, mean_of_sums
from forestlab.core.jit import jitable

@jitable
def largest(stats, i, root, unit, share, sums, row):
    '''A vote as heavy as the leaf.'''
    best = 0
    for k in range(stats.shape[1]):
        if stats[i, k] > stats[i, best]:
            best = k
    sums[row, best] += share * stats[i, best]

COMBINERS["heavy"] = {"classification": Combiner(largest, mean_of_sums)}
""",
    "metric": """
import numpy as np
from forestlab.study.metrics import METRICS, Metric

def sure_sums(outcome):
    sure = (outcome.p_true > 0.5).sum(axis=1)
    return np.stack([sure, np.full(len(sure), len(outcome.truth))], axis=1).astype(float)

METRICS["sure"] = Metric("classification", sure_sums, lambda s: s[..., 0] / s[..., 1], True)
""",
    "learner": """
import numpy as np
from forestlab.core.jit import jitable
from forestlab.core.learners import LEARNERS, Learner, axis_ends, axis_project, nothing_to_ready
from forestlab.core.options import OPTIONS, LearnerOptions
from forestlab.core.questions import AXIS_KIND, KINDS

MIRROR = 77

class Mirror(LearnerOptions):
    '''Whether one feature is more than a number.'''

@jitable
def mirror_number(node, params, x):
    return -x[node["feature"]]

@jitable
def mirror_left(plan, scratch, question, i, row):
    '''Rows of greater values go left.'''
    return plan.columns.codes[question.candidate, row] > question.high

@jitable
def mirror_write(plan, scratch, question, record):
    columns, feature = plan.columns, question.candidate
    values = columns.lower[columns.first[feature] : columns.first[feature + 1]]
    record["kind"] = MIRROR
    record["feature"] = feature
    record["cut_high"] = -values[np.searchsorted(values, question.cut_high, side="right")]

KINDS[MIRROR] = AXIS_KIND._replace(
    number=mirror_number, words=lambda tree, i, names: "-" + names[tree.nodes["feature"][i]]
)
LEARNERS["mirror"] = Learner(axis_project, axis_ends, nothing_to_ready, mirror_left, mirror_write)
OPTIONS["learner"]["mirror"] = Mirror
""",
    "part": """
import numpy as np
from forestlab.study.part import Number, Part
from forestlab.study.parts import PARTS

def find(look):
    '''Nodes at each depth of a tree, mean over trees; a part before it found how many in all.'''
    counts, forest = np.zeros(look.n_depths), look.grown.forest
    for first, last in zip(forest.first_node[:-1], forest.first_node[1:]):
        level = [0]
        for depth in range(look.n_depths):
            counts[depth] += len(level)
            nodes = forest.nodes[first:last][level]
            inner = nodes[nodes["left"] > 0]
            level = [*inner["left"], *inner["right"]]
    assert counts.sum() == look.found["trees"].n_nodes.sum()
    return counts / look.grown.n_trees

def numbers(found, findings):
    return [Number("widths/nodes", value, depth) for depth, value in enumerate(found)]

def table(found, findings, about):
    yield "widths.json", {"nodes": found, "features": about.features}

def picture(found, findings, about):
    from forestlab.figures.style import dress, panels
    figure, (ax,) = panels(about.title, [4.0], 2.0)
    ax.plot(found)
    dress(ax, "depth", "nodes")
    yield "widths.png", figure

PARTS["widths"] = Part(
    level="light", applies=lambda look: look.grown.task == "classification", find=find,
    numbers=numbers, table=table, picture=picture,
    metrics={"widths/nodes": "at each depth"}, files={"widths": "the same"},
)
""",
}

FIT = """
import json, sys
sys.path.insert(0, sys.argv[1])
import added
import numpy as np
from sklearn.datasets import load_iris
from forestlab import ForestClassifier
from forestlab.core.arrays import tree_of
from forestlab.study.findings import study
from forestlab.study.numbers import numbers_of

X, y = load_iris(return_X_y=True)
model = ForestClassifier(5, max_depth=3, random_state=0, **json.loads(sys.argv[2])).fit(X, y)
"""


def told(folder, source, then, **options):
    """What a process prints that has something added."""
    (folder / "added.py").write_text(source)
    done = subprocess.run(
        [sys.executable, "-c", FIT + then, str(folder), json.dumps(options)],
        env=environment(folder),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


SCORE = "print(model.score(X, y))"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param("criterion", {"criterion": "root"}, marks=pytest.mark.long),
        pytest.param("registered", {"criterion": "root"}, marks=pytest.mark.long),
        pytest.param("search", {"search": "middle"}, marks=pytest.mark.long),
        pytest.param("combiner", {"combine": "heavy"}, marks=pytest.mark.long),
    ],
)
def test_what_an_estimator_takes(name, options, tmp_path):
    """One of three flowers is right without learning, and most are with it."""
    assert told(tmp_path, ADDED[name], SCORE, **options) > 0.85


@pytest.mark.long
def test_an_option_of_its_own(tmp_path):
    """By an estimator, as scikit-learn reaches inside, from a file and by a config: one forest."""
    then = """
from forestlab import load, run
from forestlab import config as configs
from forestlab.run import making

def trees(**params):
    return ForestClassifier(5, max_depth=3, random_state=0, **params).fit(X, y)

wanted, other = trees(search=added.Middle(place=0.25)), trees(search="middle")
inside = ForestClassifier(5, max_depth=3, random_state=0, search="middle")
inside.set_params(search__place=0.25).fit(X, y)
wanted.save(sys.argv[1] + "/model")
words = ["dataset=iris", "search.name=middle", "max_depth=3", "n_estimators=5"]
(plain,), (config,) = run.jobs(words), run.jobs([*words, "search.place=0.25"])
try:
    refused = run.jobs(["search.place=0.25"])
except configs.ConfigError as error:
    refused = str(error)
print(json.dumps({
    "same": [
        np.array_equal(model.forest_.nodes, wanted.forest_.nodes)
        for model in (
            inside,
            load(sys.argv[1] + "/model"),
            making.build(config, "classification").fit(X, y),
            other,
            making.build(plain, "classification").fit(X, y),
        )
    ],
    "shown": repr(inside),
    "logged": {k: v for k, v in configs.flat(config).items() if k.startswith("search.")},
    "chosen": [configs.chosen(c).get("search.place") for c in (plain, config)],
    "refused": refused,
}))
"""
    found = told(tmp_path, ADDED["search"], then, search="middle")
    assert found["same"] == [True, True, True, False, False]
    assert "search=Middle(place=0.25)" in found["shown"]
    assert found["logged"] == {
        "search.n_thresholds": None,
        "search.name": "middle",
        "search.place": 0.25,
        "search.threshold": "midpoint",
        "search.ties": "random",
    }
    assert found["chosen"] == [None, 0.25]
    assert found["refused"] == "search.place is an option of middle, not of exact."


@pytest.mark.long
def test_an_edit_of_what_was_added_leaves_old_kernels_aside(tmp_path):
    source, scored = ADDED["criterion"], "return sqrt(2.0 * crossed)"
    assert told(tmp_path, source, SCORE, criterion="root") > 0.85
    assert source.count(scored) == 1
    worst = source.replace(scored, "return -sqrt(2.0 * crossed)")
    assert told(tmp_path, worst, SCORE, criterion="root") < 0.85


def test_a_metric_is_in_every_surface(tmp_path):
    then = """
found = study(model.grown, {"train": (X, y), "test": (X[:99], y[:99])}, 1)
wanted = [n.value for n in numbers_of(found, {}) if n.name == "sure/test"]
sure = model.predict_proba(X[:99])[np.arange(99), y[:99]] > 0.5
print(json.dumps([wanted, sure.mean()]))
"""
    by_depth, sure = told(tmp_path, ADDED["metric"], then)
    assert len(by_depth) == 4
    assert by_depth[-1] == sure


STUDIED = ("n_estimators=3", "max_depth=2", "study=light", "tracking.model=false")


def test_a_part_of_the_study_is_found_logged_written_and_drawn(tmp_path, monkeypatch):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PARTS, "widths", None)  # so that it is forgotten afterwards
        exec(ADDED["part"], {})
        assert run.main([*STUDIED, "dataset=iris"]) == 0
        assert run.main([*STUDIED, "dataset=diabetes"]) == 0  # where it does not apply
    assert "widths" not in PARTS
    assert run.main([*STUDIED, "dataset=iris"]) == 0
    logged = Logged(tmp_path)
    first, *others = logged.runs()
    widths = logged.history(first, "widths/nodes")
    assert list(widths) == [0, 1, 2]
    assert (widths[0], widths[1]) == (1, 2)
    assert sum(widths.values()) == pytest.approx(first.data.metrics["summary/trees_n_nodes"])
    table = logged.table(first, "widths.json")
    assert table["nodes"] == list(widths.values())
    assert table["features"][0] == "sepal length (cm)"
    assert logged.artifact(first, "widths.png")[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(others) == 2
    for other in others:
        assert "summary/trees_n_nodes" in other.data.metrics
        assert "widths/nodes" not in other.data.metrics
        assert logged.table(other, "importance.json")
        with pytest.raises(FileNotFoundError):
            logged.artifact(other, "widths.json")


@pytest.mark.long
def test_a_learner_and_its_kind_of_node(tmp_path):
    """Left and right exchanged: the same answers, by other nodes, in words of their own."""
    then = """
from forestlab.forest import combined, importances
from forestlab.tree.view import TreeView
forests = [
    ForestClassifier(5, max_depth=1, random_state=0, learner=learner).fit(X, y).forest_
    for learner in ("axis", "mirror")
]
answers = [combined(forest, "classification", "average", X)[0] for forest in forests]
names = ["a", "b", "c", "d"]
print(json.dumps({
    "same": bool(np.array_equal(*answers)),
    "vary": float(np.ptp(answers[0])),
    "kinds": sorted(set(forests[1].nodes["kind"].tolist())),
    "words": str(TreeView(tree_of(forests[1], 0), "classification", names)),
    "importances": np.array_equal(*(importances(forest, 4) for forest in forests)),
}))
"""
    found = told(tmp_path, ADDED["learner"], then)
    assert found["same"]
    assert found["vary"] > 0.5
    assert found["kinds"] == [0, 77]
    assert found["words"].startswith("-")
    assert found["importances"]


# ---- plugins=[…] on the command line -----------------------------------------------------------

RINGS = """
import numpy as np
import pandas as pd
from forestlab.datasets import LOADERS, Dataset

def rings(config):
    rng = np.random.default_rng(config.data_seed)
    X = rng.normal(size=(200, 2))
    y = np.where(np.hypot(*X.T) < 1.2, "inner", "outer")
    return Dataset("rings", pd.DataFrame(X, columns=["x", "y"]), y, "classification", "rings.py")

LOADERS["rings"] = rings
"""
DEPTHS = """
'''Accuracy of a tree on two rings, against its depth.'''
from experiments import above, frame
from experiments._pictures import draw_table
from experiments._statistics import over_seeds

DOCUMENT = "own"
SAYS = "Rings are not cut apart by one line."

def table(runs):
    return frame(runs, "max_depth", "dataset.data_seed", "accuracy/test")

def draw(table):
    return draw_table(table, "Two rings")

def judge(table):
    wide = table.pivot(index="dataset.data_seed", columns="max_depth", values="accuracy/test")
    return [above("accuracy at depth 5 less that at depth 1", over_seeds(wide[5] - wide[1]))]
"""
SWEEP = """
# @package _global_
defaults:
  - override /dataset: rings
  - override /model: tree
  - override /tracking: lean
plugins: [rings]
sweeps: ["max_depth=1,5 dataset.data_seed=range(5)"]
"""


FILES = {
    "rings.py": RINGS,
    "ring_depths.py": DEPTHS,
    "conf/dataset/rings.yaml": "name: rings\n",
    "conf/experiment/ring_depths.yaml": SWEEP,
}


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip())


def forget():
    """As in a new process."""
    for name in ("rings", "ring_depths", "broken"):
        sys.modules.pop(name, None)
    plugins._source_version.cache_clear()


@pytest.fixture
def project(tmp_path):
    """A folder of a user's own, with a data set and an experiment on it."""
    write(tmp_path, FILES)
    return tmp_path


@pytest.fixture
def here(project, monkeypatch):
    """The same, as the working folder of this process, which forgets it afterwards."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("FORESTLAB_HOME", str(project / "home"))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setattr("sys.path", sys.path[:])
    monkeypatch.setattr("forestlab.datasets.LOADERS", {**LOADERS})
    yield project
    forget()


OWN = ["plugins=[rings]", "dataset=rings", "--config-dir=conf"]
SMALL = ["n_estimators=5", "study=off"]


def test_a_data_set_in_a_run(project):
    """One of the rings holds half of the rows; without the plug-in there is none of the name."""
    home = project / "home"
    done = command(*OWN, *SMALL, "tracking=none", home=home, cwd=project)
    assert done.returncode == 0, done.stderr
    head, row = (line.split() for line in done.stdout.splitlines())
    found = dict(zip(head[2:], row[-len(head) + 2 :], strict=True))
    assert row[:2] == ["forest", "rings"]
    assert float(found["accuracy/test"]) > 0.75
    done = command(*OWN[1:], *SMALL, "tracking=none", home=home, cwd=project)
    assert done.returncode == 2
    assert done.stderr.startswith("error: dataset.name=rings is unknown")
    assert "rings" not in LOADERS


def make(*arguments, home, cwd):
    return subprocess.run(
        [sys.executable, "-m", "experiments", *arguments],
        env=environment(home),
        cwd=cwd,
        capture_output=True,
        text=True,
    )


def test_an_experiment_is_reproduced(project):
    home, own = project / "home", ["--plugins=ring_depths", "--config-dir=conf"]
    done = make("ring_depths", *own, home=home, cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "ring_depths: 10 of 10 runs to do"
    assert lines[1].startswith("ring_depths: 10 runs, ")
    assert lines[2].split()[0] == "held"
    table = pd.read_csv(home / "figures/ring_depths.csv")
    assert sorted(set(table["max_depth"])) == [1, 5]
    assert "Accuracy of a tree on two rings" in (home / "figures/index.html").read_text()
    runs = Logged(home).runs("tags.experiment = 'ring_depths' and tags.model = 'tree'")
    assert [found.data.params["plugins"] for found in runs] == ["['rings']"] * 10
    assert len({found.data.tags["plugins_version"] for found in runs}) == 1


def test_an_experiment_is_listed_and_gone_afterwards(here, capsys):
    assert experiments.__main__.main(["--plugins=ring_depths"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.split(maxsplit=2) == [
        "ring_depths",
        "own",
        "Accuracy of a tree on two rings, against its depth",
    ]
    assert "ring_depths" not in experiments.names()
    assert experiments.__main__.main(["ring_depths"]) == 2
    assert "there is no experiment 'ring_depths'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("rings", "rings is no experiment: it has no table."),
        ("ring_depth", "there is no module 'ring_depth': did you mean ring_depths?"),
        ("experiments.variants", "there is an experiment variants already"),
    ],
)
def test_what_is_no_experiment_of_ones_own(name, told, here, capsys):
    assert experiments.__main__.main(["all", f"--plugins={name}"]) == 2
    assert told in capsys.readouterr().err


def status(*words):
    outcome = run.perform([*OWN, *SMALL, "tracking=lean", "resume=true", *words])
    assert outcome.code == 0
    return [result.status for result in outcome.results]


def test_a_run_of_an_older_source_is_not_taken_for_the_same(here):
    """What is edited is a comment: neither the config nor the data change."""
    assert status() == ["FINISHED"]
    (first,) = Logged(here / "home").runs()
    assert status() == ["SKIPPED"]
    write(here, {"rings.py": RINGS + "# edited"})
    assert status() == ["SKIPPED"]  # what this process imported is as it was
    forget()
    assert status() == ["FINISHED"]
    assert status() == ["SKIPPED"]
    _, second = Logged(here / "home").runs()
    for key in ("config_hash", "dataset_digest", "result_version"):
        assert first.data.tags[key] == second.data.tags[key]
    write(here, {"rings.py": RINGS})
    forget()
    assert status() == ["SKIPPED"]
    assert status("plugins=[rings,ring_depths]") == ["FINISHED"]
    assert run.main(["dataset=iris", *SMALL, "tracking=lean"]) == 0
    plain = Logged(here / "home").runs("tags.dataset = 'iris'")[0]
    assert "plugins_version" not in plain.data.tags


def test_a_baseline_of_a_plug_in(here, capsys):
    from forestlab.baseline.__main__ import main

    folder = f"--folder={here / 'baselines'}"
    assert status() == ["FINISHED"]
    assert main(["record", "own", "--query=tags.dataset = 'rings'", folder]) == 0
    for mode in ("never", "always"):
        forget()
        assert main(["check", "own", f"--run={mode}", folder]) == 0
        assert "metrics of 1 runs agree" in capsys.readouterr().out
    write(here, {"rings.py": RINGS + "# edited"})
    forget()
    assert main(["check", "own", "--run=never", folder]) == 2
    assert "no recorded config has a run" in capsys.readouterr().err
    (here / "rings.py").unlink()
    forget()
    assert main(["check", "own", "--run=always", folder]) == 2
    assert "plugins: there is no module 'rings'" in capsys.readouterr().err


MIDDLE = """
from dataclasses import dataclass
from forestlab.core.options import OPTIONS, Exact, option, whole
from forestlab.core.search import SEARCHES

@dataclass(frozen=True, repr=False)
class Middle(Exact):
    place: int = option(1, whole(0), "Nobody reads it.")

SEARCHES["middle"] = SEARCHES["exact"]
OPTIONS["search"]["middle"] = Middle
"""


def test_a_plug_in_of_a_file_brings_its_options(here, monkeypatch):
    """The file is read by a schema that has them; so are the jobs of a sweep over plug-ins."""
    monkeypatch.setitem(OPTIONS, "search", {**OPTIONS["search"]})
    monkeypatch.setattr("forestlab.core.search.SEARCHES", {**SEARCHES})
    experiment = "# @package _global_\nplugins: [middle]\nsearch: {name: middle, place: 3}\n"
    write(here, {"middle.py": MIDDLE, "conf/experiment/mine.yaml": experiment})
    try:
        (config,) = run.jobs(["experiment=mine", "--config-dir=conf", "dataset=iris"])
        assert (config.search.name, config.search.place) == ("middle", 3)
        sys.modules.pop("middle")
        del OPTIONS["search"]["middle"]
        words = "-m plugins=[middle],[middle,rings] search.name=middle search.place=4 dataset=iris"
        assert [config.search.place for config in run.jobs(words.split())] == [4, 4]
    finally:
        sys.modules.pop("middle", None)
        monkeypatch.undo()
        configs.register()


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("x = 1\nx.y", "AttributeError: 'int' object has no attribute 'y' (FILE, line 2)"),
        ("import no_such", "ModuleNotFoundError: No module named 'no_such' (FILE, line 1)"),
        ("\n\n)", "SyntaxError: unmatched ')' (broken.py, line 3)"),
        ("import sys\nsys.exit(3)", "SystemExit: 3 (FILE, line 2)"),
        ("raise ValueError('a\\nb')", "ValueError: a (FILE, line 1)"),
        ("raise ValueError", "ValueError (FILE, line 1)"),
    ],
)
def test_a_module_that_breaks_is_one_line(source, told, here, capsys):
    (here / "broken.py").write_text(source)
    assert run.main(["plugins=[broken]", "dataset=iris"]) == 2
    line = f"error: plugins: broken cannot be imported: {told}\n"
    assert capsys.readouterr().err == line.replace("FILE", str(here / "broken.py"))
    assert not list((here / "home").iterdir())


def test_the_version_of_a_package_is_that_of_all_its_source(here):
    write(here, {"rings/__init__.py": "", "rings/deep/loading.py": RINGS})
    (here / "rings.py").unlink()
    versions = []
    for edited in ("rings/deep/loading.py", "rings/other.py", "rings/notes.txt"):
        plugins.load(["rings"], str(here))
        versions.append(plugins.version(["rings"]))
        assert plugins.version(["rings"]) == versions[-1]
        write(here, {edited: "# edited"})
        forget()
    plugins.load(["rings.deep.loading"], str(here))
    assert len(set(versions)) == 3
    forget()
    plugins.load(["rings"], str(here))
    assert plugins.version(["rings"]) == versions[-1]  # notes are no source
    assert plugins.version([]) == ""


LAUNCHER = """
from hydra.core.hydra_config import HydraConfig
from hydra.core.singleton import Singleton
from hydra.core.utils import run_job, setup_globals
from hydra.plugins.launcher import Launcher
from joblib import Parallel, delayed
from omegaconf import open_dict


class Apart(Launcher):
    '''Jobs in other processes, by the steps of Hydra's launcher for joblib.'''

    def setup(self, *, hydra_context, task_function, config):
        self.given = hydra_context, task_function, config

    def launch(self, job_overrides, initial_job_idx):
        state = Singleton.get_state()
        jobs = enumerate(job_overrides, initial_job_idx)
        return Parallel(2)(delayed(execute)(*job, *self.given, state) for job in jobs)


def execute(number, words, context, task, config, state):
    setup_globals()
    Singleton.set_state(state)
    own = context.config_loader.load_sweep_config(config, list(words))
    with open_dict(own):
        own.hydra.job.update(id=str(number), num=number)
    HydraConfig.instance().set_config(own)
    places = {"job_dir_key": "hydra.sweep.dir", "job_subdir_key": "hydra.sweep.subdir"}
    return run_job(hydra_context=context, task_function=task, config=own, **places)
"""
CHOICE = """
# @package hydra.launcher
_target_: hydra_plugins.apart.Apart
"""


@pytest.mark.long
def test_jobs_in_other_processes_import_them_and_find_their_sweep(project):
    write(
        project,
        {"hydra_plugins/apart.py": LAUNCHER, "conf/hydra/launcher/apart.yaml": CHOICE},
    )
    home = project / "home"
    words = [*OWN, *SMALL, "hydra/launcher=apart", "tracking=lean", "-m", "seed=0,1,2"]
    done = subprocess.run(
        [sys.executable, "-m", "forestlab.run", *words],
        env=environment(home) | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(project)])},
        cwd=project,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    parent, *children = Logged(home).runs()
    assert parent.data.tags["kind"] == "sweep"
    names = sorted(found.info.run_name for found in children)
    assert names == [f"forest rings seed={seed}" for seed in range(3)]
    for found in children:
        assert found.info.status == "FINISHED"
        assert found.data.tags["mlflow.parentRunId"] == parent.info.run_id
        assert found.data.tags["pid"] != parent.data.tags["pid"]
        assert re.fullmatch("[0-9a-f]{16}", found.data.tags["plugins_version"])
    assert all(name in done.stdout for name in names)


@pytest.mark.long
def test_a_criterion_on_the_command_line(tmp_path):
    write(tmp_path, {"added.py": ADDED["criterion"]})
    words = ["plugins=[added]", "criterion.name=root", "dataset=iris", *SMALL, "tracking=none"]
    done = command(*words, home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "forest iris criterion.name=root" in done.stdout
