"""Atoms: one input that takes finitely many values, each with its probability, and sums over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from ridgeway.types import Array

MOST = 100_000  # atoms of one input
_SUMMED = 2**11  # atoms in sums: more are taken together, neighbours at the mean of their values
_BLOCK = 2**20  # entries of a table of waves held at a time
_KNOTS = 2**16  # of a cubic through the characteristic function


@dataclass(frozen=True, eq=False)
class Atoms:
    """Values in ascending order and their probabilities, which sum to 1.

    >>> Atoms(np.array([0.0, 1.0]), np.array([0.7, 0.3])).mean
    0.3
    """

    values: Array  # (n,)
    shares: Array  # (n,)

    @classmethod
    def alike(cls, values: Array) -> Atoms:
        """Values that are all as likely."""
        return cls(np.sort(np.asarray(values, dtype=float)), np.full(len(values), 1.0 / len(values)))

    @classmethod
    def of_distribution(cls, marginal: Any) -> Atoms:
        """The values that a discrete distribution of ``scipy.stats`` takes, with their probabilities."""
        values, shares = _listed(marginal) if hasattr(_family(marginal), "xk") else _counted(marginal)
        kept = shares > 0.0
        return cls(values[kept], shares[kept] / shares[kept].sum())

    def moved(self, center: float, width: float) -> Atoms:
        """The same in other units: ``(x - center) / width``."""
        return Atoms((self.values - center) / width, self.shares)

    @cached_property
    def mean(self) -> float:
        """Of the values."""
        return float(self.shares @ self.values)

    @cached_property
    def variance(self) -> float:
        """Of the values."""
        with np.errstate(over="ignore"):  # of a heavy tail: no finite number, and none is needed
            return float(self.shares @ (self.values - self.mean) ** 2)

    @property
    def reach(self) -> float:
        """The largest distance of a value from the mean."""
        return float(np.abs(self.values[[0, -1]] - self.mean).max())

    def quantile(self, q: Array) -> Array:
        """Values below which there is a probability ``q``."""
        upto = np.cumsum(self.shares)
        result: Array = self.values[np.minimum(np.searchsorted(upto, q), len(upto) - 1)]
        return result

    def factor(self, s: Array) -> Array:
        """``E exp(i s (x - mean))``, of the shape of ``s``."""
        away = self.summed.values - self.mean
        reach = float(np.abs(s).max(initial=0.0))
        knots = int(np.clip(16.0 * reach * self.reach, 64, _KNOTS))
        if s.size <= 2 * knots:
            return self._waves(s.ravel(), away).reshape(s.shape)
        # A table and a cubic through it: a sum over the values at every frequency would take most of the time.
        at = np.linspace(0.0, reach or 1.0, knots)
        value = CubicSpline(at, self._waves(at, away))(np.abs(s))
        return np.where(s < 0, value.conj(), value)

    def line_means(self, scale: float, at: Array) -> Array:
        """``E exp(-(scale (x - at))² / 2)``, ``(N,)``."""
        x, w = self.summed.values, self.summed.shares
        step = max(1, _BLOCK // len(x))
        blocks = (at[start : start + step, None] for start in range(0, len(at), step))
        return np.concatenate([np.exp(-0.5 * (scale * (block - x)) ** 2) @ w for block in blocks] or [np.zeros(0)])

    def line_square(self, scale: float) -> float:
        """``E exp(-(scale (x - x'))² / 2)`` of two independent draws."""
        return float(self.summed.shares @ self.line_means(scale, self.summed.values))

    @cached_property
    def summed(self) -> Atoms:
        """At most some thousands of values for sums: runs of neighbours are taken together."""
        if len(self.values) <= _SUMMED:
            return self
        starts = np.unique(np.linspace(0, len(self.values), _SUMMED, endpoint=False).astype(int))
        shares = np.add.reduceat(self.shares, starts)
        together = np.add.reduceat(self.shares * self.values, starts)
        kept = shares > 0.0
        return Atoms(together[kept] / shares[kept], shares[kept])

    def _waves(self, s: Array, away: Array) -> Array:
        step = max(1, _BLOCK // len(away))
        blocks = (s[start : start + step] for start in range(0, len(s), step))
        w = self.summed.shares
        return np.concatenate([np.exp(1j * np.outer(block, away)) @ w for block in blocks] or [np.zeros(0)])


def _family(marginal: Any) -> Any:
    return getattr(marginal, "dist", marginal)


def _listed(marginal: Any) -> tuple[Array, Array]:
    """Of a distribution that was made from a list of values, wherever it was moved to."""
    family = _family(marginal)
    values, shares = np.asarray(family.xk, dtype=float), np.asarray(family.pk, dtype=float)
    order = np.argsort(values, kind="stable")
    return values[order] + (float(marginal.support()[0]) - values.min()), shares[order]


def _counted(marginal: Any) -> tuple[Array, Array]:
    """Of a distribution over numbers one apart: all of them, or those around the median that have a probability.

    Quantiles far out are not asked for: of a heavy tail scipy looks for them until memory ends.
    """
    low, high = (float(end) for end in marginal.support())
    if high - low < MOST:
        values: Array = low + np.arange(int(high - low) + 1.0)
        return values, np.asarray(marginal.pmf(values), dtype=float)
    middle, reach = float(marginal.ppf(0.5)), 64
    while True:
        ends = max(low, middle - reach), min(high, middle + reach)
        values = ends[0] + np.arange(int(ends[1] - ends[0]) + 1.0)
        shares = np.asarray(marginal.pmf(values), dtype=float)
        ended = [shares[i] < 1e-18 or end == limit for i, end, limit in zip((0, -1), ends, (low, high), strict=True)]
        if all(ended) and abs(shares.sum() - 1.0) < 1e-6:
            return values, shares
        reach *= 2
        if reach > MOST:
            raise ValueError(
                f"a discrete distribution must have at most {MOST} values with a probability that counts, got more: "
                "cut it off, or give draws of it as points"
            )
