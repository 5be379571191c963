"""Columns of tables: what they are called, and how the columns of another table are brought into their order.

A table is a data frame of pandas, polars or pyarrow, or a mapping from names to columns. Everything else is an
array: it has no names, and its columns count by their position.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ridgeway.errors import RidgewayWarning

_SHOWN = 5  # names in a message


def names_of(X: Any, name: str = "X") -> tuple[str, ...] | None:
    """What the columns of a table are called; ``None`` for an array, and where the names are not text.

    >>> names_of({"share": [0.1, 0.2], "load": [3.0, 4.0]})
    ('share', 'load')
    """
    found = _headings(X)
    if found is None or not any(isinstance(heading, str) for heading in found):
        return None  # an array, or the numbers that pandas gives to columns without names
    other = next((heading for heading in found if not isinstance(heading, str)), None)
    if other is not None:
        raise TypeError(f"{name} must have columns whose names are all text or all not, got {other!r} among them")
    repeated = [heading for heading, times in Counter(found).items() if times > 1]
    if repeated:
        raise ValueError(f"{name} must have columns of different names, got {_shown(repeated)} more than once")
    return tuple(found)


def in_order(X: Any, names: Sequence[str] | None, name: str = "X") -> Any:
    """``X`` with its columns in the order of ``names``; an array, which has no names, is taken by position.

    A table must have these columns and no others. Where no ``names`` are known its columns are taken by their
    position, with a warning: they may be other inputs.

    >>> in_order({"load": [3.0], "share": [0.1]}, ["share", "load"])
    array([[0.1, 3. ]])
    """
    found = names_of(X, name)
    plain = _from_mapping(X, name) if isinstance(X, Mapping) else X
    if found is None:
        return plain
    if names is None:
        warnings.warn(
            f"{name} has columns with names ({_shown(found)}), but no names are known here: they are taken by their "
            "position",
            RidgewayWarning,
            stacklevel=5,
        )
        return plain
    return reordered(plain, found, names, name)


def reordered(X: Any, found: Sequence[str], names: Sequence[str], name: str = "X") -> Any:
    """``X``, whose columns are called ``found``, with its columns in the order of ``names``."""
    if tuple(found) == tuple(names):
        return X
    _check_same(found, names, name)
    places = {heading: j for j, heading in enumerate(found)}
    return np.asarray(X)[:, [places[heading] for heading in names]]


def named_point(x: Any) -> Any:
    """``x``, or a table of one row where it is a single point with a name for each number (a pandas ``Series``)."""
    index = getattr(x, "index", None)
    if np.ndim(x) == 1 and index is not None and not callable(index) and all(isinstance(key, str) for key in index):
        return {key: [value] for key, value in zip(index, x, strict=True)}
    return x


def _headings(X: Any) -> list[Any] | None:
    if isinstance(X, Mapping):
        return list(X)
    for attribute in ("column_names", "columns"):  # pyarrow has both, and the second holds its data
        found = getattr(X, attribute, None)
        if found is not None and not callable(found):
            return list(found)
    return None


def _from_mapping(X: Mapping[Any, Any], name: str) -> Any:
    columns = [np.atleast_1d(np.asarray(column)) for column in X.values()]
    shapes = {column.shape for column in columns}
    if len(shapes) > 1 or any(len(shape) > 1 for shape in shapes):
        raise ValueError(f"{name} must have columns of one length, got the shapes {sorted(shapes)}")
    return np.stack(columns, axis=1) if columns else np.zeros((0, 0))


def _check_same(found: Sequence[str], names: Sequence[str], name: str) -> None:
    known, given = set(names), set(found)
    missing = _shown([heading for heading in names if heading not in given])
    extra = _shown([heading for heading in found if heading not in known])
    problems = [f"{missing} missing"] * bool(missing) + [f"{extra} not known"] * bool(extra)
    if problems:
        raise ValueError(f"{name} must have the columns {_shown(names)}: {' and '.join(problems)}")


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more
