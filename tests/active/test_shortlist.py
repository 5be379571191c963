"""Shortlists: the best rows, however the rows are cut, with ties decided by their numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ridgeway.active import shortlist
from ridgeway.active.shortlist import Merge, best_positions

NOBODY = (np.zeros(0, dtype=int), np.zeros(0, dtype=int))
SCORES = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=60).map(np.array)


@given(SCORES, st.integers(1, 70))
def test_best_positions_against_a_stable_sort(scores, most):
    expected = np.sort(np.argsort(-scores, kind="stable")[:most])
    np.testing.assert_array_equal(best_positions(scores, most), expected)


@given(SCORES, st.integers(1, 20), st.lists(st.integers(0, 60), max_size=5), st.permutations(range(6)), st.data())
def test_any_cut_and_any_order_of_merging_give_the_same(scores, most, cuts, order, data):
    n = scores.shape[0]
    taken = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1), max_size=n))), dtype=int)
    X = np.arange(2.0 * n).reshape(n, 2)
    whole = shortlist.of_scores(scores, 0, (taken, taken * 2), X, most, 2)
    parts, start = [], 0
    for part in np.split(np.arange(n), np.minimum(sorted(cuts), n)):
        inside = taken[np.isin(taken, part)]
        found = shortlist.of_scores(scores[part], start, (inside - start, inside * 2), X[part], most, 2)
        parts.append(found)
        start += len(part)
    merged = shortlist.nothing(2, True)
    for i in order:
        merged = Merge(most)(merged, parts[i]) if i < len(parts) else merged
    for name in ("rows", "scores", "points", "least", "most"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name))
    np.testing.assert_array_equal(np.sort(merged.hits, axis=0), whole.hits)
    assert not set(whole.rows.tolist()) & set(taken.tolist())


def test_nothing_that_is_free():
    everything = np.arange(4)
    found = shortlist.of_scores(np.ones(4), 10, (everything, everything), None, 3, 2)
    assert found.rows.shape == (0,)
    assert found.hits[:, 0].tolist() == [10, 11, 12, 13]
    assert shortlist.of_scores(np.zeros(0), 0, NOBODY, None, 3, 2).rows.shape == (0,)
