"""The best point so far."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from tests.active.learner_problem import LOWER, UPPER, make


def noisy(goal, n=40, noise=0.5):
    """A smooth valley or hill with much noise, and its height without."""
    rng = np.random.default_rng(1)
    X = rng.uniform(LOWER, UPPER, (n, 3))
    z = 2.0 * (X - LOWER) / (UPPER - LOWER) - 1.0
    f = (1.0 if goal == "minimize" else -1.0) * (z[:, 0] + 0.5 * z[:, 1]) ** 2
    learner = make(goal=goal, acquisition=None)
    learner.tell(X, 7.0 + f + noise * rng.normal(size=n))
    return learner, 7.0 + f


@pytest.mark.slow
@pytest.mark.parametrize("goal", ["minimize", "maximize"])
def test_luck_is_not_taken_for_the_best(goal):
    learner, f = noisy(goal)
    best = learner.best()
    pick = np.argmin if goal == "minimize" else np.argmax
    assert best.observed_index == pick(learner.y)
    assert best.observed_value == learner.y[best.observed_index]
    np.testing.assert_array_equal(best.observed_x, learner.X[best.observed_index])
    np.testing.assert_array_equal(best.x, learner.X[best.index])
    assert best.interval[0] < best.value < best.interval[1]
    assert best.interval[0] < f[best.index] < best.interval[1]
    # What is predicted is nearer to the truth than the luckiest outcome.
    assert abs(best.value - f[best.index]) < abs(best.observed_value - f[best.observed_index])


@pytest.mark.slow
def test_without_noise_it_is_the_best_outcome():
    learner, _ = noisy("minimize", noise=0.0)
    best = learner.best()
    assert best.index == best.observed_index
    assert best.value == pytest.approx(best.observed_value, abs=0.05)


@pytest.mark.slow
def test_one_outcome_or_equal_ones():
    learner = make(goal="maximize", acquisition=None)
    learner.tell(LOWER, 3.0)
    assert learner.best().observed_value == 3.0
    learner.tell(np.random.default_rng(0).uniform(LOWER, UPPER, (5, 3)), np.full(5, 3.0))
    best = learner.best()
    assert best.value == pytest.approx(3.0, abs=1e-6)
    assert learner.ask().shape == (3,)


def test_without_an_outcome_or_a_goal_there_is_none():
    with pytest.raises(ValueError, match="no belief before the first observation"):
        make(goal="minimize", acquisition=None).best()
    learner = rw.ActiveLearner(rw.Box(LOWER, UPPER))
    learner.tell(LOWER, 3.0)
    with pytest.raises(ValueError, match='goal must be "minimize" or "maximize" for a best point, got "learn"'):
        learner.best()
