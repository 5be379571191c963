"""Candidates for the next experiment, scattered over the space, with what each would teach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ridgeway import acquisition
from ridgeway.box import Box
from ridgeway.outlook import Outlook
from ridgeway.pool import Pool
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief import Belief
    from ridgeway.learner import ActiveLearner

N_CANDIDATES = 600
_BYTES = 2**27  # that candidates may take


@dataclass(frozen=True)
class Candidates:
    """Points of the space and their scores."""

    X: Array  # (n, D)
    scores: Array  # (n,) nats


def of_belief(belief: Belief, n: int | None = None) -> Candidates:
    """Points uniform in the box that the belief's units describe, scored by :meth:`Belief.bald`."""
    scaling = belief.space.scaling
    n = _how_many(scaling.D) if n is None else n
    rng = np.random.default_rng(belief.seed)
    X = scaling.center + scaling.half_width * rng.uniform(-1.0, 1.0, (n, scaling.D))
    return Candidates(X, belief.bald(X))


def of_learner(learner: ActiveLearner, n: int | None = None) -> Candidates:
    """Points of the learner's box or pool, with the information in an observation of each given what is out."""
    rng = np.random.default_rng([learner.random_state, 3])
    space = learner.space
    n = _how_many(space.D) if n is None else n
    if isinstance(space, Pool):
        free = np.flatnonzero(learner.record.free)
        X = space.rows(rng.choice(free, min(n, free.size), replace=False))
    else:
        assert isinstance(space, Box)
        X = space.uniform(n, rng)
    return Candidates(X, acquisition.score(acquisition.information, learner.outlook(), X))


def in_turn(outlook: Outlook, X: Array) -> Array:
    """Nats in an observation of each of ``X (n, D)``, given what is out and those before it."""
    nats = np.zeros(X.shape[0])
    for i, x in enumerate(X):
        nats[i] = acquisition.score(acquisition.information, outlook, x[None])[0]
        outlook = outlook.given(x[None])
    return nats


def _how_many(D: int) -> int:
    return int(np.clip(_BYTES // (8 * D), 32, N_CANDIDATES))
