"""The scikit-learn estimators: a task, a size and a constructor each."""

from forestlab.model import parameters, storage
from forestlab.model.base import Classifier, Model, Regressor
from forestlab.model.density import DensityForest
from forestlab.model.documentation import documented
from forestlab.model.sizes import Ensemble, OneTree


def _store(estimator: Model, arguments: dict) -> None:
    """Keep a constructor's arguments as they came, which is all scikit-learn wants of one."""
    for name, value in arguments.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


@documented
class TreeClassifier(OneTree, Classifier):
    """A single classification tree."""

    def __init__(
        self,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        min_impurity_decrease=0.0,
        max_leaf_nodes=None,
        ccp_alpha=0.0,
        ccp_rule="best",
        ccp_cost="criterion",
        max_features=None,
        count_constant=True,
        subspace="node",
        search="exact",
        threshold=None,
        n_thresholds=None,
        ties=None,
        learner="axis",
        rho=None,
        rho_draws="features",
        missing="learned",
        categorical_features="from_dtype",
        categories="subset",
        monotonic_cst=None,
        shrink=None,
        class_weight=None,
        random_state=None,
    ):
        _store(self, locals())


@documented
class TreeRegressor(OneTree, Regressor):
    """A single regression tree."""

    def __init__(
        self,
        *,
        criterion="variance",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        min_impurity_decrease=0.0,
        max_leaf_nodes=None,
        ccp_alpha=0.0,
        ccp_rule="best",
        ccp_cost="criterion",
        max_features=None,
        count_constant=True,
        subspace="node",
        search="exact",
        threshold=None,
        n_thresholds=None,
        ties=None,
        learner="axis",
        rho=None,
        rho_draws="features",
        missing="learned",
        categorical_features="from_dtype",
        categories="subset",
        leaf="mean",
        monotonic_cst=None,
        shrink=None,
        random_state=None,
    ):
        _store(self, locals())


@documented
class ForestClassifier(Ensemble, Classifier):
    """A forest of classification trees.

    The defaults are Breiman's forest: a bootstrap, and the best of a random subset of features at
    each node. Bagging alone is ``max_features=None``; subspaces alone (Ho) are ``bootstrap=False,
    subspace="tree"``; randomised node optimisation is ``bootstrap=False, rho=…``.
    """

    _tree_type = TreeClassifier

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        min_impurity_decrease=0.0,
        max_leaf_nodes=None,
        ccp_alpha=0.0,
        ccp_rule="best",
        ccp_cost="criterion",
        max_features="sqrt",
        count_constant=True,
        subspace="node",
        bootstrap=True,
        max_samples=None,
        oob_score=False,
        search="exact",
        threshold=None,
        n_thresholds=None,
        ties=None,
        learner="axis",
        rho=None,
        rho_draws="features",
        missing="learned",
        categorical_features="from_dtype",
        categories="subset",
        monotonic_cst=None,
        prune=None,
        shrink=None,
        aggregate=False,
        aggregate_step=1.0,
        combine="average",
        class_weight=None,
        n_jobs=None,
        backend="threads",
        random_state=None,
        verbose=0,
        warm_start=False,
    ):
        _store(self, locals())


@documented
class ForestRegressor(Ensemble, Regressor):
    """A forest of regression trees.

    As in scikit-learn every node looks at all features by default, which is bagging; a forest in
    Breiman's sense has ``max_features=1/3`` or so.
    """

    _tree_type = TreeRegressor

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="variance",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        min_impurity_decrease=0.0,
        max_leaf_nodes=None,
        ccp_alpha=0.0,
        ccp_rule="best",
        ccp_cost="criterion",
        max_features=1.0,
        count_constant=True,
        subspace="node",
        bootstrap=True,
        max_samples=None,
        oob_score=False,
        search="exact",
        threshold=None,
        n_thresholds=None,
        ties=None,
        learner="axis",
        rho=None,
        rho_draws="features",
        missing="learned",
        categorical_features="from_dtype",
        categories="subset",
        leaf="mean",
        monotonic_cst=None,
        prune=None,
        shrink=None,
        aggregate=False,
        aggregate_step=1.0,
        combine="average",
        n_jobs=None,
        backend="threads",
        random_state=None,
        verbose=0,
        warm_start=False,
    ):
        _store(self, locals())


ESTIMATORS: dict[str, type[Model]] = {
    cls.__name__: cls for cls in (TreeClassifier, TreeRegressor, ForestClassifier, ForestRegressor)
}

STORED: dict[str, type[Model]] = ESTIMATORS | {"DensityForest": DensityForest}


def of_task(task: str, is_single: bool) -> type[Model]:
    """The estimator of a task, of one tree or of many; where there is none of one tree, that of
    many, of which one may be grown."""
    classes = [cls for cls in STORED.values() if cls.task == task]
    return next((cls for cls in classes if issubclass(cls, OneTree) == is_single), classes[-1])


def load(path) -> Model:
    """Read a model that `save` wrote. Nothing in the file is run; a damaged file is refused."""
    name, params, fitted = storage.read(path)
    try:
        cls = STORED[parameters.one_of("estimator", name, STORED)]
        for param in params.keys() - cls().get_params(deep=False).keys():
            raise ValueError(f"{name} has no parameter {param!r}")
        model = cls(**params)
        model.__dict__.update(storage.checked(cls.task, fitted))
        model._check_stored()
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    return model
