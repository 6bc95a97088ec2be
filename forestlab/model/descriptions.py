"""What each parameter of the estimators means: its kind, and a text as documentation reads it."""

from forestlab.model.values import FLAT, described, described_alone

# What is said of an option that is a parameter by itself, beside what it means (core.options).
MORE = {
    "ties": '"first" takes the leftmost column, as one does by hand: columns that stand first are '
    'then chosen, and seem important, too often. By "random" each is as likely; the draw depends '
    "on `random_state` and the node's place alone. ",
    "threshold": '"value" cuts at a number that the data hold. ',
}

DESCRIPTIONS = {
    "n_estimators": ("int, default=100", "Number of trees."),
    "criterion": (
        "str or callable",
        "The impurity that a split lowers: {criteria}. {impurities}\n"
        "Or a function of (y, weights), which returns the impurity of rows with these targets "
        "(classes by their codes, 0 for the first of `classes_`; a column for each of several "
        "targets) and weights: it works at once, uncompiled, and so on small data.",
    ),
    "max_depth": ("int or None, default=None", "Depth at which a tree stops; None: no limit."),
    "min_samples_split": (
        "int or float, default=2",
        "Rows (or share of rows) a node needs to split.",
    ),
    "min_samples_leaf": (
        "int or float, default=1",
        "Rows (or share of rows) each child must keep.",
    ),
    "min_weight_fraction_leaf": (
        "float, default=0.0",
        "Share of the total weight that each child must keep, at most a half.",
    ),
    "min_impurity_decrease": (
        "float, default=0.0",
        "Least decrease of impurity, weighted by the node's share of the rows. At 0 an impure node "
        "splits even for no gain, so XOR is learnt.",
    ),
    "max_leaf_nodes": (
        "int or None, default=None",
        "Most leaves of a tree, which then grows best-first, as in scikit-learn: the leaf whose "
        "split decreases impurity most, by its share of the rows, is split next; of equal ones the "
        "first. None: any number.",
    ),
    "ccp_alpha": (
        'float, "cv" or "valid", default=0.0',
        "Minimal cost-complexity pruning (Breiman et al. 1984): what a leaf costs, beside the "
        "impurity of the leaves by their share of the rows; each tree is cut back to the smallest "
        "of those that cost least. As in scikit-learn 0 cuts nothing. Or what it costs is chosen, "
        "as that α of the trees' own paths with which models lose least, in wrong labels or "
        "squared errors; it is kept as `ccp_alpha_`:\n"
        '- "cv", in cross-validation with 5 folds;\n'
        '- "valid", on the rows that `fit` gets as X_val and y_val.',
    ),
    "ccp_rule": (
        '{"best", "one_se"}, default="best"',
        'Of the α that may be chosen: "best", that of the least loss; "one_se", the greatest '
        "within a standard error of it.",
    ),
    "ccp_cost": (
        '{"criterion", "misclassification"}, default="criterion"',
        "The impurity by which `ccp_alpha` cuts trees back: the one that splits lower, or of "
        "classes the share of wrong labels.",
    ),
    "max_features": (
        'int, float, "sqrt", "log", "log2" or None',
        "Size of the random feature subsets: a number (above the number of features: all), a "
        "share, a function of the number of features, or None for all. With a `learner` of drawn "
        "columns so many of its questions are drawn at a node, even more than there are features. "
        "Not used at nodes when `rho` is given.",
    ),
    "count_constant": (
        "bool, default=True",
        "Whether features that do not vary in a node count among the `max_features` drawn for it, "
        "as in scikit-learn, which then looks for one more only if none varies. If False, features "
        "are drawn until so many vary, as in oneDAL (scikit-learn-intelex).",
    ),
    "subspace": (
        '{"node", "tree"}, default="node"',
        "Whether a subset is drawn for each node (Breiman 2001) or once for each tree (Ho 1998).",
    ),
    "bootstrap": (
        "bool, default=True",
        "Whether each tree sees rows drawn with replacement. If False and `max_samples` is given, "
        "rows are drawn without replacement.",
    ),
    "max_samples": (
        "int, float or None, default=None",
        "Rows (or share of rows, whatever their weights) drawn for each tree; None: as many as "
        "there are. A number above that is drawn with a bootstrap, and means all rows without.",
    ),
    "oob_score": (
        "bool, str or callable, default=False",
        "Whether to score the rows each tree left out: True for accuracy or R², the name of a "
        "scikit-learn scorer, or a metric(y_true, y_pred).",
    ),
    "search": described("search", "Which cuts of a feature are tried"),
    **{name: described_alone(name, MORE.get(name, "")) for name in FLAT},
    "learner": described("learner", "What a node asks"),
    "rho": (
        'int, "all" or None, default=None',
        "How many random cuts a node tries, of which it takes the best (randomised node "
        "optimisation). Each is a feature, or what else the `learner` asks about, and one cut of "
        "it, both by chance. 1 is a totally random tree; the more, the more alike the trees. Then "
        '`max_features` is not read at nodes. "all" or None: every cut of `max_features` features.',
    ),
    "rho_draws": (
        '{"features", "pairs"}, default="features"',
        "How the `rho` random cuts are drawn:\n"
        '- "features", a feature that varies in the node and then one of its cuts, each uniform, '
        "with replacement;\n"
        '- "pairs", without replacement from all pairs of such a feature and a cut, each as likely '
        "as any other, so that with `rho` as large as their number the tree is the exhaustive one. "
        "This needs learner='axis' and a search that lists cuts, and takes up to twice the time of "
        "the exhaustive search.",
    ),
    "missing": (
        "str, default='learned'",
        "Where a row goes if the value that a node asks for is missing (NaN):\n"
        '- "learned", to the side where such rows of training lowered the criterion most; where '
        "there were none, to the heavier child;\n"
        '- "branch", where the mean of the node\'s other rows goes: a mean weighted by rows, of '
        "what the `learner` makes of columns, bins counting by their middle;\n"
        '- "both", down both branches as in C4.5, in training and when asked, each with the share '
        "of the known weight that goes there; a piece of under 1/64 of its row goes along with the "
        "heavier one. A cut's gain is then that of the rows with a value, which must be enough for "
        "leaves on both sides; `min_samples_split` counts pieces of rows as rows, and so do "
        'nodes;\n- "error", nowhere: missing values are refused.',
    ),
    "categorical_features": (
        '"from_dtype", array-like of str, int or bool, or None, default="from_dtype"',
        "Which columns of X are categories: by their names, by their numbers, as a mask, or none. "
        "\"from_dtype\": those of pandas' types category, str and bool, of polars' Categorical, "
        "Enum, String and Boolean, of pyarrow's dictionaries, strings and booleans; of objects, in "
        "an array or a list too, those with a string among them, or booleans alone. Levels are "
        "those that a type lists, in their order (pandas' category, Enum, dictionary), else the "
        "values that there are, sorted; up to 65,535. One that training did not see is taken for a "
        "missing value, even with missing='error'.",
    ),
    "categories": (
        '{"subset", "equality"}, default="subset"',
        "What a node asks of a column of categories:\n"
        '- "subset", whether a row\'s level is one of several: which, is found by their order '
        "along the targets, or of few levels by trying all sets;\n"
        '- "equality", whether it is one given level.',
    ),
    "leaf": (
        "str or callable, default='mean'",
        "What a leaf answers of its targets, and every other node if it is asked: {leaves}. Or a "
        "function of (y, weights), which returns a number for one target of these rows; as with "
        "one for `criterion` nothing is compiled then.",
    ),
    "monotonic_cst": (
        "array-like of -1, 0 or 1, dict or None, default=None",
        "Features with which answers may only rise, 1, or only fall, -1; 0: no matter. One for "
        "each feature, or for some by their names. Answers are means, or the probability of the "
        "second of two classes; of every tree, at every depth, and of their average. As in "
        "scikit-learn cuts that would part answers in the wrong order are not tried, and nodes' "
        "answers are clipped to bounds that cuts above them set; impurities and importances are "
        "those of the rows. search='boundary' then tries no cuts within a run of equal targets, "
        "where the best of those allowed may lie.",
    ),
    "prune": (
        '"oob" or None, default=None',
        'Whether trees are pruned once they are grown: "oob", from the bottom up two leaves become '
        "one where the rows that the tree left out do not get worse: no more of their labels "
        "wrong, or no greater sum of squared errors, by their weights. Leaves that no such row "
        "comes to are merged too, as nothing gets worse. It needs `bootstrap` or `max_samples`. "
        "Sizes before are kept as `n_nodes_before_`. What is out of bag (`oob_score_` and the "
        "like) then is optimistic: these rows have chosen. A pruned forest asked at a depth is not "
        "the one that were grown to that depth and pruned.",
    ),
    "shrink": (
        'float, "oob" or None, default=None',
        "Draws what nodes of few rows say towards what the nodes above them say (hierarchical "
        "shrinkage, Agarwal et al. 2022). λ is how much: an answer begins as the root's, and each "
        "step down counts by 1 / (1 + λ / N), N the weight of the node it leaves. 0 or None: as "
        'grown. Forests with `bootstrap` or `max_samples` also have "oob": of 0, 0.1, 1, 10, 25, '
        "50, 100 and 500 that λ with which their out-of-bag answers, numbers or probabilities, "
        "have the least squared error when they are fitted; it is kept as `shrink_`, and depends "
        "on all trees and their depth. Not with `aggregate`. Read when predicting.",
    ),
    "aggregate": (
        "bool, default=False",
        "Whether all prunings of a tree answer, weighted by how well each does on the rows that "
        "the tree left out (WildWood: Gaïffas et al. 2021). Their loss is the log loss of classes, "
        "of which a node counts one more row spread over all, in the answer too; or half the "
        "squared error over its mean in the tree's leaves. What the fit has to find out for it is "
        "kept if it is True then; it is read when predicting, so that a fitted forest can do "
        "without. It needs `bootstrap` or `max_samples`, and makes what is out of bag optimistic. "
        "Asked at a depth, a path's last node has the weight of all below: that is not the forest "
        "grown to that depth.",
    ),
    "aggregate_step": (
        "float, default=1.0",
        "What losses are multiplied by to weigh prunings with `aggregate`: 0, all by their number "
        "of splits alone; the greater, the more by how well they do. Read when predicting.",
    ),
    "combine": (
        "str, default='average'",
        "How the trees' answers become one:\n{combiners}\nRead when predicting.",
    ),
    "class_weight": (
        'dict, list of dicts, "balanced", "balanced_subsample" or None, default=None',
        "Weights of the classes, which multiply those of rows; of several targets a list of dicts, "
        "and all multiply; balanced: inverse to their "
        "frequency, in all rows or (forests only) in each tree's own rows. With a bootstrap rows "
        "are drawn by them, and then count the same, as in scikit-learn since 1.9; those of "
        '"balanced_subsample" weigh the rows that were drawn.',
    ),
    "n_jobs": (
        "int or None, default=None",
        "Threads; None: 1, or what `joblib.parallel_config` says; -1: all cores.",
    ),
    "backend": (
        '{"threads", "ray"}, default="threads"',
        'Who grows the trees: "threads" of this process, or "ray", processes of Ray, which may be '
        "on many machines: a cluster that `ray.init` or RAY_ADDRESS says, or else one of `n_jobs` "
        "processes that is started and stopped. The trees are the same, to the bit. It pays for "
        "forests that take minutes, and needs the package ray.",
    ),
    "random_state": ("int, RandomState or None, default=None", "Seed of all that is random."),
    "verbose": ("int, default=0", "Whether to show progress."),
    "warm_start": (
        "bool, default=False",
        "Whether another fit on the same data keeps the trees there are and grows those that "
        "`n_estimators` then asks for in addition: the same ones as all at once.",
    ),
}

# ---- words that depend on the task -------------------------------------------------------------

IMPURITIES = {
    "classification": "Entropy is in nats, 'entropy2' in bits; scikit-learn's is in bits. Of "
    "several targets it is the mean of theirs.",
    "regression": "'variance' and 'squared_error' are the same. 'gaussian' and 'kde' are "
    "differential entropies in nats, of a normal distribution ('gaussian_diagonal': of each target "
    "by itself) and of a kernel density estimate; 'poisson' takes no y below 0.",
    "density": "",
}

# How trees' answers become one, by combiner and task.
COMBINING = {
    "average": {
        "classification": "the mean of the trees' probabilities",
        "regression": "the mean of what they say",
    },
    "product": {
        "classification": "their probabilities multiplied, each leaf with one more row spread over "
        "all classes, so that none rules a class out: a tree that is sure counts more",
        "regression": "a mean in which leaves of little variance count more: each leaf a normal "
        "distribution, and these multiplied",
    },
    "vote": {"classification": "each tree has one vote, for its likeliest class"},
}
