"""What is kept of runs, in MLflow, and what they came from; and the journal, until it is there."""

from forestlab.tracking.delivery import Begun, Undelivered, deliver, parent_of
from forestlab.tracking.models import load_model, save_model
from forestlab.tracking.runs import (
    NOTE,
    PARENT,
    artifact_path,
    children,
    curve,
    find_finished,
    finish,
    log_dataset,
    log_folder,
    log_numbers,
    log_text,
    process_tags,
    search,
    start,
    sweep_up,
)
from forestlab.tracking.stores import TROUBLE, Store, make_store, open_existing, open_store

__all__ = [
    "NOTE",
    "PARENT",
    "TROUBLE",
    "Begun",
    "Store",
    "Undelivered",
    "artifact_path",
    "children",
    "curve",
    "deliver",
    "find_finished",
    "finish",
    "load_model",
    "log_dataset",
    "log_folder",
    "log_numbers",
    "log_text",
    "make_store",
    "open_existing",
    "open_store",
    "parent_of",
    "process_tags",
    "save_model",
    "search",
    "start",
    "sweep_up",
]
