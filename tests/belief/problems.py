"""Small problems to fit."""

from __future__ import annotations

import numpy as np

import ridgeway as rw
from tests.helpers import inputs


def one_direction(X, noise=0.05, seed=0):
    return np.sin(2.0 * X[:, 0] + X[:, 1]) + noise * np.random.default_rng(seed).normal(size=len(X))


def fit(X, y, embedding=None, **arguments):
    return rw.fit(X, y, embedding or rw.Linear(1), **{"n_starts": 4, "bounds": (-1, 1), **arguments})


def assert_same_predictions(a, b, X_new, tol):
    """Means and standard deviations, in units of the outputs' spread."""
    p, q = a.predict(X_new), b.predict(X_new)
    np.testing.assert_allclose(p.mean, q.mean, atol=tol * np.std(a.y), rtol=0)
    np.testing.assert_allclose(p.std, q.std, atol=tol * np.std(a.y), rtol=0)


def rugged(seed):
    X = inputs(20, 5, seed)
    f = np.sin(3.0 * X[:, 0] + 2.0 * X[:, 1]) + X[:, 2] * X[:, 3]
    return X, f + 0.1 * np.random.default_rng(seed).normal(size=20)
