"""Improvements against a dense simulation of all that is unknown, and gradients against differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import ridgeway as rw
from ridgeway.active.acquisition import improvement
from ridgeway.active.pool_coordinates import PoolView
from ridgeway.active.prospect import Prospect, ProspectSettings
from ridgeway.belief.belief_mixture import BeliefMixture
from tests.active.cases import EMBEDDINGS, QUICK, box, every_embedding, every_shape, fitted, outputs, points
from tests.active.test_acquisition import differences

either_sign = pytest.mark.parametrize("sign", [1.0, -1.0])


def everything(shape, kernel="se"):
    """Beliefs of all kinds as one mixture, each with two modes and a share; one of them without its uncertainty."""
    beliefs = [fitted(name, kernel, shape, 2) for name in EMBEDDINGS]
    beliefs[3] = replace(beliefs[3], marginal="map")
    return BeliefMixture.by_evidence(beliefs, temperature=1e3)


def steepest_agree(outlook, X):
    width = np.subtract(*box(X.shape[1])[::-1])
    values, gradient = outlook.score_with_gradient(None, X)
    np.testing.assert_allclose(values, outlook.score(None, X), rtol=1e-10)
    expected = differences(lambda some: outlook.score(None, some), X, step=1e-4)
    size = np.abs(expected * width).max(axis=1, keepdims=True)
    assert size.min() > 1e-3
    np.testing.assert_allclose(gradient * width / size, expected * width / size, atol=1e-4)


@every_shape
@either_sign
@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_gradients_are_those_of_differences(shape, sign, kernel):
    mixture = everything(shape, kernel)
    D = mixture.beliefs[0].X.shape[1]
    for pending in (None, points(3, D, seed=5)):
        steepest_agree(Prospect(mixture, sign, pending=pending), points(3, D))


@every_embedding
def test_gradients_are_finite_where_points_coincide(embedding):
    belief = fitted(embedding, "se", "wide", 2)
    pending = points(2, 12, seed=5)
    outlook = Prospect(BeliefMixture.by_evidence([belief]), 1.0, pending=pending)
    values, gradient = outlook.score_with_gradient(None, np.vstack([belief.X[:2], pending]))
    assert np.isfinite(values).all()
    assert np.isfinite(gradient).all()


def dense_posterior(belief, X, component=0):
    """Mean and covariance of ``f`` at ``X`` at a mode, with every matrix written out; outputs standardised."""
    gp = belief.components[component].gp
    scaled = belief.space.scaling.scaled
    R = gp.embedding.matrix(gp.parameters, belief.space)
    u, U = scaled(X) @ R.T, scaled(belief.X) @ R.T

    def k(a, b):
        return gp.output_variance * gp.kernel.value(cdist(a, b, "sqeuclidean"))

    solved = np.linalg.solve(k(U, U) + np.diag(gp.noise_diagonal), np.column_stack([gp.data.y - gp.mean, k(U, u)]))
    return gp.mean + k(u, U) @ solved[:, 0], k(u, u) - k(u, U) @ solved[:, 1:]


def simulated(belief, known, X, sign, n=100_000):
    """Improvements at ``X`` on the least of ``f`` at ``known``, drawn from all modes, ``(n, len(X))``."""
    rng, at, parts = np.random.default_rng(0), np.vstack([known, X]), []
    for i, component in enumerate(belief.components):
        mean, covariance = dense_posterior(belief, at, i)
        root = np.linalg.cholesky(covariance + 1e-10 * np.eye(len(at)))
        f = sign * (mean + rng.standard_normal((round(n * component.weight), len(at))) @ root.T)
        parts.append(np.maximum(f[:, : len(known)].min(axis=1, keepdims=True) - f[:, len(known) :], 0.0))
    return belief.output.scale * np.concatenate(parts)


@pytest.mark.slow
@either_sign
@pytest.mark.parametrize(("embedding", "modes"), [("two directions", 2), ("isotropic", 1), ("diagonal", 1)])
@pytest.mark.parametrize("n_pending", [0, 2])
def test_it_is_the_expectation_over_modes_hidden_values_and_pending_ones(sign, embedding, modes, n_pending):
    """Modes are not merged into one Gaussian, nor are observations taken for the values of ``f``."""
    belief = replace(fitted(embedding, modes=modes), marginal="map")
    pending = points(n_pending, 4, seed=5)
    settings = ProspectSettings(incumbents=16, draws=1024, least_eigenvalue=1e-9)
    outlook = Prospect(BeliefMixture.by_evidence([belief]), sign, 3, pending if n_pending else None, settings)
    many = points(400, 4)
    X = many[np.argsort(-outlook.score(None, many))[:3]]  # where a simulation sees improvements at all
    gain = simulated(belief, np.vstack([belief.X, pending]), X, sign)
    error = gain.std(axis=0) / np.sqrt(len(gain))
    found = np.exp(outlook.score(None, X))
    assert np.all(np.abs(found - gain.mean(axis=0)) < 4 * error + 0.03 * gain.mean(axis=0))


def test_a_pending_point_lowers_the_score_near_it():
    mixture = everything("tall")
    x = points(1, 4)
    near = x + 1e-3 * np.subtract(*box(4)[::-1])
    before = Prospect(mixture, 1.0)
    assert before.given(x).score(None, near)[0] < before.score(None, near)[0] - 0.5
    assert before.given(x).known_inputs.shape[0] == before.known_inputs.shape[0] + 1


@either_sign
def test_units_of_the_outcome_do_not_matter(sign):
    """Improvements are in the user's units, so their logarithm moves by that of the unit."""
    X = points(16, 4, seed=1)
    y = outputs(X)
    beliefs = [rw.fit(X, unit * y + 3, rw.Linear(1), bounds=box(4), **QUICK) for unit in (1.0, 50.0)]
    small, large = (Prospect(BeliefMixture.by_evidence([b]), sign).score(None, points(5, 4)) for b in beliefs)
    np.testing.assert_allclose(large - small, np.log(50.0), rtol=1e-4)


def test_a_pool_is_scored_as_points_are():
    outlook = Prospect(everything("wide"), -1.0, pending=points(2, 12, seed=5))
    pool = rw.Pool(points(30, 12, seed=8))
    np.testing.assert_allclose(outlook.pool_scores(None, PoolView(pool)), outlook.score(None, pool.points), rtol=1e-9)


def test_the_acquisition_scores_points_of_a_belief():
    belief = fitted("two directions")
    X = points(3, 4)
    values, gradient = improvement.with_gradient(belief, X, goal="maximize")
    np.testing.assert_allclose(values, improvement(belief, X, goal="maximize"), rtol=1e-10)
    assert gradient.shape == X.shape
    assert np.abs(values - improvement(belief, X)).max() > 1e-3
    with pytest.raises(ValueError, match="goal must be"):
        improvement(belief, X, goal="learn")
