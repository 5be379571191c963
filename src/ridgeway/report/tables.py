"""Tables of a report, and the data as a file inside it."""

from __future__ import annotations

import base64
import csv
import gzip
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ridgeway.types import Array

_LARGEST = 700_000  # bytes of a file inside the report
_CELLS = 60_000  # beyond which making that file is not tried


@dataclass(frozen=True)
class Table:
    """Rows of text under a head; ``words`` says that the first column needs room for words."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str
    words: bool = True


def number(value: float, digits: int = 5) -> str:
    """A number for people: no exponent where it can be helped."""
    if not np.isfinite(value):
        return "–"
    if value == 0 or 1e-4 <= abs(value) < 10**digits:
        return f"{value:.{digits}g}"
    return f"{value:,.0f}" if 10**digits <= abs(value) < 1e10 else f"{value:.{digits - 1}e}"


def dense(X: Any, columns: Any) -> Array:
    """Some columns of the data as a plain array."""
    block = X[:, columns]
    return np.asarray(block.toarray() if sparse.issparse(block) else block, dtype=float)


def observations(X: Any, y: Array, predicted: Array | None, labels: Sequence[str], order: Any) -> Table:
    """Every observation with its most important inputs."""
    values = dense(X, order)
    named = tuple(labels[int(j)] for j in order)
    extra = () if predicted is None else ("predicted from the others",)
    rows = []
    for i in range(y.shape[0]):
        left = () if predicted is None else (number(float(predicted[i])),)
        rows.append((str(i + 1), number(float(y[i])), *left, *(number(float(v)) for v in values[i])))
    left_out = X.shape[1] - len(named)
    caption = f"{y.shape[0]:,} observations" + (
        f" and the {len(named)} inputs that matter most; {left_out:,} other inputs are in the file."
        if left_out
        else "."
    )
    return Table(("no.", "response", *extra, *named), tuple(rows), caption, words=False)


def plan(X: Array, scores: Array, labels: Sequence[str], order: Any) -> Table:
    """Suggestions as columns, inputs as rows, the important ones first."""
    head = ("input", *(f"no. {i + 1}" for i in range(X.shape[0])))
    first = ("expected information, nats", *("fills the space" if np.isnan(s) else f"{s:.3f}" for s in scores))
    rows = [(labels[int(j)], *(number(float(v), 6) for v in X[:, int(j)])) for j in order]
    return Table(head, (first, *rows), f"{X.shape[0]} suggestions, in the order to run them.")


def csv_file(X: Any, y: Array | None, labels: Sequence[str], what: str = "y") -> str | None:
    """Rows as a gzipped CSV in a data URI, to the last digit; ``None`` if that is too large."""
    if X.shape[0] * X.shape[1] > _CELLS:
        return None
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*labels, *([] if y is None else [what])])
    values = dense(X, slice(None)).tolist()
    writer.writerows(values if y is None else [[*row, v] for row, v in zip(values, y.tolist(), strict=True)])
    packed = base64.b64encode(gzip.compress(out.getvalue().encode(), mtime=0)).decode()
    return f"data:application/gzip;base64,{packed}" if len(packed) <= _LARGEST else None
