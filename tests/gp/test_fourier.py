"""Fourier series: values, transforms and the spectrum, against direct sums."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.gp import fourier


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_spectrum_is_the_kernel(k: int) -> None:
    rng = np.random.default_rng(k)
    V = rng.uniform(-1.0, 1.0, (6, k))
    box = fourier.around(np.full(k, 1.5), V)
    power = fourier.spectrum(box, 2.0)
    kernel = 2.0 * np.exp(-0.5 * np.sum((V - V[0]) ** 2, axis=1))
    series = power * box.from_points(np.ones(1), V[:1])
    np.testing.assert_allclose(box.at(series, V), kernel, atol=1e-13)
    np.testing.assert_allclose(np.sum(box.counts * power), 2.0, rtol=1e-13)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_series_is_its_values_on_the_grid(k: int) -> None:
    rng = np.random.default_rng(k)
    box = fourier.FourierBox(np.array([5.0, 4.0, 6.0])[:k], (12, 9, 8)[:k])
    values = rng.standard_normal(box.n)
    c = box.coefficients(values)
    np.testing.assert_allclose(box.values(c), values, atol=1e-12)
    np.testing.assert_allclose(box.at(c, box.grid[:7]), values[:7], atol=1e-12)
    np.testing.assert_allclose(box.expectation(c, np.ones(c.shape[0])), values[0])  # all of the measure at 0
    np.testing.assert_allclose(box.values(box.squared(c)), values**2, atol=1e-12)


def test_draws_have_the_spectrum() -> None:
    box = fourier.around(np.array([2.0]), np.zeros((0, 1)))
    power = fourier.spectrum(box, 3.0)
    rng = np.random.default_rng(0)
    V = np.array([[-1.0], [0.2], [0.5]])
    drawn = np.stack([box.at(fourier.prior_draw(box, power, rng), V) for _ in range(4000)])
    np.testing.assert_allclose(np.cov(drawn.T), 3.0 * np.exp(-0.5 * (V - V.T) ** 2), atol=0.25)


def test_what_does_not_fit_into_memory_is_refused_before_it_is_allocated() -> None:
    V = np.zeros((40, 2))
    assert fourier.fits(np.full(2, 20.0), V)
    for extent in (np.array([1e9, 1.0]), np.full(2, 2e3), np.array([np.inf, 1.0]), np.array([np.nan, 1.0])):
        assert not fourier.fits(extent, V)
        with pytest.raises(ValueError, match=r"over reaches too far for a Fourier series, .* cut distributions"):
            fourier.around(extent, V)
    assert not fourier.fits(np.full(1, 2e4), np.zeros((2000, 1)))  # the waves at the data are many more
