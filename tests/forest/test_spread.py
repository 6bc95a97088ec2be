"""Trees spread over Ray are those that threads grow; so far as Ray is installed."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from sklearn.datasets import load_digits

from forestlab import ForestClassifier
from forestlab.core import criteria
from forestlab.forest import grow_trees, prepare, spread
from forestlab.forest.desk import kernel_for
from forestlab.model import parameters

has_ray = pytest.mark.skipif(
    spread.find_spec("ray") is None, reason='Ray is not installed: pip install "forestlab[ray]"'
)
X, y = load_digits(return_X_y=True)
X, y = X[:300], y[:300]


def recipe_for(**params):
    model = ForestClassifier(3, **params)
    return parameters.recipe(model.growing_params(), "classification", X.shape, 10)


def read_only(part):
    """As the object store gives it."""
    if isinstance(part, np.ndarray):
        part = part.copy()
        part.flags.writeable = False
    elif isinstance(part, tuple) and part:
        part = type(part)(*map(read_only, part))
    return part


def test_a_tree_grows_on_what_may_not_be_written_to_without_a_copy_or_another_kernel():
    recipe = recipe_for(search="histogram")
    training = prepare(X, y[:, None].astype(float), recipe)
    stored = read_only(training)
    lent = spread.as_kernels_take(stored)
    assert lent.columns.codes.flags.writeable
    assert not stored.columns.codes.flags.writeable
    assert np.shares_memory(lent.columns.codes, stored.columns.codes)
    assert np.shares_memory(lent.y, stored.y)
    expected = grow_trees(training, recipe, 3, 1, 1)[0]
    kernel = kernel_for(training, recipe)
    n_compiled = len(kernel.signatures)  # other tests may have had others
    grow = spread.grow_there(stored, recipe, 3, 1)
    assert len(kernel.signatures) == n_compiled
    assert [part.tobytes() for part in grow] == [part.tobytes() for part in expected]


def test_without_ray_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(spread, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r'^backend="ray" needs another package: pip install "for'):
        ForestClassifier(2, backend="ray").fit(X, y)


def test_what_a_module_adds_is_imported_where_trees_grow(monkeypatch):
    module = type(sys)("roots_of_somebody")
    monkeypatch.setitem(sys.modules, "roots_of_somebody", module)

    def score(side, numbers):
        return 0.0

    score.__module__ = "roots_of_somebody"
    row = criteria.CRITERIA["gini"]._replace(score=score)
    monkeypatch.setitem(criteria.CRITERIA, "theirs", row)
    recipe = recipe_for()._replace(criterion="theirs")
    assert spread.homes(recipe) == ("roots_of_somebody",)
    assert spread.homes(recipe_for()) == ()
    score.__module__ = "__main__"
    with pytest.raises(ValueError, match="put it in a module of its own"):
        spread.homes(recipe)


def test_where_there_is_a_token_a_cluster_is_shown_it(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    assert spread.to_be_let_in() == {}
    monkeypatch.setenv("RAY_AUTH_TOKEN", "abc")
    assert spread.to_be_let_in() == {"RAY_AUTH_MODE": "token"}
    monkeypatch.delenv("RAY_AUTH_TOKEN")
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray/auth_token").touch()
    assert spread.to_be_let_in() == {"RAY_AUTH_MODE": "token"}
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    assert spread.to_be_let_in() == {"RAY_AUTH_MODE": "disabled"}


# ---- with Ray ----------------------------------------------------------------------------------


def run(code: str, **environment) -> dict:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True, text=True, timeout=600, env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@has_ray
@pytest.mark.long
def test_a_forest_over_ray_is_that_of_threads_and_its_cluster_ends():
    """Classes and numbers, in one cluster of the program's own, then in one that is ours."""
    found = run(
        """
        import json, ray
        from sklearn.datasets import load_diabetes, load_digits
        from forestlab import ForestClassifier, ForestRegressor

        def same(cls, X, y, **params):
            seen = []
            params = params | {"random_state": 0, "n_jobs": 2}
            threads = cls(6, **params).fit(X, y)
            over = cls(6, backend="ray", verbose=1, **params)
            over._progress = lambda trees: (seen.append(t) or t for t in trees)
            over.fit(X, y)
            pairs = zip(over.forest_, threads.forest_, strict=True)
            return all(a.tobytes() == b.tobytes() for a, b in pairs) and len(seen) == 6

        X, y = load_digits(return_X_y=True)
        ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
        alike = [same(ForestClassifier, X, y, oob_score=True)]
        alike.append(same(ForestRegressor, *load_diabetes(return_X_y=True), criterion="gaussian"))
        stays = ray.is_initialized()
        ray.shutdown()
        alike.append(same(ForestClassifier, X, y, search="histogram", max_leaf_nodes=9))
        print(json.dumps({"alike": alike, "stays": stays, "ended": not ray.is_initialized()}))
        """
    )
    assert found == {"alike": [True, True, True], "stays": True, "ended": True}


@has_ray
@pytest.mark.long
def test_trees_of_a_lost_process_are_grown_again():
    found = run(
        """
        import json, os, signal, threading, time
        import numpy as np
        from pathlib import Path
        from forestlab import ForestClassifier

        rng = np.random.default_rng(0)
        X = rng.normal(size=(60_000, 20))
        y = (X[:, 0] * X[:, 1] + rng.normal(size=len(X)) > 0).astype(int)
        killed = []

        def growers():
            found = []
            for folder in Path("/proc").iterdir():
                try:
                    if (folder / "cmdline").read_bytes().startswith(b"ray::grow_there"):
                        ancestors, pid = [], int(folder.name)
                        while pid > 1 and len(ancestors) < 9:
                            pid = int((Path("/proc", str(pid), "stat")).read_text()
                                      .rsplit(")", 1)[1].split()[1])
                            ancestors.append(pid)
                        if os.getpid() in ancestors:
                            found.append(int(folder.name))
                except (OSError, ValueError):
                    continue
            return found

        def kill_one():
            while not killed:
                for pid in growers()[:1]:
                    time.sleep(0.3)
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                time.sleep(0.05)

        threading.Thread(target=kill_one, daemon=True).start()
        how = dict(n_estimators=8, random_state=0, n_jobs=2)
        over = ForestClassifier(backend="ray", **how).fit(X, y)
        threads = ForestClassifier(**how).fit(X, y)
        pairs = zip(over.forest_, threads.forest_, strict=True)
        alike = all(a.tobytes() == b.tobytes() for a, b in pairs)
        print(json.dumps({"alike": alike, "killed": len(killed)}))
        """
    )
    assert found == {"alike": True, "killed": 1}


@has_ray
@pytest.mark.long
def test_an_interrupt_ends_it_and_its_processes():
    code = """
    import signal
    import numpy as np
    from forestlab import ForestClassifier

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have switched it off
    X = np.random.default_rng(0).normal(size=(100_000, 20))
    def shown(trees):
        for tree in trees:
            yield tree
            print("grown", flush=True)
    forest = ForestClassifier(10_000, backend="ray", verbose=1, n_jobs=2)
    forest._progress = shown
    forest.fit(X, X[:, 0] > X[:, 1])
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "grown\n"
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        assert "KeyboardInterrupt" in told
        assert time.monotonic() - start < 30  # to stop a cluster takes Ray some seconds


@has_ray
@pytest.mark.long
def test_a_cluster_that_is_not_there_gets_a_sentence():
    told = run(
        """
        import json
        import numpy as np
        from forestlab import ForestRegressor

        try:
            ForestRegressor(2, backend="ray").fit(np.arange(9.0)[:, None], np.arange(9.0))
        except RuntimeError as error:
            print(json.dumps(str(error)))
        """,
        RAY_ADDRESS="127.0.0.1:9",
        RAY_NUM_REDIS_GET_RETRIES="2",
    )
    assert told.startswith('backend="ray": RAY_ADDRESS=127.0.0.1:9 is not reached (')


@has_ray
@pytest.mark.long
def test_what_fails_over_there_is_told_as_if_it_were_here():
    told = run(
        """
        import json
        import numpy as np
        from forestlab import ForestRegressor

        def worst(y, weights):
            raise ZeroDivisionError("no such number")

        try:
            ForestRegressor(2, criterion=worst, backend="ray", n_jobs=1).fit(
                np.arange(9.0)[:, None], np.arange(9.0)
            )
        except ZeroDivisionError as error:
            print(json.dumps(str(error)))
        """
    )
    assert told == "no such number"
