"""Predictions of a process with a finite basis, and their derivatives in the hyperparameters."""

from __future__ import annotations

import numpy as np

from ridgeway.gp import moments
from ridgeway.gp.feature_process import FeatureProcess, Response
from ridgeway.gp.moments import Slopes
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, MEAN, N_GLOBAL
from ridgeway.types import Array

_GRID_POINTS = 2**20  # of all points predicted at a time


@moments.plain.register
def plain(gp: FeatureProcess, Z: Array) -> tuple[Array, Array]:
    """Mean and variance of ``f`` given ``theta`` alone."""
    psi = gp.functions(Z)
    half = psi @ gp.Linv.T
    return gp.mean + psi @ gp.v, _variance(gp, half)


def _variance(gp: FeatureProcess, half: Array) -> Array:
    """``|L⁻¹ ψ|²``: what the neglected waves would add is in the belief's estimate of its error."""
    floor = moments.RELATIVE_VARIANCE_FLOOR * gp.output_variance
    return np.maximum(np.einsum("nm,nm->n", half, half), floor)


@moments.slopes.register
def slopes(gp: FeatureProcess, Z: Array) -> Slopes:
    """Mean and variance with all their derivatives."""
    assert gp.response is not None, "only the process that a belief keeps has derivatives of its predictions"
    n, d, D = Z.shape[0], gp.basis.d, Z.shape[1]
    psi = gp.functions(Z)
    half = psi @ gp.Linv.T
    a = half @ gp.Linv  # A⁻¹ ψ
    V = _variance(gp, half)
    along = gp.slopes(psi)  # (d, n, m)
    mean_u = (along @ gp.v).T
    variance_u = 2.0 * np.einsum("knm,nm->nk", along, a)
    f = psi @ gp.v
    dm = psi @ gp.response.weights
    dm[:, :-N_GLOBAL] += (mean_u[:, :, None] * Z[:, None, :]).reshape(n, d * D)
    dm[:, LOG_OUTPUT_SCALE] += f
    dm[:, MEAN] += 1.0
    dV = np.zeros_like(dm)
    dV[:, :-N_GLOBAL] = (variance_u[:, :, None] * Z[:, None, :]).reshape(n, d * D) - _by_rows(gp, gp.response, a)
    size = np.einsum("nm,nm->n", a, a)
    dV[:, LOG_OUTPUT_SCALE] = 2.0 * size
    dV[:, LOG_NOISE] = 2.0 * gp.noise_variance * gp.weight * (V - size)
    return Slopes(gp.mean + f, V, dm, dV, mean_u, variance_u)


def _by_rows(gp: FeatureProcess, response: Response, a: Array) -> Array:
    """``aᵀ (∂A/∂R) a`` with ``a = A⁻¹ ψ``, ``(M, P)``: how the rows move beneath a point."""
    n, d = response.inputs.shape[0], gp.basis.d
    moving = response.moving.reshape(d * n, -1).T
    moved = np.empty((a.shape[0], d * n))
    step = max(1, _GRID_POINTS // moving.shape[0])
    for start in range(0, a.shape[0], step):
        g = gp.basis.on_grid(gp.scale * a[start : start + step])
        moved[start : start + step] = np.square(g, out=g).reshape(g.shape[0], -1) @ moving
    along = moved.reshape(-1, d, n) @ response.inputs
    return np.einsum("ak,nai->nki", gp.basis.rotation, along).reshape(a.shape[0], -1)
