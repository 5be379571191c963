"""Points made from coordinates along the directions."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.belief import response_surface
from ridgeway.belief.directions import directions


def test_points_made_from_coordinates_have_those_coordinates(belief: rw.Belief) -> None:
    found = directions(belief)
    u = np.random.default_rng(0).uniform(-1, 1, (6, 2))
    assert response_surface.coordinates(found, belief, response_surface.inputs(found, belief, u)) == pytest.approx(
        u, abs=1e-12
    )
    grid = response_surface.grid(found, belief, m=5)
    corner = response_surface.inputs(found, belief, np.array([[grid.u[3], grid.v[1]]]))
    assert grid.mean[1, 3] == pytest.approx(belief.predict(corner).mean[0])
