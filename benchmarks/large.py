"""Many rows: cost and error as rows grow, the finite basis against the exact process, and against other regressions.

    python benchmarks/large.py --keep large.jsonl --write docs/performance.md exact growth agreement rivals dask

``--write`` writes tables of all results that are kept, those of earlier runs too; with ``tables`` nothing is measured.

Every measurement runs in a process of its own, so that its memory is its own, and is kept as soon as it is made.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import ridgeway as rw
from ridgeway.experiments import pages

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.results import measure

NOISE = 0.1
N_TEST = 4000


def function(U: np.ndarray) -> np.ndarray:
    """A function of one to five directions, of about unit spread."""
    result = np.sin(1.5 * U[:, 0])
    result += 0.5 * np.cos(U[:, 3:]).sum(axis=1)
    if U.shape[1] > 1:
        result = result + 0.5 * U[:, 1] ** 2
    if U.shape[1] > 2:
        result = result + np.tanh(2.0 * U[:, 2])
    return result


def drawn(U: np.ndarray, seed: int) -> np.ndarray:
    """A function drawn from the model: a sum of random waves."""
    rng = np.random.default_rng(seed)
    waves, phases = rng.standard_normal((400, U.shape[1])), rng.uniform(0, 2 * np.pi, 400)
    return np.sqrt(2.0 / 400) * np.cos(U @ waves.T + phases).sum(axis=1)


def data(n: int, D: int, d: int, kind: str = "engineering", seed: int = 0) -> tuple[np.ndarray, ...]:
    """Rows to fit with noise, and rows to test on without."""
    rng = np.random.default_rng(seed)
    R = 1.5 * np.linalg.qr(rng.standard_normal((D, d)))[0].T * np.sqrt(3.0)
    X, new = rng.uniform(-1, 1, (n, D)), rng.uniform(-1, 1, (N_TEST, D))
    f = function if kind == "engineering" else lambda U: drawn(U, seed)
    clean = f(X @ R.T)
    return X, clean + NOISE * rng.standard_normal(n), new, f(new @ R.T)


def _scores(mean: np.ndarray, std: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    variance = std**2 + NOISE**2
    noisy = truth + NOISE * np.random.default_rng(99).standard_normal(truth.shape[0])
    density = -0.5 * (np.log(2.0 * np.pi * variance) + (noisy - mean) ** 2 / variance)
    return {"error": float(np.sqrt(np.mean((mean - truth) ** 2)) / truth.std()), "log density": float(density.mean())}


def fit(n: int, D: int, d: int, approximation: str) -> dict[str, Any]:
    """One fit: CPU seconds, memory beside the rows and the libraries that a fit loads, and error."""
    importlib.import_module("ridgeway.belief.fit")
    X, y, new, truth = data(n, D, d)
    before = _memory()
    started = time.process_time()
    belief = rw.fit(X, y, rw.Linear(d), approximation=approximation)
    seconds = time.process_time() - started
    found = belief.predict(new)
    scores = _scores(found.mean, found.std, truth)
    calibration = float(np.std((found.mean - truth) / found.std))
    return {"seconds": seconds, "MB": _memory() - before, "MB of X": X.nbytes / 1e6, "z": calibration, **scores}


def agreement(n: int, D: int, d: int, kind: str, seed: int) -> dict[str, float]:
    """The finite basis against the exact process: both fitted to the same rows."""
    X, y, new, _ = data(n, D, d, kind, seed)
    exact, there = (rw.fit(X, y, rw.Linear(d), approximation=how, robust=False) for how in ("exact", "features"))
    a, b = exact.predict(new), there.predict(new)
    spread = float(a.mean.std())
    return {
        "mean": float(np.mean(np.abs(a.mean - b.mean))) / spread,
        "std": float(np.mean(np.abs(b.std / a.std - 1.0))),
        "own estimate": float(there.diagnostics.mean_error or 0.0),
    }


def rival(name: str, n: int, D: int, d: int) -> dict[str, float]:
    """What a user would take instead, on the same rows."""
    X, y, new, truth = data(n, D, d)
    started = time.process_time()
    mean, std = RIVALS[name](X, y, new, d)
    return {"seconds": time.process_time() - started, **_scores(mean, std, truth)}


def _ridgeway(X: np.ndarray, y: np.ndarray, new: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    found = rw.fit(X, y, rw.Linear(d), approximation="features").predict(new)
    return found.mean, found.std


def _boosting(X: np.ndarray, y: np.ndarray, new: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.model_selection import cross_val_predict

    model = HistGradientBoostingRegressor(max_iter=500, early_stopping=True, random_state=0)
    spread = float(np.std(cross_val_predict(model, X, y, cv=3) - y))
    return model.fit(X, y).predict(new), np.full(new.shape[0], np.sqrt(max(spread**2 - NOISE**2, 1e-6)))


def _lightgbm(X: np.ndarray, y: np.ndarray, new: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    from lightgbm import LGBMRegressor
    from sklearn.model_selection import cross_val_predict

    model = LGBMRegressor(n_estimators=1000, learning_rate=0.05, verbosity=-1)
    spread = float(np.std(cross_val_predict(model, X, y, cv=3) - y))
    return model.fit(X, y).predict(new), np.full(new.shape[0], np.sqrt(max(spread**2 - NOISE**2, 1e-6)))


def _svgp(X: np.ndarray, y: np.ndarray, new: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """GPyTorch's sparse variational process on a learned linear projection, by Adam on batches, as its examples do."""
    import gpytorch
    import torch

    torch.manual_seed(0)
    shift, scale = y.mean(), y.std()
    inputs, outputs = torch.tensor(X), torch.tensor((y - shift) / scale)

    class Model(gpytorch.models.ApproximateGP):
        def __init__(self) -> None:
            points = 1.5 * torch.randn(256, d, dtype=torch.double)
            chosen = gpytorch.variational.CholeskyVariationalDistribution(256)
            super().__init__(gpytorch.variational.VariationalStrategy(self, points, chosen, True))
            self.projection = torch.nn.Linear(X.shape[1], d, bias=False)
            self.mean = gpytorch.means.ConstantMean()
            self.kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

        def __call__(self, x: Any, **more: Any) -> Any:
            return super().__call__(self.projection(x), **more)

        def forward(self, u: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean(u), self.kernel(u))

    model, likelihood = Model().double(), gpytorch.likelihoods.GaussianLikelihood().double()
    objective = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=y.shape[0])
    optimiser = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.01)
    steps, batch = 3000, 1024
    for step in range(steps):
        which = torch.randint(0, y.shape[0], (batch,))
        optimiser.zero_grad()
        loss = -objective(model(inputs[which]), outputs[which])
        loss.backward()
        optimiser.step()
        if step == 2 * steps // 3:
            for group in optimiser.param_groups:
                group["lr"] = 0.001
    model.eval()
    with torch.no_grad():
        found = model(torch.tensor(new))
    return shift + scale * found.mean.numpy(), scale * found.stddev.numpy()


RIVALS = {"Ridgeway": _ridgeway, "gradient boosting": _boosting, "LightGBM": _lightgbm, "SVGP": _svgp}


def on_dask(n: int, D: int, chunk: int, kill: bool) -> dict[str, Any]:
    """A fit of Parquet files on two workers, one of which may be killed on the way."""
    import signal
    import threading

    import dask.dataframe as dd
    import pandas as pd
    from distributed import Client, LocalCluster

    _, _, new, truth = data(10, D, 2)
    with tempfile.TemporaryDirectory() as folder:
        for i, start in enumerate(range(0, n, 500_000)):
            X, y, *_ = _rows_of_block(i, min(500_000, n - start), D)
            frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(D)]).assign(y=y)
            frame.to_parquet(Path(folder) / f"{i:05}.parquet", row_group_size=chunk)
        with LocalCluster(2, threads_per_worker=1, memory_limit="1.5GB") as cluster, Client(cluster) as client:
            frame = dd.read_parquet(folder, split_row_groups=1)
            if kill:
                pid = next(iter(client.run(os.getpid).values()))
                threading.Timer(60.0, os.kill, (pid, signal.SIGKILL)).start()
            started = time.monotonic()
            belief = rw.fit(frame, "y", rw.Linear(2))
            seconds = time.monotonic() - started
            peaks = client.run(_memory)
    found = belief.predict(new)
    return {
        "seconds": seconds,
        "MB a worker": max(peaks.values()),
        "predictions": found.mean[:20].tolist(),
        **_scores(found.mean, found.std, truth),
    }


def _rows_of_block(i: int, n: int, D: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    R = 1.5 * np.linalg.qr(rng.standard_normal((D, 2)))[0].T * np.sqrt(3.0)
    rng = np.random.default_rng(1000 + i)
    X = rng.uniform(-1, 1, (n, D))
    return X, function(X @ R.T) + NOISE * rng.standard_normal(n)


def _memory() -> float:
    """Most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def alone(name: str, *arguments: Any) -> Any:
    """A measurement in a process of its own, on one thread, so that CPU time is work and not waiting."""
    call = [sys.executable, __file__, "--one", json.dumps([name, *arguments])]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(call, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:  # not kept, so that it is measured again
        raise RuntimeError(f"{name}{arguments} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def tables(kept: Path) -> str:
    """All results of a file as Markdown."""
    lines = map(json.loads, kept.read_text().splitlines())
    found = {tuple(line["job"]): line["result"] for line in lines if line["what"] == "alone"}
    parts = [_growth(found), _agreement(found), _rivals(found), _on_dask(found)]
    return "\n\n".join(part for part in parts if part)


def _table(header: str, rows: list[list[str]]) -> str:
    if not rows:
        return ""
    columns = header.count("|") + 1
    return "\n".join([f"| {header} |", "|" + " ---: |" * columns, *(f"| {' | '.join(row)} |" for row in rows)])


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def _growth(found: dict[Any, Any]) -> str:
    jobs = sorted((job for job in found if job[0] == "fit"), key=lambda job: (job[4], job[3], job[1]))
    rows = [
        [
            f"{n:,} × {D}",
            str(d),
            how,
            f"{r['seconds']:.0f}",
            f"{r['MB']:.0f}",
            _percent(r["error"]),
            f"{r['z']:.2f}",
        ]
        for (_, n, D, d, how), r in ((job, found[job]) for job in jobs)
    ]
    return _table("rows × inputs | directions | how | CPU s | MB beside X | error | z", rows)


def _agreement(found: dict[Any, Any]) -> str:
    jobs = sorted(job for job in found if job[0] == "agreement")
    rows = [
        [f"{n:,}", str(d), kind, str(seed), _percent(r["mean"]), _percent(r["std"])]
        for (_, n, _, d, kind, seed), r in ((job, found[job]) for job in jobs)
    ]
    return _table("rows | directions | function | seed | means differ by | standard deviations by", rows)


def _rivals(found: dict[Any, Any]) -> str:
    jobs = sorted((job for job in found if job[0] == "rival"), key=lambda job: (job[2], found[job]["error"]))
    rows = [
        [f"{n:,} × {D}", name, _percent(r["error"]), f"{r['log density']:.3f}", f"{r['seconds']:.0f}"]
        for (_, name, n, D, _), r in ((job, found[job]) for job in jobs)
    ]
    return _table("rows × inputs | method | error | log density | CPU s", rows)


def _on_dask(found: dict[Any, Any]) -> str:
    jobs = sorted(job for job in found if job[0] == "on_dask")
    rows = [
        [f"{n:,} × {D}", f"{chunk:,}", "yes" if kill else "no", f"{r['seconds']:.0f}", f"{r['MB a worker']:.0f}"]
        for (_, n, D, chunk, kill), r in ((job, found[job]) for job in jobs)
    ]
    return _table("rows × inputs | rows a chunk | a worker killed | seconds | MB a worker", rows)


JOBS: dict[str, list[tuple[Any, ...]]] = {
    "exact": [("fit", 1000, 30, 2, "exact"), ("fit", 2000, 30, 2, "exact"), ("fit", 3000, 30, 2, "exact")],
    "growth": [
        ("fit", n, D, d, "features") for n, D, d in ((10_000, 30, 1), (10_000, 30, 2), (5000, 10, 3), (10_000, 30, 3))
    ]
    + [("fit", n, 100, d, "features") for n, d in ((50_000, 2), (100_000, 2), (100_000, 3))]
    + [("fit", 1_000_000, 30, 2, "features"), ("fit", 20_000, 10, 4, "auto"), ("fit", 20_000, 10, 5, "auto")],
    "agreement": [
        ("agreement", n, 10, d, kind, seed)
        for n in (1000, 2000)
        for d in (1, 2, 3)
        for kind in ("engineering", "drawn")
        for seed in (0, 1)
    ],
    "rivals": [("rival", name, n, 30, 2) for n in (10_000, 100_000) for name in RIVALS],
    "dask": [("on_dask", 10_000_000, 30, chunk, kill) for chunk, kill in ((100_000, False), (250_000, True))],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help=f"of {', '.join(JOBS)}; all where nothing is said")
    parser.add_argument("--keep", type=Path, help="file that results are kept in and not measured again from")
    parser.add_argument("--write", type=Path, help="page that tables of all kept results are written into")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        name, *arguments = json.loads(given.one)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(json.dumps(globals()[name](*arguments)))
        return
    unknown = set(given.what) - {*JOBS, "tables"}
    if unknown:
        parser.error(f"no such measurement: {', '.join(sorted(unknown))}")
    for what in given.what or JOBS:
        for job in JOBS.get(what, ()):
            (result,) = measure(alone, [job], 1, given.keep)
            print(what, *job, json.dumps(result), flush=True)
    if given.write and given.keep:
        pages.insert(given.write, "many rows", tables(given.keep))


if __name__ == "__main__":
    main()
