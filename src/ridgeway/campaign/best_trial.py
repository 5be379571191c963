"""The best trial of a campaign so far, in its own names and units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ridgeway.campaign.trial import Trial

if TYPE_CHECKING:
    from ridgeway.active.best import Best


@dataclass(frozen=True, eq=False)
class BestTrial:
    """The trial with the best predicted value, and the one with the best outcome.

    Attributes
    ----------
    trial
        The observed trial whose predicted value is best.
    value, interval
        What the output is predicted to be there, without noise, and the central 95 % of that prediction.
    observed
        The trial with the best outcome: with noise it may be another, by luck.
    """

    trial: Trial
    value: float
    interval: tuple[float, float]
    observed: Trial

    @classmethod
    def of(cls, best: Best, observed: Sequence[Trial]) -> BestTrial:
        """From a learner's answer; ``observed`` are the trials in the order of its observations."""
        return cls(observed[best.index], best.value, best.interval, observed[best.observed_index])
