"""The points of a pool that is in memory, or in a file that is mapped into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ridgeway import names as _names
from ridgeway.spaces.row_index import Indices, RowIndex
from ridgeway.types import Array

#: Memory for the rows read at a time; a pool in a file is never read whole.
BLOCK_BYTES = 2**24


@dataclass(frozen=True)
class ArrayTable:
    """Points ``(n, D)`` of any number type."""

    points: Any
    names: tuple[str, ...] | None

    @property
    def n(self) -> int:
        """How many points."""
        return int(self.points.shape[0])

    @property
    def D(self) -> int:
        """How many inputs."""
        return int(self.points.shape[1])

    def blocks(self, size: int) -> Iterator[tuple[int, Array]]:
        """The points as ``(start, block)`` with ``size`` rows of float64 each."""
        for start in range(0, self.n, size):
            yield start, as_float(self.points[start : start + size])

    def rows(self, indices: Indices) -> Array:
        """The points with these numbers, ``(len(indices), D)``."""
        return np.array(as_float(self.points[indices]))

    def matches(self, X: Array) -> list[Indices]:
        """For each row of ``X`` the numbers of all points equal to it, ascending."""
        return [self._equal(found, x) for found, x in zip(self._index.candidates(X), X, strict=True)]

    def first_matches(self, X: Array) -> Indices:
        """The first of these numbers; -1 where there is none."""
        found = np.full(X.shape[0], -1, dtype=np.int64)
        for i, candidates in enumerate(self._index.candidates(X)):
            # The first is nearly always equal; the others may be a million copies of it.
            for some in (candidates[:1], candidates[1:]):
                if found[i] < 0:
                    found[i] = next(iter(self._equal(some, X[i])), -1)
        return found

    def note(self, rows: Indices, X: Array) -> None:
        """That points were chosen by their numbers: nothing to keep, the index has all."""

    @cached_property
    def range(self) -> tuple[Array, Array]:
        """Least and largest value of each input; the same pass checks that all numbers are finite."""
        lower, upper = np.full(self.D, np.inf), np.full(self.D, -np.inf)
        for start, block in self.blocks(rows_at_a_time(self.D)):
            least, most = block.min(axis=0), block.max(axis=0)  # these are not finite if a number of the column is not
            if not (np.isfinite(least).all() and np.isfinite(most).all()):
                i, j = np.argwhere(~np.isfinite(block))[0]
                where = f"row {start + i}, column {_names.called(self.names, j)}"
                raise ValueError(f"points must be finite, but {where} is {block[i, j]}")
            np.minimum(lower, least, out=lower)
            np.maximum(upper, most, out=upper)
        return lower, upper

    @cached_property
    def _index(self) -> RowIndex:
        return RowIndex.build(block for _, block in self.blocks(rows_at_a_time(self.D)))

    def _equal(self, candidates: Indices, x: Array) -> Indices:
        """Those of ``candidates`` whose row is ``x``, a block at a time."""
        size = rows_at_a_time(self.D)
        parts = [candidates[i : i + size] for i in range(0, candidates.shape[0], size)]
        same = [part[(as_float(self.points[part]) == x).all(axis=1)] for part in parts]
        return np.concatenate([np.empty(0, dtype=np.int64), *same])


def rows_at_a_time(D: int) -> int:
    """How many rows of ``D`` inputs are read at a time."""
    return max(1, BLOCK_BYTES // (8 * D))


def as_float(points: Any) -> Array:
    """As float64."""
    with np.errstate(over="ignore"):  # a number too large for a float becomes infinite, which is an error later
        return np.asarray(points, dtype=np.float64)
