"""Checks of arguments; every message names the argument, what came and what was expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ridgeway import columns
from ridgeway.text import numbers as written_numbers
from ridgeway.types import Array, Inputs

_BLOCK_BYTES = 2**22  # memory for the columns read at a time
SMALLEST_OUTPUT, LARGEST_OUTPUT = 1e-140, 1e140  # of an output: its square, times or by the noise's, is a float still
REFERENCE_BYTES = 2**28  # inputs above this size are kept by reference, not copied


def inputs(
    X: Any, D: int | None = None, name: str = "X", finite: bool = True, names: Sequence[str] | None = None
) -> Inputs:
    """``X`` as an ``(n, D)`` float array or CSR matrix, a table's columns in the order of ``names``.

    ``finite=False`` leaves that check to :func:`finite_range`.
    """
    X = columns.in_order(X, names, name)
    if sparse.issparse(X):
        X = X.tocsr()
        if X.dtype.kind not in "fiub":
            raise TypeError(f"{name} must hold real numbers, got a sparse matrix of {X.dtype}")
        X = X.astype(np.float64, copy=False)
        values = X.data
    else:
        X = values = numeric(X, name)
    if X.ndim != 2:
        raise ValueError(f"{name} must have shape (n, D), got {X.shape}. Reshape your data: one row a point")
    if X.shape[0] == 0:
        raise ValueError(f"{name} must have at least one row: found array with 0 sample(s) (shape={X.shape})")
    if X.shape[1] == 0:
        raise ValueError(
            f"{name} must have at least one column: 0 feature(s) (shape={X.shape}) while a minimum of 1 is required."
        )
    if D is not None and X.shape[1] != D:
        raise ValueError(f"{name} must have {D} columns as the data had, got {X.shape[1]}")
    if finite and not _all_finite(values):
        raise ValueError(f"{name} must be finite, but it contains {_first_bad(X)}")
    return X


def column_range(X: Inputs) -> tuple[Array, Array]:
    """Smallest and largest value of each column, in one pass over memory."""
    if sparse.issparse(X):
        lower, upper = X.min(axis=0).toarray(), X.max(axis=0).toarray()
        return np.asarray(lower, dtype=float).ravel(), np.asarray(upper, dtype=float).ravel()
    n, D = X.shape
    lower, upper = np.empty(D), np.empty(D)
    width = max(1, _BLOCK_BYTES // (8 * n))
    for start in range(0, D, width):
        columns = slice(start, min(start + width, D))
        X[:, columns].min(axis=0, out=lower[columns])
        X[:, columns].max(axis=0, out=upper[columns])
    return lower, upper


def finite_range(X: Inputs, name: str = "X") -> tuple[Array, Array]:
    """Smallest and largest value of each column; they show what is not finite, without another pass."""
    lower, upper = column_range(X)
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        raise ValueError(f"{name} must be finite, but it contains {_first_bad(X)}")
    return lower, upper


def owned(X: Inputs) -> Inputs:
    """A copy that the caller cannot change; the same object if it is too large to copy."""
    if sparse.issparse(X):
        return X if X.data.nbytes > REFERENCE_BYTES else X.copy()
    return X if X.nbytes > REFERENCE_BYTES else np.array(X, order="C")


def outputs(y: Any, n: int, name: str = "y") -> Array:
    """``y`` as a finite ``(n,)`` float array."""
    y = numeric(y, name)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"{name} must have shape (n,), got {y.shape}; one output at a time")
    if y.shape[0] != n:
        raise ValueError(f"{name} must have one value for each of the {n} rows of X, got {y.shape[0]}")
    bad = np.flatnonzero(~np.isfinite(y))
    if bad.size:
        raise ValueError(f"{name} must be finite, but {name}[{bad[0]}] is {y[bad[0]]} (NaN or infinity)")
    large = np.flatnonzero(np.abs(y) > LARGEST_OUTPUT)
    if large.size:
        raise ValueError(
            f"{name} must be in units in which it is at most {LARGEST_OUTPUT:g}, because a variance is a square, but "
            f"{name}[{large[0]}] is {y[large[0]]:g}"
        )
    return y


def variation(y: Array, name: str = "y") -> None:
    """Raise where the squares of values, or of their differences, are too small for floating point."""
    size, spread = float(np.max(np.abs(y))), float(np.ptp(y))
    rounding = 4.0 * np.finfo(float).eps * size
    if 0.0 < size < SMALLEST_OUTPUT or rounding < spread < SMALLEST_OUTPUT:
        raise ValueError(
            f"{name} must be in units in which its size and its variation are at least {SMALLEST_OUTPUT:g}, because a "
            f"variance is a square: got values of up to {size:g} that differ by {spread:g}"
        )


def noise_variance(value: Any, n: int) -> Array | None:
    """Known noise variances: ``None``, one number or one for each observation."""
    if value is None:
        return None
    array = (
        np.broadcast_to(numeric(value, "noise_variance"), (n,))
        if np.ndim(value) == 0
        else numeric(value, "noise_variance")
    )
    if array.shape != (n,):
        raise ValueError(f"noise_variance must be a number or have shape ({n},), got {array.shape}")
    bad = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if bad.size:
        raise ValueError(
            f"noise_variance must be finite and not negative, got {array[bad[0]]} for observation {bad[0]}"
        )
    return np.array(array)


def bounds(value: Any, D: int) -> tuple[Array, Array] | None:
    """``(lower, upper)``, each a number or one for each input."""
    if value is None:
        return None
    try:
        lower, upper = value
    except (TypeError, ValueError):
        raise ValueError(f"bounds must be a pair (lower, upper) or None, got {value!r}") from None
    pair = []
    for side, name in ((lower, "lower"), (upper, "upper")):
        array = numeric(side, f"{name} bound")
        if array.ndim > 1 or (array.ndim == 1 and array.shape != (D,)):
            raise ValueError(f"{name} bound must be a number or have shape ({D},), got {array.shape}")
        array = np.broadcast_to(array, (D,)).copy()
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            raise ValueError(f"{name} bound must be finite, got {array[bad[0]]} for input {bad[0]}")
        pair.append(array)
    wrong = np.flatnonzero(pair[0] >= pair[1])
    if wrong.size:
        j = wrong[0]
        raise ValueError(f"lower bound must be below upper: input {j} has {pair[0][j]} and {pair[1][j]}")
    return pair[0], pair[1]


def generator(random_state: Any) -> np.random.Generator:
    """A generator from a seed, a generator, an old ``RandomState``, or ``None`` for fresh entropy."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    if isinstance(random_state, int | np.integer) and random_state < 0:
        raise ValueError(f"random_state must be a whole number of at least 0, got {random_state!r}")
    if random_state is None or isinstance(random_state, int | np.integer | np.random.Generator):
        return np.random.default_rng(random_state)
    raise TypeError(f"random_state must be a whole number, a numpy Generator or None, got {random_state!r}")


def choice(value: Any, allowed: tuple[str, ...], name: str) -> Any:
    """``value`` if it is one of the allowed words."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")
    return value


def count(value: Any, name: str, least: int = 0) -> int:
    """``value`` as a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def instance(value: Any, kinds: Any, name: str, expected: str) -> Any:
    """``value`` if it is one of ``kinds``."""
    if not isinstance(value, kinds):
        raise TypeError(f"{name} must be {expected}, got {value!r}")
    return value


def keys(value: Any, needed: Sequence[str], name: str) -> Any:
    """``value`` if it is a mapping that has all the keys ``needed``."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} must be a dictionary, got a {type(value).__name__}")
    missing = [key for key in needed if key not in value]
    if missing:
        raise ValueError(f"{name} must have the key {missing[0]!r}, got {', '.join(map(repr, list(value)[:6]))}")
    return value


def dense(X: Inputs) -> Array:
    """Checked inputs as an array."""
    result: Array = X.toarray() if sparse.issparse(X) else X
    return result


def numeric(value: Any, name: str) -> Array:
    """``value`` as an array of real numbers, finite or not."""
    if np.ma.isMaskedArray(value) and np.ma.is_masked(value):
        raise ValueError(
            f"{name} must be complete, got a masked array with {int(np.ma.getmaskarray(value).sum())} hidden values"
        )
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a rectangular array of numbers: {error}") from None
    if array.dtype.kind == "c":
        raise ValueError(f"{name} must be real: Complex data not supported, got {array.dtype}")
    if array.dtype.kind in "mM":
        raise TypeError(f"{name} must hold numbers, got {array.dtype} data: dates and durations need a unit")
    if array.dtype.kind not in "fiub":
        try:
            array = _read_text(array).astype(np.float64)
        except OverflowError as error:
            raise ValueError(f"{name} must hold numbers that a float can hold ({error})") from None
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name} must hold numbers, got {array.dtype} data ({error})") from None
    return array.astype(np.float64, copy=False)


def _read_text(array: Any) -> Any:
    """``array`` with the numbers that are written as text read strictly; NumPy itself takes ``1_5`` for 15."""
    if array.dtype.kind not in "OUS":
        return array
    cells = [_decimal(cell) for cell in array.ravel().tolist()]
    return np.array(cells, dtype=object).reshape(array.shape)


def _decimal(cell: Any) -> Any:
    if isinstance(cell, bytes):
        cell = cell.decode("ascii", "replace")
    return written_numbers.decimal(cell) if isinstance(cell, str) else cell


def _all_finite(values: Array) -> bool:
    # The sum of finite numbers is finite unless it overflows; only then look at each.
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(values)
    if np.isfinite(total):
        return True
    flat = values.reshape(-1)
    return all(bool(np.isfinite(flat[i : i + 2**20]).all()) for i in range(0, flat.shape[0], 2**20))


def _first_bad(X: Inputs) -> str:
    if sparse.issparse(X):
        return "NaN or infinity"
    i, j = np.argwhere(~np.isfinite(X))[0]
    return f"NaN or infinity: row {i}, column {j} is {X[i, j]}"
