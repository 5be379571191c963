"""Pools that do not fit into memory: the best points of very many, and how scoring grows with the workers.

    python benchmarks/pools.py --rows 100000000 --workers 2             # the best 100 of 10^8 points of 20 inputs
    python benchmarks/pools.py --rows 4000000 --workers 1 2             # throughput of one worker and of two

The points are a Dask array of random chunks, made anew for every pass and never stored; with ``--files`` they are
Parquet files in a folder of their own, read by threads. Each number of workers runs in a process of its own. Memory is
that of the process and all its workers together, sampled while it runs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import ridgeway as rw

NOISE = 0.05


def belief_of(n: int, D: int, modes: int, seed: int = 0) -> Any:
    """A belief about a function of two directions.

    Its best mode stands for all ``modes``: with equal weights they cost what so many different ones would.
    """
    rng = np.random.default_rng(seed)
    R = np.linalg.qr(rng.standard_normal((D, 2)))[0].T * 1.5
    X = rng.uniform(-1, 1, (n, D))
    U = X @ R.T
    y = np.sin(2.0 * U[:, 0]) + 0.5 * U[:, 1] ** 2 + NOISE * rng.standard_normal(n)
    found = rw.fit(X, y, rw.Linear(2), bounds=(-1, 1), n_starts=8)
    best = max(found.components, key=lambda component: component.weight)
    return replace(found, components=tuple(replace(best, weight=1.0 / modes) for _ in range(modes)))


@contextmanager
def peak_memory() -> Iterator[list[float]]:
    """The most memory in MB that this process and those it started have at once, sampled ten times a second."""
    import psutil

    peak, done = [0.0], threading.Event()

    def sample() -> None:
        own = psutil.Process()
        while not done.wait(0.1):
            total = 0
            for process in (own, *own.children(recursive=True)):
                try:
                    total += process.memory_info().rss
                except psutil.Error:  # it has just ended
                    continue
            peak[0] = max(peak[0], total / 1e6)

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def cpu_seconds() -> float:
    """Of this process and those it started, which still run."""
    import psutil

    own = psutil.Process()
    times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return float(sum(t.user + t.system for t in times))


@contextmanager
def cluster_of(workers: int) -> Iterator[None]:
    """Dask workers, each a process with one thread."""
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        yield


def random_points(rows: int, D: int, chunk: int) -> Any:
    """Points that are made where they are needed."""
    import dask.array as da

    return da.random.default_rng(1).uniform(-1.0, 1.0, (rows, D), chunks=(chunk, D))


def write_files(folder: Path, rows: int, D: int, chunk: int) -> None:
    """The points of a pool as Parquet files of one chunk each."""
    import pyarrow
    import pyarrow.parquet as parquet

    for i, start in enumerate(range(0, rows, chunk)):
        X = np.random.default_rng([1, i]).uniform(-1.0, 1.0, (min(chunk, rows - start), D))
        table = pyarrow.table({f"x{j}": X[:, j] for j in range(D)})
        parquet.write_table(table, folder / f"{i:05d}.parquet", row_group_size=2**18)


def run(options: argparse.Namespace, workers: int) -> dict[str, Any]:
    """Open the pool and choose: seconds for each, rows a second, and memory."""
    belief = belief_of(options.observations, options.inputs, options.modes)
    with tempfile.TemporaryDirectory() as folder, peak_memory() as peak:
        if options.files:
            write_files(Path(folder), options.rows, options.inputs, options.chunk)
        with nullcontext() if options.files else cluster_of(workers):
            started = time.perf_counter()
            if options.files:
                pool = rw.Pool(folder, names=[f"x{j}" for j in range(options.inputs)], n_jobs=workers)
            else:
                pool = rw.Pool(random_points(options.rows, options.inputs, options.chunk))
            opened, used = time.perf_counter() - started, cpu_seconds()
            found = rw.acquisition.information.choose(belief, pool, options.best)
            chosen, used = time.perf_counter() - started - opened, cpu_seconds() - used
    return {
        "workers": workers,
        "rows": options.rows,
        "modes": options.modes,
        "seconds to open": round(opened, 1),
        "seconds to choose": round(chosen, 1),
        "rows a second": round(options.rows / chosen),
        "rows a CPU second": round(options.rows / used),
        "MB": round(peak[0]),
        "best scores": [round(float(score), 4) for score in found.scores[:3]],
        "rows chosen": found.indices[:3].tolist(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default, text in (
        ("rows", 4_000_000, "points of the pool"),
        ("inputs", 20, "inputs of a point"),
        ("chunk", 250_000, "rows of a chunk"),
        ("observations", 80, "that the belief rests on"),
        ("modes", 3, "of the belief"),
        ("best", 100, "points to choose"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{text} (default {default:,})")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="numbers of workers to compare")
    parser.add_argument("--files", action="store_true", help="Parquet files and threads instead of Dask")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)  # the number of workers of this very process
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(run(options, options.one)))
        return
    # Where BLAS had threads of its own, one worker would be as fast as two.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    results = []
    for workers in options.workers:
        command = [sys.executable, __file__, *sys.argv[1:], "--one", str(workers)]
        output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
        results.append(json.loads(output.splitlines()[-1]))
        print(json.dumps(results[-1]), flush=True)
    if len(results) > 1:
        ratio = results[-1]["rows a second"] / results[0]["rows a second"]
        print(
            f"{results[-1]['workers']} workers score {ratio:.2f} times as many rows a second as {results[0]['workers']}"
        )


if __name__ == "__main__":
    main()
