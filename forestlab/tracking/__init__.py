"""What is kept of runs, in MLflow, and what they came from."""

from forestlab.tracking.runs import (
    PARENT,
    Store,
    children,
    curve,
    find_finished,
    finish,
    log_dataset,
    log_folder,
    log_model,
    log_numbers,
    log_text,
    open_existing,
    open_store,
    search,
    start,
    sweep_up,
)

__all__ = [
    "PARENT",
    "Store",
    "children",
    "curve",
    "find_finished",
    "finish",
    "log_dataset",
    "log_folder",
    "log_model",
    "log_numbers",
    "log_text",
    "open_existing",
    "open_store",
    "search",
    "start",
    "sweep_up",
]
