"""A finite basis for functions of a few directions: waves on a box with periodic sides.

The kernel is the Fourier transform of its spectral density. The trapezoidal rule makes a finite sum of waves of that
integral (Greengard 2022, "Equispaced Fourier representations for efficient Gaussian process regression"). Two things
are neglected, and both are known beforehand: the kernel between a point and the periodic copies of the others, and
the spectrum beyond the fastest wave. For the squared exponential both fall off like a Gaussian.

Products of waves are waves again. So the ``m × m`` Gram matrix of the basis over any number of rows follows from sums
over rows of about ``2^d m`` waves: each row costs a few times ``m``, not ``m²``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.fft import irfftn, next_fast_len, rfftn
from scipy.special import gamma

from ridgeway.gp.eigen import eigh
from ridgeway.gp.kernels import Kernel, with_density
from ridgeway.types import Array

#: Functions at most: their Gram matrix is factorised at every step.
MOST_FUNCTIONS = 3000
#: Functions at most as long as little is neglected.
_FEW_FUNCTIONS, _LITTLE = 1200, 1e-4
#: What is neglected, relative to the output variance, at best, usually, and at most.
_LEAST_NEGLECTED, _USUALLY_NEGLECTED, MOST_NEGLECTED = 1e-10, 1e-5, 1e-2
#: Where that takes too many functions, copies may be so many times what is missing of the spectrum, and at most this:
#: the spectrum concerns every pair of rows, copies only those at opposite ends of the box.
_COPIES, _MOST_COPIES = 100.0, 0.1
_DRAFT, _OF_A_DRAFT = 500, 0.1  # functions of a draft as long as little is neglected, and what is at most
_NEGLECTED_NOISE = 1e-2  # or this share of the noise's variance, if that is less than usual
_SLACK = (1.2, 1.2, 1.1)  # by which the box is larger than the data of 1, 2 or more directions: embeddings may grow


class Pairs(NamedTuple):
    """For two waves ``a`` and ``b``, where ``a - b`` and ``a + b`` stand among the sums over rows."""

    difference: Array  # (H, H) positions in the flat array of sums
    difference_sign: Array  # (H, H) -1 where the sum stored is that of the opposite frequency
    total: Array
    total_sign: Array


@dataclass(frozen=True)
class FourierBasis:
    """``1, cos(ω·v), sin(ω·v), ...`` with ``v = O u - center``, and their prior variances at output scale 1."""

    rotation: Array  # (d, d) O, to the principal axes of the data
    center: Array  # (d,)
    reach: Array  # (d,) farthest from the center that data may be
    steps: Array  # (d,) frequency of the slowest wave along each axis
    sizes: tuple[int, ...]  # the fastest along each axis, in these steps
    waves: Array  # (H, d) whole numbers: the frequencies used, 0 first, of each pair of opposite ones one
    variances: Array  # (H,) of the cosine, and of the sine
    neglected: float  # share of the kernel that is missing or belongs to periodic copies

    @property
    def d(self) -> int:
        return int(self.steps.shape[0])

    @property
    def m(self) -> int:
        """Functions: the constant, then cosines, then sines."""
        return 2 * int(self.waves.shape[0]) - 1

    @cached_property
    def omega(self) -> Array:
        """Frequencies ``(H, d)``."""
        return self.waves * self.steps

    @property
    def fastest(self) -> float:
        """The highest frequency."""
        return float(np.linalg.norm(self.omega, axis=1).max())

    @cached_property
    def function_variances(self) -> Array:
        """Prior variances of all functions, ``(m,)``."""
        return np.concatenate([self.variances, self.variances[1:]])

    def coordinates(self, U: Array) -> Array:
        """``v`` of embedded inputs ``U (n, d)``."""
        return U @ self.rotation.T - self.center

    def covers(self, lower: Array, upper: Array) -> bool:
        """Whether data between these coordinates ``v`` are where the basis is accurate."""
        return bool(np.all(np.maximum(-lower, upper) <= self.reach))

    # -- waves at points ------------------------------------------------------------------------

    def powers(self, V: Array, factor: int) -> list[Array]:
        """``exp(i k step v)`` along each axis for ``|k| <= factor · size``; along the first for ``k >= 0`` alone."""
        result = []
        for axis, (step, size) in enumerate(zip(self.steps, self.sizes, strict=True)):
            top = factor * size
            first = np.exp(1j * step * V[:, axis])
            positive = np.empty((V.shape[0], top + 1), dtype=complex)
            positive[:, 0] = 1.0
            for k in range(1, top + 1):  # products, not exponentials: several times faster, exact to rounding
                np.multiply(positive[:, k - 1], first, out=positive[:, k])
            if axis:
                positive = np.concatenate([positive[:, :0:-1].conj(), positive], axis=1)
            result.append(positive)
        return result

    def narrowed(self, powers: list[Array]) -> list[Array]:
        """The waves of ``powers`` of factor 2 that factor 1 would have given."""
        result = [powers[0][:, : self.sizes[0] + 1]]
        return result + [p[:, n : 3 * n + 1] for p, n in zip(powers[1:], self.sizes[1:], strict=True)]

    def shape(self, factor: int) -> tuple[int, ...]:
        """Of the array of coefficients of all waves in a box."""
        return (factor * self.sizes[0] + 1, *(2 * factor * n + 1 for n in self.sizes[1:]))

    def functions(self, V: Array) -> Array:
        """All functions at ``V``, ``(n, m)``."""
        E = self.used(self.powers(V, 1))
        return np.concatenate([E.real, E.imag[:, 1:]], axis=1)

    def function_slopes(self, functions: Array, axis: int) -> Array:
        """Derivatives of all functions along an axis, from their values, ``(n, m)``."""
        H, omega = self.waves.shape[0], self.omega[:, axis]
        result = np.zeros_like(functions)
        result[:, 1:H] = -omega[1:] * functions[:, H:]
        result[:, H:] = omega[1:] * functions[:, 1:H]
        return result

    def used(self, narrow: list[Array]) -> Array:
        """``exp(i ω·v)`` of the waves used, ``(n, H)``, from the powers of factor 1."""
        result = narrow[0][:, self.waves[:, 0]]
        for p, n, k in zip(narrow[1:], self.sizes[1:], self.waves.T[1:], strict=True):
            result = result * p[:, k + n]
        return result

    # -- Gram matrices ------------------------------------------------------------------------

    @cached_property
    def positions(self) -> Array:
        """Where the waves used stand in an array of :meth:`shape` 1, ``(H,)``."""
        return _flat(self._shifted(self.waves, 1), self.shape(1))

    @cached_property
    def pairs(self) -> Pairs:
        """Where the products of the waves used stand in an array of :meth:`shape` 2."""
        a, b = self.waves[:, None, :], self.waves[None, :, :]
        return Pairs(*self._found(a - b), *self._found(a + b))

    def _found(self, k: Array) -> tuple[Array, Array]:
        sign = np.where(k[..., :1] < 0, -1, 1)
        where = _flat(self._shifted(sign * k, 2), self.shape(2))
        return where, sign[..., 0].astype(np.int8)

    def _shifted(self, k: Array, factor: int) -> tuple[Array, ...]:
        return (k[..., 0], *(k[..., i] + factor * n for i, n in enumerate(self.sizes) if i))

    def gram(self, sums: Array) -> Array:
        """``Σ w φ φᵀ (m, m)`` from the sums ``Σ w exp(i ω·v)`` over rows, an array of :meth:`shape` 2."""
        flat, p = sums.ravel(), self.pairs
        minus, plus = flat[p.difference], flat[p.total]
        H = self.waves.shape[0]
        result = np.empty((self.m, self.m))
        result[:H, :H] = 0.5 * (minus.real + plus.real)
        result[H:, H:] = 0.5 * (minus.real - plus.real)[1:, 1:]
        mixed = 0.5 * (p.total_sign * plus.imag - p.difference_sign * minus.imag)[:, 1:]
        result[:H, H:] = mixed
        result[H:, :H] = mixed.T
        return result

    def product_sums(self, M: Array) -> Array:
        """Coefficients of the waves in ``φᵀ M φ`` for a symmetric ``M (m, m)``: an array of :meth:`shape` 2."""
        H, p = self.waves.shape[0], self.pairs
        cosines, sines, mixed = M[:H, :H], np.zeros((H, H)), np.zeros((H, H))
        sines[1:, 1:], mixed[:, 1:] = M[H:, H:], M[:H, H:]
        size = int(np.prod(self.shape(2)))
        result = np.zeros(size, dtype=complex)
        result.real += np.bincount(p.difference.ravel(), (0.5 * (cosines + sines)).ravel(), size)
        result.real += np.bincount(p.total.ravel(), (0.5 * (cosines - sines)).ravel(), size)
        # a sine's coefficient is minus the imaginary part
        result.imag -= np.bincount(p.total.ravel(), (p.total_sign * mixed).ravel(), size)
        result.imag += np.bincount(p.difference.ravel(), (p.difference_sign * mixed).ravel(), size)
        return result.reshape(self.shape(2))

    def series(self, v: Array) -> Array:
        """Coefficients of the waves in ``φᵀ v``: an array of :meth:`shape` 1."""
        H = self.waves.shape[0]
        result = np.zeros(int(np.prod(self.shape(1))), dtype=complex)
        result[self.positions] = v[:H]
        result[self.positions[1:]] -= 1j * v[H:]
        return result.reshape(self.shape(1))

    def narrow(self, sums: Array) -> Array:
        """The part of an array of :meth:`shape` 2 that has :meth:`shape` 1."""
        part = (slice(0, self.sizes[0] + 1), *(slice(n, 3 * n + 1) for n in self.sizes[1:]))
        return np.ascontiguousarray(sums[part])

    def from_sums(self, sums: Array) -> Array:
        """``Σ w φ (m,)`` from ``Σ w exp(i ω·v)``, an array of :meth:`shape` 1."""
        chosen = sums.ravel()[self.positions]
        return np.concatenate([chosen.real, chosen.imag[1:]])

    # -- a grid that stands for the rows --------------------------------------------------------

    @cached_property
    def grid(self) -> tuple[int, ...]:
        """Points along each axis of a grid over the box: enough for sums of products of four functions."""
        return tuple(int(next_fast_len(4 * n + 1, real=True)) for n in self.sizes)

    def grid_weights(self, sums: Array) -> Array:
        """Weights of the grid's points that give it the sums of the rows, an array of :meth:`shape` 2.

        Then ``Σ w φ φᵀ`` over any number of rows is the sum over the grid, which fast Fourier transforms take.
        """
        half = np.zeros(self._half, dtype=complex)
        ends = (np.arange(2 * self.sizes[0] + 1), *(np.arange(-2 * n, 2 * n + 1) for n in self.sizes[1:]))
        half[np.ix_(*ends)] = sums.conj()
        result: Array = irfftn(half[None], self._lengths, self._axes)[0]
        return result

    def on_grid(self, b: Array) -> Array:
        """``φᵀ b`` at the points of the grid for every row of ``b (n, m)``: ``(n, *grid)``."""
        H = self.waves.shape[0]
        waves = b[:, :H].astype(complex)
        waves[:, 1:] = 0.5 * (b[:, 1:H] - 1j * b[:, H:])
        half = np.zeros((b.shape[0], *self._half), dtype=complex)
        half[(slice(None), *self.waves.T)] = waves
        edge = np.flatnonzero(self.waves[:, 0] == 0)  # where opposite frequencies stand beside each other
        half[(slice(None), *-self.waves[edge].T)] = waves[:, edge].conj()
        result: Array = irfftn(half, self._lengths, self._axes, norm="forward", overwrite_x=True)
        return result

    def off_grid(self, g: Array) -> Array:
        """``Σ g φ`` over the points of the grid for every row of ``g (n, *grid)``: ``(n, m)``."""
        E = rfftn(g, axes=self._axes)[(slice(None), *self.waves.T)]
        return np.concatenate([E.real, -E.imag[:, 1:]], axis=1)

    @property
    def _half(self) -> tuple[int, ...]:
        """Frequencies of the grid: along the first axis only those from 0."""
        return (self.grid[0] // 2 + 1, *self.grid[1:])

    @property
    def _axes(self) -> tuple[int, ...]:
        """Axes of an array ``(n, *grid)`` in the order of the transforms; the halved one is last."""
        return (*range(2, self.d + 1), 1)

    @property
    def _lengths(self) -> tuple[int, ...]:
        return (*self.grid[1:], self.grid[0])


def _flat(k: Any, shape: tuple[int, ...]) -> Any:
    """Positions in a flat array of indices along its axes."""
    return np.ravel_multi_index(k, shape).astype(np.int32)


def principal_axes(U: Array) -> Array:
    """The rotation to the principal axes of ``U (n, d)``: a box along them is smallest."""
    _, vectors = eigh(np.cov(U.T).reshape(U.shape[1], -1))
    return np.ascontiguousarray(vectors.T)


def smallest(
    kernel: Kernel, rotation: Array, lower: Array, upper: Array, relative_noise: float, is_draft: bool = False
) -> FourierBasis | None:
    """The smallest basis that is accurate enough for data between ``lower`` and ``upper``, after ``rotation``.

    ``relative_noise`` is the noise's variance relative to the output's: what is neglected has to be small beside it.
    Where that takes too many functions, more is neglected; ``None`` where that does not help. A draft has few
    functions, for the way to a mode.
    """
    wanted = float(np.clip(_NEGLECTED_NOISE * relative_noise, _LEAST_NEGLECTED, _USUALLY_NEGLECTED))
    few, little, most = (_DRAFT, MOST_NEGLECTED, _OF_A_DRAFT) if is_draft else (_FEW_FUNCTIONS, _LITTLE, MOST_NEGLECTED)
    basis = None
    while wanted <= most * 1.001:
        for copies in (wanted, min(_COPIES * wanted, _MOST_COPIES)):
            basis = build(kernel, rotation, lower, upper, wanted, copies)
            if basis is not None and basis.m <= few:
                return basis
        if basis is not None and wanted > little:
            return basis
        wanted *= 10.0
    return basis


def build(
    kernel: Kernel, rotation: Array, lower: Array, upper: Array, neglected: float, copies: float | None = None
) -> FourierBasis | None:
    """The basis whose missing spectrum is at most ``neglected``, and so is every copy, or at most ``copies``.

    ``None`` where it is too large.
    """
    d = lower.shape[0]
    reach = _SLACK[min(d, 3) - 1] * np.maximum(0.5 * (upper - lower), 1e-3)
    margin = _falls_to(kernel, neglected if copies is None else copies)
    cut, tail = _cut(kernel, d, neglected)
    steps = 2.0 * np.pi / (2.0 * reach + margin)
    sizes = tuple(int(n) for n in np.floor(cut / steps))
    if float(np.prod(2.0 * np.array(sizes) + 1.0)) > 100.0 * MOST_FUNCTIONS:
        return None
    grid = np.stack(np.meshgrid(*(np.arange(-n, n + 1) for n in sizes), indexing="ij"), axis=-1).reshape(-1, d)
    grid = grid[grid.shape[0] // 2 :]  # 0 and, of each pair of opposite frequencies, one
    lengths = np.linalg.norm(grid * steps, axis=1)
    waves = grid[lengths <= cut]
    if 2 * waves.shape[0] - 1 > MOST_FUNCTIONS:
        return None
    variances = float(np.prod(steps)) * with_density(kernel).spectral_density(lengths[lengths <= cut], d)
    variances[1:] *= 2.0
    all_copies = 2.0 * d * float(kernel.value(np.array(margin**2)))
    center = 0.5 * (lower + upper)
    return FourierBasis(rotation, center, reach, steps, sizes, waves, variances, all_copies + tail)


def _falls_to(kernel: Kernel, value: float) -> float:
    """The distance beyond which the kernel is below ``value``."""
    near, far = 0.0, 1.0
    while kernel.value(np.array(far**2)) > value:
        near, far = far, 2.0 * far
    for _ in range(40):
        middle = 0.5 * (near + far)
        near, far = (middle, far) if kernel.value(np.array(middle**2)) > value else (near, middle)
    return far


def _cut(kernel: Kernel, d: int, value: float) -> tuple[float, float]:
    """The frequency beyond which the spectrum holds less than ``value``, and what it holds."""
    omega = np.geomspace(1e-2, 1e6, 4001)
    area = 2.0 * np.pi ** (0.5 * d) / gamma(0.5 * d)
    density = area * omega**d * with_density(kernel).spectral_density(omega, d)  # of log omega
    steps = np.diff(np.log(omega)) * 0.5 * (density[1:] + density[:-1])
    beyond = np.append(np.cumsum(steps[::-1])[::-1], 0.0)
    at = int(np.argmax(beyond <= value))
    return float(omega[at]), float(beyond[at])
