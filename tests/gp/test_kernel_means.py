"""Means of kernels against sums over Sobol points, and against each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import dblquad, quad
from scipy.spatial.distance import cdist
from scipy.stats import qmc

from ridgeway.gp import kernel_means, kernels
from ridgeway.gp.kernel_means import Rows
from ridgeway.gp.measures import Gaussian, Independent, Points, Uniform, error_of_parts
from tests.helpers import Cauchy

D = 4
MEASURES = {
    "uniform": Uniform(np.full(D, -1.0), np.full(D, 1.0)),
    "gaussian": Gaussian(np.full(D, 0.1), std=np.full(D, 0.4)),
    "independent": Independent([stats.beta(2, 3, loc=-1, scale=2)] * D),
}


def drawn(k: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(k)
    R = rng.standard_normal((k, D)) * 0.8
    return R, rng.uniform(-1, 1, (5, D)) @ R.T


def naive(measure, kernel, R, U, log2=13) -> tuple[np.ndarray, float]:
    q = qmc.Sobol(2 * D, seed=np.random.default_rng(1)).random_base2(log2)
    A, B = measure.from_uniform(q[:, :D]) @ R.T, measure.from_uniform(q[:, D:]) @ R.T
    return kernel.value(cdist(A, U, "sqeuclidean")).mean(axis=0), float(
        kernel.value(np.sum((A - B) ** 2, axis=1)).mean()
    )


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("kernel", ["se", "matern52", "rq"])
@pytest.mark.parametrize("k", [1, 2])
def test_means_on_directions(k: int, kernel: str, name: str) -> None:
    (R, U), g, measure = drawn(k), kernels.resolve(kernel), MEASURES[name]
    found = kernel_means.kernel_means(measure, g, Rows(R), U)
    to_data, itself = naive(measure, g, R, U)
    np.testing.assert_allclose(found.to_data, to_data, rtol=1e-3)
    assert found.itself == pytest.approx(itself, rel=1e-2)


def test_three_directions_and_a_kernel_of_the_user() -> None:
    R, U = drawn(3)
    for g in (kernels.resolve("se"), Cauchy()):
        found = kernel_means.kernel_means(MEASURES["uniform"], g, Rows(R), U)
        to_data, itself = naive(MEASURES["uniform"], g, R, U)
        np.testing.assert_allclose(found.to_data, to_data, rtol=1e-3)
        assert found.itself == pytest.approx(itself, rel=1e-2)


def test_one_input_is_an_integral_that_quadrature_knows() -> None:
    g, U = kernels.resolve("se"), np.array([[0.3], [2.0]])
    found = kernel_means.kernel_means(Uniform([-1.0], [1.0]), g, Rows(np.array([[1.7]])), U)
    for value, u in zip(found.to_data, U[:, 0], strict=True):
        exact = quad(lambda x, u=u: 0.5 * np.exp(-0.5 * (1.7 * x - u) ** 2), -1, 1, epsabs=1e-14)[0]
        assert value == pytest.approx(exact, rel=1e-12)
    pairs = dblquad(lambda x, z: 0.25 * np.exp(-0.5 * (1.7 * (x - z)) ** 2), -1, 1, -1, 1, epsabs=1e-12)[0]
    assert found.itself == pytest.approx(pairs, rel=1e-10)


def test_a_gaussian_by_fourier_is_its_closed_form() -> None:
    R, U = drawn(2)
    closed = kernel_means.kernel_means(MEASURES["gaussian"], kernels.resolve("se"), Rows(R), U)
    turned, V = kernel_means.principal(MEASURES["gaussian"], R, U)
    by_waves = kernel_means._fourier(MEASURES["gaussian"], turned, V)
    np.testing.assert_allclose(by_waves.to_data, closed.to_data, rtol=1e-11)
    assert by_waves.itself == pytest.approx(closed.itself, rel=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_length_scales_are_the_diagonal_of_directions(name: str) -> None:
    scale = np.array([0.4, 1.1, 0.7])
    measure = {
        "uniform": Uniform(np.full(3, -1.0), np.full(3, 1.0)),
        "gaussian": Gaussian(np.full(3, 0.1), std=np.full(3, 0.4)),
        "independent": Independent([stats.beta(2, 3, loc=-1, scale=2)] * 3),
    }[name]
    U = np.random.default_rng(0).uniform(-1, 1, (4, 3)) * scale
    one = kernel_means.kernel_means(measure, kernels.resolve("se"), Rows(scale), U)
    other = kernel_means.kernel_means(measure, kernels.resolve("se"), Rows(np.diag(scale)), U)
    np.testing.assert_allclose(one.to_data, other.to_data, rtol=1e-7)
    assert one.itself == pytest.approx(other.itself, rel=1e-7)


def test_points_are_summed() -> None:
    R, U = drawn(2)
    X = np.random.default_rng(3).uniform(-1, 1, (7, D))
    w = np.arange(1.0, 8.0)
    found = kernel_means.kernel_means(Points(X, w), kernels.resolve("se"), Rows(R), U)
    K = np.exp(-0.5 * cdist(X @ R.T, np.vstack([U, X @ R.T]), "sqeuclidean"))
    np.testing.assert_allclose(found.to_data, w @ K[:, :5] / w.sum())
    assert found.itself == pytest.approx(w @ K[:, 5:] @ w / w.sum() ** 2)


def test_many_directions_are_summed_over_sobol_points() -> None:
    R, U = drawn(4)
    found = kernel_means.kernel_means(MEASURES["uniform"], kernels.resolve("se"), Rows(R), U)
    to_data, itself = naive(MEASURES["uniform"], kernels.resolve("se"), R, U)
    np.testing.assert_allclose(found.to_data, to_data, rtol=3e-3)
    assert found.itself == pytest.approx(itself, rel=0.03)
    np.testing.assert_allclose(found.paired, to_data, rtol=0.05)
    K = np.exp(-0.5 * cdist(U, U, "sqeuclidean")) + 1e-6 * np.eye(5)
    assert 0.0 < found.variance(lambda z: np.linalg.solve(K, z)) < found.itself


HEAVY = [stats.cauchy(), stats.lognorm(2.0), stats.pareto(1.5), stats.levy(), stats.t(2, 0.5, 0.1)]


@pytest.mark.parametrize("heavy", HEAVY)
@pytest.mark.parametrize("kernel", ["se", "matern52"])
@pytest.mark.parametrize("rows", [np.array([[0.9, 0.4]]), np.array([[0.9, 0.4], [0.0, 1.0]]), np.array([0.9, 0.4])])
def test_a_heavy_tail_is_sampled_and_says_how_well(rows: np.ndarray, kernel: str, heavy) -> None:
    g, U = kernels.resolve(kernel), np.random.default_rng(0).uniform(-1, 1, (5, rows.shape[0]))
    measure = Independent([heavy, stats.uniform(-1, 2)])
    found = kernel_means.kernel_means(measure, g, Rows(rows), U)
    X = np.column_stack([heavy.ppf(np.linspace(0, 1, 40_001)[:-1] + 1 / 80_000), np.zeros(40_000)])
    X[:, 1] = np.random.default_rng(1).permutation(np.linspace(-1, 1, 40_000))
    naive = g.value(cdist(Rows(rows).project(X), U, "sqeuclidean"))
    error = error_of_parts(found.deviations(np.eye(5)))
    assert np.all(error < 0.002)
    tolerance = np.hypot(5.0 * error, 4.0 * naive.std(axis=0) / np.sqrt(len(X)))
    assert np.all(np.abs(found.to_data - naive.mean(axis=0)) < tolerance)


def test_what_has_a_closed_form_has_no_parts() -> None:
    R, U = drawn(1)
    assert kernel_means.kernel_means(MEASURES["uniform"], kernels.resolve("se"), Rows(R), U).deviations(U).size == 0


@pytest.mark.parametrize("scales", [True, False])
def test_discrete_inputs_are_summed_over_their_values(scales: bool) -> None:
    measure = Independent([stats.bernoulli(0.3), stats.binom(3, 0.4), stats.randint(0, 3)])
    rows = np.array([0.4, 1.1, 0.7]) if scales else np.array([[0.4, 1.1, -0.7]])
    U = np.random.default_rng(0).uniform(-1, 1, (4, rows.shape[0]))
    grid = np.array(list(itertools.product(range(2), range(4), range(3))), dtype=float)
    w = np.prod([m.pmf(grid[:, j]) for j, m in enumerate(measure.marginals)], axis=0)
    A = Rows(rows).project(grid)
    for kernel in ("se",) if scales else ("se", "matern52"):
        g = kernels.resolve(kernel)
        found = kernel_means.kernel_means(measure, g, Rows(rows), U)
        rel = 1e-7 if kernel == "se" else 1e-3
        np.testing.assert_allclose(found.to_data, w @ g.value(cdist(A, U, "sqeuclidean")), rtol=rel)
        assert found.itself == pytest.approx(w @ g.value(cdist(A, A, "sqeuclidean")) @ w, rel=rel)
