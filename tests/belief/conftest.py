"""A belief that several test files look at."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw


@pytest.fixture(scope="module")
def belief() -> rw.Belief:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (45, 5))
    u, v = 0.3 * X[:, 0] - 0.2 * X[:, 3], 0.25 * X[:, 1]
    return rw.fit(X, np.sin(u) + 0.4 * v**2 + 0.02 * rng.standard_normal(45), rw.Linear(2), n_starts=6, inference="map")
