"""The points of a pool that is not in memory: what one pass over them says, and rows read by their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ridgeway import names as _names
from ridgeway.spaces.point_chunks import Chunk, Chunks
from ridgeway.spaces.row_fingerprint import NOTHING, Fingerprint, fingerprint, joined
from ridgeway.spaces.row_index import Indices
from ridgeway.spaces.row_lookup import RowLookup, distinct
from ridgeway.types import Array


class Survey(NamedTuple):
    """What a pass over a chunk, or over all of them, finds."""

    lower: Array  # (D,)
    upper: Array  # (D,)
    rows: Fingerprint


@dataclass(frozen=True)
class SurveyChunk:
    """The question of the first pass; what is wrong with a chunk is said before anything else is computed."""

    D: int
    names: tuple[str, ...] | None

    def __call__(self, chunk: Chunk) -> Survey:
        X = chunk.X
        if X.ndim != 2 or X.shape[1] != self.D:
            raise ValueError(f"points must have {self.D} columns in every chunk, but {chunk.name} has shape {X.shape}")
        if X.shape[0] == 0:
            return Survey(np.full(self.D, np.inf), np.full(self.D, -np.inf), NOTHING)
        lower, upper = X.min(axis=0), X.max(axis=0)  # not finite where a number of the column is not
        if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
            i, j = np.argwhere(~np.isfinite(X))[0]
            where = f"row {i} of {chunk.name}, column {_names.called(self.names, j)}"
            raise ValueError(f"points must be finite, but {where} is {X[i, j]}")
        return Survey(lower, upper, fingerprint(X))


@dataclass(frozen=True)
class Picked:
    """Some rows of some chunks: ``wanted`` holds their numbers within each."""

    wanted: Mapping[int, Indices]

    def __call__(self, chunk: Chunk) -> Array:
        result: Array = chunk.X[self.wanted[chunk.number]]
        return result


@dataclass(frozen=True)
class Located:
    """Where points occur: rows within the whole pool and the number of the point, side by side, ``(hits, 2)``."""

    lookup: RowLookup
    starts: Indices

    def __call__(self, chunk: Chunk) -> Indices:
        positions, points = self.lookup.find(chunk.X)
        return np.column_stack([positions + self.starts[chunk.number], points])


def _whole(chunk: Chunk) -> Array:
    return chunk.X


def stacked(a: Indices, b: Indices) -> Indices:
    """Hits of one chunk and of the next."""
    return np.concatenate([a, b])


@dataclass(frozen=True)
class ChunkTable:
    """Points in chunks, after a pass over them."""

    chunks: Chunks
    starts: Indices  # (chunks + 1,) number of the first row of each, and of all rows
    lower: Array
    upper: Array
    rows_fingerprint: str
    _located: dict[bytes, Indices] = field(default_factory=dict, repr=False, compare=False)  # rows of points looked for
    _chosen: dict[bytes, int] = field(default_factory=dict, repr=False, compare=False)  # one row of points chosen

    @classmethod
    def surveyed(cls, chunks: Chunks) -> ChunkTable:
        """After a pass over all points, which checks them."""
        sizes, total = [0], NOTHING
        lower, upper = np.full(chunks.D, np.inf), np.full(chunks.D, -np.inf)
        for found in chunks.ask(SurveyChunk(chunks.D, chunks.names)):
            sizes.append(found.rows.n)
            total = joined(total, found.rows)
            lower, upper = np.minimum(lower, found.lower), np.maximum(upper, found.upper)
        if total.n == 0:
            raise ValueError("points must have at least one row, got none")
        return cls(chunks, np.cumsum(sizes), lower, upper, total.text)

    @classmethod
    def remembered(cls, chunks: Chunks, description: Mapping[str, Any]) -> ChunkTable | None:
        """As stored, if the files are those of then: same size and same time of the last change; else ``None``."""
        if chunks.files is None or chunks.sizes is None or chunks.files != description.get("files"):
            return None
        starts = np.concatenate([[0], np.cumsum(chunks.sizes)])
        lower, upper = (np.asarray(side, dtype=float) for side in description["range"])
        if [int(starts[-1]), chunks.D] != list(description["shape"]) or lower.shape != (chunks.D,):
            return None
        return cls(chunks, starts, lower, upper, str(description["digest"]))

    def description(self) -> dict[str, Any]:
        """What opening it again needs, beside its shape and names."""
        return {
            "digest": self.rows_fingerprint,
            "files": self.chunks.files,
            "range": [self.lower.tolist(), self.upper.tolist()],
        }

    @property
    def n(self) -> int:
        """How many points."""
        return int(self.starts[-1])

    @property
    def D(self) -> int:
        """How many inputs."""
        return self.chunks.D

    @property
    def range(self) -> tuple[Array, Array]:
        """Least and largest value of each input."""
        return self.lower, self.upper

    @cached_property
    def n_chunks(self) -> int:
        """How many chunks."""
        return len(self.starts) - 1

    def blocks(self, size: int) -> Iterator[tuple[int, Array]]:
        """The points as ``(start, block)``, at most ``size`` rows each, one chunk after the other."""
        for number in range(self.n_chunks):
            for X in self.chunks.ask(_whole, only=(number,)):
                for i in range(0, X.shape[0], size):
                    yield int(self.starts[number]) + i, X[i : i + size]

    def rows(self, indices: Indices) -> Array:
        """The points with these numbers, ``(len(indices), D)``; only the chunks that hold them are read."""
        order = np.argsort(indices, kind="stable")
        ascending = indices[order]
        owner = np.searchsorted(self.starts, ascending, side="right") - 1
        chunks, first = np.unique(owner, return_index=True)
        parts = np.split(ascending, first[1:])
        wanted = {int(c): part - self.starts[c] for c, part in zip(chunks, parts, strict=False)}
        result = np.empty((indices.shape[0], self.D))
        if wanted:
            result[order] = np.concatenate(list(self.chunks.ask(Picked(wanted), only=wanted.keys())))
        return result

    def matches(self, X: Array) -> list[Indices]:
        """For each row of ``X`` the numbers of all points equal to it, ascending; one pass for those not known yet."""
        keys = [_key(x) for x in X]
        missing = [i for i, key in enumerate(keys) if key not in self._located]
        if missing:
            unknown = distinct(X[missing])
            lookup = RowLookup.of(unknown)
            self.remember(unknown, self.chunks.total(Located(lookup, self.starts), stacked))
        return [self._located[key] for key in keys]

    def first_matches(self, X: Array) -> Indices:
        """One number of a point equal to each row of ``X``: the one that was chosen, or the first; -1 without one."""
        keys = [_key(x) for x in X]
        unknown = [i for i, key in enumerate(keys) if key not in self._chosen]
        found = dict(zip(unknown, self.matches(X[unknown]) if unknown else (), strict=True))
        first = {i: int(rows[0]) if rows.size else -1 for i, rows in found.items()}
        return np.array([first[i] if i in first else self._chosen[key] for i, key in enumerate(keys)], dtype=np.int64)

    def note(self, rows: Indices, X: Array) -> None:
        """That the points ``X`` were chosen by these numbers: they need not be looked for."""
        self._chosen.update((_key(x), int(row)) for row, x in zip(rows, X, strict=True))

    def remember(self, X: Array, hits: Indices) -> None:
        """That the different points ``X`` occur at these rows and nowhere else, as :class:`Located` says it."""
        for i, x in enumerate(X):
            self._located[_key(x)] = np.sort(hits[hits[:, 1] == i, 0])


def _key(x: Array) -> bytes:
    return bytes(np.ascontiguousarray(x + 0.0).data)
