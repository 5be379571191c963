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


# -- limits --------------------------------------------------------------------------------------------------


def limited(limits_of):
    outlook, record = wrapped()
    record = Record.empty(record.space).with_outcomes(record.X, record.y)
    return outlook, record, limits_of(scaled(record.X))


def test_gradients_with_limits_and_failures_are_those_of_differences():
    outlook, record = wrapped()
    limits = np.stack([scaled(record.X)[:, 0], scaled(record.X)[:, 1] ** 2 - 0.5], axis=1)
    limits += 0.4 * np.random.default_rng(0).standard_normal(limits.shape)  # else all is certain, and rounding decides
    found = Feasible.of(outlook, record, 0, limits)
    assert len(found.requirements) == 3
    steepest_agree(found, points(3, record.X.shape[1]))


def test_a_limit_is_the_probability_that_it_is_kept():
    outlook, record, limits = limited(lambda U: U[:, :1] - 0.2)
    found = Feasible.of(outlook, record, 0, limits)
    X = points(200, 4, seed=5)
    lost = outlook.score(None, X) - found.score(None, X)
    breaks = scaled(X)[:, 0] - 0.2
    assert np.all(lost >= 0)
    assert np.all(lost[breaks < -0.3] < 0.2)
    assert np.all(lost[breaks > 0.3] > 2.0)


def test_where_no_observation_keeps_a_limit_keeping_it_comes_first():
    outlook, record, limits = limited(lambda U: U[:, :1] + 1.5)
    found = Feasible.of(outlook, record, 0, limits)
    assert not found.improves
    X = points(50, 4, seed=6)
    np.testing.assert_allclose(found.score(None, X), found.requirements[0].log_probability(X))
    assert scaled(found.promising)[0, 0] < np.quantile(scaled(record.X)[:, 0], 0.3)
    np.testing.assert_allclose(found.score_with_gradient(None, X)[0], found.score(None, X), rtol=1e-6)


def test_limits_that_are_not_known_are_left_out():
    outlook, record, limits = limited(lambda U: np.where(np.arange(len(U))[:, None] < 1, U[:, :1], np.nan))
    assert Feasible.of(outlook, record, 0, limits) is outlook


@pytest.mark.slow
def test_an_optimiser_looks_for_the_best_point_that_keeps_its_limits():
    learner = rw.ActiveLearner(rw.Box([-1, -1], [1, 1]), rw.Isotropic(), goal="minimize", random_state=0)
    for _ in range(14):
        x = learner.ask()
        learner.tell(x, float(np.sum((x - 0.5) ** 2)))
        learner.limit(learner.X.sum(axis=1, keepdims=True) + 0.5)
    best = learner.best()
    assert best.x.sum() <= -0.5
    assert best.observed_x.sum() <= -0.5
    assert best.observed_value < 2 * 0.75**2 * 1.1
    again = rw.ActiveLearner.from_dict(learner.to_dict())
    np.testing.assert_array_equal(again.ask(), learner.ask())


def test_limits_must_match_the_observations():
    learner = rw.ActiveLearner(rw.Box([-1, -1], [1, 1]), rw.Isotropic(), goal="minimize")
    learner.tell([[0.0, 0.0], [1.0, 1.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match="a row for each of the 2 observations"):
        learner.limit([[1.0]])
    with pytest.raises(ValueError, match="finite, or NaN"):
        learner.limit([[np.inf], [0.0]])
    learner.limit([[0.0], [np.nan]])
    learner.tell([0.5, 0.5], 2.0)
    with pytest.raises(ValueError, match="a row for each of the 3 observations"):
        learner.best()
    with pytest.raises(ValueError, match="goal must be"):
        rw.ActiveLearner(rw.Box([-1, -1], [1, 1]), rw.Isotropic()).limit([[1.0]])
