"""Moments with the hyperparameters integrated out."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.gp import kernels, moments
from ridgeway.gp.linear import Linear
from ridgeway.gp.process import Data, condition
from tests.helpers import SEVERAL, random_posterior, random_theta, rounding_of_variance


def test_unexplored_directions_enter_through_the_embedded_gradient() -> None:
    """Padding Z with a coordinate that no observation has must equal the rho terms."""
    posterior = random_posterior(Linear(2), n=8, D=3)
    theta = random_theta(posterior)
    s2 = 0.3
    gp = condition(posterior.embedding, posterior.kernel, posterior.data, theta)
    Z, rho = np.random.default_rng(3).uniform(-1, 1, (5, 3)), np.linspace(0.0, 2.0, 5)
    factor = np.random.default_rng(4).standard_normal((theta.shape[0], 4)) * 0.1
    short = moments.moments(gp, factor, Z, rho, s2, "mgp")

    wide_theta = np.concatenate([np.pad(theta[:6].reshape(2, 3), ((0, 0), (0, 1))).ravel(), theta[6:]])
    wide_data = type(gp.data)(np.pad(gp.data.Z, ((0, 0), (0, 1))), gp.data.y, gp.data.noise)
    wide_gp = condition(posterior.embedding, posterior.kernel, wide_data, wide_theta)
    wide_factor = np.zeros((wide_theta.shape[0], 6))
    wide_factor[[0, 1, 2, 4, 5, 6, 8, 9, 10, 11], :4] = factor
    wide_factor[3, 4] = wide_factor[7, 5] = np.sqrt(s2)
    wide = moments.moments(wide_gp, wide_factor, np.column_stack([Z, np.sqrt(rho)]), np.zeros(5), s2, "mgp")
    for a, b in zip(short, wide, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("n_points", [1, 5, 5000])
def test_blocks_of_candidates_do_not_change_the_answer(n_points: int) -> None:
    posterior = random_posterior(Linear(2), n=40)
    theta = random_theta(posterior)
    gp = condition(posterior.embedding, posterior.kernel, posterior.data, theta)
    factor = 0.1 * np.random.default_rng(0).standard_normal((theta.shape[0], 5))
    Z = np.random.default_rng(1).uniform(-1, 1, (n_points, 4))
    together = moments.moments(gp, factor, Z, np.ones(n_points), 0.1, "mgp")
    last = moments.moments(gp, factor, Z[-1:], np.ones(1), 0.1, "mgp")
    for a, b in zip(together, last, strict=True):
        np.testing.assert_allclose(a[-1:], b, rtol=1e-12, atol=SEVERAL * rounding_of_variance(gp))


def test_variances_of_a_straight_line_are_smooth_enough_to_be_climbed() -> None:
    """A large output scale and little noise: rounding must not make steps of what varies by millionths."""
    rng = np.random.default_rng(0)
    data = Data(rng.uniform(-1.0, 1.0, (25, 3)), rng.standard_normal(25), np.full(25, 2.5e-5))
    theta = np.array([0.05, -0.04, 0.03, np.log(20.0), np.log(0.05), 0.0, 0.0])
    gp = condition(Linear(1), kernels.resolve("se"), data, theta)
    along = np.linspace(0.0, 1e-4, 50)[:, None] * rng.standard_normal(3)
    _, variance, _ = moments.predictive(gp, 0.3 + along)
    curve = np.polynomial.Polynomial.fit(along[:, 0], variance, 2)(along[:, 0])
    assert np.abs(variance - curve).max() < 1e-7 * variance.max()
