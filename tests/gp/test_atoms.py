"""Inputs of finitely many values: moments against scipy's, sums against sums over every value."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ridgeway.gp.atoms import MOST, Atoms

LISTED = stats.rv_discrete(values=([1.5, -2.0, 0.5], [0.3, 0.2, 0.5]))
DISTRIBUTIONS = [
    stats.bernoulli(0.3),
    stats.randint(0, 2),
    stats.binom(10, 0.2, loc=3),
    stats.poisson(3.5),
    stats.poisson(3.5, loc=0.25),
    stats.geom(0.1),
    stats.skellam(5, 8),
    stats.randint(0, MOST),
    stats.poisson(1e6),
    LISTED,
    LISTED(loc=2.5),
]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_moments_are_those_of_the_distribution(distribution) -> None:
    atoms = Atoms.of_distribution(distribution)
    std = distribution.std()
    assert atoms.shares.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all(np.diff(atoms.values) > 0.0)
    assert atoms.mean == pytest.approx(distribution.mean(), abs=1e-8 * std)
    assert atoms.variance == pytest.approx(std**2, rel=1e-8)
    assert len(atoms.summed.values) <= 2048
    assert atoms.summed.mean == pytest.approx(atoms.mean, abs=1e-9 * std)
    assert atoms.summed.variance == pytest.approx(atoms.variance, rel=1e-4)


@pytest.mark.parametrize("n", [9, 4001])  # sums at every frequency, and a cubic through some of them
@pytest.mark.parametrize("distribution", [stats.poisson(3.5), LISTED])
def test_the_characteristic_function_is_a_sum_over_the_values(distribution, n: int) -> None:
    atoms, s = Atoms.of_distribution(distribution), np.linspace(-7.0, 7.0, n)
    direct = np.exp(1j * np.outer(s, atoms.values - atoms.mean)) @ atoms.shares
    np.testing.assert_allclose(atoms.factor(s), direct, atol=1e-7)


@pytest.mark.parametrize("distribution", [stats.poisson(3.5), stats.poisson(1e5), LISTED])
def test_means_of_a_kernel_are_sums_over_the_values(distribution) -> None:
    atoms = Atoms.of_distribution(distribution)
    scale, at = 1.3 / distribution.std(), distribution.mean() + distribution.std() * np.array([-2.0, 0.0, 0.4])
    direct = np.exp(-0.5 * (scale * (at[:, None] - atoms.values)) ** 2) @ atoms.shares
    np.testing.assert_allclose(atoms.line_means(scale, at), direct, rtol=1e-4)
    x = distribution.rvs(size=200_000, random_state=0)
    pairs = np.exp(-0.5 * (scale * (x[::2] - x[1::2])) ** 2)
    assert atoms.line_square(scale) == pytest.approx(pairs.mean(), abs=5.0 * pairs.std() / np.sqrt(len(pairs)))


def test_quantiles_are_those_of_the_distribution() -> None:
    q = np.random.default_rng(0).random(1000)
    for distribution in (stats.binom(10, 0.2, loc=3), stats.poisson(3.5), LISTED):
        np.testing.assert_array_equal(Atoms.of_distribution(distribution).quantile(q), distribution.ppf(q))


@pytest.mark.parametrize("distribution", [stats.zipf(2.0), stats.randint(0, 10**7), stats.yulesimon(1.2)])
def test_more_values_than_can_be_summed_are_refused(distribution) -> None:
    with pytest.raises(ValueError, match="at most 100000 values with a probability that counts, got more: cut it off"):
        Atoms.of_distribution(distribution)
