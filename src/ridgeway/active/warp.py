"""``Warp``: outcomes on a scale where those that are far worse than the best count for little.

Far from its optimum a function is often larger by orders of magnitude. Standardised with such outcomes, all that an
optimiser cares about would be within rounding of a straight line. A warp grows as a logarithm with the distance to the
best outcome, and has slope 1 there, so that improvements keep their units. A function of a few directions stays one.
Some functions need no warp and are spoiled by one; evidence decides (:mod:`ridgeway.active.alternatives`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgeway.types import Array

_BETTER = 0.16  # quantile of the better outcomes whose distance to the best is one unit
_LEAST = 1e-300  # of a unit: outcomes that differ by less are equal
_SHARES = (np.inf, 10.0, 3.0, 1.0, 0.3, 0.1)  # of that unit from which on growth is logarithmic


@dataclass(frozen=True)
class Warp:
    """``best + sign scale log(1 + excess)`` where an outcome is worse than ``best`` by ``excess`` scales.

    With a ``scale`` of infinity outcomes stay as they are.
    """

    best: float
    scale: float
    sign: float  # 1 where larger is worse, -1 where smaller is

    @classmethod
    def candidates(cls, y: Array, sign: float) -> tuple[Warp, ...]:
        """Warps of outcomes ``y (n,)``, from none to strong."""
        worse = sign * y
        best = float(worse.min())
        # Where many outcomes equal the best, their spread says more than a quantile.
        spreads = (float(np.quantile(worse, _BETTER)) - best, float(np.std(y)))
        unit = next((spread for spread in spreads if spread > _LEAST), 1.0)
        return tuple(cls(sign * best, share * unit, sign) for share in _SHARES)

    def __call__(self, y: Array) -> Array:
        """Warped outcomes."""
        if np.isinf(self.scale):
            return y
        result: Array = self.best + self.sign * self.scale * np.log1p(self._excess(y))
        return result

    def slope(self, y: Array) -> Array:
        """The warp's derivative, 1 at the best outcome and less at worse ones."""
        result: Array = 1.0 / (1.0 + self._excess(y))
        return result

    def inverse(self, v: Array) -> Array:
        """Outcomes from warped ones."""
        if np.isinf(self.scale):
            return v
        result: Array = self.best + self.sign * self.scale * np.expm1(self._excess(v))
        return result

    def _excess(self, y: Array) -> Array:
        result: Array = self.sign * (np.asarray(y, dtype=float) - self.best) / self.scale
        return result
