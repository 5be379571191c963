"""Layer (a): every closed form against a naive re-derivation and against finite differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ridgeway.gp import likelihood, moments
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.length_scales import Diagonal, Isotropic
from ridgeway.gp.linear import Linear
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import N_GLOBAL, condition
from tests.helpers import random_posterior, random_theta

EMBEDDINGS = [Linear(1), Linear(2), Linear(3), Diagonal(), Isotropic()]

KERNELS = ["se", "matern32", "matern52", "rq"]

STEP = 1e-6


def difference(function: Callable[[np.ndarray], np.ndarray], theta: np.ndarray) -> np.ndarray:
    """Central differences, derivative first."""
    return np.stack([(function(theta + e) - function(theta - e)) / (2 * STEP) for e in STEP * np.eye(theta.shape[0])])


def naive_log_likelihood(posterior: Posterior, theta: np.ndarray) -> float:
    """Entry by entry, with a dense inverse: no code of ours but the kernel's value."""
    data, p = posterior.data, posterior.n_parameters
    if isinstance(posterior.embedding, Linear):
        R = theta[:p].reshape(posterior.embedding.rows, -1)
    elif isinstance(posterior.embedding, Diagonal):
        R = np.diag(np.exp(-theta[:p]))
    else:
        R = np.exp(-theta[0]) * np.eye(data.Z.shape[1])
    gamma, sigma, mu = np.exp(theta[-4]), np.exp(theta[-3]), theta[-2]
    n = data.n
    G = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            difference = R @ (data.Z[i] - data.Z[j])
            G[i, j] = gamma**2 * posterior.kernel.value(np.array(difference @ difference))
        G[i, i] += sigma**2 + data.noise[i]
    r = data.y - mu
    return float(-0.5 * (r @ np.linalg.inv(G) @ r + np.linalg.slogdet(G)[1] + n * np.log(2 * np.pi)))


def relative(actual: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(actual - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=str)
class TestPosterior:
    def test_likelihood_is_the_naive_one(self, embedding: Embedding, kernel: str) -> None:
        posterior = random_posterior(embedding, kernel)
        theta = random_theta(posterior)
        gp = condition(embedding, posterior.kernel, posterior.data, theta)
        assert gp.log_likelihood() == pytest.approx(naive_log_likelihood(posterior, theta), rel=1e-11)

    def test_gradient(self, embedding: Embedding, kernel: str) -> None:
        posterior = random_posterior(embedding, kernel)
        theta = random_theta(posterior)
        expected = difference(lambda t: np.array(posterior.log_density(t)), theta)
        assert relative(posterior.evaluate(theta).gradient, expected) < 1e-7

    def test_hessian(self, embedding: Embedding, kernel: str) -> None:
        posterior = random_posterior(embedding, kernel)
        theta = random_theta(posterior)
        hessian = posterior.hessian(posterior.evaluate(theta).gp)
        assert relative(hessian, difference(lambda t: posterior.evaluate(t).gradient, theta)) < 1e-7
        np.testing.assert_allclose(hessian, hessian.T, atol=1e-10 * np.abs(hessian).max())

    def test_moment_gradients(self, embedding: Embedding, kernel: str) -> None:
        posterior = random_posterior(embedding, kernel)
        theta = random_theta(posterior)
        Z = np.random.default_rng(2).uniform(-1, 1, (7, 4))

        def moments_at(t: np.ndarray) -> np.ndarray:
            gp = condition(embedding, posterior.kernel, posterior.data, t)
            return np.stack(moments.predictive(gp, Z)[:2])

        gp = condition(embedding, posterior.kernel, posterior.data, theta)
        mean, variance, at = moments.predictive(gp, Z)
        dm, dV, *_ = moments.moment_gradients(gp, variance, mean, at)
        expected = difference(moments_at, theta)
        assert relative(dm, expected[:, 0].T) < 1e-7
        assert relative(dV, expected[:, 1].T) < 1e-7


def test_hessian_is_the_papers_term_by_term_form() -> None:
    """Paper eq. 4, second line, summed over the parameters one pair at a time."""
    posterior = random_posterior(Linear(2), n=9, D=3)
    theta = random_theta(posterior)
    gp = condition(posterior.embedding, posterior.kernel, posterior.data, theta)
    Z, U, d, r = gp.data.Z, gp.U, 2, 3
    dZ, dU = Z[:, None] - Z[None], U[:, None] - U[None]
    Ginv = np.linalg.inv(gp.K + np.diag(gp.noise_diagonal))
    first = {(k, i): gp.K1 * dU[..., k] * dZ[..., i] for k in range(d) for i in range(r)}
    expected = np.empty((d * r, d * r))
    for a, ((k, i), A) in enumerate(first.items()):
        for b, ((m, j), B) in enumerate(first.items()):
            second = dZ[..., i] * dZ[..., j] * (gp.K2 * dU[..., k] * dU[..., m] + (gp.K1 if k == m else 0.0))
            minus_two = 2 * gp.alpha @ B @ Ginv @ A @ gp.alpha - np.trace(Ginv @ B @ Ginv @ A)
            minus_two += -gp.alpha @ second @ gp.alpha + np.trace(Ginv @ second)
            expected[a, b] = -0.5 * minus_two
    np.testing.assert_allclose(likelihood.hessian(gp)[:-N_GLOBAL, :-N_GLOBAL], expected, rtol=1e-11, atol=1e-11)
