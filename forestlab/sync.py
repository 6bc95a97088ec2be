"""`forestlab sync [FOLDER] [--uri …]`: delivers the results that a store did not take.

They are entries of the journal (see `forestlab.tracking.journal`). Each is delivered once: also if
several processes do this at the same time, and if it is stopped in the middle and called again.
Nothing of an entry is executed. Runs of a sweep come below the sweep's run, which is made if the
store never heard of it, and which ends, with its comparison, when all of them are there. Exit
codes: 0 nothing is left, 1 something is, 2 a mistake.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forestlab import config as configs
from forestlab.config import ConfigError, TrackingConfig

if TYPE_CHECKING:  # late: MLflow
    from forestlab.tracking.journal import Said, Waiting
    from forestlab.tracking.runs import Store

BUSY = "another process is at it"
CLOSED = (
    "Its process ended before the sweep did. `forestlab sync` delivered what was kept of its runs "
    "and ended it, without a comparison."
)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    folder = Path(options.folder) if options.folder else configs.journal()
    if options.folder and not folder.is_dir():
        print(f"error: there is no folder {folder}.", file=sys.stderr)
        return 2
    if not any(next(folder.glob(place), None) for place in PLACES):  # told without MLflow
        print(f"nothing waits in {folder}")
        return 0
    try:
        if options.uri:
            configs.check_store(TrackingConfig(uri=options.uri))
    except ConfigError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return Sync(folder, options.uri).run()


PLACES = ("entry.json", "*/entry.json", "journal/*/entry.json")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="forestlab sync", description="Deliver results that a store of MLflow did not take."
    )
    where = "a journal, a home that has one, or one entry (default: the journal of this home)"
    parser.add_argument("folder", nargs="?", help=where)
    store = "the store to deliver to (default: the one that each was meant for)"
    parser.add_argument("--uri", help=store)
    return parser


class Sync:
    """One call: what was delivered, and what is left for which reasons."""

    def __init__(self, folder: Path, uri: str | None):
        self.folder, self.uri = folder, uri
        self.stores: dict[tuple[str, str], Store] = {}
        self.away: dict[str, str] = {}  # stores that do not answer, and what they say
        self.parents: dict[str, tuple[Store, str]] = {}  # of what was delivered
        self.n_delivered = 0
        self.left: list[str] = []  # why

    def run(self) -> int:
        from forestlab.run.progress import LINE, listen
        from forestlab.tracking import journal

        listen(LINE)
        paths = journal.entries(self.folder)
        for number, path in enumerate(sorted(paths, key=_is_sweep)):
            LINE.begin(f"[{number + 1}/{len(paths)}] {path.name}")
            self._one(path)
        for store, run_id in self.parents.values():
            self._close(store, run_id)
        LINE.end()
        for place in {path.parent for path in paths}:
            journal.tidy(place)
        whys = "; ".join(dict.fromkeys(self.left))
        told = f"delivered {self.n_delivered}, left {len(self.left)}"
        print(f"{told} ({whys})" if whys else told)
        return 1 if any(why != BUSY for why in self.left) else 0

    def _one(self, path: Path) -> None:
        """Deliver an entry, or tell why it stays."""
        from forestlab.masking import first_line
        from forestlab.tracking import journal

        waiting = None
        try:
            waiting = journal.claim(path)
            if waiting is None:
                self.left += [BUSY] * path.exists()
                return
            run_id = self._delivered(waiting)
        except Exception as error:  # the others go on
            if waiting:
                waiting.release()
            is_damaged = isinstance(error, journal.Damaged)
            why = f"damaged: {error}" if is_damaged else first_line(error)
            self.left.append(why)
            self._say(f"left {path}: {why}", sys.stderr)
            return
        waiting.remove()
        self.n_delivered += 1
        self._say(f"delivered {waiting.said.name} as run {run_id}", sys.stdout)

    def _delivered(self, waiting: "Waiting") -> str:
        """Deliver; returns the run's id."""
        from forestlab import tracking
        from forestlab.run import sweep
        from forestlab.tracking import delivery

        said = waiting.said
        uri = self.uri or _address(said)
        store = self._store(uri, said.experiment)
        try:
            if said.sweep is None:
                run_id = tracking.deliver(store, waiting)
                if said.parent:
                    self._remember(store, run_id, said.parent)
                return run_id
            run_id = delivery.begin(store, said, waiting.path.parent).run_id
            delivery.tell(store, run_id, said)
            why = sweep.end(store, run_id, said, waiting.path.parent)
            if why:
                raise tracking.Undelivered(why)
            return run_id
        except tracking.TROUBLE as error:
            self._see_whether_it_answers(uri, error)
            raise

    def _store(self, uri: str, experiment: str) -> "Store":
        from forestlab import tracking

        if uri in self.away:
            raise tracking.Undelivered(self.away[uri])
        place = uri, experiment
        if place not in self.stores:
            wanted = TrackingConfig(uri=uri, experiment=experiment)
            try:
                configs.check_store(wanted)
                self.stores[place] = tracking.open_store(wanted)
            except ConfigError as error:
                self.away[uri] = str(error)
                raise
        return self.stores[place]

    def _see_whether_it_answers(self, uri: str, error: Exception) -> None:
        """If not, the other entries do not wait for it: MLflow would, half a minute each time."""
        try:
            configs.check_store(TrackingConfig(uri=uri))
        except ConfigError:
            self.away[uri] = str(error).strip().split("\n")[0]

    # ---- sweeps ----

    def _remember(self, store: "Store", run_id: str, parent: dict[str, Any]) -> None:
        from forestlab.tracking import PARENT

        key = str(parent.get("key") or parent.get("run_id"))
        if key not in self.parents:
            above = store.client.get_run(run_id).data.tags.get(PARENT)
            if above:
                self.parents[key] = store, above

    def _close(self, store: "Store", run_id: str) -> None:
        """End a sweep's run whose process is known to be dead."""
        from forestlab import tracking
        from forestlab.tracking import journal, runs

        try:
            run = store.client.get_run(run_id)
            tags = run.data.tags
            if run.info.status != "RUNNING" or not runs.is_dead(tags):
                return
            if journal.waiting_below(self.folder, tags.get(journal.KEY, ""), run_id):
                return
            tracking.log_numbers(store, run_id, [], tags={tracking.NOTE: CLOSED})
            tracking.finish(store, run_id, "KILLED")
        except tracking.TROUBLE as error:
            self._say(f"the sweep's run {run_id} was not ended: {error}", sys.stderr)

    def _say(self, text: str, stream: Any) -> None:
        from forestlab.run.terminal import say

        say(text, stream)


def _is_sweep(path: Path) -> bool:
    """A sweep ends after its runs; what cannot be read is told in its turn."""
    from forestlab.tracking import journal

    try:
        return journal.read(path).sweep is not None
    except journal.Damaged:
        return False


def _address(said: "Said") -> str:
    """Of the store that an entry was meant for; if it has a password, that is not in the entry."""
    from forestlab.tracking import Undelivered, journal

    if not said.has_secret:
        return said.uri
    configured = configs.store_uri(TrackingConfig())
    if journal.place_of(configured).uri == said.uri:
        return configured
    raise Undelivered(f"its store {said.uri} has a password or options: give --uri")


if __name__ == "__main__":
    from forestlab.entry import enter

    sys.exit(enter("forestlab.sync"))
