"""``PointOutlook``: points scored one by one by an acquisition that knows how, such as one of BoTorch's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway.active.pending import PendingBelief
from ridgeway.active.pool_coordinates import BLOCK_ROWS, PoolView
from ridgeway.types import Array, Inputs

if TYPE_CHECKING:
    from ridgeway.active.acquisition import PointAcquisition
    from ridgeway.belief.belief import Belief


@dataclass(frozen=True)
class PointOutlook:
    """What ``acquisition`` makes of a belief and the points that are pending."""

    acquisition: PointAcquisition
    pending: PendingBelief

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """The belief alone."""
        return self.pending.beliefs

    @property
    def known_inputs(self) -> Array:
        """Inputs of all observations and pending points, ``(n, D)``."""
        return self.pending.known_inputs

    @property
    def promising(self) -> Array:
        """Points near which a search should begin: none in particular."""
        return self.pending.promising

    def given(self, X: Array) -> PointOutlook:
        """With the points ``X (n, D)`` pending as well."""
        return replace(self, pending=self.pending.given(X))

    def score(self, acquisition: Any, X: Inputs) -> Array:
        """Scores ``(n,)`` of points ``X (n, D)``."""
        return self.acquisition.scores(self.pending, np.asarray(X, dtype=float))

    def score_with_gradient(self, acquisition: Any, X: Array) -> tuple[Array, Array]:
        """Scores ``(n,)`` and gradients ``(n, D)`` of a few points."""
        return self.acquisition.scores_with_gradient(self.pending, X)

    def pool_scores(self, acquisition: Any, view: PoolView) -> Array:
        """Scores of every point of a pool, ``(M,)``."""
        return np.concatenate([self.score(acquisition, points) for _, points in view.pool.blocks(BLOCK_ROWS)])
