"""Sums over rows that a likelihood with a finite basis is made of, a block of rows at a time.

Each class is a question about rows: called with a block of them, it answers with a tuple of arrays, and the answers of
all blocks are added. A question is a value that can be sent to where the rows are.

With ``f(v) = φᵀ v̂`` and ``q(v) = φᵀ M φ`` a row says ``-½ w [r² - 2 r f + q]`` about the hyperparameters, where ``w``
is one over its noise variance and ``r`` its residual. Both are series of waves, and so are their derivatives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ridgeway.gp.fourier_basis import FourierBasis
from ridgeway.gp.process import Data
from ridgeway.types import Array

_ENTRIES = 2**16  # complex numbers of an array held at a time

Sums = tuple[Array, ...]


def add(a: Sums, b: Sums) -> Sums:
    """The answers of two blocks as one."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


@dataclass(frozen=True)
class View:
    """How a row is seen: through which embedding, and with what noise and mean."""

    basis: FourierBasis
    rows: Array  # (d, D) of the embedding, along the basis' axes
    noise_variance: float
    mean: float

    def coordinates(self, data: Data) -> Array:
        """``v`` of every row."""
        return data.Z @ self.rows.T - self.basis.center

    def weights(self, data: Data) -> Array:
        """One over the noise variance of every row."""
        return 1.0 / (data.noise + self.noise_variance)

    def blocks(self, data: Data) -> Iterator[Data]:
        """The rows, as many at a time as fit the cache."""
        shape = self.basis.shape(2)
        widest = max(int(np.prod(shape[:-1])), shape[-1], self.basis.m // 2, (1 + self.basis.d) * data.Z.shape[1] // 2)
        step = int(np.clip(_ENTRIES // widest, 64, 8192))
        for start in range(0, data.n, step):
            yield data.rows(slice(start, start + step))


def _summed(parts: Iterator[Sums]) -> Sums:
    result = next(parts)
    for part in parts:
        for mine, more in zip(result, part, strict=True):
            mine += more
    return result


@dataclass(frozen=True)
class Extent:
    """Where the rows are along the axes: minus the smallest coordinate and the largest; the larger of two answers."""

    rows: Array  # (d, D)

    def __call__(self, data: Data) -> Sums:
        V = data.Z @ self.rows.T
        return -V.min(axis=0), V.max(axis=0)


def larger(a: Sums, b: Sums) -> Sums:
    """The answers of two blocks to :class:`Extent` as one."""
    return tuple(np.maximum(x, y) for x, y in zip(a, b, strict=True))


@dataclass(frozen=True)
class GramSums:
    """``Σ w exp(iω·v)`` of all products of two functions, ``Σ w y exp(iω·v)`` of the functions, and scalars."""

    view: View
    power: int = 1  # of the weights

    def __call__(self, data: Data) -> Sums:
        return _summed(self._block(block) for block in self.view.blocks(data))

    def _block(self, data: Data) -> Sums:
        basis = self.view.basis
        w = self.view.weights(data)
        powers = basis.powers(self.view.coordinates(data), 2)
        gram = _moments(powers, w**self.power)
        output = _moments(basis.narrowed(powers), w * data.y)
        scalars = np.array([data.n, w.sum(), w @ data.y, w @ data.y**2, np.log(w).sum()])
        return gram.reshape(basis.shape(2)), output.reshape(basis.shape(1)), scalars


@dataclass(frozen=True)
class GradientSums:
    """The gradient in the embedding's rows, and what that in noise and mean is made of."""

    view: View
    series: Array  # of f, from FourierBasis.series
    products: Array  # of q, from FourierBasis.product_sums

    def __call__(self, data: Data) -> Sums:
        return _summed(self._block(block) for block in self.view.blocks(data))

    def _block(self, data: Data) -> Sums:
        basis = self.view.basis
        w, r = self.view.weights(data), data.y - self.view.mean
        powers = basis.powers(self.view.coordinates(data), 2)
        f = _derivatives(basis, basis.narrowed(powers), self.series, 1, 1)
        q = _derivatives(basis, powers, self.products, 2, 1)
        by_v = w[:, None] * (r[:, None] * f.slopes - 0.5 * q.slopes)
        squares = r**2 - 2.0 * r * f.value + q.value
        return by_v.T @ data.Z, np.array([w**2 @ squares, w.sum(), w @ (r - f.value)])


@dataclass(frozen=True)
class CurvatureSums:
    """What the Hessian is made of: see :mod:`ridgeway.gp.feature_likelihood`."""

    view: View
    series: Array
    products: Array
    by_output: Array  # φᵀ A⁻² φ
    by_noise: Array  # φᵀ A⁻¹ (Σ w² φ φᵀ) A⁻¹ φ

    def __call__(self, data: Data) -> Sums:
        return _summed(self._block(block) for block in self.view.blocks(data))

    def _block(self, data: Data) -> Sums:
        basis, sigma2, Z = self.view.basis, self.view.noise_variance, data.Z
        d = basis.d
        w, r = self.view.weights(data), data.y - self.view.mean
        dw = -2.0 * sigma2 * w**2
        V = self.view.coordinates(data)
        powers = basis.powers(V, 2)
        narrow = basis.narrowed(powers)
        f = _derivatives(basis, narrow, self.series, 1, 2)
        q = _derivatives(basis, powers, self.products, 2, 2)
        other = [_derivatives(basis, powers, t, 2, 1).slopes for t in (self.by_output, self.by_noise)]
        r_f = r[:, None] * f.slopes
        by_output = w[:, None] * (r_f - 2.0 * f.value[:, None] * f.slopes - other[0])
        by_noise = dw[:, None] * (r_f - 0.5 * q.slopes) - sigma2 * w[:, None] * other[1]
        mixed = np.concatenate([by_output, by_noise, -w[:, None] * f.slopes], axis=1).T @ Z
        curved = w[:, None, None] * (r[:, None, None] * f.curvatures - 0.5 * q.curvatures)
        upper = [(k, m) for k in range(d) for m in range(k, d)]
        second = np.stack([(curved[:, k, m, None] * Z).T @ Z for k, m in upper])
        error = r - f.value
        squares = error**2 + (q.value - f.value**2)
        scalars = np.array(
            [
                w.sum(),
                -w @ f.value,
                dw @ error,
                dw @ (r * f.value - f.value**2),
                (-4.0 * sigma2 * w**2 + 8.0 * sigma2**2 * w**3) @ (-0.5 * squares)
                + 0.5 * (-4.0 * sigma2 * w + 4.0 * sigma2**2 * w**2).sum(),
            ]
        )
        # the residual of each function, in the rows of the embedding, the noise and the mean
        E = basis.used(narrow)
        columns = [(w * error)[:, None] * Z, *((w * slope)[:, None] * Z for slope in f.slopes.T)]
        pulls = np.hstack([*columns, (dw * error)[:, None], w[:, None]])
        # how the Gram matrix moves with the embedding, for inputs in proportion to v
        moving = np.stack([_moments(powers, w * v).reshape(basis.shape(2)) for v in V.T])
        affine = np.column_stack([np.ones(data.n), V])
        weighted = w[:, None] * affine
        regression = np.hstack([weighted.T @ affine, weighted.T @ Z])
        return mixed, second, scalars, E.real.T @ pulls, E.imag.T @ pulls, moving, regression


def frequencies(basis: FourierBasis, factor: int) -> list[Array]:
    """Frequencies along each axis of the arrays of :meth:`FourierBasis.shape`."""
    return [
        step * np.arange(-factor * n if axis else 0, factor * n + 1)
        for axis, (step, n) in enumerate(zip(basis.steps, basis.sizes, strict=True))
    ]


class Derivatives(NamedTuple):
    """A series of waves at ``n`` points, with derivatives along the axes of the basis as far as wanted."""

    value: Array  # (n,)
    slopes: Array  # (n, d)
    curvatures: Array  # (n, d, d)


def _moments(powers: list[Array], weights: Array) -> Array:
    """``Σ_n weights_n Π_axis exp(i k v_n)``, with all axes but the last side by side."""
    if len(powers) == 1:
        return weights @ powers[0]
    result: Array = (weights[:, None] * _side_by_side(powers[:-1])).T @ powers[-1]
    return result


def _side_by_side(powers: list[Array]) -> Array:
    """Products of one wave of each axis, ``(n, K_1 K_2 ...)``."""
    result = powers[0]
    for p in powers[1:]:
        result = (result[:, :, None] * p[:, None, :]).reshape(p.shape[0], -1)
    return result


def _derivatives(basis: FourierBasis, powers: list[Array], t: Array, factor: int, order: int) -> Derivatives:
    """Derivatives up to ``order`` (1 or 2) of the series with coefficients ``t``.

    One matrix product over the first axes for each derivative along them; those along the last axis come with it.
    """
    d, n = basis.d, powers[0].shape[0]
    omega = frequencies(basis, factor)
    last = np.stack([np.ones_like(omega[-1], dtype=complex), 1j * omega[-1], -(omega[-1] ** 2)], axis=1)
    grids = np.meshgrid(*omega[:-1], indexing="ij") if d > 1 else []
    first = [1j * grid.ravel() for grid in grids]
    left = _side_by_side(powers[:-1]) if d > 1 else np.ones((n, 1))
    flat = t.reshape(left.shape[1], -1)

    def along(factors: Any) -> Array:
        scaled = flat if isinstance(factors, float) else factors[:, None] * flat
        product = left @ scaled
        product *= powers[-1]
        result: Array = (product @ last).real  # (n, 3): value, slope and curvature along the last axis
        return result

    slopes, curvatures = np.empty((n, d)), np.empty((n, d, d)) if order == 2 else np.empty((0, d, d))
    base = along(1.0)
    slopes[:, -1] = base[:, 1]
    if order == 2:
        curvatures[:, -1, -1] = base[:, 2]
    for k in range(d - 1):
        there = along(first[k])
        slopes[:, k] = there[:, 0]
        if order == 2:
            curvatures[:, k, -1] = curvatures[:, -1, k] = there[:, 1]
            for m in range(k + 1):
                curvatures[:, k, m] = curvatures[:, m, k] = along(first[k] * first[m])[:, 0]
    return Derivatives(base[:, 0], slopes, curvatures)
