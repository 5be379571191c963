"""Several functions of the same inputs: scores add up, in boxes and pools, with gradients and pending points."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ridgeway as rw
from ridgeway.active import maximize
from ridgeway.active.acquisition import information, outlook_of, score, score_with_gradient
from ridgeway.active.pool_coordinates import view_of
from ridgeway.active.several import SummedOutlook, summed, turn
from tests.active.maximize_problem import box, points

D = 3
PRIORS = rw.Priors(log_noise=(-1.5, 0.2))


def belief(n, seed):
    """Of a function of its own, seen at points of its own."""
    X, rng = points(n, D, [seed, 1]), np.random.default_rng([seed, 2])
    lower, upper = box(D)
    Z = 2.0 * (X - lower) / (upper - lower) - 1.0
    y = np.sin(2.0 * Z @ rng.standard_normal(D)) + 0.2 * rng.standard_normal(n)
    return rw.fit(X, y, rw.Linear(1), inference="map", n_starts=2, bounds=box(D), priors=PRIORS, random_state=seed)


@pytest.fixture(scope="module")
def outlooks():
    return outlook_of(belief(12, 1)), outlook_of(belief(9, 2))


@pytest.fixture(scope="module")
def whole(outlooks):
    return SummedOutlook(outlooks, (1.0, 2.5))


def test_scores_are_the_weighted_sum_also_with_pending_points(outlooks, whole):
    X, pending = points(40, D, 5), points(3, D, 6)
    first, second = outlooks
    np.testing.assert_allclose(
        score(information, whole, X), score(information, first, X) + 2.5 * score(information, second, X), rtol=1e-12
    )
    given = whole.given(pending)
    parts = score(information, first.given(pending), X) + 2.5 * score(information, second.given(pending), X)
    np.testing.assert_allclose(score(information, given, X), parts, rtol=1e-12)
    assert np.all(score(information, given, pending) < score(information, whole, pending))
    pool = rw.Pool(X)
    np.testing.assert_allclose(whole.pool_scores(information, view_of(pool)), score(information, whole, X), rtol=1e-9)


def test_gradient_by_finite_differences(whole):
    lower, upper = box(D)
    outlook, X = whole.given(points(2, D, 7)), points(4, D, 8)
    _, gradients = score_with_gradient(information, outlook, X)
    for j in range(D):
        step = 1e-5 * (upper[j] - lower[j]) * np.eye(D)[j]
        rise = score(information, outlook, X + step) - score(information, outlook, X - step)
        np.testing.assert_allclose(gradients[:, j], rise / (2.0 * step[j]), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "space",
    [
        rw.Box(*box(D)),
        rw.Box(*box(D), constraints=["x0 + x1 <= 0"], steps=[None, None, 1.0]),
    ],
    ids=["free", "constrained and in steps"],
)
def test_the_best_point_of_a_box_is_as_good_as_many_random_ones(whole, space):
    found = maximize.over_box(space, whole, information, 2, np.random.default_rng(3))
    X = (
        space.snapped(space.uniform(2000, np.random.default_rng(4)))
        if space.lattice
        else space.uniform(2000, np.random.default_rng(4))
    )
    X = X[space.contains(X, 1e-9)]
    assert len(X) > 300
    assert space.contains(found.X, 1e-8).all()
    assert found.scores[0] >= 0.98 * score(information, whole, X).max()
    after = whole.given(found.X[:1])
    np.testing.assert_allclose(found.scores[1], score(information, after, found.X[1:])[0], rtol=1e-6)


@pytest.mark.parametrize("in_memory", [True, False])
def test_the_best_point_of_a_pool(whole, in_memory: bool, tmp_path: Path):
    X = points(200, D, 9)
    for i in range(2):
        frame = pd.DataFrame(X[100 * i : 100 * (i + 1)], columns=[f"x{j}" for j in range(D)])
        frame.to_parquet(tmp_path / f"{i}.parquet", index=False)
    pool = rw.Pool(X if in_memory else str(tmp_path / "*.parquet"))
    assert pool.in_memory is in_memory
    scores = score(information, whole, X)
    found = maximize.over_pool(view_of(pool), whole, information, 1, np.zeros((0, D)))
    assert scores[found.indices[0]] == pytest.approx(scores.max(), rel=1e-8)


def test_what_is_known_to_either_is_known(outlooks, whole):
    known = {row.tobytes() for row in whole.known_inputs}
    assert known == {row.tobytes() for outlook in outlooks for row in outlook.known_inputs}
    assert len(whole.beliefs) == 2
    assert summed([outlooks[0]], [3.0]) is outlooks[0]


def test_turns_are_shared_by_weight():
    many = [turn(i, (1.0, 3.0, 0.0)) for i in range(40)]
    assert (many.count(0), many.count(1), many.count(2)) == (10, 30, 0)
    assert [turn(i, (1.0, 1.0, 1.0)) for i in range(6)] == [0, 1, 2, 0, 1, 2]
