from dataclasses import replace

import numpy as np
import pytest

from ridgeway.errors import NumericalError
from ridgeway.gp import inner_density
from ridgeway.gp.inner_density import InnerDensity
from ridgeway.gp.length_scales import Diagonal
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.priors import Priors
from ridgeway.gp.process import LOG_NOISE
from ridgeway.inference import evidence
from tests.gp.many import problem


def posterior_and_theta(kernel="se", d=2, noisy=False, **priors):
    data, _, embedding, kernel, theta = problem(60, 5, d, noisy=noisy, kernel=kernel)
    return Posterior(embedding, kernel, data, replace(Priors(), **priors), 5), theta


@pytest.mark.parametrize("kernel", ["se", "matern32", "matern52", "rq"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_equals_the_density_and_gradient_of_the_posterior(kernel, d):
    posterior, theta = posterior_and_theta(kernel, d, noisy=True)
    inner, _ = evidence.split(posterior)
    density = inner_density.of(posterior, theta, inner)
    assert isinstance(density, InnerDensity)
    rng = np.random.default_rng(0)
    for size in (0.0, 0.3, 3.0):
        moved = theta.copy()
        moved[inner] += size * rng.standard_normal(inner.shape[0])
        value, gradient = density(moved)
        at = posterior.evaluate(moved)
        assert value == pytest.approx(at.log_density, rel=1e-10)
        np.testing.assert_allclose(gradient[inner], at.gradient[inner], rtol=1e-8, atol=1e-8)


def test_the_gradient_is_that_of_finite_differences():
    posterior, theta = posterior_and_theta()
    inner, _ = evidence.split(posterior)
    density = inner_density.of(posterior, theta, inner)
    _, gradient = density(theta)
    for i in inner:
        step = np.zeros_like(theta)
        step[i] = 1e-6
        slope = (density(theta + step)[0] - density(theta - step)[0]) / 2e-6
        assert gradient[i] == pytest.approx(slope, rel=1e-5, abs=1e-5)


def test_small_distances_far_from_the_origin_are_not_lost():
    posterior, theta = posterior_and_theta()
    theta[LOG_NOISE] = np.log(1e-3)
    far = replace(posterior, data=replace(posterior.data, Z=posterior.data.Z + 1e4))
    inner, _ = evidence.split(far)
    value, _ = inner_density.of(far, theta, inner)(theta)
    assert value == pytest.approx(posterior.log_density(theta), rel=1e-5)


def test_rows_that_are_equal_get_the_jitter_of_the_posterior():
    posterior, theta = posterior_and_theta()
    twice = np.repeat(np.arange(30), 2)
    posterior = replace(posterior, data=posterior.data.rows(twice))
    posterior = replace(posterior, data=replace(posterior.data, noise=np.zeros(60)))
    theta[LOG_NOISE] = -100.0
    inner, _ = evidence.split(posterior)
    value, gradient = inner_density.of(posterior, theta, inner)(theta)
    at = posterior.evaluate(theta)
    assert at.gp.jitter > 0
    assert value == at.log_density
    np.testing.assert_array_equal(gradient, at.gradient)


@pytest.mark.parametrize("value", [1e3, np.nan])
def test_what_is_out_of_range_is_refused_as_ever(value):
    posterior, theta = posterior_and_theta()
    inner, _ = evidence.split(posterior)
    density = inner_density.of(posterior, theta, inner)
    theta[0] = value
    with pytest.raises(NumericalError, match="beyond 150 or not finite"):
        density(theta)


def test_where_scales_change_or_no_matrix_is_learned_the_posterior_answers():
    posterior, theta = posterior_and_theta()
    assert not isinstance(inner_density.of(posterior, theta, np.arange(theta.shape[0])), InnerDensity)
    diagonal = replace(posterior, embedding=Diagonal())
    inner, _ = evidence.split(diagonal)
    theta = diagonal.initial(np.zeros(diagonal.n_parameters))
    density = inner_density.of(diagonal, theta, inner)
    assert not isinstance(density, InnerDensity)
    assert density(theta)[0] == diagonal.log_density(theta)
