"""Problems of many rows, small enough to be compared with the exact process."""

from __future__ import annotations

import numpy as np

from ridgeway.gp.feature_process import FeatureData
from ridgeway.gp.kernels import resolve
from ridgeway.gp.linear import Linear
from ridgeway.gp.process import Data
from ridgeway.gp.row_source import DataRows


def problem(n=150, D=4, d=2, noisy=False, kernel="se", seed=0):
    """Rows with a function of ``d`` directions, and hyperparameters near the right ones."""
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-1, 1, (n, D))
    R = 1.25 / np.sqrt(D) * rng.standard_normal((d, D))
    U = Z @ R.T
    y = np.sin(2 * U[:, 0]) + np.cos(U[:, -1]) + 0.1 * rng.standard_normal(n)
    noise = np.full(n, 0.005**2) + (rng.uniform(0, 0.2, n) ** 2 if noisy else 0.0)
    data = Data(Z, (y - y.mean()) / y.std(), noise)
    theta = np.concatenate([(R + 0.05 * rng.standard_normal(R.shape)).ravel(), [0.3, np.log(0.15), 0.1, 0.0]])
    rows = FeatureData(data.rows(slice(0, 100)), n, DataRows(data))
    return data, rows, Linear(d), resolve(kernel), theta
