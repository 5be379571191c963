"""A belief with a finite basis over a box: values as in a pool, exact gradients, and the best point of all."""

from functools import cache

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.active import maximize
from ridgeway.active.acquisition import BY_NAME, outlook_of, score, score_with_gradient
from ridgeway.active.component_view import ComponentView
from ridgeway.active.pool_coordinates import PoolView
from ridgeway.belief.belief_mixture import BeliefMixture
from tests.belief.many import QUICK

LOWER, UPPER = np.array([-1.0, -5.0, 0.0]), np.array([1.0, 5.0, 0.1])
BOX = rw.Box(LOWER, UPPER)
NAMES = ("information", "bald", "uncertainty", "improvement", "thompson")


def points(n, seed):
    return np.random.default_rng(seed).uniform(LOWER, UPPER, (n, 3))


@cache
def belief(d=2, kernel="se"):
    X = points(700, 1)
    Z = (X - 0.5 * (LOWER + UPPER)) / (0.5 * (UPPER - LOWER))
    y = np.sin(2.0 * Z[:, 0] + Z[:, 1]) + (d > 1) * 0.5 * (Z[:, 2] - Z[:, 1]) ** 2
    y = 3.0 + 2.0 * y + 0.1 * np.random.default_rng(2).standard_normal(700)
    return rw.fit(
        X, y, rw.Linear(d), kernel, approximation="features", settings=QUICK, bounds=(LOWER, UPPER), random_state=1
    )


def outlook(name, known, pending=()):
    acquisition = BY_NAME[name]
    if hasattr(acquisition, "outlook"):
        found = acquisition.outlook(BeliefMixture.by_evidence([known]), 1.0, 0)
    else:
        found = outlook_of(known)
    return found.given(np.asarray(pending)) if len(pending) else found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_pending", [0, 3])
@pytest.mark.parametrize(("d", "kernel"), [(1, "se"), (2, "se"), (1, "matern52")])
def test_gradients_against_differences(name, n_pending, d, kernel):
    seen = outlook(name, belief(d, kernel), points(n_pending, 5))
    X = points(4, 6)
    value, gradient = score_with_gradient(BY_NAME[name], seen, X)
    np.testing.assert_allclose(value, score(BY_NAME[name], seen, X), rtol=1e-8, atol=1e-9)
    for j in range(3):
        step = np.zeros(3)
        step[j] = 1e-4 * (UPPER[j] - LOWER[j])  # a drawn function has the rounding of nearly singular data
        ahead, behind = (score(BY_NAME[name], seen, X + sign * step) for sign in (1, -1))
        expected = (ahead - behind) / (2 * step[j])
        size = np.abs(gradient[:, j]).max() + 1e-3 * np.abs(value).max() / (UPPER[j] - LOWER[j])
        np.testing.assert_allclose(gradient[:, j], expected, atol=5e-4 * size)


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_a_pool(name):
    seen, X = outlook(name, belief(), points(2, 5)), points(50, 7)
    found = maximize.pool_scores(PoolView(rw.Pool(X)), seen, BY_NAME[name])
    np.testing.assert_allclose(found, score_with_gradient(BY_NAME[name], seen, X)[0], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_the_chosen_points_are_as_good_as_any_of_many(name):
    seen = outlook(name, belief())
    found = maximize.over_box(BOX, seen, BY_NAME[name], 2, np.random.default_rng(3))
    X = points(2000, 8)
    acquisition = BY_NAME[name].jointly
    for chosen, value in zip(found.X, found.scores, strict=True):
        rivals = score(acquisition, seen, X)
        assert value >= rivals.max() - 1e-6 * np.ptp(rivals)
        assert value == pytest.approx(score(acquisition, seen, chosen[None])[0], rel=1e-6, abs=1e-9)
        seen = seen.given(chosen[None])


@pytest.mark.parametrize("spread", ["map", "bbq", "mgp"])
def test_every_marginal_has_its_derivatives(spread):
    known = belief()
    seen = outlook_of(known).__class__(known, spread).given(points(2, 5))
    X = points(3, 6)
    _, gradient = score_with_gradient(BY_NAME["uncertainty"], seen, X)
    step = np.array([1e-5, 0.0, 0.0])
    ahead, behind = (score(BY_NAME["uncertainty"], seen, X + sign * step) for sign in (1, -1))
    np.testing.assert_allclose(gradient[:, 0], (ahead - behind) / 2e-5, atol=1e-4 * np.abs(gradient).max())


def test_the_covariances_of_a_view_are_those_of_the_weights():
    view = ComponentView(belief().components[0], "map")
    gp = belief().components[0].gp
    z = np.random.default_rng(3).uniform(-1, 1, (7, 3))
    seen = view.features(z)
    psi = gp.functions(z)
    plain, _ = view.covariances(seen, seen, np.zeros((7, 7)))
    np.testing.assert_allclose(plain, psi @ np.linalg.solve(gp.L @ gp.L.T, psi.T), rtol=1e-7, atol=1e-12)


def test_points_beyond_the_sample_are_not_proposed_again():
    seen = outlook("information", belief())
    first = maximize.over_box(BOX, seen, BY_NAME["information"], 1, np.random.default_rng(3))
    again = maximize.over_box(BOX, seen, BY_NAME["information"], 1, np.random.default_rng(3), seen=first.X)
    assert np.abs((again.X - first.X) / (UPPER - LOWER)).max() > 1e-7
