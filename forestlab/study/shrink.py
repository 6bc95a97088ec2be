"""How far the answers of nodes are drawn towards those above them, if rows have chosen it."""

from forestlab.study.part import Part, single

PART = Part(
    level="light",
    targets="all",
    applies=lambda look: look.grown.shrink is not None,
    find=lambda look: look.grown.shrink,
    numbers=lambda found, findings: [single("shrink_strength", found)],
    metrics={"summary/shrink_strength": "the λ of model.shrink=oob that out-of-bag rows chose"},
    neutral=("summary/shrink_strength",),
)
