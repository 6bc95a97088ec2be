"""Work shared out over threads: the same bits at any number of them, and Ctrl-C ends it at once."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

BLOCK_NUMBERS = 2_000_000  # 16 MB a thread
MOST_ROWS = 8192  # that are copied at once
# Where sums over rows must not depend on the number of threads. No power of two, at which what
# stands one below the other in a table of a block would compete for the same lines of the cache.
BLOCK_ROWS = 1000


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
