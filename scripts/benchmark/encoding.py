"""Values to codes: nanoseconds a value, of one core and in threads."""

from benchmark.data import load
from benchmark.measured import EXACT, OURS, Measured
from benchmark.rounds import Settings, orders, timed


def measure(name: str, settings: Settings) -> list[Measured]:
    from forestlab.core.encode import MAX_BINS, encode

    X = load(name, settings).X_train
    bins = {OURS: MAX_BINS, EXACT: 0}
    found: dict[tuple[str, int], list[float]] = {}
    threads = sorted({1, settings.jobs})
    for most in bins.values():
        encode(X, max_bins=most)  # loads its kernels, which depend on how many values there are
    for _, peers in orders(list(bins), settings.rounds, f"{name}, encoding"):
        for peer in peers:
            for n in threads:
                seconds, _ = timed(lambda p=peer, n=n: encode(X, max_bins=bins[p], n_jobs=n))
                found.setdefault((peer, n), []).append(seconds / X.size * 1e9)
    return [
        Measured("encoding", name, peer, "a value", "ns", tuple(values), n)
        for (peer, n), values in found.items()
    ]
