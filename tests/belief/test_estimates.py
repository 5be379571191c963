"""Estimates: means and intervals of draws."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.belief.estimates import Estimate, checked_level, percent


def test_shares_near_nothing_have_intervals_that_begin_at_zero():
    draws = np.random.default_rng(0).exponential(0.01, (5000, 1))
    shares, central = Estimate.of_shares(draws, 0.95), Estimate.of(draws, 0.95)
    assert shares.low[0] == 0.0 < central.low[0]
    assert shares.high[0] < central.high[0]
    inside = (draws >= shares.low) & (draws <= shares.high)
    np.testing.assert_allclose(inside.mean(), 0.95, atol=1e-3)


def test_shares_far_from_zero_have_their_central_intervals():
    draws = 0.4 + 0.05 * np.random.default_rng(1).standard_normal((500, 3))
    shares, central = Estimate.of_shares(draws, 0.9, 1.5), Estimate.of(draws, 0.9, 1.5)
    np.testing.assert_array_equal(shares.low, central.low)
    np.testing.assert_array_equal(shares.high, central.high)


def test_deviations_from_the_mean_are_widened():
    draws = np.random.default_rng(2).standard_normal(1000)
    one, two = Estimate.of(draws, 0.8), Estimate.of(draws, 0.8, 2.0)
    np.testing.assert_allclose(two.high - two.mean, 2.0 * (one.high - one.mean))
    np.testing.assert_allclose(two.std, 2.0 * one.std)


def test_a_hull_holds_both_and_keeps_its_mean():
    a, b = Estimate(*map(np.array, (1.0, 0.1, 0.8, 1.2))), Estimate(*map(np.array, (2.0, 0.2, 0.9, 1.6)))
    hull = a.hull(b)
    assert (float(hull.mean), float(hull.std), float(hull.low), float(hull.high)) == (1.0, 0.2, 0.8, 1.6)


def test_an_independent_error_widens_an_interval():
    rng = np.random.default_rng(3)
    draws, error = rng.standard_normal(40_000), 0.75 * rng.standard_normal(40_000)
    found = Estimate.of(draws, 0.9).blurred(np.array(0.75), 1.645)
    both = Estimate.of(draws + error, 0.9)
    for side in ("std", "low", "high"):
        np.testing.assert_allclose(getattr(found, side), getattr(both, side), atol=0.03)
    assert found.mean == draws.mean()


def test_levels_as_people_read_them():
    for level, text in ((0.95, "95 %"), (0.999, "99.9 %"), (np.float32(0.9), "90 %"), (0.5, "50 %")):
        assert percent(checked_level(level)) == text


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, np.nan, True, "0.9", None])
def test_what_is_no_level_is_refused(level):
    with pytest.raises(ValueError, match="level must be a number between 0 and 1, got"):
        checked_level(level)
