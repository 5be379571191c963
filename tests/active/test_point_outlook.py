"""Points scored by an acquisition that knows how."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.active.acquisition import PointAcquisition, outlook_of
from ridgeway.active.pending import PendingBelief
from ridgeway.active.point_outlook import PointOutlook
from ridgeway.types import Array

X = np.random.default_rng(0).uniform(-1.0, 1.0, (12, 3))


@dataclass(frozen=True)
class FarFromPending:
    """Large where a point is far from the first pending one, and from 0 where there is none."""

    name: str = "far"

    @property
    def jointly(self) -> FarFromPending:
        return self

    def scores(self, pending: PendingBelief, X: Array) -> Array:
        return self.scores_with_gradient(pending, X)[0]

    def scores_with_gradient(self, pending: PendingBelief, X: Array) -> tuple[Array, Array]:
        away = X - pending.known_inputs[-1] if pending.n_pending else X
        result: Array = (away**2).sum(axis=1)
        return result, 2.0 * away


def learner(space: rw.Box | rw.Pool) -> rw.ActiveLearner:
    found = rw.ActiveLearner(space, rw.Linear(1), FarFromPending(), fill_every=None, n_initial=2, effort="quick")
    found.tell(X, np.sin(X[:, 0] + X[:, 1]), outside=True)
    return found


def test_scores_are_the_acquisitions_given_what_is_pending() -> None:
    belief = learner(rw.Box([-1.0] * 3, [1.0] * 3)).belief
    outlook = PointOutlook(FarFromPending(), outlook_of(belief))
    assert isinstance(outlook.acquisition, PointAcquisition)
    np.testing.assert_allclose(outlook.score(None, X), (X**2).sum(axis=1))
    given = outlook.given(X[:1])
    np.testing.assert_allclose(given.score(None, X), ((X - X[0]) ** 2).sum(axis=1))
    np.testing.assert_allclose(given.score_with_gradient(None, X)[1], 2.0 * (X - X[0]))
    np.testing.assert_array_equal(given.known_inputs, np.vstack([X, X[:1]]))


@pytest.mark.slow
def test_a_box_and_a_pool_are_searched() -> None:
    corner, opposite = learner(rw.Box([-1.0] * 3, [1.0] * 3)).ask(2)
    np.testing.assert_allclose(np.abs(corner), 1.0)
    np.testing.assert_allclose(opposite, -corner)
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (300, 3))
    np.testing.assert_array_equal(learner(rw.Pool(points)).ask(), points[np.argmax((points**2).sum(axis=1))])
