"""A pool's coordinates in the row space, kept from one ask to the next."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.active import pool_coordinates
from ridgeway.active.pool_coordinates import PoolView
from ridgeway.gp import rowspace
from ridgeway.gp.scaling import InputScaling
from tests.active.maximize_problem import box, points


def coordinates(view, space):
    z, rho = np.full((len(view.pool), space.r), np.nan), np.full(len(view.pool), np.nan)
    for rows, block, distances in view.blocks(space):
        z[rows], rho[rows] = block, distances
    return z, rho


def check_view(view, space):
    z, rho = coordinates(view, space)
    expected_z, expected_rho = space.project(np.asarray(view.pool.points))
    np.testing.assert_allclose(z, expected_z, atol=1e-9)
    np.testing.assert_allclose(rho, expected_rho, atol=1e-9)


@pytest.mark.parametrize("most", [2**31, 8 * 30 * 5, 0])
@pytest.mark.parametrize("block", [2**16, 7])
def test_coordinates_grow_with_the_data(most, block, monkeypatch):
    """Row by row, also across the number of inputs; ``most`` forces projections from the start or midway."""
    monkeypatch.setattr(pool_coordinates, "MOST_BYTES", most)
    monkeypatch.setattr(pool_coordinates, "BLOCK_ROWS", block)
    D = 9
    X, view = points(14, D, 1), PoolView(rw.Pool(points(30, D, 2)))
    scaling = InputScaling.from_bounds(*box(D))
    space = rowspace.reduce(X[:1], scaling)
    for n in range(1, 15):
        space = rowspace.extend(space, X[:n])
        check_view(view, space)
        check_view(view, space)
    assert space.r == D
    assert space.rows is not None
    for n in (8, 9, 12, 3):  # fresh: reduced, not reduced, not reduced, fewer than before
        check_view(view, rowspace.reduce(X[:n], scaling))


def test_coordinates_grow_by_several_rows_and_by_none():
    D = 12
    X, view = points(10, D, 1), PoolView(rw.Pool(points(30, D, 2)))
    X[4] = X[2]  # a replicate adds no direction
    scaling = InputScaling.from_bounds(*box(D))
    space = rowspace.reduce(X[:2], scaling)
    for n in (2, 4, 5, 9, 10):
        space = rowspace.extend(space, X[:n])
        check_view(view, space)
    assert space.r == 9


def test_growing_is_not_projecting_anew(monkeypatch):
    D = 12
    X, view = points(6, D, 1), PoolView(rw.Pool(points(30, D, 2)))
    space = rowspace.reduce(X[:3], InputScaling.from_bounds(*box(D)))
    check_view(view, space)
    larger = rowspace.extend(space, X)
    expected = larger.project(np.asarray(view.pool.points))
    monkeypatch.setattr(rowspace.RowSpace, "project", None)
    z, rho = coordinates(view, larger)
    np.testing.assert_allclose(z, expected[0], atol=1e-9)
    np.testing.assert_allclose(rho, expected[1], atol=1e-9)


def test_other_units_are_projected_anew():
    D = 9
    X, view = points(6, D, 1), PoolView(rw.Pool(points(30, D, 2)))
    lower, upper = box(D)
    for n, bounds in enumerate([(lower, upper), (lower, upper + 1.0), (lower - 1.0, upper), (lower - 1.0, upper)], 3):
        check_view(view, rowspace.reduce(X[:n], InputScaling.from_bounds(*bounds)))


def test_other_data_are_projected_anew():
    D = 9
    X, view = points(6, D, 1), PoolView(rw.Pool(points(30, D, 2)))
    scaling = InputScaling.from_bounds(*box(D))
    for data in (X[:4], X[1:6], X[::-1], X):
        check_view(view, rowspace.reduce(data.copy(), scaling))
