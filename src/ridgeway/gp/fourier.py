"""Functions of a few directions as Fourier series on a box with periodic sides.

A squared exponential has no frequencies beyond some, and the inputs' sum ``u = R (x - center)`` no probability beyond
some distance. So a function drawn from the process is, where it matters, a series of a few thousand waves: exact to
rounding. Expectations of a wave under a measure are its characteristic function, so every average of a function, of
its square, or of both with some inputs held fixed, is a sum over waves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.fft import irfftn, next_fast_len, rfftn

from ridgeway.types import Array

#: The fastest wave, in radians a length scale: beyond it a squared exponential has exp(-9² / 2) = 3e-18 of its power.
FASTEST = 9.0
#: Length scales between a function and its periodic copies, at which the squared exponential is exp(-8.5² / 2) = 2e-16.
MARGIN = 8.5
#: Points of a grid, points along one of its sides, and entries of a matrix of waves at the data.
MOST_POINTS, MOST_ALONG, MOST_ENTRIES = 2**23, 2**17, 2**26


@dataclass(frozen=True)
class FourierBox:
    """A box around 0 with periodic sides, and the waves on it; arrays of waves are flat, ``(M,)``.

    Functions are real, so half of the waves say all: those with no negative frequency along the last side.
    """

    lengths: Array  # (k,)
    sizes: tuple[int, ...]  # points along each side

    @property
    def n(self) -> int:
        """Points of the grid."""
        return int(np.prod(self.sizes))

    @cached_property
    def axes(self) -> tuple[Array, ...]:
        """Frequencies along each side."""
        units = 2.0 * np.pi / self.lengths
        last = len(self.sizes) - 1
        return tuple(
            unit * (np.fft.rfftfreq(n, 1.0 / n) if i == last else np.fft.fftfreq(n, 1.0 / n))
            for i, (unit, n) in enumerate(zip(units, self.sizes, strict=True))
        )

    @cached_property
    def omega(self) -> Array:
        """The waves' frequencies, ``(M, k)``."""
        grid = np.meshgrid(*self.axes, indexing="ij")
        return np.stack([axis.ravel() for axis in grid], axis=1)

    @cached_property
    def counts(self) -> Array:
        """How many waves each stands for, ``(M,)``: itself, and the one of opposite frequency."""
        n = self.sizes[-1]
        last = np.full(n // 2 + 1, 2.0)
        last[0] = 1.0
        if n % 2 == 0:
            last[-1] = 1.0
        return np.broadcast_to(last, tuple(len(axis) for axis in self.axes)).ravel()

    @cached_property
    def grid(self) -> Array:
        """The points of the box, in the order of the transform: 0 first, ``(n, k)``."""
        axes = [length * np.fft.fftfreq(n) for length, n in zip(self.lengths, self.sizes, strict=True)]
        return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)

    def coefficients(self, values: Array) -> Array:
        """The series of a function known at the points of the grid, ``(n,)`` to ``(M,)``."""
        transformed: Array = rfftn(values.reshape(self.sizes)) / self.n
        return transformed.ravel()

    def values(self, coefficients: Array) -> Array:
        """The function at the points of the grid, ``(M,)`` to ``(n,)``."""
        shape = tuple(len(axis) for axis in self.axes)
        result: Array = irfftn(coefficients.reshape(shape) * self.n, s=self.sizes)
        return result.ravel()

    def at(self, coefficients: Array, V: Array) -> Array:
        """The function at any points ``V (N, k)``, ``(N,)``."""
        waves = self._waves(V)
        rest = (coefficients * self.counts).reshape(waves[0].shape[1], -1)
        result = waves[0] @ rest
        for wave in waves[1:]:
            result = np.einsum("na,nab->nb", wave, result.reshape(V.shape[0], wave.shape[1], -1))
        return result[:, 0].real

    def from_points(self, weights: Array, V: Array) -> Array:
        """``sum_n weights_n exp(-i omega·v_n)``, ``(M,)``: the series of spikes, up to the box' volume."""
        waves = [wave.conj() for wave in self._waves(V)]
        left = (waves[0] * weights[:, None]).T  # (K, N)
        for wave in waves[1:-1]:
            left = (left[:, None, :] * wave.T[None, :, :]).reshape(-1, V.shape[0])
        if len(waves) == 1:
            return left.sum(axis=1)
        result: Array = left @ waves[-1]
        return result.ravel()

    def expectation(self, coefficients: Array, characteristic: Array) -> float:
        """The function's mean under the measure with this characteristic function."""
        return float(np.sum(self.counts * (coefficients * characteristic).real))

    def squared(self, coefficients: Array) -> Array:
        """The series of the function's square."""
        return self.coefficients(self.values(coefficients) ** 2)

    def _waves(self, V: Array) -> list[Array]:
        return [np.exp(1j * np.outer(V[:, i], axis)) for i, axis in enumerate(self.axes)]


def around(extent: Array, V: Array, margin: float = MARGIN, fastest: float = FASTEST) -> FourierBox:
    """The box in which copies of a function stay away from where the measure reaches.

    ``extent (k,)`` is how far the measure reaches from 0, ``V (N, k)`` are the data, about the same centre.
    """
    if not fits(extent, V, margin, fastest):
        raise ValueError(
            f"over reaches too far for a Fourier series, {np.max(extent):.3g} length scales from its mean: cut "
            "distributions with heavy tails off, or make the box smaller"
        )
    lengths = _lengths(extent, V, margin)
    sizes = tuple(int(next_fast_len(int(size), real=True)) for size in _sizes(lengths, fastest))
    return FourierBox(lengths, sizes)


def fits(extent: Array, V: Array, margin: float = MARGIN, fastest: float = FASTEST) -> bool:
    """Whether there is memory for the box of :func:`around`, and for its waves at the data."""
    sizes = _sizes(_lengths(extent, V, margin), fastest)
    at_data = V.shape[0] * max(float(sizes.max()), float(np.prod(sizes[:-1])))
    # Written so that an extent that is not finite does not fit either.
    return bool(np.prod(sizes) <= MOST_POINTS and sizes.max() <= MOST_ALONG and at_data <= MOST_ENTRIES)


def _lengths(extent: Array, V: Array, margin: float) -> Array:
    data = np.abs(V).max(axis=0, initial=0.0)
    result: Array = extent + np.maximum(extent, data) + margin
    return result


def _sizes(lengths: Array, fastest: float) -> Array:
    """Points along each side at least, as floats, which may be as many as there are no whole numbers for."""
    result: Array = np.ceil(fastest * lengths / np.pi) + 1.0
    return result


def spectrum(box: FourierBox, output_variance: float) -> Array:
    """The power of each wave in a squared exponential process, ``(M,)``: the series of its kernel."""
    constant = output_variance * float(np.prod(np.sqrt(2.0 * np.pi) / box.lengths))
    return constant * np.exp(-0.5 * np.einsum("mk,mk->m", box.omega, box.omega))


def prior_draw(box: FourierBox, power: Array, rng: np.random.Generator) -> Array:
    """The series of a function drawn from the process with this spectrum."""
    white = box.coefficients(rng.standard_normal(box.n)) * np.sqrt(box.n)
    result: Array = np.sqrt(power) * white
    return result
