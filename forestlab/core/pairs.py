"""The best of rho parameters that are drawn without replacement.

A parameter is a *pair* of a feature that varies in the node and one of its cuts that the search
lists. Pairs are numbered, feature by feature, and each is as likely as any other: a feature of many
values is drawn more often than one of few. With rho as large as the number of pairs nothing is left
to chance, and the node is searched exhaustively.

1. `count_pairs`: list the cuts of every feature that varies.
2. `first_of_shuffled`: draw rho numbers. In order, those of a feature stand together.
3. `keep_drawn`: list the cuts of each feature drawn once more, and score those drawn.

So every node lists the cuts of all its features, whatever rho is, and those of up to rho of them
twice: with a small rho it costs about as much as the exhaustive search, with a large one up to
twice that. To draw a feature first, and then one of its cuts, looks at rho features alone.
"""

from collections.abc import Callable

import numpy as np

from forestlab.core.bits import has_bit
from forestlab.core.groups import empty_if_dense
from forestlab.core.jit import jitable
from forestlab.core.lazy_shuffle import first_of_shuffled
from forestlab.core.node import best_of, keep, sort_front
from forestlab.core.rng import PARAMETERS, stream


def make_count_pairs(list_cuts: Callable) -> Callable:
    @jitable
    def count_pairs(plan, node, scratch):
        """Note where the pairs of each feature that varies end; return how many there are."""
        features, end = node.features, scratch.pairs.end
        n_pairs = 0
        for i in range(features.shape[0]):
            if not has_bit(node.constant, features[i]):
                listed = list_cuts(plan, node, scratch, features[i], -1)
                empty_if_dense(scratch, listed.grouped)
                n_pairs += listed.n_cuts
                end[features[i]] = n_pairs
        return n_pairs

    return count_pairs


@jitable
def keep_drawn(plan, node, scratch, feature, first, n_cuts):
    """Keep those of the listed cuts that were drawn, in order; return how many. The numbers of the
    feature's pairs stand at `first` and behind it."""
    drawn, end, cuts = scratch.pairs.drawn, scratch.pairs.end[feature], scratch.groups.cuts
    n_kept = 0
    while first + n_kept < plan.settings.rho and drawn[first + n_kept] < end:
        cuts[n_kept] = cuts[drawn[first + n_kept] - (end - n_cuts)]
        n_kept += 1
    return n_kept


def choose_pairs(list_cuts: Callable, evaluate: Callable) -> Callable:
    """Given what lists the cuts of a feature, and what finds the best of those that `keep_drawn`
    keeps."""
    count_pairs = make_count_pairs(list_cuts)

    @jitable
    def choose(plan, node, scratch):
        """The best of rho random pairs of a varying feature and a cut, all of them different."""
        pairs, features, settings = scratch.pairs, node.features, plan.settings
        n_pairs = count_pairs(plan, node, scratch)
        n_drawn = settings.rho if settings.rho < n_pairs else 0  # none: all are tried
        if n_drawn > 0:
            key = stream(node.key, PARAMETERS)
            first_of_shuffled(pairs.drawn, n_drawn, pairs.swapped, n_pairs, key)
            sort_front(pairs.drawn, n_drawn)
        n_found, least = 0, np.inf
        first = 0
        for i in range(features.shape[0]):
            feature, pick = features[i], first if n_drawn > 0 else -1
            if has_bit(node.constant, feature):
                continue
            while first < n_drawn and pairs.drawn[first] < pairs.end[feature]:
                first += 1
            if pick < 0 or pick < first:
                question = evaluate(plan, node, scratch, feature, least, pick)
                n_found, least = keep(scratch.found, n_found, least, question)
        return best_of(scratch.found, n_found, least, node.tie, node.key, settings.random_ties)

    return choose
