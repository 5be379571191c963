"""What a fit asks of rows that it never sees together: their range, their mean, a sample, and then sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ridgeway import names as _names
from ridgeway.belief.row_blocks import Blocks, Rows
from ridgeway.gp.process import Data
from ridgeway.gp.row_source import check_same
from ridgeway.gp.scaling import InputScaling, OutputScaling
from ridgeway.types import Array

S = TypeVar("S")
_DIGITS = 11  # that the outputs' mean and spread keep, so that they do not depend on how rows are cut into blocks


class Survey(NamedTuple):
    """How many rows there are, their range, and mean and sum of squares about it of the outputs."""

    n: int
    lower: Array
    upper: Array
    mean: float
    squares: float

    def scaling(self, standardize: bool) -> OutputScaling:
        """Outputs to mean 0 and variance 1."""
        if not standardize:
            return OutputScaling(0.0, 1.0)
        spread = float(np.sqrt(self.squares / self.n))
        return OutputScaling(_rounded(self.mean), _rounded(spread) or abs(self.mean) or 1.0)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}e}")


def survey(rows: Rows, names: tuple[str, ...] | None = None) -> Survey:
    """Of one block; what is wrong with it is said before anything else is computed, by the ``names`` of inputs."""
    X, y, name = rows
    if X.shape[0] != y.shape[0] or not X.shape[0]:
        raise ValueError(
            f"{name} must have rows, and one output for each, got {X.shape[0]} rows and {y.shape[0]} outputs"
        )
    if not np.isfinite(X).all():
        i, j = np.argwhere(~np.isfinite(X))[0]
        raise ValueError(f"X must be finite, but {name} has {X[i, j]} in row {i}, column {_names.called(names, j)}")
    if not np.isfinite(y).all():
        i = int(np.flatnonzero(~np.isfinite(y))[0])
        raise ValueError(f"y must be finite, but {name} has {y[i]} in row {i}")
    mean = float(y.mean())
    return Survey(X.shape[0], X.min(axis=0), X.max(axis=0), mean, float(np.sum((y - mean) ** 2)))


def together(a: Survey, b: Survey) -> Survey:
    """Of two blocks (Chan, Golub and LeVeque 1979)."""
    if a.lower.shape != b.lower.shape:
        raise ValueError(f"X must have the same columns in every block, got {a.lower.shape[0]} and {b.lower.shape[0]}")
    n = a.n + b.n
    apart = b.mean - a.mean
    squares = a.squares + b.squares + apart**2 * a.n * b.n / n
    return Survey(n, np.minimum(a.lower, b.lower), np.maximum(a.upper, b.upper), a.mean + apart * b.n / n, squares)


@dataclass(frozen=True)
class Picked:
    """Some rows of all blocks, by their numbers: ``wanted`` holds those of each block, by the block's name."""

    wanted: dict[str, Any]

    def __call__(self, rows: Rows) -> tuple[Array, Array]:
        which = self.wanted.get(rows.name, np.zeros(0, dtype=int))
        return rows.X[which], rows.y[which]


class Named(NamedTuple):
    """A block's name and its rows' number."""

    name: str
    n: int


def named(rows: Rows) -> Named:
    """How a block is called, and its size."""
    return Named(rows.name, int(rows.X.shape[0]))


def sample(blocks: Blocks, n: int, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """``size`` rows at random, the same however the rows are cut into blocks."""
    chosen = rng.choice(n, size, replace=False)
    order = np.argsort(chosen)
    numbers = chosen[order]
    start = 0
    wanted: dict[str, Any] = {}
    lengths = blocks.ask(named)
    check_same(n, sum(length for _, length in lengths))
    for name, length in lengths:
        inside = numbers[(numbers >= start) & (numbers < start + length)]
        wanted[name] = inside - start
        start += length
    found = blocks.ask(Picked(wanted))
    X, y = (np.concatenate(parts) for parts in zip(*found, strict=True))
    back = np.empty(order.shape[0], dtype=int)
    back[order] = np.arange(order.shape[0])
    return X[back], y[back]


@dataclass(frozen=True)
class Noise:
    """Noise variances of rows, known beforehand, on the standardised scale: the same for all, more where tied."""

    base: float
    tied: Array  # outputs that so many rows share that their noise is larger
    extra: float

    def __call__(self, y: Array) -> Array:
        result: Array = self.base + self.extra * np.isin(y, self.tied).astype(float)
        return result


@dataclass(frozen=True)
class Standardised:
    """A question about standardised rows, asked of rows in the user's units."""

    question: Callable[[Data], object]
    scaling: InputScaling
    output: OutputScaling
    noise: Noise

    def __call__(self, rows: Rows) -> object:
        return self.question(Data(self.scaling.scaled(rows.X), self.output.scaled(rows.y), self.noise(rows.y)))


@dataclass(frozen=True)
class BlockRows:
    """All blocks as a source of rows."""

    blocks: Blocks
    n: int
    scaling: InputScaling
    output: OutputScaling
    noise: Noise

    @property
    def constant_noise(self) -> bool:
        return self.noise.extra == 0.0 or self.noise.tied.shape[0] == 0

    def total(self, summary: Callable[[Data], S], add: Callable[[S, S], S]) -> S:
        question: Any = Standardised(summary, self.scaling, self.output, self.noise)
        total: S = self.blocks.total(question, add)
        return total
