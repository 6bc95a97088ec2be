"""A claim beside what was found, and whether that bears it out.

A number that depends on chance is known within an interval only, so a claim about it has one of
three outcomes: it is *held* if the whole interval agrees with it, *not held* if no part of the
interval does, and *undecided* between the two, which is no confirmation. That two things are equal
can never be shown, and to find no difference shows nothing either: such a claim comes with a
*margin*, the least difference that would matter, and holds if the interval lies within it (two
one-sided tests: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987).
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from experiments._statistics import Measured

Claim = Literal["above", "below", "within", "exactly"]
Outcome = Literal["held", "not held", "undecided"]
ORDER: tuple[Outcome, ...] = ("not held", "undecided", "held")
ANY = "any difference counts that the interval tells from 0"


class Verdict(NamedTuple):
    """What a document, or theory, says should come out, and what did."""

    what: str  # the quantity or the claim, in words
    claim: Claim
    expected: float | str  # what it is to be above, below, near or exactly
    found: float | str
    low: float | None  # the interval around what was found; None of texts
    high: float | None
    margin: float  # how far from the expected it may be: of "within" and "exactly"
    reason: str  # why so much, and not more or less
    repeats: str  # what the interval rests on, such as "10 seeds"

    @property
    def outcome(self) -> Outcome:
        if self.low is None or self.high is None:
            return "held" if self.expected == self.found else "not held"
        least, most = self.allowed
        if self.claim in ("above", "below"):  # at the bar is not beyond it
            is_held = least < self.low and self.high < most
            is_not = self.high <= least or most <= self.low
        else:
            is_held = least <= self.low and self.high <= most
            is_not = self.high < least or most < self.low
        if is_held:
            return "held"
        return "not held" if is_not or self.claim == "exactly" else "undecided"

    @property
    def holds(self) -> bool:
        return self.outcome == "held"

    @property
    def allowed(self) -> tuple[float, float]:
        """From where to where the whole interval has to lie."""
        assert not isinstance(self.expected, str)
        if self.claim == "above":
            return self.expected, float("inf")
        if self.claim == "below":
            return -float("inf"), self.expected
        return self.expected - self.margin, self.expected + self.margin

    @property
    def room(self) -> float:
        """How far the interval is from where it must not go; below 0 if it is there."""
        assert self.low is not None
        assert self.high is not None
        least, most = self.allowed
        return min(self.low - least, most - self.high)

    @property
    def expected_text(self) -> str:
        """Such as "above 0.5", or "0.37 ± 0.005"."""
        if isinstance(self.expected, str):
            return self.expected
        if self.claim in ("above", "below"):
            return f"{self.claim} {_number(self.expected)}"
        margin = f" ± {self.margin:.2g}" if self.margin else ""
        return f"{_number(self.expected)}{margin}"

    @property
    def found_text(self) -> str:
        """Such as "0.021 ± 0.005", or with both ends if one is farther than the other."""
        if isinstance(self.found, str):
            return self.found
        if self.low is None or self.high is None or self.low == self.high:
            return _number(self.found)
        down, up = self.found - self.low, self.high - self.found
        is_count = all(float(end).is_integer() for end in (self.found, self.low, self.high))
        digits = 0 if is_count else _decimals(max(down, up))
        if abs(up - down) <= 0.05 * (up + down):
            return f"{self.found:.{digits}f} ± {(up + down) / 2.0:.{digits}f}"
        return f"{self.found:.{digits}f}, {self.low:.{digits}f} … {self.high:.{digits}f}"


def _number(value: float) -> str:
    return f"{value:.4g}"


def _decimals(size: float) -> int:
    """As many as show two digits of a size."""
    decimals = 0
    while size < 9.95 and decimals < 9:
        size, decimals = 10.0 * size, decimals + 1
    return decimals


# ---- claims ------------------------------------------------------------------------------------


def above(what: str, measured: Measured, bar: float = 0.0, reason: str = ANY) -> Verdict:
    return _of("above", what, measured, bar, 0.0, reason)


def below(what: str, measured: Measured, bar: float = 0.0, reason: str = ANY) -> Verdict:
    return _of("below", what, measured, bar, 0.0, reason)


def within(
    what: str, measured: Measured, margin: float, reason: str, expected: float = 0.0
) -> Verdict:
    """It is the expected number but for a margin, which needs its reason."""
    return _of("within", what, measured, expected, margin, reason)


def _of(
    claim: Claim, what: str, measured: Measured, expected: float, margin: float, reason: str
) -> Verdict:
    mean, low, high = map(float, (measured.mean, measured.low, measured.high))
    return Verdict(
        what, claim, float(expected), mean, low, high, float(margin), reason, measured.repeats
    )


def exactly(
    what: str,
    expected: float | str,
    found: float | str,
    reason: str,
    tolerance: float = 0.0,
    repeats: str = "nothing is random",
) -> Verdict:
    """Texts are equal or not; numbers are, up to a tolerance for their rounding."""
    if isinstance(expected, str) or isinstance(found, str):
        return Verdict(what, "exactly", expected, found, None, None, 0.0, reason, repeats)
    number = float(found)
    return Verdict(
        what, "exactly", float(expected), number, number, number, tolerance, reason, repeats
    )


def every(what: str, verdicts: Sequence[Verdict]) -> Verdict:
    """All of several claims in one: that which is nearest to failing, or fails.

    If each is decided by a 95 % interval of its own, so are all together: a claim that all hold is
    wrong if one is wrong, and of that one the interval says so with the probability that it has.
    """
    worst = min(verdicts, key=lambda each: (ORDER.index(each.outcome), each.room))
    return worst._replace(what=f"{what}; nearest to failing: {worst.what}")
