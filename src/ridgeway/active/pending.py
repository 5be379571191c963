"""``PendingBelief``: what is believed about ``f`` at new points, given that others are pending.

The marginal of one point (paper eqs. 18-19) extends to several. With ``C`` the covariance of
``f`` at the mode, ``m`` its mean and ``F Fᵀ`` the covariance of ``theta``::

    C̃(x, x') = 4/3 C(x, x') + ∂m F · ∂m' F + ∂V F · ∂V' F / (3 √(V V'))

is a covariance function whose diagonal is the MGP's variance. Pending points are conditioned on
as if they had been observed with the noise learned so far. The variance given them does not depend
on their outcomes, so none has to be guessed or drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky

from ridgeway.active.component_view import Adjoint, ComponentView, Features, MomentAdjoint, ReducedPoints, Spread
from ridgeway.blas import blas_threads
from ridgeway.gp import moments
from ridgeway.gp.moments import Moments
from ridgeway.types import Array, Inputs

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

#: Derivatives of a score in the marginal variance and in the variance at the mode, ``(M,)`` each.
Slopes = Callable[[Moments], tuple[Array, Array]]
_TINY = 1e-150  # replaces a distance of 0 where a derivative is divided by it


class _PendingPoints(NamedTuple):
    """Pending points, and the factors that condition on them."""

    X: Array  # (B, D) in the user's units
    z: Array  # (B, r)
    features: list[Features]  # by component
    deviations: Array  # (components, B) of the components' means from the mixture's
    full_factor: tuple[Array, bool]  # Cholesky of C̃ + noise
    plain_factor: tuple[Array, bool]  # Cholesky of C + noise


class _Conditional(NamedTuple):
    """Moments given the pending points, and what their derivatives need."""

    moments: Moments
    features: list[Features]
    deviations: Array  # (components, M)
    full: Array  # (M, B) C̃ with the pending points, times the inverse of C̃ + noise between them
    plain: Array  # (M, B) the same of C


@dataclass(frozen=True)
class PendingBelief:
    """A belief, and pending points that it is conditioned on; none at first.

    ``known_noise`` is the noise variance that an observation is known to have, beside the learned one.
    """

    belief: Belief
    spread: Spread = "mgp"
    pending: _PendingPoints | None = None
    known_noise: float = 0.0  # in the user's units

    @property
    def noise(self) -> float:
        """Variance of an observation's noise, known and learned, with outputs standardised."""
        return (self.belief.noise_variance + self.known_noise) / self.belief.output.scale**2

    @property
    def n_pending(self) -> int:
        """How many points are pending."""
        return 0 if self.pending is None else self.pending.X.shape[0]

    @property
    def known_inputs(self) -> Array:
        """Inputs of all observations and pending points, ``(n + B, D)``."""
        return self.belief.X if self.pending is None else np.vstack([self.belief.X, self.pending.X])

    @property
    def information(self) -> float:
        """Joint information of the pending points' observations about the hyperparameters, in nats."""
        if self.pending is None:
            return 0.0
        (full, _), (plain, _) = self.pending.full_factor, self.pending.plain_factor
        return float(np.log(np.diagonal(full)).sum() - np.log(np.diagonal(plain)).sum())

    def given(self, X: Array) -> PendingBelief:
        """With the points ``X (n, D)`` pending as well."""
        if X.shape[0] == 0:
            return self
        X = X if self.pending is None else np.vstack([self.pending.X, X])
        z, _ = self._coordinates(X)
        residual = self._residual(X, X, z, z)
        with blas_threads(self.belief.y.shape[0]):
            features = [view.features(z) for view in self._views]
            deviations = self._deviations(features)
            plain, full = self._covariances(features, features, deviations, deviations, residual)
        noise = self.noise * np.eye(X.shape[0])
        factors = [(cholesky(covariance + noise), False) for covariance in (full, plain)]
        return replace(self, pending=_PendingPoints(X, z, features, deviations, *factors))

    def reduced(self, X: Inputs) -> ReducedPoints:
        """``X (M, D)``, in the user's units, in reduced coordinates."""
        z, rho = self._coordinates(X)
        return ReducedPoints(z, rho, self.cross(X, z))

    def cross(self, X: Inputs, z: Array) -> Array:
        """Inner products of ``X`` with the pending points, beyond what the data span, ``(M, B)``."""
        if self.pending is None:
            return np.zeros((z.shape[0], 0))
        return self._residual(X, self.pending.X, z, self.pending.z)

    def moments(self, points: ReducedPoints) -> Moments:
        """Mean and both variances of ``f`` at the points; in blocks, so memory stays bounded."""
        if self.pending is None:
            return self.belief.reduced_moments(points.z, points.rho, self.spread)
        n, p = self.belief.y.shape[0], self.belief.components[0].gp.theta.shape[0]
        step = moments.block_size(n, p)
        with blas_threads(n):
            parts = [
                self._conditional(ReducedPoints(*(part[start : start + step] for part in points))).moments
                for start in range(0, points.z.shape[0], step)
            ]
        return Moments(*(np.concatenate(p) for p in zip(*parts, strict=True)))

    def pull_back(self, points: ReducedPoints, slopes: Slopes) -> tuple[Moments, Adjoint]:
        """Moments at few points, and the derivatives in the points of a function of them whose slopes are given."""
        there = self._conditional(points)
        of_variance, of_plain = slopes(there.moments)
        parts = [
            view.pull_back(
                there.features[i],
                points,
                self._component_adjoint(i, there, of_variance, of_plain),
                None if self.pending is None else self.pending.features[i],
            )
            for i, view in enumerate(self._views)
        ]
        z, rho, cross = (sum(terms) for terms in zip(*parts, strict=True))
        if self._by_distance:  # the last coordinate is √rho: its derivative belongs to rho
            z, rho = z[:, :-1], rho + 0.5 * z[:, -1] / np.maximum(points.z[:, -1], _TINY)
        return there.moments, Adjoint(z, rho, cross)

    def gradient(self, X: Array, adjoint: Adjoint) -> Array:
        """An adjoint as the gradient in ``X``, ``(M, D)``, in the user's units."""
        space = self.belief.space
        scaling = space.scaling
        if space.rows is None:
            return adjoint.z / scaling.half_width
        z, _ = space.project(X)
        inner = adjoint.z - 2.0 * adjoint.rho[:, None] * z
        total = 2.0 * adjoint.rho[:, None] * scaling.scaled(X)
        if self.pending is not None:
            inner -= adjoint.cross @ self.pending.z[:, : space.r]
            total += adjoint.cross @ scaling.scaled(self.pending.X)
        result: Array = (total + space.lift(inner)) / scaling.half_width
        return result

    @property
    def _views(self) -> list[ComponentView]:
        return [ComponentView(c, self.spread) for c in self.belief.components]

    @property
    def _weights(self) -> Array:
        return np.array([c.weight for c in self.belief.components])

    @property
    def _by_distance(self) -> bool:
        return self.belief.model.reduction == "distance"

    def _coordinates(self, X: Inputs) -> tuple[Array, Array]:
        z, rho = self.belief.reduced_coordinates(X)
        if self._by_distance:  # a distance is not differentiable at exactly 0
            z[:, -1] = np.maximum(z[:, -1], _TINY)
        return z, rho

    def _residual(self, X: Inputs, Y: Array, zx: Array, zy: Array) -> Array:
        space = self.belief.space
        if space.rows is None:
            return np.zeros((zx.shape[0], zy.shape[0]))
        return space.scaling.inner(X, Y) - zx[:, : space.r] @ zy[:, : space.r].T

    def _deviations(self, features: list[Features]) -> Array:
        return moments.deviations(self._weights, np.stack([f.mean for f in features]))

    def _covariances(
        self, x: list[Features], b: list[Features], of_x: Array, of_b: Array, residual: Array
    ) -> tuple[Array, Array]:
        """``C`` and ``C̃`` of the mixture between two sets of points, ``(M, B)`` each."""
        parts = [view.covariances(fx, fb, residual) for view, fx, fb in zip(self._views, x, b, strict=True)]
        plain, full = (np.einsum("c,cmb->mb", self._weights, np.stack(p)) for p in zip(*parts, strict=True))
        return plain, full + np.einsum("c,cm,cb->mb", self._weights, of_x, of_b)

    def _conditional(self, points: ReducedPoints) -> _Conditional:
        features = [view.features(points.z) for view in self._views]
        deviations = self._deviations(features)
        parts = [
            Moments(f.mean, view.variance(f, points.rho), f.V) for view, f in zip(self._views, features, strict=True)
        ]
        mean, variance, plain = mixed = moments.mix(self._weights, parts)
        if self.pending is None:
            none = np.zeros((points.z.shape[0], 0))
            return _Conditional(mixed, features, deviations, none, none)
        C, full = self._covariances(features, self.pending.features, deviations, self.pending.deviations, points.cross)
        of_full, of_plain = cho_solve(self.pending.full_factor, full.T).T, cho_solve(self.pending.plain_factor, C.T).T
        floor = moments.RELATIVE_VARIANCE_FLOOR * max(c.gp.output_variance for c in self.belief.components)
        variance = np.maximum(variance - np.einsum("mb,mb->m", full, of_full), floor)
        plain = np.maximum(plain - np.einsum("mb,mb->m", C, of_plain), floor)
        return _Conditional(Moments(mean, variance, plain), features, deviations, of_full, of_plain)

    def _component_adjoint(self, i: int, there: _Conditional, of_variance: Array, of_plain: Array) -> MomentAdjoint:
        """Derivatives of the score in one component's mean, variances and covariances with the pending points."""
        weight = self.belief.components[i].weight
        full = -2.0 * weight * of_variance[:, None] * there.full
        plain = -2.0 * weight * of_plain[:, None] * there.plain
        mean = 2.0 * weight * of_variance * there.deviations[i]
        if self.pending is not None:
            mean = mean + full @ self.pending.deviations[i]
        return MomentAdjoint(mean, weight * of_variance, weight * of_plain, full, plain)
