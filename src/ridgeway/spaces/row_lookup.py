"""Points that are looked for among many rows, by exact value, in one pass over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgeway.spaces.row_index import Hashes, Indices, row_hashes
from ridgeway.types import Array

#: Rows hashed at a time: they fit the cache.
BLOCK_ROWS = 2**12


@dataclass(frozen=True)
class RowLookup:
    """Different points ``X (k, D)``, sorted by their hashes.

    >>> lookup = RowLookup.of(np.array([[3.0, 4.0], [1.0, 2.0]]))
    >>> rows = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 4.0], [1.0, 2.0]])
    >>> sorted(zip(*(found.tolist() for found in lookup.find(rows)), strict=True))
    [(0, 1), (2, 0), (3, 1)]
    """

    X: Array  # (k, D) in the order given
    hashes: Hashes  # (k,) sorted
    order: Indices  # the point of each

    @classmethod
    def of(cls, X: Array) -> RowLookup:
        """Of the rows of ``X``, which must be different."""
        hashes = row_hashes(X) if X.shape[0] else np.zeros(0, dtype=np.uint64)
        order = np.argsort(hashes, kind="stable")
        return cls(X, hashes[order], order)

    def find(self, rows: Array) -> tuple[Indices, Indices]:
        """Positions in ``rows (m, D)`` of rows equal to a point, and the number of that point, for each."""
        if self.X.shape[0] == 0:
            return self._none
        parts = [self._hits(row_hashes(rows[i : i + BLOCK_ROWS]), i) for i in range(0, rows.shape[0], BLOCK_ROWS)] or [
            self._none
        ]
        positions, points = (np.concatenate(found) for found in zip(*parts, strict=True))
        same = (rows[positions] == self.X[points]).all(axis=1)
        return positions[same], points[same]

    def by_hash(self, hashes: Hashes) -> tuple[Indices, Indices]:
        """The same of rows that are known by their hashes alone: they are nearly always equal."""
        return self._hits(hashes, 0) if self.X.shape[0] else self._none

    @property
    def _none(self) -> tuple[Indices, Indices]:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    def _hits(self, hashes: Hashes, start: int) -> tuple[Indices, Indices]:
        """Positions, counted from ``start``, whose hash is that of a point, with every such point."""
        left = np.searchsorted(self.hashes, hashes, side="left")
        hit = np.flatnonzero(self.hashes[np.minimum(left, self.hashes.shape[0] - 1)] == hashes)
        first = left[hit]
        times = np.searchsorted(self.hashes, hashes[hit], side="right") - first  # above 1 where hashes of points agree
        positions = np.repeat(hit, times)
        offsets = np.arange(positions.shape[0]) - np.repeat(np.cumsum(times) - times, times)
        return positions + start, self.order[np.repeat(first, times) + offsets]


def distinct(X: Array) -> Array:
    """The different rows of ``X``, in the order of their first appearance; 0.0 and -0.0 are the same."""
    if X.shape[0] == 0:
        return X
    _, first = np.unique(X + 0.0, axis=0, return_index=True)
    result: Array = X[np.sort(first)]
    return result
