import numpy as np
import pytest

from ridgeway.gp import feature_likelihood, feature_moments, moments
from tests.gp.many import problem


@pytest.mark.parametrize("d", [1, 2])
def test_derivatives_of_mean_and_variance(d):
    # With as many directions as inputs the regression of the inputs on the embedding is exact.
    _, rows, embedding, kernel, theta = problem(100, D=d, d=d)
    fixed = rows.around(embedding, kernel, theta)
    gp = feature_likelihood.kept(fixed.condition(embedding, kernel, theta))
    Z = np.random.default_rng(5).uniform(-1, 1, (6, d))
    found, step = feature_moments.slopes(gp, Z), 1e-5
    for i in range(theta.shape[0] - 1):
        e = step * np.eye(theta.shape[0])[i]
        up, down = (moments.plain(fixed.condition(embedding, kernel, at), Z) for at in (theta + e, theta - e))
        np.testing.assert_allclose(found.mean_by_theta[:, i], (up[0] - down[0]) / (2 * step), atol=1e-6)
        np.testing.assert_allclose(found.variance_by_theta[:, i], (up[1] - down[1]) / (2 * step), atol=1e-5)


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_predictions_are_those_of_the_exact_process(kernel):
    data, rows, embedding, kernel, theta = problem(200, d=1, kernel=kernel)
    Z = np.random.default_rng(5).uniform(-1, 1, (50, 4))
    exact = moments.plain(data.condition(embedding, kernel, theta), Z)
    there = moments.plain(rows.condition(embedding, kernel, theta), Z)
    assert np.mean(np.abs(there[0] - exact[0])) < 0.01
    assert np.mean(np.abs(np.sqrt(there[1] / exact[1]) - 1.0)) < 0.1


def test_all_moments_of_a_belief_are_those_of_the_exact_process():
    data, rows, embedding, kernel, theta = problem(200)
    gp = feature_likelihood.kept(rows.condition(embedding, kernel, theta))
    F = 0.02 * np.random.default_rng(6).standard_normal((theta.shape[0], 3))
    F[-1] = 0.0
    Z = np.random.default_rng(5).uniform(-1, 1, (50, 4))
    args = (F, Z, np.zeros(50), 0.0, "mgp")
    exact, there = moments.moments(data.condition(embedding, kernel, theta), *args), moments.moments(gp, *args)
    np.testing.assert_allclose(there.mean, exact.mean, atol=5e-3)
    assert np.abs(np.sqrt(there.variance / exact.variance) - 1.0).max() < 0.05
