"""The trees of one forest, spread over the processes of Ray, which may be on many machines.

Data go once into Ray's object store, and from there once to each machine; the processes of a
machine read them where they lie. A tree comes back as the arrays that it is. What a tree is depends
on its number alone, so that it does not matter who grows it, nor, if a process is lost, who grows
it again.

A cluster is used if there is one: that of a program that called `ray.init`, or the one that
RAY_ADDRESS names. Else one is started here, of as many processes as there would be threads, and
stopped at the end.
"""

import importlib
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from forestlab.core.arrays import Bed, Tree, bed_of
from forestlab.core.criteria import CRITERIA
from forestlab.core.learners import LEARNERS
from forestlab.core.leaves import LEAVES
from forestlab.core.options import row_of
from forestlab.core.search import SEARCHES
from forestlab.forest.forests import grow_in_threads, grow_trees
from forestlab.forest.growing import Recipe, Training

RETRIES = 3  # of a tree whose process is lost
AHEAD = 4  # trees a core that wait or are grown: all of a forest would take long to take back


def require_ray() -> None:
    """Raise ValueError where Ray is not installed."""
    if find_spec("ray") is None:
        raise ValueError(
            'backend="ray" needs another package: pip install "forestlab[ray]"; or choose '
            'backend="threads".'
        )


def grow_over_ray(
    training: Training,
    recipe: Recipe,
    seed: int,
    numbers: range,
    n_jobs: int,
    show: Callable[[Iterable], Iterable] | None = None,
) -> Iterator[Bed]:
    """The trees of these numbers, in order; `n_jobs` and `show` as in `grow_forest`."""
    require_ray()
    modules = homes(recipe)
    # Ray counts who uses it, over the network, unless it is told not to.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray: Any = importlib.import_module("ray")
    is_ours = _connect(ray, n_jobs)
    waiting: deque = deque()
    try:
        data = ray.put(training)
        grow = ray.remote(num_cpus=1, max_retries=RETRIES)(grow_there)
        to_come = (grow.remote(data, recipe, seed, t, modules) for t in numbers)
        n_ahead = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
        for _ in show(numbers) if show else numbers:
            waiting.extend(islice(to_come, n_ahead - len(waiting)))
            # Copied, as what lies in the store is gone with it.
            yield bed_of(Tree(*(part.copy() for part in _got(ray, waiting[0]))))
            waiting.popleft()
    finally:
        for tree in waiting:  # if something was raised, as by Ctrl-C
            ray.cancel(tree, force=True)
        if is_ours:
            ray.shutdown()


def to_be_let_in() -> dict[str, str]:
    """What the environment is to say for a cluster that is there.

    A cluster that was started where there is a token lets in only who shows it. Ray makes one for
    the first cluster of its own, and does not show it to others unless it is told to.
    """
    said = any(name in os.environ for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"))
    if said or (Path.home() / ".ray/auth_token").exists():
        return {"RAY_AUTH_MODE": os.environ.get("RAY_AUTH_MODE", "token")}
    return {}


def _connect(ray: Any, n_jobs: int) -> bool:
    """Be connected to a cluster; returns whether that is to be undone."""
    if ray.is_initialized():
        return False
    quiet = {"log_to_driver": False, "logging_level": "error"}
    local = {"address": "local", "num_cpus": n_jobs, "include_dashboard": False}
    address, ended = os.environ.get("RAY_ADDRESS"), signal.getsignal(signal.SIGTERM)
    if address and "RAY_AUTH_MODE" not in os.environ and (wanted := to_be_let_in()):
        os.environ.update(wanted)
        with suppress(AttributeError):  # Ray has read the environment when it was imported
            ray._raylet.Config.initialize("")
    try:
        ray.init(**quiet, **({} if address else local))
    except Exception as error:  # Ray has no class of its own for what may go wrong here
        reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        what = f"RAY_ADDRESS={address} is not reached" if address else "no cluster comes up"
        raise RuntimeError(f'backend="ray": {what} ({reason})') from error
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, ended)  # in whose place Ray has put its own
    return True


def _got(ray: Any, tree: Any) -> Tree:
    """Wait for a tree. What failed over there is raised as if it had failed here."""
    try:
        return ray.get(tree)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[0]
        raise RuntimeError(
            f'backend="ray": a tree was tried {1 + RETRIES} times, and its process was lost each '
            f"time, as it is when memory is short ({reason})."
        ) from None


# ---- in the processes of Ray -------------------------------------------------------------------


def grow_there(
    training: Training, recipe: Recipe, seed: int, t: int, modules: tuple[str, ...] = ()
) -> Tree:
    """Grow one tree of data that lie in the object store."""
    for name in modules:
        importlib.import_module(name)
    return grow_trees(as_kernels_take(training), recipe, seed, t, 1)[0]


def homes(recipe: Recipe) -> tuple[str, ...]:
    """The modules of a user's own that add what the recipe names, for others to import."""
    rows: list[Any] = [
        SEARCHES[row_of("search", recipe.search)],
        LEARNERS[row_of("learner", recipe.learner)],
    ]
    rows += [CRITERIA[recipe.criterion]] if isinstance(recipe.criterion, str) else []
    rows += [LEAVES[recipe.leaf]] if isinstance(recipe.leaf, str) else []
    found = {getattr(part, "__module__", "") for row in rows for part in row if callable(part)}
    own = sorted(name for name in found if name.split(".")[0] not in ("forestlab", "builtins"))
    if "__main__" in own:
        raise ValueError(
            'backend="ray" cannot have other processes import what this program itself adds to the '
            "tables: put it in a module of its own."
        )
    return tuple(name for name in own if name in sys.modules)


def as_kernels_take(training: Training) -> Training:
    """The same data, of arrays that may be written to, as far as numba knows.

    What lies in the store is read-only, to numba another type, and every kernel compiled once more.
    No kernel that grows trees writes to its data.
    """
    columns = training.columns._replace(
        **{name: _may_be_written(part) for name, part in training.columns._asdict().items()}
    )
    parts = {name: _may_be_written(part) for name, part in training._asdict().items()}
    return training._replace(**parts | {"columns": columns})


def _may_be_written(part: Any) -> Any:
    if not isinstance(part, np.ndarray) or part.flags.writeable:
        return part
    return np.asarray(_Lent(part)) if part.size else part.copy()


class _Lent:
    """An array as numpy's interface has it, but for one flag; it is held as long as it is lent."""

    def __init__(self, array: np.ndarray):
        self.array = array
        place, _ = array.__array_interface__["data"]
        self.__array_interface__ = array.__array_interface__ | {"data": (place, False)}


# Who grows trees: see `grow_forest`.
BACKENDS: dict[str, Callable] = {"threads": grow_in_threads, "ray": grow_over_ray}
