"""A record drawn: how time grows, and how far the peers are."""

from pathlib import Path

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from benchmark.growth import BASE, TIMES, curve, exponent
from benchmark.measured import EXACT, FIRST, OURS, Record
from forestlab.figures.style import COLOURS, LABEL, LINE, SMALL, dress, panels, save

LOOKS = {  # colour and marker of each peer
    OURS: (COLOURS[0], "o"),
    EXACT: (COLOURS[4], "s"),
    FIRST: (COLOURS[1], "D"),
    "intelex": (COLOURS[2], "^"),
    "ydf": (COLOURS[3], "v"),
    "wildwood": (COLOURS[5], "P"),
}
WORDS = {"fit": "to fit", "predict": "to predict"}
TOO_FEW = 3  # points for which an exponent is told


# ---- growth ------------------------------------------------------------------------------------


def growth(record: Record, folder: Path) -> list[Path]:
    """A picture for each thing that grows, with the exponents of all peers."""
    made = []
    for axis in record.subjects("growth"):
        path = folder / f"growth_{axis}.png"
        save(growth_picture(record, axis), path)
        made.append(path)
    return made


def growth_picture(record: Record, axis: str):
    others = {name: size for name, size in BASE.items() if name != axis}
    fixed = ", ".join(f"{size:,} {_few(name, size)}" for name, size in others.items())
    figure, axes = panels(f"Time against {axis}: {fixed}", [3.4, 3.4], 3.2, gap=2.75, right=2.6)
    for ax, what in zip(axes, TIMES, strict=True):
        _draw_growth(ax, record, axis, what)
    return figure


def _few(name: str, size: int) -> str:
    return name.rstrip("s") if size == 1 and name != "classes" else name


def _draw_growth(ax, record: Record, axis: str, what: str) -> None:
    entries = []
    for peer in record.peers("growth"):
        sizes, seconds = curve(record, axis, peer, what)
        if not sizes:
            continue
        colour, marker = LOOKS[peer]
        ax.plot(sizes, seconds, marker, color=colour, markersize=4.5, linestyle="none")
        told = peer
        if len(sizes) >= TOO_FEW:
            found = exponent(sizes, seconds)
            ends = np.array([min(sizes), max(sizes)], float)
            ax.plot(ends, found.scale * ends**found.slope, color=colour, linewidth=1.2)
            told += f"\n exponent {found.slope:.2f} ± {found.error:.2f}"
        else:
            ax.plot(sizes, seconds, color=colour, linewidth=1.2)
        entries.append((seconds[-1], ax.plot([], [], marker, color=colour)[0], told))
    dress(ax, axis, f"seconds {WORDS[what]}")
    _log(ax, "x", sorted({s for peer in LOOKS for s in curve(record, axis, peer, what)[0]}))
    _log(ax, "y")
    entries.sort(key=lambda entry: -entry[0])  # as the lines end, from above
    ax.legend(
        [handle for _, handle, _ in entries],
        [text for _, _, text in entries],
        loc="upper left",
        bbox_to_anchor=(1.02, 1.02),
        frameon=False,
        fontsize=SMALL,
        labelspacing=0.7,
        handletextpad=0.4,
    )


def _log(ax, axis: str, ticks=None) -> None:
    """A logarithmic scale with plain numbers; at given ticks only."""
    (ax.set_xscale if axis == "x" else ax.set_yscale)("log")
    scale = ax.xaxis if axis == "x" else ax.yaxis
    scale.set_minor_formatter(NullFormatter())
    scale.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    if ticks:
        shown = ticks if len(ticks) <= 6 else ticks[::2]
        scale.set_ticks(shown)
        scale.set_minor_locator(NullLocator())
    else:
        scale.set_major_locator(LogLocator(subs=(1.0,) if _decades(ax) > 2.0 else (1.0, 2.0, 5.0)))
    ax.tick_params(axis=axis, labelsize=SMALL, colors=LINE)
    ax.grid(True, axis=axis, color="#E6E6E6", linewidth=0.6)
    ax.set_axisbelow(True)


def _decades(ax) -> float:
    low, high = ax.get_ylim()
    return float(np.log10(high / low))


def _short(value: float) -> str:
    return f"{value / 1000:g} k" if value >= 1000 else f"{value:g}"


# ---- ratios ------------------------------------------------------------------------------------


def ratios_picture(record: Record):
    """How many times as long as forestlab's histogram search each peer takes, on each set."""
    subjects = record.subjects("fit")
    peers = [peer for peer in LOOKS if peer in record.peers("fit") and peer != OURS]
    height = 0.42 * len(subjects) + 0.2
    figure, axes = panels("Time of others ÷ that of forestlab's histogram search", [3.3, 3.3],
                          height, left=1.05, gap=0.35, bottom=0.85, top=0.3)  # fmt: skip
    places = np.arange(len(subjects))[::-1]
    for ax, what in zip(axes, TIMES, strict=True):
        ax.axvline(1.0, color=LINE, linewidth=1.0)
        for peer in peers:
            found = [record.ratio("fit", subject, peer, what) for subject in subjects]
            known = [(x, y) for x, y in zip(found, places, strict=True) if x is not None]
            colour, marker = LOOKS[peer]
            ax.plot(*zip(*known, strict=True), marker, color=colour, markersize=6.5, alpha=0.9,
                    linestyle="none", label=peer)  # fmt: skip
        dress(ax, "", "", WORDS[what])
        _log_ratios(ax)
        ax.set_ylim(-0.6, len(subjects) - 0.4)
        ax.set_yticks(places, subjects if what == "fit" else [""] * len(subjects), fontsize=LABEL)
        ax.tick_params(axis="y", length=0)
        ax.grid(True, axis="y", color="#F0F0F0", linewidth=6.0)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False,
                  fontsize=LABEL, handletextpad=0.1, columnspacing=1.4)  # fmt: skip
    return figure


def _log_ratios(ax) -> None:
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ticks = [
        t for t in (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500) if low * 0.9 < t < high * 1.1
    ]
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(ticks, [f"{tick:g} ×" for tick in ticks], fontsize=SMALL)
    ax.grid(True, axis="x", color="#E6E6E6", linewidth=0.6)
    ax.set_axisbelow(True)
