"""Ascent within a polytope: spectral projected gradients (Birgin, Martínez and Raydan 2000), from many starts at once.

Each step goes towards the nearest point of the polytope to ``v + a g``, with the length ``a`` from the last change of
the gradient (Barzilai and Borwein). A convex set holds every point on the way, so no step leaves it. All starts are
evaluated together: several cost little more than one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ridgeway.spaces.polytope import Polytope
from ridgeway.types import Array

Objective = Callable[[Array], tuple[Array, Array]]  # (k, D) to scores (k,) and gradients (k, D)


@dataclass(frozen=True)
class ClimbSettings:
    """How an ascent goes on and when it ends.

    Attributes
    ----------
    memory
        A step may fall short of the best score as long as it improves on the worst of this many before.
    enough
        Share of the rise that the slope promises, which a step must have.
    shortest, longest
        Bounds of the length ``a``, relative to the first, which would cross half the cube.
    """

    memory: int = 5
    enough: float = 1e-4
    shortest: float = 1e-6
    longest: float = 1e6


DEFAULT = ClimbSettings()


def climb(
    polytope: Polytope,
    objective: Objective,
    V: Array,
    evaluations: int,
    tolerance: float,
    held: Array | None = None,
    settings: ClimbSettings = DEFAULT,
) -> None:
    """Climb from each of ``V (k, D)``, points of the polytope, by so many calls of ``objective``, which keeps the best.

    It ends early where no step would rise by more than ``tolerance``. Inputs that are ``held (D,)`` stay.
    """
    scores, gradients = objective(V)
    moving = 1.0 if held is None else np.where(held, 0.0, 1.0)
    gradients = gradients * moving
    first = 1.0 / np.maximum(np.abs(gradients).max(axis=1), np.finfo(float).tiny)
    length, recent = first.copy(), [scores]
    for _ in range(evaluations - 1):
        # Beyond a few widths of the cube the nearest point hardly changes, but programs lose digits.
        target = polytope.nearest(V + np.clip(length[:, None] * gradients, -4.0, 4.0), held)
        slope = ((target - V) * gradients).sum(axis=1)
        going = slope > tolerance
        if not going.any():
            return
        new = np.where(going[:, None], target, V)
        found, slopes = objective(new)
        slopes = slopes * moving
        worst = np.min(recent[-settings.memory :], axis=0)
        good = found >= worst + settings.enough * np.where(going, slope, 0.0)
        change, turned = new - V, slopes - gradients
        curvature = -(change * turned).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            fitted = (change**2).sum(axis=1) / curvature
        longest, shortest = settings.longest * first, settings.shortest * first
        fitted = np.where(curvature > 0.0, np.clip(fitted, shortest, longest), np.minimum(2.0 * length, longest))
        # Where a step did not rise, the next is shorter: a parabola through both ends says how much.
        with np.errstate(divide="ignore", invalid="ignore"):
            part = 0.5 * slope / (slope - (found - scores))
        shorter = length * np.clip(np.nan_to_num(part, nan=0.5), 0.1, 0.5)
        length = np.where(good, fitted, np.maximum(shorter, shortest))
        V = np.where(good[:, None], new, V)
        gradients = np.where(good[:, None], slopes, gradients)
        scores = np.where(good, found, scores)
        recent.append(scores)
