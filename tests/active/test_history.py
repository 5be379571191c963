"""Telling a learner: outcomes, failures, withdrawn points, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from tests.active.learner_problem import (
    FAST,
    LOWER,
    UPPER,
    box,
    candidates,
    either_space,
    f,
    inside,
    make,
    nearest,
    run,
    spaces,
)

pytestmark = pytest.mark.usefixtures("little_effort")


@either_space
def test_points_that_were_not_asked(space):
    learner = make(spaces()[space])
    X = candidates()[:5]
    learner.tell(X, f(X))
    learner.tell(X[0], f(X[0]) + 0.1)  # a replicate
    assert learner.n_asked == 0
    assert learner.y.shape == (6,)
    np.testing.assert_array_equal(learner.X[5], X[0])
    np.testing.assert_array_equal(learner.belief.X, learner.X)
    x = learner.ask()
    assert nearest(np.vstack([X, x])) > 1e-6


@pytest.mark.parametrize("acquisition", ["information", "random", "latin-hypercube"])
def test_results_of_an_earlier_learner(acquisition):
    """Told to a new one that has the same seed: it does not ask for the same points again."""
    earlier, learner, other = (make(acquisition=acquisition, n_initial=8) for _ in range(3))
    X = earlier.ask(4)
    learner.tell(X[:3], f(X[:3]))
    learner.fail(X[3])
    more = [learner.ask() for _ in range(4)]
    assert nearest(np.vstack([X, more])) > 1e-6
    other.tell(X[:3], f(X[:3]))
    other.fail(X[3])
    np.testing.assert_array_equal(other.ask(4), more)


def test_observations_in_another_order_and_form():
    learner = make()
    X = learner.ask(4)
    learner.tell(X[2], [f(X[2])])
    learner.tell(X[[3, 0]].tolist(), f(X[[3, 0]])[:, None])
    np.testing.assert_array_equal(learner.pending, X[1:2])
    np.testing.assert_array_equal(learner.X, X[[2, 3, 0]])
    np.testing.assert_array_equal(learner.y, f(X[[2, 3, 0]]))


def test_a_rounded_point_is_the_one_that_is_out():
    learner = make()
    x = learner.ask()
    learner.tell(x * (1.0 - 1e-10), 1.0)
    assert learner.pending.shape == (0, 3)
    x = learner.ask()
    learner.tell(LOWER + 0.5 * (x - LOWER), 1.0)  # another one
    assert learner.pending.shape == (1, 3)


def test_replicates_settle_one_each():
    learner = make()
    x = learner.ask()
    learner.tell([x, x], [1.0, 1.1])
    assert learner.pending.shape == (0, 3)
    assert learner.y.tolist() == [1.0, 1.1]


def test_only_replicates_of_the_centre():
    """Nothing is known about any direction, and still there is a next point."""
    learner = make(rw.Box(-1.0, [1.0] * 4), n_initial=1)
    learner.tell(np.zeros((3, 4)), [1.0, 1.2, 0.9])
    X = np.vstack([learner.ask() for _ in range(3)])
    assert np.abs(X).max(axis=1).min() > 1e-3


def test_known_noise():
    learner = make()
    X = candidates()[:8]
    learner.tell(X[:4], f(X[:4]), noise_variance=0.3)
    learner.tell(X[4:6], f(X[4:6]), noise_variance=[0.1, 0.2])
    learner.tell(X[6:], f(X[6:]))
    np.testing.assert_allclose(learner.record.noise, [0.3] * 4 + [0.1, 0.2, 0.0, 0.0])
    floor, scale = rw.Priors().noise_floor, learner.belief.output.scale
    expected = floor**2 + learner.record.noise / scale**2
    np.testing.assert_allclose(learner.belief.posterior.data.noise, expected)
    for wrong in (-1.0, np.nan, [1.0, 2.0]):
        before = learner.to_dict()
        with pytest.raises(ValueError, match="noise_variance must"):
            learner.tell(X[0], 1.0, noise_variance=wrong)
        assert learner.to_dict() == before


def test_an_experiment_to_come_is_as_noisy_as_those_so_far():
    learner = make()
    X = candidates()
    learner.tell(X[:9], f(X[:9]), noise_variance=[0.1] * 3 + [0.3] * 6)
    belief = learner.belief
    prediction = belief.predict(X[9:])
    noise = belief.noise_variance + 0.3
    expected = 0.5 * np.log((prediction.variance + noise) / (prediction.map_variance + noise))
    np.testing.assert_allclose(learner.score(X[9:]), expected)
    assert learner.score(X[9:]).max() < rw.acquisition.information(belief, X[9:]).max()


def test_nan_is_a_failure():
    learner = make()
    X = learner.ask(4)
    learner.tell(X, [1.0, np.nan, 2.0, np.nan], noise_variance=[1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(learner.X, X[[0, 2]])
    np.testing.assert_array_equal(learner.record.noise, [1.0, 3.0])
    assert [reason for _, reason in learner.failed] == ["the outcome is NaN"] * 2
    np.testing.assert_array_equal([x for x, _ in learner.failed], X[[1, 3]])
    assert learner.n_done == 4
    assert learner.pending.shape == (0, 3)
    assert learner.belief.y.tolist() == [1.0, 2.0]


@either_space
def test_fail_and_withdraw(space):
    learner = make(spaces()[space])
    X = learner.ask(3)
    learner.fail(X[0], reason="the fuse blew")
    learner.withdraw(X[1])
    np.testing.assert_array_equal(learner.pending, X[2:])
    assert [reason for _, reason in learner.failed] == ["the fuse blew"]
    learner.fail(candidates()[7])  # not asked: no use asking
    assert learner.failed[1][1] == "failed"
    assert learner.n_done == 2
    learner.withdraw(learner.pending)
    assert learner.pending.shape == (0, 3)
    before = learner.to_dict()
    with pytest.raises(ValueError, match="x must be pending"):
        learner.withdraw(X[1])
    assert learner.to_dict() == before


@either_space
def test_a_point_of_the_users_own_is_reserved(space):
    learner = make(spaces()[space])
    x = learner.preview(1).X[0]
    learner.reserve(x)
    np.testing.assert_array_equal(learner.pending, x[None])
    assert not (learner.ask(2) == x).all(axis=1).any()
    learner.tell(x, 1.0)
    assert len(learner.pending) == 2
    with pytest.raises(ValueError, match="x must have 3 inputs"):
        learner.reserve([1.0])


def test_a_withdrawn_row_of_a_pool_is_free_again():
    learner = make(rw.Pool(candidates(5)), n_initial=1, fill_every=None)
    X = learner.ask(5)
    with pytest.raises(ValueError, match="the pool is exhausted, 1 asked"):
        learner.ask()
    learner.withdraw(X[2])
    np.testing.assert_array_equal(learner.ask(), X[2])
    learner.fail(X[2])
    with pytest.raises(ValueError, match="the pool is exhausted"):
        learner.ask()


def test_fewer_rows_than_asked():
    learner = make(rw.Pool(candidates(10)))
    run(learner, 7)
    before = learner.to_dict()
    with pytest.raises(ValueError, match="the pool has only 3 points left, 4 asked"):
        learner.ask(4)
    assert learner.to_dict() == before
    X = learner.ask(3)
    assert nearest(np.vstack([learner.X, X])) > 1e-9


@pytest.mark.parametrize("acquisition", ["information", "random"])
def test_copies_in_a_pool_are_asked_once(acquisition):
    distinct = candidates(9)
    pool = rw.Pool(np.vstack([distinct, distinct, distinct]))
    learner = make(pool, acquisition=acquisition)
    X = np.vstack([run(learner, 5), learner.ask(4)])
    assert len(np.unique(X, axis=0)) == 9
    assert not learner.record.free.any()
    again = make(pool, acquisition=acquisition)
    run(again, 5)
    _ = again.belief
    before = again.to_dict()
    with pytest.raises(ValueError, match="points left"):
        again.ask(5)
    assert again.to_dict() == before


@pytest.mark.parametrize(
    ("x", "y", "says"),
    [
        ([0.5, 0.0, 200.0], np.inf, r"y must be finite, or NaN for an experiment that failed, but y\[0\] is inf"),
        ([0.5, 0.0, 200.0], -np.inf, "y must be finite"),
        ([0.5, 0.0, 200.0], [1.0, 2.0], "y must have one value for each of the 1 points"),
        ([[0.5, 0.0, 200.0]] * 2, 1.0, "y must have one value for each of the 2 points"),
        ([[0.5, 0.0, 200.0]] * 2, [1.0, np.inf], r"y\[1\] is inf"),
        ([0.5, 0.0, 200.0], "high", "y must hold numbers"),
        ([0.5, 0.0], 1.0, "x must have 3 inputs as the space has, got 2"),
        ([[0.5, 0.0, 200.0, 1.0]], [1.0], "x must have 3 inputs"),
        ([0.5, 9.0, 200.0], 1.0, r"input 1 of row 0 is 9, not within \[-5, 5\] \(pass outside=True if meant\)"),
        ([[0.5, 0.0, 200.0], [-1.0, 0.0, 200.0]], [1.0, 2.0], "input 0 of row 1 is -1"),
        ([np.nan, 0.0, 200.0], 1.0, "x must be finite"),
        ([0.5, 0.0, np.inf], 1.0, "x must be finite"),
        (0.5, 1.0, r"x must have shape \(n, D\)"),
    ],
)
def test_observations_that_are_refused(x, y, says):
    learner = make()
    run(learner, 5)
    learner.ask()
    before = learner.to_dict()
    with pytest.raises(ValueError, match=says):
        learner.tell(x, y)
    assert learner.to_dict() == before


def test_points_outside_a_box():
    learner = rw.ActiveLearner(rw.Box(LOWER, UPPER, names=["share", "shift", "load"]), rw.Linear(1), **FAST)
    with pytest.raises(ValueError, match="input 'load' of row 0 is 400, not within"):
        learner.tell([0.5, 0.0, 400.0], 1.0)
    learner.tell([0.5, 0.0, 400.0], 1.0, outside=True)
    assert learner.X[0, 2] == 400.0
    learner.tell(candidates()[:5], f(candidates()[:5]))
    assert inside(learner, learner.ask())


def test_points_outside_a_pool():
    learner = make(rw.Pool(candidates()))
    strange = np.vstack([candidates()[0], candidates()[0] + 0.01])
    before = learner.to_dict()
    with pytest.raises(ValueError, match="x must be points of the pool, but row 1 is not"):
        learner.tell(strange, [1.0, 2.0])
    assert learner.to_dict() == before
    learner.tell(strange, [1.0, 2.0], outside=True)
    assert learner.y.shape == (2,)
    assert inside(learner, learner.ask())


@pytest.mark.parametrize(
    "call",
    [
        lambda learner: learner.ask(0),
        lambda learner: learner.ask(2.0),
        lambda learner: learner.ask(True),
        lambda learner: learner.fail([0.5, 0.0]),
        lambda learner: learner.fail([np.nan, 0.0, 200.0]),
        lambda learner: learner.withdraw([0.5, 0.0, 200.0]),
        lambda learner: learner.withdraw([0.5, 0.0]),
        lambda learner: learner.withdraw(np.vstack([learner.pending, learner.pending])),
    ],
)
def test_an_error_changes_nothing(call):
    learner = make()
    run(learner, 5)
    learner.ask(2)
    before = learner.to_dict()
    with pytest.raises(ValueError, match=r"n must be|x must|one column"):
        call(learner)
    assert learner.to_dict() == before


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"space": candidates()}, TypeError, "space must be a Box or a Pool"),
        ({"space": (0.0, 1.0)}, TypeError, "space must be a Box or a Pool"),
        ({"acquisition": "best"}, ValueError, "acquisition must be one of"),
        ({"acquisition": 3}, TypeError, "acquisition must be a name"),
        ({"kernel": "cubic"}, ValueError, "kernel must be one of"),
        ({"n_initial": 0}, ValueError, "n_initial must be a whole number of at least 1"),
        ({"n_initial": 2.5}, ValueError, "n_initial must be a whole number"),
        ({"fill_every": 1}, ValueError, "fill_every must be a whole number of at least 2"),
        ({"random_state": -1}, ValueError, "random_state must be a whole number"),
        ({"random_state": None}, ValueError, "random_state must be a whole number"),
        ({"embedding": "linear"}, TypeError, "embedding must be"),
        ({"embedding": rw.Linear(4)}, ValueError, "d of Linear must be at most the number of inputs, 3, got 4"),
        ({"inference": "mcmc"}, ValueError, "inference must be one of"),
        ({"marginal": "exact"}, ValueError, "marginal must be one of"),
        ({"priors": {"mean": 0.0}}, TypeError, "priors must be a Priors or None"),
    ],
)
def test_arguments_are_checked_before_the_first_experiment(arguments, error, says):
    """Not when the first model is fitted, after experiments that cost something."""
    with pytest.raises(error, match=says):
        rw.ActiveLearner(**{"space": box(), **arguments})
