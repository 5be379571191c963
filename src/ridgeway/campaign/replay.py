"""The learners of a campaign, one for each output, rebuilt from the database as they were, and what they ask together.

The next choice depends on the outcomes in their order, on the number of points asked so far, and on the last ask's
beliefs: see :mod:`ridgeway.campaign.belief_chain`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ridgeway.active import acquisition, several
from ridgeway.active.history import Record
from ridgeway.active.outlook import Outlook
from ridgeway.campaign.belief_chain import BeliefChain, points_of
from ridgeway.campaign.setup import Setup
from ridgeway.campaign.store import Snapshot, StoredFit
from ridgeway.campaign.trial import OBSERVED, pack
from ridgeway.errors import CampaignError, NothingLeftError
from ridgeway.spaces.pool import Pool
from ridgeway.types import Array

_NEAR = 1e-6  # of each width: a trial farther from what is allowed now is no proposal
_CANDIDATES = 512  # points among which one is chosen that differs from all before, where rounding made it equal


@dataclass
class Chain:
    """The beliefs about all outputs, which choose the next experiments together."""

    setup: Setup
    beliefs: tuple[BeliefChain, ...]  # by output
    record: Record  # of all outputs: points that were tried, pending or failed; it has no values
    n_asked: int

    @classmethod
    def at(cls, setup: Setup, pool: Pool | None, snapshot: Snapshot, progress: Any = None) -> Chain:
        """The chain where a snapshot left it."""
        beliefs = tuple(BeliefChain.at(setup, output, pool, snapshot, progress) for output in setup.outputs.items)
        return cls(setup, beliefs, _record(setup, beliefs[0], snapshot), snapshot.n_asked)

    @property
    def fits(self) -> list[StoredFit]:
        """Fits by which a choice was made."""
        return [chain.fit for chain in self.beliefs if chain.fit is not None and chain.used]

    def choose(self, n: int) -> tuple[Array, list[float | None]]:
        """Values ``(n, k)`` of the next experiments, and the expected information of each in nats."""
        self._weighed[0][0].learner.number_of_points(n)  # raises where they are too many at once
        self.record.check_left(n)
        choose = self._by_turns if self.setup.outputs.choose == "turns" else self._together
        X, chosen = choose(n)
        inputs = self.setup.inputs
        if inputs is None:
            return X, self._information(X, chosen)
        values = self._distinct(inputs.proposals(X))
        return values, self._information(inputs.coordinates(values), chosen)

    def scores(self, X: Array) -> Array:
        """What an experiment at each of ``X (n, D)`` would teach about the outputs in nats, given the pending trials.

        Each output counts by its weight.
        """
        counted = [(chain, weight) for chain, weight in self._weighed if chain.learner.record.n]
        if not counted:
            raise CampaignError("there is no score before the first result: ask for experiments, and tell it")
        for chain, _ in counted:
            chain.belief()
        outlooks: list[Outlook] = [chain.learner.outlook() for chain, _ in counted]
        whole = several.summed(outlooks, [weight for _, weight in counted])
        return acquisition.score(acquisition.information, whole, X)

    @property
    def _weighed(self) -> list[tuple[BeliefChain, float]]:
        """The outputs that experiments are chosen for, and how much each counts."""
        weights = self.setup.outputs.weights
        return [(chain, weight) for chain, weight in zip(self.beliefs, weights, strict=True) if weight]

    @property
    def _chooser(self) -> Any:
        return self._weighed[0][0].learner.chooser  # all have the same space, design and numbers

    # -- all outputs at once -------------------------------------------------------------------

    def _together(self, n: int) -> tuple[Array, list[list[BeliefChain]]]:
        """The next ``n`` points ``(n, D)``, each for all outputs, and those by whose beliefs it was chosen."""
        asked: list[BeliefChain] = []

        def outlook() -> Outlook | None:
            found = [(chain, weight, chain.outlook()) for chain, weight in self._weighed]
            ready = [(chain, weight, one) for chain, weight, one in found if one is not None]
            asked.extend(chain for chain, _, _ in ready)
            return several.summed([one for _, _, one in ready], [w for _, w, _ in ready]) if ready else None

        choice = self._chooser.choose(n, self.record, self.n_asked, outlook)
        return choice.X, [[] if np.isnan(score) else asked for score in choice.scores]

    # -- one output after the other ------------------------------------------------------------

    def _by_turns(self, n: int) -> tuple[Array, list[list[BeliefChain]]]:
        """The next ``n`` points ``(n, D)``, each for one output, and that output."""
        record, X, chosen = self.record, np.zeros((0, self.record.space.D)), []
        for i in range(self.n_asked, self.n_asked + n):
            asked: list[BeliefChain] = []

            def outlook(i: int = i, ahead: Array = X, asked: list[BeliefChain] = asked) -> Outlook | None:
                for chain in self._in_turn(i):
                    found = chain.outlook()
                    if found is not None:
                        asked.append(chain)
                        return found.given(ahead) if len(ahead) else found
                return None

            choice = self._chooser.choose(1, record, i, outlook)
            record, X = record.with_pending(choice.X), np.vstack([X, choice.X])
            chosen.append([] if np.isnan(choice.scores[0]) else asked)
        return X, chosen

    def _in_turn(self, i: int) -> list[BeliefChain]:
        """The outputs in the order in which point number ``i`` may be for them: whose turn it is comes first."""
        weighed, fill = self._weighed, self._chooser.fill_every
        number = i if fill is None else i - i // fill  # points that fill the space are nobody's turn
        first = several.turn(number, tuple(weight for _, weight in weighed))
        chains = [chain for chain, _ in weighed]
        return chains[first:] + chains[:first]

    # -- proposals -----------------------------------------------------------------------------

    def _distinct(self, values: Array) -> Array:
        """The proposals, with those that rounding made equal to an earlier point replaced."""
        inputs, before = self.setup.inputs, self.record
        assert inputs is not None
        known = before.seen[inputs.box.contains(before.seen, _NEAR)] if before.seen.size else before.seen
        seen = {pack(row) for row in inputs.proposals(known)} if known.size else set()
        for i, row in enumerate(values):
            if pack(row) in seen:
                values[i] = self._another(seen, i)
            seen.add(pack(values[i]))
        return values

    def _another(self, seen: set[bytes], i: int) -> Array:
        """Of many points that fill the space, the most informative one that has not been asked for."""
        inputs = self.setup.inputs
        assert inputs is not None
        rng = np.random.default_rng([self._chooser.random_state, 3, self.n_asked, i])
        values = inputs.proposals(inputs.box.filling(_CANDIDATES, rng))
        new = [j for j, row in enumerate(values) if pack(row) not in seen]
        if not new:
            raise NothingLeftError("hardly any combination of these inputs is left to ask for")
        used = [(chain, weight) for chain, weight in self._weighed if chain.used]
        if not used:
            return values[new[0]]
        none = np.zeros((0, self.record.space.D))
        whole = several.summed([chain.informed(none) for chain, _ in used], [weight for _, weight in used])
        scores = acquisition.score(acquisition.information, whole, inputs.coordinates(values[new]))
        return values[new[int(np.argmax(scores))]]

    def _information(self, X: Array, chosen: Sequence[Sequence[BeliefChain]]) -> list[float | None]:
        """Nats in the observations of each of ``X (n, D)``, given those before it, about the outputs that chose it."""
        involved = {id(chain): chain for chains in chosen for chain in chains}
        outlooks = {}
        for key, chain in involved.items():
            before = chain.learner.record
            outlooks[key] = chain.informed(np.vstack([before.pending, before.failed]))
        found: list[float | None] = []
        for x, chains in zip(X, chosen, strict=True):
            parts = [acquisition.score(acquisition.information, outlooks[id(c)], x[None])[0] for c in chains]
            found.append(float(sum(parts)) if parts else None)
            outlooks = {key: outlook.given(x[None]) for key, outlook in outlooks.items()}
        return found


def _record(setup: Setup, chain: BeliefChain, snapshot: Snapshot) -> Record:
    """Where trials were made, are pending or failed, whatever their outputs."""
    space = chain.learner.space

    def at(*states: str) -> Array:
        return points_of(setup, space, [trial for trial in snapshot.trials if trial.state in states])

    made, failed = at(*OBSERVED), at("failed")
    unknown = np.full(len(made), np.nan)
    return Record(space, made, unknown, np.zeros(len(made)), at("asked"), failed, ("failed",) * len(failed))
