"""A claim beside what was found."""

from typing import Literal, NamedTuple


class Verdict(NamedTuple):
    """What a document, or theory, says should come out, and what did.

    `side` says which way the two may differ: "near" holds within the tolerance, "below" and "above"
    if the number found is not on the other side of the expected one by more than it. Texts are
    equal or not.
    """

    what: str  # the quantity or the claim, in words
    expected: float | str
    found: float | str
    tolerance: float
    reason: str  # why so much tolerance, and not more or less
    side: Literal["near", "below", "above"] = "near"

    @property
    def holds(self) -> bool:
        if isinstance(self.expected, str) or isinstance(self.found, str):
            return self.expected == self.found
        excess = self.found - self.expected
        if self.side == "near":
            excess = abs(excess)
        elif self.side == "above":
            excess = -excess
        return bool(excess <= self.tolerance)  # NaN holds nothing
