"""How often intervals cover what was observed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import ridgeway as rw
from ridgeway.belief.calibration import calibration


def test_coverage_is_counted(belief: rw.Belief) -> None:
    found, left_out = calibration(belief, (0.5, 0.9)), belief.leave_one_out()
    for level, got in zip((0.5, 0.9), found.coverage, strict=True):
        reach = norm.ppf(0.5 + level / 2) * np.sqrt(left_out.variance)
        assert got == np.mean([abs(y - m) <= r for y, m, r in zip(belief.y, left_out.mean, reach, strict=True)])
    assert found.explained == pytest.approx(1 - np.mean((belief.y - left_out.mean) ** 2) / np.var(belief.y))
    assert np.all(found.low < found.levels)
    assert np.all(found.levels < found.high)
