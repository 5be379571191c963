"""Moments of ``f(x*)`` with the hyperparameters integrated out: ``map``, ``bbq`` and ``mgp``.

Given the conditioned process at the mode and a Gaussian belief ``N(theta; mode, F Fᵀ)``:

- ``map`` ignores the uncertainty of ``theta``: the variance is ``V``;
- ``bbq`` (Osborne et al. 2012) adds how the mean moves: ``V + |∂m F|²``;
- ``mgp`` (paper eqs. 18-19) also how the variance moves:
  ``4/3 V + |∂m F|² + |∂V F|² / (3 V)``.

Each formula of these moments has its one place here: the marginal variance and covariance, the
moments of a mixture, and the information in an observation. Work is done in blocks of candidates
that fit the cache, so memory does not grow with their number.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.spatial.distance import cdist

from ridgeway.gp.embeddings import Candidates
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, MEAN, N_GLOBAL, ConditionedGP
from ridgeway.types import Array

Marginal = Literal["map", "bbq", "mgp", "samples"]

#: Variances are kept above this multiple of the output variance: what is left of
#: ``gamma² - kᵀG⁻¹k`` beside the rounding of its terms.
RELATIVE_VARIANCE_FLOOR = 1e-12
#: Noise variance, relative to the output's, above which an explicit inverse is accurate. Below it the rounding of
#: variances would keep an optimiser from their maximum: a straight line, whose output scale is large, is always below.
_LEAST_NOISE = 1e-4


class Moments(NamedTuple):
    """Mean and variances of ``f`` at ``M`` points, with outputs standardised."""

    mean: Array  # (M,)
    variance: Array  # (M,) with the hyperparameters integrated out
    map_variance: Array  # (M,) at the mode


def block_size(n: int, n_theta: int) -> int:
    """How many candidates to compute at a time: each array of a block takes an eighth of a megabyte, so that all of
    them stay in the cache."""
    return int(np.clip(16384 // max(n, n_theta, 1), 16, 4096))


def predictive(gp: ConditionedGP, Z: Array) -> tuple[Array, Array, Candidates]:
    """Mean and variance of ``f`` given ``theta``, and what their derivatives need."""
    gamma2 = gp.output_variance
    U = gp.embedding.project(gp.parameters, Z)
    k, K1, g2 = gp.kernel.derivatives(cdist(U, gp.U, "sqeuclidean"))
    k *= gamma2
    K1 *= 2.0 * gamma2
    if gp.noise_diagonal.min() > _LEAST_NOISE * gamma2:
        a = k @ gp.Ginv
        variance = gamma2 - np.einsum("mn,mn->m", k, a)
    else:  # nearly singular: two triangular factors lose fewer digits than one inverse
        v = k @ gp.Linv.T
        a = v @ gp.Linv
        variance = gamma2 - np.einsum("mn,mn->m", v, v)
    np.maximum(variance, RELATIVE_VARIANCE_FLOOR * gamma2, out=variance)
    return gp.mean + k @ gp.alpha, variance, Candidates(Z, U, k, K1, g2, a)


@singledispatch
def plain(gp: Any, Z: Array) -> tuple[Array, Array]:
    """Mean and variance of ``f`` given ``theta`` alone."""
    gamma2 = gp.output_variance
    k = gamma2 * gp.kernel.value(cdist(gp.embedding.project(gp.parameters, Z), gp.U, "sqeuclidean"))
    v = dtrsm(1.0, gp.L, k.T, lower=1)
    variance = gamma2 - np.einsum("nm,nm->m", v, v)
    return gp.mean + k @ gp.alpha, np.maximum(variance, RELATIVE_VARIANCE_FLOOR * gamma2)


def moment_gradients(
    gp: ConditionedGP, variance: Array, mean: Array, at: Candidates
) -> tuple[Array, Array, Array, Array]:
    """``∂m/∂theta`` and ``∂V/∂theta``, ``(M, P + 4)``, and both in the embedded input, ``(M, d)``."""
    own = gp.embedding.moment_gradients(gp, at)
    m, p = own.mean.shape
    dm, dV = np.zeros((m, p + N_GLOBAL)), np.zeros((m, p + N_GLOBAL))
    dm[:, :p], dV[:, :p] = own.mean, own.variance
    noise, sigma2 = gp.noise_diagonal, gp.noise_variance
    residual = gp.data.y - gp.mean
    # K alpha = (y - mu) - noise ∘ alpha, because K = G - diag(noise)
    dm[:, LOG_OUTPUT_SCALE] = 2.0 * ((mean - gp.mean) - at.a @ (residual - noise * gp.alpha))
    dV[:, LOG_OUTPUT_SCALE] = 2.0 * (variance - (at.a * at.a) @ noise)
    dm[:, LOG_NOISE] = -2.0 * sigma2 * (at.a @ gp.alpha)
    dV[:, LOG_NOISE] = 2.0 * sigma2 * np.einsum("mn,mn->m", at.a, at.a)
    dm[:, MEAN] = 1.0 - at.a.sum(axis=1)
    return dm, dV, own.mean_u, own.variance_u


class Slopes(NamedTuple):
    """Mean and variance of ``f`` given ``theta`` at ``M`` points, with their derivatives."""

    mean: Array  # (M,)
    variance: Array  # (M,)
    mean_by_theta: Array  # (M, P + 4)
    variance_by_theta: Array  # (M, P + 4)
    mean_by_input: Array  # (M, d) in the embedded input
    variance_by_input: Array  # (M, d)


class SlopesAdjoint(NamedTuple):
    """Derivatives of a score in the derivatives of mean and variance at its points."""

    mean_by_theta: Array  # (M, P + 4)
    variance_by_theta: Array  # (M, P + 4)
    mean_by_input: Array  # (M, d)
    variance_by_input: Array  # (M, d)


@singledispatch
def slopes(gp: Any, Z: Array) -> Slopes:
    """Mean and variance at ``Z (M, r)`` with all their derivatives; another kind of process registers its own."""
    mean, V, candidates = predictive(gp, Z)
    return Slopes(mean, V, *moment_gradients(gp, V, mean, candidates))


#: Weights of ``V``, ``|∂m F|²`` and ``|∂V F|² / V`` in the marginal variance (paper eq. 19 and the remark below it).
#: Derivatives of the marginal variance need them, too.
WEIGHTS: dict[Marginal, tuple[float, float, float]] = {
    "map": (1.0, 0.0, 0.0),
    "bbq": (1.0, 1.0, 0.0),
    "mgp": (4.0 / 3.0, 1.0, 1.0 / 3.0),
}


def marginal_covariance(C: Array, from_mean: Array, from_spread: Array, marginal: Marginal) -> Array:
    """Covariances of ``f`` with the hyperparameters integrated out; eq. 19 of the paper is their diagonal.

    ``C`` is the covariance at the mode, ``from_mean`` the product ``∂m F · ∂m' F``, ``from_spread`` the product
    ``∂V F · ∂V' F / √(V V')``. All have the same shape: ``(M,)`` for variances, ``(M, B)`` between two sets of points.
    """
    own, mean, spread = WEIGHTS[marginal]
    return own * C + mean * from_mean + spread * from_spread


def combine(V: Array, from_mean: Array, from_variance: Array, marginal: Marginal) -> Array:
    """The marginal variance (paper eq. 19) from ``V``, ``|∂m F|²`` and ``|∂V F|²``, ``(M,)`` each."""
    return marginal_covariance(V, from_mean, from_variance / V, marginal)


def from_parameters(by_theta: Array, by_input: Array, unexplored: Array) -> Array:
    """``|∂ F|²``: the variance that the uncertain hyperparameters give to a quantity with these derivatives, ``(M,)``.

    ``by_theta (M, q)`` is ``∂/∂theta F``. Where the data span nothing, the entries of the embedding still vary as
    under their prior: ``unexplored (M,)`` is that variance, ``by_input (M, d)`` the derivative in the embedded input.
    """
    return _squared_rows(by_theta) + unexplored * _squared_rows(by_input)


def moments(gp: Any, factor: Array, Z: Array, rho: Array, prior_variance: float, marginal: Marginal) -> Moments:
    """Mean and marginal variance of ``f`` at ``Z (M, r)``.

    ``factor (P + 4, q)`` is any ``F`` with ``F Fᵀ`` the covariance of ``theta``; ``rho (M,)``
    is each point's squared distance to what the data span, where the embedding still has
    its prior variance.
    """
    m = Z.shape[0]
    mean, variance, conditional = np.empty(m), np.empty(m), np.empty(m)
    step = block_size(gp.width, gp.theta.shape[0])
    for start in range(0, m, step):
        at = slice(start, min(start + step, m))
        if marginal == "map":
            mean[at], conditional[at] = plain(gp, Z[at])
            continue
        mean[at], V, dm, dV, dm_u, dV_u = slopes(gp, Z[at])
        conditional[at] = V
        unexplored = prior_variance * rho[at]
        from_mean = from_parameters(dm @ factor, dm_u, unexplored)
        from_variance = from_parameters(dV @ factor, dV_u, unexplored)
        variance[at] = combine(V, from_mean, from_variance, marginal)
    return Moments(mean, conditional.copy() if marginal == "map" else variance, conditional)


def _squared_rows(a: Array) -> Array:
    return np.einsum("ij,ij->i", a, a)


def deviations(weights: Array, means: Array) -> Array:
    """How far the mean of each component is from the mixture's, ``(components, M)``."""
    return means - weights @ means


def mix(weights: Array, parts: list[Moments]) -> Moments:
    """Moments of the mixture: the variance includes the spread of the components' means."""
    if len(parts) == 1:
        return parts[0]
    means = np.stack([p.mean for p in parts])
    variances = np.stack([p.variance for p in parts]) + deviations(weights, means) ** 2
    return Moments(weights @ means, weights @ variances, weights @ np.stack([p.map_variance for p in parts]))


def information(moments: Moments, noise: float = 0.0) -> Array:
    """Nats about the hyperparameters in an observation at each point, ``(M,)`` (paper eqs. 20-21).

    ``½ log((Ṽ + noise) / (V + noise))``; without noise it is the information in ``f`` itself.
    """
    return 0.5 * np.log((moments.variance + noise) / (moments.map_variance + noise))


def information_slopes(moments: Moments, noise: float = 0.0) -> tuple[Array, Array]:
    """Derivatives of :func:`information` in the marginal variance and in the variance at the mode, ``(M,)`` each."""
    return 0.5 / (moments.variance + noise), -0.5 / (moments.map_variance + noise)
