"""One component of a belief at some points, as features whose products are covariances, and back.

Covariances between points (see :mod:`ridgeway.outlook`) are products of what is computed here for
each point alone. The way back, from the derivative of a score in variances and covariances to
that in the points, is reverse-mode differentiation by hand: each line of the way there has its
transpose.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from ridgeway import marginal
from ridgeway.embeddings import Candidates, MomentGradients, towards
from ridgeway.gp import LOG_NOISE, LOG_OUTPUT_SCALE, MEAN, ConditionedGP
from ridgeway.inference import Component
from ridgeway.marginal import WEIGHTS
from ridgeway.types import Array

Spread = Literal["bbq", "mgp"]


class Points(NamedTuple):
    """Points in reduced coordinates."""

    z: Array  # (M, r) as the model wants them
    rho: Array  # (M,) squared distance to what the data span
    cross: Array  # (M, B) inner products beyond that span with the points that are out


class Features(NamedTuple):
    """A component at ``M`` points."""

    at: Candidates
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


class Bars(NamedTuple):
    """Derivatives of a score in what a component says about its points."""

    mean: Array  # (M,)
    variance: Array  # (M,) the marginal one
    plain: Array  # (M,) the one at the mode
    full_cross: Array  # (M, B) C̃ with what is out
    plain_cross: Array  # (M, B) C with it


class View(NamedTuple):
    """A component, the prior variance beyond the data's span, and the marginal to take."""

    component: Component
    prior_variance: float
    spread: Spread

    def features(self, z: Array) -> Features:
        """At points ``z (M, r)``."""
        gp, F = self.component.gp, self.component.factor
        mean, V, at = marginal.predictive(gp, z)
        dm, dV, dm_u, dV_u = marginal.moment_gradients(gp, V, mean, at)
        root = np.sqrt(V)[:, None]
        return Features(at, mean, V, dm @ F, (dV @ F) / root, dm_u, dV_u / root)

    def variance(self, f: Features, rho: Array) -> Array:
        """The marginal variance, ``(M,)`` (paper eq. 19)."""
        own, mean, spread = WEIGHTS[self.spread]
        unexplored = self.prior_variance * rho
        from_mean = _squared(f.by_mean) + unexplored * _squared(f.mean_u)
        from_spread = _squared(f.by_spread) + unexplored * _squared(f.spread_u)
        result: Array = own * f.V + mean * from_mean + spread * from_spread
        return result

    def covariances(self, x: Features, b: Features, residual: Array) -> tuple[Array, Array]:
        """``C`` and ``C̃`` between two sets of points, ``(M, B)`` each."""
        own, mean, spread = WEIGHTS[self.spread]
        gp = self.component.gp
        C = gp.output_variance * gp.kernel.value(self._distances(x, b, residual)) - x.at.k @ b.at.a.T
        unexplored = self.prior_variance * residual
        full = own * C
        full += mean * (x.by_mean @ b.by_mean.T + unexplored * (x.mean_u @ b.mean_u.T))
        full += spread * (x.by_spread @ b.by_spread.T + unexplored * (x.spread_u @ b.spread_u.T))
        return C, full

    def pull_back(self, f: Features, points: Points, bars: Bars, out: Features | None) -> Adjoint:
        """From derivatives in means, variances and covariances to those in the points."""
        own = WEIGHTS[self.spread][0]
        gp, F, at = self.component.gp, self.component.factor, f.at
        of, rho, cross = self._pull_back_products(f, points, bars, out)
        V = own * bars.variance + bars.plain
        V -= 0.5 * (_dots(of.by_spread, f.by_spread) + _dots(of.spread_u, f.spread_u)) / f.V
        root = np.sqrt(f.V)[:, None]
        dm, dV = of.by_mean @ F.T, (of.by_spread / root) @ F.T
        p = gp.parameters.shape[0]
        back = gp.embedding.pull_back(gp, at, MomentGradients(dm[:, :p], dV[:, :p], of.mean_u, of.spread_u / root))
        k, a = _pull_back_globals(gp, at, bars.mean, V, dm, dV, back.a)
        U = back.U
        if out is not None:
            plain = own * bars.full_cross + bars.plain_cross
            k -= plain @ out.at.a
            more, beyond = self._pull_back_distances(f, out, plain, points.cross)
            U, cross = U + more, cross + beyond
        k += a @ gp.Ginv
        U = U + towards(k * at.K1, at.U, gp.U)
        return Adjoint(back.Z + gp.embedding.pull_back_projection(gp.parameters, U), rho, cross)

    def _pull_back_products(
        self, f: Features, points: Points, bars: Bars, out: Features | None
    ) -> tuple[_Products, Array, Array]:
        """The transpose of all products of features."""
        _, mean, spread = WEIGHTS[self.spread]
        s2 = self.prior_variance
        variance = bars.variance[:, None]
        unexplored = variance * (s2 * points.rho)[:, None]
        by_mean, by_spread = 2.0 * mean * variance * f.by_mean, 2.0 * spread * variance * f.by_spread
        mean_u, spread_u = 2.0 * mean * unexplored * f.mean_u, 2.0 * spread * unexplored * f.spread_u
        rho = s2 * bars.variance * (mean * _squared(f.mean_u) + spread * _squared(f.spread_u))
        cross = np.zeros_like(points.cross)
        if out is not None:
            by_mean += mean * bars.full_cross @ out.by_mean
            by_spread += spread * bars.full_cross @ out.by_spread
            residual = s2 * bars.full_cross * points.cross
            mean_u += mean * residual @ out.mean_u
            spread_u += spread * residual @ out.spread_u
            cross += s2 * bars.full_cross * (mean * f.mean_u @ out.mean_u.T + spread * f.spread_u @ out.spread_u.T)
        return _Products(by_mean, by_spread, mean_u, spread_u), rho, cross

    @property
    def _by_distance(self) -> bool:
        return self.component.gp.embedding.reduction == "distance"

    def _distances(self, x: Features, b: Features, residual: Array) -> Array:
        S = cdist(x.at.U, b.at.U, "sqeuclidean")
        if self._by_distance:  # last coordinates are distances to the span, whatever their direction there
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
    """The transpose of the scales', the noise's and the mean's share, down to ``k`` and ``a``."""
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
