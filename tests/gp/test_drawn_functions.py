"""Functions drawn from a process: their moments are the process', their averages those of their values."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.gp import drawn_functions, kernels, moments
from ridgeway.gp.kernel_means import Rows, sobol_points
from ridgeway.gp.length_scales import Diagonal
from ridgeway.gp.leveled import Leveled
from ridgeway.gp.linear import Linear
from ridgeway.gp.measures import Uniform
from ridgeway.gp.process import ConditionedGP, Data, condition
from ridgeway.gp.variance_parts import Exchange

D = 3
MEASURE = Uniform(np.full(D, -1.0), np.full(D, 1.0))
CASES = {"series": (Linear(2), "se"), "products": (Diagonal(), "se"), "paths": (Linear(2), "matern52")}


def conditioned(embedding, kernel: str) -> tuple[ConditionedGP, Rows, np.ndarray]:
    rng = np.random.default_rng(0)
    Z = rng.uniform(-1, 1, (12, D))
    y = np.sin(2.0 * Z[:, 0]) + Z[:, 1] * Z[:, 2]
    parameters = rng.standard_normal(2 * D) if embedding == Linear(2) else np.array([-0.3, 0.0, 0.2])
    theta = np.concatenate([parameters, [0.2, -3.0, 0.1, 0.0]])
    gp = condition(embedding, kernels.resolve(kernel), Data(Z, y, np.zeros(12)), theta)
    rows = Rows(parameters.reshape(2, D) if embedding == Linear(2) else np.exp(-parameters))
    return gp, rows, rows.project(Z)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_draws_have_the_moments_of_the_process(case: str) -> None:
    gp, rows, U = conditioned(*CASES[case])
    source = drawn_functions.source(gp, rows, U, MEASURE)
    X = np.random.default_rng(1).uniform(-1, 1, (6, D))
    mean, variance = moments.plain(gp, X)
    np.testing.assert_allclose(source.mean().values(X), mean, atol=1e-10)
    rng = np.random.default_rng(2)
    drawn = np.stack([source.draw(rng).values(X) for _ in range(1500)])
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=5.0 * np.sqrt(variance.max() / 1500))
    np.testing.assert_allclose(drawn.std(axis=0), np.sqrt(variance), rtol=0.15)


@pytest.mark.parametrize("case", CASES)
def test_averages_of_a_draw_are_averages_of_its_values(case: str) -> None:
    gp, rows, U = conditioned(*CASES[case])
    drawn = drawn_functions.source(gp, rows, U, MEASURE).draw(np.random.default_rng(0))
    found, expected = drawn.parts(), Exchange(MEASURE, 13, seed=5).parts(drawn.values)
    assert found.mean == pytest.approx(expected.mean, abs=5e-3)
    assert found.variance == pytest.approx(expected.variance, rel=0.01)
    random = 4.0 / np.sqrt(2**12) if case == "paths" else 0.02  # whose averages are over so many points
    np.testing.assert_allclose(found.first, expected.first, atol=random * found.variance)
    np.testing.assert_allclose(found.total, expected.total, atol=0.01 * found.variance)
    X = sobol_points(MEASURE, 12, seed=3)
    X[:, 1] = 0.4
    assert drawn.main_effect(1, np.array([0.4]))[0] == pytest.approx(drawn.values(X).mean(), abs=5e-3)
    step, X = 1e-5, sobol_points(MEASURE, 11, seed=4)
    ahead = np.stack([drawn.values(X + step * np.eye(D)[j]) - drawn.values(X - step * np.eye(D)[j]) for j in range(D)])
    np.testing.assert_allclose(drawn.slopes(), np.mean((ahead / (2 * step)) ** 2, axis=1), rtol=0.05)


@pytest.mark.parametrize("kernel", ["se", "matern32", "matern52", "rq"])
def test_random_waves_have_the_kernel_as_their_covariance(kernel: str) -> None:
    g = kernels.resolve(kernel)
    waves = kernels.spectral(g).frequencies(200_000, 2, np.random.default_rng(0)).T
    u = np.array([0.6, -0.8])
    assert np.cos(u @ waves).mean() == pytest.approx(g.value(np.array(1.0)), abs=0.01)


def test_a_kernel_without_a_known_spectrum_is_refused() -> None:
    from tests.helpers import Cauchy

    with pytest.raises(TypeError, match=r"kernel must have frequencies\(\)"):
        kernels.spectral(Cauchy())


@pytest.mark.parametrize("case", CASES)
def test_a_category_is_one_input(case: str) -> None:
    """Two columns as the levels of a category beside one input: sums over the levels and a quadrature are exact."""
    gp, rows, U = conditioned(*CASES[case])
    measure = Leveled(np.full(D, -1.0), np.full(D, 1.0), [(0, 2)])
    drawn = drawn_functions.source(gp, rows, U, measure).draw(np.random.default_rng(0))
    t, w = np.polynomial.legendre.leggauss(60)
    levels = np.array([[1.0, -1.0], [-1.0, 1.0]])
    table = np.stack([drawn.values(np.column_stack([np.full(60, a), t, np.full(60, b)])) for a, b in levels])  # (2, 60)
    w = 0.5 * w
    mean = float(np.mean(table @ w))
    variance = float(np.mean(table**2 @ w)) - mean**2
    first = np.array([np.mean((table @ w - mean) ** 2), w @ (table.mean(axis=0) - mean) ** 2])
    found = drawn.parts()
    # The square of a series has waves that its grid does not hold; the others are averaged over 2^12 points.
    error = 1e-4 if case == "series" else 0.06
    assert found.mean == pytest.approx(mean, abs=error * np.sqrt(variance))
    assert found.variance == pytest.approx(variance, rel=error)
    np.testing.assert_allclose(found.first, first, atol=error * variance)
    np.testing.assert_allclose(found.total, variance - first[::-1], atol=error * variance)
    np.testing.assert_allclose(drawn.main_effect(0, levels), table @ w, atol=error * np.sqrt(variance))
    assert drawn.slopes().shape == (2,)
