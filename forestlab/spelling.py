"""What a person may have meant by a name that there is not."""

import difflib
from collections.abc import Iterable


def most_like(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like it, but not the same; None if none is."""
    near = difflib.get_close_matches(name, [other for other in known if other != name], 1)
    return near[0] if near else None


def did_you_mean(meant: str | None, otherwise: str = "") -> str:
    """The question after what was meant, if that can be guessed."""
    return f"did you mean {meant}?" if meant else otherwise
