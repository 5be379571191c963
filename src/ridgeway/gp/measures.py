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
from scipy.special import erf, ndtri

from ridgeway import checks
from ridgeway.gp import marginals
from ridgeway.gp.atoms import Atoms
from ridgeway.gp.eigen import eigh
from ridgeway.gp.marginals import Moved, is_discrete, quantiles
from ridgeway.gp.scaling import InputScaling
from ridgeway.types import Array, Inputs

#: Standard deviations beyond which a sub-Gaussian sum has no probability that counts: 2 exp(-8² / 2) is 3e-14.
FAR = 8.0
_PANEL = 64  # nodes of a quadrature that are one rule where many are needed
_UNRESOLVED = 1e-5  # error of a mean over nodes, relative to how much a function varies


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
        given = [checks.numeric(side, "Uniform") for side in (self.lower, self.upper)]
        shapes = {side.shape for side in given if side.ndim}
        if len(shapes) > 1 or any(len(shape) > 1 for shape in shapes):
            raise ValueError(
                "lower and upper of Uniform must be numbers or have one number for each input, got shapes "
                f"{given[0].shape} and {given[1].shape}"
            )
        lower, upper = (np.atleast_1d(side).astype(float) for side in np.broadcast_arrays(*given))
        if not np.all(np.isfinite(lower) & np.isfinite(upper) & (lower <= upper)):
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
        if n > 2 * _PANEL:  # the nodes of one long rule are the eigenvalues of a matrix of their number squared
            panels = -(-n // _PANEL)
            t, w = np.polynomial.legendre.leggauss(_PANEL + _PANEL // 2)
            middles = (2.0 * np.arange(panels) + 1.0) / panels - 1.0
            t, w = (middles[:, None] + t / panels).ravel(), np.tile(w / panels, panels)
        else:
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
        if mean.ndim != 1:
            raise ValueError(f"mean of Gaussian must have one number for each input, got shape {mean.shape}")
        D = mean.shape[0]
        if self.cov is not None:
            cov = checks.numeric(self.cov, "cov of Gaussian")
            if cov.shape != (D, D) or not np.allclose(cov, cov.T) or np.linalg.eigvalsh(cov).min() < -1e-10 * cov.max():
                raise ValueError(
                    f"cov of Gaussian must be a symmetric positive matrix ({D}, {D}), got {self.cov!r:.80}"
                )
        else:
            std = checks.numeric(self.std, "std of Gaussian")
            if std.shape not in ((), (1,), (D,)):
                raise ValueError(
                    f"std of Gaussian must be a number or have one for each of the {D} inputs of mean, got shape "
                    f"{std.shape}"
                )
            std = np.broadcast_to(std, (D,))
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

    A discrete distribution, one that has ``pmf`` as well, is a sum over its values.

    >>> from scipy import stats
    >>> Independent([stats.uniform(0, 1), stats.gamma(2.0), stats.bernoulli(0.3)]).center.round(6)
    array([0.5, 2. , 0.3])
    """

    marginals: Sequence[Any]

    def __post_init__(self) -> None:
        expected = "marginals of Independent must be a sequence of distributions, one for each input"
        if not hasattr(self.marginals, "__len__") or isinstance(self.marginals, str | dict):
            raise TypeError(f"{expected}, got {self.marginals!r:.80}")
        if not len(self.marginals):
            raise ValueError(f"{expected}, got none")
        for j, marginal in enumerate(self.marginals):
            marginals.check(marginal, "marginals of Independent", f"number {j}")
        _ = self._atoms

    @property
    def D(self) -> int:
        return len(self.marginals)

    @cached_property
    def _atoms(self) -> tuple[Atoms, ...]:
        """The values of every input, or nodes that stand for its density."""
        found = []
        for j, marginal in enumerate(self.marginals):
            try:
                atoms = marginals.atoms(marginal)
            except ValueError as error:
                raise ValueError(f"marginals of Independent: number {j}: {error}") from None
            if not np.isfinite(atoms.values).all():
                raise ValueError(f"marginals of Independent must have finite quantiles, number {j} has not")
            found.append(atoms)
        return tuple(found)

    @cached_property
    def center(self) -> Array:
        return np.array([atoms.mean for atoms in self._atoms])

    @cached_property
    def _variance(self) -> Array:
        return np.array([atoms.variance for atoms in self._atoms])

    def scaled(self, scaling: InputScaling) -> Independent:
        pairs = zip(self.marginals, scaling.center, scaling.half_width, strict=True)
        return Independent([Moved(marginal, float(c), float(h)) for marginal, c, h in pairs])

    def covariance(self, R: Array) -> Array:
        return (R * self._variance) @ R.T

    @cached_property
    def _farthest(self) -> Array:
        return np.array([marginals.farthest(m, atoms) for m, atoms in zip(self.marginals, self._atoms, strict=True)])

    def extent(self, R: Array) -> Array:
        farthest = self._farthest
        root = np.sqrt(np.diagonal(self.covariance(R)))
        # Tails may be heavier than the Gaussian's: twice as far, or as far as the largest single input goes.
        single = (np.abs(R) * farthest).max(axis=1)
        return np.minimum(np.abs(R) @ farthest, np.maximum(2.0 * FAR * root, single + FAR * root))

    def resolves(self, R: Array) -> bool:
        """Whether nodes are so close along ``R (k, D)`` that sums over them are averages of a squared exponential."""
        pairs = zip(self.marginals, self._atoms, np.linalg.norm(R, axis=0), strict=True)
        return (
            sum(marginals.missed(atoms, r) for marginal, atoms, r in pairs if not is_discrete(marginal)) < _UNRESOLVED
        )

    def characteristic(self, R: Array, omega: Array) -> Array:
        return product(self, R, omega)

    def from_uniform(self, q: Array) -> Array:
        q = np.clip(q, 1e-15, 1.0 - 1e-15)
        triples = zip(self.marginals, self._atoms, q.T, strict=True)
        return np.column_stack([a.quantile(one) if is_discrete(m) else quantiles(m, one) for m, a, one in triples])

    def factor(self, j: int, s: Array) -> Array:
        return self._atoms[j].factor(s)

    def nodes(self, j: int, n: int) -> tuple[Array, Array]:
        atoms = self._atoms[j].summed
        return atoms.values, atoms.shares

    def line_means(self, scale: Array, at: Array) -> Array:
        return np.column_stack([atoms.line_means(scale[j], at[:, j]) for j, atoms in enumerate(self._atoms)])

    def line_squares(self, scale: Array) -> Array:
        return np.array([atoms.line_square(r) for r, atoms in zip(scale, self._atoms, strict=True)])

    def interval(self, j: int) -> tuple[float, float]:
        tails = np.array([0.005, 0.995])
        if not is_discrete(self.marginals[j]):
            low, high = quantiles(self.marginals[j], tails)
            return float(low), float(high)
        atoms = self._atoms[j]
        low, high = atoms.quantile(tails)
        return (float(low), float(high)) if low < high else (float(atoms.values[0]), float(atoms.values[-1]))

    def values(self, j: int) -> Array | None:
        """What an input is at all, where that is finitely many values."""
        return self._atoms[j].values if is_discrete(self.marginals[j]) else None


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


@dataclass(frozen=True, eq=False)
class Sample(Points):
    """Points drawn from a distribution that they stand for, in parts that were drawn independently of each other.

    How much the parts differ says how far an average over the points is from one over the distribution.

    >>> Sample.of([np.zeros((2, 1)), np.ones((2, 1))]).parts
    array([0, 0, 1, 1])
    """

    parts: Array | None = None  # (n,) the number of the part of each point

    @classmethod
    def of(cls, draws: Sequence[Array]) -> Sample:
        """From the points of each part, of which none need be as many as of another."""
        return cls(np.vstack(draws), None, np.repeat(np.arange(len(draws)), [len(X) for X in draws]))

    @property
    def by_part(self) -> Array:
        """The weights of the points in each part, ``(parts, n)``."""
        assert self.parts is not None
        return np.where(np.arange(self.parts.max() + 1)[:, None] == self.parts, self.shares, 0.0)

    def scaled(self, scaling: InputScaling) -> Sample:
        return Sample(scaling.scaled(self.points), self.shares, self.parts)


def error_of_parts(deviations: Array) -> Array:
    """Standard error of an average from what each part adds to its sum, beside what its share of the average would.

    The sum of ``deviations (parts, ...)`` is 0. An error over this number has variance 1, though there are few parts.
    """
    n = deviations.shape[0]
    result: Array = np.sqrt(n / max(n - 3, 1) * np.sum(deviations**2, axis=0))
    return result


def resolves(measure: Any, R: Array) -> bool:
    """Whether averages over single inputs are as good as exact for functions of ``R x``."""
    own = getattr(measure, "resolves", None)
    return own is None or bool(own(R))


def values(measure: Any, j: int) -> Array | None:
    """What an input is at all, where that is finitely many values and their number is known."""
    own = getattr(measure, "values", None)
    return None if own is None else own(j)


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
