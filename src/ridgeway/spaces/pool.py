"""A pool: a fixed list of points, in memory, in a file larger than memory, or in many of them."""

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
from ridgeway.gp.scaling import InputScaling
from ridgeway.spaces import array_table, point_chunks, point_tables, row_fingerprint
from ridgeway.spaces.array_table import ArrayTable
from ridgeway.spaces.chunk_table import ChunkTable
from ridgeway.spaces.point_chunks import ParquetPoints
from ridgeway.spaces.row_index import Indices
from ridgeway.types import Array, Inputs

#: Candidates among which :meth:`Pool.spread` chooses, and the memory they may take.
CANDIDATES, CANDIDATE_BYTES = 2000, 2**28
_STREAMED = "rows:"  # what the digest of a pool that is not in memory begins with


class Pool:
    """A fixed list of points ``(n, D)``, from which experiments are chosen by their index.

    ``points`` is an array (also a memory map, also of float32), a data frame of pandas, polars or
    pyarrow, or the path of a ``.csv`` file with a line of column names, a ``.parquet`` or a
    ``.npy`` file; the last is mapped into memory, not read. Arrays up to 256 MB are copied; larger
    ones and maps are kept by reference and must not change. ``names`` name the columns of an array, and say
    in which order those of a table are taken.

    Points that do not fit into memory are Parquet files (a pattern such as ``"points/*.parquet"``, a folder, a list of
    paths, or one file of more than 256 MB of numbers), a Dask array or a Dask table. They are never gathered: one pass
    checks them, and each choice is another pass, a chunk at a time. A point's index is the number of its row in all
    files, in the order of the sorted names or of the list. ``names`` say which columns are inputs. ``cache`` is a
    folder in which the points' coordinates are kept from one choice to the next, and ``n_jobs`` the number of threads
    that read files, by default one for each core; Dask has its own workers.

    >>> pool = Pool([[0.0, 1.0], [0.5, 1.0], [1.0, 3.0]], names=["share", "load"])
    >>> pool
    Pool(3 points of 2 inputs: share, load)
    >>> pool.index_of([[1.0, 3.0], [9.0, 9.0]])
    array([ 2, -1])
    >>> pool.spread(2, np.random.default_rng(0), taken=[0])
    array([2, 1])
    """

    units: tuple[str | None, ...] | None = None  # a table of points has names alone
    path: str | None = None  # of a file that was read into memory, or mapped

    def __init__(
        self,
        points: Any,
        names: Sequence[str] | None = None,
        cache: str | Path | None = None,
        n_jobs: int | None = None,
    ):
        chunks = point_chunks.opened(points, names, n_jobs)
        if chunks is not None:
            self._set(ChunkTable.surveyed(chunks), chunks.names, cache)
            return
        for option, given in (("cache", cache), ("n_jobs", n_jobs)):
            if given is not None:
                raise ValueError(f"{option} must be left out for a pool that is in memory, got {given!r}")
        array, found = point_tables.read(points)
        names = _names.checked(names, array.shape[1])
        found = _names.checked(found)
        if names is not None and found is not None:
            array = columns.reordered(array, found, names, "points")
        own = array.view()  # (n, D)
        own.flags.writeable = False
        named = found if names is None else names
        self._set(ArrayTable(own, named), named, None)
        self.path = str(points) if isinstance(points, str | Path) else None

    def _set(self, table: ArrayTable | ChunkTable, names: tuple[str, ...] | None, cache: Any) -> None:
        self.table = table
        self.names = names
        self.cache = None if cache is None else str(cache)
        self.bounds: tuple[Array, Array] = _widened(*table.range)

    def __len__(self) -> int:
        return self.table.n

    @property
    def D(self) -> int:
        """How many inputs."""
        return self.table.D

    @property
    def in_memory(self) -> bool:
        """Whether the points are in memory, or mapped into it."""
        return isinstance(self.table, ArrayTable)

    @property
    def points(self) -> Any:
        """The points, ``(n, D)``, of a pool that is in memory."""
        if isinstance(self.table, ArrayTable):
            return self.table.points
        raise ValueError(
            "the points of this pool are not in memory: read some with rows(indices), or all with blocks()"
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """What each input is called where it is shown."""
        return _names.labels(self.names, self.D)

    def blocks(self, size: int | None = None) -> Iterator[tuple[int, Array]]:
        """The points as ``(start, block)`` with ``size`` rows of float64 each, by default 16 MB of them.

        Of a pool that is not in memory, the last rows of a chunk may be a shorter block.
        """
        size = array_table.rows_at_a_time(self.D) if size is None else checks.count(size, "size", 1)
        yield from self.table.blocks(size)

    def rows(self, indices: npt.ArrayLike) -> Array:
        """The points with these indices, ``(len(indices), D)``, as float64 of their own."""
        return self.table.rows(self._indices(indices, "indices"))

    def index_of(self, X: Inputs) -> Indices:
        """The first index of a point equal to each row of ``X``, by exact value; -1 where there is none.

        In a pool that is not in memory this is one pass over the points, unless they were asked for or looked for
        before; a point that was asked for has the index that was chosen, also where it has copies.
        """
        return self.table.first_matches(self._points_like(X))

    def find(self, x: npt.ArrayLike) -> Indices:
        """Every index of a point equal to ``x``, ``(D,)``, ascending."""
        point: Any = columns.named_point(x)
        if not isinstance(point, Mapping):
            if np.shape(point) != (self.D,):
                raise ValueError(f"x must have shape ({self.D},), got {np.shape(point)}")
            point = [point]
        return self.table.matches(self._points_like(point))[0]

    def taken(self, X: Array) -> Indices:
        """Every index of a point equal to any row of ``X (k, D)``, ascending."""
        found = self.table.matches(X) if X.shape[0] else []
        return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *found]))

    def texts(self, index: int, columns: Sequence[str]) -> dict[str, str]:
        """Other columns of the row with this index, as text; for a pool of Parquet files."""
        chunks = getattr(self.table, "chunks", None)
        if not isinstance(chunks, ParquetPoints):
            raise ValueError("other columns of a point can be read from Parquet files alone")
        return chunks.texts(int(self._indices([index], "index")[0]), columns)

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

    def spread(
        self,
        n: int,
        rng: np.random.Generator,
        taken: npt.ArrayLike = (),
        among: int = CANDIDATES,
        near: Array | None = None,
    ) -> Indices:
        """``n`` different indices far from each other and from those ``taken``, none of them among these.

        Greedily the farthest point next, with each input scaled to [-1, 1], of at most ``among``
        (and at least ``n``) points drawn at random. ``near (k, D)`` are the points of ``taken``, where they are known.
        """
        n = checks.count(n, "n")
        taken = self._indices(taken, "taken")
        most = max(1, min(among, CANDIDATE_BYTES // (8 * self.D)))
        left = len(self) - np.unique(taken).shape[0]
        candidates = self.uniform(max(n, min(most, left)), rng, taken)
        scaling = InputScaling.from_bounds(*self.bounds)
        Z = scaling.scaled(self.rows(candidates))
        distance = np.full(Z.shape[0], np.inf)
        known = self._some_at_a_time(taken) if near is None else (near,)
        for z in (z for part in known for z in scaling.scaled(part)):
            distance = np.minimum(distance, _squared_distance(Z, z))
        chosen = np.empty(n, dtype=np.int64)
        for k in range(n):
            best = int(np.argmax(distance))
            chosen[k] = candidates[best]
            distance = np.minimum(distance, _squared_distance(Z, Z[best]))
            distance[best] = -1.0  # not again: its copies, at distance 0, come before it
        return chosen

    def _some_at_a_time(self, indices: Indices) -> Iterator[Array]:
        size = array_table.rows_at_a_time(self.D)
        return (self.rows(indices[i : i + size]) for i in range(0, indices.shape[0], size))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the shape and the numbers: the same for equal numbers, however they are stored."""
        digest = hashlib.sha256(f"{len(self)} {self.D} ".encode())
        for _, block in self.blocks():
            digest.update(np.ascontiguousarray(block + 0.0, dtype="<f8").data)  # -0.0 equals 0.0
        return digest.hexdigest()

    @cached_property
    def fingerprint(self) -> str:
        """A shorter text with the same purpose, which a pool that is not in memory knows after its first pass."""
        if isinstance(self.table, ChunkTable):
            return self.table.rows_fingerprint
        total = row_fingerprint.NOTHING
        for _, block in self.blocks():
            total = row_fingerprint.joined(total, row_fingerprint.fingerprint(block))
        return total.text

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold, for :meth:`from_dict`; the points are not in it."""
        names = None if self.names is None else list(self.names)
        about: dict[str, Any] = {"kind": "pool", "path": self.path, "shape": [len(self), self.D]}
        if isinstance(self.table, ChunkTable):
            return {**about, **self.table.description(), "names": names, "cache": self.cache}
        return {**about, "digest": self.digest, "names": names}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any], points: Any = None) -> Pool:
        """The pool that :meth:`to_dict` described, from its files or from ``points``; refused if they differ.

        Files that have the size and the time of their last change as stored are not read again.
        """
        if description.get("kind") != "pool":
            raise ValueError(f"description must be of kind 'pool', got {description.get('kind')!r}")
        checks.keys(description, ("path", "shape", "digest", "names"), "description")
        if points is None and description.get("files") is not None:
            pool = cls._of_files(description)
        else:
            points = description["path"] if points is None else points
            if points is None:
                what = "a Dask collection" if str(description["digest"]).startswith(_STREAMED) else "an array"
                raise ValueError(f"points must be given: the pool was made from {what}, not from a file")
            pool = cls(points, description["names"])
        streamed = str(description["digest"]).startswith(_STREAMED)
        for what, ours, theirs in (
            ("shape", list(description["shape"]), lambda: [len(pool), pool.D]),
            ("digest", description["digest"], lambda: pool.fingerprint if streamed else pool.digest),
        ):
            now = theirs()
            if ours != now:
                raise ValueError(f"points must be what the pool was made of: the {what} was {ours}, now it is {now}")
        return pool

    @classmethod
    def _of_files(cls, description: Mapping[str, Any]) -> Pool:
        files = checks.instance(description["files"], list, "files of description", "a list")
        chunks = point_chunks.parquet([str(file[0]) for file in files], description["names"])
        pool = cls.__new__(cls)
        table = ChunkTable.remembered(chunks, description) or ChunkTable.surveyed(chunks)
        pool._set(table, chunks.names, description.get("cache"))
        return pool

    def __repr__(self) -> str:
        labels = self.names or [f"x{j}" for j in range(min(self.D, 4))]
        counts = f"{len(self):,} point{'s' * (len(self) > 1)} of {self.D} input{'s' * (self.D > 1)}"
        return f"Pool({counts}: {_names.listed(labels)})"

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


def _widened(lower: Array, upper: Array) -> tuple[Array, Array]:
    """The range of each column; one that does not vary gets a range of 1, or of two units in its last place."""
    half = np.where(lower == upper, np.maximum(0.5, np.spacing(np.abs(lower))), 0.0)
    lower, upper = lower - half, upper + half
    lower.flags.writeable = upper.flags.writeable = False
    return lower, upper


def _squared_distance(Z: Array, z: Array) -> Array:
    difference = Z - z
    return np.einsum("ij,ij->i", difference, difference)
