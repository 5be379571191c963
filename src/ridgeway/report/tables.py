"""Tables of a report, and the data as a file inside it."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ridgeway.report.points import Points
from ridgeway.text.cells import csv_text
from ridgeway.text.counts import counted
from ridgeway.types import Array

_LARGEST = 700_000  # bytes of a file inside the report
_CELLS = 60_000  # beyond which making that file is not tried


@dataclass(frozen=True)
class Table:
    """Rows of text under a head; with ``words`` the first column gets room for words."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str
    words: bool = True


def number(value: float, digits: int = 5) -> str:
    """A number for people: without an exponent where possible.

    >>> [number(v) for v in (0.25, 99999.7, 1234567.0, 1e12, 1.5e-7)]
    ['0.25', '100,000', '1,234,567', '1e+12', '1.5e-07']
    """
    if not np.isfinite(value):
        return "–"
    text = f"{value + 0.0:.{digits}g}"  # adding 0 takes the sign from -0
    return f"{value:,.0f}" if "e" in text and 1.0 <= abs(value) < 1e10 else text


def dense(X: Any, columns: Any) -> Array:
    """Some columns of the data as a plain array."""
    block = X[:, columns]
    return np.asarray(block.toarray() if sparse.issparse(block) else block, dtype=float)


def observations(
    points: Points, y: Array, predicted: Array | None, order: Sequence[int], ranked: bool, output: str
) -> Table:
    """Every observation with some of its inputs, the most important ones first if they are ``ranked``."""
    values = dense(points.values, list(order))
    named = tuple(points.columns[j] for j in order)
    extra = () if predicted is None else ("predicted from the others",)
    rows = []
    for i, name in enumerate(points.ids or map(str, range(1, points.n + 1))):
        left = () if predicted is None else (number(float(predicted[i])),)
        notes = (column[i] for column in points.notes.values())
        rows.append((name, *notes, number(float(y[i])), *left, *(number(float(v)) for v in values[i])))
    caption = f"{counted(points.n, 'observation')} with {shown(len(named), len(points.columns), ranked)}."
    head = ("no." if points.ids is None else "trial", *points.notes, output, *extra, *named)
    return Table(head, tuple(rows), caption, words=False)


def plan(points: Points, promise: tuple[str, ...], order: Sequence[int], ranked: bool) -> Table:
    """Suggestions as columns, inputs as rows, the most important ones first if they are ``ranked``.

    ``promise`` is the first row: what the next numbers or words are, and one for each suggestion.
    """
    head = ("input", *(f"no. {i + 1}" for i in range(points.n)))
    rows = [(points.columns[j], *(number(float(v), 6) for v in points.values[:, j])) for j in order]
    notes = [(name, *column) for name, column in points.notes.items()]
    turn = ", in the order to run them," if points.n > 1 else ""
    caption = f"{counted(points.n, 'suggestion')}{turn} with {shown(len(rows), len(points.columns), ranked)}."
    return Table(head, (promise, *notes, *rows), caption)


def shown(some: int, of: int, ranked: bool) -> str:
    """Which of the inputs a table has."""
    if some == of:
        return "all inputs" if of > 1 else "the only input"
    return f"{some} of {of:,} inputs{', those that matter most' if ranked else ''}; the others are in the file"


def csv_file(points: Points, y: Array | None = None, what: str = "y") -> str | None:
    """Rows as a gzipped CSV in a data URI, to the last digit; ``None`` if that is too large."""
    if points.n * len(points.columns) > _CELLS:
        return None
    columns: list[tuple[str, Sequence[Any]]] = [] if points.ids is None else [("trial", points.ids)]
    columns += points.notes.items()
    columns += zip(points.columns, dense(points.values, slice(None)).T.tolist(), strict=True)
    columns += [] if y is None else [(what, y.tolist())]
    rows = zip(*([name, *map(str, cells)] for name, cells in columns), strict=True)
    text = csv_text(rows)
    packed = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
    return f"data:application/gzip;base64,{packed}" if len(packed) <= _LARGEST else None
