"""The mean of a kernel under a measure: what the integral of a Gaussian process is made of.

With ``u = R x`` and ``x`` distributed as a measure, ``z_n = E k(u, u_n)`` and ``c = E k(u, u')`` give the mean
``z·alpha`` and the variance ``c - zᵀ G⁻¹ z`` of the integral. A sum for points; closed forms for a squared exponential
under a Gaussian, and where every input has its own length scale; for up to three directions a Fourier integral over
the characteristic function of the measure, exact to rounding for the squared exponential. What is left (a
dozen directions, another kernel on every input, or tails so heavy that a series would have too many waves) is a sum
over Sobol points, scrambled several times: how much the sums differ says how far they are from the mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import erfc

from ridgeway.gp import fourier, measures
from ridgeway.gp.eigen import eigh
from ridgeway.gp.kernels import Kernel
from ridgeway.types import Array

MOST_DIRECTIONS = 3  # of a Fourier integral: its waves are a power of this
_PARTS, _LOG2_POINTS = 8, 11  # of Sobol points where nothing exact is at hand, and points in each part
_MOST_PAIRED = 2**11  # points whose pairs are summed
_BLOCK = 2**21  # entries of a kernel matrix held at a time
_TAPER = 6.0  # length scales over which a function is faded out, for kernels without a short spectrum
_samples: WeakKeyDictionary[Any, measures.Sample] = WeakKeyDictionary()  # of measures that are in use
_QUADRATURE = {1: 60.0, 2: 24.0, 3: 12.0}  # fastest waves, in radians a length scale, for such kernels


class KernelMeans(NamedTuple):
    """Of a correlation ``g``, output variance 1."""

    to_data: Array  # (N,) E g(|u - u_n|²)
    itself: float  # E g(|u - u'|²)
    paired: Array | None = None  # (N,) the same as ``to_data`` from the points behind ``itself``, where these are fewer
    away: Array | None = None  # (parts, N) what each part of a sample adds to ``to_data``, beside what its share would

    def variance(self, solve: Callable[[Array], Array]) -> float:
        """``c - zᵀ G⁻¹ z``, both from the same points: what is left is small beside either."""
        z = self.to_data if self.paired is None else self.paired
        return max(self.itself - float(z @ solve(z)), 0.0)

    def deviations(self, weights: Array) -> Array:
        """What each part of a sample adds to ``to_data·weights`` beside its share of it, ``(parts,)``; or none."""
        return np.zeros(0) if self.away is None else self.away @ weights


class Rows(NamedTuple):
    """How scaled inputs become ``u``: combinations ``(k, D)`` of them, or one inverse length scale ``(D,)`` each."""

    matrix: Array

    @property
    def are_scales(self) -> bool:
        """Whether each input has a coordinate of its own."""
        return self.matrix.ndim == 1

    @property
    def k(self) -> int:
        """Number of coordinates."""
        return self.matrix.shape[0]

    def project(self, X: Array) -> Array:
        """Coordinates ``u`` of scaled inputs."""
        result: Array = X * self.matrix if self.are_scales else X @ self.matrix.T
        return result


def kernel_means(measure: Any, kernel: Kernel, rows: Rows, U: Array) -> KernelMeans:
    """Means of the kernel, with data at ``U (N, k)``; measure and rows are about inputs mapped to [-1, 1]."""
    is_se = kernel.name == "se"
    if isinstance(measure, measures.Points):
        return _from_points(kernel, rows, measure, U)
    if rows.are_scales and is_se and measures.independent(measure) and measures.resolves(measure, rows.matrix[None]):
        return _by_inputs(measure, rows.matrix, U)
    if rows.k > MOST_DIRECTIONS and not (is_se and isinstance(measure, measures.Gaussian)):
        return _from_points(kernel, rows, sample(measure), U)
    R = np.diag(rows.matrix) if rows.are_scales else rows.matrix
    if is_se and isinstance(measure, measures.Gaussian):
        return _gaussian(R @ measure.mean, measure.covariance(R), U)
    if not measures.resolves(measure, R) or not np.isfinite(measure.covariance(R)).all():
        return _from_points(kernel, rows, sample(measure), U)
    turned, V = principal(measure, R, U)
    if not (_fourier_fits if is_se else _quadrature_fits)(measure, turned, V):
        return _from_points(kernel, rows, sample(measure), U)
    return _fourier(measure, turned, V) if is_se else _quadrature(measure, kernel, turned, V)


def sample(measure: Any) -> measures.Sample:
    """Sobol points of a measure in parts, each scrambled by itself; always the same, and made once."""
    if measure not in _samples:
        _samples[measure] = measures.Sample.of([sobol_points(measure, _LOG2_POINTS, seed) for seed in range(_PARTS)])
    return _samples[measure]


def sobol_points(measure: Any, log2: int, seed: int = 0) -> Array:
    """``2^log2`` scrambled Sobol points of a measure, always the same."""
    result: Array = measure.from_uniform(sobol(measure.D, log2, seed))
    return result


def sobol(n: int, log2: int, seed: int = 0) -> Array:
    """``2^log2`` scrambled Sobol points of the unit cube in ``n`` dimensions, always the same."""
    from scipy.stats import qmc  # importing it takes half a second, and a belief that predicts does not need it

    result: Array = qmc.Sobol(n, seed=np.random.default_rng(seed)).random_base2(log2)
    return result


def principal(measure: Any, R: Array, U: Array) -> tuple[Array, Array]:
    """Rows turned to the principal axes of ``u`` under the measure, and the data about its mean.

    A radial kernel does not notice; along these axes the box of a Fourier series is smallest.
    """
    _, axes = eigh(measure.covariance(R))
    return axes.T @ R, (U - R @ measure.center) @ axes


def _from_points(kernel: Kernel, rows: Rows, points: measures.Points, U: Array) -> KernelMeans:
    A = rows.project(points.points)
    if not isinstance(points, measures.Sample):
        return _from_atoms(kernel, A, points.shares, U, _summed(kernel, A, points.shares, U))
    by_part = points.by_part
    each = _summed(kernel, A, by_part, U)
    found = _from_atoms(kernel, A, points.shares, U, each.sum(axis=0))
    return found._replace(away=each - np.outer(by_part.sum(axis=1), found.to_data))


def _from_atoms(kernel: Kernel, A: Array, weights: Array, U: Array, to_data: Array) -> KernelMeans:
    fewer = A.shape[0] > _MOST_PAIRED
    if fewer:  # pairs are as many as the square of points
        kept = np.random.default_rng(0).choice(A.shape[0], _MOST_PAIRED, replace=False)
        A, weights = A[kept], weights[kept] / weights[kept].sum()
    step = max(1, _BLOCK // A.shape[0])
    blocks = (slice(start, start + step) for start in range(0, A.shape[0], step))
    itself = sum(float(weights[b] @ _summed(kernel, A, weights, A[b])) for b in blocks)
    return KernelMeans(to_data, itself, _summed(kernel, A, weights, U) if fewer else None)


def _by_inputs(measure: Any, scale: Array, U: Array) -> KernelMeans:
    X = np.divide(U, scale, out=np.zeros_like(U), where=scale > 0)
    to_data = np.prod(measure.line_means(scale, X), axis=1)
    return KernelMeans(to_data, float(np.prod(measure.line_squares(scale))))


def _gaussian(mean: Array, covariance: Array, U: Array) -> KernelMeans:
    wide = np.eye(mean.shape[0]) + covariance
    L = np.linalg.cholesky(wide)
    away = np.linalg.solve(L, (U - mean).T)
    to_data = np.exp(-0.5 * np.einsum("kn,kn->n", away, away)) / np.prod(np.diagonal(L))
    twice = np.eye(mean.shape[0]) + 2.0 * covariance
    return KernelMeans(to_data, float(np.exp(-0.5 * np.linalg.slogdet(twice)[1])))


def _fourier_fits(measure: Any, R: Array, V: Array) -> bool:
    return fourier.fits(measure.extent(R), V)


def _quadrature_fits(measure: Any, R: Array, V: Array) -> bool:
    return fourier.fits(2.0 * measure.extent(R), V, 2.0 * _TAPER, _QUADRATURE[R.shape[0]])


def _fourier(measure: Any, R: Array, V: Array) -> KernelMeans:
    box = fourier.around(measure.extent(R), V)
    power = fourier.spectrum(box, 1.0)
    phi = measure.characteristic(R, box.omega)
    return KernelMeans(box.at(power * phi.conj(), V), float(np.sum(box.counts * power * np.abs(phi) ** 2)))


def _quadrature(measure: Any, kernel: Kernel, R: Array, V: Array) -> KernelMeans:
    def of_difference(omega: Array) -> Array:
        return np.abs(measure.characteristic(R, omega)) ** 2

    extent = measure.extent(R)
    nodes, weights = _nodes(extent, lambda omega: measure.characteristic(R, omega))
    to_data = _summed(kernel, nodes, weights, V)
    nodes, weights = _nodes(2.0 * extent, of_difference)
    return KernelMeans(to_data, float(_summed(kernel, nodes, weights, np.zeros((1, R.shape[0])))[0]))


def _nodes(extent: Array, characteristic: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Nodes on a grid in ``u`` about its mean, and weights from the characteristic function.

    It is cut off at what the grid resolves, and so the density rings beyond where the measure reaches. A window that
    is 1 there and fades outside keeps a kernel that is not periodic from meeting its copies.
    """
    box = fourier.around(extent, np.zeros((0, extent.shape[0])), 2.0 * _TAPER, _QUADRATURE[extent.shape[0]])
    weights = box.values(characteristic(box.omega).conj()) / box.n
    beyond = np.abs(box.grid) - extent - 0.5 * _TAPER
    weights *= np.prod(0.5 * erfc(beyond * (12.0 / _TAPER)), axis=1)
    kept = np.abs(weights) > 1e-12 * np.abs(weights).max()
    return box.grid[kept], weights[kept]


def _summed(kernel: Kernel, nodes: Array, weights: Array, V: Array) -> Array:
    """``sum_a weights_a g(|nodes_a - v|²)``, ``(N,)``, or a row for each row of ``weights``."""
    step = max(1, _BLOCK // max(V.shape[0], 1))
    result = np.zeros((*weights.shape[:-1], V.shape[0]))
    for start in range(0, nodes.shape[0], step):
        part = slice(start, start + step)
        result += weights[..., part] @ kernel.value(cdist(nodes[part], V, "sqeuclidean"))
    return result
