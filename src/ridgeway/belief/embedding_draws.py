"""Draws of the embedding, and what each of them says about directions and inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ridgeway.belief.directions import Directions
from ridgeway.blas import blas_threads
from ridgeway.gp.linear import Linear
from ridgeway.gp.process import N_GLOBAL, Data, condition
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

N_DRAWS = 200
_WORK = 4e8  # multiply-adds of factorisations to spend: beyond some hundred observations fewer draws do
_BYTES = 2**26  # that draws may take: a million inputs make do with a few
_LEAST = 16


@dataclass(frozen=True)
class Interval:
    """Mean and central 90 % of draws, each of the same shape."""

    mean: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, values: Array) -> Interval:
        """Over the first axis."""
        low, high = np.quantile(values, [0.05, 0.95], axis=0)
        return cls(values.mean(axis=0), low, high)


def embeddings(belief: Belief, n: int | None = None) -> Array:
    """Draws of the embedding ``(n, d, D)``, always the same ones for the same belief."""
    if n is None:
        work = 3.0 * _WORK / max(belief.y.shape[0], 1) ** 3
        n = int(np.clip(min(work, _BYTES / (8.0 * belief.embedding.size)), _LEAST, N_DRAWS))
    return belief.sample_embeddings(n, random_state=belief.seed)


def input_shares(belief: Belief, R: Array | None = None) -> Interval:
    """Share of each input in the variation, with its interval: what summaries, status and reports all show."""
    return Interval.of(shares(belief, embeddings(belief) if R is None else R))


def weights(found: Directions, R: Array) -> Interval:
    """The directions' weights ``(k, D)`` over draws ``R (n, d, D)``, each draw of a direction with length 1.

    The length of a direction is a convention, and how long the rows of a draw are says how fast the response varies:
    what is uncertain about a direction is where it points.
    """
    drawn = aligned(found, R)
    lengths = np.linalg.norm(drawn, axis=2, keepdims=True)
    return Interval.of(drawn / np.maximum(lengths, np.finfo(float).tiny))


def aligned(found: Directions, R: Array) -> Array:
    """Draws ``R (n, d, D)`` as draws of the directions, ``(n, k, D)``.

    Draws are first rotated within their own subspace, as near to the best estimate as they come: that
    rotation is free. Units are those in which the best estimate of each direction has length 1.
    """
    best = np.linalg.solve(found.turn, found.weights)  # (k, D)
    best = np.vstack([best, np.zeros((R.shape[1] - found.k, best.shape[1]))])
    left, _, right = np.linalg.svd(best @ R.transpose(0, 2, 1))
    turned = (left @ right) @ R  # orthogonal Procrustes
    result: Array = found.turn @ turned[:, : found.k]
    return result


def shares(belief: Belief, R: Array) -> Array:
    """Share of each input in the variation under each draw, ``(n, D)``.

    The mean square of the predictive mean's derivative, as :meth:`Belief.importances`, with the process
    conditioned anew on each draw; scales and noise are those of the best mode.
    """
    gp, rotates = belief.components[0].gp, belief.model.has_directions
    given = gp.given
    X = belief.space.scaling.scaled(belief.X[: given.n])
    result = np.empty((R.shape[0], X.shape[1]))
    with blas_threads(X.shape[0]):
        for i, rows in enumerate(R):
            U = X @ rows.T if rotates else X * np.diagonal(rows)
            flat = np.concatenate([np.eye(U.shape[1]).ravel(), gp.theta[-N_GLOBAL:]])
            drawn = condition(Linear(U.shape[1]), belief.kernel, Data(U, given.y, given.noise), flat)
            root: Array = np.linalg.qr(drawn.mean_slopes(), mode="r")  # type: ignore[assignment]  # an array in this mode
            slopes = root @ rows if rotates else root * np.diagonal(rows)
            squares = np.sum(slopes**2, axis=0)
            total = squares.sum()
            result[i] = squares / total if total > 0 else 1.0 / X.shape[1]
    return result
