"""Many trees: growing them, asking them, and the threads that do it."""

from forestlab.forest.affinities import AFFINITIES, affinity
from forestlab.forest.asking import Asked, DepthWalk, by_depth, combined, ends, places, tree_by_tree
from forestlab.forest.bagging import bags, rows_outside
from forestlab.forest.contributions import contributions, parents
from forestlab.forest.encoded import Encoded, open_encoded
from forestlab.forest.forests import count_cuts, grow_forest, grow_trees
from forestlab.forest.growing import Recipe, balance, prepare, product, tree_seed
from forestlab.forest.grown import Grown, of_target
from forestlab.forest.importance import decreases, importances
from forestlab.forest.maps import eigenmaps, groups_of
from forestlab.forest.normals import AskedDensity, DensityWalk, Normals, log_densities_of
from forestlab.forest.oob_pruning import pruned
from forestlab.forest.outside_loss import Losses, Rows, losses
from forestlab.forest.prunings import best_strength, shrunk, weighted
from forestlab.forest.reached import Pieces, Reached, reached
from forestlab.forest.stopping import Path, cut_forest, paths_of
from forestlab.forest.threads import (
    BLOCK_NUMBERS,
    BLOCK_ROWS,
    by_blocks,
    by_fixed_blocks,
    in_threads,
)

__all__ = [
    "AFFINITIES",
    "BLOCK_NUMBERS",
    "BLOCK_ROWS",
    "Asked",
    "AskedDensity",
    "DensityWalk",
    "DepthWalk",
    "Encoded",
    "Grown",
    "Losses",
    "Normals",
    "Path",
    "Pieces",
    "Reached",
    "Recipe",
    "Rows",
    "affinity",
    "bags",
    "balance",
    "best_strength",
    "by_blocks",
    "by_depth",
    "by_fixed_blocks",
    "combined",
    "contributions",
    "count_cuts",
    "cut_forest",
    "decreases",
    "eigenmaps",
    "ends",
    "groups_of",
    "grow_forest",
    "grow_trees",
    "importances",
    "in_threads",
    "log_densities_of",
    "losses",
    "of_target",
    "open_encoded",
    "parents",
    "paths_of",
    "places",
    "prepare",
    "product",
    "pruned",
    "reached",
    "rows_outside",
    "shrunk",
    "tree_by_tree",
    "tree_seed",
    "weighted",
]
