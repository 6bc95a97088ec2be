"""Following jobs in other processes: each that is done is told, and each that is lost is found out.

A launcher that loses a process may end all others, as that of joblib does. So it is seen which of
them ends first: that one's job is *lost*, while those that ended after it are to be done again.
"""

import os
import select
import threading
import time
from contextlib import suppress

from forestlab import processes
from forestlab.run import progress, terminal
from forestlab.run.batch import Batch
from forestlab.run.claims import CLAIMED
from forestlab.run.job import Result
from forestlab.run.ledger import Begun, Done, Ledger

TICK = 0.25  # seconds between two looks at the ledger
LATELY = 30.0  # seconds; a process that ended before that has not broken the launcher


class Following:
    """What is known of the jobs of a ledger, in a thread that looks at it, and tells."""

    def __init__(self, ledger: Ledger, batch: Batch, fall_together: bool):
        """`fall_together`: a launcher that loses a process ends the others."""
        self.ledger, self.batch, self.fall_together = ledger, batch, fall_together
        self.done: dict[int, Done] = {}
        self._before, self._at_work = len(batch.results), (0, 0)
        self._lock = threading.RLock()
        self._watch = terminal.Watch(batch.n_jobs)
        self._ends = threading.Event()
        self._thread = threading.Thread(
            target=self._follow, name="forestlab-following", daemon=True
        )
        self._guards = _Guards()

    def __enter__(self) -> "Following":
        progress.listen(progress.LINE)
        progress.LINE.begin(f"{self.batch.n_jobs} jobs")
        progress.LINE.tell("starting processes")
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.set()
        self._thread.join()
        self._guards.close()

    def results(self) -> list[Result]:
        """Of the jobs that are done, in their order."""
        found = (self.done[number].result for number in sorted(self.done))
        return [result for result in found if result.status != CLAIMED]

    def under_way(self) -> dict[int, Begun]:
        with self._lock:
            return self.ledger.begun(self.done)

    # ---- looking ----

    def _follow(self) -> None:
        while not self._ends.is_set():
            begun = self.look()
            self._guards.add([job.process for job in begun.values()])
            self._guards.wait(TICK)

    def look(self) -> dict[int, Begun]:
        """Take up what is new in the ledger; the jobs that were begun and are not done."""
        with self._lock:
            for number, done in sorted(self.ledger.done(self.done).items()):
                self.take(number, done)
            begun = self.under_way()
            at_work = (self._n_done(), len(begun))
            if begun and at_work != self._at_work:
                self._at_work = at_work
                progress.LINE.begin(f"{at_work[0]} of {self.batch.n_jobs} runs are done")
                progress.LINE.tell(f"{at_work[1]} at work")
            return begun

    def take(self, number: int, done: Done) -> None:
        """What came of a job, told to who watches."""
        with self._lock:
            self.done[number] = done
            if done.error:
                terminal.say_failed(done.error)
            if done.result.status != CLAIMED:
                self._watch.started = time.monotonic() - done.seconds
                self._watch.done(done.result, self._n_done())

    def _n_done(self) -> int:
        return self._before + sum(d.result.status != CLAIMED for d in self.done.values())

    def forget(self, number: int) -> None:
        """Have a job done again."""
        with self._lock:
            self.ledger.forget(number)
            self.done.pop(number, None)

    # ---- what is lost ----

    def settle(self, waits: bool) -> None:
        """See to the jobs that were begun and not done, once a launcher is through with them or
        broke; if it broke, others of them may still be at work, and are waited for."""
        begun = self.look()
        while waits and any(self.ledger.lives(n, job.process) for n, job in begun.items()):
            time.sleep(TICK)
            begun = self.look()
        fallen = self._guards.fallen() if self.fall_together else set()
        for number, job in begun.items():
            if fallen and job.process not in fallen:
                self.forget(number)
            else:
                line = f"{job.name} was lost: its process died"
                self.take(number, Done(Result(job.name, "KILLED", None, {}), 0.0, line))
        if begun and self.batch.parent is not None:
            self.batch.parent.sweep_up()


class _Guards:
    """Sees which of some processes end first; where the system does not tell, none did."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}  # a file for each process, by its mark
        self._ended: list[tuple[float, set[str]]] = []  # when, and who at once
        self._poll = select.poll() if hasattr(select, "poll") else None

    def add(self, marks: list[str]) -> None:
        for mark in set(marks) - set(self._numbers):
            if self._poll is None or not hasattr(os, "pidfd_open"):
                return
            with suppress(OSError):
                number = os.pidfd_open(processes.number(mark))
                if not processes.is_alive(mark):  # of another machine, or just gone
                    os.close(number)
                    continue
                self._numbers[mark] = number
                self._poll.register(number, select.POLLIN)

    def wait(self, seconds: float) -> None:
        if self._poll is None or not self._numbers:
            time.sleep(seconds)
            return
        ended = [number for number, _ in self._poll.poll(1000 * seconds)]
        marks = {mark for mark, number in self._numbers.items() if number in ended}
        if marks:
            self._ended.append((time.monotonic(), marks))
        for mark in marks:
            self._poll.unregister(self._numbers[mark])
            os.close(self._numbers.pop(mark))

    def fallen(self) -> set[str]:
        """Those that ended first, lately and since this was asked last."""
        ended, self._ended = self._ended, []
        lately = [marks for then, marks in ended if time.monotonic() - then < LATELY]
        return lately[0] if lately else set()

    def close(self) -> None:
        for number in self._numbers.values():
            os.close(number)
