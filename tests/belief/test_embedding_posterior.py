"""The embedding of a belief: its rows, its draws, and embedded points."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.gp.linear import Linear
from tests.belief.cases import CASES, LOWER, UPPER, alone, fit, fitted, points, scaled

LINEAR = [case for case, (_, _, embedding, _) in CASES.items() if isinstance(embedding, Linear)]

N_DRAWS = 20000


@pytest.mark.slow
@pytest.mark.parametrize("case", LINEAR)
def test_rows_of_the_embedding_are_canonical(case):
    belief = fitted(case)
    R = belief.embedding
    assert R.shape == (belief.model.rows, belief.X.shape[1])
    assert belief.rank == belief.components[0].gp.U.shape[1]
    lengths = np.linalg.norm(R, axis=1)
    product = R @ R.T
    np.testing.assert_allclose(product - np.diag(np.diagonal(product)), 0.0, atol=1e-9 * lengths[0] ** 2)
    assert np.all(np.diff(lengths) <= 0)
    assert np.all(lengths[: belief.rank] > 0)
    assert np.all(R[belief.rank :] == 0)
    assert np.all(belief.embedding_std[belief.rank :] == 0)
    assert np.all(belief.embedding_std[: belief.rank] > 0)
    largest = R[np.arange(len(R)), np.argmax(np.abs(R), axis=1)]
    assert np.all(largest >= 0)
    U = belief.components[0].gp.U  # the distances between embedded data are those of the process itself
    V = scaled(belief.X) @ R.T
    np.testing.assert_allclose(np.sum((V[:, None] - V) ** 2, -1), np.sum((U[:, None] - U) ** 2, -1), atol=1e-8)


@pytest.mark.parametrize("case", LINEAR)
def test_draws_scatter_about_the_embedding(case):
    """In the same rotation and with the same signs: a mean over draws means something."""
    belief = alone(fitted(case))
    draws = belief.sample_embeddings(N_DRAWS)
    assert draws.shape == (N_DRAWS, *belief.embedding.shape)
    error = np.maximum(belief.embedding_std, 1e-12) / np.sqrt(N_DRAWS)
    assert np.abs((draws.mean(axis=0) - belief.embedding) / error).max() < 5.0
    np.testing.assert_allclose(draws.std(axis=0), belief.embedding_std, rtol=0.04, atol=1e-12)


@pytest.mark.parametrize("case", LINEAR)
def test_embedded_points_are_those_of_the_draws(case):
    belief = alone(fitted(case))
    X_new = points(5, belief.X.shape[1])
    mean, covariance = belief.embed(X_new)
    d = belief.model.rows
    assert mean.shape == (5, d)
    assert covariance.shape == (5, d, d)
    u = np.einsum("tkj,nj->tnk", belief.sample_embeddings(N_DRAWS), scaled(X_new))
    spread = np.sqrt(np.einsum("nkk->nk", covariance))
    assert np.all(np.abs(u.mean(axis=0) - mean) <= 5.0 * spread / np.sqrt(N_DRAWS) + 1e-12)
    sampled = np.stack([np.cov(u[:, i].T).reshape(d, d) for i in range(5)])
    np.testing.assert_allclose(sampled, covariance, atol=0.05 * np.max(spread) ** 2)


@pytest.mark.parametrize("case", ["one direction", "wide"])
def test_embedded_covariance_is_that_of_the_draws_whatever_their_sign(case):
    belief = alone(fitted(case))
    X_new = points(5, belief.X.shape[1])
    u = np.einsum("tkj,nj->nt", belief.sample_embeddings(N_DRAWS), scaled(X_new))
    np.testing.assert_allclose(u.var(axis=1), belief.embed(X_new).covariance[:, 0, 0], rtol=0.06)
    np.testing.assert_allclose(np.abs(u.mean(axis=1)), np.abs(belief.embed(X_new).mean[:, 0]), atol=0.05)


@pytest.mark.parametrize("case", ["wide", "wide, two directions"])
def test_draws_have_the_priors_spread_where_the_data_say_nothing(case):
    belief = alone(fitted(case))
    X = scaled(belief.X)
    D = X.shape[1]
    prior = 1.25 / np.sqrt(D) * np.exp(belief.components[0].gp.theta[-1])
    _, _, Vt = np.linalg.svd(X)
    across = Vt[np.linalg.matrix_rank(X) :]  # (D - n, D)
    assert len(across) == D - len(X)
    draws = belief.sample_embeddings(N_DRAWS)[:, : belief.rank] @ across.T
    np.testing.assert_allclose(draws.std(axis=0), prior, rtol=0.04)
    np.testing.assert_allclose(draws.mean(axis=0), 0.0, atol=5.0 * prior / np.sqrt(N_DRAWS))
    flat = draws.reshape(N_DRAWS, -1)
    correlation = np.corrcoef(flat.T) - np.eye(flat.shape[1])
    assert np.abs(correlation).max() < 5.0 / np.sqrt(N_DRAWS)
    outside = across[:1] * 2.0  # a point across all data: nothing is known but the prior
    mean, covariance = belief.embed(LOWER + (outside + 1.0) / 2.0 * (UPPER - LOWER))
    np.testing.assert_allclose(mean, 0.0, atol=1e-9)
    expected = np.zeros(belief.model.rows)
    expected[: belief.rank] = (2.0 * prior) ** 2
    np.testing.assert_allclose(covariance[0], np.diag(expected), rtol=1e-7, atol=1e-9)


def test_draws_along_the_data_ignore_the_priors_part():
    """``X Rᵀ`` of the draws varies as the Gaussian of the reduced parameters says."""
    belief = alone(fitted("wide"))
    component, p = belief.components[0], belief.space.r
    u = np.einsum("tkj,nj->nt", belief.sample_embeddings(N_DRAWS), scaled(belief.X))
    covariance = belief.space.Z @ (component.factor @ component.factor.T)[:p, :p] @ belief.space.Z.T
    np.testing.assert_allclose(np.cov(u), covariance, atol=0.05 * covariance.max())


@pytest.mark.slow
@pytest.mark.parametrize("case", ["diagonal", "isotropic", "wide isotropic"])
def test_embedding_of_length_scales(case):
    belief = alone(fitted(case))
    D = belief.X.shape[1]
    component = belief.components[0]
    scales = np.broadcast_to(np.exp(-component.gp.parameters), (D,))
    np.testing.assert_allclose(belief.embedding, np.diag(scales))
    draws = belief.sample_embeddings(N_DRAWS)
    assert draws.shape == (N_DRAWS, D, D)
    assert np.all(draws[:, ~np.eye(D, dtype=bool)] == 0)
    logs = np.log(np.einsum("tjj->tj", draws))
    np.testing.assert_allclose(logs.std(axis=0), np.diagonal(belief.embedding_std) / scales, rtol=0.04)
    X_new = points(4, D)
    mean, covariance = belief.embed(X_new)
    np.testing.assert_allclose(mean, scaled(X_new) * scales)
    for i, x in enumerate(scaled(X_new)):  # to first order in the log scales
        expected = np.cov(logs.T).reshape(D, D) * np.outer(x * scales, x * scales)
        np.testing.assert_allclose(covariance[i], expected, atol=0.06 * np.abs(expected).max())


def test_linear_response_needs_one_row_of_two():
    X = points(30, 4, seed=7)
    belief = fit(X, X @ [3.0, -1.0, 0.5, 0.0] + 0.05 * np.random.default_rng(7).normal(size=30), rw.Linear(2))
    assert belief.rank == 1
    assert belief.embedding.shape == belief.embedding_std.shape == (2, 4)
    assert np.all(belief.embedding[1] == 0)
    assert np.all(belief.embedding_std[1] == 0)
    mean, covariance = belief.embed(points(3, 4))
    assert np.all(mean[:, 1] == 0)
    assert np.all(covariance[:, 1] == 0)
    assert np.all(covariance[:, :, 1] == 0)
    assert np.all(covariance[:, 0, 0] > 0)
    assert np.all(alone(belief).sample_embeddings(10)[:, 1] == 0)
    truth = np.array([3.0, -1.0, 0.5, 0.0]) / np.linalg.norm([3.0, -1.0, 0.5, 0.0])
    assert belief.embedding[0] @ truth / np.linalg.norm(belief.embedding[0]) > 0.99


def test_draws_are_reproducible_and_of_all_components():
    belief = fitted("two directions")
    draws = belief.sample_embeddings(2000, random_state=3)
    assert draws.shape == (2000, 2, 4)
    np.testing.assert_array_equal(belief.sample_embeddings(2000, random_state=3), draws)
    generator = np.random.default_rng(3)
    np.testing.assert_array_equal(belief.sample_embeddings(2000, random_state=generator), draws)
    assert not np.array_equal(belief.sample_embeddings(2000, random_state=generator), draws)
    of_rank_one = sum(c.weight for c in belief.components if c.gp.U.shape[1] == 1)
    assert np.mean(np.all(draws[:, 1] == 0, axis=1)) == pytest.approx(of_rank_one, abs=0.05)
    first = np.all(draws[:1000, 1] == 0, axis=1).mean()  # components come in no order
    assert first == pytest.approx(of_rank_one, abs=0.07)
    assert belief.sample_embeddings(0).shape == (0, 2, 4)
