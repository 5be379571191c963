"""The learner of a campaign, standing exactly where the database says it stands.

The next choice depends on the outcomes in their order, on the number of points asked so far, and on the last
ask's belief, from which the next fit starts. All of that is stored with the ask, so that a program that was
killed goes on as if it had not been. Looking at a belief in between changes nothing: it is kept beside the
last ask's, and used by the next ask only if that would have computed the very same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from ridgeway import acquisition, draws, search, storage
from ridgeway.belief import Belief
from ridgeway.campaign.advice import Advice, advise, certainty, too_early
from ridgeway.campaign.setup import Setup
from ridgeway.campaign.store import Snapshot, StoredFit
from ridgeway.campaign.trial import OBSERVED, Trial, pack
from ridgeway.candidates import in_turn
from ridgeway.directions import UnavailableError
from ridgeway.errors import NothingLeftError
from ridgeway.learner import ActiveLearner
from ridgeway.pool import Pool
from ridgeway.poolview import PoolView
from ridgeway.record import Record
from ridgeway.spaces import Space
from ridgeway.subspace import uncertainty
from ridgeway.types import Array

Step = tuple[int, float, float, float]  # observations; median, 5 % and 95 % of the angles to the subspace, degrees
_CANDIDATES = 512  # points among which one is chosen that differs from all before, where rounding made it equal


@dataclass
class Chain:
    """A learner, and the fit that has to be stored with what it does next."""

    setup: Setup
    learner: ActiveLearner
    parent: str  # identity of the last ask's fit, empty where there is none or the data have changed
    fit: StoredFit | None = None  # of all observations
    stands: bool = False  # whether the learner has it
    used: bool = False  # whether a choice was made by it
    course: tuple[Step, ...] = ()  # how sure the subspace was at the asks before

    @classmethod
    def at(cls, setup: Setup, pool: Pool | None, snapshot: Snapshot, progress: Any = None) -> Chain:
        """The chain where a snapshot left it."""
        learner = setup.learner(pool, progress)
        record = record_of(setup, learner.space, snapshot.trials)
        last, read = snapshot.fits.get("asked"), snapshot.fits.get("read")
        if last is not None and not _fits(last, record):
            last = None  # an outcome was corrected: what was learned from it does not count
        chain = cls(setup, learner, "" if last is None else last.identity, course=_course(snapshot))
        if last is not None and last.observations == record.n:
            chain.fit = last
        elif read is not None and read.parent == chain.parent and _fits(read, record, whole=True):
            chain.fit = read
        # Whether a choice looks at the belief depends on the last ask's, not on what others looked at since.
        belief = None if last is None else _load(last, record)
        learner.resume(record, snapshot.n_asked, belief, 0 if last is None else last.searched_at)
        return chain

    def belief(self) -> Belief:
        """What is known now; a new fit if there are new observations."""
        learner = self.learner
        if self.fit is not None and not self.stands:
            learner.resume(learner.record, learner.n_asked, _load(self.fit, learner.record), self.fit.searched_at)
        elif self.fit is None:
            belief = learner.belief
            content = storage.to_bytes(belief, inputs=False)
            self.fit = StoredFit(
                role="read",
                data=data_digest(learner.record, learner.record.n),
                identity=hashlib.sha256(content).hexdigest(),
                parent=self.parent,
                observations=learner.record.n,
                searched_at=learner.searched_at,
                summary=_summary(belief, self.setup, self.course),
                content=content,
            )
            # Go on with what the database will give back, so that a restart cannot make a difference.
            learner.resume(learner.record, learner.n_asked, _load(self.fit, learner.record), learner.searched_at)
        self.stands = True
        return self.learner.belief

    def choose(self, n: int) -> tuple[Array, list[float | None]]:
        """Values ``(n, k)`` of the next experiments, and the nats that each is expected to teach."""
        learner, before = self.learner, self.learner.record
        self.used = learner.consults(n)
        if self.used:
            self.belief()
        learner.ask(n)
        X, scores = learner.record.out[len(before.out) :], learner.expected
        inputs = self.setup.inputs
        if inputs is None:
            return X, self._information(before, X, scores)
        values = self._distinct(inputs.proposals(X), before)
        return values, self._information(before, inputs.coordinates(values), scores)

    @property
    def needed(self) -> int:
        """Outcomes before there is anything to say."""
        return max(self.learner.n_initial, 2)

    def scores(self, X: Array) -> Array:
        """Nats that an observation of each of ``X (n, D)`` would give, given what is out."""
        self.belief()
        return acquisition.score(acquisition.information, self.learner.outlook(), X)

    def advice(self) -> Advice:
        """Whether the best next experiment is worth it."""
        learner = self.learner
        if learner.record.n < self.needed:
            return too_early(learner.record.n, self.needed)
        self.belief()
        assert self.fit is not None
        if isinstance(learner.space, Pool):
            free = learner.record.free
            if not free.any():
                return Advice(
                    True, 0.0, self.fit.summary["degrees"], "Every point of the pool was tried. You may stop."
                )
            best = search.over_pool(PoolView(learner.space), learner.outlook(), acquisition.information, 1, free)
        else:
            rng = np.random.default_rng([learner.random_state, 4, learner.n_asked])
            best = search.over_box(learner.space, learner.outlook(), acquisition.information, 1, rng)
        return advise(float(best.scores[0]), self.fit.summary["degrees"])

    def _distinct(self, values: Array, before: Record) -> Array:
        """The proposals, with those that rounding made equal to an earlier point replaced."""
        inputs = self.setup.inputs
        assert inputs is not None
        seen = {pack(row) for row in inputs.proposals(before.seen)} if before.seen.size else set()
        for i, row in enumerate(values):
            if pack(row) in seen:
                values[i] = self._another(seen, i)
            seen.add(pack(values[i]))
        return values

    def _another(self, seen: set[bytes], i: int) -> Array:
        """Of many points that fill the space, the one that teaches most and has not been asked."""
        inputs, learner = self.setup.inputs, self.learner
        assert inputs is not None
        rng = np.random.default_rng([learner.random_state, 3, learner.n_asked, i])
        values = inputs.proposals(inputs.box.filling(_CANDIDATES, rng))
        new = [j for j, row in enumerate(values) if pack(row) not in seen]
        if not new:
            raise NothingLeftError("hardly any combination of these integer inputs is left to ask for")
        if not self.used:
            return values[new[0]]
        outlook = acquisition.outlook_of(self.learner.belief, learner.record.noise_to_come)
        scores = acquisition.score(acquisition.information, outlook, inputs.coordinates(values[new]))
        return values[new[int(np.argmax(scores))]]

    def _information(self, before: Record, X: Array, scores: Array) -> list[float | None]:
        """Nats in an observation of each of ``X (n, D)``, given those before it; none where no model chose."""
        if np.isnan(scores).all():
            return [None] * len(X)
        outlook = acquisition.outlook_of(self.learner.belief, before.noise_to_come)
        outlook = outlook.given(np.vstack([before.out, before.failed]))
        nats = in_turn(outlook, X).tolist()
        return [None if np.isnan(score) else value for score, value in zip(scores, nats, strict=True)]


def record_of(setup: Setup, space: Space, trials: tuple[Trial, ...]) -> Record:
    """What a learner needs to know of the trials: outcomes in their order, and what is out."""
    seen, failed = observed(trials), [t for t in _settled(trials) if t.state == "failed"]

    def points(some: list[Trial]) -> Array:
        if not some:
            return np.zeros((0, space.D))
        return setup.coordinates(np.stack([t.x for t in some]))

    return Record(
        space,
        points(seen),
        np.array([t.value for t in seen], dtype=float),
        np.array([(t.sigma or 0.0) ** 2 for t in seen], dtype=float),
        points([t for t in trials if t.state == "asked"]),
        points(failed),
        tuple(t.reason or "failed" for t in failed),
    )


def observed(trials: Sequence[Trial]) -> list[Trial]:
    """Trials with a value, in the order of their outcomes."""
    return [trial for trial in _settled(trials) if trial.state in OBSERVED]


def _settled(trials: Sequence[Trial]) -> list[Trial]:
    return sorted((t for t in trials if t.sequence is not None), key=lambda t: t.sequence or 0)


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


def _course(snapshot: Snapshot) -> tuple[Step, ...]:
    """What the fits that are kept say of those before them."""
    steps = {step[0]: step for fit in snapshot.fits.values() for step in fit.summary.get("course", ())}
    return tuple(steps[n] for n in sorted(steps))


def _summary(belief: Belief, setup: Setup, course: tuple[Step, ...]) -> dict[str, Any]:
    """What can be said about a fit without loading it, and how sure those before it were."""
    shares = belief.importances()
    varied = setup.names if setup.inputs is None else setup.inputs.box.names or ()
    order = np.argsort(-shares)[:8]
    return {
        "inputs": [[varied[j], float(shares[j])] for j in order],
        "rank": belief.rank,
        "noise": float(np.sqrt(belief.noise_variance)),
        "degrees": certainty(belief),
        "status": belief.diagnostics.status,
        "warnings": list(belief.diagnostics.warnings),
        "course": [*(step for step in course if step[0] < belief.y.shape[0]), *_step(belief)],
    }


def _step(belief: Belief) -> list[Step]:
    try:
        return [astuple(uncertainty(belief, draws.embeddings(belief)))]
    except UnavailableError:
        return []
