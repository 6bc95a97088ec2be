"""What the estimators are made of: they validate, delegate and name things.

`Model` is what all share; `Predictor` adds answers, `Classifier` and `Regressor` a task. See many
and sizes for the rest.
"""

import copy
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from scipy.sparse import hstack, issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_is_fitted,
    check_X_y,
    column_or_1d,
    validate_data,
)
from tqdm import tqdm

from forestlab.core import options
from forestlab.core.arrays import Forest, tree_of
from forestlab.core.encode import rounded_columns
from forestlab.core.jit import compile_seconds
from forestlab.core.options import OPTIONS
from forestlab.core.packed import Packed, packed, step_type
from forestlab.forest import (
    Encoded,
    Grown,
    Reached,
    Rows,
    balance,
    combined,
    ends,
    grow_forest,
    importances,
    prepare,
    product,
    reached,
)
from forestlab.forest.growing import Recipe, Training
from forestlab.forest.spread import BACKENDS
from forestlab.model import cutting, frames, mapped, parameters, prunings, storage
from forestlab.model.frames import Table
from forestlab.model.members import first_trees
from forestlab.model.scoring import AnsweredClassifier, AnsweredRegressor, accuracy
from forestlab.model.targets import require_numbers
from forestlab.model.values import inside
from forestlab.tree.grown import visits
from forestlab.tree.levels import refuse_dicts
from forestlab.tree.view import TreeView


class Model(BaseEstimator):
    """What all estimators share. A fitted one holds:

    forest_ : core.arrays.Forest, the trees as arrays
    recipe_, seed_ : what they were grown by
    n_rows_, chances_ : what it takes, beside these, to draw the same bags again
    rounded_ : (n_features,) whether a column holds values that float32 would round
    categories_ : for each feature the array of its levels, whose numbers the trees know, or None if
        it is one of numbers; only if there are categories

    and what `prune`, `shrink` and `aggregate` found (see prunings).
    """

    task: str
    n_jobs: int | None = None
    combine = "average"
    missing = "error"
    categorical_features: Any = None
    verbose = 0
    warm_start = False
    backend = "threads"
    prune: Any = None
    shrink: Any = None
    aggregate = False
    aggregate_step = 1.0
    takes_sparse = True

    # ---- parameters ----

    def get_params(self, deep=True) -> dict[str, Any]:
        """The parameters by name; with `deep` the options of values too, as search__ties."""
        params = super().get_params(deep=deep)
        for group in self._groups() if deep else ():
            said = inside(group, params[group])
            params |= {f"{group}__{name}": item for name, item in said.items()}
        return params

    def set_params(self, **params):
        """Set parameters; search__ties=… gives `search` another option, name or value."""
        groups = self._groups()
        nested = {key for key in params if "__" in key and key.split("__")[0] in groups}
        super().set_params(**{key: item for key, item in params.items() if key not in nested})
        for key in sorted(nested):
            group, _, name = key.partition("__")
            before = getattr(self, group)
            value = options.replaced(group, before, {name: params[key]})
            if value != options.as_value(group, before):  # a name that says the same stays
                setattr(self, group, value)
        return self

    def _groups(self) -> list[str]:
        """Of the parameters those that are values with options inside."""
        return [group for group in OPTIONS if hasattr(self, group)]

    # ---- growing ----

    def fit(self, X, y=None, sample_weight=None, X_val=None, y_val=None):
        """Grow the trees.

        Parameters
        ----------
        X : (n_rows, n_features) array or sparse matrix of finite numbers, NaN where one is missing
            (what a sparse matrix does not store is 0); or a data frame, an array of objects or a
            list, of numbers and categories (see `categorical_features`); or an `Encoded` (see
            `forestlab.encode_file`), which has its own y
        y : (n_rows,) or (n_rows, n_targets) classes, or numbers
        sample_weight : (n_rows,) weights of at least 0, or None. With a bootstrap they are the
            rows' chances to be drawn, otherwise they weigh rows within every tree.
        X_val, y_val : rows that choose α, with ccp_alpha="valid"
        """
        cutting.check(self, X_val, y_val)
        begun, as_given = self._begun(X), X
        X, y, targets, classes, table = self._taken(X, y)
        given = cutting.Rows(as_given, np.asarray(y), sample_weight)
        valid = cutting.valid_rows(X_val, y_val, given.y, classes)
        params = self.growing_params()
        names = getattr(self, "feature_names_in_", None)
        sizes = X.shape, parameters.class_counts(classes), targets.shape[1]
        levels = () if table is None else table.counts
        recipe = parameters.recipe(params, self.task, *sizes, names, levels)
        parameters.require_moderate(X, recipe.learner)
        parameters.warn_of_functions(recipe)
        n_jobs = parameters.n_threads(self.n_jobs)
        n_estimators = getattr(self, "n_estimators", 1)
        self._check_oob(recipe)
        prunings.check(self, recipe)
        weights, chances = self._weights(y, targets, classes, sample_weight, recipe)
        self.check_scale(targets, weights)
        training = prepare(X, targets, recipe, weights, chances, n_jobs)
        training = self._measured(training, product(weights, chances))
        seed = self._seed_of(begun, recipe, training, classes, table)
        show = self._progress if self.verbose else None
        by = recipe._replace(ccp_alpha=0.0)
        backend = BACKENDS[self.backend]
        whole = grow_forest(training, by, seed, n_estimators, n_jobs, show, begun, backend)

        def choose() -> cutting.Choice:
            asked = self._as_grown(whole, by, classes, table, targets.shape[1])
            return cutting.choose_alpha(asked, given, seed, valid)

        forest, recipe, cut = cutting.chosen(self, whole, recipe, choose, begun)
        drawn = recipe, seed, X.shape[0], training.chances
        grown = Grown(forest, self.task, self.combine, *drawn, classes)
        rows = Rows(X, targets, product(weights, chances))
        found = cut | prunings.found(self, grown, rows, n_jobs)
        found |= cutting.before(self, whole, recipe, found)
        # Nothing that was fitted before is touched until all has gone well.
        self._forget_oob()
        self._forget("_pruned", *prunings.FOUND, *cutting.FOUND)
        self._keep_classes(classes)
        self._keep_categories(table)
        self.__dict__.update(found, rounded_=rounded_columns(training.columns))
        self.recipe_, self.seed_, self.n_rows_, self.chances_ = drawn
        self.n_outputs_ = targets.shape[1]
        self._made: dict[str, Any] = {}  # now: to be asked must not change a model
        self._make_ready(X, training)
        self._keep_more(training)
        self._score_oob(X, y, product(weights, chances))
        return self

    def _taken(self, X, y) -> tuple[Any, Any, np.ndarray, Any, Table | None]:
        """X and y to train on, as they were checked, y as numbers, its classes, and the columns
        and levels of X."""
        if isinstance(X, Encoded):
            return mapped.taken(self, X, y)
        table = self._table(X)
        X, y = self._validated(X, y, table)
        return (X, y, *self._encode_targets(y), table)

    def _as_grown(self, forest: Forest, recipe: Recipe, classes, table, n_outputs: int):
        """The model with these trees, to be asked before it is known to be fitted."""
        asked = copy.copy(self)
        asked._forget("_made")
        asked._keep_classes(classes)
        asked._keep_categories(table)
        asked.forest_, asked.recipe_, asked.n_outputs_ = forest, recipe, n_outputs
        return asked

    def growing_params(self) -> dict[str, Any]:
        """All that a recipe is made of, by name."""
        return self.get_params(deep=False)

    def _measured(self, training: Training, mass) -> Training:
        """The training data with what else a model knows of all rows, given their mass."""
        return training

    def _make_ready(self, X, training: Training) -> None:
        """Make what the first to ask would wait for."""
        self._answering()

    def _keep_more(self, training: Training) -> None:
        pass

    def _check_stored(self) -> None:
        """Raise ValueError unless what a file held beside trees goes with them."""
        prunings.check_stored(self)
        cutting.check_stored(self)

    # ---- cut instead of fitted again ----

    def cut(
        self,
        *,
        max_depth=None,
        min_samples_split=None,
        min_impurity_decrease=None,
        max_leaf_nodes=None,
        ccp_alpha=None,
    ):
        """The model that a fit with these parameters would give, to the bit, without fitting.

        Rules apply in the order in which they stand here. They can only be stricter than those that
        the model was fitted with, and it must have been fitted whole: without `max_leaf_nodes`,
        `ccp_alpha`, `prune`, `aggregate` and shrink="oob". Scores of rows out of bag, which need
        those rows, are not taken over.

        Parameters
        ----------
        max_depth, min_samples_split, min_impurity_decrease, max_leaf_nodes, ccp_alpha : as those of
            the model; None: as it is
        """
        check_is_fitted(self, "forest_")
        return cutting.cut(
            self,
            {
                "max_depth": max_depth,
                "min_samples_split": min_samples_split,
                "min_impurity_decrease": min_impurity_decrease,
                "max_leaf_nodes": max_leaf_nodes,
                "ccp_alpha": ccp_alpha,
            },
        )

    def _cut_more(self, before: "Model") -> None:
        """Cut what else the model keeps of nodes, as its trees were cut from those before."""

    def _begun(self, X) -> Forest | None:
        """The trees that there are already, if more are to be grown to them."""
        return None

    def _seed_of(self, begun, recipe, training, classes, table) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _keep_classes(self, classes) -> None:
        pass

    def _keep_categories(self, table: Table | None) -> None:
        self._forget("categories_")
        if table is not None:
            self.categories_ = table.levels

    def _weights(self, y, targets, classes, sample_weight, recipe):
        """Weights of rows in every tree and chances to enter a bag, each an array or None."""
        given = parameters.sample_weights(sample_weight, len(y))
        by_class = self._class_weights(y, targets, classes, given, recipe)
        mass = product(given, by_class)
        if mass is not None:
            parameters.require_scale(mass)
            if not mass.any():
                raise ValueError("sample_weight must not be zero for every row.")
            parameters.require_rows(recipe, mass)
        bagged = recipe.bag_size and recipe.replace
        return (None, mass) if bagged else (mass, None)

    def _class_weights(self, y, targets, classes, given, recipe):
        return None

    def check_scale(self, targets, weights) -> None:
        pass

    def _forget_oob(self) -> None:
        """A refit without out-of-bag scores must not keep those of the fit before."""
        self._forget(*[name for name in vars(self) if name.startswith("oob_") and name[-1] == "_"])

    def _forget(self, *names: str) -> None:
        for name in names:
            self.__dict__.pop(name, None)

    def _check_oob(self, recipe) -> None:
        pass

    def _score_oob(self, X, y, mass) -> None:
        pass

    @staticmethod
    def _progress(trees):
        """The trees, with a bar. Waiting for kernels says nothing of how long the others take."""
        with tqdm(total=len(trees), desc="growing", unit="tree") as bar:
            for tree in trees:
                waited = compile_seconds()
                yield tree
                waited = compile_seconds() - waited
                bar.start_t, bar.last_print_t = bar.start_t + waited, bar.last_print_t + waited
                bar.update()

    # ---- asking ----

    def _table(self, X) -> Table | None:
        """The columns of a training X and their levels, if there are categories among them."""
        return frames.read(X, self.categorical_features)

    def _checked(self, X, y, table: Table | None, **more):
        """X and y to train on, as scikit-learn checks them; categories as their numbers."""
        more |= self._numbers()
        if table is None and frames.is_plain(X):
            X, y = validate_data(self, X, y, **more)
        else:
            validate_data(self, X, y, skip_check_array=True)  # names, and how many
            numbers = frames.numbers(X) if table is None else frames.encoded(table)[0]
            X, y = check_X_y(numbers, y, estimator=self, **more)
        self._require_known(X)
        return X, y

    def _require_fitted(self) -> None:
        """As `check_is_fitted`, which takes as long as to ask ten trees about a row."""
        if "forest_" not in vars(self):
            check_is_fitted(self, "forest_")

    def _check_X(self, X) -> Any:
        self._require_fitted()
        categories = getattr(self, "categories_", None)
        is_plain = categories is None and not hasattr(self, "feature_names_in_")
        if is_plain and frames.are_finite_numbers(X, self.n_features_in_):
            return X
        refuse_dicts(X)
        if categories is None and frames.is_plain(X):
            X = validate_data(self, X, reset=False, **self._numbers())
            self._require_known(X)
            return X
        if categories is None:
            frames.require_no_words(X)
        columns = frames.columns_of(X)
        validate_data(self, X, reset=False, skip_check_array=True)  # names, and how many
        X, unseen = frames.encoded(Table(columns, categories or [None] * len(columns)))
        X = check_array(X, estimator=self, input_name="X", **self._numbers())
        self._require_known(X)
        X[unseen] = np.nan  # only now: it is no error, whatever `missing` says
        return X

    def _require_known(self, X) -> None:
        """Refuse missing values, if there may be none."""
        if not self._allows_nan():
            names = getattr(self, "feature_names_in_", range(X.shape[1]))
            frames.require_known(X, names, "missing" in signature(type(self)).parameters)

    @property
    def is_categorical_(self) -> np.ndarray | None:
        """Which features are categories, (n_features,) booleans; None if there are none."""
        check_is_fitted(self, "forest_")
        categories = getattr(self, "categories_", None)
        return None if categories is None else np.array([own is not None for own in categories])

    def _numbers(self) -> dict[str, Any]:
        """What scikit-learn is to make of X."""
        return {
            "accept_sparse": ("csr", "csc") if self.takes_sparse else False,
            "dtype": "numeric",
            "ensure_all_finite": "allow-nan",  # see `_require_known`
        }

    def _allows_nan(self) -> bool:
        return not (isinstance(self.missing, str) and self.missing == "error")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_nan()
        tags.input_tags.sparse = self.takes_sparse
        tags.input_tags.categorical = self.categorical_features is not None
        return tags

    def _ends(self, X, depth=None, n_trees=None) -> np.ndarray:
        X, forest = self._check_X(X), first_trees(self.forest_, n_trees)
        n_jobs = parameters.n_threads(self.n_jobs)
        return ends(forest, X, parameters.depth_limit(depth), n_jobs)

    def _reached(self, X, depth=None, n_trees=None) -> Reached:
        """Where rows end, of an X that was checked."""
        forest, n_jobs = first_trees(self.forest_, n_trees), parameters.n_threads(self.n_jobs)
        return reached(forest, X, parameters.depth_limit(depth), n_jobs)

    def decision_path(self, X):
        """The nodes each row visits, a sparse (n_rows, n_nodes) matrix of ones; and the number of
        each tree's first node, (n_trees + 1,). A row that goes both ways visits all on its ways."""
        found, first = self._reached(self._check_X(X)), self.forest_.first_node
        paths = []
        for t in range(len(found.nodes)):
            rows, nodes, _ = found.pieces(t)
            tree = tree_of(self.forest_, t).nodes
            paths.append(visits(tree, rows, nodes - first[t], found.n_rows))
        return hstack(paths, format="csr"), first.copy()

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean share of each feature in the trees' decrease of impurity, (n_features,)."""
        check_is_fitted(self, "forest_")
        mean = importances(self.forest_, self.n_features_in_).mean(axis=0)
        return mean / mean.sum() if mean.sum() > 0 else mean

    # ---- looking at it, keeping it ----

    @property
    def grown(self) -> Grown:
        """The fitted forest as a value: what a study takes, and what draws its bags again."""
        check_is_fitted(self, "forest_")
        if not hasattr(self, "seed_"):  # a ValueError and an AttributeError, for dir() and hasattr
            raise NotFittedError("Which rows the trees saw is not known, as estimators_ was set.")
        drawn = self.recipe_, self.seed_, self.n_rows_, self.chances_
        classes = getattr(self, "classes_", None)
        grown = Grown(self._answering(), self.task, self.combine, *drawn, classes)
        chosen = getattr(self, "shrink_", None)
        return grown._replace(pruned=vars(self).get("_pruned"), shrink=chosen)

    def name_features(self, names) -> None:
        """Call the features by these names, as if the model had been fitted on a data frame.

        Parameters
        ----------
        names : (n_features,) strings
        """
        check_is_fitted(self, "forest_")
        n_features = self.n_features_in_
        if len(names) != n_features:
            raise ValueError(f"{n_features} features need as many names; got {len(names)}.")
        self.feature_names_in_ = np.array(names, dtype=object)

    def view(self, t: int, kind: type = TreeView):
        """Tree t, to print, walk and draw."""
        check_is_fitted(self, "forest_")
        classes = getattr(self, "classes_", None)
        levels = getattr(self, "categories_", None)
        return kind(tree_of(self._answering(), t), self.task, self._names(), classes, levels)

    def _names(self) -> list[str]:
        """What features are called."""
        unnamed = [f"x{j}" for j in range(self.n_features_in_)]
        return list(map(str, getattr(self, "feature_names_in_", unnamed)))

    def _answering(self) -> Forest:
        """The forest that answers: its trees as they were grown, or with what else nodes say."""
        self._require_fitted()
        choice = prunings.choice(self)
        if choice == prunings.AS_GROWN:
            return self.forest_
        return self._once("answering", lambda: prunings.answering(self), choice)

    def _once(self, name: str, make, by=()):
        """What make() gives, made once for a forest, and what else it goes by: people ask for
        `tree_.feature[i]` in loops."""
        self._require_fitted()
        made = self.__dict__.setdefault("_made", {})
        if name not in made or made[name][0] is not self.forest_ or made[name][1] != by:
            made[name] = self.forest_, by, make()
        return made[name][2]

    def __getstate__(self):
        kept = super().__getstate__().items()
        return {name: value for name, value in kept if name not in ("_made", "_pruned")}

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """Of the constructor's parameters: those that a pickle of before does not know."""
        return {name: its.default for name, its in signature(cls).parameters.items()}

    def __setstate__(self, state):
        state = self._defaults() | storage.of_today(state)
        super().__setstate__({name: storage.native(value) for name, value in state.items()})
        if "forest_" in state:
            self._require_sound()

    def _require_sound(self) -> None:
        """Raise ValueError unless what was read goes together; kernels would not notice."""
        try:
            self.__dict__.update(storage.checked(self.task, self.__dict__))
            self._check_stored()
        except ValueError as error:
            raise ValueError(f"this {type(self).__name__} is damaged: {error}") from error

    def __copy__(self):
        """Without looking at all trees again."""
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__getstate__())
        return copied

    def save(self, path) -> None:
        """Write the fitted model to one file of arrays and JSON, for `forestlab.load`."""
        check_is_fitted(self, "forest_")
        fitted = {name: value for name, value in vars(self).items() if name.endswith("_")}
        storage.write(path, type(self).__name__, self.get_params(deep=False), fitted)


class Predictor(Model):
    """One that answers for rows, with probabilities or means."""

    def _make_ready(self, X, training: Training) -> None:
        """To pack trees is 2 % of a fit, and half of a first prediction. Not for data that may be
        larger than memory, or lack values, with which packed trees are not asked."""
        super()._make_ready(X, training)
        if isinstance(X, np.ndarray) and not training.lacking:
            self._packed(step_type(X.dtype))

    def _packed(self, steps: np.dtype) -> Packed | None:
        """The trees that answer as they are asked without further choices, with such steps."""
        combine, each = parameters.combiner(self.combine, self.task), self.recipe_.classes_each
        by, n_jobs = (prunings.choice(self), combine), parameters.n_threads(self.n_jobs)
        make = partial(packed, self._answering(), self.task, combine, each, steps, n_jobs)
        return self._once(f"packed {steps.itemsize}", make, by)

    def _answer(self, X, depth=None, n_trees=None, outside=None) -> tuple[Any, np.ndarray]:
        combine = parameters.combiner(self.combine, self.task)
        if self.recipe_.monotonic:
            parameters.require_order_kept(combine, self.task)
        depth, forest = parameters.depth_limit(depth), first_trees(self._answering(), n_trees)
        n_jobs, each = parameters.n_threads(self.n_jobs), self.recipe_.classes_each
        return combined(forest, self.task, combine, X, depth, n_jobs, outside, each, self._packed)

    def predict_trees(self, X, depth=None, n_trees=None) -> np.ndarray | list[np.ndarray]:
        """Each tree's own answer: (n_trees, n_rows, n_classes) probabilities, of several targets a
        list of such; or (n_trees, n_rows) numbers, of several targets (n_trees, n_rows, n_targets).
        `depth` and `n_trees` as in `predict`.
        """
        return self._of_trees(self._check_X(X), depth, n_trees)

    def _of_trees(self, X, depth=None, n_trees=None) -> np.ndarray | list[np.ndarray]:
        found = self._reached(X, depth, n_trees)
        trees = range(len(found.nodes))
        each = [found.mixed(t, lambda nodes, rows: self._of_nodes(nodes)) for t in trees]
        return self._by_target(np.stack(each))


class Classifier(ClassifierMixin, Predictor):
    task = "classification"

    def _validated(self, X, y, table):
        X, y = self._checked(X, y, table, multi_output=True)
        if issparse(y):
            raise ValueError("y must be an array: sparse matrices of labels are not taken.")
        if y.ndim == 1 or y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        return X, y

    def _encode_targets(self, y):
        if y.ndim == 1:
            classes, codes = np.unique(y, return_inverse=True)
            return codes.reshape(-1, 1).astype(np.float64), classes
        columns = [np.unique(column, return_inverse=True) for column in y.T]
        codes = np.stack([codes for _, codes in columns], axis=1)
        return codes.astype(np.float64, order="C"), [classes for classes, _ in columns]

    def _keep_classes(self, classes) -> None:
        self.classes_ = classes
        self.n_classes_ = parameters.class_counts(classes)

    def _class_weights(self, y, targets, classes, given, recipe):
        in_forest, n_targets = hasattr(self, "bootstrap"), targets.shape[1]
        weights = parameters.class_weights(self.class_weight, in_forest, n_targets)
        if weights is None or recipe.balance_bags:
            return None
        if isinstance(weights, dict | list):
            return compute_sample_weight(weights, y)
        # As in scikit-learn: forests balance what rows weigh, trees how many there are.
        mass = given if in_forest and given is not None else np.ones(len(y))
        n_each = recipe.classes_each or (len(classes),)
        factors = [balance(labels, mass, n) for labels, n in zip(targets.T, n_each, strict=True)]
        return np.prod(factors, axis=0)

    def _answer(self, X, depth=None, n_trees=None, outside=None) -> tuple[Any, np.ndarray]:
        answers, voters = super()._answer(X, depth, n_trees, outside)
        return self._by_target(answers), voters

    def _by_target(self, answers: np.ndarray) -> np.ndarray | list[np.ndarray]:
        """Those of one target as they are; of several, which stand side by side, a list."""
        if self.n_outputs_ == 1:
            return answers
        ends = np.cumsum(self.recipe_.classes_each, dtype=np.intp)[:-1]
        return np.split(answers, ends, axis=-1)

    def _of_nodes(self, i: np.ndarray) -> np.ndarray:
        forest = self._answering()
        return forest.stats[i] / forest.nodes["weight"][i][..., None]

    def predict_proba(self, X, depth=None, n_trees=None) -> np.ndarray | list[np.ndarray]:
        """Class probabilities (n_rows, n_classes), of several targets a list of such; `depth` and
        `n_trees` as in `predict`."""
        return self._answer(self._check_X(X), depth, n_trees)[0]

    def predict_log_proba(self, X, depth=None, n_trees=None) -> np.ndarray | list[np.ndarray]:
        """Logarithms of the class probabilities."""
        found = self.predict_proba(X, depth, n_trees)
        with np.errstate(divide="ignore"):
            return [np.log(p) for p in found] if isinstance(found, list) else np.log(found)

    def predict(self, X, depth=None, n_trees=None) -> np.ndarray:
        """Classes, (n_rows,) or (n_rows, n_targets).

        Parameters
        ----------
        X : (n_rows, n_features), as `fit` takes it
        depth : answer as if grown with this `max_depth`; None: as grown
        n_trees : answer by the first so many trees, as if grown with this `n_estimators`; None: by
            all. A single tree has one.

        Both give to the bit what a fit with these parameters would, unless rows have chosen
        something of the whole: `prune`, `aggregate` and shrink="oob" go by trees as deep as they
        are, shrink="oob" and a chosen `ccp_alpha` by all of them.
        """
        return self._decided(self.predict_proba(X, depth, n_trees))

    def _decided(self, probabilities) -> np.ndarray:
        if self.n_outputs_ == 1:
            return self.classes_[probabilities.argmax(axis=1)]
        each = zip(self.classes_, probabilities, strict=True)
        return np.stack([classes[p.argmax(axis=1)] for classes, p in each], axis=1)

    def _answered(self, answers) -> AnsweredClassifier:
        return AnsweredClassifier(self._decided(answers), answers, self.classes_)

    def _keep_oob(self, answers) -> None:
        self.oob_decision_function_ = answers

    def score(self, X, y, sample_weight=None, depth=None, n_trees=None) -> float:
        """Accuracy; of several targets the share of rows of which all are right, as scikit-learn
        has it for 0 and 1. `depth` and `n_trees` as in `predict`."""
        return accuracy(y, self.predict(X, depth, n_trees), sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags


class Regressor(RegressorMixin, Predictor):
    task = "regression"
    leaf = "mean"  # of models that were pickled before there were others

    def _validated(self, X, y, table):
        require_numbers(y, type(self).__name__)
        X, y = self._checked(X, y, table, y_numeric=True, multi_output=True)
        return X, column_or_1d(y, warn=True) if y.ndim == 1 or y.shape[1] == 1 else y

    def _encode_targets(self, y):
        # A copy, as y may be read-only: to numba another type, and another kernel to compile.
        return np.array(y.reshape(len(y), -1), dtype=np.float64, order="C"), ()

    def check_scale(self, targets, weights) -> None:
        if not np.isfinite(targets).all():  # None among objects, which scikit-learn lets through
            raise ValueError("y must be finite numbers; some of them are missing.")
        parameters.require_counts(self.criterion, targets)
        parameters.require_squares(targets, weights)

    def _by_target(self, answers: np.ndarray) -> np.ndarray:
        return answers

    def _of_nodes(self, i: np.ndarray) -> np.ndarray:
        means = self._answering().stats[i][..., 1 : 1 + self.n_outputs_]
        return means[..., 0] if self.n_outputs_ == 1 else means

    def predict(self, X, depth=None, n_trees=None) -> np.ndarray:
        """Means, (n_rows,) or (n_rows, n_targets).

        Parameters
        ----------
        X : (n_rows, n_features), as `fit` takes it
        depth : answer as if grown with this `max_depth`; None: as grown
        n_trees : answer by the first so many trees, as if grown with this `n_estimators`; None: by
            all. A single tree has one.

        Both give to the bit what a fit with these parameters would, unless rows have chosen
        something of the whole: `prune`, `aggregate` and shrink="oob" go by trees as deep as they
        are, shrink="oob" and a chosen `ccp_alpha` by all of them.
        """
        return self._decided(self._answer(self._check_X(X), depth, n_trees)[0])

    def score(self, X, y, sample_weight=None, depth=None, n_trees=None) -> float:
        """R², the mean of that of several targets. `depth` and `n_trees` as in `predict`."""
        return r2_score(y, self.predict(X, depth, n_trees), sample_weight=sample_weight)

    def _decided(self, means) -> np.ndarray:
        return means[:, 0] if self.n_outputs_ == 1 else means

    def _answered(self, answers) -> AnsweredRegressor:
        return AnsweredRegressor(self._decided(answers))

    def _keep_oob(self, answers) -> None:
        self.oob_prediction_ = self._decided(answers)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
