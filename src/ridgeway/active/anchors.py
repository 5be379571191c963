"""Anchors: fixed points that new ones are seen in relation to, in the coordinates of one belief.

Pending points are anchors, and so are observations that may be the best so far. A new point is described by its
coordinates in what the data span, by its distance to that span, and by its inner products with the anchors beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ridgeway.active.component_view import Adjoint, ReducedPoints
from ridgeway.types import Array, Inputs

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

_TINY = 1e-150  # replaces a distance of 0 where a derivative is divided by it


@dataclass(frozen=True)
class Anchors:
    """Points ``X (B, D)`` in the user's units and ``z (B, r)`` in the coordinates of ``belief``; there may be none."""

    belief: Belief
    X: Array
    z: Array

    @classmethod
    def of(cls, belief: Belief, X: Array) -> Anchors:
        """The points ``X (B, D)`` as anchors."""
        return cls(belief, X, _coordinates(belief, X)[0])

    @property
    def n(self) -> int:
        """How many."""
        return self.X.shape[0]

    @property
    def gram(self) -> Array:
        """Inner products of the anchors beyond what the data span, ``(B, B)``."""
        return self.cross(self.X, self.z)

    def reduced(self, X: Inputs) -> ReducedPoints:
        """``X (M, D)``, in the user's units, in reduced coordinates."""
        z, rho = _coordinates(self.belief, X)
        return ReducedPoints(z, rho, self.cross(X, z))

    def cross(self, X: Inputs, z: Array) -> Array:
        """Inner products of ``X`` with the anchors, beyond what the data span, ``(M, B)``."""
        space = self.belief.space
        if space.rows is None or self.n == 0:
            return np.zeros((z.shape[0], self.n))
        return space.scaling.inner(X, self.X) - z[:, : space.r] @ self.z[:, : space.r].T

    def gradient(self, X: Array, points: ReducedPoints, adjoint: Adjoint) -> Array:
        """Derivatives in the coordinates ``points`` of ``X`` as the gradient in ``X``, ``(M, D)``, in its units."""
        space = self.belief.space
        scaling = space.scaling
        of_z, of_rho = adjoint.z, adjoint.rho
        if _by_distance(self.belief):  # the last coordinate is √rho: its derivative belongs to rho
            of_z, of_rho = of_z[:, :-1], of_rho + 0.5 * of_z[:, -1] / np.maximum(points.z[:, -1], _TINY)
        if space.rows is None:
            return of_z / scaling.half_width
        inner = of_z - 2.0 * of_rho[:, None] * points.z[:, : space.r]
        total = 2.0 * of_rho[:, None] * scaling.scaled(X)
        if self.n:
            inner -= adjoint.cross @ self.z[:, : space.r]
            total += adjoint.cross @ scaling.scaled(self.X)
        result: Array = (total + space.lift(inner)) / scaling.half_width
        return result


def _by_distance(belief: Belief) -> bool:
    return belief.model.reduction == "distance"


def _coordinates(belief: Belief, X: Inputs) -> tuple[Array, Array]:
    z, rho = belief.reduced_coordinates(X)
    if _by_distance(belief):  # a distance is not differentiable at exactly 0
        z[:, -1] = np.maximum(z[:, -1], _TINY)
    return z, rho
