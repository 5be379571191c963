"""A Gaussian process conditioned on data at one value of its hyperparameters.

Letters follow the paper and ``docs/notation.md``. The hyperparameters are stacked as::

    theta = [embedding parameters (P), log output scale, log noise, mean, log scale]

where the last, the logarithm of the embedding's prior scale relative to its default,
enters the prior alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtri
from scipy.spatial.distance import cdist

from ridgeway.errors import NumericalError
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.kernels import Kernel
from ridgeway.types import Array

#: How many hyperparameters follow those of the embedding in ``theta``.
N_GLOBAL = 4
LOG_OUTPUT_SCALE, LOG_NOISE, MEAN, LOG_SCALE = -4, -3, -2, -1

LARGEST = 150.0  # of any hyperparameter: exp(2 · 150) is still a floating-point number
_JITTERS = (0.0, 1e-12, 1e-10, 1e-8, 1e-6)  # added to the diagonal, in units of the output variance


@dataclass(frozen=True)
class Data:
    """Observations in reduced coordinates, outputs standardised.

    ``Z (N, r)`` reduced inputs, ``y (N,)`` outputs, ``noise (N,)`` noise variances known
    beforehand, to which the learned noise is added.
    """

    Z: Array
    y: Array
    noise: Array

    @property
    def n(self) -> int:
        return self.y.shape[0]

    def rows(self, which: Any) -> Data:
        """Some of the observations, by index or mask."""
        return Data(self.Z[which], self.y[which], self.noise[which])

    def condition(self, embedding: Embedding, kernel: Kernel, theta: Array) -> ConditionedGP:
        """The process with these hyperparameters, given the data."""
        return condition(embedding, kernel, self, theta)


class AtTheta:
    """What every process knows of its hyperparameters ``theta``."""

    theta: Array

    @property
    def output_variance(self) -> float:
        """``gamma²``."""
        return float(np.exp(2.0 * self.theta[LOG_OUTPUT_SCALE]))

    @property
    def noise_variance(self) -> float:
        """``sigma²``, the learned part of the noise."""
        return float(np.exp(2.0 * self.theta[LOG_NOISE]))

    @property
    def log_noise(self) -> float:
        """``log sigma``."""
        return float(self.theta[LOG_NOISE])

    @property
    def mean(self) -> float:
        return float(self.theta[MEAN])

    @property
    def parameters(self) -> Array:
        """The embedding's own part of ``theta``, ``(P,)``."""
        return self.theta[:-N_GLOBAL]


class KernelMatrices(NamedTuple):
    """The kernel between all observations, ``(N, N)`` each."""

    K: Array
    K1: Array  # twice its derivative in the squared distances
    K2: Array  # four times the second


@dataclass(frozen=True)
class ConditionedGP(AtTheta):
    """``p(f | data, theta)``, with every intermediate that a derivative can use again."""

    embedding: Embedding
    kernel: Kernel
    data: Data
    theta: Array
    U: Array
    alpha: Array
    jitter: float
    known_factor: Array | None  # this and the next are computed when they are asked for, where they are None
    known_matrices: KernelMatrices | None

    @cached_property
    def L(self) -> Array:
        """The Cholesky factor of ``G``, ``(N, N)``."""
        if self.known_factor is not None:
            return self.known_factor
        return condition(self.embedding, self.kernel, self.data, self.theta, derivatives=False).L

    @cached_property
    def _matrices(self) -> KernelMatrices:
        return self.known_matrices or kernel_matrices(self.kernel, self.U, self.output_variance)

    @cached_property
    def S(self) -> Array:
        """Squared distances of the embedded inputs, ``(N, N)``."""
        return cdist(self.U, self.U, "sqeuclidean")

    @property
    def K(self) -> Array:
        """Prior covariances, ``(N, N)``."""
        return self._matrices.K

    @property
    def K1(self) -> Array:
        """Twice the derivative of ``K`` in ``S``."""
        return self._matrices.K1

    @property
    def K2(self) -> Array:
        """Four times its second derivative."""
        return self._matrices.K2

    def lean(self) -> ConditionedGP:
        """The same without its matrices: a search keeps many modes, and asks little of them."""
        return replace(self, known_factor=None, known_matrices=None)

    @property
    def noise_diagonal(self) -> Array:
        """All that was added to the diagonal of ``K``, ``(N,)``."""
        return self.data.noise + self.noise_variance + self.jitter

    @cached_property
    def Ginv(self) -> Array:
        """``G⁻¹``, ``(N, N)``."""
        inverse, info = dpotri(self.L, lower=1)
        if info != 0:  # pragma: no cover - the factor exists, so its inverse does
            raise NumericalError("the covariance matrix could not be inverted")
        full: Array = inverse + inverse.T  # above its diagonal LAPACK leaves the zeros of L
        full.flat[:: self.data.n + 1] = inverse.diagonal()
        return full

    @cached_property
    def Linv(self) -> Array:
        """``L⁻¹``, ``(N, N)``: for many candidates a matrix product beats a triangular solve."""
        inverse, _ = dtrtri(self.L, lower=1)
        return np.ascontiguousarray(inverse)

    @cached_property
    def candidate_terms(self) -> Any:
        """Products of the data alone that the derivatives at every block of candidates use."""
        return self.embedding.candidate_terms(self)

    @cached_property
    def W(self) -> Array:
        """``alpha alphaᵀ - G⁻¹``: twice the derivative of the log likelihood in ``G``."""
        return np.outer(self.alpha, self.alpha) - self.Ginv

    def log_likelihood(self) -> float:
        """``log p(y | X, theta)`` (paper eq. 2)."""
        r = self.data.y - self.mean
        n = self.data.n
        return float(-0.5 * r @ self.alpha - np.log(np.diagonal(self.L)).sum() - 0.5 * n * np.log(2.0 * np.pi))

    @property
    def given(self) -> Data:
        """The data, or as few that say about the same of the mean."""
        return self.data

    def condensed(self) -> ConditionedGP:
        """Itself; a process with a finite basis gives an exact one of few data here."""
        return self

    def at_draw(self, posterior: Any, theta: Array, rng: np.random.Generator) -> ConditionedGP:
        """The process at other hyperparameters."""
        result: ConditionedGP = posterior.condition(theta)
        return result

    @property
    def width(self) -> int:
        """Numbers that a prediction at one point is made of."""
        return self.data.n

    def fitted(self) -> Array:
        """The predictive mean at the data, ``K alpha + mu``; a rotation of the embedding does not change it."""
        return self.data.y - self.noise_diagonal * self.alpha

    def mean_slopes(self) -> Array:
        """Gradients of the predictive mean in ``u`` at the data, ``(N, d)``."""
        weighted = self.K1 * self.alpha
        result: Array = self.U * weighted.sum(axis=1)[:, None] - weighted @ self.U
        return result

    def leave_one_out(self) -> tuple[Array, Array]:
        """Mean and variance of each observation given all others (Rasmussen & Williams 5.12)."""
        precision = np.diagonal(self.Ginv)
        return self.data.y - self.alpha / precision, 1.0 / precision


def condition(
    embedding: Embedding, kernel: Kernel, data: Data, theta: Array, derivatives: bool = True
) -> ConditionedGP:
    """Condition the process with hyperparameters ``theta`` on ``data``; ``O(N³)``.

    Where ``derivatives`` will hardly be asked for, what they need is left out, which takes half of the memory.

    A covariance matrix that is not positive definite in floating point gets the smallest
    jitter of a fixed ladder, relative to the output variance, and the result says which.
    """
    if not np.all(np.isfinite(theta)) or np.abs(theta).max() > LARGEST:
        raise NumericalError(f"hyperparameters beyond {LARGEST:g} or not finite")
    U = embedding.project(theta[:-N_GLOBAL], data.Z)
    gamma2 = float(np.exp(2.0 * theta[LOG_OUTPUT_SCALE]))
    noise = data.noise + np.exp(2.0 * theta[LOG_NOISE])
    matrices = kernel_matrices(kernel, U, gamma2) if derivatives else None
    K = gamma2 * kernel.value(cdist(U, U, "sqeuclidean")) if matrices is None else matrices.K
    for relative in _JITTERS:
        G = K.copy()
        G.flat[:: data.n + 1] += noise + relative * gamma2
        L, info = dpotrf(G.T, lower=1, overwrite_a=1, clean=1)
        if info == 0:
            break
    else:
        raise NumericalError(
            "the covariance matrix is not positive definite: output scale "
            f"{np.sqrt(gamma2):.3g}, noise {float(np.sqrt(noise.min())):.3g}"
        )
    alpha, _ = dpotrs(L, data.y - theta[MEAN], lower=1)
    return ConditionedGP(embedding, kernel, data, theta, U, alpha, relative * gamma2, L, matrices)


def kernel_matrices(kernel: Kernel, U: Array, output_variance: float) -> KernelMatrices:
    """The kernel between all embedded inputs ``U (N, d)``, with two derivatives."""
    g, g1, g2 = kernel.derivatives(cdist(U, U, "sqeuclidean"))
    K = output_variance * g
    del g  # each holds as much as the data's covariance, and a kernel may give one array twice
    K1 = (2.0 * output_variance) * g1
    del g1
    return KernelMatrices(K, K1, (4.0 * output_variance) * g2)
