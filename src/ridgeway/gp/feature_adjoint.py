"""Derivatives in the points of anything computed from the predictions of a process with a finite basis.

Reverse-mode differentiation, written by hand: each line of :mod:`ridgeway.gp.feature_moments` has its transpose.
"""

from __future__ import annotations

import numpy as np

from ridgeway.gp.feature_moments import GRID_POINTS, Waves, response_of
from ridgeway.gp.feature_process import FeatureProcess
from ridgeway.gp.moments import SlopesAdjoint
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, N_GLOBAL
from ridgeway.types import Array


def pull_back(
    gp: FeatureProcess, at: Waves, mean: Array, variance: Array, half: Array, slopes: SlopesAdjoint | None
) -> Array:
    """Derivatives of a score in the reduced inputs, ``(M, r)``.

    From those in means and variances ``(M,)``, in ``L⁻¹ ψ (M, m)``, through which covariances enter, and in
    :class:`~ridgeway.gp.moments.Slopes`, where the score depends on these.
    """
    along = gp.slopes(at.psi)  # (d, M, m)
    psi = np.outer(mean, gp.v)
    half = half + 2.0 * variance[:, None] * at.half
    Z = np.zeros_like(at.Z)
    U = np.zeros((at.Z.shape[0], gp.basis.d))
    if slopes is not None:
        Z, of_psi, of_a, of_along, of_variance = _through_slopes(gp, at, along, slopes)
        psi += of_psi
        half += of_a @ gp.Linv.T + 2.0 * of_variance[:, None] * at.half
        for j, bent in enumerate(along):
            U += np.einsum("nm,knm->nk", of_along[j], gp.slopes(bent))
    psi += half @ gp.Linv
    U += np.einsum("nm,knm->nk", psi, along)
    return Z + gp.embedding.pull_back_projection(gp.parameters, U)


def _through_slopes(
    gp: FeatureProcess, at: Waves, along: Array, slopes: SlopesAdjoint
) -> tuple[Array, Array, Array, Array, Array]:
    """Down to the inputs where they enter by themselves, ``ψ``, ``A⁻¹ ψ``, the slopes of ``ψ``, and the variance."""
    n, d, D = at.Z.shape[0], gp.basis.d, at.Z.shape[1]
    dm, dV, mean_u, variance_u = slopes
    by_mean, by_variance = (part[:, :-N_GLOBAL].reshape(n, d, D) for part in (dm, dV))
    Z = np.einsum("nki,nk->ni", by_mean, (along @ gp.v).T)
    Z += np.einsum("nki,nk->ni", by_variance, 2.0 * np.einsum("knm,nm->nk", along, at.a))
    mean_u = mean_u + np.einsum("nki,ni->nk", by_mean, at.Z)
    variance_u = variance_u + np.einsum("nki,ni->nk", by_variance, at.Z)
    psi = dm @ response_of(gp).weights.T + np.outer(dm[:, LOG_OUTPUT_SCALE], gp.v)
    learned = 2.0 * gp.noise_variance * gp.weight * dV[:, LOG_NOISE]
    size = 2.0 * dV[:, LOG_OUTPUT_SCALE] - learned
    a = 2.0 * np.einsum("nk,knm->nm", variance_u, along) + 2.0 * size[:, None] * at.a
    a -= _through_rows(gp, at.a, by_variance)
    of_along = mean_u.T[:, :, None] * gp.v + 2.0 * variance_u.T[:, :, None] * at.a
    return Z, psi, a, of_along, learned


def _through_rows(gp: FeatureProcess, a: Array, by_rows: Array) -> Array:
    """Derivatives in ``a`` of ``aᵀ (∂A/∂R) a`` times ``by_rows (M, d, D)``: how the rows move beneath a point."""
    response = response_of(gp)
    moving = response.moving.reshape(gp.basis.d * response.inputs.shape[0], -1)
    moved = np.einsum("ak,nki,ji->naj", gp.basis.rotation, by_rows, response.inputs, optimize=True)
    moved = moved.reshape(a.shape[0], -1)
    result = np.empty_like(a)
    step = max(1, GRID_POINTS // moving.shape[1])
    for start in range(0, a.shape[0], step):
        some = slice(start, start + step)
        g = gp.basis.on_grid(gp.scale * a[some])
        g *= 2.0 * (moved[some] @ moving).reshape(g.shape)
        result[some] = gp.scale * gp.basis.off_grid(g)
    return result
