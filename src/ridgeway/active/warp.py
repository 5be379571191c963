"""``Warp``: outcomes on a scale where those that are far worse than the rest count for little.

Far from its optimum a function is often larger by orders of magnitude. Standardised with such outcomes, all that an
optimiser cares about would be within rounding of a straight line. Outcomes better than the median keep their units,
so improvements and predictions near the best need no translation; worse ones grow as a logarithm. A function of a few
directions stays one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgeway.types import Array

_BETTER = 0.16  # quantile of the better outcomes whose distance to the median is one unit: a standard deviation


@dataclass(frozen=True)
class Warp:
    """``center + sign scale log(1 + excess)`` where an outcome is worse than ``center`` by ``excess`` scales."""

    center: float
    scale: float
    sign: float  # 1 where larger is worse, -1 where smaller is

    @classmethod
    def of(cls, y: Array, sign: float) -> Warp:
        """The warp that outcomes ``y (n,)`` suggest."""
        center = float(np.median(y))
        better = abs(center - float(np.quantile(sign * y, _BETTER)) * sign)
        # Where many outcomes equal the median, their spread says more than a quantile.
        return cls(center, better or float(np.std(y)) or 1.0, sign)

    def __call__(self, y: Array) -> Array:
        """Warped outcomes."""
        excess = np.maximum(self._excess(y), 0.0)
        return np.where(excess > 0.0, self.center + self.sign * self.scale * np.log1p(excess), y)

    def slope(self, y: Array) -> Array:
        """The warp's derivative, from 0 to 1."""
        return 1.0 / (1.0 + np.maximum(self._excess(y), 0.0))

    def inverse(self, v: Array) -> Array:
        """Outcomes from warped ones."""
        excess = np.maximum(self._excess(v), 0.0)
        return np.where(excess > 0.0, self.center + self.sign * self.scale * np.expm1(excess), v)

    def _excess(self, y: Array) -> Array:
        result: Array = self.sign * (np.asarray(y, dtype=float) - self.center) / self.scale
        return result
