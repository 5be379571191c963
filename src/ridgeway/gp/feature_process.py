"""A Gaussian process with a finite basis, conditioned on any number of rows at one value of its hyperparameters.

``f = φᵀ v`` with independent Gaussian ``v``. Given the rows, ``v`` has precision ``A = I + B`` and mean ``A⁻¹ c`` in
units of its prior, with ``B = Σ w ψ ψᵀ`` and ``c = Σ w r ψ``, where ``ψ`` is ``φ`` in these units. All that a row adds
to the log likelihood is in these sums. Other names are those of :class:`~ridgeway.gp.process.ConditionedGP`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtri

from ridgeway.errors import NumericalError
from ridgeway.gp import feature_sums, fourier_basis
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.feature_sums import View
from ridgeway.gp.fourier_basis import FourierBasis
from ridgeway.gp.kernels import Kernel
from ridgeway.gp.process import LARGEST, LOG_NOISE, LOG_OUTPUT_SCALE, MEAN, N_GLOBAL, AtTheta, ConditionedGP, Data
from ridgeway.gp.row_source import RowSource, check_same
from ridgeway.types import Array

_FEW = 400  # rows that stand for all where the exact process is needed
_QUIET = 3e-3  # noise of values of the function itself there, relative to the output scale
_FINE = 0.8  # of the waves that would be chosen again for the same box
_EXACT = ("S", "K", "K1", "K2", "alpha", "Ginv", "noise_diagonal", "candidate_terms")  # of a ConditionedGP alone


@dataclass(frozen=True)
class FeatureData:
    """Rows behind sums, a sample of them at hand, and the basis to be used.

    What a belief keeps has no ``source``: its rows are not needed any more.
    """

    sample: Data
    n: int  # rows
    source: RowSource | None
    basis: FourierBasis | None = None

    @property
    def Z(self) -> Array:
        """Reduced inputs of the sample."""
        return self.sample.Z

    @property
    def y(self) -> Array:
        """Outputs of the sample."""
        return self.sample.y

    @property
    def noise(self) -> Array:
        """Known noise of the sample."""
        return self.sample.noise

    @property
    def rows_at_hand(self) -> RowSource:
        """All rows, some at a time."""
        if self.source is None:
            raise ValueError(
                "a belief about many rows does not keep them: what needs them again, such as marginal='samples', needs "
                "a fit with approximation='exact'"
            )
        return self.source

    def rows(self, which: Any) -> Data:
        """Some rows of the sample, by index or mask."""
        return self.sample.rows(which)

    def around(self, embedding: Embedding, kernel: Kernel, theta: Array, is_draft: bool = False) -> FeatureData:
        """The same with a basis for embeddings near that of ``theta``: one quick pass over the rows."""
        A = theta[:-N_GLOBAL].reshape(-1, self.Z.shape[1])
        rotation = fourier_basis.principal_axes(embedding.project(theta[:-N_GLOBAL], self.Z))
        lower, upper = self.extent(rotation @ A)
        scale = float(np.exp(-2.0 * theta[LOG_OUTPUT_SCALE]))
        relative_noise = scale * (float(np.exp(2.0 * theta[LOG_NOISE])) + float(self.noise.min()))
        basis = fourier_basis.smallest(kernel, rotation, lower, upper, relative_noise, is_draft)
        if basis is None:
            spans = " by ".join(f"{width:.0f}" for width in upper - lower)
            raise NumericalError(
                f"a function over {spans} length scales needs more than {fourier_basis.MOST_FUNCTIONS} waves"
            )
        return replace(self, basis=basis)

    def extent(self, rows: Array) -> tuple[Array, Array]:
        """Smallest and largest coordinates along ``rows (d, D)``."""
        below, upper = self.rows_at_hand.total(feature_sums.Extent(rows), feature_sums.larger)
        return -below, upper

    def covers(self, theta: Array) -> bool:
        """Whether the basis is accurate for all rows with the embedding of ``theta``."""
        basis = self.basis
        assert basis is not None
        lower, upper = self.extent(basis.rotation @ theta[:-N_GLOBAL].reshape(basis.d, -1))
        return basis.covers(lower - basis.center, upper - basis.center)

    def is_fine_for(self, embedding: Embedding, kernel: Kernel, theta: Array) -> bool:
        """Whether the basis has about as fast waves as would be chosen for these hyperparameters."""
        wanted = self.around(embedding, kernel, theta).basis
        assert self.basis is not None
        assert wanted is not None
        return self.basis.fastest**wanted.d >= _FINE * wanted.fastest**wanted.d

    def condition(self, embedding: Embedding, kernel: Kernel, theta: Array) -> FeatureProcess:
        """The process at these hyperparameters, given all rows: one pass over them."""
        if not np.all(np.isfinite(theta)) or np.abs(theta).max() > LARGEST:
            raise NumericalError(f"hyperparameters beyond {LARGEST:g} or not finite")
        data = self if self.basis is not None else self.around(embedding, kernel, theta)
        basis = data.basis
        assert basis is not None
        A = basis.rotation @ theta[:-N_GLOBAL].reshape(basis.d, -1)
        view = View(basis, A, float(np.exp(2.0 * theta[LOG_NOISE])), float(theta[MEAN]))
        gram, output, scalars = self.rows_at_hand.total(feature_sums.GramSums(view), feature_sums.add)
        check_same(self.n, float(scalars[0]))
        scale = np.exp(theta[LOG_OUTPUT_SCALE]) * np.sqrt(basis.function_variances)
        B = basis.gram(gram) * np.outer(scale, scale)
        c = scale * (basis.from_sums(output) - view.mean * basis.from_sums(basis.narrow(gram)))
        precision = B.copy()
        precision.flat[:: basis.m + 1] += 1.0
        L, info = dpotrf(precision.T, lower=1, overwrite_a=1, clean=1)
        if info != 0:
            raise NumericalError("the precision of the waves is not positive definite")
        v, _ = dpotrs(L, c, lower=1)
        weight = float(scalars[1] / scalars[0])
        return FeatureProcess(
            embedding, kernel, data, theta, basis, scale, L, v, weight, Statistics(view, B, c, gram, scalars)
        )


@dataclass(frozen=True)
class Statistics:
    """Sums over all rows, which the likelihood and its derivatives need."""

    view: View
    B: Array  # (m, m) Σ w ψ ψᵀ
    c: Array  # (m,) Σ w r ψ
    sums: Array  # Σ w exp(iω·v), which B is made of
    scalars: Array  # (5,) n, Σw, Σwy, Σwy², Σ log w


class Response(NamedTuple):
    """How the weights' mean and precision answer to the hyperparameters.

    The derivative of ``A`` in the embedding is that of the Gram matrix of a grid whose points have these weights, for
    inputs that are a constant or one of the coordinates ``v``; ``inputs`` is the regression of the inputs on these.
    """

    weights: Array  # (m, P + 4) ∂v̂/∂theta
    moving: Array  # (d (1 + d), *grid) along each axis, for each of these inputs
    inputs: Array  # (1 + d, D)


@dataclass(frozen=True)
class FeatureProcess(AtTheta):
    """``p(f | rows, theta)`` with a finite basis."""

    embedding: Embedding
    kernel: Kernel
    data: FeatureData
    theta: Array
    basis: FourierBasis
    scale: Array  # (m,) prior standard deviations of the functions' weights
    L: Array  # (m, m) factor of A = I + B
    v: Array  # (m,) mean of the weights, in prior standard deviations
    weight: float  # one over the noise variance of a row, on average
    statistics: Statistics | None = None
    response: Response | None = None  # where it is known: a belief keeps it

    jitter: ClassVar[float] = 0.0

    def __getattr__(self, name: str) -> Any:
        if name in _EXACT:
            raise TypeError(
                "a belief about many rows has a finite basis, and this needs the exact process: fit a part of the rows "
                "with approximation='exact'"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def lean(self) -> FeatureProcess:
        """The same without what its derivatives took."""
        return replace(self)

    @property
    def known(self) -> Statistics:
        """The sums over rows that it was made of."""
        if self.statistics is None:
            raise ValueError("a belief about many rows does not keep what its likelihood was made of")
        return self.statistics

    @property
    def width(self) -> int:
        """Numbers that a prediction at one point is made of."""
        return self.basis.m

    @cached_property
    def U(self) -> Array:
        """Embedded inputs of the sample."""
        return self.embedding.project(self.parameters, self.data.Z)

    @cached_property
    def Ainv(self) -> Array:
        """``A⁻¹``, ``(m, m)``."""
        inverse, _ = dpotri(self.L, lower=1)
        full: Array = inverse + inverse.T
        full.flat[:: self.basis.m + 1] = inverse.diagonal()
        return full

    @cached_property
    def Linv(self) -> Array:
        """``L⁻¹``, ``(m, m)``."""
        inverse, _ = dtrtri(self.L, lower=1)
        return np.ascontiguousarray(inverse)

    def log_likelihood(self) -> float:
        """``log p(y | X, theta)`` of all rows."""
        n, w, wy, wyy, log_w = self.known.scalars
        squares = wyy - 2.0 * self.mean * wy + self.mean**2 * w
        determinant = 2.0 * float(np.log(np.diagonal(self.L)).sum())
        return float(0.5 * (self.known.c @ self.v - squares - determinant + log_w - n * np.log(2.0 * np.pi)))

    def functions(self, Z: Array) -> Array:
        """``ψ`` at reduced inputs, ``(n, m)``."""
        U = self.embedding.project(self.parameters, Z)
        return self.basis.functions(self.basis.coordinates(U)) * self.scale

    def slopes(self, psi: Array) -> Array:
        """Derivatives of ``ψ`` in the embedded input, from its values, ``(d, n, m)``."""
        along = np.stack([self.basis.function_slopes(psi, k) for k in range(self.basis.d)])
        return np.einsum("ak,anm->knm", self.basis.rotation, along)

    @cached_property
    def given(self) -> Data:
        """A few rows of the sample with the predictive mean there, which say about the same of it as all rows."""
        Z = self.data.Z[:_FEW]
        return Data(Z, self.mean + self.functions(Z) @ self.v, self.data.noise[:_FEW])

    def condensed(self) -> ConditionedGP:
        """The exact process given a few rows: with about the same mean, and hardly any variance there."""
        return self._through(self.given, self.theta)

    def at_draw(self, posterior: Any, theta: Array, rng: np.random.Generator) -> ConditionedGP:
        """A function drawn at other hyperparameters near its own, as the exact process through a few values of it.

        The values move with the hyperparameters as the mean does: little, because the rows hold them.
        """
        from ridgeway.gp import feature_moments

        Z = self.data.Z[:_FEW]
        at = feature_moments.slopes(self, Z)
        own = self.functions(Z) @ (self.Linv.T @ rng.standard_normal(self.v.shape[0]))
        return self._through(Data(Z, at.mean + at.mean_by_theta @ (theta - self.theta) + own, self.given.noise), theta)

    def _through(self, data: Data, theta: Array) -> ConditionedGP:
        quiet = theta.copy()
        quiet[LOG_NOISE] = theta[LOG_OUTPUT_SCALE] + np.log(_QUIET)
        return Data(data.Z, data.y, np.zeros(data.n)).condition(self.embedding, self.kernel, quiet)

    def leave_one_out(self) -> tuple[Array, Array]:
        """Mean and variance of each observation of the sample given all other rows."""
        psi = self.functions(self.data.Z)
        half = psi @ self.Linv.T
        noise = self.data.noise + self.noise_variance
        own = 1.0 - np.einsum("nm,nm->n", half, half) / noise  # what a row does not say about itself
        error = self.data.y - self.mean - psi @ self.v
        return self.data.y - error / own, noise / own

    def fitted(self) -> Array:
        """The predictive mean at the sample."""
        return self.mean + self.functions(self.data.Z) @ self.v

    def mean_slopes(self) -> Array:
        """Gradients of the predictive mean in ``u`` at the sample, ``(n, d)``."""
        return (self.slopes(self.functions(self.data.Z)) @ self.v).T
