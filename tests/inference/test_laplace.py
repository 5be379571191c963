"""Laplace's approximation: modes, evidence, Gaussian."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp

from ridgeway.gp import kernels
from ridgeway.gp.length_scales import Isotropic
from ridgeway.gp.linear import Linear
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.priors import Priors
from ridgeway.gp.process import LOG_NOISE, MEAN, Data
from ridgeway.inference import evidence, joint, laplace, nested
from tests.inference.problems import FIXED, best_mode, model_posterior, run


def test_evidence_against_quadrature_for_one_length_scale() -> None:
    X = np.linspace(-1, 1, 40)[:, None]
    data = Data(X, np.sin(9 * X[:, 0]), np.full(40, 1e-3))
    priors = replace(FIXED, log_noise=(-4.0, 0.0))
    posterior = Posterior(Isotropic(), kernels.resolve("se"), data, priors, 1)
    lap = laplace.settle(posterior, posterior.initial(np.zeros(1)), np.array([0]))
    top = lap.log_density

    def density(t: float) -> float:
        return float(np.exp(posterior.log_density(posterior.initial(np.array([t]))) - top))

    exact = top + np.log(quad(density, lap.theta[0] - 3, lap.theta[0] + 3, limit=200)[0])
    assert lap.log_evidence == pytest.approx(exact, abs=0.05)


@pytest.mark.slow
def test_evidence_with_the_rotation_against_importance_sampling() -> None:
    """The orbit's volume and the Gaussian across it, against 4,000 weighted draws around the orbit."""
    posterior = model_posterior(3, 2, n=200, priors=replace(FIXED, log_noise=(-2.5, 0.0)))
    inner, _ = evidence.split(posterior)
    best = best_mode(posterior, 10)
    lap = laplace.settle(posterior, best.theta, inner)
    rng = np.random.default_rng(1)
    z = rng.standard_normal((4000, lap.factor.shape[1]))
    tangent = posterior.embedding.rotations(lap.theta[:6])
    ratios = []
    for row in z:
        theta = lap.theta.copy()
        theta[inner] += lap.factor @ row
        crossing = tangent.T @ posterior.embedding.rotations(theta[:6]) / np.linalg.norm(tangent)
        ratios.append(posterior.log_density(theta) + np.log(abs(crossing[0, 0])) + 0.5 * row @ row)
    volume = np.log(np.linalg.svd(lap.factor, compute_uv=False)).sum() + 0.5 * z.shape[1] * np.log(2 * np.pi)
    estimate = logsumexp(ratios) - np.log(4000) + volume + np.log(2 * 2 * np.pi)
    assert lap.log_evidence == pytest.approx(estimate, abs=0.1)


def test_a_mode_is_a_mode() -> None:
    posterior = model_posterior(6, 2)
    inner, _ = evidence.split(posterior)
    lap = laplace.settle(posterior, posterior.initial(0.3 * np.random.default_rng(0).standard_normal(12)), inner)
    assert lap.decrement < 1e-6
    assert lap.smallest_curvature > 0
    assert lap.factor.shape == (12, 11)  # one direction is the rotation
    tangent = Linear(2).rotations(lap.theta[:12])
    assert np.abs(tangent.T @ np.linalg.inv(np.diag(lap.width)) ** 2 @ lap.factor).max() < 1e-8


def test_a_mode_keeps_no_matrices_that_can_be_computed_again() -> None:
    posterior = model_posterior(6, 2)
    inner, _ = evidence.split(posterior)
    lap = laplace.settle(posterior, posterior.initial(0.3 * np.random.default_rng(0).standard_normal(12)), inner)
    n = posterior.data.n
    large = [name for name, value in vars(lap.gp).items() if isinstance(value, np.ndarray) and value.size >= n * n]
    assert large == []
    assert lap.gp.known_factor is None
    assert lap.gp.known_matrices is None
    whole = posterior.condition(lap.theta)
    for name in ("L", "S", "K", "K1", "K2", "Ginv", "W"):
        np.testing.assert_array_equal(getattr(lap.gp, name), getattr(whole, name))


def test_a_saddle_is_called_one() -> None:
    """R = 0 is stationary by symmetry, but no mode where the data show structure."""
    posterior = model_posterior(4, 1)
    inner, _ = evidence.split(posterior)
    at = posterior.evaluate(posterior.initial(np.zeros(4)))
    assert np.abs(at.gradient[:4]).max() < 1e-12
    lap = laplace.approximate(posterior, at, inner)
    assert lap.smallest_curvature < 0
    assert np.all(lap.eigenvalues >= 0.5)


def test_curvature_is_floored_smoothly_near_the_prior() -> None:
    values = np.array([-1e3, -1.0, 0.0, 0.999999, 1.0, 1.000001, 50.0])
    floored = laplace.floor_curvature(values)
    assert np.all(floored >= 0.5)
    np.testing.assert_array_equal(floored[4:], values[4:])
    assert floored[3] == pytest.approx(values[3], abs=1e-9)


def test_log_volume_is_that_of_the_approximation() -> None:
    posterior = model_posterior(5, 3, n=30, priors=Priors())
    inner, _ = evidence.split(posterior)
    theta = posterior.initial(0.5 * np.random.default_rng(0).standard_normal(15))
    lap = laplace.approximate(posterior, posterior.evaluate(theta), inner)
    assert laplace.log_volume(posterior, theta, inner) == pytest.approx(lap.log_evidence - lap.log_density, abs=1e-8)


def test_fixed_hyperparameters_stay_fixed() -> None:
    priors = Priors(log_noise=(-2.0, 0.0), mean=(0.25, 0.0))
    posterior = model_posterior(5, 1, priors=priors)
    for method in (joint, nested):
        theta = method.infer(posterior, 4, (), run()).components[0].gp.theta
        assert theta[LOG_NOISE] == -2.0
        assert theta[MEAN] == 0.25
