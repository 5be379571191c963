import numpy as np
import pytest

from ridgeway.gp import feature_likelihood, likelihood
from ridgeway.gp.process import N_GLOBAL
from tests.gp.many import problem

CASES = [(1, False), (2, False), (2, True)]


def differences(function, theta, step=1e-5):
    unit = np.eye(theta.shape[0])[: theta.shape[0] - 1]
    return np.array([(function(theta + step * e) - function(theta - step * e)) / (2 * step) for e in unit])


@pytest.mark.parametrize(("d", "noisy"), CASES)
def test_value_and_gradient_are_those_of_the_exact_process(d, noisy):
    data, rows, embedding, kernel, theta = problem(d=d, noisy=noisy)
    exact, there = data.condition(embedding, kernel, theta), rows.condition(embedding, kernel, theta)
    assert there.log_likelihood() == pytest.approx(exact.log_likelihood(), abs=0.1)
    g = likelihood.gradient(exact)
    np.testing.assert_allclose(likelihood.gradient(there), g, atol=3e-3 * np.abs(g).max())


@pytest.mark.parametrize(("d", "noisy"), CASES)
def test_the_gradient_is_that_of_the_value(d, noisy):
    _, rows, embedding, kernel, theta = problem(60, D=d + 1, d=d, noisy=noisy)
    fixed = rows.around(embedding, kernel, theta)
    by_hand = likelihood.gradient(fixed.condition(embedding, kernel, theta))
    value = differences(lambda at: fixed.condition(embedding, kernel, at).log_likelihood(), theta)
    turns = embedding.rotations(theta[:-N_GLOBAL])  # along which the basis alone makes a difference
    value[: -N_GLOBAL + 1] -= turns @ np.linalg.lstsq(turns, value[: -N_GLOBAL + 1], rcond=None)[0]
    np.testing.assert_allclose(by_hand[:-1], value, atol=1e-6 * np.abs(value).max())


@pytest.mark.parametrize("noisy", [False, True])
def test_the_hessian_is_that_of_the_gradient_with_inputs_that_follow_their_embedding(noisy):
    # With as many directions as inputs, the regression of the inputs on the embedding is exact, and so is all.
    _, rows, embedding, kernel, theta = problem(80, D=2, d=2, noisy=noisy)
    fixed = rows.around(embedding, kernel, theta)
    by_hand = likelihood.hessian(fixed.condition(embedding, kernel, theta))[:-1, :-1]
    value = differences(lambda at: likelihood.gradient(fixed.condition(embedding, kernel, at)), theta)[:, :-1]
    turns = np.zeros((value.shape[0], 1))  # along which nothing but the basis changes anything
    turns[: -N_GLOBAL + 1] = embedding.rotations(theta[:-N_GLOBAL])
    off = np.eye(value.shape[0]) - turns @ turns.T / (turns.T @ turns)
    np.testing.assert_allclose(by_hand, off @ value @ off, atol=1e-3 * np.abs(value).max())
    np.testing.assert_allclose(by_hand @ turns, 0.0, atol=1e-6 * np.abs(value).max())


def test_globals_of_the_hessian_are_exact_for_any_inputs():
    _, rows, embedding, kernel, theta = problem(80, D=5, d=2, noisy=True)
    fixed = rows.around(embedding, kernel, theta)
    by_hand = likelihood.hessian(fixed.condition(embedding, kernel, theta))[:-1, :-1]
    value = differences(lambda at: likelihood.gradient(fixed.condition(embedding, kernel, at)), theta)[:, :-1]
    np.testing.assert_allclose(by_hand[-N_GLOBAL + 1 :], value[-N_GLOBAL + 1 :], atol=1e-4 * np.abs(value).max())


def test_the_trace_of_many_waves_is_estimated_well(monkeypatch):
    _, rows, embedding, kernel, theta = problem(300, D=3, d=2)
    gp = rows.condition(embedding, kernel, theta)
    exact = feature_likelihood.curvature(gp).hessian
    monkeypatch.setattr(feature_likelihood, "_FEW", 16)
    monkeypatch.setattr(feature_likelihood, "_PROBES", gp.basis.m // 2)
    estimated = feature_likelihood.curvature(gp).hessian
    assert 0 < np.abs(estimated - exact).max() < 0.03 * np.abs(exact).max()


def test_the_response_is_the_derivative_of_the_weights():
    _, rows, embedding, kernel, theta = problem(80)
    fixed = rows.around(embedding, kernel, theta)
    response = feature_likelihood.kept(fixed.condition(embedding, kernel, theta)).response.weights
    value = differences(lambda at: fixed.condition(embedding, kernel, at).v, theta)
    np.testing.assert_allclose(response[:, :-1], value.T, atol=1e-5 * np.abs(value).max())


def test_small_curvatures_are_not_lost_in_rounding():
    """Of many rows, or with little noise, the precision of the waves has a condition of 1e10 and more."""
    _, rows, embedding, kernel, theta = problem(400, D=4, d=2)
    theta[-N_GLOBAL:-2] = 2.8, -4.0
    fixed = rows.around(embedding, kernel, theta)
    first = fixed.condition(embedding, kernel, theta)
    assert np.linalg.cond(first.L) ** 2 > 1e7
    nearby = fixed.condition(embedding, kernel, theta * (1.0 + 1e-14))
    one, other = likelihood.hessian(first), likelihood.hessian(nearby)
    assert np.abs(one - other).max() < 1e-9 * np.abs(one).max()
