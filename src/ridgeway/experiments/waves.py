"""Functions drawn from the model: sums of many random waves, whose covariance is the squared exponential's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ridgeway.types import Array

_N = 400  # waves; their covariance is right in the mean, and their sum nearly Gaussian


@dataclass(frozen=True)
class Waves:
    """A function of one variable with output scale 1.

    >>> Waves(length_scale=0.5, seed=1)(np.zeros(3)).shape
    (3,)
    """

    length_scale: float
    seed: int

    def __call__(self, u: Array) -> Array:
        """Its values at ``u (n,)``."""
        rng = np.random.default_rng(self.seed)
        frequencies = rng.standard_normal(_N) / self.length_scale
        phases = rng.uniform(0.0, 2.0 * np.pi, _N)
        result: Array = np.sqrt(2.0 / _N) * np.cos(np.multiply.outer(u, frequencies) + phases).sum(axis=-1)
        return result
