"""A pool: a fixed list of points, in memory or in a file larger than memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ridgeway import checks, columns
from ridgeway import names as _names
from ridgeway.active import point_tables
from ridgeway.active.rowindex import Indices, RowIndex
from ridgeway.gp.scaling import InputScaling
from ridgeway.types import Array, Inputs

#: Memory for the rows read at a time; a pool in a file is never read whole.
BLOCK_BYTES = 2**24
#: Candidates among which :meth:`Pool.spread` chooses, and the memory they may take.
CANDIDATES, CANDIDATE_BYTES = 2000, 2**28


class Pool:
    """A fixed list of points ``(n, D)``, from which experiments are chosen by their index.

    ``points`` is an array (also a memory map, also of float32), a data frame of pandas, polars or
    pyarrow, or the path of a ``.csv`` file with a line of column names, a ``.parquet`` or a
    ``.npy`` file; the last is mapped into memory, not read. Arrays up to 256 MB are copied; larger
    ones and maps are kept by reference and must not change. ``names`` name the columns of an array, and say
    in which order those of a table are taken.

    >>> pool = Pool([[0.0, 1.0], [0.5, 1.0], [1.0, 3.0]], names=["share", "load"])
    >>> pool
    Pool(3 points of 2 inputs: share, load)
    >>> pool.index_of([[1.0, 3.0], [9.0, 9.0]])
    array([ 2, -1])
    >>> pool.spread(2, np.random.default_rng(0), taken=[0])
    array([2, 1])
    """

    units: tuple[str | None, ...] | None = None  # a table of points has names alone

    def __init__(self, points: Any, names: Sequence[str] | None = None):
        self.path: str | None = str(points) if isinstance(points, str | Path) else None
        array, found = point_tables.read(points)
        names = _names.checked(names, array.shape[1])
        found = _names.checked(found)
        if names is not None and found is not None:
            array = columns.reordered(array, found, names, "points")
        self.names: tuple[str, ...] | None = found if names is None else names
        self.points: Any = array.view()  # (n, D)
        self.points.flags.writeable = False
        self.bounds: tuple[Array, Array] = self._checked_range()

    def __len__(self) -> int:
        return int(self.points.shape[0])

    @property
    def D(self) -> int:
        """How many inputs."""
        return int(self.points.shape[1])

    @property
    def labels(self) -> tuple[str, ...]:
        """What each input is called where it is shown."""
        return _names.labels(self.names, self.D)

    def blocks(self, size: int | None = None) -> Iterator[tuple[int, Array]]:
        """The points as ``(start, block)`` with ``size`` rows of float64 each, by default 16 MB of them."""
        size = max(1, BLOCK_BYTES // (8 * self.D)) if size is None else checks.count(size, "size", 1)
        for start in range(0, len(self), size):
            yield start, _as_float(self.points[start : start + size])

    def rows(self, indices: npt.ArrayLike) -> Array:
        """The points with these indices, ``(len(indices), D)``, as float64 of their own."""
        return np.array(_as_float(self.points[self._indices(indices, "indices")]))

    def index_of(self, X: Inputs) -> Indices:
        """The first index of a point equal to each row of ``X``, by exact value; -1 where there is none."""
        X = self._points_like(X)
        found = np.full(X.shape[0], -1, dtype=np.int64)
        for i, candidates in enumerate(self._index.candidates(X)):
            # The first is nearly always equal; the others may be a million copies of it.
            for some in (candidates[:1], candidates[1:]):
                if found[i] < 0:
                    found[i] = next(iter(self._equal(some, X[i])), -1)
        return found

    def find(self, x: npt.ArrayLike) -> Indices:
        """Every index of a point equal to ``x``, ``(D,)``, ascending."""
        point: Any = columns.named_point(x)
        if not isinstance(point, Mapping):
            if np.shape(point) != (self.D,):
                raise ValueError(f"x must have shape ({self.D},), got {np.shape(point)}")
            point = [point]
        row = self._points_like(point)
        return self._equal(self._index.candidates(row)[0], row[0])

    def uniform(self, n: int, rng: np.random.Generator, exclude: npt.ArrayLike = ()) -> Indices:
        """``n`` different indices drawn at random, none of them in ``exclude``."""
        n = checks.count(n, "n")
        excluded = np.unique(self._indices(exclude, "exclude"))
        left = len(self) - excluded.shape[0]
        if n > left:
            raise ValueError(f"the pool has only {left} points left, {n} asked")
        ranks = rng.choice(left, size=n, replace=False)
        # The k-th index that is not excluded: k, plus one for each excluded index before it.
        below = excluded - np.arange(excluded.shape[0])
        result: Indices = ranks + np.searchsorted(below, ranks, side="right")
        return result

    def spread(self, n: int, rng: np.random.Generator, taken: npt.ArrayLike = (), among: int = CANDIDATES) -> Indices:
        """``n`` different indices far from each other and from those ``taken``, none of them among these.

        Greedily the farthest point next, with each input scaled to [-1, 1], of at most ``among``
        (and at least ``n``) points drawn at random.
        """
        n = checks.count(n, "n")
        taken = self._indices(taken, "taken")
        most = max(1, min(among, CANDIDATE_BYTES // (8 * self.D)))
        left = len(self) - np.unique(taken).shape[0]
        candidates = self.uniform(max(n, min(most, left)), rng, taken)
        scaling = InputScaling.from_bounds(*self.bounds)
        Z = scaling.scaled(self.rows(candidates))
        distance = np.full(Z.shape[0], np.inf)
        for index in taken:
            distance = np.minimum(distance, _squared_distance(Z, scaling.scaled(self.rows([index]))[0]))
        chosen = np.empty(n, dtype=np.int64)
        for k in range(n):
            best = int(np.argmax(distance))
            chosen[k] = candidates[best]
            distance = np.minimum(distance, _squared_distance(Z, Z[best]))
            distance[best] = -1.0  # not again: its copies, at distance 0, come before it
        return chosen

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the shape and the numbers: the same for equal numbers, however they are stored."""
        digest = hashlib.sha256(f"{len(self)} {self.D} ".encode())
        for _, block in self.blocks():
            digest.update(np.ascontiguousarray(block + 0.0, dtype="<f8").data)  # -0.0 equals 0.0
        return digest.hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold, for :meth:`from_dict`; the points are not in it."""
        names = None if self.names is None else list(self.names)
        shape = [len(self), self.D]
        return {"kind": "pool", "path": self.path, "shape": shape, "digest": self.digest, "names": names}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any], points: Any = None) -> Pool:
        """The pool that :meth:`to_dict` described, from its file or from ``points``; refused if they differ."""
        if description.get("kind") != "pool":
            raise ValueError(f"description must be of kind 'pool', got {description.get('kind')!r}")
        checks.keys(description, ("path", "shape", "digest", "names"), "description")
        points = description["path"] if points is None else points
        if points is None:
            raise ValueError("points must be given: the pool was made from an array, not from a file")
        pool = cls(points, description["names"])
        for what, ours, theirs in (
            ("shape", list(description["shape"]), [len(pool), pool.D]),
            ("digest", description["digest"], pool.digest),
        ):
            if ours != theirs:
                raise ValueError(f"points must be what the pool was made of: the {what} was {ours}, now it is {theirs}")
        return pool

    def __repr__(self) -> str:
        labels = self.names or [f"x{j}" for j in range(min(self.D, 4))]
        counts = f"{len(self):,} point{'s' * (len(self) > 1)} of {self.D} input{'s' * (self.D > 1)}"
        return f"Pool({counts}: {_names.listed(labels)})"

    @cached_property
    def _index(self) -> RowIndex:
        return RowIndex.build(block for _, block in self.blocks())

    def _equal(self, candidates: Indices, x: Array) -> Indices:
        """Those of ``candidates`` whose row is ``x``, a block at a time."""
        size = max(1, BLOCK_BYTES // (8 * self.D))
        parts = [candidates[i : i + size] for i in range(0, candidates.shape[0], size)]
        same = [part[(_as_float(self.points[part]) == x).all(axis=1)] for part in parts]
        return np.concatenate([np.empty(0, dtype=np.int64), *same])

    def _checked_range(self) -> tuple[Array, Array]:
        """Range of each column; the same pass checks that all numbers are finite."""
        lower, upper = np.full(self.D, np.inf), np.full(self.D, -np.inf)
        for start, block in self.blocks():
            least, most = block.min(axis=0), block.max(axis=0)  # these are not finite if a number of the column is not
            if not (np.isfinite(least).all() and np.isfinite(most).all()):
                i, j = np.argwhere(~np.isfinite(block))[0]
                where = f"row {start + i}, column {_names.called(self.names, j)}"
                raise ValueError(f"points must be finite, but {where} is {block[i, j]}")
            np.minimum(lower, least, out=lower)
            np.maximum(upper, most, out=upper)
        # A column that does not vary gets a range of 1, or of two units in its last place where that is more.
        half = np.where(lower == upper, np.maximum(0.5, np.spacing(np.abs(lower))), 0.0)
        lower, upper = lower - half, upper + half
        lower.flags.writeable = upper.flags.writeable = False
        return lower, upper

    def _points_like(self, X: Inputs) -> Array:
        X = checks.inputs(X, names=self.names)
        if X.shape[1] != self.D:
            raise ValueError(f"X must have one column for each of the {self.D} inputs of the pool, got {X.shape[1]}")
        result: Array = X.toarray() if hasattr(X, "toarray") else X
        return result

    def _indices(self, indices: npt.ArrayLike, name: str) -> Indices:
        array = np.asarray(indices)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise TypeError(f"{name} must be a sequence of whole numbers, got {indices!r}")
        bad = array[(array < 0) | (array >= len(self))]
        if bad.size:
            raise IndexError(f"{name} must be from 0 to {len(self) - 1}, got {bad[0]}")
        return array.astype(np.int64)


def _as_float(points: Any) -> Array:
    with np.errstate(over="ignore"):  # a number too large for a float becomes infinite, which is an error later
        return np.asarray(points, dtype=np.float64)


def _squared_distance(Z: Array, z: Array) -> Array:
    difference = Z - z
    return np.einsum("ij,ij->i", difference, difference)
