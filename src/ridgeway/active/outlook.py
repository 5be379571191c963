"""The protocol of an outlook: what is expected of ``f`` at new points, given what is known and what is pending.

:class:`~ridgeway.active.pending.PendingBelief` serves acquisitions that learn, from variances alone;
:class:`~ridgeway.active.prospect.Prospect` and :class:`~ridgeway.active.thompson.DrawnOutlook` serve those that look
for the best point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ridgeway.types import Array, Inputs

if TYPE_CHECKING:
    from ridgeway.active.pool_coordinates import PoolView
    from ridgeway.belief.belief import Belief


class Outlook(Protocol):
    """What a search for the best next point needs."""

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """What it rests on."""

    @property
    def known_inputs(self) -> Array:
        """Inputs of all observations and pending points, ``(n, D)``: they are not asked for again."""

    @property
    def promising(self) -> Array:
        """Points near which a search should begin, ``(k, D)``, best first."""

    def given(self, X: Array) -> Outlook:
        """With the points ``X (n, D)`` pending as well."""

    def score(self, acquisition: Any, X: Inputs) -> Array:
        """Scores ``(n,)`` of points ``X (n, D)``."""

    def score_with_gradient(self, acquisition: Any, X: Array) -> tuple[Array, Array]:
        """Scores ``(n,)`` and gradients ``(n, D)`` of a few points."""

    def pool_scores(self, acquisition: Any, view: PoolView) -> Array:
        """Scores of every point of a pool, ``(M,)``."""
