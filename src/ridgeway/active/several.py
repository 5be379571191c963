"""Several functions of the same inputs: what an experiment teaches about all of them, or about one after the other.

Each function has its own belief, and given these the outcomes of one experiment are independent. So the information in
all of them together is the sum of the information in each, in nats; weights say how much each function counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway.active.outlook import Outlook
from ridgeway.types import Array, Inputs

if TYPE_CHECKING:
    from ridgeway.active.pool_coordinates import PoolView
    from ridgeway.belief.belief import Belief


@dataclass(frozen=True)
class SummedOutlook:
    """The outlooks of several functions: a point's score is the weighted sum of its scores for each.

    It searches boxes and pools like any other outlook: scores, gradients and pending points add up.
    """

    outlooks: tuple[Outlook, ...]
    weights: tuple[float, ...]

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """The beliefs about all functions."""
        return tuple(belief for outlook in self.outlooks for belief in outlook.beliefs)

    @cached_property
    def known_inputs(self) -> Array:
        """Inputs of the observations and pending points of any function, ``(n, D)``."""
        return np.unique(np.vstack([outlook.known_inputs for outlook in self.outlooks]), axis=0)

    @property
    def promising(self) -> Array:
        """Points near which a search should begin, ``(k, D)``."""
        return np.vstack([outlook.promising for outlook in self.outlooks])

    def given(self, X: Array) -> SummedOutlook:
        """With the points ``X (n, D)`` pending as well: an experiment there would measure every function."""
        return replace(self, outlooks=tuple(outlook.given(X) for outlook in self.outlooks))

    def score(self, acquisition: Any, X: Inputs) -> Array:
        """Scores ``(n,)`` of points ``X (n, D)``."""
        return self._sum([outlook.score(acquisition, X) for outlook in self.outlooks])

    def score_with_gradient(self, acquisition: Any, X: Array) -> tuple[Array, Array]:
        """Scores ``(n,)`` and gradients ``(n, D)`` of a few points."""
        parts = [outlook.score_with_gradient(acquisition, X) for outlook in self.outlooks]
        return self._sum([scores for scores, _ in parts]), self._sum([slopes for _, slopes in parts])

    def pool_scores(self, acquisition: Any, view: PoolView) -> Array:
        """Scores of every point of a pool, ``(M,)``."""
        return self._sum([outlook.pool_scores(acquisition, view) for outlook in self.outlooks])

    def _sum(self, parts: list[Array]) -> Array:
        return np.asarray(np.tensordot(self.weights, np.stack(parts), axes=1))


def summed(outlooks: list[Outlook], weights: list[float]) -> Outlook:
    """The outlook of several functions; that of one is its own, whatever its weight."""
    return outlooks[0] if len(outlooks) == 1 else SummedOutlook(tuple(outlooks), tuple(weights))


def turn(number: int, weights: tuple[float, ...]) -> int:
    """Whose turn it is, counted from 0: each gets turns in proportion to its weight, spread as evenly as they can be.

    >>> [turn(i, (1.0, 1.0)) for i in range(4)]
    [0, 1, 0, 1]
    >>> [turn(i, (2.0, 1.0)) for i in range(6)]
    [0, 1, 0, 0, 1, 0]
    """
    shares = np.asarray(weights) / sum(weights)
    taken = np.zeros(len(weights))
    for i in range(number + 1):
        due = np.where(shares > 0.0, shares * (i + 1) - taken, -np.inf)
        found = int(np.argmax(np.round(due, 9)))  # rounding must not decide between those that are equally due
        taken[found] += 1
    return found
