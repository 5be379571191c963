"""Points looked for among rows: every row that is equal, and no other."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.spaces import row_lookup
from ridgeway.spaces.row_index import row_hashes
from ridgeway.spaces.row_lookup import RowLookup, distinct

ROWS = np.random.default_rng(0).integers(0, 3, (500, 3)).astype(float)  # with many copies


def naive(rows, X):
    return {(i, j) for i, row in enumerate(rows) for j, x in enumerate(X) if (row == x).all()}


@pytest.mark.parametrize("block", [7, 4096])
def test_against_a_comparison_of_all(block, monkeypatch):
    monkeypatch.setattr(row_lookup, "BLOCK_ROWS", block)
    X = distinct(np.vstack([ROWS[:5], [[9.0, 9.0, 9.0], [-0.0, 0.0, 0.0]]]))
    lookup = RowLookup.of(X)
    assert set(zip(*(found.tolist() for found in lookup.find(ROWS)), strict=True)) == naive(ROWS, X)
    assert set(zip(*(found.tolist() for found in lookup.by_hash(row_hashes(ROWS))), strict=True)) == naive(ROWS, X)


def test_equal_hashes_are_not_yet_equal_rows(monkeypatch):
    monkeypatch.setattr(row_lookup, "row_hashes", lambda X: np.zeros(X.shape[0], dtype=np.uint64))
    X = distinct(ROWS[:4])
    assert set(zip(*(found.tolist() for found in RowLookup.of(X).find(ROWS)), strict=True)) == naive(ROWS, X)


def test_nothing_is_found_where_nothing_is_looked_for():
    nothing = RowLookup.of(np.zeros((0, 3)))
    assert [found.shape for found in (*nothing.find(ROWS), *nothing.by_hash(row_hashes(ROWS)))] == [(0,)] * 4
    assert [found.shape for found in RowLookup.of(ROWS[:1]).find(ROWS[:0])] == [(0,)] * 2


def test_distinct_rows_keep_their_order():
    X = np.array([[2.0, 1.0], [0.0, 1.0], [2.0, 1.0], [-0.0, 1.0], [1.0, 1.0]])
    assert distinct(X).tolist() == [[2.0, 1.0], [0.0, 1.0], [1.0, 1.0]]
    assert distinct(X[:0]).shape == (0, 2)
