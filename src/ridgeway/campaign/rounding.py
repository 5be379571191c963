"""Rounding of proposals under linear constraints: few digits where these hold, more where they must."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr

from ridgeway.spaces.box import Box
from ridgeway.types import Array

Places = npt.NDArray[np.int64]

_HOLDS = 1e-10  # of the size of a constraint's terms, by which a rounded point may miss it
_MORE = (0, 2, 4, 6)  # further digits that are tried one after the other
_EXACT = 12  # digits of inputs that make up for the rounding of the others
_NEAR = 1e-3  # of the width of the box: constraints this close to a point may be broken by rounding


def rounded_within(box: Box, X: Array, rounded: Array, loose: Array, decimals: Array) -> Array:
    """``rounded (n, D)``, with those rows done better that break a constraint which ``X`` satisfies.

    Only ``loose (D,)`` inputs are changed, those on no lattice; ``decimals`` is how many each should have.
    """
    found, decimals = rounded.copy(), np.broadcast_to(decimals, X.shape)
    for i in np.flatnonzero(~box.contains(rounded, _HOLDS) & box.contains(X, 10.0 * _HOLDS)):
        found[i] = _rounded(box, X[i], loose, decimals[i])
    return found


def _rounded(box: Box, x: Array, loose: Array, decimals: Array) -> Array:
    """One point ``(D,)``: a few inputs follow from the equations, the others are rounded so that inequalities hold."""
    equations = [c for c in box.constraints if c.is_equality]
    E = np.array([c.weights(box.called) for c in equations]).reshape(-1, box.D)
    e = np.array([c.bound for c in equations])
    pivots = _pivots(E, x, box, loose)
    away = _away(box, x, E, pivots, loose)
    for more in _MORE:
        for sides in (np.zeros(box.D), away):
            y = np.where(loose, _to_decimals(x, decimals + more, sides), x)
            if len(pivots):
                rest = e - np.delete(E, pivots, axis=1) @ np.delete(y, pivots)
                y[pivots] = np.linalg.lstsq(E[:, pivots], rest, rcond=None)[0]
                y[pivots] = _to_decimals(y, decimals + _EXACT - 5, np.zeros(box.D))[pivots]
            if box.contains(y[None], _HOLDS)[0]:
                return np.clip(y, box.lower, box.upper)
    return x  # with all its digits the constraints hold


def _pivots(E: Array, x: Array, box: Box, loose: Array) -> Places:
    """Inputs that the equations determine from the others: those with large weights and room on both sides."""
    if not E.shape[0]:
        return np.zeros(0, dtype=int)
    room = np.minimum(x - box.lower, box.upper - x) * loose
    _, R, order = qr(E * (room + 1e-9 * (box.upper - box.lower) * loose), mode="economic", pivoting=True)
    size = np.abs(np.diagonal(R))
    rank = int((size > 1e-10 * max(float(size.max(initial=0.0)), 1e-300)).sum())
    return np.asarray(order[:rank])


def _away(box: Box, x: Array, E: Array, pivots: Places, loose: Array) -> Array:
    """To which side each input is rounded so that it moves away from the inequalities nearby, ``(D,)``: -1, 0, 1."""
    width = box.upper - box.lower
    rows = [c.weights(box.called) * (1.0 if c.relation == "<=" else -1.0) for c in box.constraints if not c.is_equality]
    bounds = [c.bound * (1.0 if c.relation == "<=" else -1.0) for c in box.constraints if not c.is_equality]
    for j in pivots.tolist():  # these move with the others, and have ends of their own
        for sign, end in ((1.0, box.upper[j]), (-1.0, -box.lower[j])):
            rows.append(sign * np.eye(box.D)[j])
            bounds.append(sign * sign * end)
    if not rows:
        return np.zeros(box.D)
    A, b = np.array(rows), np.array(bounds)
    sizes = np.maximum(np.linalg.norm(A * width, axis=1), np.finfo(float).tiny)
    A, b = A[b - A @ x < _NEAR * sizes], b[b - A @ x < _NEAR * sizes]
    if len(pivots):
        A = A - A[:, pivots] @ np.linalg.lstsq(E[:, pivots], E, rcond=None)[0]
    pull = (A / np.maximum(np.linalg.norm(A * width, axis=1), 1e-300)[:, None]).sum(axis=0)
    return np.where(loose & (np.abs(pull * width) > 1e-9), -np.sign(pull), 0.0)


def _to_decimals(x: Array, decimals: Array, sides: Array) -> Array:
    """Each of ``x (D,)`` at its number of decimals: the nearest, the one below (-1) or the one above (1)."""
    found = []
    for value, places, side in zip(x.tolist(), decimals.astype(int).tolist(), sides.tolist(), strict=True):
        near = round(value, places)
        if side and (near - value) * side < 0.0:
            near = round(near + side * 10.0**-places, places)
        found.append(near)
    return np.array(found)
