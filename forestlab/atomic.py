"""Files and folders that appear whole or not at all, locks among processes, and full disks."""

import errno
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

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
    written = path.with_name(f"{PREFIX}{uuid.uuid4().hex[:8]}-{path.name}")
    written.mkdir()
    try:
        yield written
        os.rename(written, path)
    except BaseException:
        shutil.rmtree(written, ignore_errors=True)
        raise


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Have a lock to oneself, among the processes and threads that ask for the same file; it is
    made, and stays there. A process that ends, however it does, has let go. Windows has no such
    lock, and nothing is waited for.
    """
    with open(path, "a") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
        yield


def is_full(error: BaseException | None) -> bool:
    """Whether something failed for want of room on a disk: by what the system said, or SQLite."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        if "database or disk is full" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False
