"""``Outlook``: what is believed about ``f`` at new points while others are still out for evaluation.

The marginal of one point (paper eqs. 18-19) extends to several. With ``C`` the covariance of
``f`` at the mode, ``m`` its mean and ``F Fᵀ`` the covariance of ``theta``::

    C̃(x, x') = 4/3 C(x, x') + ∂m F · ∂m' F + ∂V F · ∂V' F / (3 √(V V'))

is a covariance function whose diagonal is the MGP's variance. Points that are out are
conditioned on as if they had been observed with the noise learned so far: that needs no
outcome, so nothing is imagined and nothing is drawn.

Scores are functions of the resulting two variances. Their gradient in ``x`` is reverse-mode
differentiation written by hand: each line of the forward pass has its transpose below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.spatial.distance import cdist

from ridgeway import marginal
from ridgeway.embeddings import Candidates, MomentGradients, towards
from ridgeway.gp import LOG_NOISE, LOG_OUTPUT_SCALE, MEAN, ConditionedGP
from ridgeway.inference import Component
from ridgeway.marginal import WEIGHTS, Moments
from ridgeway.threads import blas_threads
from ridgeway.types import Array, Inputs

if TYPE_CHECKING:
    from ridgeway.belief import Belief

Spread = Literal["bbq", "mgp"]
#: Derivatives of a score in the marginal variance and in the variance at the mode, ``(M,)`` each.
_Slopes = Callable[[Moments], tuple[Array, Array]]
_TINY = 1e-150  # stands for a distance of 0 where it divides its own derivative


class Points(NamedTuple):
    """Points in reduced coordinates."""

    z: Array  # (M, r) as the model wants them
    rho: Array  # (M,) squared distance to what the data span
    cross: Array  # (M, B) inner products beyond that span with the points that are out


class _Features(NamedTuple):
    """One component of the belief at ``M`` points; covariances are products of these."""

    at: Candidates
    mean: Array  # (M,)
    V: Array  # (M,)
    by_mean: Array  # (M, q) ∂m F
    by_spread: Array  # (M, q) ∂V F / √V
    mean_u: Array  # (M, d) ∂m in the embedded input
    spread_u: Array  # (M, d) ∂V in it, over √V


class _Out(NamedTuple):
    """Points that are out, and the factors that condition on them."""

    X: Array  # (B, D) in the user's units
    features: tuple[_Features, ...]
    deviations: Array  # (components, B) of the components' means from the mixture's
    z: Array  # (B, r)
    rho: Array  # (B,)
    marginal_factor: tuple[Array, bool]  # Cholesky of C̃ + noise
    plain_factor: tuple[Array, bool]  # Cholesky of C + noise


class Adjoint(NamedTuple):
    """Derivatives of a score in the coordinates of its points."""

    z: Array
    rho: Array
    cross: Array


@dataclass(frozen=True)
class Outlook:
    """A belief, and points that are out."""

    belief: Belief
    spread: Spread = "mgp"
    out: _Out | None = None

    @property
    def noise(self) -> float:
        """Variance of an observation's noise, in the engine's units."""
        return self.belief.noise_variance / self.belief.output.scale**2

    @property
    def n_out(self) -> int:
        return 0 if self.out is None else self.out.X.shape[0]

    def given(self, X: Array) -> Outlook:
        """With the points ``X (n, D)`` out as well."""
        if X.shape[0] == 0:
            return self
        known = np.zeros((0, X.shape[1])) if self.out is None else self.out.X
        X = np.vstack([known, X])
        z, rho = self._coordinates(X)
        residual = self._residual(X, X, z, z)
        with blas_threads(self.belief.y.shape[0]):
            features = self._features(Points(z, rho, residual))
            deviations = _deviations(self._weights, features)
            plain, full = self._covariances(features, features, deviations, deviations, residual)
        eye = self.noise * np.eye(X.shape[0])
        out = _Out(X, features, deviations, z, rho, (cholesky(full + eye), False), (cholesky(plain + eye), False))
        return replace(self, out=out)

    @property
    def information(self) -> float:
        """What observing all the points that are out would tell about the hyperparameters, in nats."""
        if self.out is None:
            return 0.0
        (full, _), (plain, _) = self.out.marginal_factor, self.out.plain_factor
        return float(np.log(np.diagonal(full)).sum() - np.log(np.diagonal(plain)).sum())

    def points(self, X: Inputs) -> Points:
        """``X (M, D)``, in the user's units, in reduced coordinates."""
        z, rho = self._coordinates(X)
        return Points(z, rho, self.cross(X, z))

    def cross(self, X: Inputs, z: Array) -> Array:
        """Inner products of ``X`` with the points that are out beyond what the data span, ``(M, B)``."""
        if self.out is None:
            return np.zeros((z.shape[0], 0))
        return self._residual(X, self.out.X, z, self.out.z)

    def moments(self, points: Points) -> Moments:
        """Mean and both variances of ``f`` at the points; in blocks, so memory stays bounded."""
        if self.out is None:
            return self.belief.reduced_moments(points.z, points.rho, self.spread)
        n, p = self.belief.y.shape[0], self.belief.components[0].gp.theta.shape[0]
        step = marginal.block_size(n, p)
        parts = []
        with blas_threads(n):
            for start in range(0, points.z.shape[0], step):
                block = Points(*(part[start : start + step] for part in points))
                parts.append(self._conditional(block)[0])
        return Moments(*(np.concatenate(p) for p in zip(*parts, strict=True)))

    def pull_back(self, points: Points, slopes: _Slopes) -> tuple[Moments, Adjoint]:
        """Moments at few points, and the adjoint of the function of them whose slopes are given."""
        with blas_threads(self.belief.y.shape[0]):
            moments, features, deviations, solved = self._conditional(points)
            of_variance, of_plain = slopes(moments)
            bars = [self._bars(i, of_variance, of_plain, deviations, solved) for i in range(len(features))]
            parts = [self._pull_back_component(i, features[i], bars[i], points) for i in range(len(features))]
        z, rho, cross = (sum(terms) for terms in zip(*parts, strict=True))
        if self._by_distance:  # the last coordinate is √rho, which is nobody's but rho's
            z, rho = z[:, :-1], rho + 0.5 * z[:, -1] / np.maximum(points.z[:, -1], _TINY)
        return moments, Adjoint(z, rho, cross)

    def gradient(self, X: Array, adjoint: Adjoint) -> Array:
        """An adjoint as the gradient in ``X``, ``(M, D)``, in the user's units."""
        space = self.belief.space
        scaling = space.scaling
        if space.rows is None:
            return adjoint.z / scaling.half_width
        z, _ = space.project(X)
        inner = adjoint.z - 2.0 * adjoint.rho[:, None] * z
        total = 2.0 * adjoint.rho[:, None] * scaling.scaled(X)
        if self.out is not None:
            own = self.out.z[:, :-1] if self._by_distance else self.out.z
            inner -= adjoint.cross @ own
            total += adjoint.cross @ scaling.scaled(self.out.X)
        result: Array = (total + space.lift(inner)) / scaling.half_width
        return result

    # -- forward ---------------------------------------------------------------------------

    @property
    def _weights(self) -> Array:
        return np.array([c.weight for c in self.belief.components])

    @property
    def _by_distance(self) -> bool:
        return self.belief.model.reduction == "distance"

    def _coordinates(self, X: Inputs) -> tuple[Array, Array]:
        z, rho = self.belief.reduced_coordinates(X)
        if self._by_distance:  # a distance of exactly 0 has no derivative of its own
            z[:, -1] = np.maximum(z[:, -1], _TINY)
        return z, rho

    def _residual(self, X: Inputs, Y: Array, zx: Array, zy: Array) -> Array:
        if self.belief.space.rows is None:
            return np.zeros((zx.shape[0], zy.shape[0]))
        r = self.belief.space.r
        return self.belief.space.scaling.inner(X, Y) - zx[:, :r] @ zy[:, :r].T

    def _features(self, points: Points) -> tuple[_Features, ...]:
        return tuple(self._features_of(c, points) for c in self.belief.components)

    def _features_of(self, c: Component, points: Points) -> _Features:
        mean, V, at = marginal.predictive(c.gp, points.z)
        dm, dV, dm_u, dV_u = marginal.moment_gradients(c.gp, V, mean, at)
        root = np.sqrt(V)[:, None]
        return _Features(at, mean, V, dm @ c.factor, (dV @ c.factor) / root, dm_u, dV_u / root)

    def _variance(self, c: Component, f: _Features, rho: Array) -> Array:
        own, mean, spread = WEIGHTS[self.spread]
        unexplored = self.belief.prior_variance(c) * rho
        from_mean = _squared(f.by_mean) + unexplored * _squared(f.mean_u)
        from_spread = _squared(f.by_spread) + unexplored * _squared(f.spread_u)
        result: Array = own * f.V + mean * from_mean + spread * from_spread
        return result

    def _covariances(
        self, x: tuple[_Features, ...], b: tuple[_Features, ...], of_x: Array, of_b: Array, residual: Array
    ) -> tuple[Array, Array]:
        """``C`` and ``C̃`` between two sets of points, ``(M, B)`` each, of the mixture."""
        own, mean, spread = WEIGHTS[self.spread]
        plain, full = np.zeros(residual.shape), np.zeros(residual.shape)
        for i, (c, fx, fb) in enumerate(zip(self.belief.components, x, b, strict=True)):
            C = c.gp.output_variance * c.gp.kernel.value(self._distances(c.gp, fx, fb, residual)) - fx.at.k @ fb.at.a.T
            unexplored = self.belief.prior_variance(c) * residual
            part = own * C
            part += mean * (fx.by_mean @ fb.by_mean.T + unexplored * (fx.mean_u @ fb.mean_u.T))
            part += spread * (fx.by_spread @ fb.by_spread.T + unexplored * (fx.spread_u @ fb.spread_u.T))
            plain += c.weight * C
            full += c.weight * (part + np.outer(of_x[i], of_b[i]))
        return plain, full

    def _distances(self, gp: ConditionedGP, x: _Features, b: _Features, residual: Array) -> Array:
        S = cdist(x.at.U, b.at.U, "sqeuclidean")
        if self._by_distance:  # last coordinates are distances to the span, whatever their direction there
            S += 2.0 * np.outer(x.at.U[:, -1], b.at.U[:, -1]) - 2.0 * np.exp(-2.0 * gp.parameters[0]) * residual
        return np.maximum(S, 0.0)

    def _conditional(self, points: Points) -> tuple[Moments, tuple[_Features, ...], Array, tuple[Array, Array]]:
        """Moments given what is out, and what their derivatives need."""
        features = self._features(points)
        w = self._weights
        deviations = _deviations(w, features)
        mean = w @ np.stack([f.mean for f in features])
        own = [self._variance(c, f, points.rho) for c, f in zip(self.belief.components, features, strict=True)]
        variance = w @ (np.stack(own) + deviations**2)
        plain = w @ np.stack([f.V for f in features])
        empty = np.zeros((points.z.shape[0], 0))
        if self.out is None:
            return Moments(mean, variance, plain), features, deviations, (empty, empty)
        C, full = self._covariances(features, self.out.features, deviations, self.out.deviations, points.cross)
        solved = cho_solve(self.out.marginal_factor, full.T).T, cho_solve(self.out.plain_factor, C.T).T
        floor = marginal.RELATIVE_VARIANCE_FLOOR * max(c.gp.output_variance for c in self.belief.components)
        variance = np.maximum(variance - np.einsum("mb,mb->m", full, solved[0]), floor)
        plain = np.maximum(plain - np.einsum("mb,mb->m", C, solved[1]), floor)
        return Moments(mean, variance, plain), features, deviations, solved

    # -- backward --------------------------------------------------------------------------

    def _bars(
        self, i: int, of_variance: Array, of_plain: Array, deviations: Array, solved: tuple[Array, Array]
    ) -> _Bars:
        """Adjoints of one component's mean, variances and covariances with what is out."""
        weight = self.belief.components[i].weight
        full = -2.0 * weight * of_variance[:, None] * solved[0]
        plain = -2.0 * weight * of_plain[:, None] * solved[1]
        mean = 2.0 * weight * of_variance * deviations[i]
        if self.out is not None:
            mean = mean + full @ self.out.deviations[i]
        return _Bars(mean, weight * of_variance, weight * of_plain, full, plain)

    def _pull_back_component(self, i: int, f: _Features, bars: _Bars, points: Points) -> Adjoint:
        c, out = self.belief.components[i], None if self.out is None else self.out.features[i]
        gp, at = c.gp, f.at
        own, mean, spread = WEIGHTS[self.spread]
        s2 = self.belief.prior_variance(c)
        unexplored, of_variance = (s2 * points.rho)[:, None], bars.variance[:, None]
        by_mean, by_spread = 2.0 * mean * of_variance * f.by_mean, 2.0 * spread * of_variance * f.by_spread
        mean_u = 2.0 * mean * of_variance * unexplored * f.mean_u
        spread_u = 2.0 * spread * of_variance * unexplored * f.spread_u
        rho = s2 * bars.variance * (mean * _squared(f.mean_u) + spread * _squared(f.spread_u))
        cross = np.zeros_like(points.cross)
        if out is not None:
            by_mean += mean * bars.full @ out.by_mean
            by_spread += spread * bars.full @ out.by_spread
            residual = s2 * bars.full * points.cross
            mean_u += mean * residual @ out.mean_u
            spread_u += spread * residual @ out.spread_u
            cross += s2 * bars.full * (mean * f.mean_u @ out.mean_u.T + spread * f.spread_u @ out.spread_u.T)
        root = np.sqrt(f.V)
        V = own * bars.variance + bars.plain
        V -= 0.5 * (np.einsum("mq,mq->m", by_spread, f.by_spread) + np.einsum("md,md->m", spread_u, f.spread_u)) / f.V
        dm, dV = by_mean @ c.factor.T, (by_spread / root[:, None]) @ c.factor.T
        p = gp.parameters.shape[0]
        back = gp.embedding.pull_back(gp, at, MomentGradients(dm[:, :p], dV[:, :p], mean_u, spread_u / root[:, None]))
        k, a = self._pull_back_globals(gp, at, bars.mean, V, dm, dV, back.a)
        U = back.U
        if out is not None:
            plain = own * bars.full + bars.plain_cross
            k -= plain @ out.at.a
            more, beyond = self._pull_back_distances(gp, f, out, plain, points.cross)
            U, cross = U + more, cross + beyond
        k += a @ gp.Ginv
        U = U + towards(k * at.K1, at.U, gp.U)
        return Adjoint(back.Z + gp.embedding.pull_back_projection(gp.parameters, U), rho, cross)

    def _pull_back_globals(
        self, gp: ConditionedGP, at: Candidates, mean: Array, V: Array, dm: Array, dV: Array, a: Array
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

    def _pull_back_distances(
        self, gp: ConditionedGP, x: _Features, b: _Features, plain: Array, residual: Array
    ) -> tuple[Array, Array]:
        S = self._distances(gp, x, b, residual)
        along = plain * (2.0 * gp.output_variance * gp.kernel.derivatives(S)[1])
        U = towards(along, x.at.U, b.at.U)
        if not self._by_distance:
            return U, np.zeros_like(residual)
        U[:, -1] += along @ b.at.U[:, -1]
        return U, -np.exp(-2.0 * gp.parameters[0]) * along


class _Bars(NamedTuple):
    mean: Array  # (M,)
    variance: Array  # (M,) of the component's marginal variance
    plain: Array  # (M,) of its variance at the mode
    full: Array  # (M, B) of its C̃ with what is out
    plain_cross: Array  # (M, B) of its C


def _deviations(weights: Array, features: tuple[_Features, ...]) -> Array:
    means = np.stack([f.mean for f in features])
    return means - weights @ means


def _squared(rows: Array) -> Array:
    return np.einsum("ij,ij->i", rows, rows)
