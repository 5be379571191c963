"""Speed and memory, Ridgeway beside its rivals: ``python benchmarks/performance.py [--quick] [--write FILE]``.

Everything that is compared is measured in the same run, turn and turn about, in CPU seconds of
one thread, so that a busy machine disturbs both sides alike; what counts are the ratios.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # one thread everywhere, set before numpy is imported
os.environ["MKL_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import gc
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ridgeway as rw
from ridgeway import kernels, likelihood, marginal
from ridgeway.gp import ConditionedGP, Data, condition
from ridgeway.testfunctions import TestFunction, from_model

NOISE = 0.1  # standard deviation of the noise in every problem
N_TEST = 1000
FEW_STARTS = 4  # searches of the fits whose growth is measured
Work = Callable[[], Any]

INTRO = """# Performance

Written by `make bench`, that is

```sh
python benchmarks/performance.py --write docs/performance.md
```

All times are CPU time of one process on one thread (BLAS, OpenMP and torch are told so), and for short work the
best of several repetitions. Contestants take turns within one run, so that whatever else the machine does
disturbs them alike: trust the ratios, which hardly depend on the machine, more than the seconds. Problems
are functions drawn from the model (`ridgeway.testfunctions.from_model`) with noise of standard deviation 0.1,
unless said otherwise; `N` observations, `D` inputs, `d` rows of the embedding, `M` candidates. Rivals compute the same
numbers: where they should agree with ours, the script stops unless they do.
"""


# -- tables ----------------------------------------------------------------------------------


class Target(NamedTuple):
    """A promise beside what was measured."""

    what: str
    measured: str
    promise: str
    met: bool

    @property
    def cell(self) -> str:
        return f"{self.promise}: {self.verdict}"

    @property
    def verdict(self) -> str:
        return "met" if self.met else "**missed**"


@dataclass(frozen=True)
class Section:
    """One table of the page, and what to know to read it."""

    title: str
    text: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    targets: list[Target] = field(default_factory=list)

    def markdown(self) -> str:
        return f"## {self.title}\n\n{self.text}\n\n{table(self.header, self.rows)}"


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Aligned Markdown: words to the left, numbers to the right."""
    rows = [header, *rows]
    widths = [max(len(row[j]) for row in rows) for j in range(len(header))]
    lines = ["| " + " | ".join(_pad(c, w, j) for j, (c, w) in enumerate(zip(r, widths, strict=True))) + " |" for r in rows]
    rule = "|" + "|".join("-" * (w + 2) if j == 0 else "-" * (w + 1) + ":" for j, w in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]]) + "\n"


def _pad(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column == 0 else cell.rjust(width)


def figure(x: float, digits: int = 3) -> str:
    """A number to a few significant digits, never as a power of ten."""
    decimals = max(0, digits - 1 - int(np.floor(np.log10(abs(x))))) if x else 0
    return f"{x:,.{min(decimals, 6)}f}"


def milliseconds(x: float) -> str:
    return figure(1e3 * x)


def times(x: float) -> str:
    return f"{figure(x, 2)}×"


# -- the stopwatch ---------------------------------------------------------------------------


def race(contestants: dict[str, Work], rounds: int = 7, least: float = 0.02) -> dict[str, float]:
    """Best CPU seconds of one call of each; calls that are short are repeated within a turn."""
    calls = {name: max(1, round(least / max(clock(work), 1e-6))) for name, work in contestants.items()}
    best = dict.fromkeys(contestants, np.inf)
    for _ in range(rounds):
        for name, work in contestants.items():
            best[name] = min(best[name], clock(work, calls[name]))
    return best


def clock(work: Work, calls: int = 1) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    for _ in range(calls):
        work()
    return (time.process_time() - start) / calls


def product_of(n: int) -> Work:
    """An ``n × n`` matrix product in double precision, ``2 n³`` operations: the unit of speed."""
    A = np.random.default_rng(0).standard_normal((n, n))
    return lambda: A @ A


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


# -- problems --------------------------------------------------------------------------------


class Problem(NamedTuple):
    """A function drawn from the model and noisy observations of it."""

    f: TestFunction
    X: np.ndarray
    y: np.ndarray

    def rmse(self, predict: Callable[[np.ndarray], np.ndarray]) -> float:
        points = self.f.sample(N_TEST, 12345)
        return float(np.sqrt(np.mean((predict(points) - self.f(points)) ** 2)))


def problem(n: int, D: int, d: int = 2, seed: int = 0) -> Problem:
    f = from_model(D, d, random_state=seed)
    rng = np.random.default_rng(1000 + seed)
    X = f.sample(n, rng)
    return Problem(f, X, f(X) + NOISE * rng.standard_normal(n))


def fit(X: np.ndarray, y: np.ndarray, d: int = 2, **options: Any) -> rw.Belief:
    """``rw.fit`` with the box told; what it warns about does not matter to its speed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.RidgewayWarning)
        return rw.fit(X, y, rw.Linear(d), bounds=(-1.0, 1.0), **options)


def conditioning(p: Problem) -> Callable[[], ConditionedGP]:
    """The engine on the inputs as they are, at the true hyperparameters; each call starts afresh."""
    R = p.f.embedding
    assert R is not None
    theta = np.concatenate([R.ravel(), [0.0, np.log(NOISE), 0.0, 0.0]])
    data = Data(p.X, p.y, np.zeros(len(p.y)))
    model, kernel = rw.Linear(R.shape[0]), kernels.resolve("se")
    return lambda: condition(model, kernel, data, theta)


def likelihood_and_gradient(gp: ConditionedGP) -> tuple[float, np.ndarray]:
    return gp.log_likelihood(), likelihood.gradient(gp)


def agree(ours: np.ndarray, theirs: np.ndarray, what: str) -> None:
    """Stop unless two contestants computed the same."""
    gap = float(np.abs(ours - theirs).max() / np.abs(ours).max())
    if not gap < 1e-6:
        raise AssertionError(f"{what} differ by {gap:.1e} of their largest entry: the race would not be fair")


# -- derivatives -----------------------------------------------------------------------------


def machine(quick: bool) -> Section:
    """How fast this machine multiplies matrices, and with what."""
    from threadpoolctl import threadpool_info

    n = 1000
    rate = 2e-9 * n**3 / race({"product": product_of(n)})["product"]
    blas = {f"{i['internal_api']} {i['version']} ({i.get('architecture')})" for i in threadpool_info() if i["user_api"] == "blas"}
    rows = [("double-precision product of two 1000 × 1000 matrices", f"{figure(rate)} GFLOP/s"), ("BLAS", ", ".join(sorted(blas)))]
    rows += [(name, version(name)) for name in ("numpy", "scipy", "scikit-learn", "torch", "smt")]
    return Section("The machine and its unit", "One thread. Other tables use the first line as their unit of speed.", ("what", "value"), rows)


def hessian(quick: bool) -> Section:
    """The exact Hessian over every entry of ``R``, without the reduction, beside autograd's."""
    import rivals

    n, D, d = 100, 318, 2
    p = problem(n, D, d)
    start = conditioning(p)
    gp = start()
    torch = rivals.torch_likelihood(p.X, p.y, gp.theta[:-1], d)
    exact = likelihood.hessian(gp)[:-1, :-1]
    agree(likelihood.gradient(gp)[:-1], torch.gradient().numpy(), "gradients")
    agree(exact, torch.hessian().numpy(), "Hessians")
    agree(exact, torch.hessian_in_chunks().numpy(), "Hessians")
    ours = {"likelihood and gradient": lambda: likelihood_and_gradient(start()), "exact Hessian, from nothing": lambda: likelihood.hessian(start()),
            "exact Hessian, after the gradient": lambda: likelihood.hessian(gp), "torch: likelihood and gradient": torch.gradient}  # fmt: skip
    slow = {"torch: `func.hessian` (forward over reverse)": torch.hessian, f"torch: reverse over reverse, {rivals.HESSIAN_CHUNK} rows at a time": torch.hessian_in_chunks}
    best = race(ours, 15) | race(slow, 1 if quick else 3)
    unit, target = best["likelihood and gradient"], None
    ...
