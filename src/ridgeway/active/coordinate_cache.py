"""Coordinates of a pool's points in a folder, kept from one choice to the next.

Each chunk has three files: coordinates in what the data span, one after the other, squared distances to that span, and
hashes of the rows. A new observation adds one coordinate, so the first file grows at its end. ``manifest.json`` says
which points and which span they belong to; without it nothing in the folder is believed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ridgeway import files
from ridgeway.errors import RidgewayWarning
from ridgeway.gp.rowspace import RowSpace
from ridgeway.spaces.chunk_table import ChunkTable
from ridgeway.spaces.point_chunks import Chunk
from ridgeway.spaces.row_index import Hashes, row_hashes
from ridgeway.types import Array

FORMAT = 1
_MANIFEST = "manifest.json"
_BLOCK_ROWS = 2**12  # hashed at a time


@dataclass(frozen=True)
class CachedCoordinates:
    """Files of a folder."""

    folder: str
    r: int

    def load(self, number: int) -> tuple[Array, Array, Hashes]:
        """``z (m, r)``, ``rho (m,)`` and hashes ``(m,)`` of a chunk."""
        rho = np.fromfile(self.path(number, "rho"))
        z = np.fromfile(self.path(number, "z"), count=self.r * rho.shape[0])
        if z.shape[0] != self.r * rho.shape[0]:
            raise ValueError(f"{self.path(number, 'z')} is shorter than it was written: remove the folder of the cache")
        hashes: Hashes = np.fromfile(self.path(number, "hash"), dtype=np.uint64)
        return z.reshape(self.r, -1).T, rho, hashes

    def path(self, number: int, kind: str) -> str:
        """Where a chunk's numbers of one kind are."""
        return os.path.join(self.folder, f"{number:06d}.{kind}")


@dataclass(frozen=True)
class Written:
    """Writes the coordinates of a chunk: all of them, or those after the first ``known``."""

    cache: CachedCoordinates
    space: RowSpace
    known: int = 0

    def __call__(self, chunk: Chunk) -> int:
        X = chunk.X
        if self.known:
            self._grow(chunk.number, X)
            return X.shape[0]
        z, rho = self.space.project(X)
        np.ascontiguousarray(z.T).tofile(self.cache.path(chunk.number, "z"))
        rho.tofile(self.cache.path(chunk.number, "rho"))
        parts = [row_hashes(X[i : i + _BLOCK_ROWS]) for i in range(0, X.shape[0], _BLOCK_ROWS)]
        np.concatenate([np.zeros(0, dtype=np.uint64), *parts]).tofile(self.cache.path(chunk.number, "hash"))
        return X.shape[0]

    def _grow(self, number: int, X: Array) -> None:
        known = CachedCoordinates(self.cache.folder, self.known)
        z, rho, _ = known.load(number)
        columns = self.space.further(X, z)
        with open(self.cache.path(number, "z"), "ab") as stream:
            stream.write(np.ascontiguousarray(columns.T).data)
        np.maximum(rho - np.einsum("ij,ij->i", columns, columns), 0.0).tofile(self.cache.path(number, "rho"))


def following(table: ChunkTable, folder: str, space: RowSpace) -> CachedCoordinates:
    """The coordinates of all points in ``space``, after a pass over the points where they are not there yet."""
    where, manifest = Path(folder), _manifest(table, space)
    cache = CachedCoordinates(folder, space.r)
    found = _found(where, table)
    if found == manifest:
        return cache
    known = _known(found, manifest)
    if not known:
        where.mkdir(parents=True, exist_ok=True)
        _check_room(where, 8 * table.n * (space.r + 2))
        for file in where.glob("[0-9]*"):
            file.unlink()
    (where / _MANIFEST).unlink(missing_ok=True)  # nothing is believed before all of it is written
    table.chunks.total(Written(cache, space, known), _add)
    files.write_text(where / _MANIFEST, json.dumps(manifest))
    return cache


def _add(a: int, b: int) -> int:
    return a + b


def _manifest(table: ChunkTable, space: RowSpace) -> dict[str, Any]:
    """Which points and which span the coordinates belong to."""
    scaling = _digest(space.scaling.center, space.scaling.half_width)
    rows = None if space.rows is None else [_digest(np.asarray(row)) for row in space.rows]
    return {
        "format": FORMAT,
        "points": table.rows_fingerprint,
        "chunks": _digest(table.starts),
        "scaling": scaling,
        "rows": rows,
    }


def _digest(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:16]


def _found(where: Path, table: ChunkTable) -> dict[str, Any] | None:
    """The manifest of a folder; ``None`` where there is none to go on with."""
    if not where.exists():
        return None
    if not where.is_dir():
        raise ValueError(f"cache must be a folder, got {str(where)!r}, which is a file")
    path = where / _MANIFEST
    if not path.exists():
        foreign = [file.name for file in where.iterdir() if file.suffix not in (".z", ".rho", ".hash", ".tmp")]
        if foreign:
            raise ValueError(
                f"cache must be an empty folder or one that a pool has written, but {where} has {foreign[0]!r}"
            )
        return None
    try:
        found = json.loads(path.read_text())
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f"cache must be an empty folder or one that a pool has written, but {path} is something else")
    if found.get("points") != table.rows_fingerprint:
        warnings.warn(
            f"the points of the pool are not those whose coordinates are in {where}: they are computed anew",
            RidgewayWarning,
            stacklevel=2,
        )
        return None
    return found


def _known(found: dict[str, Any] | None, manifest: dict[str, Any]) -> int:
    """How many coordinates of what was found can be kept: all, where nothing but rows was added."""
    if found is None or any(found[key] != manifest[key] for key in ("points", "chunks", "scaling")):
        return 0
    old, new = found["rows"], manifest["rows"]
    if not old or new is None or old != new[: len(old)]:
        return 0
    return len(old)


def _check_room(where: Path, needed: int) -> None:
    free = shutil.disk_usage(where).free
    if needed > free:
        raise ValueError(f"cache needs about {needed / 1e9:.0f} GB in {where}, where {free / 1e9:.0f} GB are free")
