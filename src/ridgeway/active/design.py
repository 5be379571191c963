"""Designs: points chosen without a model, at the start or for comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ridgeway.active.history import Record
from ridgeway.errors import NothingLeftError
from ridgeway.gp.embeddings import Embedding
from ridgeway.spaces.box import Box
from ridgeway.spaces.pool import CANDIDATES, Pool
from ridgeway.spaces.space import Space
from ridgeway.types import Array

_DESIGNS = 200  # that are drawn for a point that has not been seen
Kind = Literal["filling", "random", "latin-hypercube"]


@dataclass(frozen=True)
class Design:
    """A way to choose points without a model; ``forever`` if no model takes over later.

    Attributes
    ----------
    among_first, among_later
        A pool is filled by the point farthest from all others, of this many drawn at random: of many for the
        first points, so that they are far apart, and of few later, because the farthest of all are much alike.
    """

    kind: Kind
    forever: bool
    among_first: int = CANDIDATES
    among_later: int = 2

    @classmethod
    def named(cls, acquisition: Any, space: Space) -> Design:
        """The design that an acquisition begins with, or that it is."""
        if acquisition == "random":
            return cls("random", True)
        if acquisition == "latin-hypercube":
            if not isinstance(space, Box):
                raise ValueError('acquisition "latin-hypercube" needs a Box: a pool has its points already')
            return cls("latin-hypercube", True)
        return cls("filling", False)

    def points(self, n: int, first: int, size: int, seed: int, record: Record) -> Array:
        """Points number ``first`` to ``first + n - 1`` of a design of ``size`` points, then of the next one.

        Each point depends on its number and on the points seen so far, not on how many are asked for at a
        time, so a design continues where it stopped.
        """
        space = record.space
        if isinstance(space, Box):
            for i in range(first, first + n):
                record = record.with_pending(self._unseen(space, i, size, seed, record)[None])
            return record.pending[-n:]
        chosen = self._of_pool(space, range(first, first + n), size, seed, record.seen, space.in_memory)
        # Copies of the chosen points are looked for once for all of them: they are rare, and each look is a pass.
        if not space.in_memory and n > 1 and space.taken(chosen).shape[0] > n:
            chosen = self._of_pool(space, range(first, first + n), size, seed, record.seen, True)
        return chosen

    def _of_pool(self, space: Pool, numbers: range, size: int, seed: int, seen: Array, with_copies: bool) -> Array:
        """Points of a pool, each given those before it; ``with_copies`` excludes the copies of these as well."""
        taken, chosen = space.taken(seen), np.zeros((0, space.D))
        near = seen[space.index_of(seen) >= 0] if len(seen) else seen
        for i in numbers:
            rng = np.random.default_rng([seed, 0, i])
            if self.kind == "filling":
                index = space.spread(1, rng, taken, self.among_first if i < size else self.among_later, near)
            else:
                index = space.uniform(1, rng, taken)
            x = space.rows(index)
            space.table.note(index, x)
            chosen, near = np.vstack([chosen, x]), np.vstack([near, x])
            if i != numbers[-1]:
                taken = np.union1d(taken, space.find(x[0]) if with_copies else index)
        return chosen

    def _unseen(self, box: Box, i: int, size: int, seed: int, record: Record) -> Array:
        x = self._in_box(box, i, size, seed)
        for _ in range(_DESIGNS):
            if not record.has_seen(x):
                return x
            i += size  # by a learner with the same seed: take the point of this number in the next design
            x = self._in_box(box, i, size, seed)
        if box.lattice is None:
            return x
        raise NothingLeftError("hardly any combination of these inputs is left to ask for")

    def _in_box(self, box: Box, i: int, size: int, seed: int) -> Array:
        rng = np.random.default_rng([seed, 0, i // size])
        if self.kind == "random":
            return box.uniform(size, rng)[i % size]
        if self.kind == "latin-hypercube":
            return box.latin_hypercube(size, rng)[i % size]
        return box.filling(size, rng)[i % size]


def default_size(embedding: Embedding) -> int:
    """How many points fill the space before a model chooses: ``2 d + 4``, at least 6."""
    d = embedding.n_directions or 2
    return max(6, 2 * int(d) + 4)
