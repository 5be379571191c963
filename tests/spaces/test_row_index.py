"""Finding rows of a pool."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.spaces import array_table
from ridgeway.spaces import row_index as rowindex
from ridgeway.spaces.space import Pool
from tests.spaces.points import NAN, POINTS


def test_lookup_finds_copies():
    points = POINTS.copy()
    points[[9, 30]] = points[4]
    pool = Pool(points)
    assert pool.find(points[4]).tolist() == [4, 9, 30]
    assert pool.find(points[5]).tolist() == [5]
    assert pool.find(points[4] + 1e-12).tolist() == []
    assert pool.index_of(points[[30, 9, 5]]).tolist() == [4, 4, 5]
    assert pool.index_of([points[30], points[4] + 1e-12]).tolist() == [4, -1]


def test_lookup_takes_both_zeros_for_one():
    pool = Pool([[0.0, 1.0], [-0.0, 1.0], [0.0, -1.0]])
    assert pool.find([-0.0, 1.0]).tolist() == [0, 1]
    assert pool.index_of([[-0.0, -1.0]]).tolist() == [2]


def test_lookup_survives_collisions(monkeypatch):
    """Equal hashes are not yet equal rows."""
    monkeypatch.setattr(rowindex, "row_hashes", lambda X: np.zeros(X.shape[0], dtype=np.uint64))
    monkeypatch.setattr(array_table, "BLOCK_BYTES", 5 * 24)
    points = POINTS.copy()
    points[[9, 30]] = points[4]
    pool = Pool(points)
    assert pool.find(points[4]).tolist() == [4, 9, 30]
    assert pool.index_of(points[[30, 5]]).tolist() == [4, 5]
    assert pool.index_of(points[:1] + 1.0).tolist() == [-1]


def test_round_numbers_do_not_collide():
    """Their bits are mostly zero: a plain sum with weights would confuse many of them."""
    grid = np.stack(np.meshgrid(*[np.arange(64.0)] * 3), axis=-1).reshape(-1, 3)
    assert np.unique(rowindex.row_hashes(grid)).shape == (64**3,)


def test_lookup_refuses_other_inputs():
    pool = Pool(POINTS)
    with pytest.raises(ValueError, match="X must have one column for each of the 3 inputs of the pool, got 2"):
        pool.index_of(POINTS[:, :2])
    with pytest.raises(ValueError, match=r"x must have shape \(3,\), got \(2, 3\)"):
        pool.find(POINTS[:2])
    with pytest.raises(ValueError, match="X must be finite"):
        pool.index_of([[NAN, 0.0, 0.0]])
