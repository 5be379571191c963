"""Forecast: how large the error of the predictions is now, and how it falls with more experiments.

The error is the root mean square over the box, or over the points of a pool, of what the belief does not know about
the function itself; noise is not part of it. The variance of a Gaussian process given further observations does not
depend on their outcomes, so the belief says what it expects to know after them: points that fill the space are taken
as pending (:class:`~ridgeway.active.pending.PendingBelief`). That is corrected by how large errors have really been:
each outcome was predicted by the fit before it. How far forecasts are off was measured in simulated campaigns
(benchmarks/stopping.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.active.learner import ActiveLearner
    from ridgeway.belief.belief import Belief

Ahead = tuple[int, int, float]  # observations of a fit; outcomes after it, and the sum of their squared z-scores


@dataclass(frozen=True)
class ForecastSettings:
    """How a forecast is made.

    Attributes
    ----------
    points
        Points at which variances are averaged.
    most
        Further experiments that are looked at, at most.
    times
        They are also at most so many times those made so far.
    faster
        Power of the fall that the belief expects of itself: errors fall faster, as hyperparameters are learned too.
    level
        The typical ratio of the true error to the belief's own.
    doubt, doubt_ahead
        Standard deviation of the logarithm of a forecast: of now, and for each unit of the logarithm of the number of
        experiments ahead.
    trust
        So many outcomes, as large as expected, are added to those that correct the level.
    recent
        The last outcomes that correct the level.
    """

    points: int = 256
    most: int = 512
    times: float = 8.0
    faster: float = 1.4
    level: float = 0.8
    doubt: float = 0.25
    doubt_ahead: float = 0.25
    trust: float = 40.0
    recent: int = 24


DEFAULT = ForecastSettings()
_INTERVAL = 1.2816  # standard deviations on either side of the central 80 %


@dataclass(frozen=True)
class Forecast:
    """The expected error after further experiments, in the output's units."""

    observations: int
    more: Array  # (k,) numbers of further experiments, from 0 on
    errors: Array  # (k,) after so many, falling
    settings: ForecastSettings = DEFAULT

    @property
    def now(self) -> float:
        """The expected error now."""
        return float(self.errors[0])

    def after(self, n: float) -> float:
        """The expected error after ``n`` more experiments."""
        return float(np.exp(np.interp(self._log(n), self._log(self.more), np.log(self.errors))))

    def interval(self, n: float = 0.0) -> tuple[float, float]:
        """The central 80 % of the error after ``n`` more."""
        error, doubt = self.after(n), math.exp(_INTERVAL * self._doubt(n))
        return error / doubt, error * doubt

    def needed(self, target: float) -> tuple[float, float, float]:
        """How many more experiments reach ``target``: fewest, about, most of a central 80 %; infinite if none do."""
        doubts = np.array([self._doubt(n) for n in self.more.tolist()])
        low, mid, high = (self._crossing(np.log(self.errors) + k * _INTERVAL * doubts, target) for k in (-1, 0, 1))
        return low, mid, high

    @property
    def is_flat(self) -> bool:
        """Whether a quarter more experiments would lower the error by less than a twentieth."""
        return self.after(max(5.0, 0.25 * self.observations)) > 0.95 * self.now

    def _doubt(self, n: float) -> float:
        s = self.settings
        return math.hypot(s.doubt, s.doubt_ahead * float(self._log(n) - self._log(0.0)))

    def _log(self, n: Array | float) -> Array:
        return np.asarray(np.log(self.observations + np.asarray(n, dtype=float)))

    def _crossing(self, logs: Array, target: float) -> float:
        """Where a curve of log errors first falls to ``target``."""
        below = np.flatnonzero(logs <= math.log(target))
        if not below.size:
            return math.inf
        i = int(below[0])
        if i == 0:
            return 0.0
        at = self._log(self.more)
        share = (logs[i - 1] - math.log(target)) / (logs[i - 1] - logs[i])
        return float(np.exp(at[i - 1] + share * (at[i] - at[i - 1])) - self.observations)


def forecast(
    learner: ActiveLearner, belief: Belief, ahead: Sequence[Ahead] = (), settings: ForecastSettings = DEFAULT
) -> Forecast:
    """The forecast of a learner's belief; ``ahead`` says how well earlier fits predicted what came next."""
    n = belief.y.shape[0]
    more, own = _own_errors(learner, belief, settings)
    errors = own[0] * (own / own[0]) ** settings.faster
    return Forecast(n, more, np.minimum.accumulate(level(ahead, settings) * errors), settings)


def level(ahead: Sequence[Ahead], settings: ForecastSettings = DEFAULT) -> float:
    """The expected ratio of the true error to the belief's own, given how well fits predicted what came next."""
    return settings.level * _correction(ahead, settings)


def own_error(learner: ActiveLearner, belief: Belief, settings: ForecastSettings = DEFAULT) -> float:
    """The belief's own error: the root of the mean variance of the function over the space, in the output's units."""
    return float(np.sqrt(np.mean(belief.predict(_places(learner, 0, settings)[0]).variance)))


def steps_ahead(belief: Belief, X: Array, y: Array, noise: Array) -> Ahead:
    """How far outcomes ``y (n,)`` at ``X`` with known ``noise`` were from what an earlier ``belief`` predicts for them.

    An outcome counts for at most three standard deviations: a single outlier says little about all others.
    """
    predicted = belief.predict(X)
    z = (y - predicted.mean) ** 2 / (predicted.variance + belief.noise_variance + noise)
    return belief.y.shape[0], len(y), float(np.minimum(z, 9.0).sum())


def _own_errors(learner: ActiveLearner, belief: Belief, settings: ForecastSettings) -> tuple[Array, Array]:
    """Numbers of further experiments, and the belief's own error after each."""
    from ridgeway.active import acquisition

    n = belief.y.shape[0]
    tested, pending = _places(learner, min(settings.most, int(settings.times * n)), settings)
    counts = np.unique(np.round(np.geomspace(1, max(len(pending), 1), 14)).astype(int))
    outlook = acquisition.outlook_of(belief, learner.record.noise_to_come)
    outlooks = [outlook, *(outlook.given(pending[:m]) for m in counts.tolist() if m <= len(pending))]
    means = [float(np.mean(given.moments(given.reduced(tested)).variance)) for given in outlooks]
    more = np.concatenate([[0], counts[counts <= len(pending)]]).astype(float)
    return more, belief.output.scale * np.sqrt(np.maximum(means, 1e-300))


def _places(learner: ActiveLearner, most: int, settings: ForecastSettings) -> tuple[Array, Array]:
    """Points at which errors are averaged, and points where experiments might be made."""
    from ridgeway.spaces.pool import Pool

    rng, space = np.random.default_rng([learner.random_state, 6]), learner.space
    if isinstance(space, Pool):
        taken = space.taken(learner.record.seen)
        tested = space.rows(space.uniform(min(settings.points, len(space)), rng))
        return tested, space.rows(space.uniform(min(most, len(space) - len(taken)), rng, taken))
    return space.uniform(settings.points, rng), space.filling(most, rng)


def _correction(ahead: Sequence[Ahead], settings: ForecastSettings) -> float:
    """By how much errors one step ahead were larger than expected."""
    count, squares = 0, 0.0
    for _, n, z in reversed(ahead):
        if count >= settings.recent:
            break
        count, squares = count + n, squares + z
    return math.sqrt((squares + settings.trust) / (count + settings.trust))
