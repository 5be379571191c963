"""``Chooser``: the next points by a score, with points in between that fill the space, whatever the score says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ridgeway.active import maximize
from ridgeway.active.acquisition import AnyAcquisition
from ridgeway.active.design import Design
from ridgeway.active.history import Record
from ridgeway.active.maximize import Choice
from ridgeway.active.outlook import Outlook
from ridgeway.active.pool_coordinates import View, view_of
from ridgeway.spaces.pool import Pool
from ridgeway.spaces.space import Space

#: What points are scored by; ``None`` where there is nothing to score them by yet. Called only if it is needed.
Outlooks = Callable[[], Outlook | None]


@dataclass(frozen=True)
class Chooser:
    """How points are chosen in a space; which come next depends on those seen so far and on how many were asked for."""

    space: Space
    design: Design
    score: AnyAcquisition | None  # none: all points are of the design
    n_initial: int
    fill_every: int | None
    random_state: int

    def choose(self, n: int, record: Record, n_asked: int, outlook: Outlooks) -> Choice:
        """The next ``n`` points, given the ``record`` and ``n_asked`` points asked for before."""
        filling = [i for i in range(n_asked, n_asked + n) if self.fills(i, record, n_asked)]
        found = outlook() if len(filling) < n else None
        if found is None:
            return self._designed(n, record, n_asked)
        chosen = self._searched(n - len(filling), record, n_asked, found)
        if chosen.flat:
            return self._designed(n, record, n_asked)
        if not filling:
            return chosen
        ahead = record.with_pending(chosen.X)
        more = self.design.points(len(filling), filling[0], self.n_initial, self.random_state, ahead)
        return Choice(np.vstack([chosen.X, more]), np.append(chosen.scores, np.full(len(filling), np.nan)), None, False)

    def fills(self, i: int, record: Record, n_asked: int) -> bool:
        """Whether point number ``i`` fills the space; observations that were not asked for count as first points."""
        seen = record.n + len(record.pending) + len(record.failed) + (i - n_asked)
        if self.score is None or seen < self.n_initial:
            return True
        return self.fill_every is not None and i % self.fill_every == self.fill_every - 1

    def needs_belief(self, n: int, record: Record, n_asked: int) -> bool:
        """Whether any of the next ``n`` points is not one that fills the space."""
        return not all(self.fills(i, record, n_asked) for i in range(n_asked, n_asked + n))

    @cached_property
    def _view(self) -> View | None:
        return view_of(self.space) if isinstance(self.space, Pool) else None

    def _designed(self, n: int, record: Record, n_asked: int) -> Choice:
        X = self.design.points(n, n_asked, self.n_initial, self.random_state, record)
        return Choice(X, np.full(n, np.nan), None, True)

    def _searched(self, n: int, record: Record, n_asked: int, outlook: Outlook) -> Choice:
        assert self.score is not None
        rng = np.random.default_rng([self.random_state, 1, n_asked])
        if self._view is None:
            return maximize.over_box(self.space, outlook, self.score, n, rng, seen=record.X)  # type: ignore[arg-type]
        return maximize.over_pool(self._view, outlook, self.score, n, record.seen)
