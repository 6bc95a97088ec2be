"""What the jobs of a process share, handed to each of them."""

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

from forestlab.config import Config, TrackingConfig, check_store, store_uri
from forestlab.run.making import Job, Shelf, normalised


class Shared:
    """Data that are loaded, stores that are open, and a thread beside the one that fits."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        self._stores: dict[tuple[str, str], Any] = {}
        self._failed: set[tuple[str, str]] = set()
        self._swept_up: list[Any] = []

    def job(self, config: Config, name: str = "", experiment: str | None = None) -> Job:
        """A config made ready to run; raises what is wrong with its data."""
        return Job(normalised(config), self.shelf.data(config), name, experiment)

    def store(self, tracking: TrackingConfig) -> Any:
        """The store where runs are logged, opened at the first call. One that has failed is asked
        first whether it is there: MLflow would wait half a minute for it, in each job anew."""
        from forestlab.tracking import open_store

        place = store_uri(tracking), tracking.experiment
        if place in self._failed:
            check_store(tracking)
            self._failed.discard(place)
        if place not in self._stores:
            self._stores[place] = open_store(tracking)
        return self._stores[place]

    def failed(self, tracking: TrackingConfig) -> None:
        """A store did not take what it was sent."""
        self._failed.add((store_uri(tracking), tracking.experiment))

    def swept_up(self, tracking: TrackingConfig) -> Any:
        """The same store, where runs of processes that are dead do not seem to run any more."""
        from forestlab.tracking import sweep_up

        store = self.store(tracking)
        if store not in self._swept_up:
            self._swept_up.append(store)
            sweep_up(store)
        return store

    @cached_property
    def background(self) -> ThreadPoolExecutor:
        """One thread, so that what is handed to it is done in order."""
        return ThreadPoolExecutor(1, "forestlab-tracking")
