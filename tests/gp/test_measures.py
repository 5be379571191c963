"""Measures: their characteristic functions against sums over points, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ridgeway.gp.kernel_means import sobol_points
from ridgeway.gp.measures import Gaussian, Independent, Points, Uniform, independent
from ridgeway.gp.scaling import InputScaling

COVARIANCE = np.array([[1.0, 0.3, 0.0], [0.3, 0.5, 0.1], [0.0, 0.1, 0.2]])
MEASURES = {
    "uniform": Uniform([-1.0, 0.0, 2.0], [1.0, 0.5, 5.0]),
    "gaussian": Gaussian([0.1, 0.2, -0.3], std=[0.5, 1.0, 0.3]),
    "correlated": Gaussian([0.1, 0.2, -0.3], cov=COVARIANCE),
    "independent": Independent([stats.beta(2, 3), stats.norm(1, 0.5), stats.gamma(3.0)]),
}
R = np.array([[0.7, -0.4, 0.3], [0.2, 0.5, -0.6]])
OMEGA = np.array([[0.0, 0.0], [1.0, 0.5], [-0.7, 2.0], [3.0, -1.0]])


@pytest.mark.parametrize("name", MEASURES)
def test_a_characteristic_function_is_the_mean_of_waves(name: str) -> None:
    measure = MEASURES[name]
    X = sobol_points(measure, 15)
    naive = np.exp(1j * ((X - measure.center) @ R.T) @ OMEGA.T).mean(axis=0)
    np.testing.assert_allclose(measure.characteristic(R, OMEGA), naive, atol=3e-4)
    np.testing.assert_allclose(measure.covariance(R), np.cov((X @ R.T).T), rtol=0.01, atol=1e-3)
    assert np.all(np.abs((X - measure.center) @ R.T).max(axis=0) <= measure.extent(R) * (1 + 1e-12))


@pytest.mark.parametrize("name", ["uniform", "gaussian", "independent"])
def test_means_over_one_input_are_means_over_points(name: str) -> None:
    measure = MEASURES[name]
    X, scale, at = sobol_points(measure, 15), np.array([0.5, 1.0, 2.0]), np.array([[0.3, 0.1, 2.0], [1.0, -1.0, 0.0]])
    naive = np.exp(-0.5 * (scale * (X[:, None] - at)) ** 2).mean(axis=0)
    np.testing.assert_allclose(measure.line_means(scale, at), naive, atol=3e-4)
    pairs = np.random.default_rng(0).permutation(X.shape[0])
    naive = np.exp(-0.5 * (scale * (X - X[pairs])) ** 2).mean(axis=0)
    np.testing.assert_allclose(measure.line_squares(scale), naive, atol=0.01)
    for j in range(3):
        t, w = measure.nodes(j, 24)
        assert w.sum() == pytest.approx(1.0)
        assert w @ t == pytest.approx(measure.center[j], abs=1e-9)
        assert w @ np.cos(t) == pytest.approx(np.cos(X[:, j]).mean(), abs=1e-3)


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_in_other_units_is_the_same_measure(name: str) -> None:
    measure, scaling = MEASURES[name], InputScaling(np.array([0.5, -1.0, 2.0]), np.array([2.0, 0.5, 3.0]))
    q = np.random.default_rng(0).uniform(size=(5, 3))
    if name == "correlated":  # the axes of its points depend on the units, their distribution does not
        np.testing.assert_allclose(measure.scaled(scaling).matrix * np.outer(*[scaling.half_width] * 2), COVARIANCE)
        return
    np.testing.assert_allclose(measure.scaled(scaling).from_uniform(q), scaling.scaled(measure.from_uniform(q)))


def test_an_input_without_width_is_a_number() -> None:
    measure = Uniform([0.0, 2.0], [1.0, 2.0])
    np.testing.assert_allclose(measure.factor(1, np.array([0.0, 3.0])), 1.0)
    np.testing.assert_allclose(measure.line_means(np.ones(2), np.array([[0.0, 2.5]]))[0, 1], np.exp(-0.125))
    assert measure.line_squares(np.ones(2))[1] == 1.0


def test_which_measures_have_independent_inputs() -> None:
    found = {name: independent(measure) for name, measure in MEASURES.items()}
    assert found == {"uniform": True, "gaussian": True, "correlated": False, "independent": True}
    assert not independent(Points([[0.0, 1.0]]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Uniform([1.0], [0.0]), "lower at most upper"),
        (lambda: Uniform([np.nan], [0.0]), "finite"),
        (lambda: Gaussian([0.0]), "either std or cov"),
        (lambda: Gaussian([0.0], std=[-1.0]), "must not be negative"),
        (lambda: Gaussian([0.0, 0.0], cov=[[1.0, 2.0], [2.0, 1.0]]), "symmetric positive"),
        (lambda: Points([[np.nan]]), "points must be finite"),
        (lambda: Points([[0.0]], weights=[-1.0]), "weights must be 1 numbers"),
    ],
)
def test_what_is_no_measure_is_refused(make, message) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_marginal_without_quantiles_is_refused() -> None:
    with pytest.raises(TypeError, match="number 1 is 3"):
        Independent([stats.norm(), 3])
