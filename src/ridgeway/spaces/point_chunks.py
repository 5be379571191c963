"""Points that do not fit into memory: Parquet files and Dask collections, a chunk at a time.

A question about the points travels to every chunk, and the answers, which are small, come back in the order of the
rows: from threads where the points are in files, and from Dask, so from any cluster that a client is connected to,
where they are Dask's. Chunks are loaded anew for every question.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ridgeway import checks
from ridgeway import names as _names
from ridgeway.belief import row_blocks
from ridgeway.types import Array

S = TypeVar("S")

#: Memory for a chunk of a file, and the most rows that it has.
CHUNK_BYTES, CHUNK_ROWS = 2**25, 2**16
#: A single Parquet file with fewer bytes of numbers is read into memory.
SMALL_BYTES = 2**28


class Chunk(NamedTuple):
    """Consecutive rows: their number among all chunks, ``X (m, D)`` in the user's units, and what to call them."""

    number: int
    X: Array
    name: str


Question = Callable[[Chunk], S]


class Chunks(Protocol):
    """All points, in an order that does not change."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """Of the inputs, where they have names."""

    @property
    def D(self) -> int:
        """How many inputs."""

    @property
    def files(self) -> list[list[Any]] | None:
        """Path, size and time of the last change of every file; ``None`` where there are none."""

    @property
    def sizes(self) -> Sequence[int] | None:
        """Rows of every chunk, where they are known without looking."""

    def ask(self, question: Question[S], only: Collection[int] | None = None) -> Iterator[S]:
        """The answers of all chunks, or of those numbers alone, in order."""

    def total(self, question: Question[S], add: Callable[[S, S], S]) -> S:
        """The answers of all chunks, combined."""

    def work(self, function: Callable[[int], S], add: Callable[[S, S], S]) -> S:
        """The combined answers of ``function`` to the numbers of all chunks, whose points it does not need."""


def opened(points: Any, names: Sequence[str] | None, n_jobs: int | None = None) -> Chunks | None:
    """The chunks behind what a user calls ``points``; ``None`` for what is, or will be, in memory."""
    if type(points).__module__.split(".")[0] in ("dask", "dask_expr"):
        return _dask_frame(points, names) if hasattr(points, "columns") else _dask_array(points, names)
    if isinstance(points, str | Path) and not _means_several(str(points)):
        large = str(points).lower().endswith(".parquet") and _is_large(str(points))
        return parquet([str(points)], names, n_jobs) if large else None
    paths = row_blocks.paths(points, "points")
    return None if paths is None else parquet(paths, names, n_jobs)


def columns_of(points: str | Path) -> tuple[str, ...] | None:
    """Columns of the first of several files, or of one that is large; ``None`` for a file that is read whole."""
    path = str(points)
    if not _means_several(path) and not (path.lower().endswith(".parquet") and _is_large(path)):
        return None
    found = row_blocks.paths(points, "points") or []
    return tuple(row_blocks.parquet_module().read_schema(found[0]).names)


def _means_several(path: str) -> bool:
    return os.path.isdir(path) or (any(sign in path for sign in "*?[") and not os.path.exists(path))


def _is_large(path: str) -> bool:
    """Whether a Parquet file has more numbers than are read into memory."""
    try:
        metadata = row_blocks.parquet_module().read_metadata(path)
    except Exception:  # whatever is wrong with it, who reads it as a table says it
        return False
    return bool(8 * metadata.num_rows * metadata.num_columns > SMALL_BYTES)


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# -- Parquet -----------------------------------------------------------------------------------------


class Group(NamedTuple):
    """One row group of a Parquet file, and the number of its first chunk."""

    path: str
    number: int
    rows: int
    first: int


@dataclass(frozen=True)
class ParquetPoints:
    """Row groups of Parquet files, read by threads, some rows at a time."""

    groups: tuple[Group, ...]
    identities: tuple[tuple[str, int, int], ...]  # path, size, time of the last change
    columns: tuple[str, ...]
    chunk_rows: int
    n_jobs: int

    @property
    def names(self) -> tuple[str, ...]:
        return self.columns

    @property
    def D(self) -> int:
        return len(self.columns)

    @property
    def files(self) -> list[list[Any]]:
        return [list(identity) for identity in self.identities]

    @cached_property
    def _identity_of(self) -> dict[str, tuple[str, int, int]]:
        return {identity[0]: identity for identity in self.identities}

    @property
    def sizes(self) -> list[int]:
        size = self.chunk_rows
        return [min(size, group.rows - i) for group in self.groups for i in range(0, group.rows, size)]

    def ask(self, question: Question[S], only: Collection[int] | None = None) -> Iterator[S]:
        for answers in in_threads(lambda group: self._answers(group, question, only), self.groups, self.n_jobs):
            yield from answers

    def total(self, question: Question[S], add: Callable[[S, S], S]) -> S:
        return _folded(self.ask(question), add)

    def work(self, function: Callable[[int], S], add: Callable[[S, S], S]) -> S:
        return _folded(in_threads(function, range(len(self.sizes)), self.n_jobs), add)

    def texts(self, row: int, columns: Sequence[str]) -> dict[str, str]:
        """Other columns of one row, as text."""
        for group in self.groups:
            if row < group.rows:
                break
            row -= group.rows
        cells = self._read(group, columns).slice(row, 1).to_pydict()
        return {column: "" if cells[column][0] is None else str(cells[column][0]) for column in columns}

    def _answers(self, group: Group, question: Question[S], only: Collection[int] | None) -> list[S]:
        last = group.first + -(-group.rows // self.chunk_rows)
        wanted = range(group.first, last) if only is None else [i for i in range(group.first, last) if i in only]
        return [question(chunk) for chunk in self._chunks(group, wanted)] if wanted else []

    def _chunks(self, group: Group, wanted: Sequence[int]) -> Iterator[Chunk]:
        """Chunks of one row group: batches, as pyarrow cuts them, cut anew."""
        last, filled, number = wanted[-1], 0, group.first
        buffer = np.empty((min(self.chunk_rows, group.rows), self.D))
        for batch in self._batches(group):
            done = 0
            while done < batch.num_rows:
                room = min(buffer.shape[0] - filled, batch.num_rows - done)
                if number in wanted:
                    where = f"{group.path}, row group {group.number}"
                    _write(batch.slice(done, room), self.columns, buffer[filled : filled + room], where)
                filled, done = filled + room, done + room
                left = group.rows - (number - group.first) * self.chunk_rows
                if filled == min(self.chunk_rows, left):
                    if number in wanted:
                        yield Chunk(number, buffer[:filled], f"row group {group.number} of {group.path}")
                    if number == last:
                        return
                    number, filled = number + 1, 0
                    buffer = np.empty_like(buffer)  # who got the last one may keep it

    def _batches(self, group: Group) -> Iterator[Any]:
        with self._reading(group) as file:
            yield from file.iter_batches(self.chunk_rows, row_groups=[group.number], columns=list(self.columns))

    def _read(self, group: Group, columns: Sequence[str]) -> Any:
        with self._reading(group) as file:
            return file.read_row_group(group.number, list(columns))

    @contextmanager
    def _reading(self, group: Group) -> Iterator[Any]:
        if _identity(group.path) != self._identity_of[group.path]:
            raise ValueError(f"{group.path} has changed since this pool was opened: make the pool anew")
        try:
            with row_blocks.parquet_module().ParquetFile(group.path) as file:
                yield file
        except OSError as error:
            raise FileNotFoundError(f"{group.path} could not be read any more: {error}") from None


def parquet(paths: Sequence[str], names: Sequence[str] | None, n_jobs: int | None = None) -> ParquetPoints:
    """All rows of Parquet files in the order of ``paths``, whose columns ``names`` are the inputs; all without."""
    module = row_blocks.parquet_module()
    groups: list[Group] = []
    chosen, chunk_rows, first = names, 1, 0
    for path in paths:
        try:
            file = module.ParquetFile(path)
        except FileNotFoundError:
            raise FileNotFoundError(f"points must be files that exist, got {path!r}") from None
        except Exception as error:  # pyarrow has several kinds
            raise ValueError(f"{path} is not a Parquet file: {error}") from None
        schema = file.schema_arrow
        if chosen is None:
            chosen = list(schema.names)
        chunk_rows = rows_at_a_time(len(chosen))
        _check_columns(path, schema, chosen, paths[0] if names is None else None)
        for i in range(file.num_row_groups):
            rows = int(file.metadata.row_group(i).num_rows)
            if rows:
                groups.append(Group(path, i, rows, first))
                first += -(-rows // chunk_rows)
    if not groups:
        raise ValueError(f"points must have at least one row, but {_listed(paths)} has none")
    jobs = available_cores() if n_jobs is None else checks.count(n_jobs, "n_jobs", 1)
    columns = _names.checked(chosen)
    assert columns is not None
    return ParquetPoints(tuple(groups), tuple(_identity(path) for path in paths), columns, chunk_rows, jobs)


def rows_at_a_time(D: int) -> int:
    """How many rows of ``D`` inputs a chunk of a file has."""
    return max(1, min(CHUNK_ROWS, CHUNK_BYTES // (8 * max(D, 1))))


def _check_columns(path: str, schema: Any, columns: Sequence[str], like: str | None) -> None:
    types = row_blocks.arrow_types()
    for column in columns:
        if column not in schema.names:
            expected = "a column for each of names" if like is None else f"the columns of {like}"
            raise ValueError(f"{path} must have {expected}, but it has no {column!r}, only {', '.join(schema.names)}")
        kind = schema.field(column).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)):
            raise TypeError(
                f"points must hold numbers, but column {column!r} of {path} holds {kind}: "
                "name the columns that are inputs, as in Pool(points, names=[...])"
            )


def _write(batch: Any, columns: Sequence[str], out: Array, where: str) -> None:
    """Columns of a batch of rows as numbers, into ``out (m, D)``."""
    for j, column in enumerate(columns):
        values = batch.column(column)
        if values.null_count:
            raise ValueError(
                f"points must be complete, but column {column!r} of {where} has {values.null_count} empty values"
            )
        out[:, j] = values.to_numpy(zero_copy_only=False)


def _identity(path: str) -> tuple[str, int, int]:
    try:
        found = os.stat(path)
    except OSError as error:
        raise FileNotFoundError(f"{path} is not there any more: {error.strerror}") from None
    return path, found.st_size, found.st_mtime_ns


def _listed(paths: Sequence[str]) -> str:
    return paths[0] if len(paths) == 1 else f"none of {len(paths)} files from {paths[0]}"


def in_threads(function: Callable[[Any], S], items: Sequence[Any], n_jobs: int) -> Iterator[S]:
    """``function`` of all items, in order, by ``n_jobs`` threads; what is not begun is left where one fails."""
    if n_jobs == 1 or len(items) == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        begun: deque[Future[S]] = deque()
        try:
            for item in items:
                begun.append(pool.submit(function, item))
                if len(begun) > 2 * n_jobs:  # answers wait for those before them, but not too many
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _folded(answers: Iterator[S], add: Callable[[S, S], S]) -> S:
    total = next(answers)
    for answer in answers:
        total = add(total, answer)
    return total


# -- Dask --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DaskPoints:
    """Chunks that are Dask's: questions are sent to them, and answers combined where they are."""

    parts: tuple[Any, ...]  # delayed chunks
    names: tuple[str, ...] | None
    D: int
    sizes: Sequence[int] | None

    @property
    def files(self) -> None:
        return None

    def ask(self, question: Question[S], only: Collection[int] | None = None) -> Iterator[S]:
        import dask

        # One node of the graph holds the question: it goes once to each worker, not once with each chunk.
        held, answer = dask.delayed(question, pure=False, traverse=False), dask.delayed(_answer, pure=False)
        chosen = [part for i, part in enumerate(self.parts) if only is None or i in only]
        return iter(dask.compute(*(answer(held, part) for part in chosen)))

    def total(self, question: Question[S], add: Callable[[S, S], S]) -> S:
        return self._added(question, self.parts, add)

    def work(self, function: Callable[[int], S], add: Callable[[S, S], S]) -> S:
        return self._added(function, range(len(self.parts)), add)

    def _added(self, function: Any, items: Sequence[Any], add: Callable[[S, S], S]) -> S:
        import dask

        held, answer = dask.delayed(function, pure=False, traverse=False), dask.delayed(_answer, pure=False)
        total: S = row_blocks.tree([answer(held, item) for item in items], dask.delayed(add, pure=False)).compute()
        return total


def _answer(function: Callable[[Any], S], item: Any) -> S:
    return function(item)


def _dask_array(points: Any, names: Sequence[str] | None) -> DaskPoints:
    import dask

    if getattr(points, "ndim", 0) != 2 or not hasattr(points, "rechunk"):
        raise ValueError(f"points must be a Dask array of shape (n, D) or a Dask table, got {type(points).__name__}")
    if points.dtype.kind not in "fiub":
        raise TypeError(f"points must hold numbers, got a Dask array of {points.dtype}")
    D = int(points.shape[1])
    columns = _names.checked(names, D)
    if D == 0:
        raise ValueError("points must have at least one row and one column, got none")
    whole = points.rechunk({1: -1})
    sizes = [int(n) for n in whole.chunks[0]] if not np.isnan(whole.chunks[0]).any() else None
    block = dask.delayed(_of_array, pure=False)
    parts = tuple(block(part, i) for i, part in enumerate(whole.to_delayed().ravel()))
    return DaskPoints(parts, columns, D, sizes)


def _of_array(block: Any, number: int) -> Chunk:
    return Chunk(number, np.ascontiguousarray(block, dtype=np.float64), f"chunk {number}")


def _dask_frame(points: Any, names: Sequence[str] | None) -> DaskPoints:
    import dask

    found = [str(column) for column in points.columns]
    columns = _names.checked(found if names is None else names)
    assert columns is not None
    for column in columns:
        if column not in found:
            raise ValueError(f"points must have a column for each of names, but there is no {column!r}")
        kind = points.dtypes[column]
        if getattr(kind, "kind", "O") not in "fiub":
            raise TypeError(
                f"points must hold numbers, but column {column!r} holds {kind}: "
                "name the columns that are inputs, as in Pool(points, names=[...])"
            )
    block = dask.delayed(_of_frame, pure=False)
    parts = tuple(block(part, columns, i) for i, part in enumerate(points[list(columns)].to_delayed()))
    return DaskPoints(parts, columns, len(columns), None)


def _of_frame(frame: Any, columns: tuple[str, ...], number: int) -> Chunk:
    X = np.empty((len(frame), len(columns)))
    for j, column in enumerate(columns):
        values = frame[column]
        if getattr(values.dtype, "kind", "O") not in "fiub":
            raise TypeError(f"points must hold numbers, but column {column!r} of partition {number} is {values.dtype}")
        X[:, j] = values.to_numpy(dtype=np.float64, na_value=np.nan)
    return Chunk(number, X, f"partition {number}")
