"""One component of a belief at some points: features whose products are covariances, and their derivatives.

Covariances between points (see :mod:`ridgeway.active.pending`) are products of features that are computed
here for each point alone. The derivative of a score in the points follows from those in variances and
covariances by reverse-mode differentiation, written by hand: each line of the computation has its transpose.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from ridgeway.gp import moments
from ridgeway.gp.embeddings import Candidates, MomentGradients, towards
from ridgeway.gp.feature_process import FeatureProcess
from ridgeway.gp.moments import WEIGHTS
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, MEAN, ConditionedGP
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

    at: Any  # Candidates, or Waves where the process has a finite basis
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


class Waves(NamedTuple):
    """New points where the process has a finite basis."""

    half: Array  # (M, m) whose products are the covariances given the rows: L⁻¹ ψ


@singledispatch
def seen_by(gp: Any, z: Array) -> tuple[Array, Array, Any]:
    """Mean and variance at points ``z (M, r)``, and what covariances and derivatives need."""
    return moments.predictive(gp, z)


@seen_by.register
def _(gp: FeatureProcess, z: Array) -> tuple[Array, Array, Any]:
    mean, V = moments.plain(gp, z)
    return mean, V, Waves(gp.functions(z) @ gp.Linv.T)


@singledispatch
def slopes_of(gp: Any, z: Array, V: Array, mean: Array, at: Any) -> tuple[Array, Array, Array, Array]:
    """Derivatives of mean and variance in ``theta``, ``(M, P + 4)``, and in the embedded input, ``(M, d)``."""
    return moments.moment_gradients(gp, V, mean, at)


@slopes_of.register
def _(gp: FeatureProcess, z: Array, V: Array, mean: Array, at: Any) -> tuple[Array, Array, Array, Array]:
    return moments.slopes(gp, z)[2:]


class ComponentView(NamedTuple):
    """A component and the marginal to compute."""

    component: Component
    spread: Spread

    def features(self, z: Array) -> Features:
        """At points ``z (M, r)``."""
        gp, F = self.component.gp, self.component.factor
        mean, V, at = seen_by(gp, z)
        if self.spread == "map":
            none = np.zeros((z.shape[0], 0))
            return Features(at, mean, V, none, none, none, none)
        dm, dV, dm_u, dV_u = slopes_of(gp, z, V, mean, at)
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
        C = self._plain_covariances(x, b, residual)
        unexplored = self.component.prior_variance * residual
        from_mean = x.by_mean @ b.by_mean.T + unexplored * (x.mean_u @ b.mean_u.T)
        from_spread = x.by_spread @ b.by_spread.T + unexplored * (x.spread_u @ b.spread_u.T)
        return C, moments.marginal_covariance(C, from_mean, from_spread, self.spread)

    def _plain_covariances(self, x: Features, b: Features, residual: Array) -> Array:
        gp = self.component.gp
        if isinstance(x.at, Waves):
            result: Array = x.at.half @ b.at.half.T
            return result
        return gp.output_variance * gp.kernel.value(self._distances(x, b, residual)) - x.at.k @ b.at.a.T

    def pull_back(
        self, f: Features, points: ReducedPoints, adjoint: MomentAdjoint, pending: Features | None
    ) -> Adjoint:
        """From derivatives in means, variances and covariances to those in the points."""
        if isinstance(f.at, Waves):
            raise TypeError(
                "a belief about many rows has a finite basis, and a search over a box needs the exact process: choose "
                "from a Pool, or fit a part of the rows with approximation='exact'"
            )
        own = WEIGHTS[self.spread][0]
        gp, at = self.component.gp, f.at
        Z, U, k, rho, cross = self._pull_back_features(f, points, adjoint, pending)
        if pending is not None:
            plain = own * adjoint.full_cross + adjoint.plain_cross
            k -= plain @ pending.at.a
            more, beyond = self._pull_back_distances(f, pending, plain, points.cross)
            U, cross = U + more, cross + beyond
        U = U + towards(k * at.K1, at.U, gp.U)
        return Adjoint(Z + gp.embedding.pull_back_projection(gp.parameters, U), rho, cross)

    def _pull_back_features(
        self, f: Features, points: ReducedPoints, adjoint: MomentAdjoint, pending: Features | None
    ) -> tuple[Array, Array, Array, Array, Array]:
        """Down to ``Z``, ``U``, ``k``, ``rho`` and ``cross``; ``U`` without what enters through ``k``."""
        gp, F, at = self.component.gp, self.component.factor, f.at
        V = WEIGHTS[self.spread][0] * adjoint.variance + adjoint.plain
        if self.spread == "map":  # nothing but mean and variance at the mode
            k = np.outer(adjoint.mean, gp.alpha) - 2.0 * V[:, None] * at.a
            return np.zeros_like(at.Z), np.zeros_like(at.U), k, np.zeros_like(points.rho), np.zeros_like(points.cross)
        of, rho, cross = self._pull_back_products(f, points, adjoint, pending)
        V -= 0.5 * (_dots(of.by_spread, f.by_spread) + _dots(of.spread_u, f.spread_u)) / f.V
        root = np.sqrt(f.V)[:, None]
        dm, dV = of.by_mean @ F.T, (of.by_spread / root) @ F.T
        p = gp.parameters.shape[0]
        back = gp.embedding.pull_back(gp, at, MomentGradients(dm[:, :p], dV[:, :p], of.mean_u, of.spread_u / root))
        k, a = _pull_back_globals(gp, at, adjoint.mean, V, dm, dV, back.a)
        k += a @ gp.Ginv
        return back.Z, back.U, k, rho, cross

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

    @property
    def _by_distance(self) -> bool:
        return self.component.gp.embedding.reduction == "distance"

    def _distances(self, x: Features, b: Features, residual: Array) -> Array:
        S = cdist(x.at.U, b.at.U, "sqeuclidean")
        if self._by_distance:  # the last coordinate is a distance to the span, without a direction
            scale = np.exp(-2.0 * self.component.gp.parameters[0])
            S += 2.0 * np.outer(x.at.U[:, -1], b.at.U[:, -1]) - 2.0 * scale * residual
        return np.maximum(S, 0.0)

    def _pull_back_distances(self, x: Features, b: Features, plain: Array, residual: Array) -> tuple[Array, Array]:
        gp = self.component.gp
        slope = gp.kernel.derivatives(self._distances(x, b, residual))[1]
        along = plain * (2.0 * gp.output_variance * slope)
        U = towards(along, x.at.U, b.at.U)
        if not self._by_distance:
            return U, np.zeros_like(residual)
        U[:, -1] += along @ b.at.U[:, -1]
        return U, -np.exp(-2.0 * gp.parameters[0]) * along


class _Products(NamedTuple):
    by_mean: Array
    by_spread: Array
    mean_u: Array
    spread_u: Array


def _pull_back_globals(
    gp: ConditionedGP, at: Candidates, mean: Array, V: Array, dm: Array, dV: Array, a: Array
) -> tuple[Array, Array]:
    """The transpose of the derivatives in output scale, noise and mean, down to ``k`` and ``a``."""
    noise, sigma2 = gp.noise_diagonal, gp.noise_variance
    residual = gp.data.y - gp.mean
    mean = mean + 2.0 * dm[:, LOG_OUTPUT_SCALE]
    V = V + 2.0 * dV[:, LOG_OUTPUT_SCALE]
    a = a - np.outer(2.0 * dm[:, LOG_OUTPUT_SCALE], residual - noise * gp.alpha)
    a -= np.outer(2.0 * sigma2 * dm[:, LOG_NOISE], gp.alpha) + dm[:, MEAN, None]
    a += at.a * (4.0 * sigma2 * dV[:, LOG_NOISE, None] - np.outer(4.0 * dV[:, LOG_OUTPUT_SCALE], noise))
    return np.outer(mean, gp.alpha) - 2.0 * V[:, None] * at.a, a


def _squared(rows: Array) -> Array:
    return np.einsum("ij,ij->i", rows, rows)


def _dots(a: Array, b: Array) -> Array:
    return np.einsum("ij,ij->i", a, b)
