"""Places where experiments fail."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.active.feasibility import Feasible
from ridgeway.active.history import Record
from ridgeway.active.pool_coordinates import PoolView
from ridgeway.active.prospect import Prospect
from ridgeway.belief.belief_mixture import BeliefMixture
from tests.active.cases import box, every_shape, fitted, points, scaled
from tests.active.test_prospect import steepest_agree


def wrapped(shape="tall"):
    """Failures where the first input is large."""
    belief = fitted("two directions", shape=shape)
    D = belief.X.shape[1]
    more = points(40, D, seed=3)
    failed = more[scaled(more)[:, 0] > 0.3]
    record = Record.empty(rw.Box(*box(D))).with_outcomes(belief.X, belief.y).with_failures(failed, "burst")
    return Prospect(BeliefMixture.by_evidence([belief]), 1.0), record


@every_shape
def test_gradients_are_those_of_differences(shape):
    outlook, record = wrapped(shape)
    steepest_agree(Feasible.of(outlook, record, 0), points(3, record.X.shape[1]))


def test_failing_places_are_scored_lower():
    outlook, record = wrapped()
    X = points(60, 4)
    lost = outlook.score(None, X) - Feasible.of(outlook, record, 0).score(None, X)
    fails = scaled(X)[:, 0] > 0.3
    assert np.all(lost >= 0)
    assert np.median(lost[fails]) > np.median(lost[~fails]) + 0.3


def test_without_failures_nothing_changes():
    outlook, record = wrapped()
    none = Record.empty(record.space).with_outcomes(record.X, record.y)
    assert Feasible.of(outlook, none, 0) is outlook


def test_what_it_knows():
    outlook, record = wrapped()
    found = Feasible.of(outlook, record, 0)
    X = points(2, 4, seed=8)
    assert found.given(X).known_inputs.shape[0] == record.n + len(record.failed) + 2
    assert found.beliefs == outlook.beliefs
    np.testing.assert_array_equal(found.promising, outlook.promising)
    pool = rw.Pool(points(20, 4, seed=9))
    np.testing.assert_allclose(found.pool_scores(None, PoolView(pool)), found.score(None, pool.points), rtol=1e-9)


@pytest.mark.slow
def test_half_of_the_box_fails():
    """Its least value is there; what is found is the least of the other half."""
    space = rw.Box(-np.ones(4), np.ones(4))

    def f(x):
        if x[0] > 0:
            raise FloatingPointError("it burst")
        return float((x[0] - 0.5) ** 2 + 0.5 * (x[1:] ** 2).sum())

    found = rw.minimize(f, space, budget=16, embedding=rw.Linear(1), most_failures=16, random_state=1)
    assert found.n_done == 16
    assert found.best().observed_value < 1.0  # the least of the other half is 0.25, and typical values are above 1
