"""The outcome of an experiment: a number, or the reason why there is none."""

from __future__ import annotations

import math
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from ridgeway import checks
from ridgeway.types import Array


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of one experiment: a ``value``, or the ``reason`` why there is none.

    >>> Outcome(np.array([1.0]), None, "returned nan", 0.1).failed
    True
    """

    x: Array  # (D,)
    value: float | None
    reason: str | None
    seconds: float  # from its submission, or from its start where it ran in the caller's thread
    error: BaseException | None = None  # what the function raised

    @property
    def failed(self) -> bool:
        return self.value is None


def read(x: Array, future: Future[Any], seconds: float) -> Outcome:
    """The outcome in a finished future; an error that is not the experiment's own is raised."""
    if future.cancelled():
        raise RuntimeError("the executor cancelled an experiment: was it shut down?")
    error = future.exception()
    if isinstance(error, BrokenExecutor) or (error is not None and not isinstance(error, Exception)):
        raise error
    if error is not None:
        return Outcome(x, None, f"{type(error).__name__}: {error}", seconds, error)
    value = _number(future.result())
    if not math.isfinite(value):
        return Outcome(x, None, f"returned {value}", seconds)
    if abs(value) > checks.LARGEST_OUTPUT:
        return Outcome(x, None, f"returned {value:g}, beyond {checks.LARGEST_OUTPUT:g}: use other units", seconds)
    return Outcome(x, value, None, seconds)


def _number(value: Any) -> float:
    """What ``f`` returned as one float; anything else is a TypeError that shows it."""
    if np.ma.is_masked(value):
        return math.nan  # NumPy would give the value under the mask
    try:
        array = np.asarray(value)
    except Exception as error:
        raise TypeError(f"f must return one number, got a {type(value).__name__} ({error})") from None
    if array.size != 1:
        raise TypeError(f"f must return one number, got an array of shape {array.shape}")
    item = array.reshape(-1)[0]
    if array.dtype.kind == "c":
        raise TypeError(f"f must return one number, got the complex {item}")
    if array.dtype.kind not in "fiub" and not (array.dtype.kind == "O" and isinstance(item, Real | Decimal)):
        raise TypeError(f"f must return one number, got {value!r}")
    try:
        return float(item)
    except OverflowError:
        return math.inf if item > 0 else -math.inf
