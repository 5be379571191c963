"""``Best``: the best point of an optimisation so far, with what is predicted there and what was observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ridgeway.active.alternatives import Averaged
from ridgeway.active.history import Record
from ridgeway.belief.belief_mixture import BeliefMixture
from ridgeway.types import Array

_PROBABILITIES = (0.025, 0.5, 0.975)
_EQUAL = 0.05  # of the outcomes' spread: what predictions of a function without noise may be off by


@dataclass(frozen=True, eq=False)
class Best:
    """The observed point with the best predicted value, and the one with the best outcome.

    Where predicted values are equal within the noise, and within 5 % of the spread, the outcome decides.

    Attributes
    ----------
    x
        The point, ``(D,)``.
    index
        Its place among the observations.
    value
        What ``f`` is predicted to be there, without noise.
    interval
        The central 95 % of that prediction.
    observed_x, observed_index, observed_value
        The point with the best outcome, its place and that outcome: with noise it may be another, by luck.
    """

    x: Array
    index: int
    value: float
    interval: tuple[float, float]
    observed_x: Array
    observed_index: int
    observed_value: float


def best_of(averaged: Averaged, record: Record, sign: float, eligible: Any = None) -> Best:
    """The best of the observations of ``record`` that are ``eligible (n,)``; ``None``: all.

    ``sign`` is 1 where the least is best and -1 where the largest is.
    """
    mixture, warp = averaged.mixture, averaged.warp
    mean, outcomes = (_only(sign * values, eligible) for values in (mixture.predict(record.X).mean, record.y))
    observed = int(np.argmin(outcomes))
    index = int(np.argmin(np.where(mean <= mean.min() + _equal(mixture), outcomes, np.inf)))
    # Quantiles and medians go through the warp unharmed; a mean would not, where the warp bends.
    low, middle, high = warp.inverse(mixture.quantiles(record.X[index : index + 1], _PROBABILITIES)[0])
    return Best(
        x=record.X[index].copy(),
        index=index,
        value=float(middle),
        interval=(float(low), float(high)),
        observed_x=record.X[observed].copy(),
        observed_index=observed,
        observed_value=float(record.y[observed]),
    )


def _equal(mixture: BeliefMixture) -> float:
    """By how much predicted values must differ to count as different."""
    noise = float(mixture.weights @ [np.sqrt(belief.noise_variance) for belief in mixture.beliefs])
    return min(noise, _EQUAL * float(mixture.beliefs[0].y.std()))


def _only(values: Array, eligible: Any) -> Array:
    return values if eligible is None else np.where(eligible, values, np.inf)
