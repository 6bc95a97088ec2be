"""Every depth and number of trees: from one fit and one walk, and by refitting scikit-learn.

forestlab's surface has every metric of training, out-of-bag and test rows at every depth × number
of trees. scikit-learn is fitted at every depth and only asked for test rows, with all trees: less
than the surface says, so that the ratio flatters it.
"""

from benchmark.data import SETS, Split, load, trees_of
from benchmark.measured import FIRST, OURS, Measured
from benchmark.peers import installed
from benchmark.rounds import Settings, orders, tell, timed

DEPTHS = 30  # a root alone, and 29 levels


def measure(name: str, settings: Settings) -> list[Measured]:
    if SETS[name].task != "classification":
        return []
    data, n_trees = load(name, settings), trees_of(name, settings)
    both = {OURS: ours, FIRST: refits}
    ours(data, 1, settings, 0)  # loads its kernels
    found: dict[str, list[dict]] = {peer: [] for peer in both}
    for r, names in orders(list(both), settings.rounds, f"{name}, surface"):
        for peer in names:
            found[peer].append(both[peer](data, n_trees, settings, r))
    return [
        Measured("surface", name, peer, what, "s", tuple(turn[what] for turn in turns))
        for peer, turns in found.items()
        for what in turns[0]
    ]


def ours(data: Split, n_trees: int, settings: Settings, seed: int) -> dict[str, float]:
    """Seconds of a fit, of its surface, and of both."""
    from forestlab.forest import Asked
    from forestlab.study.surface import surface

    make = installed("classification", settings._replace(peers=(OURS,)))[OURS]
    options = {"n_jobs": settings.jobs, "random_state": seed, "max_depth": DEPTHS - 1}
    model = make(n_estimators=n_trees, **options)
    fit, _ = timed(lambda: model.fit(data.X_train, data.y_train))

    def study() -> None:
        grown = model.grown
        asked = Asked(grown.forest, grown.task, grown.combine, DEPTHS)
        outside = grown.outside(settings.jobs)
        rows = data.X_train, grown.codes(data.y_train)
        surface(asked, *rows, None, settings.jobs, outside)
        surface(asked, data.X_test, grown.codes(data.y_test), None, settings.jobs)

    walk = timed(study)[0]
    return {"fit": fit, "surface": walk, "every depth": fit + walk}


def refits(data: Split, n_trees: int, settings: Settings, seed: int) -> dict[str, float]:
    """Seconds of a fit at each depth, and of asking it."""
    make = installed("classification", settings._replace(peers=(FIRST,)))[FIRST]

    def every() -> None:
        for depth in range(1, DEPTHS):
            tell(f"refitting scikit-learn at depth {depth} of {DEPTHS - 1}")
            options = {"n_jobs": settings.jobs, "random_state": seed, "max_depth": depth}
            model = make(n_estimators=n_trees, **options)
            model.fit(data.X_train, data.y_train).predict(data.X_test)

    return {"every depth": timed(every)[0]}
