"""Asking: the next experiments, chosen without a lock and stored in one transaction; no two asks give the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from ridgeway.campaign.setup import Setup
from ridgeway.campaign.store import Snapshot, Store, now, who
from ridgeway.campaign.stored_pool import StoredPool
from ridgeway.campaign.trial import Trial
from ridgeway.types import Array

if TYPE_CHECKING:  # to enter or look at results must not wait for the import of SciPy
    from ridgeway.campaign.replay import Chain

_TRIES = 1  # choices computed without a lock, which another ask may make obsolete; the next holds the lock

HandOver = Callable[[list[Trial]], Any]


@dataclass(frozen=True)
class Asking:
    """One ask for ``n`` experiments; ``chain`` makes the learners where a snapshot left them."""

    store: Store
    setup: Setup
    pool: StoredPool
    chain: Callable[[Snapshot], Chain]
    n: int
    hand_over: HandOver | None
    budget: int | None

    def __call__(self) -> list[Trial]:
        """The trials, which are stored."""
        for _ in range(_TRIES):
            snapshot = self.store.snapshot()
            chosen = self._chosen(snapshot)
            with self.store.writing() as connection:
                # Results that came in between do not matter: the choice is as good as if it had been made before them.
                if self.store.counters(connection).n_asked == snapshot.n_asked:
                    self.store.check_budget(connection, self.n, self.budget)
                    return self._kept(connection, snapshot, *chosen)
        with self.store.writing() as connection:
            self.store.check_budget(connection, self.n, self.budget)
            snapshot = self.store.snapshot_in(connection)
            return self._kept(connection, snapshot, *self._chosen(snapshot))

    def _chosen(self, snapshot: Snapshot) -> tuple[Chain, Array, list[float | None]]:
        chain = self.chain(snapshot)
        return chain, *chain.choose(self.n)

    def _kept(
        self, connection: Connection, snapshot: Snapshot, chain: Chain, values: Array, expected: list[float | None]
    ) -> list[Trial]:
        first = self.store.counters(connection).n_trials + 1
        by, at, setup = who(), now(), self.setup
        new = [
            Trial(
                first + i, "asked", setup.names, x, outputs=setup.outputs.names, notes=self.pool.labels_of(x),
                expected=nats, seen=snapshot.n_settled, asked_by=by, asked_at=at, campaign=self.store.identity,
                levels=setup.levels,
            )
            for i, (x, nats) in enumerate(zip(values, expected, strict=True))
        ]  # fmt: skip
        self.store.add(connection, new, asked=len(new))
        for fit in chain.fits:
            if fit.role == "read":
                self.store.promote(connection, fit)
        if self.hand_over is not None:
            self.hand_over(new)
        return new
