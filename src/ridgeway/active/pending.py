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

from ridgeway.active.anchors import Anchors
from ridgeway.active.component_view import Adjoint, ComponentView, Features, MomentAdjoint, ReducedPoints, Spread
from ridgeway.blas import blas_threads
from ridgeway.gp import moments
from ridgeway.gp.moments import Moments
from ridgeway.gp.rowspace import RowSpace, reduced
from ridgeway.types import Array, Inputs

if TYPE_CHECKING:
    from ridgeway.active.acquisition import Acquisition
    from ridgeway.active.pool_coordinates import PoolView
    from ridgeway.belief.belief import Belief

#: Derivatives of a score in the marginal variance and in the variance at the mode, ``(M,)`` each.
Slopes = Callable[[Moments], tuple[Array, Array]]


class _PendingPoints(NamedTuple):
    """Pending points, and the factors that condition on them."""

    anchors: Anchors
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
        return 0 if self.pending is None else self.pending.anchors.n

    @property
    def known_inputs(self) -> Array:
        """Inputs of all observations and pending points, ``(n + B, D)``."""
        return np.vstack([self.belief.X, self._anchors.X])

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """The belief alone."""
        return (self.belief,)

    @property
    def promising(self) -> Array:
        """Points near which a search should begin: none in particular."""
        return np.zeros((0, self.belief.space.scaling.D))

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
        anchors = Anchors.of(self.belief, np.vstack([self._anchors.X, X]))
        with blas_threads(self.belief.y.shape[0]):
            features = [view.features(anchors.z) for view in self._views]
            deviations = self._deviations(features)
            plain, full = self._covariances(features, features, deviations, deviations, anchors.gram)
        noise = self.noise * np.eye(anchors.n)
        factors = [(cholesky(covariance + noise), False) for covariance in (full, plain)]
        return replace(self, pending=_PendingPoints(anchors, features, deviations, *factors))

    def reduced(self, X: Inputs) -> ReducedPoints:
        """``X (M, D)``, in the user's units, in reduced coordinates."""
        return self._anchors.reduced(X)

    def cross(self, X: Inputs, z: Array) -> Array:
        """Inner products of ``X`` with the pending points, beyond what the data span, ``(M, B)``."""
        return self._anchors.cross(X, z)

    def moments(self, points: ReducedPoints) -> Moments:
        """Mean and both variances of ``f`` at the points; in blocks, so memory stays bounded."""
        if self.pending is None:
            return self.belief.reduced_moments(points.z, points.rho, self.spread)
        n, gp = self.belief.y.shape[0], self.belief.components[0].gp
        step = moments.block_size(gp.width, gp.theta.shape[0])
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
        return there.moments, Adjoint(*(sum(terms) for terms in zip(*parts, strict=True)))

    def gradient(self, X: Array, points: ReducedPoints, adjoint: Adjoint) -> Array:
        """An adjoint of ``points`` as the gradient in ``X``, ``(M, D)``, in the user's units."""
        return self._anchors.gradient(X, points, adjoint)

    def score(self, acquisition: Acquisition, X: Inputs) -> Array:
        """Scores ``(n,)`` of points."""
        with blas_threads(self.belief.y.shape[0]):
            return acquisition.value(self.moments(self.reduced(X)), self.noise)

    @property
    def coordinates(self) -> RowSpace | None:
        """The space whose coordinates of a point are enough for its score; ``None`` where the point itself is needed.

        A pending point has a part beyond what the data span, and so has a new one: only the points tell how they lie.
        """
        space = self.belief.space
        return space if space.rows is None or self.n_pending == 0 else None

    def score_coordinates(self, acquisition: Acquisition, z: Array, rho: Array) -> Array:
        """Scores ``(n,)`` of points known by their :attr:`coordinates` ``z (n, r)`` and ``rho (n,)`` alone."""
        points = ReducedPoints(*reduced(self.belief.model, z, rho), np.zeros((z.shape[0], self.n_pending)))
        with blas_threads(self.belief.y.shape[0]):
            return acquisition.value(self.moments(points), self.noise)

    def score_with_gradient(self, acquisition: Acquisition, X: Array) -> tuple[Array, Array]:
        """Scores ``(n,)`` and gradients ``(n, D)`` of a few points."""
        with blas_threads(self.belief.y.shape[0]):
            points = self.reduced(X)
            found, adjoint = self.pull_back(points, lambda m: acquisition.slopes(m, self.noise))
            return acquisition.value(found, self.noise), self.gradient(X, points, adjoint)

    def pool_scores(self, acquisition: Acquisition, view: PoolView) -> Array:
        """Scores of every point of a pool, ``(M,)``."""
        scores = np.empty(len(view.pool))
        for rows, z, rho in view.blocks(self.belief.space):
            cross = np.zeros((z.shape[0], 0))
            if self.n_pending:
                cross = self.cross(np.asarray(view.pool.points[rows], dtype=float), z)
            points = ReducedPoints(*reduced(self.belief.model, z, rho), cross)
            scores[rows] = acquisition.value(self.moments(points), self.noise)
        return scores

    @property
    def _views(self) -> list[ComponentView]:
        return [ComponentView(c, self.spread) for c in self.belief.components]

    @property
    def _weights(self) -> Array:
        return np.array([c.weight for c in self.belief.components])

    @property
    def _anchors(self) -> Anchors:
        if self.pending is not None:
            return self.pending.anchors
        return Anchors.of(self.belief, np.zeros((0, self.belief.space.scaling.D)))

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
