"""Scores of a belief on test points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.experiments import protocol, scores
from ridgeway.experiments.scores import Test


@pytest.fixture(scope="module")
def learned() -> tuple[rw.Belief, Test]:
    problem = protocol.problem("synthetic-10-2", 0)
    X, rng = problem.points[:60], np.random.default_rng(0)
    y = problem.f(X) + 0.1 * rng.standard_normal(60)
    belief = scores.quiet_fit(X, y, rw.Linear(2), bounds=(-1, 1), n_starts=5)
    return belief, problem.test(0)


@pytest.mark.slow
def test_plugged_in_scores_are_those_of_a_plain_gp(learned: tuple[rw.Belief, Test]) -> None:
    belief, test = learned
    belief = replace(belief, components=(replace(belief.components[0], weight=1.0),))
    U, T = test.X @ belief.embedding.T, test.X_test @ belief.embedding.T
    scale, noise, mean = belief.output_scale**2, belief.noise_variance, belief.mean
    K = scale * np.exp(-0.5 * ((U[:, None] - U) ** 2).sum(-1)) + noise * np.eye(100)
    k = scale * np.exp(-0.5 * ((T[:, None] - U) ** 2).sum(-1))
    m = mean + k @ np.linalg.solve(K, test.y - mean)
    v = scale - np.einsum("ij,ji->i", k, np.linalg.solve(K, k.T)) + noise
    found = scores.carried_scores(belief, test)
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((m - test.f_test) ** 2)), rel=1e-3)
    assert found["rmse_y"] == pytest.approx(np.sqrt(np.mean((m - test.y_test) ** 2)), rel=1e-3)
    density = np.mean(0.5 * np.log(2 * np.pi * v) + 0.5 * (test.y_test - m) ** 2 / v)
    assert found["nlpd"] == pytest.approx(density, abs=5e-3)


@pytest.mark.slow
def test_keeping_only_the_embedding_finds_the_mode_of_the_rest(learned: tuple[rw.Belief, Test]) -> None:
    belief, test = learned
    refitted = scores.with_embedding_of(belief, test.X, test.y)
    np.testing.assert_allclose(refitted.embedding, belief.embedding, atol=1e-10)
    theta = refitted.components[0].gp.theta
    best = refitted.posterior.log_density(theta)
    for i in (-4, -3, -2):
        for step in (-0.05, 0.05):
            moved = theta.copy()
            moved[i] += step
            assert refitted.posterior.log_density(moved) < best


def test_a_subspace_that_lacks_directions_is_at_a_right_angle(learned: tuple[rw.Belief, Test]) -> None:
    belief, _ = learned
    R = belief.embedding
    assert scores.largest_angle(belief, np.array([[1.0, 2.0], [0.0, 1.0]]) @ R) == pytest.approx(0.0, abs=1e-5)
    assert scores.largest_angle(belief, np.vstack([R, np.ones(10)])) == 90.0
