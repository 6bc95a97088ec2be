"""The first command on a machine, in less time: another process compiles what comes after the fit.

A command that finds no kernels compiles for three times as long as it works, and the kernel that
grows trees takes half of that. Meanwhile another process fits and studies the same data, with small
trees that it grows uncompiled; so it compiles the kernels that the study asks for, and keeps them
where this process looks for them. What goes wrong there is nobody's concern: who finds no kernel
compiles it.
"""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from joblib import cpu_count
from omegaconf import OmegaConf

from forestlab.core import jit
from forestlab.core.criteria import CRITERIA
from forestlab.core.grow import KernelParts, make_grow
from forestlab.core.leaves import LEAVES
from forestlab.core.own import uncompiled

if TYPE_CHECKING:
    from forestlab.run.making import Job

MOST_NUMBERS = 500_000  # of data: larger ones take longer to train on than kernels to compile
N_TREES, DEPTH = 5, 2  # of fewer trees little can be told of uncertainty

_begun: list[subprocess.Popen] = []  # whose pipes are to stay open


def begin(job: "Job") -> subprocess.Popen | None:
    """Start the other process, if a job of this kind is the first for these kernels. It ends with
    this one, or before."""
    config, data = job.config, job.data
    if config.study.name == "off" or config.plugins or data.X.size > MOST_NUMBERS:
        return None
    if jit.config.DISABLE_JIT or cpu_count() < 2:
        return None
    kind = data.task, config.model.combine, config.model.missing, config.study.name
    if not _is_first("-".join(map(str, kind))):
        return None
    plain = OmegaConf.to_container(config, resolve=True)
    with suppress(OSError):
        # -P: a module of the working folder is not taken for one that is imported.
        command, nothing = [sys.executable, "-P", "-m", __name__], subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing)
        _begun.append(process)
        threading.Thread(target=_tell, args=(process, (plain, data)), daemon=True).start()
        return process
    return None


def _is_first(kind: str) -> bool:
    """Note that a job of that kind is done, beside the kernels; return whether that is new."""
    try:
        folder = jit.cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / f"rehearsed-{kind}", "x"):
            return True
    except OSError:
        return False


def _tell(process: subprocess.Popen, job: tuple) -> None:
    """Hand the job over; the pipe stays open for as long as this process lives."""
    pipe: Any = process.stdin
    with suppress(OSError, pickle.PicklingError):
        told = pickle.dumps(job)
        pipe.write(len(told).to_bytes(8, "big") + told)
        pipe.flush()


# ---- the other process -------------------------------------------------------------------------


def slow_grower(parts: KernelParts) -> Callable:
    """In the place of `grow_kernel`."""
    return uncompiled(make_grow(CRITERIA[parts.criterion], LEAVES[parts.leaf], parts))


def main() -> None:
    from forestlab.forest import desk
    from forestlab.run.making import Job
    from forestlab.run.measure import fit_and_study

    told = sys.stdin.buffer
    plain, data = pickle.loads(told.read(int.from_bytes(told.read(8), "big")))
    threading.Thread(target=_end_with_it, daemon=True).start()
    desk.grow_kernel = slow_grower
    small = {"n_estimators": N_TREES, "max_depth": DEPTH, "n_jobs": 1}
    config: Any = OmegaConf.create(plain | small)
    fit_and_study(Job(config, data), show=False)


def _end_with_it() -> None:
    """The pipe ends when the process does that holds its other end."""
    os.read(sys.stdin.fileno(), 1)  # not by the reader: it would be locked at the end
    os._exit(1)


if __name__ == "__main__":
    main()
