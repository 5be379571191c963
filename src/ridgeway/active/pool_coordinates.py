"""A pool's points in the coordinates of a belief, kept from step to step, and the best of them.

A new observation adds one direction to what the data span, so the coordinates of the ``M`` points
of a pool grow by one column. That costs ``M D`` products instead of a projection of the whole pool.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ridgeway.active import coordinate_cache, shortlist
from ridgeway.active.outlook import Outlook
from ridgeway.active.shortlist import Leading, LeadingByCoordinates, Merge, Shortlist
from ridgeway.blas import blas_threads
from ridgeway.gp.rowspace import RowSpace
from ridgeway.spaces.chunk_table import ChunkTable
from ridgeway.spaces.pool import Pool
from ridgeway.spaces.row_lookup import RowLookup, distinct
from ridgeway.types import Array

#: Memory for kept coordinates; a pool that needs more is projected anew at every step.
MOST_BYTES = 2**31
#: Points whose coordinates are given at a time.
BLOCK_ROWS = 2**16


class View(Protocol):
    """A pool as a choice of its best points sees it."""

    @property
    def pool(self) -> Pool:
        """The pool."""

    def leading(self, outlook: Outlook, acquisition: Any, seen: Array, most: int) -> Shortlist:
        """The ``most`` best rows of all that are equal to none of ``seen (k, D)``; every row is scored."""


def view_of(pool: Pool) -> View:
    """The view of a pool, wherever its points are."""
    return PoolView(pool) if pool.in_memory else ChunkView(pool)


class PoolView:
    """Reduced coordinates ``z`` and squared residuals ``rho`` of every point of a pool."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._space: RowSpace | None = None
        self._z = np.empty((0, 0))
        self._rho = np.empty(0)

    def leading(self, outlook: Outlook, acquisition: Any, seen: Array, most: int) -> Shortlist:
        """The ``most`` best rows of all that are equal to none of ``seen (k, D)``."""
        scores = outlook.pool_scores(acquisition, self)
        taken = self.pool.taken(seen)
        found = shortlist.of_scores(scores, 0, (taken, np.zeros_like(taken)), None, most, self.pool.D)
        return found._replace(points=self.pool.rows(found.rows))

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
        if space.r > self._z.shape[1]:  # twice as many columns, so that copying them stays rare
            room = np.empty((len(self.pool), min(2 * space.r, space.scaling.D)))
            room[:, :known] = self._z[:, :known]
            self._z = room
        for start, points in self.pool.blocks(BLOCK_ROWS):
            rows = slice(start, start + points.shape[0])
            added = space.further(points, self._z[rows, :known])
            self._z[rows, known : space.r] = added
            self._rho[rows] = np.maximum(self._rho[rows] - np.einsum("ij,ij->i", added, added), 0.0)


@dataclass(frozen=True)
class ChunkView:
    """A pool that is not in memory: its chunks are scored where they are, and send their best rows."""

    pool: Pool

    def leading(self, outlook: Outlook, acquisition: Any, seen: Array, most: int) -> Shortlist:
        """The ``most`` best rows of all that are equal to none of ``seen (k, D)``; one pass over the points."""
        table = self.pool.table
        assert isinstance(table, ChunkTable)
        different = distinct(seen)
        with blas_threads(0):  # one thread of BLAS for each chunk that is scored at the same time
            found = self._asked(table, outlook, acquisition, RowLookup.of(different), most)
        table.remember(different, found.hits)
        return found if found.points is not None else found._replace(points=table.rows(found.rows))

    def _asked(self, table: ChunkTable, outlook: Outlook, acquisition: Any, lookup: RowLookup, most: int) -> Shortlist:
        space = None if self.pool.cache is None else getattr(outlook, "coordinates", None)
        if space is not None and self.pool.cache is not None:
            cache = coordinate_cache.following(table, self.pool.cache, space)
            by_number = LeadingByCoordinates(outlook, acquisition, lookup, table.starts, most, cache)
            return table.chunks.work(by_number, Merge(most))
        with_points = 8 * most * table.D <= shortlist.POINT_BYTES
        question = Leading(outlook, acquisition, lookup, table.starts, most, with_points)
        return table.chunks.total(question, Merge(most))


def _continues(last: RowSpace, space: RowSpace) -> bool:
    """Whether ``space`` is ``last`` with nothing but rows added."""
    same = np.array_equal(last.scaling.center, space.scaling.center)
    same = same and np.array_equal(last.scaling.half_width, space.scaling.half_width)
    if not same or (last.rows is None) != (space.rows is None):
        return False
    if last.rows is None or space.rows is None:
        return True
    return last.r <= space.r and np.array_equal(last.rows, space.rows[: last.r])
