"""The expected improvement against numbers of 400 digits, quadrature and differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from ridgeway.active.log_improvement import log_improvement

#: log(phi(z) + z Phi(z)), computed with 400 digits.
EXACT = {
    5.0: 1.6094379231264313,
    1.0: 0.08002621884930694,
    0.0: -0.9189385332046728,
    -0.99: -2.4661143916690493,
    -1.01: -2.504199857480257,
    -3.0: -7.869686059603029,
    -10.0: -55.55312203612235,
    -30.0: -457.724653760598,
    -100.0: -5010.12957880025,
    -500.0: -125013.34816672988,
    -999.0: -499015.2324510965,
    -1e4: -50000019.33961931,
}


@pytest.mark.parametrize("z", EXACT)
@pytest.mark.parametrize("std", [1.0, 1e-3, 70.0])
def test_all_digits_however_unlikely_an_improvement_is(z, std):
    found = log_improvement(np.array([5.0]), np.array([std**2]), np.array([5.0 + z * std]))
    # The distance to the best is given in floating point: an error of 1e-16 of it counts z² times.
    assert found.value[0] == pytest.approx(np.log(std) + EXACT[z], rel=1e-11, abs=1e-12 * max(1.0, 5.0 * abs(z) / std))


@pytest.mark.parametrize(("mean", "variance", "best"), [(0.3, 0.5, 1.0), (2.0, 0.3, 0.5), (-1.0, 4.0, -1.0)])
def test_it_is_the_expectation(mean, variance, best):
    density = norm(mean, np.sqrt(variance)).pdf
    expected = quad(lambda f: (best - f) * density(f), mean - 12 * np.sqrt(variance), best, epsabs=1e-13)[0]
    found = log_improvement(np.array([mean]), np.array([variance]), np.array([best]))
    assert np.exp(found.value[0]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("z", [3.0, 0.0, -0.999, -1.001, -7.0, -400.0, -2000.0])
def test_slopes_are_those_of_differences(z):
    std, best = 0.7, 1.5
    mean, h = np.array([best - z * std]), 1e-5
    found = log_improvement(mean, np.array([std**2]), np.array([best]))

    def value(m, v):
        return log_improvement(np.array([m]), np.array([v]), np.array([best])).value[0]

    by_mean = (value(mean[0] + h, std**2) - value(mean[0] - h, std**2)) / (2 * h)
    by_variance = (value(mean[0], std**2 + h) - value(mean[0], std**2 - h)) / (2 * h)
    assert found.by_mean[0] == pytest.approx(by_mean, rel=1e-6)
    assert found.by_variance[0] == pytest.approx(by_variance, rel=1e-6)
    assert found.by_mean[0] < 0 < found.by_variance[0]
