"""Mixtures of Gaussians and their divergence, against quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import ridgeway as rw
from ridgeway.experiments.mixture import Mixture, gaussian_divergence


def test_divergence_against_quadrature():
    p, q = norm(0.3, 1.2), norm(-0.4, 0.7)
    naive = sum(
        quad(lambda x, a=a, b=b: a.pdf(x) * (a.logpdf(x) - b.logpdf(x)), -12, 12)[0] for a, b in ((p, q), (q, p))
    )
    assert gaussian_divergence(0.3, 1.2**2, -0.4, 0.7**2) == pytest.approx(naive, rel=1e-6)
    one = Mixture(np.array([[0.3]]), np.array([[1.2**2]]))
    assert one.divergences(np.array([[-0.4]]), np.array([[0.7**2]]))[0, 0] == pytest.approx(naive, rel=1e-5)


@pytest.mark.slow
def test_mixture_against_quadrature():
    mixture = Mixture(np.array([[0.0], [3.0]]), np.array([[0.5**2], [1.0]]))
    log_density = lambda x: np.log(0.5 * norm(0, 0.5).pdf(x) + 0.5 * norm(3, 1).pdf(x))  # noqa: E731
    entropy = quad(lambda x: -np.exp(log_density(x)) * log_density(x), -6, 12, points=[0, 3])[0]
    assert mixture.entropy()[0] == pytest.approx(entropy, rel=1e-5)
    conditional = np.mean([norm(0, 0.5).entropy(), norm(3, 1).entropy()])
    assert mixture.information()[0] == pytest.approx(entropy - conditional, abs=1e-5)
    assert mixture.log_density(np.array([1.0]))[0] == pytest.approx(log_density(1.0))
    assert mixture.mean[0] == 1.5
    assert mixture.variance[0] == pytest.approx(0.5 * (0.25 + 1.0) + 1.5**2)


def test_mixture_over_draws_is_what_a_belief_predicts():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (12, 2))
    belief = rw.fit(X, np.sin(2 * X[:, 0]), rw.Diagonal(), standardize=False, bounds=(-1, 1), n_starts=2)
    gp = belief.components[0].gp
    X_new = rng.uniform(-1, 1, (5, 2))
    mixture = Mixture.over(belief.posterior, gp.theta[None], belief.reduced_coordinates(X_new)[0])
    expected = belief.predict(X_new, "map")
    np.testing.assert_allclose(mixture.mean, expected.mean)
    np.testing.assert_allclose(mixture.variance, expected.variance)
