"""The best point so far."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.active.best import best_of
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


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("noise", "index"), [(0.001, 0), (0.02, 1), (0.2, 2), (10.0, 2)])
def test_the_outcome_decides_among_predictions_that_are_equal_within_the_noise(sign, noise, index):
    # Predictions of a function without noise are a little wrong everywhere. Luck counts for 5 % of the spread at most.
    record = make(goal="minimize" if sign > 0 else "maximize").record
    record = record.with_outcomes(np.linspace(LOWER, UPPER, 4), sign * np.array([0.3, 0.2, 0.1, 0.0]))
    belief = SimpleNamespace(noise_variance=noise**2, y=np.array([-1.0, 1.0]))
    mixture = SimpleNamespace(
        beliefs=(belief,),
        weights=np.ones(1),
        predict=lambda X: SimpleNamespace(mean=sign * np.array([0.0, 0.01, 0.04, 0.06])),
        quantiles=lambda X, probabilities: np.array([[0.0, 0.1, 0.2]]),
    )
    warp = SimpleNamespace(inverse=lambda values: values)
    best = best_of(SimpleNamespace(mixture=mixture, warp=warp), record, sign)
    assert (best.index, best.observed_index) == (index, 3)


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
