"""What a belief says about the embedding itself: its rows, their uncertainty, and where it maps points.

There are two kinds. The rows of a linear embedding are combinations of inputs, free up to a rotation, and keep
their prior beyond what the data span. Length scales belong to inputs and have none of this.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from ridgeway.gp.eigen import eigh
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.rowspace import RowSpace
from ridgeway.inference.mixture import Component
from ridgeway.types import Array, Inputs


class Embedded(NamedTuple):
    """``p(u | x)``: mean ``(n, d)`` and covariance ``(n, d, d)``."""

    mean: Array
    covariance: Array


class EmbeddingPosterior(Protocol):
    """What every kind of embedding can say."""

    @property
    def matrix(self) -> Array:
        """``R (d, D)`` at the best mode, acting on inputs mapped to [-1, 1]."""

    @property
    def std(self) -> Array:
        """Standard deviations of the entries of :attr:`matrix`."""

    def embed(self, X: Inputs) -> Embedded:
        """``p(u | x)`` at checked points ``(n, D)`` in the user's units."""

    def sample(self, component: Component, parameters: Array, rng: np.random.Generator) -> Array:
        """Draws of ``R (n, d, D)`` from draws of a component's parameters ``(n, P)``."""


def embedding_posterior(model: Embedding, space: RowSpace, best: Component) -> EmbeddingPosterior:
    """The posterior over the rows of ``model``, of which ``best`` is the best mode."""
    if model.has_directions:
        return Directional(model, space, best)
    return LengthScales(model, space, best)


@dataclass(frozen=True)
class LengthScales:
    """Of ``Diagonal`` and ``Isotropic``: a diagonal matrix of inverse length scales."""

    model: Embedding
    space: RowSpace
    best: Component

    @cached_property
    def matrix(self) -> Array:
        return self.model.matrix(self.best.gp.parameters, self.space)

    @cached_property
    def std(self) -> Array:
        factor = self.best.factor[: self.best.gp.parameters.shape[0]]
        spread = np.linalg.norm(factor, axis=1) * np.exp(-self.best.gp.parameters)
        return np.diag(np.broadcast_to(spread, (self.space.scaling.D,)))

    def embed(self, X: Inputs) -> Embedded:
        Z = self.space.scaling.scaled(X)
        R = np.diagonal(self.matrix)
        factor = self.best.factor[: self.best.gp.parameters.shape[0]]  # one row an input, or one for all
        mean = Z * R
        return Embedded(mean, mean[:, :, None] * (factor @ factor.T) * mean[:, None, :])

    def sample(self, component: Component, parameters: Array, rng: np.random.Generator) -> Array:
        return np.stack([self.model.matrix(row, self.space) for row in parameters])


@dataclass(frozen=True)
class Directional:
    """Of a linear embedding.

    The rotation is free: it is fixed so that the rows are orthogonal and ordered by length, each with its
    largest entry positive. Rows that the evidence does not ask for are zero.
    """

    model: Embedding
    space: RowSpace
    best: Component

    @property
    def rank(self) -> int:
        """Rows that are not zero."""
        return self.best.rank

    @cached_property
    def matrix(self) -> Array:
        return self._padded(self.space.lift(self._rows))

    @cached_property
    def std(self) -> Array:
        rotated, prior_variance = self.factor
        lifted = [self.space.lift(np.ascontiguousarray(row.T)) for row in rotated]
        variance = np.stack([np.einsum("qj,qj->j", rows, rows) for rows in lifted])
        return self._padded(np.sqrt(variance + prior_variance * self._unspanned))

    def embed(self, X: Inputs) -> Embedded:
        z, rho = self.space.project(X)
        factor, prior_variance = self.factor
        moved = np.einsum("nr,krq->nkq", z, factor, optimize=True)
        covariance = moved @ moved.transpose(0, 2, 1)
        covariance += (prior_variance * rho)[:, None, None] * np.eye(self.rank)
        padding = (0, self._n_rows - self.rank)
        return Embedded(np.pad(z @ self._rows.T, ((0, 0), padding)), np.pad(covariance, ((0, 0), padding, padding)))

    def sample(self, component: Component, parameters: Array, rng: np.random.Generator) -> Array:
        n, k, D = parameters.shape[0], component.rank, self.space.scaling.D
        turned = self._rotation_of(component) @ parameters.reshape(n, k, self.space.r)  # as in `matrix`
        R = turned.reshape(n * k, self.space.r)
        if self.space.rows is None:
            R = self.space.lift(R)
        else:  # beyond what the data span the rows have their prior
            prior = np.sqrt(component.prior_variance) * rng.standard_normal((n * k, D))
            R = prior + self.space.lift(R - self.space.restrict(prior))
        return np.pad(R.reshape(n, k, D), ((0, 0), (0, self._n_rows - k), (0, 0)))

    @cached_property
    def factor(self) -> tuple[Array, float]:
        """``F (rank, r, q)``, whose products are the covariances of the reduced rows, and the prior variance beyond."""
        k, r = self.rank, self.space.r
        factor = self.best.factor[: k * r].reshape(k, r, self.best.factor.shape[1])
        return np.einsum("kl,lrq->krq", self._rotation, factor), self.best.prior_variance

    @cached_property
    def activity(self) -> Array:
        """Mean outer product of the predictive mean's slopes along the rows that are used, ``(rank, rank)``."""
        slopes = self.best.gp.mean_slopes() @ self._rotation.T
        return slopes.T @ slopes / slopes.shape[0]

    @property
    def _n_rows(self) -> int:
        return self.model.n_rows(self.space.scaling.D)

    def _padded(self, rows: Array) -> Array:
        return np.vstack([rows, np.zeros((self._n_rows - rows.shape[0], rows.shape[1]))])

    @cached_property
    def _rows(self) -> Array:
        """Reduced rows in canonical form, ``(rank, r)``."""
        return self._rotation @ self.best.gp.parameters.reshape(self.rank, self.space.r)

    @cached_property
    def _rotation(self) -> Array:
        return self._rotation_of(self.best)

    def _rotation_of(self, component: Component) -> Array:
        """The rotation ``(k, k)`` that puts the rows of a component in canonical form."""
        A = component.gp.parameters.reshape(component.rank, -1)
        _, vectors = eigh(A @ A.T)
        rotation = vectors[:, ::-1].T
        rows = self.space.lift(rotation @ A)
        largest = rows[np.arange(rows.shape[0]), np.argmax(np.abs(rows), axis=1)]
        return rotation * np.where(largest < 0, -1.0, 1.0)[:, None]

    @cached_property
    def _unspanned(self) -> Array:
        """``1 - |Q_j|²``: how much of each input's axis the data do not span, ``(D,)``."""
        if self.space.rows is None:
            return np.zeros(self.space.scaling.D)
        Q = self.space.lift(np.eye(self.space.r))
        return np.maximum(1.0 - np.einsum("rj,rj->j", Q, Q), 0.0)
