"""The door for a compiled criterion of one's own: what a module calls when it is imported."""

from collections.abc import Callable

from forestlab.core.criteria import CRITERIA, Criterion
from forestlab.core.jit import jitable
from forestlab.core.options import listed
from forestlab.core.tasks import TASKS, require_task

AUTO = "auto"  # a config's word for the criterion of the task
_homes = dict.fromkeys(CRITERIA, "forestlab")  # by name: the module that it is from
_marked: dict[Callable, Callable] = {}


def register_criterion(
    name: str,
    task: str,
    *,
    add: Callable,
    score: Callable,
    impurity: Callable | None = None,
    gather: Callable | None = None,
    add_whole: Callable | None = None,
    scale: float = 1.0,
) -> None:
    """Have `criterion=name` mean these functions, which are compiled with the rest of a kernel.

    A *side* is what the rows on one side of a cut contribute together, an array of a number a slot:
    of classes the weight of each; of numbers their weight, then of each target the weighted sum of
    its distances from the node's mean. Beside it go three plain numbers, the first its weight; of a
    side without rows all are 0. `forestlab.core.criteria` says more, and has examples.

    Parameters
    ----------
    name : not that of a built-in criterion, nor one that another module registered
    task : "classification" or "regression"; of classes it serves several targets too, by its mean
        over them
    add : (side, slot, amount, numbers) → numbers: add an amount, which may be negative, to a slot
    score : (side, numbers) → weight × impurity of a side, up to a constant of the node
    impurity : (score, total, numbers, stats) → the impurity of a node, given the side that holds
        all of it and its statistics; None: of classes `score` divided by weight, of numbers the
        variance
    gather : what fills slots, sums and statistics of a node, as that of the task does; None: that
    add_whole : as `add`, where weights are whole numbers and sums therefore exact; None: `add`
    scale : of the impurity that is reported and that `min_impurity_decrease` means
    """
    require_task(task)
    if TASKS[task].criteria:
        raise ValueError(f"trees of {task} grow by {listed(TASKS[task].criteria)} alone.")
    if not isinstance(name, str) or not name.isidentifier() or name == AUTO:
        raise ValueError(f"a criterion's name must be a word other than 'auto'; got {name!r}.")
    home = _homes.get(name, score.__module__) if name in CRITERIA else score.__module__
    if home != score.__module__:
        raise ValueError(f"criterion {name!r} is one of {home}: give yours another name.")
    usual = next(row for row in CRITERIA.values() if row.task == task)
    CRITERIA[name] = Criterion(
        task,
        _as_jitable(gather) or usual.gather,
        _as_jitable(add),
        _as_jitable(score),
        _as_jitable(impurity) or usual.impurity,
        scale=float(scale),
        add_whole=_as_jitable(add_whole),
    )
    _homes[name] = home


def _as_jitable(function):
    """The plain function, marked once; that of what is compiled already."""
    if function is None:
        return None
    function = getattr(function, "py_func", function)
    if function not in _marked:
        _marked[function] = jitable(function)
    return _marked[function]
