"""Where things are: the configs, what is written, and the store that runs are logged in."""

import os
from importlib.util import find_spec
from pathlib import Path

from forestlab.config.keys import TrackingConfig
from forestlab.masking import hide, real

SQLITE = "sqlite:///"
DATABASES = ("postgresql", "mysql", "mssql")  # servers to which runs go without one of MLflow
DRIVERS = {"postgresql": ("psycopg2", "psycopg"), "mysql": ("pymysql",)}
STORES = (SQLITE, "http://", "https://", *DATABASES, "databricks")


def conf_folder() -> Path:
    """conf/ inside the installed package, or else that of the checkout."""
    package = Path(__file__).resolve().parent.parent
    return next(folder for folder in (package / "conf", package.parent / "conf") if folder.is_dir())


def home() -> Path:
    """Where everything is written: FORESTLAB_HOME, else outputs/ of the checkout or the folder."""
    given = os.environ.get("FORESTLAB_HOME")
    if given:
        return Path(given).expanduser().resolve()
    return (checkout() or Path.cwd()) / "outputs"


def journal() -> Path:
    """Where results are until the store has them."""
    return home() / "journal"


def checkout() -> Path | None:
    """The folder of forestlab's own checkout, if this is one."""
    root = Path(__file__).resolve().parent.parent.parent
    return root if (root / "pyproject.toml").is_file() and (root / "conf").is_dir() else None


def store_uri(tracking: TrackingConfig) -> str:
    """Where runs are logged: the real address, which nobody is shown."""
    given = tracking.uri or os.environ.get("MLFLOW_TRACKING_URI")
    given = _with_driver(real(hide(given))) if given else None
    if given and given.startswith(f"{SQLITE}~"):
        return SQLITE + os.path.expanduser(given.removeprefix(SQLITE))
    return given or own_store()


def _with_driver(uri: str) -> str:
    """The address, with the driver of its database that is installed: which one SQLAlchemy takes if
    none is named depends on its version."""
    kind, _, rest = uri.partition("://")
    there = (driver for driver in DRIVERS.get(kind, ()) if find_spec(driver))
    driver = next(there, None)
    return f"{kind}+{driver}://{rest}" if driver else uri


def own_store() -> str:
    """Where runs are logged if nobody says otherwise."""
    return f"{SQLITE}{home() / 'mlflow.db'}"


def file_of(uri: str) -> Path | None:
    """The file of a store of SQLite; None of another."""
    return Path(uri.removeprefix(SQLITE).partition("?")[0]) if uri.startswith(SQLITE) else None
