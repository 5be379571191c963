"""Joint moments of ``f`` at several points, and the exact derivatives of any function of them.

With ``C`` the covariance of ``f`` at a mode of the hyperparameters, ``m`` its mean and ``F Fᵀ`` the covariance of the
hyperparameters, the points of one set have the covariance

    C̃(x, x') = 4/3 C(x, x') + ∂m F · ∂m' F + ∂V F · ∂V' F / (3 √(V V'))

(MGP; the diagonal is paper eq. 19). Several modes are mixed by their weights, and how far their means are apart adds to
the covariance. NumPy alone: what makes tensors of it is :mod:`ridgeway.botorch.embedding_gp`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ridgeway.active.anchors import Anchors
from ridgeway.active.component_view import Adjoint, ComponentView, Features, MomentAdjoint, ReducedPoints, Spread
from ridgeway.belief.belief import Belief
from ridgeway.blas import blas_threads
from ridgeway.gp import moments
from ridgeway.inference.mixture import Component
from ridgeway.types import Array

#: Points whose covariances are computed at a time. Small sets of points share one product, of which the blocks on the
#: diagonal are kept.
_AT_ONCE = 256


class JointMoments(NamedTuple):
    """Moments of ``f`` at ``S`` sets of ``q`` points, in the user's units."""

    mean: Array  # (S, q)
    covariance: Array  # (S, q, q) with the hyperparameters integrated out
    plain: Array  # (S, q, q) the covariance at the modes, averaged by their weights


class _Block(NamedTuple):
    """Some sets of points, and what derivatives of their moments need."""

    rows: slice  # of the sets
    anchors: Anchors  # the points, which are seen in relation to each other
    points: ReducedPoints
    features: list[Features]  # by component
    deviations: Array  # (components, s q) of the components' means from the mixture's


@dataclass(frozen=True)
class Evaluated:
    """Moments at some sets of points; they can be differentiated."""

    joint: Joint
    moments: JointMoments
    blocks: tuple[_Block, ...]

    def pull_back(self, mean: Array, covariance: Array, plain: Array) -> Array:
        """Derivatives in the points ``(S, q, D)`` of a function with these derivatives in the three moments."""
        q = mean.shape[1]
        result = np.empty((*mean.shape, self.joint.belief.space.scaling.D))
        with blas_threads(self.joint.belief.y.shape[0]):
            for block in self.blocks:
                parts = (_spread_out(_symmetric(part[block.rows]), q) for part in (covariance, plain))
                gradient = self.joint.block_gradient(block, mean[block.rows].ravel(), *parts)
                result[block.rows] = gradient.reshape(-1, q, result.shape[2])
        return result


@dataclass(frozen=True)
class Joint:
    """The joint distribution of ``f`` at any points, as a belief has it."""

    belief: Belief
    marginal: Spread = "mgp"

    def evaluate(self, X: Array, keep: bool = False) -> Evaluated:
        """Moments at ``X (S, q, D)``; ``keep`` what their derivatives need."""
        n_sets, q, _ = X.shape
        found = JointMoments(np.empty((n_sets, q)), np.empty((n_sets, q, q)), np.empty((n_sets, q, q)))
        kept = []
        with blas_threads(self.belief.y.shape[0]):
            for rows in _runs(n_sets, q):
                block = self._block(rows, X[rows].reshape(-1, X.shape[2]))
                for whole, part in zip(found, self._moments(block, q), strict=True):
                    whole[rows] = part
                if keep:
                    kept.append(block)
        scale = self.belief.output.scale
        user = JointMoments(self.belief.output.mean(found.mean), scale**2 * found.covariance, scale**2 * found.plain)
        return Evaluated(self, user, tuple(kept))

    def block_gradient(self, block: _Block, mean: Array, full: Array, plain: Array) -> Array:
        """Gradient in a block's points, ``(s q, D)``; adjoints of the covariances are ``(s q, s q)``, symmetric."""
        scale = self.belief.output.scale
        mean, full, plain = scale * mean, scale**2 * full, scale**2 * plain
        parts = []
        for weight, view, features, away in zip(
            self._weights, self._views, block.features, block.deviations, strict=True
        ):
            # A covariance changes with both of its points, and the sum has each pair twice.
            of_moments = MomentAdjoint(
                mean=weight * (mean + 2.0 * full @ away),
                variance=weight * np.diagonal(full),
                plain=weight * np.diagonal(plain),
                full_cross=2.0 * weight * _off_diagonal(full),
                plain_cross=2.0 * weight * _off_diagonal(plain),
            )
            parts.append(view.pull_back(features, block.points, of_moments, features))
        adjoint = Adjoint(*(sum(terms) for terms in zip(*parts, strict=True)))
        return block.anchors.gradient(block.anchors.X, block.points, adjoint)

    def _block(self, rows: slice, X: Array) -> _Block:
        anchors = Anchors.of(self.belief, X)
        points = anchors.reduced(X)
        features = [view.features(points.z) for view in self._views]
        away = moments.deviations(self._weights, np.stack([f.mean for f in features]))
        return _Block(rows, anchors, points, features, away)

    def _moments(self, block: _Block, q: int) -> JointMoments:
        mean = self._weights @ np.stack([f.mean for f in block.features])
        full, plain = np.zeros((2, mean.shape[0] // q, q, q))
        for weight, view, f, away in zip(self._weights, self._views, block.features, block.deviations, strict=True):
            C, marginal = view.covariances(f, f, block.points.cross)
            np.fill_diagonal(C, f.V)
            np.fill_diagonal(marginal, view.variance(f, block.points.rho))
            plain += weight * _blocks(C, q)
            full += weight * _blocks(marginal + np.outer(away, away), q)
        return JointMoments(mean.reshape(-1, q), full, plain)

    @property
    def _components(self) -> tuple[Component, ...]:
        # Hyperparameters that are taken as known are those of the best mode.
        return self.belief.components[:1] if self.marginal == "map" else self.belief.components

    @property
    def _views(self) -> list[ComponentView]:
        return [ComponentView(component, self.marginal) for component in self._components]

    @property
    def _weights(self) -> Array:
        weights = np.array([component.weight for component in self._components])
        return weights / weights.sum()


def _runs(n_sets: int, q: int) -> Iterator[slice]:
    step = max(1, _AT_ONCE // max(q, 1))
    for start in range(0, n_sets, step):
        yield slice(start, min(start + step, n_sets))


def _blocks(matrix: Array, q: int) -> Array:
    """The blocks on the diagonal, ``(s, q, q)``."""
    s = matrix.shape[0] // q
    result: Array = matrix.reshape(s, q, s, q)[np.arange(s), :, np.arange(s)]
    return result


def _spread_out(blocks: Array, q: int) -> Array:
    """A matrix ``(s q, s q)`` with these blocks on its diagonal."""
    s = blocks.shape[0]
    result = np.zeros((s, q, s, q))
    result[np.arange(s), :, np.arange(s)] = blocks
    return result.reshape(s * q, s * q)


def _symmetric(matrices: Array) -> Array:
    return 0.5 * (matrices + matrices.swapaxes(1, 2))


def _off_diagonal(matrix: Array) -> Array:
    return matrix - np.diag(np.diagonal(matrix))
