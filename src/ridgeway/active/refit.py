"""How a learner's belief is brought up to date: by following known modes, or by a new search for modes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ridgeway.active.history import Record
from ridgeway.belief.belief import Belief
from ridgeway.belief.fit import fit
from ridgeway.belief.fit_options import search_settings
from ridgeway.belief.fit_task import full_search
from ridgeway.errors import RidgewayWarning
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.kernels import Kernel
from ridgeway.gp.moments import Marginal
from ridgeway.gp.priors import Priors
from ridgeway.types import Array, Progress


@dataclass(frozen=True)
class RefitSettings:
    """When modes are searched for again, and from how many starts.

    Attributes
    ----------
    least_observations
        A model chooses points from this many observations on: one says nothing about how the function varies.
    growth
        Search again when the number of observations has grown by this factor since the last full search.
    surprise
        Search again when an observation is more than this many predictive standard deviations from its prediction.
    lost_share
        A belief is lost when its noise explains more than this share of the variance of ``y``: it has nothing
        to choose points by, and no observation can surprise it.
    least_starts
        A full search beside known modes makes at least this many climbs; the first one makes as many as a fit,
    starts_per_observation
        and this many for each observation.
    fresh_starts
        Between full searches, known modes are followed and this many climbs are made beside them, some from
        fresh starts and some from modes that earlier searches kept.
    """

    least_observations: int = 2
    growth: float = 1.12
    surprise: float = 4.0
    lost_share: float = 0.4
    least_starts: int = 10
    starts_per_observation: float = 3.0
    fresh_starts: int = 16


DEFAULT = RefitSettings()

#: Settings by the effort that a user asks for; a number of seconds allows as many climbs as fit into them.
EFFORTS = {
    "quick": replace(DEFAULT, starts_per_observation=1.0, fresh_starts=2),
    "normal": DEFAULT,
    "thorough": replace(DEFAULT, starts_per_observation=12.0, fresh_starts=60),
}
_AS_MANY_AS_FIT = replace(DEFAULT, starts_per_observation=1000.0, fresh_starts=100_000)


def settings_of(effort: Any) -> RefitSettings:
    """The settings of an effort: a word, or seconds."""
    search_settings(effort)  # raises for anything else
    return EFFORTS[effort] if isinstance(effort, str) else _AS_MANY_AS_FIT


class Refitted(NamedTuple):
    """A new belief, and the number of observations at the last full search."""

    belief: Belief
    searched_at: int


@dataclass(frozen=True)
class Refit:
    """The model of a learner, and the rules by which it is fitted again as observations come in."""

    embedding: Embedding
    kernel: Kernel
    inference: str
    marginal: Marginal
    priors: Priors | None
    bounds: tuple[Array, Array]
    random_state: int
    settings: RefitSettings = DEFAULT
    effort: str | float = "normal"
    robust: bool = True

    def __call__(
        self, record: Record, last: Belief | None, searched_at: int, progress: Progress | None = None
    ) -> Refitted:
        """The belief about all observations of ``record``; without a ``last`` belief, by a full search."""
        full = last is None or self.calls_for_search(record, last, searched_at)
        embedding, n_starts = self.embedding, searches(record.n, self.settings, self.effort)
        if last is None:
            n_starts = full_search(record.n, search_settings(self.effort))
        elif full:
            # Extra noise that was found to be missing with fewer data must not be carried into a new search.
            last = replace(last, diagnostics=replace(last.diagnostics, misfit=0.0))
        else:
            embedding, n_starts = last.model, self.settings.fresh_starts
        with warnings.catch_warnings():  # the diagnostics have them, and each fit would repeat them
            warnings.simplefilter("ignore", RidgewayWarning)
            belief = fit(
                record.X,
                record.y,
                embedding,
                kernel=self.kernel,
                inference=self.inference,
                marginal=self.marginal,
                bounds=self.bounds,
                priors=self.priors,
                noise_variance=record.known_noise,
                initial=last,
                n_starts=n_starts,
                random_state=int(np.random.default_rng([self.random_state, 2, record.n]).integers(2**31)),
                progress=progress,
                effort=self.effort,
                names=record.space.names,
                units=record.space.units,
                robust=self.robust,
            )
        return Refitted(belief, record.n if full else searched_at)

    def calls_for_search(self, record: Record, last: Belief, searched_at: int) -> bool:
        """Whether there are many observations since the last full search, or one that ``last`` does not explain."""
        if self.has_grown(record.n, searched_at):
            return True
        if self.is_lost(last):
            return False
        known = last.n_rows
        prediction = last.predict(record.X[known:])
        variance = prediction.variance + last.noise_variance + record.noise[known:]
        misses = np.abs(record.y[known:] - prediction.mean)
        return bool(np.any(misses > self.settings.surprise * np.sqrt(variance)))

    def last_search(self, n: int) -> int:
        """The number of observations, of at most ``n``, at which there is a full search, whatever happened before."""
        at = min(n, self.settings.least_observations)
        while self.has_grown(n, at):
            at = next(larger for larger in range(at, n + 1) if self.has_grown(larger, at))
        return at

    def has_grown(self, n: int, searched_at: int) -> bool:
        """Whether ``n`` observations are enough for another full search."""
        return n > self.settings.growth * searched_at

    def is_lost(self, belief: Belief) -> bool:
        """Whether noise explains so much of the variation that the right mode has yet to be found."""
        return bool(belief.noise_variance > self.settings.lost_share * float(np.var(belief.y[belief.trusted])))


def searches(n: int, settings: RefitSettings = DEFAULT, effort: str | float = "normal") -> int:
    """How many climbs a full search has with ``n`` observations: few data have few modes worth finding."""
    most = full_search(n, search_settings(effort))
    return min(most, max(settings.least_starts, round(settings.starts_per_observation * n)))
