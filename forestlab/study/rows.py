"""Which rows the costly parts of a study look at."""

import numpy as np


def evenly(n_rows: int, most: int) -> np.ndarray:
    """At most so many row numbers, evenly spaced: the first rows may be of one kind."""
    return np.linspace(0, n_rows - 1, min(n_rows, most)).round().astype(np.intp)
