"""Who runs when, and what is shown meanwhile.

Each round runs every peer once, in an order that is turned round from one round to the next, so
that none always runs on a warm or a tired machine.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

WIDTH = 79


class Settings(NamedTuple):
    """What a person may choose."""

    rounds: int = 5
    jobs: int = 2  # threads
    rows: int | None = None  # no set has more
    trees: int | None = None  # in place of each set's own
    peers: tuple[str, ...] = ()  # these alone


def orders(names: Sequence[str], n: int, doing: str) -> Iterator[tuple[int, list[str]]]:
    """(round, the names in its order)."""
    for r in range(n):
        tell(f"{doing}: round {r + 1} of {n}")
        yield r, order(names, r)
    tell("")


def order(names: Sequence[str], r: int) -> list[str]:
    turned = list(names)[:: 1 if r % 2 == 0 else -1]
    start = (r // 2) % max(len(turned), 1)
    return turned[start:] + turned[:start]


def tell(text: str) -> None:
    """Show what happens now, in a line that the next replaces."""
    if sys.stderr.isatty():
        print(f"\r{text[:WIDTH]:<{WIDTH}}\r", end="", file=sys.stderr, flush=True)


def timed(work: Callable) -> tuple[float, object]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result
