"""What `help` says of an estimator: its parameters, what a fit leaves, an example.

`documented` puts it together in the form that numpydoc reads. What parameters mean stands in
descriptions, what a fit leaves here, by the kind of estimator. A text is blocks, one a line: words
that are filled, or an item of a list, which begins with "- ".
"""

import inspect
import textwrap
from typing import Any

from forestlab.core.combine import COMBINERS
from forestlab.core.criteria import fitting
from forestlab.core.leaves import LEAVES
from forestlab.core.options import listed
from forestlab.model.descriptions import COMBINING, DESCRIPTIONS, IMPURITIES
from forestlab.model.examples import EXAMPLES

WIDTH = 96  # letters of a line: `help` puts four before it

# ---- what a fit leaves -------------------------------------------------------------------------

Described = dict[str, tuple[str, str]]

OF_ALL: Described = {
    "n_features_in_": ("int", "Number of columns of the X that `fit` got."),
    "feature_names_in_": (
        "(n_features,) array of str",
        "Their names, if X had names; or what `name_features` was given.",
    ),
    "feature_importances_": (
        "(n_features,) array",
        "Share of each feature in the decrease of impurity, the mean over trees; they sum to 1.",
    ),
    "n_outputs_": ("int", "Number of targets."),
}

OF_TASK: dict[str, Described] = {
    "classification": {
        "classes_": (
            "(n_classes,) array, or a list of such",
            "The labels, sorted: the columns of `predict_proba` are in this order. Of several "
            "targets a list.",
        ),
        "n_classes_": ("int, or a list of such", "How many there are."),
    },
    "regression": {},
    "density": {
        "ridges_": ("(n_features,) array", "What `ridge` adds to each column's variance."),
        "covariances_": (
            "(n_nodes, n_features, n_features) array",
            'With covariance="full": that of the rows of each node.',
        ),
    },
}

OF_CATEGORIES: Described = {
    "categories_": (
        "list",
        "If X has categories: for each feature the array of its levels, or None if it is one of "
        "numbers.",
    ),
    "is_categorical_": (
        "(n_features,) array of bool, or None",
        "Which features are categories; None if none is.",
    ),
}

OF_ONE: Described = {
    "tree_": (
        "GrownTree",
        "The tree, to print, walk and draw, with the arrays of scikit-learn's `Tree`.",
    ),
    "max_features_": ("int", "The number of features that `max_features` comes to."),
}

OF_MANY: Described = {
    "trees_": ("list of TreeView", "The trees, to print, walk and draw."),
}

OF_VOTERS: Described = {
    "estimators_": (
        "sequence of trees",
        "The trees as estimators of their own, also by `forest[t]`; made when asked for, without a "
        "copy.",
    ),
    "estimators_samples_": (
        "list of (n_drawn,) arrays",
        "The rows that each tree saw, as often as they were drawn.",
    ),
    "n_nodes_": ("(n_trees,) array", "How many nodes each tree has."),
    "oob_score_": (
        "float",
        "With `oob_score`: accuracy or R², or the score that was asked for, of what rows are "
        "answered by the trees that left them out.",
    ),
    "oob_voters_": ("(n_rows,) array", "Likewise: how many trees left each row out."),
    "shrink_": ("float", 'With shrink="oob": the λ that was chosen.'),
    "node_losses_": ("(n_nodes,) array", "With `aggregate`: what each node loses out of bag."),
}

OOB_ANSWERS: dict[str, Described] = {
    "classification": {
        "oob_decision_function_": (
            "(n_rows, n_classes) array, or a list of such",
            "With `oob_score`: probabilities by the trees that left a row out; NaN if none did.",
        ),
    },
    "regression": {
        "oob_prediction_": (
            "(n_rows,) or (n_rows, n_targets) array",
            "With `oob_score`: means by the trees that left a row out; NaN if none did.",
        ),
    },
}


OF_PRUNING: Described = {
    "ccp_alpha_, ccp_alphas_, ccp_losses_, ccp_errors_": (
        "",
        'With ccp_alpha="cv" or "valid": the α that was chosen, those that it was chosen from, '
        "what models lose with each, and the standard errors of these losses.",
    ),
    "n_nodes_before_": (
        "(n_trees,) array",
        "How many nodes each tree had before it was pruned, by `ccp_alpha` or `prune`.",
    ),
}

INSIDE: Described = {
    "n_rows_": ("int", "Number of training rows."),
    "forest_": (
        "core.arrays.Forest",
        "The trees as arrays, end to end; `view(t)` shows one of them in words.",
    ),
    "recipe_, seed_, chances_": (
        "",
        "All that decided how the trees grew, the seed, and the rows' chances to be drawn: with "
        "these the same trees grow, and the same bags are drawn again.",
    ),
    "rounded_": (
        "(n_features,) array of bool",
        "Whether a column holds values that float32 would round.",
    ),
}


def attributes_of(cls: Any) -> Described:
    """What a fitted one has, by name; some names stand together."""
    found = OF_TASK[cls.task] | OF_ALL
    if cls.task == "density":
        return found | {"is_categorical_": ("None", "Categories are not taken.")} | OF_MANY | INSIDE
    size = OF_ONE if hasattr(cls, "tree_") else OF_MANY | OF_VOTERS | OOB_ANSWERS[cls.task]
    return found | OF_CATEGORIES | size | OF_PRUNING | INSIDE


# ---- put together ------------------------------------------------------------------------------


def documented(cls: Any) -> Any:
    """Class decorator: add the sections to what the class says of itself."""
    task = cls.task
    names = {
        "criteria": listed(fitting(task)),
        "impurities": IMPURITIES[task],
        "combiners": "\n".join(
            f"- {name!r}, {COMBINING[name][task]}" if name in COMBINING else f"- {name!r}"
            for name, row in COMBINERS.items()
            if task in row
        ),
        "leaves": "; ".join(f"{name!r}, {row.text}" for name, row in LEAVES.items()),
    }
    described = DESCRIPTIONS | getattr(cls, "own_descriptions", {})
    parameters = {
        name: (_kind(described[name][0], its), described[name][1].format(**names))
        for name, its in inspect.signature(cls).parameters.items()
    }
    lines = [inspect.cleandoc(cls.__doc__ or ""), *_section("Parameters", parameters)]
    lines += _section("Attributes", attributes_of(cls))
    lines += ["", "Examples", "--------", inspect.cleandoc(EXAMPLES[cls.__name__])]
    cls.__doc__ = "\n".join(lines) + "\n"
    shorten_requests(cls)
    return cls


def _kind(kind: str, parameter: inspect.Parameter) -> str:
    """With the default, where it is not the same for all estimators."""
    return kind if "default=" in kind else f"{kind}, default={parameter.default!r}"


def _section(title: str, described: Described) -> list[str]:
    lines = ["", title, "-" * len(title)]
    for name, (kind, text) in described.items():
        lines += [f"{name} : {kind}" if kind else name, *_filled(text)]
    return lines


def _filled(text: str) -> list[str]:
    """A text's blocks, indented; lists have an empty line before and after them."""
    lines: list[str] = []
    was_item = False
    for block in text.split("\n"):
        is_item = block.startswith("- ")
        if lines and is_item != was_item:
            lines.append("")
        hanging = " " * (6 if is_item else 4)
        lines += textwrap.wrap(block, WIDTH, initial_indent=" " * 4, subsequent_indent=hanging,
                               break_long_words=False, break_on_hyphens=False)  # fmt: skip
        was_item = is_item
    return lines


# ---- less of what every estimator has ----------------------------------------------------------


def shorten_requests(cls: Any) -> None:
    """Have a class's own `set_…_request`, which scikit-learn made, say in a sentence what they do,
    not in 25 lines each. They stay of scikit-learn's type, by which it knows to make those of a
    subclass anew."""
    for name, request in vars(cls).items():
        if name.startswith("set_") and name.endswith("_request"):
            request.__class__ = _shortened(type(request))


def _shortened(made: Any) -> Any:
    class ShortRequest(made):
        def __get__(self, instance, owner):
            asked = super().__get__(instance, owner)
            asked.__signature__ = _without_types(inspect.signature(asked))
            method = asked.__name__.removeprefix("set_").removesuffix("_request")
            asked.__doc__ = (
                f"Have pipelines and searches pass these on to `{method}` (metadata routing)."
            )
            return asked

    return ShortRequest


def _without_types(signature: inspect.Signature) -> inspect.Signature:
    """They are the same in all: True, False, None or another name."""
    untyped = [its.replace(annotation=its.empty) for its in signature.parameters.values()]
    return signature.replace(parameters=untyped, return_annotation=signature.empty)
