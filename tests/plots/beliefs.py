"""Beliefs to draw."""

from __future__ import annotations

import numpy as np

import ridgeway as rw


def fitted(d: int, D: int = 5, n: int = 35) -> rw.Belief:
    rng = np.random.default_rng(d)
    X = rng.uniform(-1, 1, (n, D))
    y = np.sin(2 * X[:, 0]) + (X[:, 1] ** 2 if d > 1 else 0) + (np.cos(3 * X[:, 2]) if d > 2 else 0)
    return rw.fit(X, y + 0.02 * rng.standard_normal(n), rw.Linear(d), n_starts=5, inference="map")
