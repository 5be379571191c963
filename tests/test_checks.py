"""Checks of what users pass in: each array is read as seldom as possible."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ridgeway import checks
from tests.belief.problems import fit, one_direction
from tests.helpers import inputs


@pytest.mark.slow
@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
def test_large_inputs_are_kept_by_reference(monkeypatch, make):
    X = make(inputs(15, 30))
    y = one_direction(inputs(15, 30))
    copied = fit(X, y, n_starts=2)

    def values(X):
        return X.data if sparse.issparse(X) else X

    assert not np.shares_memory(values(copied.X), values(X))
    monkeypatch.setattr(checks, "REFERENCE_BYTES", values(X).nbytes - 1)
    kept = fit(X, y, n_starts=2)
    assert np.shares_memory(values(kept.X), values(X))
    assert not np.shares_memory(kept.y, y)
    assert np.array_equal(kept.predict(X).mean, copied.predict(X).mean)
    monkeypatch.setattr(checks, "REFERENCE_BYTES", values(X).nbytes)
    assert not np.shares_memory(values(fit(X, y, n_starts=1).X), values(X))


def test_inputs_are_read_once_for_their_range_and_whether_they_are_finite(monkeypatch):
    """A pass over a million columns takes as long as part of the fit."""
    monkeypatch.setattr(checks, "_all_finite", lambda values: pytest.fail("read once more"))
    passes = []
    column_range = checks.column_range
    monkeypatch.setattr(checks, "column_range", lambda X: passes.append(X.shape) or column_range(X))
    X = inputs(15, 2)
    fit(X, one_direction(X), n_starts=1)
    assert passes == [(15, 2)]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
def test_the_range_gives_away_what_is_not_finite(value, store):
    X = inputs(15, 2)
    X[3, 1] = value
    with pytest.raises(ValueError, match="X must be finite, but it contains NaN or infinity"):
        fit(store(X), np.arange(15.0))
