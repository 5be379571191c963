"""A shortlist: the best rows of a pool by their scores, kept while all rows are seen once, in any order of chunks.

Rows that were asked for before are left out by their value, and so are their copies. Between equal scores the row with
the smaller number comes first, so that a shortlist does not depend on how a pool is cut into chunks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ridgeway.active.allocation import kept_memory
from ridgeway.active.coordinate_cache import CachedCoordinates
from ridgeway.active.outlook import Outlook
from ridgeway.spaces.point_chunks import Chunk
from ridgeway.spaces.row_index import Indices
from ridgeway.spaces.row_lookup import RowLookup
from ridgeway.types import Array

#: Points scored at a time: a few megabytes.
BLOCK_ROWS = 2**13
#: Memory for the points of a shortlist that travel with it; more are read afterwards.
POINT_BYTES = 2**24


class Shortlist(NamedTuple):
    """The best rows that are free, in ascending order."""

    rows: Indices  # (k,)
    scores: Array  # (k,)
    points: Array | None  # (k, D), where they came along
    least: float  # score of all rows that are free
    most: float
    hits: Indices  # (h, 2) rows that are not free, and the number of the point that each is equal to


def nothing(D: int, with_points: bool) -> Shortlist:
    """Of no rows."""
    none = np.zeros(0, dtype=np.int64)
    points = np.zeros((0, D)) if with_points else None
    return Shortlist(none, np.zeros(0), points, np.inf, -np.inf, none.reshape(0, 2))


def best_positions(scores: Array, most: int) -> Indices:
    """Positions of the ``most`` best scores, ascending; of equal ones the first."""
    m = scores.shape[0]
    if m <= most:
        return np.arange(m)
    border = np.partition(scores, m - most)[m - most]
    better = scores > border
    level = np.flatnonzero(scores == border)[: most - int(better.sum())]
    better[level] = True
    return np.flatnonzero(better)


def of_scores(
    scores: Array, start: int, taken: tuple[Indices, Indices], X: Array | None, most: int, D: int
) -> Shortlist:
    """Of consecutive rows from number ``start`` on; ``taken`` are positions that are not free, and their points."""
    positions, points = taken
    free = np.ones(scores.shape[0], dtype=bool)
    free[positions] = False
    hits = np.column_stack([positions + start, points])
    left = np.flatnonzero(free)
    if left.size == 0:
        return nothing(D, X is not None)._replace(hits=hits)
    best = left[best_positions(scores[left], most)]
    own = None if X is None else X[best]
    return Shortlist(best + start, scores[best], own, float(scores[left].min()), float(scores[left].max()), hits)


@dataclass(frozen=True)
class Merge:
    """Two shortlists as one, of at most ``most`` rows."""

    most: int

    def __call__(self, a: Shortlist, b: Shortlist) -> Shortlist:
        rows, scores = np.concatenate([a.rows, b.rows]), np.concatenate([a.scores, b.scores])
        order = np.argsort(rows, kind="stable")
        best = order[best_positions(scores[order], self.most)]
        points = None
        if a.points is not None and b.points is not None:
            points = np.concatenate([a.points, b.points])[best]
        hits = np.concatenate([a.hits, b.hits])
        return Shortlist(rows[best], scores[best], points, min(a.least, b.least), max(a.most, b.most), hits)


@dataclass(frozen=True)
class Leading:
    """The question to every chunk of a pool that is not in memory: its best rows."""

    outlook: Outlook
    acquisition: Any
    lookup: RowLookup  # points that are not free
    starts: Indices  # number of the first row of each chunk
    most: int
    with_points: bool

    def __call__(self, chunk: Chunk) -> Shortlist:
        X, scores = chunk.X, np.empty(chunk.X.shape[0])
        with kept_memory():
            for i in range(0, X.shape[0], BLOCK_ROWS):
                scores[i : i + BLOCK_ROWS] = self.outlook.score(self.acquisition, X[i : i + BLOCK_ROWS])
        own = X if self.with_points else None
        start = int(self.starts[chunk.number])
        return of_scores(scores, start, self.lookup.find(X), own, self.most, X.shape[1])


@dataclass(frozen=True)
class LeadingByCoordinates:
    """The same from coordinates in a cache; the points are not read."""

    outlook: Any  # a PendingBelief
    acquisition: Any
    lookup: RowLookup
    starts: Indices
    most: int
    cache: CachedCoordinates

    def __call__(self, number: int) -> Shortlist:
        z, rho, hashes = self.cache.load(number)
        scores = np.empty(rho.shape[0])
        with kept_memory():
            for i in range(0, rho.shape[0], BLOCK_ROWS):
                at = slice(i, i + BLOCK_ROWS)
                scores[at] = self.outlook.score_coordinates(self.acquisition, np.ascontiguousarray(z[at]), rho[at])
        start = int(self.starts[number])
        return of_scores(scores, start, self.lookup.by_hash(hashes), None, self.most, self.lookup.X.shape[1])
