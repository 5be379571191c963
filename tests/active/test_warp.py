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
def test_order_stays_and_stronger_warps_compress_more(sign):
    y = sign * OUTCOMES
    ranges = []
    for warp in Warp.candidates(y, sign):
        warped = warp(y)
        assert np.all(np.diff(sign * warped) > 0)
        assert warped[0] == y[0]
        ranges.append(np.ptp(warped))
    assert np.all(np.diff(ranges) < 0)
    np.testing.assert_array_equal(Warp.candidates(y, sign)[0](y), y)


@either_sign
def test_the_slope_is_that_of_differences_and_1_at_the_best(sign):
    y, h = sign * np.array([0.4, 1.0, 50.0, 3000.0]), 1e-6
    for warp in Warp.candidates(sign * OUTCOMES, sign):
        np.testing.assert_allclose(warp.slope(y), (warp(y + h) - warp(y - h)) / (2 * h), rtol=1e-4)
        assert warp.slope(y)[0] == 1.0


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.sampled_from([1.0, -1.0]))
def test_there_is_a_way_back(values, sign):
    y = np.array(values)
    for warp in Warp.candidates(y, sign):
        np.testing.assert_allclose(warp.inverse(warp(y)), y, rtol=1e-7, atol=1e-7 * (1 + np.abs(y).max()))


def test_outcomes_that_are_equal_but_for_the_smallest_number():
    y = np.array([0.0, 0.0, 0.0, 0.0, 5e-324])
    for warp in Warp.candidates(y, -1.0):
        np.testing.assert_allclose(warp.inverse(warp(y)), y, atol=1e-300)


def test_outcomes_that_are_all_equal():
    for warp in Warp.candidates(np.full(5, 3.0), 1.0):
        np.testing.assert_array_equal(warp(np.full(5, 3.0)), 3.0)
        assert np.isfinite(warp(np.array([4.0, 1e6]))).all()
