"""The figure of the information to be gained."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway import plots


def test_information_is_bald(one: rw.Belief, two: rw.Belief) -> None:
    from ridgeway.active.scored_points import ScoredPoints

    X = np.random.default_rng(0).uniform(-1, 1, (9, 5))
    candidates = ScoredPoints(X, one.bald(X))
    dots, stars = plots.information(one, candidates, ScoredPoints(X[:2], np.array([1.0, np.nan]))).data
    assert dots.y == pytest.approx(one.bald(X))
    assert list(stars.y) == [1.0, 0.0]
    assert len(plots.information(two).data[0].x) == 600
