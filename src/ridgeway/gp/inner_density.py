"""The log density over a linear embedding and the mean, at fixed scales and noise, as fast as a climb can have it.

A search for modes asks for little else, tens of thousands of times. So nothing is kept here that a second derivative
would need, nothing that does not change is computed again, and all work is in products and factors.
:meth:`ridgeway.gp.posterior.Posterior.evaluate` gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from ridgeway.gp.linear import Linear
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LARGEST, LOG_NOISE, LOG_OUTPUT_SCALE, LOG_SCALE, MEAN, N_GLOBAL, Data
from ridgeway.types import Array

Density = Callable[[Array], tuple[float, Array]]


def of(posterior: Posterior, theta: Array, free: Array) -> Density:
    """``log p(y, theta)`` and its gradient as a function of ``theta``, of which only ``free`` entries will change."""
    fixed = theta.shape[0] + np.array([LOG_OUTPUT_SCALE, LOG_NOISE, LOG_SCALE])
    is_exact = isinstance(posterior.data, Data) and isinstance(posterior.embedding, Linear)
    if is_exact and not np.isin(fixed, free).any():
        return InnerDensity(posterior, theta)
    return partial(_whole, posterior)


def _whole(posterior: Posterior, theta: Array) -> tuple[float, Array]:
    at = posterior.evaluate(theta)
    return at.log_density, at.gradient


class InnerDensity:
    """``log p(y, theta)`` and its gradient over embedding and mean; all else of ``theta`` stays as it is."""

    def __init__(self, posterior: Posterior, theta: Array) -> None:
        data, priors = posterior.data, posterior.priors
        self._posterior = posterior
        self._kernel, self._Z, self._y = posterior.kernel, data.Z, data.y
        self._output_variance = float(np.exp(2.0 * theta[LOG_OUTPUT_SCALE]))
        self._noise = data.noise + np.exp(2.0 * theta[LOG_NOISE])
        self._precision = posterior.scale(theta[LOG_SCALE]) ** -2
        self._mean, self._mean_precision = float(priors.globals[0][MEAN]), float(priors.precisions[MEAN])
        # Columns for matrix products: [U, q, 1] and [-2U, 1, q], with q = |u|², give all squared distances.
        n, d = data.n, posterior.embedding.n_rows(posterior.D)
        self._left, self._right = np.ones((n, d + 2)), np.ones((n, d + 2))
        prior, _ = posterior.log_prior_and_gradient(theta)
        self._constant = prior - self._log_prior(theta) - 0.5 * n * float(np.log(2.0 * np.pi))

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """At ``theta``, which differs in embedding and mean alone: the gradient of all else is left at zero."""
        if not np.abs(theta).max() <= LARGEST:  # what is out of range is left to who knows what to say
            return _whole(self._posterior, theta)
        Z, y, d = self._Z, self._y, self._left.shape[1] - 2
        mean, R = theta[MEAN], theta[:-N_GLOBAL].reshape(d, -1)
        U = Z @ R.T
        U -= U.mean(axis=0)  # distances are differences of squares: small ones need small squares
        left, right, n = self._left, self._right, y.shape[0]
        left[:, :d], right[:, :d] = U, -2.0 * U
        left[:, d] = right[:, d + 1] = np.einsum("ij,ij->i", U, U)
        S = left @ right.T
        np.maximum(S, 0.0, out=S)
        S.flat[:: n + 1] = 0.0
        g, slope, _ = self._kernel.derivatives(S)
        G = self._output_variance * g
        G.flat[:: n + 1] += self._noise
        L, info = dpotrf(G.T, lower=1, overwrite_a=1, clean=1)
        if info != 0:  # and what is not positive definite in floating point to who knows what to add
            return _whole(self._posterior, theta)
        r = y - mean
        alpha, _ = dpotrs(L, r, lower=1)
        value = -0.5 * float(r @ alpha) - float(np.log(np.diagonal(L)).sum()) + self._log_prior(theta)
        inverse, _ = dpotri(L, lower=1, overwrite_c=1)
        weighted = np.multiply(inverse, slope.T, out=inverse)  # G⁻¹ ∘ g', of which LAPACK gives the lower half
        V = left[:, [*range(d), d + 1]]  # [U, 1]
        both = weighted @ V + weighted.T @ V - weighted.diagonal()[:, None] * V
        A = alpha[:, None]
        T = A * (slope @ (A * V)) - both  # (alpha alphaᵀ - G⁻¹) ∘ g', times [U, 1]
        gradient = np.zeros_like(theta)
        by_rows = (T[:, d:] * U - T[:, :d]).T @ Z
        gradient[:-N_GLOBAL] = 2.0 * self._output_variance * by_rows.ravel() - self._precision * theta[:-N_GLOBAL]
        gradient[MEAN] = float(alpha.sum()) - self._mean_precision * (mean - self._mean)
        return value + self._constant, gradient

    def _log_prior(self, theta: Array) -> float:
        """The part that changes."""
        parameters = theta[:-N_GLOBAL]
        away = float(theta[MEAN]) - self._mean
        return -0.5 * (self._precision * float(parameters @ parameters) + self._mean_precision * away**2)
