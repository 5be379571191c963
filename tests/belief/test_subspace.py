"""How certain the subspace is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import subspace_angles

import ridgeway as rw
from ridgeway.belief.subspace import principal_angles, uncertainty


def test_principal_angles_are_scipys() -> None:
    rng = np.random.default_rng(0)
    R = rng.standard_normal((8, 3, 7))
    weights = np.linalg.qr(rng.standard_normal((7, 2)))[0].T
    expected = np.stack([np.sort(np.rad2deg(subspace_angles(weights.T, rows.T))) for rows in R])
    assert principal_angles(weights, R) == pytest.approx(expected, abs=1e-9)
    assert principal_angles(weights, np.zeros((1, 3, 7)))[0] == pytest.approx([90.0, 90.0])


def test_more_observations_pin_the_subspace_down() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (80, 6))
    y = np.sin(2 * X[:, 0] - X[:, 4]) + 0.1 * rng.standard_normal(80)
    few, many = (uncertainty(rw.fit(X[:n], y[:n], rw.Linear(1), n_starts=5)) for n in (15, 80))
    assert many.n == 80
    assert many.median < 0.7 * few.median
    assert many.low <= many.median <= many.high
