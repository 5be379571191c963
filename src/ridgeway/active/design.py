"""Designs: points chosen without a model, at the start or for comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ridgeway.box import Box
from ridgeway.pool import CANDIDATES
from ridgeway.record import Record
from ridgeway.spaces import Space
from ridgeway.types import Array

_A_FEW = 2  # points of a pool of which the farthest from all others goes on filling the space

Kind = Literal["filling", "random", "latin-hypercube"]


@dataclass(frozen=True)
class Design:
    """A way to choose points by their place alone; ``forever`` if no model takes over."""

    kind: Kind
    forever: bool

    @classmethod
    def named(cls, acquisition: Any, space: Space) -> Design:
        """The design an acquisition begins with, or is."""
        if acquisition == "random":
            return cls("random", True)
        if acquisition == "latin-hypercube":
            if not isinstance(space, Box):
                raise ValueError('acquisition "latin-hypercube" needs a Box: a pool has its points already')
            return cls("latin-hypercube", True)
        return cls("filling", False)

    def points(self, n: int, first: int, size: int, seed: int, record: Record) -> Array:
        """Points number ``first`` to ``first + n - 1`` of a design of ``size`` points, then of the next one.

        Each point depends on its number and on what has been seen, not on how many are asked for at a
        time, so a design goes on where it was.
        """
        space = record.space
        if isinstance(space, Box):
            for i in range(first, first + n):
                record = record.with_out(self._unseen(space, i, size, seed, record)[None])
            return record.out[-n:]
        taken, chosen = list(np.flatnonzero(~record.free)), []
        for i in range(first, first + n):
            rng = np.random.default_rng([seed, 0, i])
            if self.kind == "filling":
                # Far apart at first; later the farthest of a few, because the farthest of all are much alike.
                index = space.spread(1, rng, taken, CANDIDATES if i < size else _A_FEW)
            else:
                index = space.uniform(1, rng, taken)
            chosen.append(int(index[0]))
            taken.extend(space.find(space.rows(chosen[-1:])[0]))
        return space.rows(chosen)

    def _unseen(self, box: Box, i: int, size: int, seed: int, record: Record) -> Array:
        x = self._in_box(box, i, size, seed)
        while record.has_seen(x):  # told to a new learner with an old one's seed: take its place in the next design
            i += size
            x = self._in_box(box, i, size, seed)
        return x

    def _in_box(self, box: Box, i: int, size: int, seed: int) -> Array:
        rng = np.random.default_rng([seed, 0, i // size])
        if self.kind == "random":
            return box.uniform(size, rng)[i % size]
        if self.kind == "latin-hypercube":
            return box.latin_hypercube(size, rng)[i % size]
        return box.filling(size, rng)[i % size]
