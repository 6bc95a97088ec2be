"""How the main metric is drawn: always the same in all pictures of a run, with its unit.

Of classes that is the *error rate*, not the accuracy: near the best, half the errors is twice as
good, which a logarithmic scale shows, and bounds, voters and numbers of trees are told in errors.
"""

from typing import Literal, NamedTuple

import numpy as np

from forestlab.study.metrics import METRICS


class Shown(NamedTuple):
    name: str
    unit: str
    better: Literal["higher", "lower"]
    is_rest: bool = False  # whether it is what the metric leaves of 1

    @property
    def label(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @property
    def title(self) -> str:
        return self.name[:1].upper() + self.name[1:]

    def of(self, values: np.ndarray) -> np.ndarray:
        return 1.0 - np.asarray(values) if self.is_rest else np.asarray(values)


def shown(metric: str) -> Shown:
    """How a metric is drawn; one that is not in the table, as it is."""
    return SHOWN.get(metric) or Shown(metric, "", METRICS[metric].better)


SHOWN = {
    "accuracy": Shown("error rate", "share of rows", "lower", is_rest=True),
    "rmse": Shown("root mean squared error", "units of the target", "lower"),
    "log_likelihood": Shown("log-likelihood", "nats, mean of rows", "higher"),
}
