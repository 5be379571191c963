"""Draws from a Gaussian belief, weighed by the exact posterior.

Pareto smoothed importance sampling (Vehtari et al. 2024): the largest weights are replaced by
quantiles of a generalised Pareto distribution fitted to them, whose shape ``k`` says whether
the Gaussian can be trusted at all (below 0.7) or not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ridgeway.errors import NumericalError
from ridgeway.gp.posterior import Posterior
from ridgeway.types import Array


@dataclass(frozen=True)
class WeightedDraws:
    """Draws of ``theta`` and normalised weights."""

    theta: Array  # (n, P + 4)
    weights: Array  # (n,) sum to 1
    pareto_k: float

    @property
    def effective_size(self) -> float:
        return float(1.0 / np.sum(self.weights**2))


def draw(posterior: Posterior, mode: Array, factor: Array, n: int, rng: np.random.Generator) -> WeightedDraws:
    """``n`` draws from ``N(mode, factor factorᵀ)`` with smoothed importance weights.

    For a linear embedding the Gaussian lives on a slice across the rotation orbits; the
    orbits meet it at an angle, whose determinant belongs to the weight.
    """
    z = rng.standard_normal((n, factor.shape[1]))
    theta = mode + z @ factor.T
    log_ratio = np.array([_log_density(posterior, row) for row in theta]) + 0.5 * np.einsum("ij,ij->i", z, z)
    embedding, p = posterior.embedding, posterior.n_parameters
    tangents = embedding.rotations(mode[:p])
    if tangents.shape[1]:
        crossing = np.stack([tangents.T @ embedding.rotations(row[:p]) for row in theta])
        log_ratio += np.linalg.slogdet(crossing)[1]
    log_weights, k = smooth(np.where(np.isfinite(log_ratio), log_ratio, -np.inf))
    return WeightedDraws(theta, np.exp(log_weights - logsumexp(log_weights)), k)


def smooth(log_ratio: Array) -> tuple[Array, float]:
    """Pareto smoothed log weights, and the shape ``k`` of their tail."""
    n = log_ratio.shape[0]
    tail = int(min(np.ceil(0.2 * n), np.ceil(3.0 * np.sqrt(n))))
    order = np.argsort(log_ratio)
    shifted = log_ratio - log_ratio[order[-1]]
    if tail < 5 or not np.isfinite(shifted[order[-tail - 1]]):
        return shifted, np.inf
    cutoff = shifted[order[-tail - 1]]
    excess = np.exp(shifted[order[-tail:]]) - np.exp(cutoff)
    if excess[-1] <= 1e-12:  # all weights alike
        return shifted, -np.inf
    k, sigma = fit_pareto(np.maximum(excess, 1e-300))
    quantile = (np.arange(tail) + 0.5) / tail
    smoothed = np.exp(cutoff) + _pareto_quantile(quantile, k, sigma)
    result = shifted.copy()
    result[order[-tail:]] = np.minimum(np.log(smoothed), 0.0)
    return result, k


def fit_pareto(x: Array) -> tuple[float, float]:
    """Shape and scale of a generalised Pareto distribution (Zhang & Stephens 2009), sorted ``x``."""
    n = x.shape[0]
    m = 30 + int(np.sqrt(n))
    b = 1.0 / x[-1] + (1.0 - np.sqrt(m / (np.arange(1, m + 1) - 0.5))) / (3.0 * x[max(int(n / 4 + 0.5) - 1, 0)])
    k = np.mean(np.log1p(-b[:, None] * x), axis=1)
    log_likelihood = n * (np.log(-b / k) - k - 1.0)
    weights = np.exp(log_likelihood - logsumexp(log_likelihood))
    b_hat = float(np.sum(b * weights))
    k_hat = float(np.mean(np.log1p(-b_hat * x)))
    sigma = -k_hat / b_hat
    return (n * k_hat + 5.0) / (n + 10.0), sigma  # shrunk towards 0.5, as its authors advise


def _pareto_quantile(q: Array, k: float, sigma: float) -> Array:
    if abs(k) < 1e-12:
        return -sigma * np.log1p(-q)
    return sigma * np.expm1(-k * np.log1p(-q)) / k


def _log_density(posterior: Posterior, theta: Array) -> float:
    try:
        return posterior.log_density(theta)
    except (NumericalError, FloatingPointError, OverflowError):
        return -np.inf
