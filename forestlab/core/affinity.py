"""How near rows are to each other, if they share a node."""

import numpy as np

from forestlab.core.jit import kernel


@kernel(allocates=False)
def add_near(rows, begin, others, places, points, other_places, other_points, sums):
    """Add exp(−d²) of each pair of rows (first, last + 1) that shares its node, d being the
    distance of their points; the sum over features is the same from either side.

    The pairs of row i are those with others[begin[i] : begin[i + 1]].
    """
    for i in range(rows[0], rows[1]):
        for pair in range(begin[i], begin[i + 1]):
            j = others[pair]
            if places[i] != other_places[j]:
                continue
            square = 0.0
            for feature in range(points.shape[1]):
                square += (points[i, feature] - other_points[j, feature]) ** 2
            sums[pair] += np.exp(-square)
