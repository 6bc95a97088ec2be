"""Several targets: each is studied as if it were the only one, and the forest by their means.

The trees are the same for all targets, so that a forest whose nodes keep the statistics of one
target alone is a forest of that target, to the bit in every answer, for every combiner. A metric
of all targets is the mean of those of each, as scikit-learn's multioutput="uniform_average".
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from forestlab.study.surface import Surface

LONGEST = 60  # letters of a name


def key_names(names: Sequence[str], n_targets: int) -> list[str]:
    """The targets' names as metrics and files can have them, no two alike; numbers without names.

    Letters of no alphabet but the English one, digits, points and hyphens stay.
    """
    named = names if len(names) == n_targets else [str(k) for k in range(n_targets)]
    found: list[str] = []
    for k, name in enumerate(named):
        key = re.sub(r"[^A-Za-z0-9_.-]+", "_", str(name)).strip("._-")[:LONGEST] or str(k)
        while key in found:
            key += f"_{k}"
        found.append(key)
    return found


def mean_surfaces(by_target: Sequence[Mapping[str, Surface]]) -> dict[str, Surface]:
    """By split: the mean of each metric over the targets, in every cell; truth and answers are
    (n, n_targets)."""
    return {split: _mean([found[split] for found in by_target]) for split in by_target[0]}


def _mean(surfaces: Sequence[Surface]) -> Surface:
    first = surfaces[0]
    return first._replace(
        truth=np.stack([surface.truth for surface in surfaces], axis=1),
        answers=np.concatenate([surface.answers for surface in surfaces], axis=1),
        values={
            metric: np.mean([surface.values[metric] for surface in surfaces], axis=0)
            for metric in first.values
        },
        along={
            metric: np.mean([surface.along[metric] for surface in surfaces], axis=0)
            for metric in first.along
        },
    )
