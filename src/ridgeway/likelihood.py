"""The log likelihood's gradient and exact Hessian in all hyperparameters jointly.

``theta = [embedding parameters, log output scale, log noise, mean, log scale]``; the last
is a parameter of the prior alone, so its derivatives here are zero.
"""

from __future__ import annotations

import numpy as np

from ridgeway.gp import LOG_NOISE, LOG_OUTPUT_SCALE, MEAN, N_GLOBAL, ConditionedGP
from ridgeway.types import Array


def gradient(gp: ConditionedGP) -> Array:
    """Gradient of ``log p(y | X, theta)`` (paper eq. 4, first line), ``(P + 4,)``."""
    result = np.zeros(gp.theta.shape[0])
    result[:-N_GLOBAL] = gp.embedding.contract(gp, 0.5 * gp.W)
    result[LOG_OUTPUT_SCALE] = np.vdot(gp.W, gp.K)
    result[LOG_NOISE] = gp.noise_variance * np.trace(gp.W)
    result[MEAN] = gp.alpha.sum()
    return result


def hessian(gp: ConditionedGP) -> Array:
    """Hessian of ``log p(y | X, theta)`` (paper eq. 4, second line), ``(P + 4, P + 4)``.

    The embedding's own block is its closed form; every block that mixes in the output
    scale, the noise or the mean contracts ``dK/dparameter`` with the derivative of ``W``.
    """
    n_theta, Ginv, W, K, alpha = gp.theta.shape[0], gp.Ginv, gp.W, gp.K, gp.alpha
    sigma2 = gp.noise_variance
    r = gp.data.y - gp.mean
    # dG/dlog gamma = 2K and dG/dlog sigma = 2 sigma² I, with K = G - diag(noise):
    noise = gp.noise_diagonal
    GinvN = Ginv * noise
    GinvNGinv = GinvN @ Ginv
    alike = np.all(noise == noise[0])  # then one product serves for two
    Ginv2 = GinvNGinv / noise[0] if alike else Ginv @ Ginv
    K_alpha = r - noise * alpha
    beta = {
        LOG_OUTPUT_SCALE: 2.0 * (alpha - GinvN @ alpha),
        LOG_NOISE: 2.0 * sigma2 * (Ginv @ alpha),
        MEAN: Ginv.sum(axis=1),
    }
    dW = {q: -np.outer(b, alpha) - np.outer(alpha, b) for q, b in beta.items()}
    dW[LOG_OUTPUT_SCALE] += 2.0 * (Ginv - GinvNGinv)
    dW[LOG_NOISE] += 2.0 * sigma2 * Ginv2

    H = np.empty((n_theta, n_theta))
    H[-N_GLOBAL:], H[:, -N_GLOBAL:] = 0.0, 0.0
    gp.embedding.hessian(gp, out=H[:-N_GLOBAL, :-N_GLOBAL])
    for q, derivative in dW.items():
        weights = 0.5 * derivative
        if q == LOG_OUTPUT_SCALE:  # dK/dparameter itself doubles with log gamma
            weights += W
        H[:-N_GLOBAL, q] = H[q, :-N_GLOBAL] = gp.embedding.contract(gp, weights)

    def mixed(p: int, q: int, value: float) -> None:
        H[p, q] = H[q, p] = value

    mixed(LOG_OUTPUT_SCALE, LOG_OUTPUT_SCALE, 2.0 * np.vdot(W, K) + np.vdot(dW[LOG_OUTPUT_SCALE], K))
    mixed(LOG_NOISE, LOG_NOISE, sigma2 * (2.0 * np.trace(W) + np.trace(dW[LOG_NOISE])))
    mixed(LOG_OUTPUT_SCALE, LOG_NOISE, sigma2 * np.trace(dW[LOG_OUTPUT_SCALE]))
    ones_Ginv = beta[MEAN]
    mixed(MEAN, MEAN, -ones_Ginv.sum())
    mixed(MEAN, LOG_OUTPUT_SCALE, -2.0 * ones_Ginv @ K_alpha)
    mixed(MEAN, LOG_NOISE, -2.0 * sigma2 * ones_Ginv @ alpha)
    return H
