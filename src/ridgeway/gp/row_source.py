"""Rows of data as a fit of many rows sees them: some at a time, any number of times, in sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from ridgeway.gp.process import Data
from ridgeway.gp.scaling import InputScaling, OutputScaling
from ridgeway.types import Array, Inputs

S = TypeVar("S")


class RowSource(Protocol):
    """Standardised rows that never have to be in memory all at once."""

    @property
    def n(self) -> int:
        """How many rows there are."""

    @property
    def constant_noise(self) -> bool:
        """Whether the noise known beforehand is the same for all."""

    def total(self, summary: Callable[[Data], S], add: Callable[[S, S], S]) -> S:
        """``summary`` of every block of rows, combined with ``add``, which must not care about order."""


@dataclass(frozen=True)
class DataRows:
    """Rows that are standardised and in memory."""

    data: Data

    @property
    def n(self) -> int:
        return self.data.n

    @property
    def constant_noise(self) -> bool:
        return bool(np.all(self.data.noise == self.data.noise[0]))

    def total(self, summary: Callable[[Data], S], add: Callable[[S, S], S]) -> S:
        return summary(self.data)


@dataclass(frozen=True)
class ArrayRows:
    """Rows of arrays in memory, by reference."""

    X: Inputs  # (n, D) in the user's units
    y: Array
    noise: Array  # (n,) known beforehand, on the standardised scale
    scaling: InputScaling
    output: OutputScaling
    block: int = 8192

    @property
    def n(self) -> int:
        return int(self.y.shape[0])

    @property
    def constant_noise(self) -> bool:
        return bool(np.all(self.noise == self.noise[0]))

    def total(self, summary: Callable[[Data], S], add: Callable[[S, S], S]) -> S:
        result: S | None = None
        for start in range(0, self.n, self.block):
            found = summary(self.rows(slice(start, start + self.block)))
            result = found if result is None else add(result, found)
        assert result is not None
        return result

    def rows(self, which: slice | Array) -> Data:
        """Some rows, standardised."""
        return Data(self.scaling.scaled(self.X[which]), self.output.scaled(self.y[which]), self.noise[which])


def check_same(expected: int, found: float) -> None:
    """Raise where another number of rows came than at first: a source is read many times."""
    if found != expected:
        raise ValueError(
            f"X must be the same each time it is read, but it had {expected:,} rows at first and has {found:,.0f} now"
        )
