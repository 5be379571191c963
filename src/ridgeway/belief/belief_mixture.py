"""``BeliefMixture``: several beliefs about the same data, each of another model, weighed by their evidence.

With few observations nobody knows whether a function varies along few directions, along few inputs, or along all of
them. Each answer is a model of its own, and the data decide how much each counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from ridgeway.belief.belief import Belief, Prediction
from ridgeway.gp.moments import Marginal, Moments, mix
from ridgeway.inference.mixture import tempered
from ridgeway.inference.settings import DEFAULT
from ridgeway.types import Array

_HALVINGS = 60  # of the bracket of a quantile


@dataclass(frozen=True)
class BeliefMixture:
    """Beliefs about the same data with weights that sum to 1; the first is the one that was asked for."""

    beliefs: tuple[Belief, ...]
    weights: Array

    @classmethod
    def by_evidence(
        cls, beliefs: Sequence[Belief], temperature: float = DEFAULT.mixture.temperature, least_weight: float = 0.0
    ) -> BeliefMixture:
        """Weighed as the modes of one belief are: Laplace's evidences are wrong by several nats, hence the temperature.

        Those with less than ``least_weight`` are left out.
        """
        weights = tempered(np.array([belief.log_evidence for belief in beliefs]), temperature)
        kept = weights > least_weight
        some = tuple(belief for belief, keep in zip(beliefs, kept, strict=True) if keep)
        return cls(some, weights[kept] / weights[kept].sum())

    def drawn(self, rng: np.random.Generator) -> BeliefMixture:
        """One of the beliefs alone, drawn by its weight."""
        index = int(rng.choice(len(self.beliefs), p=self.weights))
        return BeliefMixture((self.beliefs[index],), np.ones(1))

    def predict(self, X: Any) -> Prediction:
        """Mean and variance of ``f`` at ``X (n, D)`` over all beliefs, in the user's units."""
        parts = [Moments(*belief.predict(X, _kind(belief))) for belief in self.beliefs]
        return Prediction(*mix(self.weights, parts))

    def quantiles(self, X: Any, probabilities: Sequence[float]) -> Array:
        """Quantiles of ``f`` at ``X (n, D)``, ``(n, len(probabilities))``: of the mixture of all modes' Gaussians."""
        weights, means, stds = self.gaussians(X)
        lower, upper = ((means + side * 40.0 * stds) for side in (-1.0, 1.0))
        result = np.empty((means.shape[1], len(probabilities)))
        for j, probability in enumerate(probabilities):
            low, high = lower.min(axis=0), upper.max(axis=0)
            for _ in range(_HALVINGS):
                middle = 0.5 * (low + high)
                below = weights @ ndtr((middle - means) / stds) < probability
                low, high = np.where(below, middle, low), np.where(below, high, middle)
            result[:, j] = 0.5 * (low + high)
        return result

    def gaussians(self, X: Any) -> tuple[Array, Array, Array]:
        """Weights ``(c,)``, means and standard deviations ``(c, n)`` of every mode of every belief."""
        weights, means, stds = [], [], []
        for share, belief in zip(self.weights, self.beliefs, strict=True):
            z, rho = belief.reduced_coordinates(belief.points(X))
            for part, component in zip(belief.modes_moments(z, rho, _kind(belief)), belief.components, strict=True):
                weights.append(share * component.weight)
                means.append(belief.output.mean(part.mean))
                stds.append(np.sqrt(belief.output.variance(part.variance)))
        return np.array(weights), np.stack(means), np.stack(stds)


def _kind(belief: Belief) -> Marginal:
    return belief.marginal if belief.marginal in ("map", "bbq") else "mgp"
