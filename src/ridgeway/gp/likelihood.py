"""The log likelihood's gradient and exact Hessian in all hyperparameters jointly.

``theta = [embedding parameters, log output scale, log noise, mean, log scale]``; the last
is a parameter of the prior alone, so its derivatives here are zero. Another kind of process registers its own.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, MEAN, N_GLOBAL
from ridgeway.types import Array


@singledispatch
def gradient(gp: Any) -> Array:
    """Gradient of ``log p(y | X, theta)`` (paper eq. 4, first line), ``(P + 4,)``."""
    result = np.zeros(gp.theta.shape[0])
    result[:-N_GLOBAL] = gp.embedding.contract(gp, 0.5 * gp.W)
    result[LOG_OUTPUT_SCALE] = np.vdot(gp.W, gp.K)
    result[LOG_NOISE] = gp.noise_variance * np.trace(gp.W)
    result[MEAN] = gp.alpha.sum()
    return result


@singledispatch
def hessian(gp: Any) -> Array:
    """Hessian of ``log p(y | X, theta)`` (paper eq. 4, second line), ``(P + 4, P + 4)``.

    The embedding's own block is its closed form; every block that mixes in the output
    scale, the noise or the mean contracts ``dK/dparameter`` with the derivative of ``W``.
    """
    H = np.empty((gp.theta.shape[0], gp.theta.shape[0]))
    H[-N_GLOBAL:], H[:, -N_GLOBAL:] = 0.0, 0.0
    gp.embedding.hessian(gp, out=H[:-N_GLOBAL, :-N_GLOBAL])
    Ginv, W, K, alpha, sigma2 = gp.Ginv, gp.W, gp.K, gp.alpha, gp.noise_variance
    # dG/dlog gamma = 2K and dG/dlog sigma = 2 sigma² I, with K = G - diag(noise):
    noise = gp.noise_diagonal
    GinvN = Ginv * noise
    GinvNGinv = GinvN @ Ginv
    K_alpha = gp.data.y - gp.mean - noise * alpha
    # -dalpha/dq; -dG⁻¹/dq is 2 (G⁻¹ - G⁻¹ N G⁻¹) for the output scale, 2 sigma² G⁻² for the noise:
    beta_output, beta_noise, beta_mean = 2.0 * (alpha - GinvN @ alpha), 2.0 * sigma2 * (Ginv @ alpha), Ginv.sum(axis=1)
    by_output = gp.embedding.contract(gp, GinvNGinv)
    if np.all(noise == noise[0]):  # then one product serves for two
        trace, by_noise = np.trace(GinvNGinv) / noise[0], by_output / noise[0]
    else:
        Ginv2 = Ginv @ Ginv
        trace, by_noise = np.trace(Ginv2), gp.embedding.contract(gp, Ginv2)
    # dK/dparameter itself doubles with log gamma: W + G⁻¹ = alpha alphaᵀ joins what has rank one.
    mixed = gp.embedding.contract_with_alpha(gp, np.stack([alpha - beta_output, -beta_noise, -beta_mean]))
    mixed[0] -= by_output
    mixed[1] += sigma2 * by_noise
    H[LOG_OUTPUT_SCALE : MEAN + 1, :-N_GLOBAL] = mixed
    H[:-N_GLOBAL, LOG_OUTPUT_SCALE : MEAN + 1] = mixed.T

    def put(p: int, q: int, value: Any) -> None:
        H[p, q] = H[q, p] = value

    put(LOG_OUTPUT_SCALE, LOG_OUTPUT_SCALE, 2.0 * (alpha - beta_output) @ K_alpha - 2.0 * np.vdot(GinvNGinv, K))
    put(LOG_NOISE, LOG_NOISE, 2.0 * sigma2 * (np.trace(W) - beta_noise @ alpha + sigma2 * trace))
    put(LOG_OUTPUT_SCALE, LOG_NOISE, 2.0 * sigma2 * (np.trace(Ginv) - np.trace(GinvNGinv) - beta_output @ alpha))
    put(MEAN, MEAN, -beta_mean.sum())
    put(MEAN, LOG_OUTPUT_SCALE, -2.0 * beta_mean @ K_alpha)
    put(MEAN, LOG_NOISE, -2.0 * sigma2 * beta_mean @ alpha)
    return H
