"""Spaces read from their descriptions, and how they are shown."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.spaces.space import Box, Pool, space_from_dict
from tests.spaces.points import NAMES, POINTS


def test_bad_descriptions():
    with pytest.raises(ValueError, match="description must be of kind 'box', got 'pool'"):
        Box.from_dict(Pool(POINTS).to_dict())
    with pytest.raises(ValueError, match="description must be of kind 'pool', got 'box'"):
        Pool.from_dict(Box(0, 1).to_dict())
    with pytest.raises(ValueError, match="description must be of kind 'box' or 'pool', got None"):
        space_from_dict({})
    with pytest.raises(ValueError, match="points must be left out for a box"):
        space_from_dict(Box(0, 1).to_dict(), POINTS)


def test_reprs():
    assert repr(Box(0, 1)) == "Box(1 input: x0 in [0, 1])"
    wide = Box(0, 1.5, [f"input{j}" for j in range(200)])
    assert repr(wide) == "Box(200 inputs: input0 in [0, 1.5], input1 in [0, 1.5], input2 in [0, 1.5], ...)"
    assert repr(Pool(np.zeros((1, 1)))) == "Pool(1 point of 1 input: x0)"
    assert repr(Pool(np.zeros((1200, 5)))) == "Pool(1,200 points of 5 inputs: x0, x1, x2, ...)"
    assert repr(Pool(POINTS, NAMES)) == "Pool(40 points of 3 inputs: a, b, c)"
