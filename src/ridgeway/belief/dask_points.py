"""Predictions at the points of a Dask array, computed where they are, a chunk at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway.gp.moments import Marginal
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief, Prediction


def predict(belief: Belief, X: Any, marginal: Marginal) -> Prediction:
    """Mean and variances at ``X (n, D)``, as Dask arrays ``(n,)``."""
    from ridgeway.belief.belief import Prediction

    D = belief.space.scaling.D
    if not hasattr(X, "map_blocks") or getattr(X, "ndim", 0) != 2 or X.shape[1] != D:
        raise ValueError(f"X must be a Dask array of {D} columns, got one of shape {getattr(X, 'shape', None)}")
    whole = X.rechunk({1: -1})
    found = whole.map_blocks(_moments, belief, marginal, dtype=float, chunks=(whole.chunks[0], (3,)))
    return Prediction(found[:, 0], found[:, 1], found[:, 2])


def _moments(block: Array, belief: Belief, marginal: Marginal) -> Array:
    if block.shape[0] == 0:
        return np.zeros((0, 3))
    return np.column_stack(belief.predict(block, marginal))
