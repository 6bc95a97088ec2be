"""Findings become numbers: every metric that a run logs.

The step is the depth, unless a part says otherwise; `python -m forestlab.study` lists the names.
"""

from collections.abc import Mapping

from forestlab.study.part import Findings, Number, single
from forestlab.study.parts import PARTS

# The run's own clock, beside what the parts log.
SECONDS = {
    "summary/seconds_fit": "to grow the forest",
    "summary/seconds_predict": "to answer for the test rows",
    "summary/seconds_study": "to find all of this out",
    "summary/seconds_log": "to write it down",
    "summary/seconds_compile": "waited for kernels to be compiled or loaded; in none of the others",
}


def numbers_of(findings: Findings, seconds: Mapping[str, float]) -> list[Number]:
    """All metrics of a run; those of one target of several are called by_target/NAME/…."""
    numbers = [
        number
        for name, found in findings.parts.items()
        for number in PARTS[name].numbers(found, findings)
    ]
    for target, of_target in findings.by_target.items():
        numbers += [
            number._replace(name=f"by_target/{target}/{number.name}")
            for number in numbers_of(of_target, {})
        ]
    return numbers + [single(f"seconds_{name}", value) for name, value in seconds.items()]
