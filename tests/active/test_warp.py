"""Outcomes on a scale for optimisers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeway.active.warp import Warp

OUTCOMES = np.array([0.4, 3.0, 8.0, 20.0, 25.0, 60.0, 400.0, 9000.0])

either_sign = pytest.mark.parametrize("sign", [1.0, -1.0])


@either_sign
def test_the_better_half_keeps_its_units_and_the_worse_keeps_its_order(sign):
    y = sign * OUTCOMES
    warped = Warp.of(y, sign)(y)
    np.testing.assert_array_equal(warped[:4], y[:4])
    assert np.all(np.diff(sign * warped) > 0)
    assert np.abs(warped).max() < 200


@either_sign
def test_the_slope_is_that_of_differences_and_continuous(sign):
    warp, h = Warp.of(sign * OUTCOMES, sign), 1e-6
    y = sign * np.array([1.0, warp.center * sign - 1e-3, warp.center * sign + 1e-3, 50.0, 3000.0])
    np.testing.assert_allclose(warp.slope(y), (warp(y + h) - warp(y - h)) / (2 * h), rtol=1e-5)
    assert warp.slope(y)[1] == pytest.approx(warp.slope(y)[2], abs=1e-3)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.sampled_from([1.0, -1.0]))
def test_there_is_a_way_back(values, sign):
    y = np.array(values)
    warp = Warp.of(y, sign)
    np.testing.assert_allclose(warp.inverse(warp(y)), y, rtol=1e-7, atol=1e-7 * (1 + np.abs(y).max()))


def test_outcomes_that_are_all_equal():
    warp = Warp.of(np.full(5, 3.0), 1.0)
    np.testing.assert_array_equal(warp(np.full(5, 3.0)), 3.0)
    assert np.isfinite(warp(np.array([4.0, 1e6]))).all()
