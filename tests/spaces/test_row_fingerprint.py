"""The fingerprint of rows: of their values and their order, not of their blocks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ridgeway.spaces import row_fingerprint
from ridgeway.spaces.row_fingerprint import NOTHING, fingerprint, joined
from ridgeway.spaces.row_index import row_hashes

X = np.random.default_rng(0).normal(size=(9000, 3))


@given(st.lists(st.integers(0, 9000), max_size=6))
def test_any_cut_gives_the_same(cuts):
    total = NOTHING
    for part in np.split(X, sorted(cuts)):
        total = joined(total, fingerprint(part))
    assert total == fingerprint(X)


def test_against_a_sum_in_whole_numbers():
    few = X[:200]
    base = row_fingerprint._BASE
    expected = sum(int(h) * base**i for i, h in enumerate(row_hashes(few))) % 2**64
    assert fingerprint(few) == (200, expected)


def test_what_it_tells_apart():
    changed = X.copy()
    changed[8000, 1] = np.nextafter(changed[8000, 1], np.inf)
    swapped = X.copy()
    swapped[[3, 7000]] = X[[7000, 3]]
    found = [fingerprint(part).text for part in (X, changed, swapped, X[:-1], X[::-1], X[:, ::-1])]
    assert len(set(found)) == len(found)
    zeros = np.zeros((3, 2))
    assert fingerprint(zeros) == fingerprint(-zeros)
    assert fingerprint(zeros) != fingerprint(zeros[:2])
