"""Drawn functions: their mean and covariance against the process', gradients against differences."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.active.acquisition import thompson
from ridgeway.active.pool_coordinates import PoolView
from ridgeway.active.thompson import DrawnOutlook, ThompsonSettings, drawn_path
from ridgeway.belief.belief_mixture import BeliefMixture
from tests.active.cases import every_embedding, every_shape, fitted, points
from tests.active.test_prospect import dense_posterior, steepest_agree


@every_embedding
@every_shape
@pytest.mark.parametrize("kernel", ["se", "matern52", "rq"])
def test_gradients_are_those_of_differences(embedding, shape, kernel):
    belief = fitted(embedding, kernel, shape, 2)
    for seed, sign in ((1, 1.0), (2, -1.0)):
        steepest_agree(DrawnOutlook(BeliefMixture.by_evidence([belief]), sign, seed), points(3, belief.X.shape[1]))


@pytest.mark.slow
@pytest.mark.parametrize("embedding", ["two directions", "isotropic", "diagonal"])
@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_draws_have_the_moments_of_the_process(embedding, kernel):
    """With hyperparameters that are known; X has more rows than columns, so no direction is unexplored."""
    belief = fitted(embedding, kernel)
    known = replace(belief.components[0], factor=belief.components[0].factor[:, :0], weight=1.0)
    belief = replace(belief, components=(known,))
    X, rng = points(4, 4), np.random.default_rng(0)
    scaled = belief.space.scaling.scaled(X)
    draws = np.stack([drawn_path(belief, rng, ThompsonSettings(waves=256))(scaled) for _ in range(600)])
    mean, covariance = dense_posterior(belief, X)
    error = np.sqrt(np.diagonal(covariance) / len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 5 * error)
    scale = np.sqrt(np.outer(np.diagonal(covariance), np.diagonal(covariance)))
    np.testing.assert_allclose(np.cov(draws.T) / scale, covariance / scale, atol=0.25)


def test_embeddings_are_drawn_too():
    belief = fitted("two directions", shape="wide")
    rng = np.random.default_rng(0)
    first, second = (drawn_path(belief, rng).R for _ in range(2))
    assert np.abs(first - second).max() > 0.05
    assert first.shape == (2, 12)


def test_each_point_of_a_batch_has_a_draw_of_its_own():
    outlook = DrawnOutlook(BeliefMixture.by_evidence([fitted("two directions", modes=2)]), 1.0, seed=4)
    X = points(20, 4)
    same = DrawnOutlook(outlook.mixture, 1.0, seed=4)
    np.testing.assert_array_equal(outlook.score(None, X), same.score(None, X))
    assert np.abs(outlook.given(X[:1]).score(None, X) - outlook.score(None, X)).max() > 1e-2
    assert outlook.given(X[:1]).known_inputs.shape[0] == outlook.known_inputs.shape[0] + 1


def test_a_pool_is_scored_as_points_are():
    outlook = DrawnOutlook(BeliefMixture.by_evidence([fitted("isotropic", shape="wide")]), 1.0)
    pool = rw.Pool(points(30, 12, seed=8))
    np.testing.assert_allclose(outlook.pool_scores(None, PoolView(pool)), outlook.score(None, pool.points), rtol=1e-9)


def test_the_acquisition_scores_points_of_a_belief():
    belief, X = fitted("one direction"), points(3, 4)
    np.testing.assert_allclose(thompson(belief, X), -thompson(belief, X, goal="maximize"))


@dataclass(frozen=True)
class Cauchy:
    name: str = "cauchy"

    def value(self, s):
        return 1 / (1 + s)

    def derivatives(self, s):
        g = 1 / (1 + s)
        return g, -(g**2), 2 * g**3


def test_a_kernel_without_a_spectrum_is_refused():
    X = points(9, 4, seed=1)
    belief = rw.fit(X, X[:, 0] ** 2, rw.Linear(1), Cauchy(), inference="map", n_starts=1)
    with pytest.raises(TypeError, match=r"kernel must have frequencies\(\)"):
        thompson(belief, X)
