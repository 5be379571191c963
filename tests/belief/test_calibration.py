"""How often intervals cover what was observed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import ridgeway as rw
from ridgeway.belief.calibration import calibration
from ridgeway.belief.suspects import Suspect


def test_coverage_is_counted(belief: rw.Belief) -> None:
    found, left_out = calibration(belief, (0.5, 0.9)), belief.leave_one_out()
    for level, got in zip((0.5, 0.9), found.coverage, strict=True):
        reach = norm.ppf(0.5 + level / 2) * np.sqrt(left_out.variance)
        assert got == np.mean([abs(y - m) <= r for y, m, r in zip(belief.y, left_out.mean, reach, strict=True)])
    assert found.explained == pytest.approx(1 - np.mean((belief.y - left_out.mean) ** 2) / np.var(belief.y))
    assert np.all(found.low < found.levels)
    assert np.all(found.levels < found.high)


def test_suspects_do_not_count_in_what_is_explained(belief: rw.Belief) -> None:
    """One enormous value would make everything look unexplained."""
    y = belief.y.copy()
    y[3] = 1e6
    suspect = Suspect(row=3, value=1e6, predicted=0.0, residual=1e6, noise_std=1e6, nats=1e3)
    found = calibration(replace(belief, y=y, suspects=(suspect,)))
    assert found.explained == pytest.approx(calibration(belief).explained, abs=0.05)
