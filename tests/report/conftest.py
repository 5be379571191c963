"""A belief with inputs of difficult names."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw


@pytest.fixture(scope="module")
def belief() -> rw.Belief:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (40, 4))
    return rw.fit(X, np.sin(0.4 * X[:, 0] - 0.2 * X[:, 2]) + 0.02 * rng.standard_normal(40), rw.Linear(1), n_starts=4)
