"""Predictions of a process with a finite basis, and their derivatives in the hyperparameters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ridgeway.gp import moments
from ridgeway.gp.feature_process import FeatureProcess, Response
from ridgeway.gp.moments import Slopes
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, MEAN, N_GLOBAL
from ridgeway.types import Array

GRID_POINTS = 2**20  # of all points predicted at a time


class Waves(NamedTuple):
    """New points as a finite basis sees them: ``M`` points, ``m`` functions."""

    Z: Array  # (M, r) reduced inputs
    psi: Array  # (M, m) the functions, in prior standard deviations of their weights
    half: Array  # (M, m) L⁻¹ ψ: products between points are covariances given the rows
    a: Array  # (M, m) A⁻¹ ψ


def waves(gp: FeatureProcess, Z: Array) -> Waves:
    """The points ``Z (M, r)``."""
    psi = gp.functions(Z)
    half = psi @ gp.Linv.T
    return Waves(Z, psi, half, half @ gp.Linv)


@moments.plain.register
def plain(gp: FeatureProcess, Z: Array) -> tuple[Array, Array]:
    """Mean and variance of ``f`` given ``theta`` alone."""
    psi = gp.functions(Z)
    return gp.mean + psi @ gp.v, _variance(gp, psi @ gp.Linv.T)


def plain_at(gp: FeatureProcess, at: Waves) -> tuple[Array, Array]:
    """The same of points that are known already."""
    return gp.mean + at.psi @ gp.v, _variance(gp, at.half)


def _variance(gp: FeatureProcess, half: Array) -> Array:
    """``|L⁻¹ ψ|²``: what the neglected waves would add is in the belief's estimate of its error."""
    floor = moments.RELATIVE_VARIANCE_FLOOR * gp.output_variance
    return np.maximum(np.einsum("nm,nm->n", half, half), floor)


@moments.slopes.register
def slopes(gp: FeatureProcess, Z: Array) -> Slopes:
    """Mean and variance with all their derivatives."""
    return slopes_at(gp, waves(gp, Z))


def slopes_at(gp: FeatureProcess, at: Waves) -> Slopes:
    """The same of points that are known already."""
    response = response_of(gp)
    Z, psi, half, a = at
    n, d, D = Z.shape[0], gp.basis.d, Z.shape[1]
    V = _variance(gp, half)
    along = gp.slopes(psi)  # (d, n, m)
    mean_u = (along @ gp.v).T
    variance_u = 2.0 * np.einsum("knm,nm->nk", along, a)
    f = psi @ gp.v
    dm = psi @ response.weights
    dm[:, :-N_GLOBAL] += (mean_u[:, :, None] * Z[:, None, :]).reshape(n, d * D)
    dm[:, LOG_OUTPUT_SCALE] += f
    dm[:, MEAN] += 1.0
    dV = np.zeros_like(dm)
    dV[:, :-N_GLOBAL] = (variance_u[:, :, None] * Z[:, None, :]).reshape(n, d * D) - _by_rows(gp, response, a)
    size = np.einsum("nm,nm->n", a, a)
    dV[:, LOG_OUTPUT_SCALE] = 2.0 * size
    dV[:, LOG_NOISE] = 2.0 * gp.noise_variance * gp.weight * (V - size)
    return Slopes(gp.mean + f, V, dm, dV, mean_u, variance_u)


def response_of(gp: FeatureProcess) -> Response:
    """How the weights answer to the hyperparameters, which the process that a belief keeps knows."""
    assert gp.response is not None, "only the process that a belief keeps has derivatives of its predictions"
    return gp.response


def _by_rows(gp: FeatureProcess, response: Response, a: Array) -> Array:
    """``aᵀ (∂A/∂R) a`` with ``a = A⁻¹ ψ``, ``(M, P)``: how the rows move beneath a point."""
    n, d = response.inputs.shape[0], gp.basis.d
    moving = response.moving.reshape(d * n, -1).T
    moved = np.empty((a.shape[0], d * n))
    step = max(1, GRID_POINTS // moving.shape[0])
    for start in range(0, a.shape[0], step):
        g = gp.basis.on_grid(gp.scale * a[start : start + step])
        moved[start : start + step] = np.square(g, out=g).reshape(g.shape[0], -1) @ moving
    along = moved.reshape(-1, d, n) @ response.inputs
    return np.einsum("ak,nai->nki", gp.basis.rotation, along).reshape(a.shape[0], -1)
