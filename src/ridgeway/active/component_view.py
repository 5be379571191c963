"""One component of a belief at some points: features whose products are covariances, and their derivatives.

Covariances between points (see :mod:`ridgeway.active.pending`) are products of features that are computed
here for each point alone. The derivative of a score in the points follows from those in variances and
covariances by reverse-mode differentiation, written by hand: each line of the computation has its transpose.
What the process itself says of points is behind :class:`~ridgeway.active.process_view.ProcessView`.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from ridgeway.active.basis_view import BasisView
from ridgeway.active.exact_view import ExactView
from ridgeway.active.process_view import ProcessAdjoint, ProcessView
from ridgeway.gp import moments
from ridgeway.gp.feature_process import FeatureProcess
from ridgeway.gp.moments import WEIGHTS, SlopesAdjoint
from ridgeway.inference.mixture import Component
from ridgeway.types import Array

Spread = Literal["map", "bbq", "mgp"]


class ReducedPoints(NamedTuple):
    """Points in reduced coordinates."""

    z: Array  # (M, r) in the coordinates of the embedding
    rho: Array  # (M,) squared distance to what the data span
    cross: Array  # (M, B) inner products with the pending points, beyond that span


class Features(NamedTuple):
    """A component at ``M`` points."""

    at: Any  # what the process remembers of them
    mean: Array  # (M,)
    V: Array  # (M,)
    by_mean: Array  # (M, q) ∂m F
    by_spread: Array  # (M, q) ∂V F / √V
    mean_u: Array  # (M, d) ∂m in the embedded input
    spread_u: Array  # (M, d) ∂V in it, over √V


class Adjoint(NamedTuple):
    """Derivatives of a score in the coordinates of its points."""

    z: Array  # (M, r)
    rho: Array  # (M,)
    cross: Array  # (M, B)


class MomentAdjoint(NamedTuple):
    """Derivatives of a score in a component's moments at its points."""

    mean: Array  # (M,)
    variance: Array  # (M,) the marginal one
    plain: Array  # (M,) the one at the mode
    full_cross: Array  # (M, B) C̃ with the pending points
    plain_cross: Array  # (M, B) C with them


class ComponentView(NamedTuple):
    """A component and the marginal to compute."""

    component: Component
    spread: Spread

    @property
    def process(self) -> ProcessView:
        """How its process sees points."""
        gp = self.component.gp
        return BasisView(gp) if isinstance(gp, FeatureProcess) else ExactView(gp)

    def features(self, z: Array) -> Features:
        """At points ``z (M, r)``."""
        F = self.component.factor
        mean, V, at = self.process.at(z)
        if self.spread == "map":
            none = np.zeros((z.shape[0], 0))
            return Features(at, mean, V, none, none, none, none)
        dm, dV, dm_u, dV_u = self.process.slopes(mean, V, at)
        root = np.sqrt(V)[:, None]
        return Features(at, mean, V, dm @ F, (dV @ F) / root, dm_u, dV_u / root)

    def variance(self, f: Features, rho: Array) -> Array:
        """The marginal variance, ``(M,)`` (paper eq. 19)."""
        unexplored = self.component.prior_variance * rho
        from_mean = moments.from_parameters(f.by_mean, f.mean_u, unexplored)
        from_spread = moments.from_parameters(f.by_spread, f.spread_u, unexplored)
        return moments.marginal_covariance(f.V, from_mean, from_spread, self.spread)

    def covariances(self, x: Features, b: Features, residual: Array) -> tuple[Array, Array]:
        """``C`` and ``C̃`` between two sets of points, ``(M, B)`` each."""
        C = self.process.covariances(x.at, b.at, residual)
        unexplored = self.component.prior_variance * residual
        from_mean = x.by_mean @ b.by_mean.T + unexplored * (x.mean_u @ b.mean_u.T)
        from_spread = x.by_spread @ b.by_spread.T + unexplored * (x.spread_u @ b.spread_u.T)
        return C, moments.marginal_covariance(C, from_mean, from_spread, self.spread)

    def pull_back(
        self, f: Features, points: ReducedPoints, adjoint: MomentAdjoint, pending: Features | None
    ) -> Adjoint:
        """From derivatives in means, variances and covariances to those in the points."""
        own = WEIGHTS[self.spread][0]
        V = own * adjoint.variance + adjoint.plain
        plain = None if pending is None else own * adjoint.full_cross + adjoint.plain_cross
        rho, cross, slopes = np.zeros_like(points.rho), np.zeros_like(points.cross), None
        if self.spread != "map":  # which is nothing but mean and variance at the mode
            of, rho, cross = self._pull_back_products(f, points, adjoint, pending)
            V -= 0.5 * (_dots(of.by_spread, f.by_spread) + _dots(of.spread_u, f.spread_u)) / f.V
            F, root = self.component.factor, np.sqrt(f.V)[:, None]
            slopes = SlopesAdjoint(of.by_mean @ F.T, (of.by_spread / root) @ F.T, of.mean_u, of.spread_u / root)
        anchors = None if pending is None else pending.at
        z, beyond = self.process.pull_back(f.at, ProcessAdjoint(adjoint.mean, V, plain, slopes), anchors, points.cross)
        return Adjoint(z, rho, cross + beyond)

    def _pull_back_products(
        self, f: Features, points: ReducedPoints, adjoint: MomentAdjoint, pending: Features | None
    ) -> tuple[_Products, Array, Array]:
        """The transpose of all products of features."""
        _, mean, spread = WEIGHTS[self.spread]
        s2 = self.component.prior_variance
        variance = adjoint.variance[:, None]
        unexplored = variance * (s2 * points.rho)[:, None]
        by_mean, by_spread = 2.0 * mean * variance * f.by_mean, 2.0 * spread * variance * f.by_spread
        mean_u, spread_u = 2.0 * mean * unexplored * f.mean_u, 2.0 * spread * unexplored * f.spread_u
        rho = s2 * adjoint.variance * (mean * _squared(f.mean_u) + spread * _squared(f.spread_u))
        cross = np.zeros_like(points.cross)
        if pending is not None:
            by_mean += mean * adjoint.full_cross @ pending.by_mean
            by_spread += spread * adjoint.full_cross @ pending.by_spread
            residual = s2 * adjoint.full_cross * points.cross
            mean_u += mean * residual @ pending.mean_u
            spread_u += spread * residual @ pending.spread_u
            slopes = mean * f.mean_u @ pending.mean_u.T + spread * f.spread_u @ pending.spread_u.T
            cross += s2 * adjoint.full_cross * slopes
        return _Products(by_mean, by_spread, mean_u, spread_u), rho, cross


class _Products(NamedTuple):
    by_mean: Array
    by_spread: Array
    mean_u: Array
    spread_u: Array


def _squared(rows: Array) -> Array:
    return np.einsum("ij,ij->i", rows, rows)


def _dots(a: Array, b: Array) -> Array:
    return np.einsum("ij,ij->i", a, b)
