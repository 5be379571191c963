"""Experiments chosen for an integral."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.active.integral import ReductionScorer, best_point
from tests.belief.averaged import LOWER, UPPER, fitted, ridge


def exponential(x: np.ndarray) -> float:
    return float(np.exp(x[0] - x[1]))


TRUTH = 2.0 * (np.cosh(1.0) - 1.0)


def test_a_reduction_is_what_an_observation_takes_from_the_variance() -> None:
    # One draw: the hyperparameters are known, and the variance after an observation does not depend on its value.
    belief = fitted(1)
    scorer = ReductionScorer(belief, n_draws=1)
    one, mean, _ = scorer._drawn[0]
    gp, scaling = one.gp, belief.space.scaling
    X = np.random.default_rng(0).uniform(LOWER, UPPER, (3, 4))
    Z = scaling.scaled(X)

    def variance(points: np.ndarray) -> float:
        U = one.rows.project(points)
        from ridgeway.gp.kernel_means import kernel_means

        means = kernel_means(scorer.measure, gp.kernel, one.rows, U)
        K = gp.output_variance * np.exp(-0.5 * np.sum((U[:, None] - U) ** 2, axis=2))
        K += np.diag(np.append(gp.noise_diagonal, np.full(len(U) - gp.data.n, np.median(gp.noise_diagonal))))
        z = gp.output_variance * means.to_data
        return gp.output_variance * means.itself - float(z @ np.linalg.solve(K, z))

    data = scaling.scaled(belief.X)
    expected = [variance(data) - variance(np.vstack([data, z])) for z in Z]
    np.testing.assert_allclose(scorer(X), expected, rtol=1e-3, atol=1e-12)
    assert np.isfinite(mean)


def test_points_that_are_pending_count_as_observed() -> None:
    # With known hyperparameters a variance does not depend on outcomes: a belief that has the points says the same.
    belief = fitted(1)
    rng = np.random.default_rng(0)
    given, X = rng.uniform(LOWER, UPPER, (2, 4)), rng.uniform(LOWER, UPPER, (5, 4))
    one = ReductionScorer(belief, n_draws=1)
    # Reductions of one after the other add up, in whatever order, to that of all together.
    first = one(given[:1])[0] + ReductionScorer(belief, n_draws=1, given=given[:1])(X)
    others = [one(x[None])[0] + ReductionScorer(belief, n_draws=1, given=x[None])(given[:1])[0] for x in X]
    np.testing.assert_allclose(first, others, rtol=1e-6)
    again = ReductionScorer(belief, given=given[:1])(given[:1])
    assert again[0] < ReductionScorer(belief)(given[:1])[0]  # a second look at a place teaches less


@pytest.mark.slow
def test_the_best_point_is_in_the_box_and_better_than_most() -> None:
    learner = rw.ActiveLearner(rw.Box(LOWER, UPPER), rw.Linear(1))
    X = np.random.default_rng(0).uniform(LOWER, UPPER, (8, 4))
    learner.tell(X, ridge(X))
    x = best_point(learner)
    assert np.all((x >= LOWER) & (x <= UPPER))
    others = np.random.default_rng(1).uniform(LOWER, UPPER, (60, 4))
    scorer = ReductionScorer(learner.belief)
    assert scorer(x[None])[0] >= np.quantile(scorer(others), 0.9)


@pytest.mark.slow
def test_an_integral_is_found_and_narrowed() -> None:
    found = rw.integrate(exponential, rw.Box([0, 0], [1, 1]), budget=10, embedding=rw.Linear(1), effort="quick")
    assert found.mean == pytest.approx(TRUTH, abs=0.02)
    assert found.learner.n_done == 10
    assert found.course[-1].std < found.course[0].std
    assert found.learner.ended == "the budget of 10 experiments is spent"


@pytest.mark.slow
def test_it_stops_when_it_is_narrow_enough_and_goes_on_from_a_learner() -> None:
    learner = rw.ActiveLearner(rw.Box([0, 0], [1, 1]), rw.Linear(1), effort="quick")
    found = rw.integrate(exponential, learner, budget=20, stop_below=10.0)
    assert found.learner is learner
    assert learner.n_done == learner.n_initial
    assert "below 10" in learner.ended


@pytest.mark.slow
def test_a_pool_is_averaged_over_its_points() -> None:
    X = np.random.default_rng(0).uniform(0, 1, (12, 2))
    found = rw.integrate(exponential, rw.Pool(X), budget=8, embedding=rw.Linear(1), effort="quick")
    assert found.mean == pytest.approx(np.mean([exponential(x) for x in X]), abs=0.1)
    assert len({tuple(x) for x in found.learner.X}) == 8


def test_failures_are_counted_and_bad_arguments_refused() -> None:
    box = rw.Box([0, 0], [1, 1])
    with pytest.raises(RuntimeError, match="the last 2 experiments failed"):
        rw.integrate(lambda x: float("nan"), box, budget=9, most_failures=2, embedding=rw.Linear(1))
    with pytest.raises(ValueError, match="stop_below must be a positive number"):
        rw.integrate(exponential, box, stop_below=-1.0)
    with pytest.raises(ValueError, match="stop_below must be a positive number or None, got True"):
        rw.integrate(exponential, box, stop_below=True)
    with pytest.raises(TypeError, match="options must be left out where a learner is given: embedding"):
        rw.integrate(exponential, rw.ActiveLearner(box, rw.Linear(1)), embedding=rw.Linear(1))


FAST = {"embedding": rw.Linear(1), "inference": "map", "effort": "quick"}
BOX = rw.Box([0, 0], [1, 1], names=["a", "b"])


@pytest.mark.parametrize(
    ("over", "message"),
    [
        (rw.measures.Uniform([0.0], [1.0]), "over must be about the 2 inputs"),
        ({"c": None}, "must be one of a, b"),
        (np.array([[0.1, np.nan]]), "finite"),
    ],
)
def test_a_wrong_measure_is_refused_before_an_experiment_is_made(over: object, message: str) -> None:
    calls: list[np.ndarray] = []
    with pytest.raises(ValueError, match=message):
        rw.integrate(lambda x: calls.append(x) or 1.0, BOX, 8, over=over, **FAST)  # type: ignore[func-returns-value]
    assert not calls


@pytest.mark.slow
def test_a_place_that_fails_is_not_tried_again() -> None:
    found = rw.integrate(lambda x: exponential(x) if x[0] < 0.5 else np.nan, BOX, budget=20, most_failures=20, **FAST)
    failed = np.array([x for x, _ in found.learner.failed])
    assert len(failed) > 1
    assert len(np.unique(failed.round(9), axis=0)) == len(failed)
    assert found.learner.n_done == 20


@pytest.mark.slow
def test_it_runs_several_at_a_time_and_calls_back_after_failures_too() -> None:
    seen: list[int] = []
    found = rw.integrate(
        lambda x: exponential(x) if x[1] < 0.8 else np.nan, BOX, budget=14, workers=3,
        callback=lambda learner: seen.append(learner.n_done), most_failures=14, **FAST,
    )  # fmt: skip
    assert seen == list(range(1, 15))
    assert len(found.learner.pending) == 0
    assert len(np.unique(found.learner.X, axis=0)) == found.learner.record.n
    assert str(found).startswith(f"{found.mean:.6g} ± ")
    assert "the budget of 14 experiments is spent" in str(found)


@pytest.mark.slow
def test_an_interruption_leaves_nothing_pending() -> None:
    learner = rw.ActiveLearner(BOX, **FAST)
    calls: list[int] = []

    def f(x: np.ndarray) -> float:
        calls.append(1)
        if len(calls) == 10:
            raise KeyboardInterrupt
        return exponential(x)

    with pytest.raises(KeyboardInterrupt):
        rw.integrate(f, learner, budget=20)
    assert learner.record.n == 9
    assert len(learner.pending) == 0


@pytest.mark.slow
def test_it_ends_below_the_limit_or_says_that_it_does_not() -> None:
    found = rw.integrate(exponential, BOX, budget=40, stop_below=0.01, embedding=rw.Linear(1), effort="quick")
    assert found.std < 0.01 or "the budget" in found.learner.ended
    assert all(step.n <= found.learner.record.n for step in found.course)


@pytest.mark.slow
def test_a_pool_that_is_exhausted_is_named() -> None:
    X = np.random.default_rng(0).uniform(0, 1, (9, 2))
    assert rw.integrate(exponential, rw.Pool(X), budget=30, **FAST).learner.ended == "the pool is exhausted"


def test_all_that_failed_is_named() -> None:
    learner = rw.ActiveLearner(BOX, goal="minimize", **FAST)
    with pytest.raises(ValueError, match="before the first observation"):
        learner.best()
    learner.fail([0.1, 0.2], "no power")
    with pytest.raises(ValueError, match="the one experiment failed, the last reason: no power"):
        learner.best()
    with pytest.raises(
        ValueError, match="space must be a learner whose goal is \"learn\", got one whose goal is 'minimize'"
    ):
        rw.integrate(exponential, learner)


@pytest.mark.slow
def test_an_integral_is_over_what_constraints_leave() -> None:
    space = rw.Box(0.0, 1.0, names=["A", "B", "C"], constraints=["A + B + C = 1"])
    found = rw.integrate(lambda x: float(3.0 * x[0] + x[1]), space, budget=10, embedding=rw.Linear(1), inference="map")
    assert np.abs(found.learner.X.sum(axis=1) - 1.0).max() < 1e-9
    assert abs(found.integral.mean - 4.0 / 3.0) < 0.05  # each share is a third on average
