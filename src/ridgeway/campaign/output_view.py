"""``OutputView``: what a campaign knows about one of its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway.campaign import telling
from ridgeway.campaign.outputs import Output
from ridgeway.campaign.results import Result
from ridgeway.campaign.setup import Setup
from ridgeway.campaign.store import Snapshot, Store
from ridgeway.errors import CampaignError, ReadOnlyError

if TYPE_CHECKING:  # to enter or look at results must not wait for the import of SciPy
    from ridgeway.belief.belief import Belief
    from ridgeway.belief.suspects import Surprise
    from ridgeway.campaign.belief_chain import BeliefChain
    from ridgeway.campaign.best_trial import BestTrial
    from ridgeway.campaign.stopping import Advice
    from ridgeway.spaces.pool import Pool


class OutputView:
    """One output of a campaign: its belief, best trial and advice. Made by ``campaign.output(name)``."""

    def __init__(self, store: Store, setup: Setup, output: Output, pool: Pool | None, progress: Any = None) -> None:
        self._store, self._setup, self._pool, self._progress = store, setup, pool, progress
        self.output = output

    @property
    def name(self) -> str:
        """What it is called."""
        return self.output.name

    @property
    def belief(self) -> Belief:
        """What is known now; read from the database, or fitted and kept there after new outcomes."""
        return self.looked().belief()

    def best(self) -> BestTrial:
        """The best trial so far, with what is predicted there."""
        from ridgeway.campaign.belief_chain import observed
        from ridgeway.campaign.best_trial import BestTrial

        if self.output.goal == "learn":
            raise CampaignError(
                f"the goal of this campaign is to learn{self._whose}, so it has no best point: begin one whose goal is "
                '"minimize" or "maximize" (ridgeway init --goal)'
            )
        snapshot = self._store.snapshot()
        seen = observed(snapshot.trials, self.name)
        if not seen:
            raise CampaignError("there is no best point before the first result: ask for experiments, and tell it")
        return BestTrial.of(self.looked(snapshot).best(), seen)

    def should_stop(self, target_error: float | None = None) -> Advice:
        """Whether more experiments are worth it for this output, with the reasons."""
        target = telling.targets(self._setup.outputs, target_error, self.name).get(self.name)
        return self.looked(fit_early=False).advice(target)

    def summary(self) -> dict[str, Any] | None:
        """What the last fit found, without loading it: shares of the inputs, how well directions are known, noise."""
        fits = self._store.snapshot(fits=False).fits_of(self._setup.outputs.place(self.name)).values()
        latest = max(fits, key=lambda fit: fit.observations, default=None)
        return None if latest is None else {"observations": latest.observations, **latest.summary}

    def surprising(self, rows: Sequence[Result]) -> list[tuple[int, Surprise]]:
        """Results of pending trials that are far from what the last fit predicts, with the numbers of the trials."""
        from ridgeway.belief.suspects import surprises

        snapshot, name = self._store.snapshot(), self.name
        asked = {
            trial.id: trial for trial in snapshot.trials if name not in trial.results and trial.state != "abandoned"
        }
        told = [(row, asked[row.trial]) for row in rows if row.trial in asked and name in row.results]
        new = [(row, trial) for row, trial in told if row.results[name].value is not None]
        fitted = any(fit.output == self._setup.outputs.place(name) for fit in snapshot.fits)
        belief = self.chain(snapshot).known_belief() if new and fitted else None
        if belief is None:
            return []
        x = [t.x if row.x is None else np.where(np.isnan(row.x), t.x, row.x) for row, t in new]
        values = np.array([row.results[name].value for row, _ in new], dtype=float)
        noise = np.array([(row.results[name].sigma or 0.0) ** 2 for row, _ in new])
        found = surprises(belief, self._setup.coordinates(np.stack(x)), values, noise)
        return [(new[surprise.index][1].id, surprise) for surprise in found]

    def chain(self, snapshot: Snapshot) -> BeliefChain:
        """Its learner where a snapshot left it."""
        from ridgeway.campaign.belief_chain import BeliefChain

        return BeliefChain.at(self._setup, self.output, self._pool, snapshot, self._progress)

    def looked(self, snapshot: Snapshot | None = None, fit_early: bool = True) -> BeliefChain:
        """The chain with a belief; a new fit is kept for others, and for the next ask if nothing changes."""
        chain = self.chain(snapshot or self._store.snapshot())
        if not fit_early and chain.learner.record.n < chain.needed:
            return chain
        if chain.fit is None:
            chain.belief()
            assert chain.fit is not None
            with suppress(ReadOnlyError), self._store.writing() as connection:  # who may only look, looks
                self._store.keep(connection, chain.fit)
        return chain

    @property
    def _whose(self) -> str:
        return "" if self._setup.outputs.only else f" {self.name}"
