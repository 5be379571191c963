"""The predictive posterior of ``f*`` as draws of the hyperparameters give it: a mixture of Gaussians a point.

The integral of paper eq. 6 by Monte Carlo, which is what Table 1 and Figure 2 take for the truth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ridgeway.gp.moments import plain
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import condition
from ridgeway.types import Array

_REACH, _N_GRID = 5.0, 401  # the grid of every integral: mean + 0.3 std · sinh(-5 ... 5), fine within, out to 22 std
_CORE = 0.3
_LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class Mixture:
    """Equally weighted Gaussians, ``S`` of them at each of ``M`` points."""

    means: Array  # (S, M)
    variances: Array  # (S, M)

    @classmethod
    def over(cls, posterior: Posterior, thetas: Array, Z: Array) -> Mixture:
        """Of ``f`` at ``Z (M, r)``, in the engine's coordinates and units, over draws ``thetas (S, P + 4)``."""
        parts = [plain(condition(posterior.embedding, posterior.kernel, posterior.data, t), Z) for t in thetas]
        return cls(np.stack([mean for mean, _ in parts]), np.stack([variance for _, variance in parts]))

    @property
    def mean(self) -> Array:
        return self.means.mean(axis=0)

    @property
    def variance(self) -> Array:
        result: Array = self.variances.mean(axis=0) + self.means.var(axis=0)
        return result

    def log_density(self, y: Array, noise: float = 0.0) -> Array:
        """Of one value at each point, ``(M,)``, observed with a noise of this variance."""
        logs = gaussian_log_density(y, self.means, self.variances + noise)
        result: Array = logsumexp(logs, axis=0) - np.log(self.means.shape[0])
        return result

    def divergences(self, means: Array, variances: Array) -> Array:
        """Symmetrised Kullback-Leibler divergences to ``k`` Gaussians at each point, all ``(k, M)``, by quadrature."""
        result = np.empty(means.shape)
        for j, (center, own) in enumerate(zip(self.mean, self.variance, strict=True)):
            grid, weights = _grid(center, max(own, variances[:, j].max()))
            p = self._log_density_at(j, grid)
            q = gaussian_log_density(grid, means[:, j, None], variances[:, j, None])
            result[:, j] = ((np.exp(p) - np.exp(q)) * (p - q)) @ weights
        return result

    def entropy(self) -> Array:
        """``H(F)`` at each point, ``(M,)``, by quadrature."""
        result = np.empty(self.means.shape[1])
        for j, (center, variance) in enumerate(zip(self.mean, self.variance, strict=True)):
            grid, weights = _grid(center, variance)
            p = self._log_density_at(j, grid)
            result[j] = -weights @ (np.exp(p) * p)
        return result

    def information(self) -> Array:
        """``I(Theta; F) = H(F) - H(F | Theta)`` at each point, ``(M,)``, in nats (paper eq. 20)."""
        result: Array = self.entropy() - 0.5 * (1.0 + _LOG_2PI + np.log(self.variances).mean(axis=0))
        return result

    def _log_density_at(self, j: int, values: Array) -> Array:
        logs = gaussian_log_density(values[:, None], self.means[:, j], self.variances[:, j])
        highest = logs.max(axis=1)
        result: Array = highest + np.log(np.exp(logs - highest[:, None]).mean(axis=1))
        return result


def gaussian_log_density(y: Array, mean: Array, variance: Array) -> Array:
    """``log N(y; mean, variance)``, elementwise."""
    result: Array = -0.5 * (_LOG_2PI + np.log(variance) + (y - mean) ** 2 / variance)
    return result


def gaussian_divergence(mean: Array, variance: Array, mean2: Array, variance2: Array) -> Array:
    """The symmetrised divergence ``KL(p, q) + KL(q, p)`` of two Gaussians, elementwise.

    >>> gaussian_divergence(0.0, 1.0, 0.0, 4 / 3).round(4)
    np.float64(0.0417)
    """
    gap2 = (np.asarray(mean) - mean2) ** 2
    ratio = np.asarray(variance) / variance2
    result: Array = 0.5 * (ratio + 1.0 / ratio - 2.0 + gap2 * (1.0 / np.asarray(variance) + 1.0 / variance2))
    return result


def _grid(center: float, variance: float) -> tuple[Array, Array]:
    """Points of an integral over the line, and their weights: the trapezium rule after ``sinh``."""
    t, width = np.linspace(-_REACH, _REACH, _N_GRID), _CORE * float(np.sqrt(variance))
    return center + width * np.sinh(t), width * np.cosh(t) * (t[1] - t[0])
