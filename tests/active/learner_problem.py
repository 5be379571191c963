"""A small problem for a learner."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw

LOWER, UPPER = np.array([0.0, -5.0, 100.0]), np.array([1.0, 5.0, 300.0])

FAST = {"inference": "map", "n_initial": 4, "acquisition": "information"}  # fits of a few milliseconds


def box(D=3):
    return rw.Box(LOWER, UPPER) if D == 3 else rw.Box(np.zeros(D), np.arange(1.0, D + 1))


def candidates(n=40, seed=0):
    return np.random.default_rng(seed).uniform(LOWER, UPPER, (n, 3))


def f(x):
    """A ridge in units of its own."""
    z = 2.0 * (np.asarray(x) - LOWER) / (UPPER - LOWER) - 1.0
    return 20.0 + 3.0 * np.sin(2.0 * z[..., 0] - z[..., 1])


def make(space=None, embedding=None, **arguments):
    model = rw.Linear(1) if embedding is None else embedding
    return rw.ActiveLearner(box() if space is None else space, model, **{**FAST, **arguments})


def spaces():
    return {"box": box(), "pool": rw.Pool(candidates())}


either_space = pytest.mark.parametrize("space", ["box", "pool"])


def run(learner, steps, function=f):
    """So many experiments, and the points asked for."""
    asked = []
    for _ in range(steps):
        x = learner.ask()
        learner.tell(x, function(x))
        asked.append(x)
    return np.array(asked)


def inside(learner, X):
    X = np.atleast_2d(X)
    if isinstance(learner.space, rw.Pool):
        return bool((learner.space.index_of(X) >= 0).all())
    return bool(learner.space.contains(X, tolerance=0.0).all())


def nearest(X):
    """The smallest distance between any two rows, in units of the box."""
    Z = (X - LOWER) / (UPPER - LOWER)
    gaps = np.abs(Z[:, None] - Z).max(axis=-1) + 2.0 * np.eye(len(Z))
    return gaps.min()
