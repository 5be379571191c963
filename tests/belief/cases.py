"""Problems of every kind, and their beliefs, fitted once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import ridgeway as rw

LOWER, UPPER = -2.0, 3.0  # the box of every problem here: nothing may depend on [-1, 1]

ABSOLUTE, UNIT = 50.0, 10.0  # nor on outputs near 0 and 1


def scaled(X):
    return (X - LOWER) / (UPPER - LOWER) * 2.0 - 1.0


def points(n, D, seed=99):
    return np.random.default_rng(seed).uniform(LOWER, UPPER, (n, D))


def outputs(X, seed=0, noise=0.1):
    """A ridge along the first two inputs with some curvature across, in units of its own."""
    Z = scaled(X)
    f = np.sin(2.0 * Z[:, 0] + Z[:, 1]) + 0.2 * (Z[:, 0] - Z[:, 1]) ** 2
    return ABSOLUTE + UNIT * (f + noise * np.random.default_rng(seed).normal(size=len(X)))


def fit(X, y, embedding, **arguments):
    return rw.fit(X, y, embedding, **{"n_starts": 4, "bounds": (LOWER, UPPER), **arguments})


KNOWN = np.random.default_rng(5).uniform(0.0, 20.0, 20)

CASES = {
    "one direction": (20, 4, rw.Linear(1), {}),
    "one direction, matern": (20, 4, rw.Linear(1), {"kernel": "matern52"}),
    "two directions": (24, 4, rw.Linear(2), {}),
    "wide": (15, 30, rw.Linear(1), {}),
    "wide, two directions": (15, 25, rw.Linear(2), {}),
    "diagonal": (20, 3, rw.Diagonal(), {"kernel": "matern52"}),
    "isotropic": (20, 3, rw.Isotropic(), {}),
    "wide isotropic": (15, 30, rw.Isotropic(), {}),
    "known noise": (20, 4, rw.Linear(1), {"noise_variance": KNOWN}),
    "joint mode": (20, 4, rw.Linear(2), {"inference": "map"}),
}

_fitted: dict[str, rw.Belief] = {}


def fitted(case):
    """The belief of a case, made once."""
    if case not in _fitted:
        n, D, embedding, arguments = CASES[case]
        X = points(n, D, seed=1)
        _fitted[case] = fit(X, outputs(X), embedding, **arguments)
    return _fitted[case]


def alone(belief, i=0):
    """The belief of one of its components, as if there were no other."""
    return replace(belief, components=(replace(belief.components[i], weight=1.0),))
