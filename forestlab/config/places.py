"""Where things are: the configs, what is written, and the store that runs are logged in."""

import os
import tempfile
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path

from forestlab.config.keys import ConfigError, TrackingConfig

SQLITE = "sqlite:///"
STORES = (SQLITE, "http://", "https://", "postgresql", "mysql", "mssql", "databricks")


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
    """Where runs are logged."""
    given = tracking.uri or os.environ.get("MLFLOW_TRACKING_URI")
    if given and given.startswith(f"{SQLITE}~"):
        return SQLITE + os.path.expanduser(given.removeprefix(SQLITE))
    return given or f"{SQLITE}{home() / 'mlflow.db'}"


def check_store(tracking: TrackingConfig) -> None:
    """Raise ConfigError for a store that is none, or for a server that does not answer."""
    uri = store_uri(tracking)
    if not uri.startswith(STORES):
        raise ConfigError(f"tracking.uri must begin with one of {', '.join(STORES)}; got {uri!r}.")
    if uri.startswith("http"):
        try:
            with urllib.request.urlopen(f"{uri.rstrip('/')}/health", timeout=10):
                pass
        except urllib.error.HTTPError as error:
            if error.code not in (401, 403):  # MLflow itself will show who asks
                raise ConfigError(f"tracking.uri: {uri} answers {error}.") from error
        except (OSError, ValueError, HTTPException) as error:
            raise ConfigError(
                f"tracking.uri: no MLflow server answers at {uri}: {error}"
            ) from error


def require_store(tracking: TrackingConfig) -> None:
    """Raise ConfigError unless runs can be logged, as far as that can be known without MLflow."""
    check_store(tracking)
    if not tracking.experiment.strip():
        raise ConfigError(f"tracking.experiment must be a name; got {tracking.experiment!r}.")
    uri = store_uri(tracking)
    if uri.startswith("sqlite:///"):
        path = Path(uri.removeprefix("sqlite:///").partition("?")[0])
        _require_writable(path.parent, "choose another tracking.uri")
        try:
            with open(path, "rb+") as file:
                begins = file.read(6)
        except FileNotFoundError:
            return
        except OSError as error:
            raise ConfigError(f"tracking.uri must name a file; got {uri!r}: {error}.") from error
        if begins not in (b"", b"SQLite"):
            raise ConfigError(f"tracking.uri: {path} is there and is not a database of SQLite.")


def require_home() -> None:
    """Raise ConfigError unless home can be written to."""
    _require_writable(home(), "set FORESTLAB_HOME")


def _require_writable(folder: Path, advice: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{folder} cannot be written ({reason}): {advice}.") from error
