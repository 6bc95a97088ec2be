"""Threads for what is done once, before trees grow or answer."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

WORTH = 2**18  # numbers to look at, from which on threads are: to start them takes half a ms


class Crew:
    """As many threads as wanted; where there is little to do, or one alone, this thread does it."""

    def __init__(self, n_jobs: int, n_numbers: int):
        self.n_jobs = n_jobs if n_numbers >= WORTH else 1
        self.open = ExitStack()

    def __enter__(self) -> "Crew":
        if self.n_jobs > 1:
            self.pool = self.open.enter_context(ThreadPoolExecutor(self.n_jobs))
        return self

    def __exit__(self, *error) -> None:
        self.open.__exit__(*error)

    def map(self, work: Callable, items: Iterable) -> Iterable[Any]:
        """What is made of each item, in order; all is done when all has been looked at."""
        return self.pool.map(work, items) if self.n_jobs > 1 else map(work, items)
