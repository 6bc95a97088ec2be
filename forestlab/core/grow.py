"""Growing: a stack of nodes becomes one tree.

The rows of a node are a stretch of the *arena*, two arrays of (row, weight)::

    before   … | a b c d e f g | …          the node: start, stop
    after    … | b c f | a d e g | …        its children: left part, right part, each in order

Each node: gather its rows' targets, write its record and statistics, and if it may split, find the
best split and push both children. Children are taken from the stack left first, so nodes stand in
preorder. All that is random in a node is drawn from the node's own key (see rng). Where rows may go
to both children the arena is another: see branching. With ``max_leaf_nodes`` it is left out what
best-first growing would not have come to: see best_first.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core.bag import draw_bag, draw_features
from forestlab.core.bands import make_evaluate_bands
from forestlab.core.best_first import is_leader, lead
from forestlab.core.branching import FULL, lay_out, make_send_both, stay
from forestlab.core.categories import (
    Asked,
    column_finder,
    either,
    either_best,
    make_evaluate_sets,
    make_list_sets,
    make_open,
    make_pool,
    make_scan_sets,
    with_categories,
)
from forestlab.core.classes import arrange, make_measure_runs
from forestlab.core.criteria import CRITERIA, Criterion, Entered, Several, is_swept
from forestlab.core.jit import hold, jitable, kernel, made_from
from forestlab.core.learners import LEARNERS, Learner
from forestlab.core.leaves import LEAVES, Leaf, make_answer
from forestlab.core.missing import (
    MISSING,
    Missing,
    make_goes_left,
    make_note_side,
    make_scan,
    make_settle,
    row_for,
)
from forestlab.core.monotonic import make_constraint, with_signs
from forestlab.core.node import make_choose, make_evaluate, make_list_cuts, pick_one
from forestlab.core.pairs import choose_pairs, keep_drawn
from forestlab.core.questions import write_leaf
from forestlab.core.rng import child_key, tree_key
from forestlab.core.runs import lay_tree, leave_tree
from forestlab.core.scratch import Node
from forestlab.core.search import SEARCHES, TIE, propose_all
from forestlab.core.several import several
from forestlab.core.sides import make_measure, sides_of
from forestlab.core.singles import adds_up, make_scan_singles
from forestlab.core.sweep import left_by_code, make_sweep, open_chosen


@jitable
def nothing_to_read(plan, node, question):
    """A row's key is looked up as it goes."""
    return 0


def make_send(learner: Learner, missing: Missing, sweeps: bool) -> Callable:
    """What sends a node's rows to its children."""
    if missing.branches and missing.sides:
        return make_send_both(learner)
    note_side, left_of = make_note_side(learner, missing), make_goes_left(learner, missing)

    @jitable
    def left_by_learner(plan, scratch, codes, question, i, row):
        return left_of(plan, scratch, question, i, row)

    open_codes = open_chosen if sweeps else nothing_to_read
    goes_left = left_by_code if sweeps else left_by_learner

    @jitable
    def send(plan, node, scratch, question, record, start):
        """Put the rows that go left first, keeping the order; return how many go left and right."""
        rows, weights = node.rows, node.weights
        right_rows, right_weights = scratch.right_rows, scratch.right_weights
        note_side(plan, node, scratch, question, record)
        codes = open_codes(plan, node, question)
        n_left = np.uint64(0)
        n_right = np.uint64(0)
        for i in range(np.uint64(rows.shape[0])):
            row, weight = rows[i], weights[i]
            # Written to both, so that there is no branch to mispredict.
            is_left = goes_left(plan, scratch, codes, question, i, row)
            rows[n_left], weights[n_left] = row, weight
            right_rows[n_right], right_weights[n_right] = row, weight
            n_left += np.uint64(is_left)
            n_right += np.uint64(not is_left)
        for i in range(n_right):
            rows[n_left + i], weights[n_left + i] = right_rows[i], right_weights[i]
        return np.int64(n_left), np.int64(n_right)

    return send


def make_link(missing: Missing) -> Callable:
    """What tells a node's parent of it."""
    settle = make_settle(missing)

    @jitable
    def link(nodes, parent, child):
        """Children come in preorder: the left one stands right behind its parent."""
        if parent >= 0:
            if child == parent + 1:
                nodes[parent]["left"] = child
            else:
                nodes[parent]["right"] = child
                settle(nodes[parent], nodes[parent + 1], nodes[child])

    return link


@jitable
def push(stack, i, start, end, depth, parent, key, least):
    entry = stack[i]
    entry["start"] = start
    entry["end"] = end
    entry["depth"] = depth
    entry["parent"] = parent
    entry["key"] = key
    entry["least"] = least


@jitable
def start_tree(scratch, features, n_rows, key):
    """Have the root wait, with the features that the tree may ask about."""
    for k in range(features.shape[0]):
        scratch.features[k] = features[k]
    for word in range(scratch.constant.shape[1]):
        scratch.constant[0, word] = 0
    scratch.leaders[0] = 0
    push(scratch.stack, 0, 0, n_rows, 0, -1, key, np.inf)


@jitable
def push_children(scratch, i, left, right, n_left, n_right, depth, parent, key, least):
    """Have the right child wait at i, and the left one, which comes first, above it; `left` and
    `right` are where their rows begin. What is constant in their parent is noted at i."""
    stack, constant = scratch.stack, scratch.constant
    push(stack, i, right, right + n_right, depth, parent, child_key(key, 1), least)
    push(stack, i + 1, left, left + n_left, depth, parent, child_key(key, 0), least)
    for word in range(constant.shape[1]):
        constant[i + 1, word] = constant[i, word]


@jitable
def write_node(record, n_rows, weight, impurity):
    """A node as it begins: one that asks nothing."""
    write_leaf(record)
    record["n_rows"] = n_rows
    record["weight"] = weight
    record["impurity"] = impurity


@jitable
def may_split(settings, depth, n_rows):
    enough_rows = n_rows >= max(settings.min_samples_split, 2 * settings.min_samples_leaf)
    return enough_rows and depth < settings.max_depth


@jitable
def keeps_no_params(scratch):
    """The learner's questions need no pool of parameters."""


@jitable
def keeps_none_of(scratch, record):
    """The same of a question that is taken back."""


@jitable
def take_params_back(scratch, record):
    if record["params"] >= 0:
        scratch.projections.n_params[0] = record["params"]


@jitable
def forget_params(scratch):
    """Those of the tree before."""
    scratch.projections.n_params[0] = 0


class KernelParts(NamedTuple):
    """What a kernel that grows trees is made of: names of the tables, and what is known of the
    data."""

    criterion: str
    learner: str
    search: str
    randomised: bool  # nodes draw rho parameters
    whole: bool  # weights are whole numbers
    counted: bool = False  # cuts that are scored are counted
    missing: str = "error"
    pairs: bool = False  # these without replacement, of all pairs of a feature and a cut
    leaf: str = "mean"
    monotonic: bool = False  # answers only rise, or only fall, with some features
    several: bool = False  # targets of classes
    lacking: bool = True  # values are missing, if they may be
    categories: str = ""  # what is asked of them; "": all columns are numbers
    thinned: bool = False  # of a feature's cuts some are left out by chance
    single: bool = False  # one target of numbers


def open_categories(
    criterion: Criterion | Entered | Several, parts: KernelParts
) -> Callable | None:
    """What puts the levels of a candidate in groups; None without categories."""
    if not parts.categories:
        return None
    asked = Asked(
        parts.categories,
        criterion.task,
        criterion.in_order,
        sides_of(criterion).in_bins,
        parts.monotonic,
        SEARCHES[parts.search].draws,
    )
    missing = row_for(parts.missing, parts.lacking)
    return make_open(asked, column_finder(LEARNERS[parts.learner]), missing)


def make_learner(parts: KernelParts, open_levels: Callable | None) -> Learner:
    """The weak learner, with what the data ask of it."""
    learner = LEARNERS[parts.learner]
    if open_levels is not None:
        missing = row_for(parts.missing, parts.lacking)
        learner = with_categories(learner, open_levels, missing)
    return with_signs(learner) if parts.monotonic else learner


def may_sweep(criterion: Criterion | Entered | Several, parts: KernelParts) -> bool:
    """Are all cuts of single features scored, by sums, and nothing else?"""
    return (
        isinstance(criterion, Criterion)
        and is_swept(criterion)
        and (parts.single or criterion.task == "classification")
        and parts.learner == "axis"
        and SEARCHES[parts.search].propose is propose_all
        and not row_for(parts.missing, parts.lacking).sides
        and not (parts.randomised or parts.thinned or parts.counted or parts.pairs)
        and not (parts.monotonic or parts.categories or parts.several)
    )


def sweeps_by_class(criterion: Criterion | Entered | Several, parts: KernelParts) -> bool:
    """Are they so of classes, with weights that are whole numbers?"""
    return may_sweep(criterion, parts) and parts.whole and criterion.task == "classification"


@jitable
def as_they_are(plan, rows, weights, scratch):
    """A tree's rows need not be put in order."""


def make_chooser(
    learner: Learner,
    criterion: Criterion | Entered | Several,
    parts: KernelParts,
    open_levels: Callable | None,
) -> Callable:
    """What finds a node's best question."""
    search, missing = SEARCHES[parts.search], row_for(parts.missing, parts.lacking)
    narrow = keep_drawn if parts.pairs else pick_one
    scan = make_scan(criterion, parts.whole, missing, parts.monotonic)
    list_cuts = make_list_cuts(learner, search, missing, sides_of(criterion).in_bins)
    how = search, missing, scan, parts.counted, narrow
    if isinstance(criterion, Criterion) and may_sweep(criterion, parts):
        return make_sweep(criterion, parts.whole)
    if learner.has_bands:
        evaluate = make_evaluate_bands(learner, criterion, missing, parts.counted)
    else:
        evaluate = make_evaluate(list_cuts, learner, *how)
    if open_levels is not None:
        column_of = column_finder(learner)
        list_sets = make_list_sets(open_levels, search.draws, missing)
        each = parts.categories == "equality" and adds_up(criterion)
        scan_sets = make_scan_singles(criterion, missing) if each else make_scan_sets(missing, scan)
        of_sets = make_evaluate_sets(
            list_sets, column_of, search, missing, scan_sets, parts.counted, narrow
        )
        evaluate = either_best(column_of, of_sets, evaluate)
        list_cuts = either(column_of, list_sets, list_cuts)
    if parts.pairs:
        return choose_pairs(list_cuts, evaluate)
    return make_choose(evaluate, learner.draw, parts.randomised)


def fits_a_run(criterion: Criterion | Entered | Several, leaf: Leaf, parts: KernelParts) -> bool:
    """Do nodes ask about one number each, with nothing beside them but their statistics?"""
    has_means = leaf.value is not None or (parts.monotonic and criterion.task != "classification")
    return parts.learner == "axis" and not parts.categories and not has_means


@made_from(CRITERIA, LEARNERS, SEARCHES, MISSING, LEAVES)
def grow_kernel(parts: KernelParts) -> Callable:
    """The compiled grower."""
    row = CRITERIA[parts.criterion]
    criterion = several(row) if parts.several else row
    grow = make_grow(criterion, LEAVES[parts.leaf], parts)
    return kernel(f"grow {parts.criterion} trees", allocates=False)(grow)


def make_grow(criterion: Criterion | Entered | Several, leaf: Leaf, parts: KernelParts) -> Callable:
    """The grower, not yet compiled: as plain Python it grows the same trees."""
    missing, open_levels = row_for(parts.missing, parts.lacking), open_categories(criterion, parts)
    learner = make_learner(parts, open_levels)
    branches = missing.branches and len(missing.sides) > 0
    lay, link = lay_out if branches else stay, make_link(missing)
    sides, by_class = sides_of(criterion), sweeps_by_class(criterion, parts)
    measure = (
        make_measure_runs(criterion)
        if isinstance(criterion, Criterion) and by_class
        else make_measure(criterion, parts.whole)
    )
    order_rows = arrange if by_class else as_they_are
    size, score = sides.size, sides.score
    choose = make_chooser(learner, criterion, parts, open_levels)
    ready, write = learner.ready, learner.write
    send = make_send(learner, missing, may_sweep(criterion, parts))
    begin = keeps_no_params if learner.draw is None else forget_params
    take_back = keeps_none_of if learner.draw is None else take_params_back
    begin_pool, has_room = make_pool(parts.categories)
    answer = make_answer(leaf)
    unbound, clip, hand_down = make_constraint(criterion.task, parts.monotonic)

    @jitable
    def grow_held(plan, rows, weights, features, key, scratch, stop):
        """Grow one tree on (rows, weights), which are overwritten, with `features` (ascending).

        Nodes and statistics are left in `scratch`; returns their number, or FULL if there is no
        room for them. `stop[0]` ends it early.
        """
        settings = plan.settings
        nodes, stats, constant = scratch.nodes, scratch.stats, scratch.constant
        gains, leaders = scratch.gains, scratch.leaders
        start_tree(scratch, features, rows.shape[0], key)
        order_rows(plan, rows, weights, scratch)
        rows, weights = lay(scratch, rows, weights)
        begin(scratch)
        begin_pool(plan, scratch, features)
        unbound(scratch)
        features_left = scratch.features[: features.shape[0]]
        n_nodes, n_waiting = 0, 1
        root_weight = 0.0
        while n_waiting > 0 and stop[0] == 0 and has_room(scratch):
            n_waiting -= 1
            here = scratch.stack[n_waiting]
            start, end, depth, node_key = here["start"], here["end"], here["depth"], here["key"]
            here_rows, here_weights = rows[start:end], weights[start:end]
            pure, total, impurity, rounding = measure(
                plan, here_rows, here_weights, scratch, stats[n_nodes]
            )
            weight = total[0]
            record = nodes[n_nodes]
            write_node(record, end - start, weight, impurity * settings.impurity_scale)
            answer(plan.y, here_rows, here_weights, scratch, n_nodes)
            clip(plan, here_rows, scratch, n_waiting, n_nodes)
            link(nodes, here["parent"], n_nodes)
            gains[n_nodes] = 0.0
            n_nodes += 1
            root_weight = max(root_weight, weight)
            if pure or not may_split(settings, depth, end - start):
                continue
            node = hold(Node(
                here_rows, here_weights, features_left, constant[n_waiting], node_key, total,
                TIE * (end - start) * weight * rounding,
                settings.min_weight_fraction_leaf * root_weight,
            ))  # fmt: skip
            question = choose(plan, node, scratch)
            everything = scratch.total[: size(plan, scratch, end - start)]
            before = score(plan, scratch, everything, total)
            gain = max(before - question.score, 0.0) * settings.impurity_scale
            if question.candidate < 0 or gain < settings.min_impurity_decrease * root_weight:
                continue
            least = min(here["least"], gain)
            if settings.max_leaf_nodes > 0 and not is_leader(leaders, least):
                continue
            if branches and n_nodes + n_waiting + 2 > nodes.shape[0]:
                return FULL
            ready(plan, node, scratch, question)
            write(plan, scratch, question, record)
            n_left, n_right = send(plan, node, scratch, question, record, start)
            if branches and n_left == FULL:
                return FULL
            if n_left == 0 or n_right == 0:  # numbers that rounding makes equal
                take_back(scratch, record)
                write_node(record, end - start, weight, impurity * settings.impurity_scale)
                continue
            gains[n_nodes - 1] = gain
            if settings.max_leaf_nodes > 0:
                lead(leaders, least)
            hand_down(plan, node, scratch, question, n_left, n_waiting)
            left, right = (start + n_right, start) if branches else (start, start + n_left)
            push_children(
                scratch, n_waiting, left, right, n_left, n_right, depth + 1, n_nodes - 1, node_key,
                least,
            )  # fmt: skip
            n_waiting += 2
        return n_nodes if has_room(scratch) else FULL

    lay_out_tree = lay_tree if fits_a_run(criterion, leaf, parts) else leave_tree

    @jitable
    def grow_some(plan, bags, drawn, seed, first, count, scratch, run, stop):
        run.left[0], n_laid = 0, 0
        for t in range(first, first + count):
            key = tree_key(seed, t)
            n_rows = draw_bag(plan.y, bags, key, drawn)
            draw_features(key, bags.n_features, drawn.features)
            rows, weights = drawn.rows[:n_rows], drawn.weights[:n_rows]
            features = drawn.features[: bags.n_features]
            n_nodes = grow_held(plan, rows, weights, features, key, scratch, stop)
            if stop[0] != 0:
                break
            if n_nodes == FULL or not lay_out_tree(scratch, n_nodes, run, n_laid):
                run.left[0] = n_nodes
                break
            n_laid += 1
        return n_laid

    def grow(plan, bags, drawn, seed, first, count, scratch, run, stop):
        """Grow the trees first … first + count - 1 of a seed into a run; return how many are in it,
        fewer if the next one is left in the scratch, as `run.left` says, or `stop` was set."""
        return grow_some(
            hold(plan), hold(bags), hold(drawn), seed, first, count, hold(scratch), hold(run), stop
        )

    return grow
