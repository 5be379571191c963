"""Boxes and points for the search of the best point."""

from __future__ import annotations

import numpy as np


def box(D):
    lower = np.linspace(-4.0, 4.0, D)
    return lower, lower + np.geomspace(0.5, 30.0, D)


def points(n, D, seed):
    return np.random.default_rng(seed).uniform(*box(D), (n, D))
