"""A record as text, one function for each part."""

import statistics
from collections.abc import Callable

from benchmark.growth import TIMES, curve, exponent
from benchmark.measured import FIRST, OURS, Record, within_rounds


def fit(record: Record, subject: str) -> str:
    """Seconds, and the peer's by those of forestlab's histogram search: above 1, that is faster."""
    heads = ("fit s", "ratio", "predict s", "ratio", "row ms", "ratio", "disk MB", "score")
    lines = [f"{_title(record, subject):<24}" + "".join(f"{head:>10}" for head in heads)]
    for peer in record.peers("fit"):
        if record.find("fit", subject, peer, "fit") is None:
            continue
        cells = ""
        for what, scale, digits in (("fit", 1, 3), ("predict", 1, 4), ("one row", 1000, 3)):
            one = record.find("fit", subject, peer, what)
            cells += f"{one.median * scale:>10.{digits}f}"
            cells += _cell(record.ratio("fit", subject, peer, what), 2)
        for what, digits in (("disk", 2), ("score", 4)):
            cells += f"{record.find('fit', subject, peer, what).median:>10.{digits}f}"
        lines.append(f"{peer:<24}{cells}")
    return "\n".join(lines)


def _title(record: Record, subject: str) -> str:
    trees = record.about.get("trees", {}).get(subject)
    return f"{subject} ({trees} trees)" if trees else subject


def _cell(value: float | None, digits: int) -> str:
    return f"{'':>10}" if value is None else f"{value:>10.{digits}f}"


def memory(record: Record, subject: str) -> str:
    lines = [f"{f'{subject}, MB of memory':<24}{'added':>10}{'ratio':>10}{'kept':>10}"]
    for peer in record.peers("memory"):
        one = record.find("memory", subject, peer, "added")
        if one is not None:
            ratio = _cell(record.ratio("memory", subject, peer, "added"), 2)
            kept = record.find("memory", subject, peer, "kept")
            lines.append(f"{peer:<24}{one.median:>10.1f}{ratio}{kept.median:>10.1f}")
    return "\n".join(lines)


def surface(record: Record, subject: str) -> str:
    """The surface beside its fit, refits beside both, and what stopping rules add to it."""
    heads = ("fit s", "surface s", "÷ fit", "refits s", "÷ both", "rules s", "÷ surface")
    head = f"{'every depth':<24}" + "".join(f"{text:>10}" for text in heads)
    names = ("fit", "surface", "with rules")
    fit, walk, ruled = (record.find("surface", subject, OURS, what) for what in names)
    refits = record.find("surface", subject, FIRST, "every depth")
    added = [more - less for more, less in zip(ruled.values, walk.values, strict=True)]
    cells = [
        fit.median,
        walk.median,
        statistics.median(within_rounds(walk.values, fit.values)),
        refits.median,
        record.ratio("surface", subject, FIRST, "every depth"),
        statistics.median(added),
        statistics.median(within_rounds(added, walk.values)),
    ]
    return head + f"\n{subject:<24}" + "".join(_cell(cell, 3) for cell in cells)


def encoding(record: Record, subject: str) -> str:
    lines = [f"{f'{subject}, ns a value':<24}"]
    found = [one for one in record.of("encoding") if one.subject == subject]
    for one in found:
        threads = f"{one.at} thread" + "s" * ((one.at or 1) > 1)
        lines.append(f"{one.peer:<24}{threads:>10}{one.median:>10.1f}")
    return "\n".join(lines)


def learners(record: Record, subject: str) -> str:
    """Seconds a tree, and × how many times those of axis cuts."""
    found = [one for one in record.of("learners") if one.subject == subject]
    names = list(dict.fromkeys(one.what for one in found))
    lines = [f"{'seconds a tree':<24}" + "".join(f"{name:>18}" for name in names)]
    for peer in dict.fromkeys(one.peer for one in found):
        axis = record.find("learners", subject, peer, "axis")
        cells = ""
        for name in names:
            one = record.find("learners", subject, peer, name)
            times = statistics.median(within_rounds(one.values, axis.values))
            cells += f"{f'{one.median:.4f} × {times:.2f}':>18}"
        lines.append(f"{subject + ' ' + peer.split()[1]:<24}{cells}")
    return "\n".join(lines)


def job(record: Record, subject: str = "") -> str:
    told = {
        "run": "forestlab.run, warm",
        "plain": "scikit-learn, autolog",
        "child": "a sweep's child, no fit",
        "first": "forestlab.run, first",
    }
    lines = [f"{'whole jobs':<24}{'wall s':>10}{'cpu s':>10}"]
    for name, text in told.items():
        found = [one for one in record.of("job") if one.subject == name]
        if found:
            lines.append(f"{text:<24}" + "".join(f"{one.median:>10.2f}" for one in found))
    return "\n".join(lines)


def growth(record: Record, subject: str = "") -> str:
    """The exponents: of seconds, with what grows."""
    lines = [f"{'exponents':<24}" + "".join(f"{what:>20}" for what in TIMES)]
    for axis in record.subjects("growth"):
        for peer in record.peers("growth"):
            cells = ""
            for what in TIMES:
                sizes, seconds = curve(record, axis, peer, what)
                if len(sizes) > 1:
                    found = exponent(sizes, seconds)
                    cells += f"{f'{found.slope:.2f} ± {found.error:.2f}':>20}"
            lines.append(f"{axis + ', ' + peer:<24}{cells}")
    return "\n".join(lines)


TABLES: dict[str, Callable] = {
    "fit": fit,
    "memory": memory,
    "surface": surface,
    "encoding": encoding,
    "learners": learners,
    "job": job,
    "growth": growth,
}
