"""How far the answers of nodes are drawn towards those above them, if rows have chosen it."""

from forestlab.study.part import Number, Part

PART = Part(
    level="light",
    targets="all",
    applies=lambda look: look.grown.shrink is not None,
    find=lambda look: look.grown.shrink,
    numbers=lambda found, findings: [Number("shrink/strength", found)],
    metrics={"shrink/strength": "the λ of model.shrink=oob that out-of-bag rows chose"},
    neutral=("shrink/strength",),
)
