"""Sobol's decomposition against functions whose parts are known."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.gp import fourier, variance_parts
from ridgeway.gp.measures import Uniform
from ridgeway.gp.variance_parts import Exchange, ProductAverages, Terms, WaveAverages

CUBE = Uniform(np.full(3, -np.pi), np.full(3, np.pi))
#: Ishigami's function with 7 and 0.1: the literature's values.
ISHIGAMI = {"mean": 3.5, "variance": 13.8446, "first": [0.3139, 0.4424, 0.0], "total": [0.5576, 0.4424, 0.2437]}


def ishigami(X: np.ndarray) -> np.ndarray:
    return np.sin(X[:, 0]) + 7.0 * np.sin(X[:, 1]) ** 2 + 0.1 * X[:, 2] ** 4 * np.sin(X[:, 0])


def as_products() -> Terms:
    def factors(j: int, t: np.ndarray) -> np.ndarray:
        one = np.ones_like(t)
        columns = [[np.sin(t), one, np.sin(t)], [one, np.sin(t) ** 2, one], [one, one, t**4]]
        return np.stack(columns[j], axis=1).astype(complex)

    return Terms(0.0, np.array([1.0, 7.0, 0.1], dtype=complex), factors)


def test_a_sum_of_products_has_the_known_parts() -> None:
    averages = ProductAverages(CUBE, as_products(), 32)
    found = averages.parts()
    assert found.mean == pytest.approx(ISHIGAMI["mean"], rel=1e-10)
    assert found.variance == pytest.approx(ISHIGAMI["variance"], rel=1e-5)
    np.testing.assert_allclose(found.first / found.variance, ISHIGAMI["first"], atol=1e-4)
    np.testing.assert_allclose(found.total / found.variance, ISHIGAMI["total"], atol=1e-4)
    t = np.array([0.3, 2.0])
    np.testing.assert_allclose(averages.main_effect(0, t), 3.5 + np.sin(t) * (1 + 0.02 * np.pi**4), rtol=1e-10)


def test_exchanged_points_come_near() -> None:
    exchange = Exchange(CUBE, 14)
    found = exchange.parts(ishigami)
    np.testing.assert_allclose(found.first / found.variance, ISHIGAMI["first"], atol=0.01)
    np.testing.assert_allclose(found.total / found.variance, ISHIGAMI["total"], atol=0.01)
    at = exchange.main_effect(ishigami, 1, np.array([0.0, np.pi / 2]))
    np.testing.assert_allclose(at, [0.0, 7.0], atol=0.05)


@pytest.mark.parametrize("k", [1, 2])
def test_a_series_has_the_parts_of_the_same_sum_of_products(k: int) -> None:
    # Waves are products over the inputs: two ways to the same numbers, in four inputs of which one does nothing.
    rng = np.random.default_rng(k)
    R = np.hstack([rng.standard_normal((k, 3)), np.zeros((k, 1))])
    measure = Uniform([-1.0, -0.5, 0.0, -1.0], [1.0, 1.0, 2.0, 1.0])
    box = fourier.around(measure.extent(R), np.zeros((0, k)))
    kept = rng.choice(np.flatnonzero(np.linalg.norm(box.omega, axis=1) < 3.0), 6, replace=False)
    c = np.zeros(box.omega.shape[0], dtype=complex)
    c[kept] = rng.standard_normal(6) + 1j * rng.standard_normal(6)
    c = box.coefficients(box.values(c))  # a real function: what its waves of frequency zero are is settled
    kept = np.flatnonzero(np.abs(c) > 1e-12)
    offset = np.exp(-1j * box.omega[kept] @ R @ measure.center)

    def factors(j: int, t: np.ndarray) -> np.ndarray:
        return np.exp(1j * np.outer(t, box.omega[kept] @ R[:, j]))

    waves = WaveAverages(box, measure, R)
    found = waves.parts(c)
    products = ProductAverages(measure, Terms(0.0, c[kept] * box.counts[kept] * offset, factors), 40)
    expected = products.parts()
    assert found.variance == pytest.approx(expected.variance, rel=1e-9)
    np.testing.assert_allclose(found.first, expected.first, atol=1e-9 * expected.variance)
    np.testing.assert_allclose(found.total, expected.total, atol=1e-9 * expected.variance)
    assert found.total[3] == found.first[3] == 0.0
    t = np.array([0.1, 0.9])
    np.testing.assert_allclose(waves.main_effect(c, 1, t), products.main_effect(1, t), atol=1e-9)


def test_slopes_are_mean_squared_derivatives() -> None:
    R, measure = np.array([[0.6, -0.3]]), Uniform([-1.0, -1.0], [1.0, 1.0])
    box = fourier.around(measure.extent(R), np.zeros((0, 1)))
    f = np.exp(-0.5 * box.grid[:, 0] ** 2)
    x = np.linspace(-1, 1, 801)
    u = 0.6 * x[:, None] - 0.3 * x
    expected = np.trapezoid(np.trapezoid((u * np.exp(-0.5 * u**2)) ** 2, x), x) / 4.0
    np.testing.assert_allclose(
        WaveAverages(box, measure, R).slopes(box.coefficients(f)), expected * R[0] ** 2, rtol=1e-5
    )


def test_a_main_effect_at_many_values_is_computed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    measure, R = Uniform(np.full(2, -1.0), np.full(2, 1.0)), np.array([[0.7, -0.4]])
    box = fourier.around(measure.extent(R), np.zeros((1, 1)))
    c = fourier.prior_draw(box, fourier.spectrum(box, 1.0), np.random.default_rng(0))
    t = np.linspace(-1.0, 1.0, 23)
    whole = WaveAverages(box, measure, R).main_effect(c, 0, t)
    monkeypatch.setattr(variance_parts, "_ENTRIES", 5 * c.shape[0])
    np.testing.assert_allclose(WaveAverages(box, measure, R).main_effect(c, 0, t), whole, atol=1e-12)
