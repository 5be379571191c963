"""Fits that start from an earlier belief."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.belief import transfer
from ridgeway.gp import rowspace
from ridgeway.gp.scaling import InputScaling
from ridgeway.inference.settings import DEFAULT
from tests.belief.problems import assert_same_predictions, fit, one_direction
from tests.helpers import inputs


def latent(n, D, seed=0):
    """Many inputs that follow two causes closely: more inputs than rows, and still easy."""
    rng = np.random.default_rng(seed)
    causes, loads = rng.uniform(-1.0, 1.0, (n, 2)), rng.uniform(-0.5, 0.5, (2, D))
    X = causes @ loads + 0.02 * rng.normal(size=(n, D))
    return X, np.sin(2.5 * causes[:, 0] + causes[:, 1]) + 0.05 * rng.normal(size=n)


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [(-1, 1), None])
@pytest.mark.parametrize("D", [3, 40])
def test_one_more_observation(D, bounds):
    if D == 3:
        X = inputs(26, 3)
        X[-1] *= 1.3 if bounds is None else 1.0
        y = one_direction(X)
    else:
        X, y = latent(26, D)
    before = fit(X[:-1], y[:-1], bounds=bounds)
    if bounds is None:
        X[-1, 0] = 1.4 * np.abs(X[:-1, 0]).max()  # the range grows, and with it the units of the embedding
    warm, cold = fit(X, y, bounds=bounds, initial=before, n_starts=None), fit(X, y, bounds=bounds, n_starts=8)
    # Of the best mode: how many others come with it depends on the starts.
    assert warm.components[0].log_evidence == pytest.approx(cold.components[0].log_evidence, abs=0.2)
    assert warm.diagnostics.n_starts == len(before.components) + DEFAULT.warm_starts
    X_new = X[:10] + 0.01
    assert_same_predictions(warm, cold, X_new, 0.05)


def test_one_more_observation_extends_the_row_space(monkeypatch):
    X, y = latent(20, 40)
    before = fit(X[:-1], y[:-1])
    anew = fit(X, y, n_starts=2)

    def refuse(*_):
        raise AssertionError("the row space was there to be extended")

    with monkeypatch.context() as patch:
        patch.setattr(rowspace, "reduce", refuse)
        warm = fit(X, y, initial=before, n_starts=1)
    assert warm.space.r == anew.space.r == 20
    np.testing.assert_allclose(warm.space.Z @ warm.space.Z.T, anew.space.Z @ anew.space.Z.T, atol=1e-10)
    P, Q = (belief.space.lift(np.eye(20)) for belief in (warm, anew))
    np.testing.assert_allclose(P.T @ P, Q.T @ Q, atol=1e-6)


def test_modes_of_an_earlier_belief_keep_their_place_when_units_change():
    """The start in the new units fits the old data as the old mode did."""
    X, y = inputs(25, 3), one_direction(inputs(25, 3))
    before = fit(X, y, bounds=None)
    scaling = InputScaling.from_bounds(np.array([-2.0, -1.0, -3.0]), np.array([2.0, 4.0, 1.0]))
    space = rowspace.reduce(X, scaling)
    (mode,) = transfer.known_modes(before.components, before.space, before.posterior, space)
    U, V = before.components[0].gp.U, space.Z @ mode.theta[:-4].reshape(1, -1).T
    np.testing.assert_allclose(U - U.mean(axis=0), V - V.mean(axis=0), atol=1e-10)


def test_going_on_where_no_direction_was_known():
    """Three runs at the centre of the box span nothing; the fourth is the first to say something."""
    X = np.zeros((4, 6))
    X[3] = 0.5
    y = np.array([1.0, 1.1, 0.9, 3.0])
    before = fit(X[:3], y[:3])
    assert before.space.r == 0
    warm = fit(X, y, initial=before)
    assert warm.space.r == 1
    mean = warm.predict(X).mean
    assert mean[3] > mean[0]


def test_initial_of_lower_rank_is_followed():
    X = inputs(31, 3)
    y = one_direction(X)
    before = fit(X[:-1], y[:-1], rw.Linear(2))
    assert before.rank == 1
    warm = fit(X, y, rw.Linear(2), initial=before, n_starts=1)
    cold = fit(X, y, rw.Linear(2), n_starts=8)
    assert warm.rank == cold.rank == 1
    assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=0.2)


@pytest.mark.parametrize("embedding", [rw.Diagonal(), rw.Isotropic()])
def test_one_more_observation_of_length_scales(embedding):
    X = inputs(26, 3)
    y = one_direction(X)
    before = fit(X[:-1], y[:-1], embedding)
    warm, cold = fit(X, y, embedding, initial=before, n_starts=1), fit(X, y, embedding)
    assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=0.2)


def test_a_joint_mode_may_begin_from_modes_of_lower_rank():
    X = inputs(31, 3)
    y = one_direction(X)
    before = fit(X[:-1], y[:-1], rw.Linear(2))
    assert before.rank == 1
    warm = fit(X, y, rw.Linear(2), inference="map", initial=before, n_starts=1)
    cold = fit(X, y, rw.Linear(2), inference="map", n_starts=8)
    assert warm.rank == 2
    assert warm.components[0].log_evidence == pytest.approx(cold.components[0].log_evidence, abs=0.5)
