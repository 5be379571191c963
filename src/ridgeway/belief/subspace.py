"""How sure a belief is of its subspace, as angles between draws and the best estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ridgeway import draws
from ridgeway.directions import directions
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief import Belief

N_DRAWS = 100


@dataclass(frozen=True)
class SubspaceUncertainty:
    """The largest principal angle between draws of the subspace and the best estimate, in degrees."""

    n: int  # observations behind it
    median: float
    low: float  # 5 % of the draws are below
    high: float  # 5 % are above


def uncertainty(belief: Belief, R: Array | None = None) -> SubspaceUncertainty:
    """How far the subspace may be from the one shown; ``R (n, d, D)`` are draws, where they exist already.

    0° is certainty; 90° says that some learned direction may be a wholly different one.
    """
    found = directions(belief)
    R = draws.embeddings(belief, N_DRAWS) if R is None else R
    largest = principal_angles(found.weights, R)[:, -1]
    low, median, high = np.quantile(largest, [0.05, 0.5, 0.95])
    return SubspaceUncertainty(int(belief.y.shape[0]), float(median), float(low), float(high))


def principal_angles(weights: Array, R: Array) -> Array:
    """Angles in degrees between orthonormal rows ``(k, D)`` and the spans of ``R (n, d, D)``: ``(n, k)``, rising.

    A draw of fewer rows than ``k`` is at 90° to what it lacks.
    """
    _, singular, right = np.linalg.svd(R, full_matrices=False)
    used = singular > 1e-9 * np.maximum(singular[:, :1], 1e-300)
    basis = right * used[:, :, None]
    inner = weights @ basis.transpose(0, 2, 1)  # (n, k, d)
    # The sine is accurate for small angles, where the cosine is 1 to the last digit.
    residual = weights - inner @ basis
    sines = np.linalg.svd(residual, compute_uv=False)[:, : weights.shape[0]]
    return np.rad2deg(np.arcsin(np.clip(sines, 0.0, 1.0)))[:, ::-1]
