"""A belief about ``theta`` in a larger row space: what new points span has its prior still."""

from __future__ import annotations

import numpy as np

from ridgeway.embeddings import Linear
from ridgeway.gp import N_GLOBAL, ConditionedGP
from ridgeway.types import Array


def thetas(gp: ConditionedGP, rows: Array, r: int) -> Array:
    """Rows of hyperparameters ``(n, P + 4)`` in ``r`` reduced coordinates, zero in the new ones."""
    if not isinstance(gp.embedding, Linear):
        return rows
    n, d, old = rows.shape[0], gp.embedding.rows, gp.data.Z.shape[1]
    A = np.pad(rows[:, :-N_GLOBAL].reshape(n, d, old), ((0, 0), (0, 0), (0, r - old)))
    return np.hstack([A.reshape(n, d * r), rows[:, -N_GLOBAL:]])


def factor(gp: ConditionedGP, F: Array, r: int, prior_std: float) -> Array:
    """The covariance's factor in ``r`` reduced coordinates, with the prior's spread in the new ones."""
    if not isinstance(gp.embedding, Linear):
        return F
    d, old = gp.embedding.rows, gp.data.Z.shape[1]
    new = np.zeros((d, r, d, r - old))
    for k in range(d):
        new[k, old:, k] = prior_std * np.eye(r - old)
    spread = np.pad(new.reshape(d * r, d * (r - old)), ((0, N_GLOBAL), (0, 0)))
    return np.hstack([thetas(gp, F.T, r).T, spread])
