"""The predictive mean over the learned directions, on a line or a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ridgeway.belief.directions import Directions
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

_BYTES = 2**26  # of inputs made at a time
_MARGIN = 0.05  # of the data's range, shown beyond it on either side


@dataclass(frozen=True)
class Line:
    """Moments of ``f`` along one direction."""

    u: Array  # (m,)
    mean: Array
    std: Array


@dataclass(frozen=True)
class Grid:
    """Moments of ``f`` over two directions; rows are ``v``, columns ``u``."""

    u: Array  # (m,)
    v: Array  # (m,)
    mean: Array  # (m, m)
    std: Array


def coordinates(found: Directions, belief: Belief, X: Array | None = None) -> Array:
    """Points (the data by default) along the directions, ``(n, k)``."""
    points = belief.X if X is None else X
    result: Array = belief.space.scaling.scaled(points) @ found.weights.T
    return result


def inputs(found: Directions, belief: Belief, u: Array) -> Array:
    """The inputs nearest to the centre of the box with coordinates ``u (n, k)``, in the user's units.

    They are what the belief knows best among all that map there; some may lie outside the box.
    """
    scaling = belief.space.scaling
    result: Array = scaling.center + scaling.half_width * (u @ found.weights)
    return result


def line(found: Directions, belief: Belief, m: int = 160) -> Line:
    """``f`` along the first direction over the range of the data."""
    u = _range(coordinates(found, belief)[:, 0], m)
    full = np.pad(u[:, None], ((0, 0), (0, found.k - 1)))
    return Line(u, *_moments(found, belief, full))


def grid(found: Directions, belief: Belief, first: int = 0, second: int = 1, m: int = 40) -> Grid:
    """``f`` over two directions and the range of the data; other directions at the data's mean."""
    at = coordinates(found, belief)
    u, v = _range(at[:, first], m), _range(at[:, second], m)
    full = np.tile(at.mean(axis=0), (m * m, 1))
    full[:, first], full[:, second] = np.tile(u, m), np.repeat(v, m)
    mean, std = _moments(found, belief, full)
    return Grid(u, v, mean.reshape(m, m), std.reshape(m, m))


def _moments(found: Directions, belief: Belief, u: Array) -> tuple[Array, Array]:
    step = max(16, _BYTES // (8 * found.weights.shape[1]))
    parts = [belief.predict(inputs(found, belief, u[i : i + step])) for i in range(0, u.shape[0], step)]
    return np.concatenate([part.mean for part in parts]), np.concatenate([part.std for part in parts])


def _range(values: Array, m: int) -> Array:
    low, high = float(values.min()), float(values.max())
    margin = _MARGIN * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, m)
