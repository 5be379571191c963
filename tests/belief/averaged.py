"""Beliefs that the tests of averages look at, fitted once."""

from __future__ import annotations

from functools import cache

import numpy as np

import ridgeway as rw

NAMES = ("speed", "angle", "load", "gap")
UNITS = ("m/s", None, "kN", None)
LOWER, UPPER = np.array([0.0, -1.0, 10.0, 0.0]), np.array([10.0, 1.0, 30.0, 1.0])


def ridge(X: np.ndarray) -> np.ndarray:
    """A function of one direction, in the units of a user."""
    z = (X - 0.5 * (LOWER + UPPER)) / (0.5 * (UPPER - LOWER))
    return 5.0 + np.sin(1.2 * z[:, 0] + 0.6 * z[:, 1] - 0.4 * z[:, 2])


@cache
def fitted(d: int = 1, kernel: str = "se", n: int = 40) -> rw.Belief:
    """A belief about it, with noise of a hundredth."""
    rng = np.random.default_rng(0)
    X = rng.uniform(LOWER, UPPER, (n, 4))
    y = ridge(X) + 0.01 * rng.standard_normal(n)
    return rw.fit(
        X, y, rw.Linear(d), kernel=kernel, bounds=(LOWER, UPPER), names=NAMES, units=UNITS, n_starts=3, inference="map"
    )


def stepped_box() -> rw.Box:
    """Speed in three steps, of which the last is not at the end, and load in two."""
    return rw.Box(LOWER, UPPER, names=NAMES, steps=[4.0, None, 20.0, None])


def at_steps(n: int = 24) -> tuple[np.ndarray, np.ndarray]:
    """Points all over that box and their weights: every value in steps, and a quadrature over the others."""
    t, w = np.polynomial.legendre.leggauss(n)
    angle, gap, others = t, 0.5 + 0.5 * t, 0.25 * np.outer(w, w)
    rows = [
        (speed, angle[i], load, gap[j], others[i, j] / 6.0)
        for speed in (0.0, 4.0, 8.0)
        for load in (10.0, 30.0)
        for i in range(n)
        for j in range(n)
    ]
    table = np.array(rows)
    return table[:, :4], table[:, 4]
