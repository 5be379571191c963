"""Calibration: whether intervals hold as many observations as they should, from leave-one-out predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom, norm

from ridgeway.types import Array, Mask

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

LEVELS = (0.5, 0.68, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Calibration:
    """Observations against what the others predict for them, hyperparameters as fitted."""

    observed: Array  # (n,)
    mean: Array  # (n,)
    std: Array  # (n,) noise included
    levels: Array  # (m,) nominal
    coverage: Array  # (m,) share of the observations inside their interval
    low: Array  # (m,) of the coverage a calibrated belief may show by chance, 90 %
    high: Array  # (m,)
    trusted: Mask | None = None  # (n,) which observations are not suspects; by default all

    @property
    def explained(self) -> float:
        """Share of the variance of ``y``, suspects apart, that the other observations predict; can be negative."""
        rows = slice(None) if self.trusted is None else self.trusted
        variance = float(np.var(self.observed[rows]))
        errors = (self.observed - self.mean)[rows]
        return 1.0 - float(np.mean(errors**2)) / variance if variance > 0 else float("nan")

    @property
    def typical_error(self) -> float:
        """Root mean square of the errors, suspects apart, in the units of ``y``."""
        rows = slice(None) if self.trusted is None else self.trusted
        return float(np.sqrt(np.mean((self.observed - self.mean)[rows] ** 2)))

    def at(self, level: float) -> float:
        """Coverage of the interval of one of the ``levels``."""
        return float(self.coverage[int(np.argmin(np.abs(self.levels - level)))])


def calibration(belief: Belief, levels: tuple[float, ...] = LEVELS) -> Calibration:
    """Leave-one-out predictions and their coverage; optimistic, as the hyperparameters saw every observation."""
    left_out = belief.leave_one_out()
    z = np.abs(belief.y - left_out.mean) / left_out.std
    nominal = np.asarray(levels, dtype=float)
    coverage = np.mean(z[:, None] <= norm.ppf(0.5 + 0.5 * nominal), axis=0)
    n = belief.y.shape[0]
    low, high = _by_chance(nominal, n)
    return Calibration(belief.y, left_out.mean, left_out.std, nominal, coverage, low, high, belief.trusted)


def _by_chance(levels: Array, n: int) -> tuple[Array, Array]:
    """Where at least 90 % of the coverages of ``n`` calibrated intervals fall: they are binomial."""
    return binom.ppf(0.05, n, levels) / n, binom.ppf(0.95, n, levels) / n
