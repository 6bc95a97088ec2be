"""Work shared out over threads: the same bits at any number of them, and Ctrl-C ends it at once."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np

BLOCK_NUMBERS = 2_000_000  # 16 MB a thread
MOST_ROWS = 8192  # that are copied at once
# Where sums over rows must not depend on the number of threads. No power of two, at which what
# stands one below the other in a table of a block would compete for the same lines of the cache.
BLOCK_ROWS = 1000
RUN_SECONDS = 0.02


def in_threads(work: Callable, items, n_jobs: int, stop=None) -> Generator:
    """work(item) for item in items, in threads and in order; Ctrl-C ends it at once.

    The main thread only waits, so that it sees the interrupt; `stop` then ends running kernels.
    What cannot be ended, a kernel that is being compiled, is not waited for. A result is let go
    once it has been handed over.
    """
    pool = ThreadPoolExecutor(n_jobs)
    try:
        futures = deque(pool.submit(work, item) for item in items)
        while futures:
            yield futures.popleft().result()
    except BaseException:
        if stop is not None:
            stop[0] = 1
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def in_runs(
    work: Callable[[int, int], Any], numbers: range, n_jobs: int, stop: np.ndarray
) -> Generator:
    """work(first, count) for runs of the numbers, in threads and in order; Ctrl-C ends it at once,
    and `stop` running kernels.

    A run is as long as makes it worth to hand it over, and the last ones are short, so that no
    thread waits long for another: to hand over each of digits' 100 trees took a fifth of the time
    of growing them.
    """
    runs = _Runs(numbers, n_jobs)
    done: SimpleQueue[tuple[int, Any]] = SimpleQueue()

    def work_on() -> None:
        try:
            for first, count in runs:
                began = perf_counter()
                done.put((first, work(first, count)))
                runs.took(count, perf_counter() - began)
        except BaseException as error:
            done.put((-1, error))

    pool = ThreadPoolExecutor(n_jobs)
    try:
        for _ in range(min(n_jobs, len(numbers))):
            pool.submit(work_on)
        early: dict[int, Any] = {}
        for first in runs.in_order():
            while first not in early:
                number, found = done.get()
                if number < 0:
                    raise found
                early[number] = found
            yield early.pop(first)
    finally:
        stop[0] = 1
        pool.shutdown(wait=False, cancel_futures=True)


class _Runs:
    """Numbers, shared out in runs as they are asked for."""

    def __init__(self, numbers: range, n_jobs: int):
        self.next, self.stop, self.n_jobs = numbers.start, numbers.stop, n_jobs
        self.seconds = np.inf  # that one takes, as far as is known
        self.sizes = {numbers.stop: 0}  # of the runs, by their first numbers
        self.first, self.lock = numbers.start, Lock()

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while True:
            with self.lock:
                first, n_left = self.next, self.stop - self.next
                size = max(1, min(int(RUN_SECONDS / self.seconds), n_left // (2 * self.n_jobs)))
                if not n_left:
                    return
                self.sizes[first] = size
                self.next += size
            yield first, size

    def took(self, count: int, seconds: float) -> None:
        self.seconds = max(seconds / count, 1e-6)

    def in_order(self) -> Iterator[int]:
        """The first number of each run; one is only known once the run before has been yielded."""
        first = self.first
        while first < self.stop:
            yield first
            first += self.sizes[first]


def by_blocks(
    work: Callable[[slice], None], n_rows: int, n_jobs: int, most: int = MOST_ROWS
) -> None:
    """Do the rows in blocks, small enough to share out and to bound what is copied."""
    size = min(max(-(-n_rows // (4 * n_jobs)), 256), most) if n_jobs > 1 else most
    blocks = [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
    if n_jobs == 1 or len(blocks) == 1:
        for block in blocks:
            work(block)
    else:
        deque(in_threads(work, blocks, n_jobs), maxlen=0)


def by_fixed_blocks(
    work: Callable[[slice, np.ndarray], Any], X, n_jobs: int = 1, size: int = BLOCK_ROWS
) -> Iterator[Any]:
    """work(rows, X[rows]) for blocks of `size` rows, in threads and in order.

    The blocks do not depend on n_jobs: sums of what is yielded have the same bits with any.
    """

    def on_block(start: int):
        rows = slice(start, min(start + size, len(X)))
        return work(rows, block_of(X, rows))

    starts = range(0, len(X), size)
    if n_jobs == 1 or len(starts) == 1:
        return map(on_block, starts)
    return in_threads(on_block, starts, n_jobs)


def block_of(X, rows: slice, dtype: type = np.float64) -> np.ndarray:
    """Rows in the one layout that the kernels are compiled for; to numba read-only is another."""
    return np.require(X[rows], dtype, ["C", "W"])
