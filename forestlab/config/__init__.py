"""What a run is made of: the schema that checks every key and type (`keys`), where things are
(`places`) and whether they can be used (`reach`), and what a composed config says (`said`).

Hydra composes conf/*.yaml over the schema, so a mistyped key or a wrong type is an error. The
*fingerprint* of a config names the result it gives: it covers the keys that may change a number,
and of those only the ones that differ from the schema's default, so that an option added later
does not change the fingerprint of old runs.

The groups of core.options.OPTIONS, `search` and `learner`, are no classes here: their nodes are
made from the values' fields. A config lists the options of its choice alone, with its defaults.

A default that is changed does not show in fingerprints either. So a logged run stands for a config
only if it has its fingerprint and its logged parameters *agree*, default or not, in every key that
may change a number. A key that the run did not know was added later, with a default by which
nothing changed: it agrees.
"""

from forestlab.config.keys import (
    AUTO,
    DOCUMENTS,
    GROUPS,
    SEEDS,
    STUDIES,
    TOP,
    Config,
    ConfigError,
    CriterionConfig,
    DatasetConfig,
    ModelConfig,
    PruningConfig,
    StudyConfig,
    TaskConfig,
    TrackingConfig,
    schema,
)
from forestlab.config.places import (
    DATABASES,
    checkout,
    conf_folder,
    file_of,
    home,
    journal,
    own_store,
    store_uri,
)
from forestlab.config.reach import CONNECT, asked, check_store, require_home, require_store
from forestlab.config.said import (
    NO_RESULT,
    agree,
    chosen,
    column_names,
    data_name,
    deciding,
    dotted,
    fingerprint,
    flat,
    flat_defaults,
    param_text,
    quieten,
    register,
    settled,
    typed,
    value_of,
)

__all__ = [
    "AUTO",
    "CONNECT",
    "DATABASES",
    "DOCUMENTS",
    "GROUPS",
    "NO_RESULT",
    "SEEDS",
    "STUDIES",
    "TOP",
    "Config",
    "ConfigError",
    "CriterionConfig",
    "DatasetConfig",
    "ModelConfig",
    "PruningConfig",
    "StudyConfig",
    "TaskConfig",
    "TrackingConfig",
    "agree",
    "asked",
    "check_store",
    "checkout",
    "chosen",
    "column_names",
    "conf_folder",
    "data_name",
    "deciding",
    "dotted",
    "file_of",
    "fingerprint",
    "flat",
    "flat_defaults",
    "home",
    "journal",
    "own_store",
    "param_text",
    "quieten",
    "register",
    "require_home",
    "require_store",
    "schema",
    "settled",
    "store_uri",
    "typed",
    "value_of",
]
