"""Functions drawn from a conditioned process, whose averages over the inputs are known.

Matheron's rule (Wilson et al. 2020): a function drawn from the prior, moved by what the data say about its error
there. How the prior is drawn decides how well averages are known. On up to three directions, with the squared
exponential, it is a Fourier series; with a length scale for each input it is a sum of random waves (Rahimi & Recht
2007), which are products over the inputs, as the kernel is; elsewhere random waves again, averaged over Sobol points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.linalg.lapack import dpotrs
from scipy.spatial.distance import cdist

from ridgeway.gp import fourier, measures
from ridgeway.gp.kernel_means import MOST_DIRECTIONS, Rows, principal, sobol_points
from ridgeway.gp.kernels import Kernel, spectral
from ridgeway.gp.process import ConditionedGP
from ridgeway.gp.variance_parts import Exchange, ProductAverages, Terms, VarianceParts, WaveAverages
from ridgeway.types import Array

N_WAVES = 128  # of a prior that is a sum of random waves
_BLOCK = 2**21  # entries of a matrix of waves held at a time
_LOG2_POINTS = 12  # Sobol points of averages that have no closed form
_LOG2_SLOPES = 10


class DrawnFunction(Protocol):
    """A function of the inputs mapped to [-1, 1], outputs standardised."""

    def parts(self) -> VarianceParts:
        """Its variance, split among the inputs."""

    def slopes(self) -> Array:
        """Mean square of its derivative in each input, ``(D,)``."""

    def main_effect(self, j: int, t: Array) -> Array:
        """``E[f | x_j = t]`` at values ``t (m,)`` of one input, or ``(m, L)`` of a category's columns."""

    def values(self, X: Array) -> Array:
        """At points ``(n, D)``."""


class FunctionSource(Protocol):
    """The process at one value of the hyperparameters, from which functions are drawn."""

    def mean(self) -> DrawnFunction:
        """The predictive mean."""

    def draw(self, rng: np.random.Generator) -> DrawnFunction:
        """One function."""


def source(gp: ConditionedGP, rows: Rows, U: Array, measure: Any) -> FunctionSource:
    """Where to draw functions from whose averages under ``measure`` are wanted; ``U (N, k)`` are the data."""
    if gp.kernel.name == "se" and not rows.are_scales and rows.k <= MOST_DIRECTIONS:
        return _Series(gp, rows.matrix, U, measure)
    if gp.kernel.name == "se" and rows.are_scales and measures.independent(measure):
        return _Products(gp, rows, U, measure)
    return _Paths(gp, rows, U, measure)


def work(kernel: Kernel, rows: Rows, n: int, measure: Any) -> float:
    """Multiply-adds, roughly, of splitting the variance of one function from ``n`` data."""
    D = measure.D
    if kernel.name == "se" and not rows.are_scales and rows.k <= MOST_DIRECTIONS:
        V = np.zeros((0, rows.k))
        R, _ = principal(measure, rows.matrix, V)
        return 400.0 * (D + 1) * fourier.around(measure.extent(R), V).n
    terms = n + N_WAVES
    if kernel.name == "se" and rows.are_scales and measures.independent(measure):
        return 100.0 * (D + 1) * terms**2
    return 20.0 * (D + 2) * terms * 2**_LOG2_POINTS


@dataclass(frozen=True)
class _Series:
    """Fourier series on the principal axes of the directions."""

    gp: ConditionedGP
    rows: Array
    U: Array
    measure: Any

    @cached_property
    def _turned(self) -> tuple[Array, Array]:
        return principal(self.measure, self.rows, self.U)

    @cached_property
    def _box(self) -> fourier.FourierBox:
        R, V = self._turned
        return fourier.around(self.measure.extent(R), V)

    @cached_property
    def _power(self) -> Array:
        return fourier.spectrum(self._box, self.gp.output_variance)

    @cached_property
    def _averages(self) -> WaveAverages:
        return WaveAverages(self._box, self.measure, self._turned[0])

    def mean(self) -> DrawnFunction:
        return self._function(self._power * self._box.from_points(self.gp.alpha, self._turned[1]))

    def draw(self, rng: np.random.Generator) -> DrawnFunction:
        V = self._turned[1]
        prior = fourier.prior_draw(self._box, self._power, rng)
        moved = _correction(self.gp, self._box.at(prior, V), rng)
        return self._function(prior + self._power * self._box.from_points(moved, V))

    def _function(self, c: Array) -> DrawnFunction:
        c[0] += self.gp.mean  # the wave of frequency zero is the constant
        return _SeriesFunction(self._averages, c)


@dataclass(frozen=True)
class _SeriesFunction:
    averages: WaveAverages
    c: Array

    def parts(self) -> VarianceParts:
        return self.averages.parts(self.c)

    def slopes(self) -> Array:
        return self.averages.slopes(self.c)

    def main_effect(self, j: int, t: Array) -> Array:
        return self.averages.main_effect(self.c, j, t)

    def values(self, X: Array) -> Array:
        a = self.averages
        V = (X - a.measure.center) @ a.R.T
        step = max(1, _BLOCK // self.c.shape[0])
        blocks = [a.box.at(self.c, V[i : i + step]) for i in range(0, V.shape[0], step)]
        return np.concatenate(blocks)


@dataclass(frozen=True)
class Path:
    """A function of ``u``: random waves, and kernels around the data."""

    gp: ConditionedGP
    U: Array  # (N, k) the data
    waves: Array  # (k, m) frequencies
    phases: Array  # (m,)
    amplitudes: Array  # (m,)
    correction: Array  # (N,)

    def __call__(self, u: Array) -> Array:
        """Values at ``u (n, k)``."""
        result = np.empty(u.shape[0])
        step = max(1, _BLOCK // (self.waves.shape[1] + self.U.shape[0]))
        for start in range(0, u.shape[0], step):
            part = u[start : start + step]
            k = self.gp.output_variance * self.gp.kernel.value(cdist(part, self.U, "sqeuclidean"))
            prior = np.cos(part @ self.waves + self.phases) @ self.amplitudes
            result[start : start + step] = prior + k @ self.correction
        return self.gp.mean + result

    def slopes(self, u: Array) -> Array:
        """Derivatives in ``u``, ``(n, k)``."""
        _, g1, _ = self.gp.kernel.derivatives(cdist(u, self.U, "sqeuclidean"))
        weights = (2.0 * self.gp.output_variance) * g1 * self.correction
        own = weights.sum(axis=1)[:, None] * u - weights @ self.U
        result: Array = own - (np.sin(u @ self.waves + self.phases) * self.amplitudes) @ self.waves.T
        return result


def path(gp: ConditionedGP, U: Array, rng: np.random.Generator | None, n_waves: int = N_WAVES) -> Path:
    """A function drawn from the process given data at ``U (N, k)``; without random numbers, its mean."""
    if rng is None:
        return Path(gp, U, np.zeros((U.shape[1], 0)), np.zeros(0), np.zeros(0), gp.alpha)
    waves = spectral(gp.kernel).frequencies(n_waves, U.shape[1], rng).T
    phases = rng.uniform(0.0, 2.0 * np.pi, n_waves)
    amplitudes = np.sqrt(2.0 * gp.output_variance / n_waves) * rng.standard_normal(n_waves)
    prior = np.cos(U @ waves + phases) @ amplitudes
    return Path(gp, U, waves, phases, amplitudes, _correction(gp, prior, rng))


@dataclass(frozen=True)
class _Products:
    """Random waves and squared exponentials, products over the inputs both."""

    gp: ConditionedGP
    rows: Rows
    U: Array
    measure: Any

    def mean(self) -> DrawnFunction:
        return _ProductFunction(path(self.gp, self.U, None), self.rows, self.measure)

    def draw(self, rng: np.random.Generator) -> DrawnFunction:
        return _ProductFunction(path(self.gp, self.U, rng), self.rows, self.measure)


@dataclass(frozen=True)
class _Paths:
    """Random waves, averaged over Sobol points."""

    gp: ConditionedGP
    rows: Rows
    U: Array
    measure: Any

    def mean(self) -> DrawnFunction:
        return _ExchangedFunction(path(self.gp, self.U, None), self.rows, self.measure)

    def draw(self, rng: np.random.Generator) -> DrawnFunction:
        return _ExchangedFunction(path(self.gp, self.U, rng), self.rows, self.measure)


@dataclass(frozen=True)
class _PathFunction:
    path: Path
    rows: Rows
    measure: Any

    def slopes(self) -> Array:
        slopes = self.path.slopes(self.rows.project(sobol_points(self.measure, _LOG2_SLOPES)))
        along = slopes * self.rows.matrix if self.rows.are_scales else slopes @ self.rows.matrix
        result: Array = np.mean(along**2, axis=0)
        return result

    def values(self, X: Array) -> Array:
        return self.path(self.rows.project(X))


@dataclass(frozen=True)
class _ProductFunction(_PathFunction):
    @cached_property
    def _averages(self) -> ProductAverages:
        gp, waves, U, scale = self.path.gp, self.path.waves, self.path.U, self.rows.matrix
        spikes = gp.output_variance * self.path.correction
        weights = np.concatenate([spikes, self.path.amplitudes * np.exp(1j * self.path.phases)])

        def factors(j: int, t: Array) -> Array:
            u = scale[j] * t[:, None]
            return np.hstack([np.exp(-0.5 * (u - U[:, j]) ** 2), np.exp(1j * u * waves[j])])

        widths = [high - low for low, high in map(self.measure.interval, range(self.measure.D))]
        n_nodes = 24 + int(4.0 * float(np.max(scale * widths)))
        return ProductAverages(self.measure, Terms(gp.mean, weights, factors), n_nodes)

    def parts(self) -> VarianceParts:
        return self._averages.parts()

    def main_effect(self, j: int, t: Array) -> Array:
        return self._averages.main_effect(j, t)


@dataclass(frozen=True)
class _ExchangedFunction(_PathFunction):
    @cached_property
    def _exchange(self) -> Exchange:
        return Exchange(self.measure, _LOG2_POINTS)

    def parts(self) -> VarianceParts:
        return self._exchange.parts(self.values)

    def slopes(self) -> Array:
        return measures.grouped(super().slopes(), measures.groups(self.measure))

    def main_effect(self, j: int, t: Array) -> Array:
        return self._exchange.main_effect(self.values, j, t)


def _correction(gp: ConditionedGP, prior: Array, rng: np.random.Generator) -> Array:
    """``G⁻¹`` times the error of a prior draw, with noise, at the data."""
    noisy = prior + np.sqrt(gp.noise_diagonal) * rng.standard_normal(prior.shape[0])
    result, _ = dpotrs(gp.L, gp.data.y - gp.mean - noisy, lower=1)
    return np.asarray(result)
