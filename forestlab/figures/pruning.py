"""What a leaf may cost: the loss along the path of cost-complexity pruning."""

import numpy as np
from matplotlib.figure import Figure

from forestlab.figures.style import COLOURS, LINE, dress, panels
from forestlab.figures.words import number_scale, scale

PANEL = (4.6, 3.4)  # inches


def alpha_curve(
    alphas: np.ndarray,
    losses: np.ndarray,
    errors: np.ndarray,
    chosen: float,
    label: str,
    title: str,
) -> Figure:
    """The loss at each α with its standard error, and the α that was chosen.

    Parameters
    ----------
    alphas : (G,) falling; 0, of the whole trees, stands beside the scale
    losses, errors : (G,) likewise
    label : what the loss is
    """
    figure, (ax,) = panels(title, [PANEL[0]], PANEL[1])
    known = alphas > 0
    least = alphas[known].min() / 10 if known.any() else 1.0  # where 0 stands
    x = np.where(known, alphas, least)
    ax.errorbar(x, losses, errors, color=COLOURS[0], linewidth=1.4, elinewidth=0.8, marker="o",
                markersize=3.5, capsize=2)  # fmt: skip
    place = int(np.flatnonzero(alphas == chosen)[0])
    ax.plot(x[[place]], losses[[place]], linestyle="none", marker="o", markersize=10,
            markerfacecolor="none", markeredgecolor=LINE, markeredgewidth=1.4)  # fmt: skip
    note = f"bars: a standard error; ring: the chosen α = {chosen:.3g}"
    dress(ax, "α, what a leaf costs", label, note)
    _scale_alphas(ax, x, least)
    number_scale(ax, "y")
    return figure


def _scale_alphas(ax, x: np.ndarray, least: float) -> None:
    """Powers of ten, and 0 at the left end."""
    ax.set_xscale("log")
    ax.set_xlim(least / 1.5, x.max() * 1.5)
    first, last = np.ceil(np.log10(least * 5.0)), np.floor(np.log10(x.max() * 1.5))
    powers = np.arange(first, last + 1)
    powers = powers[:: max(1, len(powers) // 5)]
    names = [f"{10.0**power:g}" for power in powers]
    scale(ax, "x", np.append(least, 10.0**powers), ["0", *names])
