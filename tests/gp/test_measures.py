"""Measures: their characteristic functions against sums over points, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ridgeway.gp.kernel_means import sobol_points
from ridgeway.gp.marginals import Fixed
from ridgeway.gp.measures import (
    Gaussian,
    Independent,
    Points,
    Sample,
    Uniform,
    error_of_parts,
    independent,
    resolves,
    values,
)
from ridgeway.gp.scaling import InputScaling

COVARIANCE = np.array([[1.0, 0.3, 0.0], [0.3, 0.5, 0.1], [0.0, 0.1, 0.2]])
MEASURES = {
    "uniform": Uniform([-1.0, 0.0, 2.0], [1.0, 0.5, 5.0]),
    "gaussian": Gaussian([0.1, 0.2, -0.3], std=[0.5, 1.0, 0.3]),
    "correlated": Gaussian([0.1, 0.2, -0.3], cov=COVARIANCE),
    "independent": Independent([stats.beta(2, 3), stats.norm(1, 0.5), stats.gamma(3.0)]),
    "discrete": Independent([stats.bernoulli(0.3), stats.norm(1, 0.5), stats.poisson(1.5)]),
}
R = np.array([[0.7, -0.4, 0.3], [0.2, 0.5, -0.6]])
OMEGA = np.array([[0.0, 0.0], [1.0, 0.5], [-0.7, 2.0], [3.0, -1.0]])


@pytest.mark.parametrize("name", MEASURES)
def test_a_characteristic_function_is_the_mean_of_waves(name: str) -> None:
    measure = MEASURES[name]
    X = sobol_points(measure, 15)
    naive = np.exp(1j * ((X - measure.center) @ R.T) @ OMEGA.T).mean(axis=0)
    np.testing.assert_allclose(measure.characteristic(R, OMEGA), naive, atol=1e-3 if name == "discrete" else 3e-4)
    np.testing.assert_allclose(measure.covariance(R), np.cov((X @ R.T).T), rtol=0.01, atol=1e-3)
    assert np.all(np.abs((X - measure.center) @ R.T).max(axis=0) <= measure.extent(R) * (1 + 1e-12))


@pytest.mark.parametrize("name", ["uniform", "gaussian", "independent", "discrete"])
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
    assert found == {"uniform": True, "gaussian": True, "correlated": False, "independent": True, "discrete": True}
    assert not independent(Points([[0.0, 1.0]]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Uniform([1.0], [0.0]), "lower at most upper"),
        (lambda: Uniform([np.nan], [0.0]), "finite"),
        (lambda: Gaussian([0.0]), "either std or cov"),
        (lambda: Gaussian([0.0], std=[-1.0]), "must not be negative"),
        (lambda: Gaussian([5, 0, 20], std=[1, 0.2]), r"std .* for each of the 3 inputs of mean, got shape \(2,\)"),
        (lambda: Gaussian([[5, 0, 20]], std=1), r"mean of Gaussian must have one number .*, got shape \(1, 3\)"),
        (lambda: Uniform([0, 0], [1, 1, 1]), r"one number for each input, got shapes \(2,\) and \(3,\)"),
        (lambda: Uniform([[0.0]], [[1.0]]), "one number for each input, got shapes"),
        (lambda: Independent([]), "one for each input, got none"),
        (lambda: Independent([stats.norm(), stats.zipf(2.0)]), "number 1: a discrete distribution must have at most"),
        (lambda: Independent([stats.uniform(0, -1)]), "finite quantiles, number 0 has not"),
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
    with pytest.raises(TypeError, match="must be a sequence of distributions, one for each input, got <scipy"):
        Independent(stats.norm())


@pytest.mark.parametrize("family", ["beta", "norm", "poisson"])
def test_a_distribution_without_its_parameters_is_refused(family: str) -> None:
    with pytest.raises(TypeError, match=rf"call it, as in scipy.stats.{family}\(\.\.\.\); number 0 is"):
        Independent([getattr(stats, family)] * 3)


def test_discrete_inputs_are_at_their_values() -> None:
    measure = MEASURES["discrete"]
    np.testing.assert_allclose(measure.center, [0.3, 1.0, 1.5], atol=1e-12)
    np.testing.assert_allclose(np.diagonal(measure.covariance(np.eye(3))), [0.21, 0.25, 1.5], rtol=1e-9)
    assert set(np.unique(sobol_points(measure, 8)[:, 0])) == {0.0, 1.0}
    moved = measure.scaled(InputScaling(np.array([0.5, 0.0, 1.0]), np.array([0.5, 1.0, 2.0])))
    np.testing.assert_array_equal(values(moved, 0), [-1.0, 1.0])
    assert values(moved, 1) is None
    assert values(Uniform([0.0], [1.0]), 0) is None
    assert [measure.interval(j) for j in (0, 2)] == [(0.0, 1.0), (0.0, 5.0)]
    assert Independent([stats.bernoulli(0.001)]).interval(0) == (0.0, 1.0)


def test_nodes_know_how_heavy_a_tail_they_resolve() -> None:
    one = np.ones((1, 1))
    for light in (stats.norm(), stats.expon(), stats.lognorm(1.0), Fixed(2.0)):
        assert resolves(Independent([light]), one)
    for heavy in (stats.cauchy(), stats.lognorm(3.0), stats.pareto(1.5)):
        assert not resolves(Independent([heavy]), one)
    assert resolves(Independent([stats.poisson(3.0)]), 100.0 * one)  # a sum over all of its values
    assert resolves(Uniform([0.0], [1e9]), one)


def test_a_wide_input_has_nodes_without_a_large_matrix() -> None:
    measure = Uniform([-100.0], [100.0])
    for n in (500, 20_000):
        t, w = measure.nodes(0, n)
        assert n <= len(t) <= 2 * n
        assert w @ np.exp(-0.5 * (t - 3.3) ** 2) == pytest.approx(np.sqrt(2.0 * np.pi) / 200.0, rel=1e-9)


def test_the_parts_of_a_sample_say_how_far_its_mean_is_off() -> None:
    rng, away = np.random.default_rng(0), []
    for _ in range(400):
        sample = Sample.of([rng.standard_normal((n, 1)) for n in (40, 50, 60, 50, 45, 55, 50, 50)])
        assert sample.scaled(InputScaling(np.zeros(1), np.full(1, 2.0))).parts is sample.parts
        by_part, mean = sample.by_part, sample.center[0]
        np.testing.assert_allclose(by_part.sum(axis=0), sample.shares)
        error = error_of_parts(by_part @ sample.points[:, 0] - by_part.sum(axis=1) * mean)
        away.append(mean / error)
    assert np.std(away) == pytest.approx(1.0, abs=0.12)
