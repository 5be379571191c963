"""Estimates: a number, or an array of them, with an interval from draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ridgeway.types import Array


def checked_level(level: Any) -> float:
    """``level`` as a share of draws that an interval is to hold."""
    is_number = isinstance(level, int | float | np.integer | np.floating) and not isinstance(level, bool)
    if not (is_number and 0.0 < level < 1.0):
        raise ValueError(f"level must be a number between 0 and 1, got {level!r}")
    return float(level)


def percent(level: float) -> str:
    """A level as people read it.

    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100.0 * level:.7g} %"


@dataclass(frozen=True)
class Estimate:
    """Mean, standard deviation and central interval of draws, each of the same shape."""

    mean: Array
    std: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, values: Array, level: float, spread: float = 1.0) -> Estimate:
        """Over the first axis; deviations from the mean are multiplied by ``spread``."""
        mean = values.mean(axis=0)
        tail = 0.5 * (1.0 - level)
        low, high = np.quantile(values, [tail, 1.0 - tail], axis=0)
        return cls(mean, spread * values.std(axis=0), mean + spread * (low - mean), mean + spread * (high - mean))

    @classmethod
    def of_shares(cls, values: Array, level: float, spread: float = 1.0) -> Estimate:
        """The same of numbers that cannot be negative; an interval begins at 0 where it is shorter so.

        A share of the variance is a sum of squares: draws of one that is 0 are all above it, and so is their central
        interval.
        """
        central = cls.of(values, level, spread)
        top = central.mean + spread * np.maximum(np.quantile(values, level, axis=0) - central.mean, 0.0)
        from_zero = top < central.high - central.low
        low, high = np.where(from_zero, 0.0, central.low), np.where(from_zero, top, central.high)
        return cls(central.mean, central.std, low, high)

    def hull(self, other: Estimate) -> Estimate:
        """The same mean, and an interval that holds the other one's as well."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Estimate(self.mean, np.maximum(self.std, other.std), low, high)

    def blurred(self, error: Array, reach: float) -> Estimate:
        """With an independent error of this standard deviation, of which an interval holds ``reach`` to either side."""
        below, above = (np.hypot(side, reach * error) for side in (self.mean - self.low, self.high - self.mean))
        return Estimate(self.mean, np.hypot(self.std, error), self.mean - below, self.mean + above)

    def within(self, least: float, most: float = np.inf) -> Estimate:
        """The same with nothing below ``least`` or above ``most``."""
        mean, low, high = (np.clip(side, least, most) for side in (self.mean, self.low, self.high))
        return Estimate(mean, self.std, low, high)

    def text(self, digits: int = 5) -> str:
        """Of a single number: the mean, and the interval in brackets."""
        return f"{float(self.mean):.{digits}g} ({float(self.low):.{digits}g} to {float(self.high):.{digits}g})"
