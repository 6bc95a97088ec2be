"""One step of a fit to more rows than memory would hold, in a process of its own, whose memory is
measured: ``python large_fit.py make|encode|fit FOLDER ROWS`` prints what it took as JSON.

What is reported: `peak` is the most memory the process had resident at any time (VmHWM; ru_maxrss
would be that of the process that started it, if it had more), the mapped pages of files among
them, which the system could give up; `own` is the most that was its
own (RssAnon, looked at ten times a second).
"""

import json
import resource
import sys
import threading
import time
from pathlib import Path

COLUMNS, BLOCK = 20, 500_000
MEGABYTE = 1 << 20


def make(folder: Path, n_rows: int) -> dict:
    """A parquet file of numbers: ten columns of a few values, ten of many. Columns are stretches of
    one pool of normal numbers, as drawing 400 million would take longer than all else."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"x{j}" for j in range(COLUMNS)]
    kinds = [("f4" if j % 2 else "u1") for j in range(COLUMNS)]
    fields = [pa.field(n, pa.from_numpy_dtype(k)) for n, k in zip(names, kinds, strict=True)]
    schema = pa.schema([*fields, pa.field("y", pa.int8())])
    rng = np.random.default_rng(0)
    pool = rng.normal(size=4 * BLOCK).astype(np.float32)
    few = (np.clip(np.round(8 * pool), -100, 100) + 100).astype("u1")
    how = {"compression": "NONE", "use_dictionary": False, "write_statistics": False}
    with pq.ParquetWriter(folder / "rows.parquet", schema, **how) as writer:
        for start in range(0, n_rows, BLOCK):
            n = min(BLOCK, n_rows - start)
            begin = rng.integers(0, len(pool) - n, COLUMNS + 1)
            *begins, at = begin
            X = [(pool if j % 2 else few)[i : i + n] for j, i in enumerate(begins)]
            signal = X[1] + X[3] * X[5] + (X[0] - np.float32(100)) / 8 + pool[at : at + n]
            y = (signal > -1).view(np.int8) + (signal > 1).view(np.int8)
            writer.write_table(pa.table([*X, y], schema=schema))
    return {"bytes": (folder / "rows.parquet").stat().st_size}


def encode(folder: Path, n_rows: int) -> dict:
    from forestlab import encode_file

    encoded = encode_file(folder / "rows.parquet", folder / "codes", target="y")
    assert encoded.shape == (n_rows, COLUMNS)
    return {"bytes": sum(file.stat().st_size for file in (folder / "codes").iterdir())}


def fit(folder: Path, n_rows: int) -> dict:
    from forestlab import ForestClassifier, open_encoded, read_blocks

    encoded = open_encoded(folder / "codes")
    forest = ForestClassifier(
        10, search="histogram", min_samples_leaf=100, n_jobs=2, random_state=0
    ).fit(encoded)
    block = next(read_blocks(folder / "rows.parquet"))
    X, y = block.drop_columns(["y"]), block.column("y").to_numpy()
    forest.save(folder / "large.forest")
    size = (folder / "large.forest").stat().st_size
    return {"bytes": size, "nodes": len(forest.forest_.nodes), "accuracy": forest.score(X, y)}


def _status(name: str) -> int:
    """Bytes, as the system tells of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])


def _watch(found: list[int], done: threading.Event) -> None:
    while not done.wait(0.1):
        found[0] = max(found[0], _status("RssAnon"))


def main() -> None:
    step, folder, n_rows = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    own, done, start = [0], threading.Event(), time.perf_counter()
    threading.Thread(target=_watch, args=(own, done), daemon=True).start()
    found = {"make": make, "encode": encode, "fit": fit}[step](folder, n_rows)
    done.set()
    used = resource.getrusage(resource.RUSAGE_SELF)
    peak, cpu = _status("VmHWM"), round(used.ru_utime + used.ru_stime, 1)
    seconds = round(time.perf_counter() - start, 1)
    told = {"seconds": seconds, "peak": peak // MEGABYTE, "own": own[0] // MEGABYTE}
    print(json.dumps({"step": step, "cpu": cpu, **told, **found}))


if __name__ == "__main__":
    main()
