"""What is kept of runs, in MLflow, and what they came from."""

from forestlab.tracking.runs import (
    NOTE,
    PARENT,
    artifact_path,
    children,
    curve,
    find_finished,
    finish,
    load_model,
    log_dataset,
    log_folder,
    log_model,
    log_numbers,
    log_text,
    search,
    start,
    sweep_up,
)
from forestlab.tracking.stores import Store, make_store, open_existing, open_store

__all__ = [
    "NOTE",
    "PARENT",
    "Store",
    "artifact_path",
    "children",
    "curve",
    "find_finished",
    "finish",
    "load_model",
    "log_dataset",
    "log_folder",
    "log_model",
    "log_numbers",
    "log_text",
    "make_store",
    "open_existing",
    "open_store",
    "search",
    "start",
    "sweep_up",
]
