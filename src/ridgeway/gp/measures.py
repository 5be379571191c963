"""Measures: how the inputs are distributed when a function is averaged over them.

Four kinds: :class:`Uniform` in a box, :class:`Gaussian`, :class:`Independent` inputs with a distribution each, and
:class:`Points`, the user's own. What the mathematics needs of them is their characteristic function: of
``u = R (x - center)`` it is a product over the inputs, however many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import erf, ndtr, ndtri

from ridgeway import checks
from ridgeway.gp.eigen import eigh
from ridgeway.gp.scaling import InputScaling
from ridgeway.types import Array, Inputs

#: Standard deviations beyond which a sub-Gaussian sum has no probability that counts: 2 exp(-8² / 2) is 3e-14.
FAR = 8.0
_LEVELS = 161  # nodes of a distribution that is known by its quantiles
_REACH = 8.0  # of those nodes, in standard deviations of a normal variable


class Measure(Protocol):
    """What integrals need of a measure over ``D`` inputs."""

    @property
    def D(self) -> int:
        """Number of inputs."""

    @property
    def center(self) -> Array:
        """Mean of the inputs, ``(D,)``."""

    def scaled(self, scaling: InputScaling) -> Measure:
        """The same measure over inputs mapped to [-1, 1]."""

    def covariance(self, R: Array) -> Array:
        """Of ``R x``, ``(k, k)``."""

    def extent(self, R: Array) -> Array:
        """How far ``R (x - center)`` reaches along each row, probabilities of 1e-13 apart, ``(k,)``."""

    def characteristic(self, R: Array, omega: Array) -> Array:
        """``E exp(i omega·R (x - center))`` at ``omega (M, k)``, ``(M,)``; real where it is symmetric."""

    def from_uniform(self, q: Array) -> Array:
        """Points of the measure from points of the unit cube, ``(n, D)`` each."""


class Factored(Measure, Protocol):
    """A measure under which the inputs are independent of each other."""

    def factor(self, j: int, s: Array) -> Array:
        """``E exp(i s (x_j - center_j))`` of one input."""

    def nodes(self, j: int, n: int) -> tuple[Array, Array]:
        """At least ``n`` nodes of a quadrature over one input, and their weights, which sum to 1."""

    def line_means(self, scale: Array, at: Array) -> Array:
        """``E exp(-(scale_j (x_j - at_nj))² / 2)``, ``(N, D)``."""

    def line_squares(self, scale: Array) -> Array:
        """``E exp(-(scale_j (x_j - x'_j))² / 2)`` of two independent draws, ``(D,)``."""

    def interval(self, j: int) -> tuple[float, float]:
        """Where an input is, 99 % of it if it has no bounds."""


def product(measure: Factored, R: Array, omega: Array) -> Array:
    """The characteristic function as a product over the inputs; no array has more than ``M`` entries."""
    result: Array = np.ones(omega.shape[0])
    for j in range(R.shape[1]):
        result = result * measure.factor(j, omega @ R[:, j])
    return result


@dataclass(frozen=True, eq=False)
class Uniform:
    """Every input uniform between ``lower`` and ``upper``, numbers or one for each input.

    >>> Uniform([0.0, 10.0], [1.0, 30.0]).center
    array([ 0.5, 20. ])
    """

    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        sides = np.broadcast_arrays(*(checks.numeric(side, "Uniform") for side in (self.lower, self.upper)))
        lower, upper = (np.atleast_1d(side).astype(float) for side in sides)
        if lower.ndim != 1 or not np.all(np.isfinite(lower) & np.isfinite(upper) & (lower <= upper)):
            raise ValueError(
                f"Uniform must have finite numbers, lower at most upper, got {self.lower!r} and {self.upper!r}"
            )
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @property
    def D(self) -> int:
        return self.lower.shape[0]

    @property
    def center(self) -> Array:
        return 0.5 * self.lower + 0.5 * self.upper

    @property
    def half(self) -> Array:
        """Half of each width, ``(D,)``."""
        return 0.5 * self.upper - 0.5 * self.lower

    def scaled(self, scaling: InputScaling) -> Uniform:
        return Uniform(*((side - scaling.center) / scaling.half_width for side in (self.lower, self.upper)))

    def covariance(self, R: Array) -> Array:
        return (R * (self.half**2 / 3.0)) @ R.T

    def extent(self, R: Array) -> Array:
        # A sum of uniform variables has tails below those of the Gaussian of its variance.
        return np.minimum(np.abs(R) @ self.half, FAR * np.sqrt(np.diagonal(self.covariance(R))))

    def characteristic(self, R: Array, omega: Array) -> Array:
        return product(self, R, omega)

    def from_uniform(self, q: Array) -> Array:
        result: Array = self.lower + q * (self.upper - self.lower)
        return result

    def factor(self, j: int, s: Array) -> Array:
        return np.sinc(s * (self.half[j] / np.pi))

    def nodes(self, j: int, n: int) -> tuple[Array, Array]:
        t, w = np.polynomial.legendre.leggauss(n)
        return self.center[j] + self.half[j] * t, 0.5 * w

    def line_means(self, scale: Array, at: Array) -> Array:
        a = scale * self.half
        far = scale * (at - self.center)
        small = a < 1e-9
        wide = np.where(small, 1.0, a)
        mean = np.sqrt(np.pi / 8.0) / wide * (erf((far + a) / np.sqrt(2.0)) - erf((far - a) / np.sqrt(2.0)))
        return np.where(small, np.exp(-0.5 * far**2), mean)

    def line_squares(self, scale: Array) -> Array:
        s = 2.0 * scale * self.half
        wide = np.where(s < 1e-3, 1.0, s)
        exact = (np.sqrt(2.0 * np.pi) * wide * erf(wide / np.sqrt(2.0)) + 2.0 * np.expm1(-0.5 * wide**2)) / wide**2
        return np.where(s < 1e-3, 1.0 - s**2 / 12.0, exact)

    def interval(self, j: int) -> tuple[float, float]:
        return float(self.lower[j]), float(self.upper[j])


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Inputs with this ``mean`` and either a ``std`` each or a ``cov`` matrix.

    >>> Gaussian([0.0, 10.0], std=[1.0, 3.0]).cov
    array([[1., 0.],
           [0., 9.]])
    """

    mean: Array
    std: Array | None = None
    cov: Array | None = None

    def __post_init__(self) -> None:
        if (self.std is None) == (self.cov is None):
            raise ValueError(
                "Gaussian must have either std or cov, got " + ("both" if self.cov is not None else "none")
            )
        mean = np.atleast_1d(checks.numeric(self.mean, "mean of Gaussian"))
        D = mean.shape[0]
        if self.cov is not None:
            cov = checks.numeric(self.cov, "cov of Gaussian")
            if cov.shape != (D, D) or not np.allclose(cov, cov.T) or np.linalg.eigvalsh(cov).min() < -1e-10 * cov.max():
                raise ValueError(
                    f"cov of Gaussian must be a symmetric positive matrix ({D}, {D}), got {self.cov!r:.80}"
                )
        else:
            std = np.broadcast_to(checks.numeric(self.std, "std of Gaussian"), (D,))
            if not np.all(std >= 0):
                raise ValueError(f"std of Gaussian must not be negative, got {self.std!r:.80}")
            cov = np.diag(std**2)
        if not (np.isfinite(mean).all() and np.isfinite(cov).all()):
            raise ValueError("mean and std or cov of Gaussian must be finite")
        for name, value in (("mean", mean), ("cov", cov), ("std", np.sqrt(np.diagonal(cov)))):
            object.__setattr__(self, name, value)

    @property
    def D(self) -> int:
        return self.mean.shape[0]

    @property
    def center(self) -> Array:
        return self.mean

    @property
    def matrix(self) -> Array:
        """The covariance of the inputs."""
        assert self.cov is not None
        return self.cov

    @property
    def stds(self) -> Array:
        """Standard deviation of each input."""
        assert self.std is not None
        return self.std

    @property
    def is_independent(self) -> bool:
        """Whether no two inputs are correlated."""
        return bool(np.count_nonzero(self.matrix - np.diag(np.diagonal(self.matrix))) == 0)

    def scaled(self, scaling: InputScaling) -> Gaussian:
        width = scaling.half_width
        return Gaussian((self.mean - scaling.center) / width, cov=self.matrix / np.outer(width, width))

    def covariance(self, R: Array) -> Array:
        result: Array = R @ self.matrix @ R.T
        return result

    def extent(self, R: Array) -> Array:
        return FAR * np.sqrt(np.diagonal(self.covariance(R)))

    def characteristic(self, R: Array, omega: Array) -> Array:
        return np.exp(-0.5 * np.einsum("mk,mk->m", omega @ self.covariance(R), omega))

    def from_uniform(self, q: Array) -> Array:
        values, vectors = eigh(self.matrix)
        result: Array = self.mean + (_normal(q) * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return result

    def factor(self, j: int, s: Array) -> Array:
        return np.exp(-0.5 * (s * self.stds[j]) ** 2)

    def nodes(self, j: int, n: int) -> tuple[Array, Array]:
        t, w = np.polynomial.hermite_e.hermegauss(max(n, 20))
        return self.mean[j] + self.stds[j] * t, w / w.sum()

    def line_means(self, scale: Array, at: Array) -> Array:
        wide = 1.0 + (scale * self.stds) ** 2
        result: Array = np.exp(-0.5 * (scale * (at - self.mean)) ** 2 / wide) / np.sqrt(wide)
        return result

    def line_squares(self, scale: Array) -> Array:
        result: Array = 1.0 / np.sqrt(1.0 + 2.0 * (scale * self.stds) ** 2)
        return result

    def interval(self, j: int) -> tuple[float, float]:
        reach = 2.576 * self.stds[j]
        return float(self.mean[j] - reach), float(self.mean[j] + reach)


@dataclass(frozen=True, eq=False)
class Independent:
    """Independent inputs, each with a distribution of its own that has ``ppf``, as those of ``scipy.stats`` have.

    >>> from scipy import stats
    >>> Independent([stats.uniform(0, 1), stats.gamma(2.0)]).center.round(6)
    array([0.5, 2. ])
    """

    marginals: Sequence[Any]

    def __post_init__(self) -> None:
        for j, marginal in enumerate(self.marginals):
            if not callable(getattr(marginal, "ppf", None)):
                raise TypeError(
                    f"marginals of Independent must have a method `ppf`, as frozen distributions of scipy.stats have; "
                    f"number {j} is {marginal!r:.80}"
                )
        if not np.isfinite(self._nodes).all():
            j = int(np.flatnonzero(~np.isfinite(self._nodes).all(axis=1))[0])
            raise ValueError(f"marginals of Independent must have finite quantiles, number {j} has not")

    @property
    def D(self) -> int:
        return len(self.marginals)

    @cached_property
    def _levels(self) -> tuple[Array, Array]:
        """Trapezoids in a normal variable: their error falls faster than any power for a smooth quantile function."""
        z = np.linspace(-_REACH, _REACH, _LEVELS)
        w = np.exp(-0.5 * z**2)
        return z, w / w.sum()

    @cached_property
    def _nodes(self) -> Array:
        """Of every input, ``(D, n)``."""
        levels = np.clip(ndtr(self._levels[0]), 1e-300, 1.0 - 1e-16)
        return np.stack([np.asarray(marginal.ppf(levels), dtype=float) for marginal in self.marginals])

    @cached_property
    def center(self) -> Array:
        return self._nodes @ self._levels[1]

    @cached_property
    def _variance(self) -> Array:
        return (self._nodes - self.center[:, None]) ** 2 @ self._levels[1]

    def scaled(self, scaling: InputScaling) -> Independent:
        pairs = zip(self.marginals, scaling.center, scaling.half_width, strict=True)
        return Independent([Moved(marginal, float(c), float(h)) for marginal, c, h in pairs])

    def covariance(self, R: Array) -> Array:
        return (R * self._variance) @ R.T

    def extent(self, R: Array) -> Array:
        farthest = np.abs(self._nodes - self.center[:, None]).max(axis=1)
        root = np.sqrt(np.diagonal(self.covariance(R)))
        # Tails may be heavier than the Gaussian's: twice as far, or as far as the largest single input goes.
        single = (np.abs(R) * farthest).max(axis=1)
        return np.minimum(np.abs(R) @ farthest, np.maximum(2.0 * FAR * root, single + FAR * root))

    def characteristic(self, R: Array, omega: Array) -> Array:
        return product(self, R, omega)

    def from_uniform(self, q: Array) -> Array:
        q = np.clip(q, 1e-15, 1.0 - 1e-15)
        return np.column_stack([np.asarray(m.ppf(q[:, j]), dtype=float) for j, m in enumerate(self.marginals)])

    def factor(self, j: int, s: Array) -> Array:
        away, w = self._nodes[j] - self.center[j], self._levels[1]
        reach = float(np.abs(s).max(initial=0.0))
        farthest = float(np.abs(away).max())
        # A table and a cubic through it: a sum over the nodes at every frequency would take most of the time.
        knots = np.linspace(0.0, reach or 1.0, int(np.clip(16.0 * reach * farthest, 64, 4096)))
        table = np.exp(1j * np.outer(knots, away)) @ w
        value = CubicSpline(knots, table)(np.abs(s))
        return np.where(s < 0, value.conj(), value)

    def nodes(self, j: int, n: int) -> tuple[Array, Array]:
        return self._nodes[j], self._levels[1]

    def line_means(self, scale: Array, at: Array) -> Array:
        result = np.empty((at.shape[0], self.D))
        for j, x in enumerate(self._nodes):
            result[:, j] = np.exp(-0.5 * (scale[j] * (at[:, j, None] - x)) ** 2) @ self._levels[1]
        return result

    def line_squares(self, scale: Array) -> Array:
        w = self._levels[1]
        pairs = (np.exp(-0.5 * (r * (x[:, None] - x)) ** 2) for r, x in zip(scale, self._nodes, strict=True))
        return np.array([w @ pair @ w for pair in pairs])

    def interval(self, j: int) -> tuple[float, float]:
        low, high = self.marginals[j].ppf([0.005, 0.995])
        return float(low), float(high)


@dataclass(frozen=True)
class Moved:
    """A distribution in other units: ``(x - center) / width``."""

    marginal: Any
    center: float
    width: float

    def ppf(self, q: Any) -> Array:
        """Quantiles."""
        result: Array = (np.asarray(self.marginal.ppf(q), dtype=float) - self.center) / self.width
        return result


@dataclass(frozen=True, eq=False)
class Points:
    """The user's own points ``(n, D)``, of equal or of given weights.

    >>> Points([[0.0], [1.0]], weights=[1.0, 3.0]).center
    array([0.75])
    """

    points: Inputs
    weights: Array | None = None

    def __post_init__(self) -> None:
        X = checks.dense(checks.inputs(self.points, name="points"))
        n = X.shape[0]
        weights = np.ones(n) if self.weights is None else checks.numeric(self.weights, "weights")
        if weights.shape != (n,) or not np.isfinite(weights).all() or weights.min() < 0 or weights.sum() <= 0:
            raise ValueError(
                f"weights must be {n} numbers of at least 0, not all of them 0, one for each point, got "
                f"{self.weights!r:.80}"
            )
        object.__setattr__(self, "points", X)
        object.__setattr__(self, "weights", weights / weights.sum())

    @property
    def D(self) -> int:
        return int(self.points.shape[1])

    @property
    def shares(self) -> Array:
        """The weights, which sum to 1."""
        assert self.weights is not None
        return self.weights

    @property
    def center(self) -> Array:
        result: Array = self.shares @ self.points
        return result

    def scaled(self, scaling: InputScaling) -> Points:
        return Points(scaling.scaled(self.points), self.shares)

    def covariance(self, R: Array) -> Array:
        away = (self.points - self.center) @ R.T
        result: Array = (away * self.shares[:, None]).T @ away
        return result

    def extent(self, R: Array) -> Array:
        return np.abs((self.points - self.center) @ R.T).max(axis=0)

    def interval(self, j: int) -> tuple[float, float]:
        """The range of an input."""
        return float(self.points[:, j].min()), float(self.points[:, j].max())


def independent(measure: Any) -> bool:
    """Whether the inputs are independent of each other under a measure."""
    return bool(getattr(measure, "is_independent", hasattr(measure, "factor")))


def groups(measure: Any) -> tuple[tuple[int, ...], ...]:
    """The columns of each input: one each, but for categories, which have one for each level."""
    found: tuple[tuple[int, ...], ...] = getattr(measure, "groups", None) or tuple((j,) for j in range(measure.D))
    return found


def grouped(values: Array, groups: Sequence[Sequence[int]]) -> Array:
    """Numbers ``(..., D)`` of columns as numbers of inputs ``(..., G)``: a category has the sum over its levels."""
    return np.stack([values[..., list(columns)].sum(axis=-1) for columns in groups], axis=-1)


def _normal(q: Array) -> Array:
    result: Array = ndtri(np.clip(q, 1e-15, 1.0 - 1e-15))
    return result
