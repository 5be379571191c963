"""A pool's points in the coordinates of a belief, kept from step to step.

A new observation adds one direction to what the data span, so the coordinates of the ``M`` points
of a pool grow by one column. That costs ``M D`` products instead of a projection of the whole pool.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ridgeway.active.pool import Pool
from ridgeway.gp.rowspace import RowSpace
from ridgeway.types import Array

#: Memory for kept coordinates; a pool that needs more is projected anew at every step.
MOST_BYTES = 2**31
#: Points whose coordinates are given at a time.
BLOCK_ROWS = 2**16


class PoolView:
    """Reduced coordinates ``z`` and squared residuals ``rho`` of every point of a pool."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._space: RowSpace | None = None
        self._z = np.empty((0, 0))
        self._rho = np.empty(0)

    def blocks(self, space: RowSpace) -> Iterator[tuple[slice, Array, Array]]:
        """Rows of the pool, and their ``z (m, r)`` and ``rho (m,)`` in ``space``."""
        if 8 * len(self.pool) * max(space.r, 1) > MOST_BYTES:
            for start, points in self.pool.blocks(BLOCK_ROWS):
                yield slice(start, start + points.shape[0]), *space.project(points)
            return
        self._follow(space)
        for start in range(0, len(self.pool), BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, len(self.pool)))
            yield rows, self._z[rows, : space.r], self._rho[rows]

    def _follow(self, space: RowSpace) -> None:
        last = self._space
        if last is space:
            return
        if last is None or not _continues(last, space):
            self._start(space)
        elif space.rows is not None:
            self._grow(space, last.r)
        self._space = space

    def _start(self, space: RowSpace) -> None:
        self._z, self._rho = np.empty((len(self.pool), space.r)), np.empty(len(self.pool))
        for start, points in self.pool.blocks(BLOCK_ROWS):
            rows = slice(start, start + points.shape[0])
            self._z[rows], self._rho[rows] = space.project(points)

    def _grow(self, space: RowSpace, known: int) -> None:
        assert space.L is not None
        assert space.rows is not None
        if space.r > self._z.shape[1]:  # twice as many columns, so that copying them stays rare
            room = np.empty((len(self.pool), min(2 * space.r, space.scaling.D)))
            room[:, :known] = self._z[:, :known]
            self._z = room
        for j in range(known, space.r):
            for start, points in self.pool.blocks(BLOCK_ROWS):
                rows = slice(start, start + points.shape[0])
                inner = space.scaling.inner(points, space.rows[j : j + 1])[:, 0]
                column = (inner - self._z[rows, :j] @ space.L[j, :j]) / space.L[j, j]
                self._z[rows, j] = column
                self._rho[rows] = np.maximum(self._rho[rows] - column**2, 0.0)


def _continues(last: RowSpace, space: RowSpace) -> bool:
    """Whether ``space`` is ``last`` with nothing but rows added."""
    same = np.array_equal(last.scaling.center, space.scaling.center)
    same = same and np.array_equal(last.scaling.half_width, space.scaling.half_width)
    if not same or (last.rows is None) != (space.rows is None):
        return False
    if last.rows is None or space.rows is None:
        return True
    return last.r <= space.r and np.array_equal(last.rows, space.rows[: last.r])
