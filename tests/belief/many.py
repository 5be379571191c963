"""Data and settings with which a fit of many rows is quick."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ridgeway.inference.settings import DEFAULT

QUICK = replace(DEFAULT, subset=60, many_rows=300, many_rows_climbs=2)


def rows(n=1200, D=4, seed=1):
    """Inputs, and outputs along the first two of them, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n, D))
    return X, np.sin(3 * (X[:, 0] + X[:, 1])) + 0.1 * rng.standard_normal(n)
