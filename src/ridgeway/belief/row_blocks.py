"""Rows that do not fit into memory: Parquet files, Dask collections and batches, a block at a time.

A block knows how to load itself, and is loaded anew for every pass. Questions about rows travel to the blocks, and
their answers, which are small, are added up two by two: by Dask where the rows are Dask's, so on any cluster that a
client is connected to, and otherwise by threads.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ridgeway import checks
from ridgeway.types import Array

S = TypeVar("S")


class Rows(NamedTuple):
    """One block: inputs ``(n, D)`` and outputs ``(n,)`` in the user's units, and what to call it in a message."""

    X: Array
    y: Array
    name: str


class Blocks(Protocol):
    """All rows, in an order of their own."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """Of the inputs, where they have names."""

    def ask(self, question: Callable[[Rows], S]) -> list[S]:
        """The answer of every block, in order."""

    def total(self, question: Callable[[Rows], S], add: Callable[[S, S], S]) -> S:
        """The answers of all blocks, added up."""


def opened(X: Any, y: Any) -> Blocks | None:
    """The blocks behind what a user calls ``X`` and ``y``; ``None`` for arrays and tables in memory."""
    module = type(X).__module__.split(".")[0]
    if module in ("dask", "dask_expr"):
        return _dask_frame(X, y) if hasattr(X, "columns") else _dask_array(X, y)
    found = paths(X)
    if found is not None:
        return _parquet(found, y)
    is_iterable = isinstance(X, Iterable) and not hasattr(X, "__array__") and not hasattr(X, "shape")
    if y is None and (callable(X) or is_iterable):
        return Batches(X)
    return None


def tree(answers: Sequence[S], add: Callable[[S, S], S]) -> S:
    """Answers added up two by two, so that rounding does not grow with their number."""
    level = list(answers)
    while len(level) > 1:
        pairs = [add(a, b) for a, b in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[len(level) // 2 * 2 :]
    return level[0]


def _checked(X: Any, y: Any, name: str, names: tuple[str, ...] | None = None) -> Rows:
    """A block as numbers; complaints name it."""
    inputs = checks.dense(checks.inputs(X, None if names is None else len(names), f"X of {name}", False))
    return Rows(inputs, checks.numeric(y, f"y of {name}").reshape(-1), name)


# -- batches ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batches:
    """Pairs ``(X, y)`` from something that can be iterated over again, or from a function that returns such a thing."""

    batches: Any
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not callable(self.batches) and iter(self.batches) is self.batches:
            raise TypeError(
                "X must be batches that can be read several times, a list or a function that returns an iterator, got "
                f"a {type(self.batches).__name__}, which can be read once"
            )

    def _blocks(self) -> Iterator[Rows]:
        for i, batch in enumerate(self.batches() if callable(self.batches) else self.batches):
            if not (isinstance(batch, tuple | list) and len(batch) == 2):
                raise TypeError(f"X must be batches of pairs (X, y), got {type(batch).__name__} as batch {i}")
            X, y = batch
            yield _checked(X, y, f"batch {i}")

    def ask(self, question: Callable[[Rows], S]) -> list[S]:
        answers = [question(block) for block in self._blocks()]
        if not answers:
            raise ValueError("X must have at least one batch, got none")
        return answers

    def total(self, question: Callable[[Rows], S], add: Callable[[S, S], S]) -> S:
        return tree(self.ask(question), add)


# -- Parquet -----------------------------------------------------------------------------------------


class Group(NamedTuple):
    """One row group of a Parquet file."""

    path: str
    number: int
    names: tuple[str, ...]
    output: str

    def load(self) -> Rows:
        """Read it."""
        import pyarrow.parquet as parquet

        name = f"{self.path}, row group {self.number}"
        try:
            table = parquet.ParquetFile(self.path).read_row_group(self.number, [*self.names, self.output])
        except OSError as error:
            raise FileNotFoundError(f"{self.path} could not be read any more: {error}") from None
        values = [_column(table, column, name) for column in self.names]
        return Rows(np.column_stack(values), _column(table, self.output, name), name)


def _column(table: Any, column: str, name: str) -> Array:
    values = table.column(column)
    if values.null_count:
        raise ValueError(f"column {column!r} must be complete, but {name} has {values.null_count} empty values")
    return checks.numeric(values.to_numpy(), f"column {column!r} of {name}").astype(np.float64, copy=False)


@dataclass(frozen=True)
class Parquet:
    """Row groups of Parquet files, read by threads."""

    groups: tuple[Group, ...]
    names: tuple[str, ...] | None

    def ask(self, question: Callable[[Rows], S]) -> list[S]:
        with ThreadPoolExecutor(min(len(self.groups), os.cpu_count() or 1)) as pool:
            return list(pool.map(lambda group: question(group.load()), self.groups))

    def total(self, question: Callable[[Rows], S], add: Callable[[S, S], S]) -> S:
        return tree(self.ask(question), add)


def paths(X: Any, name: str = "X") -> list[str] | None:
    """The files that a path, a pattern, a folder or a list of these means, in order; ``None`` for anything else."""
    given = [X] if isinstance(X, str | Path) else X
    if not (isinstance(given, list | tuple) and given and all(isinstance(path, str | Path) for path in given)):
        return None
    found: list[str] = []
    for path in map(str, given):
        inside = os.path.join(path, "*.parquet") if os.path.isdir(path) else path
        files = sorted(glob.glob(inside))
        if not files:
            raise FileNotFoundError(f"{name} must be Parquet files, got {path!r}, where there are none")
        found += files
    return found


def parquet_module() -> Any:
    """pyarrow's reader of Parquet files."""
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow: install ridgeway[pool]") from None
    return parquet


def arrow_types() -> Any:
    """pyarrow's questions about types of columns."""
    import pyarrow.types as types

    return types


def _parquet(paths: list[str], y: Any) -> Parquet:
    parquet = parquet_module()
    if not isinstance(y, str):
        raise TypeError(f"y must be the name of a column where X is Parquet files, got {y!r:.80}")
    groups: list[Group] = []
    names: tuple[str, ...] = ()
    for path in paths:
        try:
            file = parquet.ParquetFile(path)
        except Exception as error:  # pyarrow has several kinds
            raise ValueError(f"{path} is not a Parquet file: {error}") from None
        columns = tuple(file.schema_arrow.names)
        if y not in columns:
            raise ValueError(f"y must be a column of every file, but {path} has no {y!r}, only {', '.join(columns)}")
        names = names or tuple(column for column in columns if column != y)
        missing = [column for column in names if column not in columns]
        if missing:
            raise ValueError(f"{path} must have the columns of {paths[0]}, but it has no {missing[0]!r}")
        groups += [Group(path, i, names, y) for i in range(file.num_row_groups)]
    return Parquet(tuple(groups), names)


# -- Dask --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Delayed:
    """Blocks that are Dask's: questions are sent to them, and answers added up where they are."""

    parts: tuple[Any, ...]  # delayed Rows
    names: tuple[str, ...] | None

    def ask(self, question: Callable[[Rows], S]) -> list[S]:
        import dask

        asked = dask.delayed(question, pure=False)
        return list(dask.compute(*(asked(part) for part in self.parts)))

    def total(self, question: Callable[[Rows], S], add: Callable[[S, S], S]) -> S:
        import dask

        asked, added = dask.delayed(question, pure=False), dask.delayed(add, pure=False)
        total: S = tree([asked(part) for part in self.parts], added).compute()
        return total


def _dask_array(X: Any, y: Any) -> Delayed:
    import dask

    if X.ndim != 2 or not hasattr(y, "rechunk") or y.shape[0] != X.shape[0]:
        raise ValueError(
            f"y must be a Dask array of one value for each of the {X.shape[0]} rows of X, got {type(y).__name__}"
        )
    X = X.rechunk({1: -1})
    y = y.reshape(-1).rechunk((X.chunks[0],))
    pairs = zip(X.to_delayed().ravel(), y.to_delayed().ravel(), strict=True)
    block = dask.delayed(_checked, pure=False)
    return Delayed(tuple(block(a, b, f"chunk {i}") for i, (a, b) in enumerate(pairs)), None)


def _dask_frame(X: Any, y: Any) -> Delayed:
    import dask

    columns = tuple(map(str, X.columns))
    if not isinstance(y, str) or y not in columns:
        raise ValueError(f"y must be a column where X is a Dask table, one of {', '.join(columns)}, got {y!r:.80}")
    names = tuple(column for column in columns if column != y)
    block = dask.delayed(_from_frame, pure=False)
    parts = (block(part, names, y, f"partition {i}") for i, part in enumerate(X.to_delayed()))
    return Delayed(tuple(parts), names)


def _from_frame(frame: Any, names: tuple[str, ...], y: str, name: str) -> Rows:
    values = [checks.numeric(frame[column].to_numpy(), f"column {column!r} of {name}") for column in names]
    return _checked(np.column_stack(values), frame[y].to_numpy(), name, names)
