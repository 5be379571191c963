"""Directions: the learned combinations of inputs in a form that does not jump from fit to fit.

For an isotropic kernel any rotation of the embedding's rows is the same model. Here they are
turned so that the first direction carries most of the variation of the predictive mean, the
second most of the rest, and so on (the active subspace of the mean); each has length 1 and its
largest weight positive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ridgeway.gp.eigen import eigh
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

_NOTHING = 1e-12  # mean squared slope, in units of the output's variance, below which a response is flat
_SHRUNK = 1e-9  # of the longest row's length, below which a row counts as zero


class UnavailableError(ValueError):
    """A belief lacks what a figure needs; the message says why."""


@dataclass(frozen=True)
class Directions:
    """Orthonormal rows on inputs mapped to [-1, 1], the most active first."""

    weights: Array  # (k, D)
    share: Array  # (k,) of the mean squared slope; sums to 1
    turn: Array  # (k, k): weights = turn @ belief.embedding[:k]

    @property
    def k(self) -> int:
        """How many directions."""
        return self.weights.shape[0]

    def like(self, other: Directions) -> Directions:
        """The same directions, with signs as in an earlier picture where they are comparable."""
        if other.weights.shape[1] != self.weights.shape[1]:
            raise ValueError(
                f"other must be about {self.weights.shape[1]} inputs, got directions of {other.weights.shape[1]}"
            )
        both = min(self.k, other.k)
        agree = np.einsum("kj,kj->k", self.weights[:both], other.weights[:both])
        sign = np.concatenate([np.where(agree < 0, -1.0, 1.0), np.ones(self.k - both)])
        return Directions(self.weights * sign[:, None], self.share, self.turn * sign[:, None])


def directions(belief: Belief) -> Directions:
    """The directions of a linear embedding by variation explained; raises :class:`UnavailableError` elsewhere.

    >>> import numpy as np, ridgeway as rw
    >>> X = np.random.default_rng(0).uniform(-1, 1, (40, 4))
    >>> found = directions(rw.fit(X, np.sin(2 * X[:, 0] - X[:, 2]), rw.Linear(1), n_starts=4))
    >>> found.weights.shape, found.share
    ((1, 4), array([1.]))
    """
    if not belief.model.has_directions:
        raise UnavailableError(f"{belief.model} scales each input by itself and has no shared combinations of inputs")
    R, activity = _used(belief.embedding[: belief.rank], belief.directional.activity)
    size = float(np.trace(activity @ R @ R.T)) if R.size else 0.0
    if not size > _NOTHING:
        raise UnavailableError("the fit found no direction along which the response varies")
    return canonical(R, activity)


def _used(R: Array, activity: Array) -> tuple[Array, Array]:
    """Without rows whose length is zero, relative to the longest: they have no direction. Rows are sorted by length."""
    length = np.linalg.norm(R, axis=1)
    k = int(np.count_nonzero(length > _SHRUNK * length.max(initial=0.0)))
    return R[:k], activity[:k, :k]


def canonical(R: Array, activity: Array) -> Directions:
    """Rows ``R (k, D)`` turned and scaled to the eigenvectors of ``Rᵀ activity R``, largest first."""
    basis, triangle = np.linalg.qr(R.T)  # R = triangleᵀ basisᵀ
    values, vectors = eigh(triangle @ activity @ triangle.T)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    weights = vectors.T @ basis.T
    largest = weights[np.arange(weights.shape[0]), np.argmax(np.abs(weights), axis=1)]
    sign = np.where(largest < 0, -1.0, 1.0)[:, None]
    turn = sign * np.linalg.pinv(triangle.T @ vectors)
    return Directions(sign * weights, values / values.sum(), turn)
