"""The learner of one output, rebuilt from the database in exactly the state that it was left in.

What it does next depends on the outcomes in their order and on the last ask's belief, from which the next fit starts.
Both are stored, so that a program that was killed goes on as if it had not been. Looking at a belief in between
changes nothing: it is stored beside the last ask's, and used by the next ask only if that would have computed the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ridgeway.active import acquisition, maximize
from ridgeway.active.best import Best
from ridgeway.active.history import Record
from ridgeway.active.learner import ActiveLearner
from ridgeway.active.outlook import Outlook
from ridgeway.active.pending import PendingBelief
from ridgeway.active.pool_coordinates import view_of
from ridgeway.belief import storage
from ridgeway.belief.belief import Belief
from ridgeway.campaign import fit_summary
from ridgeway.campaign import forecast as forecasts
from ridgeway.campaign.fit_summary import Step
from ridgeway.campaign.forecast import Ahead, Forecast
from ridgeway.campaign.outputs import Output
from ridgeway.campaign.setup import Setup
from ridgeway.campaign.stopping import Advice, Errors, advise, advise_best, no_forecast, too_early
from ridgeway.campaign.store import Snapshot, StoredFit
from ridgeway.campaign.trial import Trial, pack
from ridgeway.spaces.pool import Pool
from ridgeway.spaces.space import Space
from ridgeway.types import Array


@dataclass
class BeliefChain:
    """The learner of one output, and the fit that has to be stored with what it does next."""

    setup: Setup
    output: Output
    learner: ActiveLearner
    parent: str  # identity of the last ask's fit, empty where there is none or the data have changed
    fit: StoredFit | None = None  # of all observations
    stands: bool = False  # whether the learner has it
    used: bool = False  # whether a choice was made by it
    course: tuple[Step, ...] = ()  # how well the subspace was known at earlier asks
    numbers: tuple[int, ...] = ()  # of the trials with a value, in the order of the observations
    errors: tuple[tuple[int, float], ...] = ()  # observations of earlier fits, and the error that each expected
    ahead: tuple[Ahead, ...] = ()  # how well earlier fits predicted what came next

    @classmethod
    def at(
        cls, setup: Setup, output: Output, pool: Pool | None, snapshot: Snapshot, progress: Any = None
    ) -> BeliefChain:
        """The chain of an output where a snapshot left it."""
        learner = setup.learner(pool, output, progress)
        record = record_of(setup, output.name, learner.space, snapshot.trials)
        fits = snapshot.fits_of(setup.outputs.place(output.name))
        last, read = fits.get("asked"), fits.get("read")
        if last is not None and not _fits(last, record):
            last = None  # an outcome was corrected: a fit to the old one is of no use
        numbers = tuple(trial.id for trial in observed(snapshot.trials, output.name))
        kept = list(fits.values())
        chain = cls(
            setup, output, learner, "" if last is None else last.identity, course=_course(kept), numbers=numbers
        )
        chain.errors, chain.ahead = _errors(kept), _ahead(kept)
        if last is not None and last.observations == record.n:
            chain.fit = last
        elif read is not None and read.parent == chain.parent and _fits(read, record, whole=True):
            chain.fit = read
        # Whether a choice uses the belief depends on the last ask's fit, not on fits that were made since to look at.
        belief = None if last is None else _load(last, record)
        learner.resume(record, snapshot.n_asked, belief, 0 if last is None else last.searched_at)
        return chain

    def belief(self) -> Belief:
        """The belief given all observations; a new fit if there are new ones."""
        learner = self.learner
        if self.fit is not None and not self.stands:
            learner.resume(learner.record, learner.n_asked, _load(self.fit, learner.record), self.fit.searched_at)
        elif self.fit is None:
            self._look_back()
            content = storage.to_bytes(learner.belief, inputs=False)
            # Go on with what the database will give back, so that a restart cannot make a difference.
            belief = storage.from_bytes(content, X=learner.record.X.copy())
            self.fit = StoredFit(
                output=self.setup.outputs.place(self.output.name),
                role="read",
                data=data_digest(learner.record, learner.record.n),
                identity=hashlib.sha256(content).hexdigest(),
                parent=self.parent,
                observations=learner.record.n,
                searched_at=learner.searched_at,
                summary={
                    **fit_summary.summarize(belief, self.setup, self.course, self.numbers),
                    "errors": [*self.errors, [learner.record.n, forecasts.own_error(learner, belief)]],
                    "ahead": [*self.ahead],
                },
                content=content,
            )
            learner.resume(learner.record, learner.n_asked, belief, learner.searched_at)
        self.stands = True
        return self.learner.belief

    def _look_back(self) -> None:
        """Keep how well the last ask's belief predicted the outcomes since."""
        before, record = self.learner.last_belief, self.learner.record
        n = 0 if before is None else before.y.shape[0]
        if before is not None and n < record.n:
            new = forecasts.steps_ahead(before, record.X[n:], record.y[n:], record.noise[n:])
            self.ahead = (*(entry for entry in self.ahead if entry[0] < n), new)
        self.errors = tuple(entry for entry in self.errors if entry[0] < record.n)

    def known_belief(self) -> Belief | None:
        """The latest belief that is there without a new fit."""
        return self.learner.last_belief if self.fit is None else self.belief()

    def outlook(self) -> Outlook | None:
        """What its learner scores points by; ``None`` where its belief may not choose. A choice is made by it."""
        if not self.learner.is_ready:
            return None
        self.used = True
        self.belief()
        return self.learner.own_outlook()

    def informed(self, pending: Array) -> PendingBelief:
        """The belief with these points ``(m, D)`` pending, for the information in further ones."""
        return acquisition.outlook_of(self.belief(), self.learner.record.noise_to_come).given(pending)

    @property
    def needed(self) -> int:
        """How many outcomes advice needs."""
        return max(self.learner.n_initial, 2)

    def scores(self, X: Array) -> Array:
        """Expected information of an observation at each of ``X (n, D)`` in nats, given the pending trials."""
        self.belief()
        return acquisition.score(acquisition.information, self.learner.outlook(), X)

    def best(self) -> Best:
        """The best observation so far."""
        self.belief()
        return self.learner.best()

    def forecast(self) -> Forecast:
        """How the error of predictions is expected to fall."""
        return forecasts.forecast(self.learner, self.belief(), self.ahead)

    def expected_errors(self, target: float | None = None) -> Errors:
        """The same, with how it has fallen so far and the error that is wanted."""
        self.belief()
        assert self.fit is not None
        course = [
            (int(n), float(own) * forecasts.level([entry for entry in self.ahead if entry[0] < n]))
            for n, own in self.fit.summary.get("errors", self.errors)
        ]
        return Errors(self.forecast(), course, target, self.output.unit)

    def advice(self, target_error: float | None = None) -> Advice:
        """Whether the best next experiment is worth it."""
        learner = self.learner
        if learner.record.n < self.needed:
            return too_early(learner.record.n, self.needed)
        self.belief()
        if learner.goal != "learn":
            return self._advice_on_best()
        degrees, k = self.subspace
        if isinstance(learner.space, Pool):
            if learner.record.n_left == 0:
                return Advice(True, 0.0, degrees, "Every point of the pool was tried. You may stop.")
            best = maximize.over_pool(
                view_of(learner.space), learner.outlook(), acquisition.information, 1, learner.record.seen
            )
        else:
            rng = np.random.default_rng([learner.random_state, 4, learner.n_asked])
            best = maximize.over_box(learner.space, learner.outlook(), acquisition.information, 1, rng)
        return advise(float(best.scores[0]), degrees, k, self.expected_errors(target_error))

    def _advice_on_best(self) -> Advice:
        """Whether the next experiment is likely to improve on the best."""
        learner = self.learner
        choice = learner.preview(1)
        if not len(choice.X):
            return Advice(True, 0.0, None, "Every point of the pool was tried. You may stop.")
        if learner.acquisition != "improvement" or np.isnan(choice.scores[0]):
            return no_forecast(learner.best().value)
        return advise_best(float(np.exp(choice.scores[0])), learner.best())

    @property
    def subspace(self) -> tuple[float | None, int]:
        """Typical angle in degrees between the believed subspace and draws of it, and the number of directions."""
        self.belief()
        assert self.fit is not None
        return fit_summary.angle(self.fit.summary, self.fit.observations), fit_summary.n_directions(self.fit.summary)


def record_of(setup: Setup, output: str, space: Space, trials: Sequence[Trial]) -> Record:
    """The trials as the record of an output's learner: its results in their order, and what is pending or failed.

    A trial that is done without this output, such as one from before there was any, is not among them.
    """
    seen, failed = observed(trials, output), [t for t in _told(trials, output) if t.results[output].value is None]

    def points(some: Sequence[Trial]) -> Array:
        return points_of(setup, space, some)

    return Record(
        space,
        points(seen),
        np.array([t.results[output].value for t in seen], dtype=float),
        np.array([(t.results[output].sigma or 0.0) ** 2 for t in seen], dtype=float),
        points([t for t in trials if t.state == "asked" and output not in t.results]),
        points(failed),
        tuple(t.reason or "failed" for t in failed),
    )


def points_of(setup: Setup, space: Space, trials: Sequence[Trial]) -> Array:
    """Where trials are, ``(n, D)``, as a learner sees it."""
    return setup.coordinates(np.stack([t.x for t in trials])) if trials else np.zeros((0, space.D))


def observed(trials: Sequence[Trial], output: str) -> list[Trial]:
    """Trials with a value of an output, in the order of these."""
    return [trial for trial in _told(trials, output) if trial.results[output].value is not None]


def _told(trials: Sequence[Trial], output: str) -> list[Trial]:
    known = [trial for trial in trials if output in trial.results]
    return sorted(known, key=lambda trial: trial.results[output].sequence or 0)


def data_digest(record: Record, n: int) -> str:
    """Of the first ``n`` observations: inputs, values and known noise."""
    digest = hashlib.sha256(f"{n} {record.space.D} ".encode())
    for array in (record.X[:n], record.y[:n], record.noise[:n]):
        digest.update(pack(array))
    return digest.hexdigest()


def _fits(fit: StoredFit, record: Record, whole: bool = False) -> bool:
    """Whether the data of a fit are the record's first observations, or all of them."""
    if fit.observations > record.n or (whole and fit.observations != record.n):
        return False
    return fit.data == data_digest(record, fit.observations)


def _load(fit: StoredFit, record: Record) -> Belief:
    return storage.from_bytes(fit.content, X=record.X[: fit.observations].copy())


def _course(fits: Sequence[StoredFit]) -> tuple[Step, ...]:
    """How well each earlier fit knew the subspace, from the summaries of the stored ones."""
    steps = {step[0]: step for fit in fits for step in fit.summary.get("course", ())}
    return tuple(steps[n] for n in sorted(steps))


def _errors(fits: Sequence[StoredFit]) -> tuple[tuple[int, float], ...]:
    """The error that each earlier fit expected, from the summaries of the stored ones; early versions lack it."""
    found = {int(n): float(error) for fit in fits for n, error in fit.summary.get("errors", ())}
    return tuple(sorted(found.items()))


def _ahead(fits: Sequence[StoredFit]) -> tuple[Ahead, ...]:
    """How well earlier fits predicted what came next; of two entries for one fit, that with more outcomes."""
    found: dict[int, Ahead] = {}
    for fit in fits:
        for n, count, squares in fit.summary.get("ahead", ()):
            if n not in found or count > found[n][1]:
                found[n] = (int(n), int(count), float(squares))
    return tuple(found[n] for n in sorted(found))
