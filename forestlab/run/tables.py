"""Tables of letters: columns as wide as what they hold, or as the window allows.

What is too wide gives way in this order: headers break in two, the second column goes if
all rows say the same, columns go from the right until there is room for names, and these are
shortened.
"""

import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TextIO

USUAL_WIDTH = 1000  # of what is no window: nothing gives way
SHORT_KEY = 8  # letters
NARROWEST_NAME = 20  # letters, for which columns go


def in_columns(rows: Sequence[Sequence[str]], sides: str) -> list[str]:
    """Lines of columns that are as wide as what they hold; `sides` has a < or > for each column,
    the side on which it is flush."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def window(stream: TextIO | None = None) -> int:
    """How many letters a line may have, of standard output unless another is given."""
    is_window = (stream or sys.stdout).isatty()
    return shutil.get_terminal_size().columns if is_window else USUAL_WIDTH


def fitted(head: Sequence[str], rows: Sequence[Sequence[str]], sides: str, width: int) -> list[str]:
    """As `in_columns`, in lines of at most `width` letters as far as that can be.

    Parameters
    ----------
    head : names of the columns, that of the rows' names first
    rows : texts, the name of the row first
    """
    whole = in_columns([head, *rows], sides)
    if max(map(len, whole)) <= width:
        return whole
    columns = [[*_broken(name), *cells] for name, *cells in zip(head, *rows, strict=True)]
    if _width(columns) > width and len({*columns[1][2:]}) == 1:  # all are finished
        del columns[1]
        sides = sides[0] + sides[2:]
    while len(columns) > 2 and width - _width(columns[1:]) - 2 < NARROWEST_NAME:
        columns.pop()
    room = max(width - _width(columns[1:]) - 2, NARROWEST_NAME)
    columns[0] = [*columns[0][:2], *told_apart(columns[0][2:], room)]
    return in_columns(list(zip(*columns, strict=True)), sides[: len(columns)])


def _broken(name: str) -> tuple[str, str]:
    """The two lines of a header: before and behind its slash, or else the last _."""
    above, _, below = name.partition("/") if "/" in name else name.rpartition("_")
    return above, below


def _width(columns: Sequence[Sequence[str]]) -> int:
    return sum(max(map(len, column)) for column in columns) + 2 * (len(columns) - 1)


# ---- names -------------------------------------------------------------------------------------


def told_apart(names: Sequence[str], most: int) -> list[str]:
    """Names of at most so many letters; what is left of them still differs where they did.

    First words go that all share, but for the first two, the model and the data set; then the
    dotted beginnings of keys; these two; the middle of keys; what names begin and end with alike;
    the middle of each.
    """
    for shorten in SHORTER:
        if max(map(len, names)) <= most:
            return list(names)
        shorter = shorten(names)
        names = shorter if all(shorter) and len({*shorter}) == len({*names}) else names
    cut = [abridged(name, most) for name in names]
    seen: dict[str, list[str]] = {}
    for short, name in zip(cut, names, strict=True):
        if name not in (alike := seen.setdefault(short, [])):
            alike.append(name)
    return [
        _numbered(short, seen[short].index(name), most)
        for short, name in zip(cut, names, strict=True)
    ]


def _numbered(short: str, place: int, most: int) -> str:
    """The second of what looks the same ends with a number."""
    mark = f" {place + 1}" if place else ""
    return abridged(short, most - len(mark)) + mark


def _unlike_words(names: Sequence[str], kept: int = 0) -> list[str]:
    """Without the words that all names have, but for the first ones."""
    words = [name.split(" ") for name in names]
    shared = set(words[0]).intersection(*words) if len(names) > 1 else set()
    return [
        " ".join(word for k, word in enumerate(own) if k < kept or word not in shared)
        for own in words
    ]


def _with_keys(shorten: Callable[[str], str], names: Sequence[str]) -> list[str]:
    """The names, with the keys of their words KEY=VALUE shortened."""

    def shorter(word: str) -> str:
        key, sign, value = word.partition("=")
        return f"{shorten(key)}={value}" if sign else word

    return [" ".join(map(shorter, name.split(" "))) for name in names]


def _unlike_middles(names: Sequence[str]) -> list[str]:
    """Only what is between what all names begin and end with."""
    if len({*names}) < 2:
        return list(names)
    before = _n_alike(names)
    after = _n_alike([name[before:][::-1] for name in names])
    left, right = "…" * (before > 0), "…" * (after > 0)
    return [f"{left}{name[before : len(name) - after]}{right}" for name in names]


def _n_alike(names: Sequence[str]) -> int:
    """How many letters all names begin with alike."""
    columns = enumerate(zip(*names, strict=False))
    return next((k for k, letters in columns if len({*letters}) > 1), min(map(len, names)))


def abridged(text: str, most: int) -> str:
    """The text, or its beginning and end around an ellipsis."""
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


SHORTER: tuple[Callable[[Sequence[str]], list[str]], ...] = (
    partial(_unlike_words, kept=2),
    partial(_with_keys, lambda key: key.rpartition(".")[2]),
    _unlike_words,
    partial(_with_keys, lambda key: abridged(key, SHORT_KEY)),
    _unlike_middles,
)
