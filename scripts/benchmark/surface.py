"""Every depth and number of trees: from one fit and one walk, and by refitting scikit-learn.

forestlab's surface has every metric of training, out-of-bag and test rows at every depth × number
of trees. scikit-learn is fitted at every depth and only asked for test rows, with all trees: less
than the surface says, so that the ratio flatters it. What the paths of all stopping rules add to
the surface, as in a full study, is measured beside it.
"""

from functools import partial

from benchmark.data import SETS, Split, load, trees_of
from benchmark.measured import FIRST, OURS, Measured
from benchmark.peers import installed
from benchmark.rounds import Settings, orders, tell, timed

DEPTHS = 30  # a root alone, and 29 levels


def measure(name: str, settings: Settings) -> list[Measured]:
    data, n_trees, task = load(name, settings), trees_of(name, settings), SETS[name].task
    both = {OURS: ours, FIRST: refits}
    ours(task, data, 1, settings, 0)  # loads its kernels
    found: dict[str, list[dict]] = {peer: [] for peer in both}
    for r, names in orders(list(both), settings.rounds, f"{name}, surface"):
        for peer in names:
            found[peer].append(both[peer](task, data, n_trees, settings, r))
    return [
        Measured("surface", name, peer, what, "s", tuple(turn[what] for turn in turns))
        for peer, turns in found.items()
        for what in turns[0]
    ]


def ours(task: str, data: Split, n_trees: int, settings: Settings, seed: int) -> dict[str, float]:
    """Seconds of a fit, of its surface, of both, and of the surface with all stopping rules."""
    from forestlab.forest import paths_of
    from forestlab.study.surfaces import surfaces_of

    make = installed(task, settings._replace(peers=(OURS,)))[OURS]
    options = {"n_jobs": settings.jobs, "random_state": seed, "max_depth": DEPTHS - 1}
    model = make(n_estimators=n_trees, **options)
    fit, _ = timed(lambda: model.fit(data.X_train, data.y_train))
    grown = model.grown
    rows = {
        "train": (data.X_train, grown.codes(data.y_train)),
        "test": (data.X_test, grown.codes(data.y_test)),
    }

    def study(by_rules: bool) -> None:
        paths = paths_of(grown.forest, n_jobs=settings.jobs) if by_rules else {}
        own = [path for rule, path in paths.items() if rule != "depth"]
        outside = grown.outside(settings.jobs)
        surfaces_of(grown, rows, outside, DEPTHS, None, settings.jobs, own)

    walks = {by_rules: timed(partial(study, by_rules))[0] for by_rules in _turned(seed)}
    return {
        "fit": fit,
        "surface": walks[False],
        "every depth": fit + walks[False],
        "with rules": walks[True],
    }


def _turned(seed: int) -> tuple[bool, bool]:
    """Which is first alternates."""
    return (False, True) if seed % 2 == 0 else (True, False)


def refits(task: str, data: Split, n_trees: int, settings: Settings, seed: int) -> dict[str, float]:
    """Seconds of a fit at each depth, and of asking it."""
    make = installed(task, settings._replace(peers=(FIRST,)))[FIRST]

    def every() -> None:
        for depth in range(1, DEPTHS):
            tell(f"refitting scikit-learn at depth {depth} of {DEPTHS - 1}")
            options = {"n_jobs": settings.jobs, "random_state": seed, "max_depth": depth}
            model = make(n_estimators=n_trees, **options)
            model.fit(data.X_train, data.y_train).predict(data.X_test)

    return {"every depth": timed(every)[0]}
