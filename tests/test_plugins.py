"""What is added from outside, in the places that CONTRIBUTING names, works as if it were there.

Each is added by a module of its own, in a process of its own, so that nothing of it stays.
"""

import json
import subprocess
import sys

import pytest
from command import environment

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
    "search": """
from forestlab.core.jit import jitable
from forestlab.core.search import SEARCHES, Search

@jitable
def propose_middle(plan, node, scratch, n_groups, first_key):
    '''Only the cut that has as many groups on either side.'''
    scratch.groups.cuts[0] = (n_groups - 1) // 2
    return 1 if n_groups > 1 else 0

SEARCHES["middle"] = Search(propose_middle, binned=False)
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
from forestlab.core.learners import LEARNERS, Learner, axis_project, nothing_to_ready
from forestlab.core.questions import AXIS_KIND, KINDS

MIRROR = 77

@jitable
def mirror_number(node, params, x):
    return -x[node["feature"]]

@jitable
def mirror_left(plan, scratch, question, i, row):
    '''Rows of greater values go left.'''
    return plan.columns.codes[question.feature, row] > question.low

@jitable
def mirror_write(plan, scratch, question, record):
    columns = plan.columns
    record["kind"] = MIRROR
    record["feature"] = question.feature
    record["cut_high"] = -columns.lower[columns.first[question.feature] + question.high]

KINDS[MIRROR] = AXIS_KIND._replace(
    number=mirror_number, words=lambda tree, i, names: "-" + names[tree.nodes["feature"][i]]
)
LEARNERS["mirror"] = Learner(axis_project, nothing_to_ready, mirror_left, mirror_write)
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


def told(folder, name, then, **options):
    """What a process prints that has something added."""
    (folder / "added.py").write_text(ADDED[name])
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
        pytest.param("search", {"search": "middle"}, marks=pytest.mark.long),
        pytest.param("combiner", {"combine": "heavy"}, marks=pytest.mark.long),
    ],
)
def test_what_an_estimator_takes(name, options, tmp_path):
    """One of three flowers is right without learning, and most are with it."""
    assert told(tmp_path, name, SCORE, **options) > 0.85


@pytest.mark.long
def test_an_edit_of_what_was_added_leaves_old_kernels_aside(tmp_path):
    assert told(tmp_path, "criterion", SCORE, criterion="root") > 0.85
    scored = "return sqrt(2.0 * crossed)"
    assert ADDED["criterion"].count(scored) == 1
    ADDED["worst"] = ADDED["criterion"].replace(scored, "return -sqrt(2.0 * crossed)")
    try:
        assert told(tmp_path, "worst", SCORE, criterion="root") < 0.85
    finally:
        del ADDED["worst"]


def test_a_metric_is_in_every_surface(tmp_path):
    then = """
found = study(model.grown, {"train": (X, y), "test": (X[:99], y[:99])}, 1)
wanted = [n.value for n in numbers_of(found, None, {}) if n.name == "sure/test"]
sure = model.predict_proba(X[:99])[np.arange(99), y[:99]] > 0.5
print(json.dumps([wanted, sure.mean()]))
"""
    by_depth, sure = told(tmp_path, "metric", then)
    assert len(by_depth) == 4
    assert by_depth[-1] == sure


@pytest.mark.long
def test_a_learner_and_its_kind_of_node(tmp_path):
    """Left and right exchanged: the same answers, by other nodes, in words of their own."""
    then = """
from forestlab.forest import combined, grow_forest, importances, prepare
from forestlab.tree.view import TreeView
grown = model.grown
recipe = grown.recipe._replace(learner="mirror")
training = prepare(X, y[:, None].astype(float), recipe)
once = grown.recipe._replace(settings=grown.recipe.settings._replace(max_depth=1))
forests = [
    grow_forest(training, once._replace(learner=learner), grown.seed, 5)
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
    found = told(tmp_path, "learner", then)
    assert found["same"]
    assert found["vary"] > 0.5
    assert found["kinds"] == [0, 77]
    assert found["words"].startswith("-")
    assert found["importances"]
