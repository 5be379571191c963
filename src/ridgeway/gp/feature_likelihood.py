"""Gradient and Hessian of the log likelihood of a process with a finite basis, in sums over rows.

``log p = ½ [cᵀ A⁻¹ c - Σ w r² - log |A| + Σ log w - n log 2π]``. With ``v̂ = A⁻¹ c`` and ``M = A⁻¹ + v̂ v̂ᵀ`` its
derivative is that of ``-½ Σ w [r² - 2 r f + ψᵀ M ψ]`` with ``v̂`` and ``M`` held fixed, row by row. Its second
derivative is that of the same, plus what ``v̂`` answers, ``Gᵀ A⁻¹ G`` with ``G = ∂(c - A v̂)``, plus
``½ tr(A⁻¹ ∂A A⁻¹ ∂A)``.

The last of these, between two entries of the embedding, would cost ``m²`` for each pair of an entry and a row. It
matters where the rows hardly say anything else: for the lengths of the embedding's rows. There the inputs are taken
for what a linear regression on their embedding says of them, so that a few matrices serve for all entries. What is
left of the inputs averages out over rows. Every other term is exact.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dsyrk

from ridgeway.gp import feature_sums, likelihood
from ridgeway.gp.feature_process import FeatureProcess, Response
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, MEAN, N_GLOBAL
from ridgeway.types import Array

_FEW, _PROBES = 256, 128  # functions up to which a trace is exact, and columns from which it is estimated beyond
_GRID_POINTS = 2**20  # of all of them at a time


@likelihood.gradient.register
def gradient(gp: FeatureProcess) -> Array:
    """Gradient of ``log p(y | X, theta)``, ``(P + 4,)``: one pass over the rows."""
    by_rows, (squares, weights, errors) = gp.data.rows_at_hand.total(
        feature_sums.GradientSums(
            gp.known.view, gp.basis.series(gp.scale * gp.v), _products(gp, gp.Ainv + np.outer(gp.v, gp.v))
        ),
        feature_sums.add,
    )
    result = np.zeros(gp.theta.shape[0])
    result[:-N_GLOBAL] = _off_rotations(gp, (gp.basis.rotation.T @ by_rows).ravel())
    result[LOG_OUTPUT_SCALE] = gp.v @ gp.v - gp.basis.m + np.trace(gp.Ainv)
    result[LOG_NOISE] = gp.noise_variance * (squares - weights)
    result[MEAN] = errors
    return result


def _invariant(gp: FeatureProcess, H: Array) -> Array:
    """A Hessian without what is along rotations of the embedding, as the gradient is."""
    turns = gp.embedding.rotations(gp.parameters)
    padded = np.zeros((H.shape[0], turns.shape[1]))
    padded[: turns.shape[0]] = np.linalg.qr(turns)[0]
    H = H - padded @ (padded.T @ H)
    result: Array = H - (H @ padded) @ padded.T
    return result


def _off_rotations(gp: FeatureProcess, by_parameters: Array) -> Array:
    """A gradient without what is along rotations of the embedding.

    These change nothing but what the basis neglects: a climb would follow that for ever.
    """
    tangents = gp.embedding.rotations(gp.parameters)
    result: Array = by_parameters - tangents @ np.linalg.lstsq(tangents, by_parameters, rcond=None)[0]
    return result


def _products(gp: FeatureProcess, M: Array) -> Array:
    return gp.basis.product_sums(M * np.outer(gp.scale, gp.scale))


@likelihood.hessian.register
def hessian(gp: FeatureProcess) -> Array:
    """Hessian of ``log p(y | X, theta)``, ``(P + 4, P + 4)``."""
    return curvature(gp).hessian


def kept(gp: FeatureProcess) -> FeatureProcess:
    """The process as a belief keeps it: with the response of its weights, without what it was made of."""
    response = curvature(gp).response if gp.response is None else gp.response
    return replace(gp, data=replace(gp.data, source=None), response=response, statistics=None)


class Curvature(NamedTuple):
    """Second derivatives, and how weights and precision answer to the hyperparameters."""

    hessian: Array  # (P + 4, P + 4)
    response: Response


def curvature(gp: FeatureProcess) -> Curvature:
    """The Hessian and the weights' response: one pass over the rows, or two where their known noise differs."""
    basis, A1, sigma2 = gp.basis, gp.Ainv, gp.noise_variance
    d, D, m = basis.d, gp.data.Z.shape[1], basis.m
    twice = _squared(A1)
    B2, inside = _squared_weights(gp, twice)
    sums = feature_sums.CurvatureSums(
        gp.known.view,
        basis.series(gp.scale * gp.v),
        _products(gp, A1 + np.outer(gp.v, gp.v)),
        _products(gp, twice),
        _products(gp, inside),
    )
    mixed, second, scalars, cosine, sine, moving, regression = gp.data.rows_at_hand.total(sums, feature_sums.add)
    P = d * D
    output, noise, mean = P, P + 1, P + 2
    G = np.zeros((m, P + N_GLOBAL))
    H_waves = basis.waves.shape[0]
    for k in range(d):
        of_error, of_slope = slice(0, D), slice((1 + k) * D, (2 + k) * D)
        omega = basis.omega[:, k, None]
        G[:H_waves, k * D : (k + 1) * D] = -omega * sine[:, of_error] - cosine[:, of_slope]
        G[H_waves:, k * D : (k + 1) * D] = (omega * cosine[:, of_error] - sine[:, of_slope])[1:]
    for column, q in ((-2, noise), (-1, mean)):
        G[:H_waves, q], G[H_waves:, q] = cosine[:, column], sine[1:, column]
    G *= gp.scale[:, None]
    G[:, mean] *= -1.0
    G[:, output] = 2.0 * gp.v - gp.known.c
    # With a triangular factor, not with the inverse: of many rows A has a condition of 1e10, and curvatures that differ
    # by as much would be noise.
    half = solve_triangular(gp.L, G, lower=True, check_finite=False)
    response = solve_triangular(gp.L, half, lower=True, trans="T", check_finite=False)
    H = half.T @ half
    shifts = _moving(gp, moving)
    inputs = np.asarray(np.linalg.solve(regression[:, : 1 + d], regression[:, 1 + d :]), dtype=np.float64)
    H[:P, :P] += _by_determinant(gp, shifts, inputs)
    pairs = [(k, j) for k in range(d) for j in range(k, d)]
    for block, (k, j) in zip(second, pairs, strict=True):
        H[k * D : (k + 1) * D, j * D : (j + 1) * D] += block
        if k != j:
            H[j * D : (j + 1) * D, k * D : (k + 1) * D] += block.T
    for i, q in enumerate((output, noise, mean)):
        part = mixed[i * d : (i + 1) * d].ravel()
        H[:P, q] += part
        H[q, :P] += part
    weights, by_output_mean, by_noise_mean, by_both, by_noise_twice = scalars

    def put(p: int, q: int, value: Any) -> None:
        H[p, q] += value
        if p != q:
            H[q, p] += value

    trace, vBv = m - float(np.trace(A1)), float(gp.v @ (gp.known.c - gp.v))
    put(output, output, gp.known.c @ gp.v - 2.0 * vBv - 2.0 * trace + 2.0 * float(np.sum((np.eye(m) - A1) ** 2)))
    put(noise, noise, by_noise_twice + 2.0 * sigma2**2 * float(np.sum(inside * B2)))
    put(output, noise, by_both + 2.0 * sigma2 * float(np.sum(twice * B2)))
    put(mean, mean, -weights)
    put(mean, output, by_output_mean)
    put(mean, noise, by_noise_mean)
    H, response = _turned(basis.rotation, D, H, response)
    H = _invariant(gp, H)
    return Curvature(H, Response(response, shifts, inputs))


def _moving(gp: FeatureProcess, moving: Array) -> Array:
    """How the precision moves with the embedding, for inputs that are 1 or a coordinate: see :class:`Response`."""
    basis = gp.basis
    slopes = [1j * grid for grid in np.meshgrid(*feature_sums.frequencies(basis, 2), indexing="ij")]
    return np.stack([basis.grid_weights(slope * sums) for slope in slopes for sums in (gp.known.sums, *moving)])


def _by_determinant(gp: FeatureProcess, moving: Array, inputs: Array) -> Array:
    """``½ tr(A⁻¹ ∂A A⁻¹ ∂A)`` between all entries of the embedding, ``(P, P)``.

    With many waves the trace is estimated from random probes, the same at every call: to about a percent.
    """
    basis = gp.basis
    probes = _probes(basis.m)
    right = gp.scale[:, None] * (gp.Linv.T @ probes)
    columns = []
    step = max(1, _GRID_POINTS // moving[0].size)
    for start in range(0, probes.shape[1], step):
        g = basis.on_grid(np.ascontiguousarray(right[:, start : start + step].T))
        moved = np.stack([basis.off_grid(weights * g) for weights in moving])  # (d (1 + d), n, m)
        columns.append((moved * gp.scale) @ gp.Linv.T)
    flat = np.concatenate(columns, axis=1).reshape(moving.shape[0], -1)
    n = inputs.shape[0]
    d = flat.shape[0] // n
    between = (0.5 * flat @ flat.T).reshape(d, n, d, n)
    result: Array = np.einsum("kalb,ai,bj->kilj", between, inputs, inputs, optimize=True)
    return result.reshape(d * inputs.shape[1], -1)


def _probes(m: int) -> Array:
    """Columns whose outer products average to the identity: all unit vectors where they are few."""
    if m <= _FEW:
        return np.eye(m)
    columns, _ = np.linalg.qr(np.random.default_rng(m).standard_normal((m, _PROBES)))
    return columns * np.sqrt(m / _PROBES)


def _squared(A: Array) -> Array:
    """``A²`` of a symmetric matrix, at half the cost of a product."""
    half = dsyrk(1.0, A.T, lower=1)
    full: Array = half + half.T
    full.flat[:: A.shape[0] + 1] = half.diagonal()
    return full


def _squared_weights(gp: FeatureProcess, twice: Array) -> tuple[Array, Array]:
    """``Σ w² ψ ψᵀ``, and the same between two ``A⁻¹``; ``twice`` is ``A⁻²``."""
    if gp.data.rows_at_hand.constant_noise:
        noise = float(gp.data.noise[0]) + gp.noise_variance
        return gp.known.B / noise, (gp.Ainv - twice) / noise
    gram, *_ = gp.data.rows_at_hand.total(feature_sums.GramSums(gp.known.view, power=2), feature_sums.add)
    B2 = gp.basis.gram(gram) * np.outer(gp.scale, gp.scale)
    return B2, gp.Ainv @ B2 @ gp.Ainv


def _turned(rotation: Array, D: int, H: Array, response: Array) -> tuple[Array, Array]:
    """From the axes of the basis to those of the embedding."""
    d = rotation.shape[0]
    P = d * D

    def turned(columns: Array) -> Array:
        blocks = columns[:, :P].reshape(-1, d, D)
        rest = columns[:, P:]
        return np.hstack([np.einsum("ak,nai->nki", rotation, blocks).reshape(-1, P), rest])

    return turned(turned(H).T), turned(response)
