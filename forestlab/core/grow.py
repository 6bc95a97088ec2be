"""Growing: a stack of nodes becomes one tree.

The rows of a node are a stretch of the *arena*, two arrays of (row, weight)::

    before   … | a b c d e f g | …          the node: start, stop
    after    … | b c f | a d e g | …        its children: left part, right part, each in order

Each node: gather its rows' targets, write its record and statistics, and if it may split, find the
best split and push both children. Children are taken from the stack left first, so nodes stand in
preorder. All that is random in a node is drawn from the node's own key (see rng).
"""

import functools

import numpy as np

from forestlab.core.arrays import AXIS, LEAF, RIGHT
from forestlab.core.criteria import CRITERIA, NOTHING
from forestlab.core.jit import jitable, kernel
from forestlab.core.learners import LEARNERS
from forestlab.core.node import search_parameters, search_subset
from forestlab.core.rng import child_key
from forestlab.core.scratch import Plan
from forestlab.core.search import SEARCHES, TIE, Limits, scan_ends, scan_once


@jitable
def partition(codes, split, rows, weights, scratch):
    """Put the rows that go left first, keeping the order; return how many."""
    right_rows, right_weights = scratch.right_rows, scratch.right_weights
    n_left = 0
    n_right = 0
    for i in range(rows.shape[0]):
        row, weight = rows[i], weights[i]
        if codes[split.feature, row] <= split.low:
            rows[n_left], weights[n_left] = row, weight
            n_left += 1
        else:
            right_rows[n_right], right_weights[n_right] = row, weight
            n_right += 1
    for i in range(n_right):
        rows[n_left + i], weights[n_left + i] = right_rows[i], right_weights[i]
    return n_left


@jitable
def cut_between(below, above, midpoint):
    """A number c with below <= c < above: midway if wanted and if floats leave room."""
    if not midpoint:
        return below
    middle = below / 2 + above / 2
    return middle if below <= middle < above else below


@jitable
def write_leaf(node, n_rows, weight, impurity):
    """Every node starts as a leaf; a split is written over it."""
    node["kind"] = LEAF
    node["missing"] = RIGHT
    node["spare"] = 0
    node["feature"] = -1
    node["left"] = -1
    node["right"] = -1
    node["cut_low"] = -np.inf
    node["cut_high"] = np.inf
    node["params"] = -1
    node["bits"] = -1
    node["missing_share"] = 0.0
    node["n_rows"] = n_rows
    node["weight"] = weight
    node["impurity"] = impurity


@jitable
def link(nodes, parent, child):
    """Children come in preorder: the left one stands right behind its parent."""
    if parent >= 0:
        if child == parent + 1:
            nodes[parent]["left"] = child
        else:
            nodes[parent]["right"] = child


@jitable
def push(stack, i, start, end, depth, parent, key):
    entry = stack[i]
    entry["start"] = start
    entry["end"] = end
    entry["depth"] = depth
    entry["parent"] = parent
    entry["key"] = key


@jitable
def may_split(settings, depth, n_rows):
    enough_rows = n_rows >= max(settings.min_samples_split, 2 * settings.min_samples_leaf)
    return enough_rows and depth < settings.max_depth


@jitable
def sum_up(add, sums, side):
    """Make a side that holds all of the node's rows; returns its numbers."""
    side[:] = 0.0
    numbers = NOTHING
    for slot in range(sums.shape[0]):
        numbers = add(side, slot, sums[slot], numbers)
    return numbers


@functools.cache
def grow_kernel(criterion_name: str, search_name: str, randomised: bool, whole: bool):
    """The compiled grower for a criterion and a search; `randomised` nodes draw rho parameters,
    `whole` is for weights that are whole numbers."""
    criterion = CRITERIA[criterion_name]
    gather, add, score, impurity_of = criterion[1:5]
    add, scan = (criterion.add_whole or add, scan_once) if whole else (add, scan_ends)
    propose = SEARCHES[search_name].propose
    project = LEARNERS["axis"]
    search_node = search_parameters if randomised else search_subset

    @kernel(f"grow {criterion_name} trees", allocates=False)
    def grow(columns, targets, rows, weights, features, key, settings, scratch, stop):
        """Grow one tree on (rows, weights), which are overwritten, with `features` (ascending).

        Nodes and statistics are left in `scratch`; returns their number. `stop[0]` ends it early.
        """
        codes, first, lower, upper = columns
        y, marks = targets
        plan = Plan(codes, y, marks, settings)
        nodes, stats, stack, constant = scratch[:4]
        features_left = scratch.features[: features.shape[0]]
        for k in range(features.shape[0]):
            features_left[k] = features[k]
        for word in range(constant.shape[1]):
            constant[0, word] = 0
        push(stack, 0, 0, rows.shape[0], 0, -1, key)
        n_nodes, n_waiting = 0, 1
        root_weight = 0.0
        while n_waiting > 0 and stop[0] == 0:
            n_waiting -= 1
            here = stack[n_waiting]
            start, end, depth, node_key = here["start"], here["end"], here["depth"], here["key"]
            here_rows, here_weights = rows[start:end], weights[start:end]
            pure = gather(
                y, here_rows, here_weights, scratch.slots, scratch.amounts, stats[n_nodes],
                scratch.sums,
            )  # fmt: skip
            total = sum_up(add, scratch.sums, scratch.total)
            weight = total[0]
            impurity = 0.0
            if not pure:
                impurity = impurity_of(score, scratch.total, total, stats[n_nodes])
            node = nodes[n_nodes]
            write_leaf(node, end - start, weight, impurity * settings.impurity_scale)
            link(nodes, here["parent"], n_nodes)
            n_nodes += 1
            root_weight = max(root_weight, weight)
            if pure or not may_split(settings, depth, end - start):
                continue
            tie = TIE * (end - start) * weight * impurity
            limits = Limits(tie, settings.min_weight_fraction_leaf * root_weight)
            split = search_node(
                add, score, scan, project, propose, plan, scratch, total, features_left,
                here_rows, constant[n_waiting], node_key, limits,
            )  # fmt: skip
            gain = max(score(scratch.total, total) - split.score, 0.0) * settings.impurity_scale
            if split.feature < 0 or gain < settings.min_impurity_decrease * root_weight:
                continue
            below = upper[first[split.feature] + split.low]
            above = lower[first[split.feature] + split.high]
            node["kind"] = AXIS
            node["feature"] = split.feature
            node["cut_high"] = cut_between(below, above, settings.midpoint)
            middle = start + partition(codes, split, here_rows, here_weights, scratch)
            push(stack, n_waiting, middle, end, depth + 1, n_nodes - 1, child_key(node_key, 1))
            push(
                stack, n_waiting + 1, start, middle, depth + 1, n_nodes - 1, child_key(node_key, 0)
            )
            for word in range(constant.shape[1]):
                constant[n_waiting + 1, word] = constant[n_waiting, word]
            n_waiting += 2
        return n_nodes

    return grow
