"""The line at a terminal that says what happens now.

Whoever is at work tells the logger `forestlab.now`, and the core tells that of `forestlab` what a
kernel is compiled for. A terminal shows the last that was told, with the seconds it takes, on one
line, which goes when something else is printed. Elsewhere, as in a log, there is no such line.
"""

import logging
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from forestlab.run.tables import told_apart

NOW = "forestlab.now"
TICK = 0.5  # seconds
QUICK = 2.0  # seconds that are not worth a number
SHORTEST = 12  # letters of a title
COMPILING = "compiling a kernel"  # begins what the core says of it, after its own name


class Line:
    """What a job is called, what is done for it, and since when."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._title = self._what = self._compiling = ""
        self._since = 0.0
        self._is_shown = False
        self._ticking: threading.Event | None = None

    # ---- what is told ----

    def begin(self, title: str = "") -> None:
        """A job, or what comes before the first."""
        with self._lock:
            self._title, self._what, self._since = title, "", time.monotonic()
            if self._ticking is None and is_terminal():
                self._ticking = threading.Event()
                threading.Thread(target=self._tick, args=(self._ticking,), daemon=True).start()

    def tell(self, what: str) -> None:
        with self._lock:
            self._what, self._since = what, time.monotonic()
            self._draw()

    def compiling(self, what: str) -> None:
        """What a kernel is compiled for; "" once it is there."""
        with self._lock:
            self._compiling, self._since = what, time.monotonic()
            self._draw()

    @property
    def is_compiling(self) -> bool:
        return bool(self._compiling)

    def counted(
        self, items: Iterable, doing: str, unit: str, waited: Callable[[], float]
    ) -> Iterator:
        """The items, while the line counts those that are done and says how long the others take.

        `waited` is how long kernels were waited for, which says nothing of the others.
        """
        todo = list(items)
        start, before = time.monotonic(), waited()
        for done, item in enumerate(todo):
            took = time.monotonic() - start - (waited() - before)
            left = took * (len(todo) - done) / done if done else 0.0
            self.tell_count(f"{doing} {done}/{len(todo)} {unit}", left)
            yield item
        self.tell_count(f"{doing} {len(todo)}/{len(todo)} {unit}", 0.0)

    def tell_count(self, what: str, left: float) -> None:
        with self._lock:
            if not self._what.startswith(what.split(" ")[0]):
                self._since = time.monotonic()
            self._what = f"{what}, {duration(left)} left" if left > QUICK else what
            # Not drawn: trees may be done in thousandths of a second, and it ticks.

    def end(self) -> None:
        """Nothing is done any more."""
        with self._lock:
            self.clear()
            if self._ticking is not None:
                self._ticking.set()
            self._ticking, self._title, self._what, self._compiling = None, "", "", ""

    # ---- what is seen ----

    def clear(self) -> None:
        """Take the line away, before something is printed in its place."""
        with self._lock:
            if self._is_shown:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
                self._is_shown = False

    def _tick(self, ends: threading.Event) -> None:
        while not ends.wait(TICK):
            with self._lock:
                if not ends.is_set():
                    self._draw()

    def _draw(self) -> None:
        if self._ticking is None:
            return
        text = self.text(time.monotonic(), shutil.get_terminal_size().columns - 1)
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()
        self._is_shown = True

    def text(self, now: float, width: int) -> str:
        """What the line says; the title gives way."""
        seconds = now - self._since
        what = self._compiling or self._what
        since = f" ({duration(seconds)})" if what and seconds >= QUICK else ""
        (title,) = told_apart([self._title], max(width - len(what + since) - 2, SHORTEST))
        return ": ".join(word for word in (title, what + since) if word)[:width]


class Told(logging.Handler):
    """Takes what is told to a logger to the line."""

    def __init__(self, line: Line):
        super().__init__()
        self.line = line

    def emit(self, record: logging.LogRecord) -> None:
        self.line.tell(record.getMessage())


class Printed(logging.StreamHandler):
    """Prints warnings; at a terminal those that a kernel is compiled are on the line instead."""

    def __init__(self, line: Line):
        super().__init__()
        self.line = line

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage().removeprefix("forestlab: ")
        if is_terminal() and text.startswith(COMPILING):
            self.line.compiling(text.replace(" (seconds, once)", ", once"))
            return
        if record.levelno >= logging.WARNING:
            self.line.clear()
            super().emit(record)


def is_terminal() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def duration(seconds: float) -> str:
    """3 s, 2 min 5 s, 1 h 2 min."""
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def listen(line: Line) -> None:
    """Have the line hear of what is done. Called by each job, as Hydra sets logging up anew."""
    _only(logging.getLogger("forestlab"), Printed(line))
    if is_terminal():
        now = logging.getLogger(NOW)
        now.setLevel(logging.INFO)
        _only(now, Told(line))
        _hear_of_compiling(line)


def _only(logger: logging.Logger, handler: logging.Handler) -> None:
    """The handler in the place of one of its kind that is there."""
    logger.handlers = [h for h in logger.handlers if type(h) is not type(handler)] + [handler]


@cache  # once
def _hear_of_compiling(line: Line) -> None:
    """Have the line know when a kernel is there, and of those that the core says nothing of. What a
    kernel is made of is compiled in between."""
    from numba.core import event as events  # late: numba

    class Compiling(events.Listener):
        depth = 0

        def on_start(self, event: Any) -> None:
            if not self.depth and not line.is_compiling:
                line.compiling(f"{COMPILING}, once")
            self.depth += 1

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if not self.depth:
                line.compiling("")

    events.register("numba:compile", Compiling())


LINE = Line()  # of this process: it has one terminal
