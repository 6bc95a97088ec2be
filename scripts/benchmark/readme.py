"""The README's table and picture of speed, from a record, which is kept beside the picture."""

import re
import textwrap
from pathlib import Path

from benchmark.measured import EXACT, FIRST, OURS, Record, write
from benchmark.rounds import tell

BEGIN, END = "<!-- scripts/bench --readme -->", "<!-- end -->"
PICTURE, RECORD = Path(".readme/bench.png"), Path(".readme/bench.json")
PEERS = (FIRST, "intelex", "ydf", "wildwood")
SIZES = {
    "digits": "1,347 × 64",
    "mnist5k": "3,750 × 784",
    "made": "75,000 × 50",
    "regression": "75,000 × 30",
    "mnist": "60,000 × 784",
    "covertype": "435,759 × 54",
}


def rewrite(record: Record, root: Path) -> None:
    """Put what the record says between the marks of README.md, and draw."""
    from benchmark.pictures import ratios_picture
    from forestlab.figures import save

    path = root / "README.md"
    path.write_text(with_section(path.read_text(), record))
    save(ratios_picture(record), root / PICTURE)
    write(record, root / RECORD)
    tell("")
    print(f"rewrote {path.name}, {PICTURE}, {RECORD}")


def with_section(text: str, record: Record) -> str:
    """A README with what stands between its marks made anew."""
    if text.count(BEGIN) != 1 or END not in text.split(BEGIN)[1]:
        raise ValueError(f"README.md has no {BEGIN} … {END}")
    inside = f"{BEGIN}\n\n{section(record)}\n\n{END}"
    return re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: inside, text, flags=re.DOTALL)


def section(record: Record) -> str:
    parts = [_intro(record), _table(record), *_sentences(record)]
    parts.append(f"![Time of the peers by that of forestlab on each set]({PICTURE.as_posix()})")
    return "\n\n".join(parts)


def _intro(record: Record) -> str:
    about = record.about
    versions = ", ".join(
        f"{peer} {about['versions'][peer]}" for peer in _peers(record) if peer in about["versions"]
    )
    small = f"; at most {about['rows']:,} rows of each set" if about.get("rows") else ""
    return _filled(f"""
        {about["machine"]}, {about["jobs"]} threads, {about["date"]}; {versions}{small}. Costs of
        each peer divided by those of `search="histogram"`, the median of rounds: above 1, forestlab
        is faster, or smaller. Memory is what a fit adds and disk the saved model, those of
        scikit-learn; the score is accuracy or R², forestlab's and scikit-learn's.
    """)


def _filled(text: str) -> str:
    """A paragraph, in lines as long as the README's."""
    return textwrap.fill(" ".join(text.split()), 120, break_on_hyphens=False)


def _peers(record: Record) -> list[str]:
    return [peer for peer in PEERS if peer in record.peers("fit")]


def _table(record: Record) -> str:
    peers = _peers(record)
    names = ", ".join(peers)
    heads = ["", "rows × columns, trees", f"fit: {names}", f"predict: {names}", f"one row: {names}"]
    heads += ["memory", "disk", "exact ÷ histogram", "score"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for subject in record.subjects("fit"):
        size, trees = SIZES.get(subject, ""), record.about["trees"][subject]
        if record.about.get("rows"):
            size = ""
        cells = [subject, f"{size}, {trees}".lstrip(", ")]
        for what in ("fit", "predict", "one row"):
            cells.append(", ".join(_times(record.ratio("fit", subject, p, what)) for p in peers))
        cells.append(_times(record.ratio("memory", subject, FIRST, "added")))
        cells.append(_times(record.ratio("fit", subject, FIRST, "disk")))
        cells.append(_times(record.ratio("fit", subject, EXACT, "fit")))
        scores = [record.find("fit", subject, peer, "score") for peer in (OURS, FIRST)]
        cells.append(", ".join(f"{one.median:.3f}" for one in scores if one))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _times(ratio: float | None) -> str:
    """Two digits that count."""
    if ratio is None:
        return "–"
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


def _sentences(record: Record) -> list[str]:
    """What is no column: the surface, encoding, whole jobs."""
    found = []
    surfaces = [
        f"{_times(ratio)} times as fast on {subject}"
        for subject in record.subjects("surface")
        if (ratio := record.ratio("surface", subject, FIRST, "every depth")) is not None
    ]
    if surfaces:
        found.append(
            _filled(f"""
                Every metric at every depth and number of trees, the fit included, against refitting
                scikit-learn at each depth: {", ".join(surfaces)}.
            """)
        )
    jobs = {one.subject: one.median for one in record.of("job") if one.what == "wall"}
    if {"run", "plain", "child", "first"} <= set(jobs):
        found.append(
            _filled(f"""
                `scripts/run dataset=digits` takes {jobs["run"]:.1f} s with all that it imports,
                studies, draws and logs; a script with scikit-learn and MLflow's autolog for a curve
                over 20 depths {jobs["plain"]:.0f} s. One more run of a sweep takes
                {jobs["child"]:.2f} s beyond its fit; the first command of all, which compiles,
                {jobs["first"]:.0f} s.
            """)
        )
    return found
