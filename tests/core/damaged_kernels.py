"""Damages a kernel cache in every way, each in a folder and processes of its own.

    python damaged_kernels.py FOLDER EVERY

writes a line of JSON for each kind of damage, or each so many-th: what the process that meets it
and the next two say (see `said_by`).
"""

import importlib
import json
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np

from forestlab.core import jit

MODULE = "from forestlab.core.jit import kernel\n\n@kernel()\ndef double(x):\n    return x + x\n"
NOBODY = 65_534


# ---- processes ---------------------------------------------------------------------------------


def said_by(folder, prepare=lambda: None):
    """What a new process says: [4 + 4, 0.5 + 0.5, kernels found in the cache], or a signal."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(60)
        with os.fdopen(write, "w") as file:
            json.dump(_doubled(folder, prepare), file)
            file.flush()
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return json.loads(text) if code == 0 else f"ended by {code}"


def _doubled(folder, prepare):
    os.environ["NUMBA_CACHE_DIR"] = str(folder / "cache")
    jit.cache_folder.cache_clear()
    try:
        prepare()
        double = importlib.import_module("doubling").double
        answers = [double(4), double(0.5)]
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return [*answers, sum(double.stats.cache_hits.values())]


def as_nobody():
    """For the superuser no permission is wrong."""
    if os.getuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def given_to_nobody(folder):
    if os.getuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


# ---- damage to a file --------------------------------------------------------------------------


def flipped(content, rng):
    changed = bytearray(content)
    changed[rng.integers(len(changed))] ^= 1 << rng.integers(8)
    return bytes(changed)


CONTENTS = {
    "empty": lambda content, rng: b"",
    "truncated": lambda content, rng: content[: len(content) // 2],
    "one byte short": lambda content, rng: content[:-1],
    "zeroed": lambda content, rng: bytes(len(content)),
    "half zeroed": lambda content, rng: content[: len(content) // 2] + bytes(len(content) // 2),
    "random": lambda content, rng: rng.bytes(len(content)),
    "longer": lambda content, rng: content + b"more",
    "another pickle": lambda content, rng: pickle.dumps({"a": 1}),
    "pickles of what is not there": lambda content, rng: b"cnowhere\nnothing\n.",
} | {f"bit {k} flipped": lambda content, rng: flipped(content, rng) for k in range(8)}


def rewriting(change, rng):
    return lambda path: path.write_bytes(change(path.read_bytes(), rng))


def as_folder(path):
    path.unlink()
    (path / "inside").mkdir(parents=True)


def as_pipe(path):
    path.unlink()
    os.mkfifo(path)


def as_link(path, to):
    path.unlink()
    path.symlink_to(to)


PLACES = {
    "gone": lambda path: path.unlink(),
    "a folder": as_folder,
    "a pipe": as_pipe,
    "a link to nothing": lambda path: as_link(path, "nothing"),
    "a link to itself": lambda path: as_link(path, path.name),
    "forbidden": lambda path: path.chmod(0),
}


def files_of(folder, which):
    return sorted((folder / "cache").rglob(f"*.{which}"))


def swapped(folder):
    """The code of each signature in the other's file."""
    one, other = files_of(folder, "nbc")
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)


# ---- damage to folders -------------------------------------------------------------------------


def replaced_by_a_file(path):
    shutil.rmtree(path)
    path.touch()


def own_folder(folder):
    """That of the one function, in that of its source, in that of the core; without its index, so
    that it has to be written."""
    (index,) = files_of(folder, "nbi")
    index.unlink()
    return index.parent


FOLDERS = {
    "folder gone": lambda folder: shutil.rmtree(folder / "cache"),
    "folder of the function a file": lambda f: replaced_by_a_file(own_folder(f)),
    "folder of its source a file": lambda f: replaced_by_a_file(own_folder(f).parent),
    "folder of the core a file": lambda f: replaced_by_a_file(own_folder(f).parents[1]),
    "folder of the function forbidden": lambda f: own_folder(f).chmod(0),
    "folder of the function not to be written": lambda f: own_folder(f).chmod(0o500),
    "folder of the core not to be written": lambda f: own_folder(f).parents[1].chmod(0o500),
    "turn a folder": lambda f: as_folder(own_folder(f).parents[1] / "turn"),
    "code of one in the file of the other": swapped,
}


# ---- what happens meanwhile --------------------------------------------------------------------


def limited(n_bytes):
    """No file may be longer, as on a full disk: writing fails midway."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


def removed_before_code_is_read(folder):
    load = jit._Files._load_data

    def late(self, name):
        shutil.rmtree(folder / "cache")
        return load(self, name)

    jit._Files._load_data = late


def killed_before_the_index(folder):
    jit._Files._save_index = lambda self, names: os.kill(os.getpid(), signal.SIGKILL)


def nowhere_to_write(folder):
    replaced_by_a_file(folder / "cache")
    tempfile.tempdir = str(folder / "nothing")


# name: whether the cache is new, and what the first process does to itself
MEANWHILE = {
    "removed before code is read": (False, removed_before_code_is_read),
    "killed before the index is written": (True, killed_before_the_index),
    "disk full": (True, lambda folder: limited(0)),
    "disk full in the middle of the index": (True, lambda folder: limited(1_000)),
    "disk full in the middle of the code": (True, lambda folder: limited(5_000)),
    "nowhere to write": (False, nowhere_to_write),
}


# ---- all ---------------------------------------------------------------------------------------


def main(base, every):
    numba.njit(lambda x: x + x)(1)  # what numba does once a process is done before all of them
    good = base / "good"
    good.mkdir()
    (base / "doubling.py").write_text(MODULE)
    sys.path.insert(0, str(base))
    print(json.dumps(["none", [said_by(good) for _ in range(3)]]), flush=True)
    rng = np.random.default_rng(0)
    for name, damage in list(all_kinds(rng).items())[::every]:
        folder = base / name.replace(" ", "_")
        shutil.copytree(good, folder)
        first = damage(folder) or (lambda: None)
        given_to_nobody(folder)
        said = [said_by(folder, lambda first=first: (as_nobody(), first()))]
        said += [said_by(folder, as_nobody) for _ in range(2)]
        print(json.dumps([name, said]), flush=True)


def all_kinds(rng):
    """name → what damages a folder, and may return what the first process does to itself"""
    kinds = {}
    changes = {name: rewriting(change, rng) for name, change in CONTENTS.items()} | PLACES
    for which, suffix in {"index": "nbi", "code": "nbc"}.items():
        for name, change in changes.items():
            kinds[f"{which} {name}"] = lambda folder, suffix=suffix, change=change: (
                [change(path) for path in files_of(folder, suffix)] and None
            )
    for name, change in FOLDERS.items():
        kinds[name] = lambda folder, change=change: change(folder) and None
    for name, (is_new, happens) in MEANWHILE.items():
        kinds[name] = lambda folder, is_new=is_new, happens=happens: (
            (shutil.rmtree(folder / "cache") if is_new else None) or (lambda: happens(folder))
        )
    return kinds


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
