"""What the data themselves call for: warnings about them, and noise where outputs are tied."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from ridgeway.gp.priors import Priors
from ridgeway.gp.scaling import is_constant
from ridgeway.types import Array, Inputs

_TIES = 0.2  # share of the outputs that one value must have for the response to count as saturated
_LEAST_TIES = 3  # and their number at least


def notes(X: Inputs, y: Array, box: tuple[Array, Array] | None, extent: tuple[Array, Array]) -> list[str]:
    """What a user should know about the data before believing any fit of them."""
    found = []
    n = y.shape[0]
    if n == 1:
        found.append("y has a single observation: the belief is little more than the prior")
    elif is_constant(y):
        found.append(f"y is constant ({y[0]:g}): there is nothing to learn about the embedding")
    else:
        tied = int(saturated(y).sum())
        if tied:
            found.append(
                f"{tied} of {n} values of y are tied: a response that saturates passes for exact knowledge, "
                "so extra noise is assumed (tie_noise and kink_noise of Priors)"
            )
    if box is not None:
        outside = _count_outside(X, extent, *box)
        if outside:
            found.append(f"{outside} of {n} rows of X are outside the bounds; they are used as they are")
    return found


def saturated(y: Array) -> Array:
    """1.0 where an output has the very value that many others have, else 0.0, ``(n,)``."""
    _, which, counts = np.unique(y, return_inverse=True, return_counts=True)
    often = counts[which] >= max(float(_LEAST_TIES), _TIES * y.shape[0])
    return (often & (counts.shape[0] > 1)).astype(float)


def raised_floor(priors: Priors, y: Array, misfit: float) -> Priors:
    """Priors whose noise floor allows for a saturated response, which has a kink, and for a known ``misfit``."""
    if saturated(y).any():
        priors = replace(priors, noise_floor=max(priors.noise_floor, priors.kink_noise))
    if misfit:
        priors = replace(priors, noise_floor=float(np.hypot(priors.noise_floor, misfit)))
    return priors


def tie_noise(priors: Priors, y: Array) -> Array:
    """Extra noise variance of tied observations on the standardised scale, ``(n,)``; not part of a prediction."""
    return priors.tie_noise**2 * saturated(y)


def known_noise(priors: Priors, y: Array, known: Array | None, scale: float, among: Array | None = None) -> Array:
    """Noise variances known before the fit on the standardised scale, ``(n,)``: floor, ties, and the user's.

    Which values are tied is seen ``among`` other outputs where ``y`` is but a part of them.
    """
    others = y if among is None else among
    ties = priors.tie_noise**2 * np.isin(y, others[saturated(others) > 0]).astype(float)
    noise: Array = priors.noise_floor**2 + ties
    return noise if known is None else noise + known / scale**2


def _count_outside(X: Inputs, extent: tuple[Array, Array], lower: Array, upper: Array) -> int:
    """How many rows leave the box, a row at a time so that nothing of X's size is made."""
    if np.all(extent[0] >= lower) and np.all(extent[1] <= upper):
        return 0
    rows = (X[[i]].toarray()[0] for i in range(X.shape[0])) if sparse.issparse(X) else iter(X)
    return sum(bool(np.any(row < lower) or np.any(row > upper)) for row in rows)
