"""Warnings where a diagnostic is bad, each with what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ridgeway.belief.calibration import Calibration
from ridgeway.belief.subspace import NOT_KNOWN, SubspaceUncertainty, degrees
from ridgeway.belief.suspects import warnings_naming

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

FEW = 5  # observations below which nothing can be checked
_NOISE = 0.4  # share of the variance taken for noise above which the fit explains too little
_RIVAL = 3.0  # nats within which another optimum is a rival
_DISAGREE = 0.25  # standard deviations of y by which rivals must differ to matter


def warnings(
    belief: Belief,
    calibration: Calibration | None = None,
    angle: SubspaceUncertainty | None = None,
    called: Sequence[str] | None = None,
) -> tuple[str, ...]:
    """Sentences for the reader, worst first; none if all is well. ``called`` are the names of the observations."""
    names = called or [f"observation {i + 1}" for i in range(belief.y.shape[0])]
    found = [*warnings_naming(belief, names), *_size(belief), *_noise(belief), *_coverage(calibration)]
    return (*found, *_rivals(belief), *_angle(angle))


def _size(belief: Belief) -> list[str]:
    n = belief.y.shape[0]
    return [f"Only {n} observation{'' if n == 1 else 's'}: everything here is provisional."] if n < 2 * FEW else []


def _noise(belief: Belief) -> list[str]:
    variance = float(np.var(belief.y[belief.trusted]))
    if not variance > 0 or belief.noise_variance <= _NOISE * variance:
        return []
    share = min(belief.noise_variance / variance, 1.0)
    return [
        f"{100 * share:.0f} % of the variation is taken for noise: the right directions may not have been found yet. "
        "More observations, or another number of directions, may help."
    ]


def _coverage(found: Calibration | None) -> list[str]:
    if found is None:
        return []
    i = int(np.argmin(np.abs(found.levels - 0.95)))
    if found.coverage[i] >= found.low[i]:
        return []
    return [
        f"The 95 % intervals hold only {100 * found.coverage[i]:.0f} % of left-out observations: the belief is too "
        "sure of itself. Try more directions, a rougher kernel (matern52) or known noise."
    ]


def _rivals(belief: Belief) -> list[str]:
    found = belief.diagnostics
    if len(found.optima) < 2 or found.optima[0] - found.optima[1] > _RIVAL or found.disagreement < _DISAGREE:
        return []
    return [
        f"Another explanation has nearly the same evidence ({found.optima[0] - found.optima[1]:.1f} nats less) and "
        f"differs from this one by {found.disagreement:.2f} standard deviations of y at the data: the next "
        "experiments should tell them apart."
    ]


def _angle(angle: SubspaceUncertainty | None) -> list[str]:
    if angle is None or angle.level != NOT_KNOWN:
        return []
    return [
        f"The directions are uncertain by {degrees(angle.median)}: read their weights as a first guess, and trust "
        "predictions and their intervals more than the directions."
    ]
