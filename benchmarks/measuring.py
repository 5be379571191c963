"""What the benchmarks share: one thread, clocks, tables, problems."""

from __future__ import annotations

import textwrap
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import ridgeway as rw
from ridgeway.gp import kernels, likelihood, moments, rowspace
from ridgeway.gp.process import ConditionedGP, Data, condition
from ridgeway.gp.scaling import InputScaling
from ridgeway.testfunctions import TestFunction, from_model

threadpool_limits(limits=1)  # for all that follows in this process
NOISE = 0.1  # standard deviation of the noise in every problem
Work = Callable[[], Any]


# -- tables ----------------------------------------------------------------------------------


class Target(NamedTuple):
    """A target, and what was measured."""

    what: str
    promise: str
    measured: str
    met: bool

    @property
    def verdict(self) -> str:
        return "met" if self.met else "**missed**"

    @property
    def cell(self) -> str:
        return f"{self.promise}: {self.verdict}"


@dataclass(frozen=True)
class Section:
    """One table of the page, and what to know to read it."""

    title: str
    text: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    targets: tuple[Target, ...] = ()

    def markdown(self) -> str:
        text = textwrap.fill(self.text, 120, break_long_words=False, break_on_hyphens=False)
        return f"## {self.title}\n\n{text}\n\n{table(self.header, self.rows)}"


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Markdown with columns aligned, the first to the left and the others to the right."""
    cells = [header, *rows]
    widths = [max(len(row[j]) for row in cells) for j in range(len(header))]
    lines = []
    for row in cells:
        padded = [c.rjust(w) if j else c.ljust(w) for j, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append(f"| {' | '.join(padded)} |")
    rule = "|".join("-" * (w + 1) + ":" if j else "-" * (w + 2) for j, w in enumerate(widths))
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]]) + "\n"


def figure(x: float, digits: int = 3) -> str:
    """A number to a few significant digits, without powers of ten."""
    decimals = digits - 1 - int(np.floor(np.log10(abs(x)))) if x else 0
    return f"{x:,.{np.clip(decimals, 0, 6)}f}"


def times(x: float) -> str:
    return f"{figure(x, 2)}×"


def at_most(what: str, limit: float, measured: float, unit: str) -> Target:
    return Target(what, f"≤ {limit:g}{unit}", f"{figure(measured)}{unit}", measured <= limit)


# -- the stopwatch ---------------------------------------------------------------------------


def clock(work: Work, calls: int = 1) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    for _ in range(calls):
        work()
    return (time.process_time() - start) / calls


def timed(work: Work) -> tuple[float, Any]:
    """CPU seconds of work that is done once, and its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def race(contestants: dict[str, Work], rounds: int = 7, least: float = 0.05) -> dict[str, float]:
    """Best CPU seconds of one call of each, in turns; a turn repeats short work for ``least`` seconds."""
    calls = {name: max(1, round(least / max(clock(work), 1e-6))) for name, work in contestants.items()}
    best = dict.fromkeys(contestants, np.inf)
    for _ in range(rounds):
        for name, work in contestants.items():
            best[name] = min(best[name], clock(work, calls[name]))
    return best


PRODUCT = 1000  # rows and columns of the matrix product that is the unit of speed


def product() -> Work:
    A = np.random.default_rng(0).standard_normal((PRODUCT, PRODUCT))
    return lambda: A @ A


def product_rate(seconds: float) -> float:
    """GFLOP/s."""
    return 2e-9 * PRODUCT**3 / seconds


# -- problems --------------------------------------------------------------------------------


class Problem(NamedTuple):
    """A function drawn from the model and noisy observations of it."""

    f: TestFunction
    X: np.ndarray
    y: np.ndarray

    def rmse(self, predict: Callable[[np.ndarray], np.ndarray]) -> float:
        """Error at 1,000 new points, against the function without noise."""
        points = self.f.sample(1000, 12345)
        return float(np.sqrt(np.mean((predict(points).ravel() - self.f(points)) ** 2)))


def problem(n: int, D: int, d: int = 2, seed: int = 0) -> Problem:
    f = from_model(D, d, random_state=seed)
    rng = np.random.default_rng(1000 + seed)
    X = f.sample(n, rng)
    return Problem(f, X, f(X) + NOISE * rng.standard_normal(n))


def fit(X: np.ndarray, y: np.ndarray, d: int = 2, **options: Any) -> rw.Belief:
    """``rw.fit`` given the box; its warnings are for people with data of their own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.RidgewayWarning)
        return rw.fit(X, y, rw.Linear(d), bounds=(-1.0, 1.0), **options)


def conditioning(p: Problem, reduced: bool = False) -> Callable[[], ConditionedGP]:
    """The engine at the true hyperparameters, inputs reduced or as they are; every call starts from nothing."""
    Z, A = p.X, p.f.embedding
    assert A is not None
    if reduced:
        space = rowspace.reduce(p.X, InputScaling.from_bounds(p.f.lower, p.f.upper))
        Z, A = space.Z, space.restrict(A)
    theta = np.concatenate([A.ravel(), [0.0, np.log(NOISE), 0.0, 0.0]])
    data = Data(Z, p.y, np.zeros(len(p.y)))
    model, kernel = rw.Linear(A.shape[0]), kernels.resolve("se")
    return lambda: condition(model, kernel, data, theta)


def afresh(start: Callable[[], ConditionedGP], derive: Callable[[ConditionedGP], Any]) -> Any:
    """Derivatives of a process that has nothing cached yet."""
    return derive(start())


def likelihood_and_gradient(gp: ConditionedGP) -> tuple[float, np.ndarray]:
    return gp.log_likelihood(), likelihood.gradient(gp)


def embedding_hessian(gp: ConditionedGP) -> np.ndarray:
    """The Hessian in the embedding's own parameters alone."""
    P = gp.parameters.shape[0]
    H = np.empty((P, P))
    gp.embedding.hessian(gp, out=H)
    return H


def candidate_gradients(gp: ConditionedGP, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of predictive mean and variance in all hyperparameters, in the blocks of `marginal`."""
    parts = []
    step = moments.block_size(gp.data.n, gp.theta.shape[0])
    for i in range(0, len(points), step):
        mean, variance, at = moments.predictive(gp, points[i : i + step])
        parts.append(moments.moment_gradients(gp, variance, mean, at)[:2])
    means, variances = zip(*parts, strict=True)
    return np.concatenate(means), np.concatenate(variances)


def plain_predictions(start: Callable[[], ConditionedGP], Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance at ``Z``, conditioning included, hyperparameters taken as known."""
    gp = start()
    found = moments.moments(gp, np.zeros((gp.theta.shape[0], 0)), Z, np.zeros(len(Z)), 0.0, "map")
    return found.mean, found.variance


def agree(ours: np.ndarray, theirs: Any, what: str) -> None:
    """Stop unless two contestants have computed the same."""
    gap = float(np.abs(ours - np.asarray(theirs).reshape(ours.shape)).max() / np.abs(ours).max())
    if not gap < 1e-6:
        raise AssertionError(f"{what} differ by {gap:.1e} of the largest: these contestants do not do the same work")
