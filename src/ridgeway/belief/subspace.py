"""How well a belief knows its subspace, as angles between draws and the best estimate.

The one rule for putting it into words stands here, and the one estimator behind it: ``ridgeway status``, its
advice and the report all use them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ridgeway.belief.directions import Directions, directions
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

Level = Literal["well known", "roughly known", "not known yet"]
WELL_KNOWN: Level = "well known"
ROUGHLY_KNOWN: Level = "roughly known"
NOT_KNOWN: Level = "not known yet"
WELL_KNOWN_BELOW = 15.0  # degrees of the median angle
ROUGHLY_KNOWN_BELOW = 35.0
IGNORANCE = 90.0  # degrees: a draw may be perpendicular to the best estimate


@dataclass(frozen=True)
class SubspaceUncertainty:
    """The largest principal angle between draws of the subspace and the best estimate, in degrees."""

    n: int  # observations behind it
    median: float
    low: float  # 5 % of the draws are below
    high: float  # 5 % are above

    @property
    def level(self) -> Level:
        """How well the subspace is known, in words."""
        return level(self.median)


def level(median: float) -> Level:
    """How well a subspace is known from which draws are typically so many degrees away.

    Examples
    --------
    >>> [level(median) for median in (3.0, 15.0, 35.0)]
    ['well known', 'roughly known', 'not known yet']
    """
    if median < WELL_KNOWN_BELOW:
        return WELL_KNOWN
    return ROUGHLY_KNOWN if median < ROUGHLY_KNOWN_BELOW else NOT_KNOWN


def degrees(angle: float) -> str:
    """An angle as text; a small one is not rounded to certainty.

    >>> degrees(12.3), degrees(0.2), degrees(0.0)
    ('12°', 'less than 1°', '0°')
    """
    return "less than 1°" if 0.0 < angle < 0.5 else f"{angle:.0f}°"


def uncertainty(belief: Belief, R: Array | None = None, found: Directions | None = None) -> SubspaceUncertainty:
    """How far the subspace may be from the one shown; 0° is certainty, 90° a wholly different direction.

    ``R (n, d, D)`` are the draws of :func:`ridgeway.belief.embedding_draws.embeddings` and ``found`` the belief's
    directions, where they have been computed already. Raises :class:`ridgeway.belief.directions.UnavailableError`
    where there are no directions.
    """
    from ridgeway.belief import embedding_draws  # needs SciPy, which the rule above does without

    found = directions(belief) if found is None else found
    R = embedding_draws.embeddings(belief) if R is None else R
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
