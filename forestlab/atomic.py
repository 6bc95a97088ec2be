"""Files and folders that appear whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = ".forestlab-"  # of what is not whole yet


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """The path of a new file, which at the end takes the place of `path`.

    If something is raised on the way, what was there stays, and nothing of the new file does. If
    `path` is a link, it stays one, and what it leads to is replaced.
    """
    path = path.resolve()
    with tempfile.TemporaryDirectory(
        dir=path.parent, prefix=PREFIX, ignore_cleanup_errors=True
    ) as folder:
        # Only the folder is private: the file gets the permissions that any new file would.
        written = Path(folder, path.name)
        yield written
        os.replace(written, path)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """The path of a new folder, which at the end stands at `path`, where there is nothing yet, or
    an empty folder; anything else there is left as it is, and OSError raised.

    If something is raised on the way, nothing of the new folder stays.
    """
    path = path.absolute()
    with tempfile.TemporaryDirectory(
        dir=path.parent, prefix=PREFIX, ignore_cleanup_errors=True
    ) as folder:
        written = Path(folder, path.name)
        written.mkdir()
        yield written
        os.rename(written, path)
