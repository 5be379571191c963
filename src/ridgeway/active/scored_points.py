"""Points scattered over the space with the information that an experiment at each would give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ridgeway.active import acquisition
from ridgeway.active.pending import PendingBelief
from ridgeway.spaces.box import Box
from ridgeway.spaces.pool import Pool
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.active.learner import ActiveLearner
    from ridgeway.belief.belief import Belief

N_POINTS = 600
_BYTES = 2**27  # memory that the points may take


@dataclass(frozen=True)
class ScoredPoints:
    """Points of the space and their scores."""

    X: Array  # (n, D)
    scores: Array  # (n,) nats


def of_belief(belief: Belief, n: int | None = None) -> ScoredPoints:
    """Points uniform in the box that the belief's units describe, scored by :meth:`Belief.bald`."""
    scaling = belief.space.scaling
    n = _default_number(scaling.D) if n is None else n
    rng = np.random.default_rng(belief.seed)
    X = scaling.center + scaling.half_width * rng.uniform(-1.0, 1.0, (n, scaling.D))
    return ScoredPoints(X, belief.bald(X))


def of_learner(learner: ActiveLearner, n: int | None = None) -> ScoredPoints:
    """Points of the learner's box or pool, with the information in an observation of each given the pending ones."""
    rng = np.random.default_rng([learner.random_state, 3])
    space = learner.space
    n = _default_number(space.D) if n is None else n
    if isinstance(space, Pool):
        taken = space.taken(learner.record.seen)
        X = space.rows(space.uniform(min(n, len(space) - len(taken)), rng, taken))
    else:
        assert isinstance(space, Box)
        X = space.uniform(n, rng)
    return ScoredPoints(X, acquisition.score(acquisition.information, learner.outlook(), X))


def in_turn(pending: PendingBelief, X: Array) -> Array:
    """Nats in an observation of each of ``X (n, D)``, given the pending points and those before it."""
    nats = np.zeros(X.shape[0])
    for i, x in enumerate(X):
        nats[i] = acquisition.score(acquisition.information, pending, x[None])[0]
        pending = pending.given(x[None])
    return nats


def _default_number(D: int) -> int:
    return int(np.clip(_BYTES // (8 * D), 32, N_POINTS))
