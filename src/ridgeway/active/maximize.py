"""Where a score is largest: over a pool by scoring all of it, over a box as the paper proposes and beyond.

In a box the search begins in the low-dimensional space: corners of the box that reach farthest
along directions of ``u``, points between them and the centre, and for the best of those the
input that maps to the same ``u`` most surely. From the best of these and of a space-filling
sample it climbs the score itself, with its exact gradient and the box as bounds.

A batch is chosen greedily: each point maximises the score given those chosen before it and
those still out. For information this is the chain rule, so the batch maximises its joint
information as far as greed can.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from ridgeway import acquisition as acquisitions
from ridgeway.acquisition import Acquisition
from ridgeway.belief import reduced
from ridgeway.box import Box
from ridgeway.embeddings import Linear
from ridgeway.errors import NumericalError
from ridgeway.features import Points
from ridgeway.outlook import Outlook
from ridgeway.poolview import PoolView
from ridgeway.surest import Surest
from ridgeway.types import Array

SHORTLIST = 4096  # candidates of a pool that the later points of a batch are chosen from
_FILLING = 1024  # points all over the box that are scored
_DIRECTIONS = 128  # directions of the embedded space that are tried
_SUREST = 2  # of the best u for which the surest input is computed
_CLIMBS = 4  # from the best of the embedded search, and as many from the best of the sample
_EVALUATIONS = 60  # of all climbs together
_APART = 1e-6  # of the box' half width: closer points count as one


class Choice(NamedTuple):
    """What to evaluate next."""

    X: Array  # (n, D)
    scores: Array  # (n,) each given the points before it
    indices: npt.NDArray[np.int64] | None  # (n,) rows of the pool, where there is one
    flat: bool  # whether the first score is the same everywhere: there is nothing to choose by


def over_pool(
    view: PoolView, outlook: Outlook, acquisition: Acquisition, n: int, free: npt.NDArray[np.bool_]
) -> Choice:
    """The best ``n`` different points of the pool that are ``free (M,)``."""
    acquisition = acquisition.jointly if n > 1 else acquisition
    free, whole = free.copy(), pool_scores(view, outlook, acquisition)
    flat = _is_flat(whole[free])
    shortlist = _leading(whole, free, max(SHORTLIST, n))
    points, scores = view.pool.rows(shortlist), whole[shortlist]
    chosen: list[int] = []
    values: list[float] = []
    while True:
        best = int(np.argmax(np.where(free[shortlist], scores, -np.inf)))
        chosen.append(int(shortlist[best]))
        values.append(float(scores[best]))
        if len(chosen) == n:
            break
        free[view.pool.find(points[best])] = False  # its copies, too: one experiment is not several
        outlook = outlook.given(points[best : best + 1])
        if not free[shortlist].any():  # it was nothing but copies
            shortlist = _leading(pool_scores(view, outlook, acquisition), free, max(SHORTLIST, n))
            points = view.pool.rows(shortlist)
        if shortlist.shape[0] == 0:
            raise ValueError(f"n must be at most the number of different points left, {len(chosen)}, got {n}")
        scores = acquisitions.score(acquisition, outlook, points)
    return Choice(view.pool.rows(chosen), np.array(values), np.array(chosen), flat)


def _leading(scores: Array, free: npt.NDArray[np.bool_], most: int) -> npt.NDArray[np.int64]:
    """Indices of the best of those that are free, at most so many."""
    candidates = np.flatnonzero(free)
    if candidates.shape[0] <= most:
        return candidates
    return candidates[np.argpartition(-scores[candidates], most)[:most]]


def pool_scores(view: PoolView, outlook: Outlook, acquisition: Acquisition) -> Array:
    """Scores of every point of a pool, ``(M,)``."""
    belief = outlook.belief
    scores = np.empty(len(view.pool))
    for rows, z, rho in view.blocks(belief.space):
        cross = np.zeros((z.shape[0], 0))
        if outlook.n_out:
            cross = outlook.cross(np.asarray(view.pool.points[rows], dtype=float), z)
        points = Points(*reduced(belief.model, z, rho), cross)
        scores[rows] = acquisition.value(outlook.moments(points), outlook.noise)
    return scores


def over_box(box: Box, outlook: Outlook, acquisition: Acquisition, n: int, rng: np.random.Generator) -> Choice:
    """``n`` points of the box, each the best given those before it."""
    acquisition = acquisition.jointly if n > 1 else acquisition
    X, values, flat = [], [], False
    for i in range(n):
        x, value, same = _best_in_box(box, outlook, acquisition, rng)
        flat = same if i == 0 else flat
        X.append(x)
        values.append(value)
        if i + 1 < n:
            outlook = outlook.given(x[None])
    return Choice(np.stack(X), np.array(values), None, flat)


def _best_in_box(
    box: Box, outlook: Outlook, acquisition: Acquisition, rng: np.random.Generator
) -> tuple[Array, float, bool]:
    sample = box.latin_hypercube(_FILLING, rng)
    scores = acquisitions.score(acquisition, outlook, sample)
    flat = _is_flat(scores)  # for the caller to know: what little there is, is climbed all the same
    starts = sample[np.argsort(-scores)[:_CLIMBS]]
    if isinstance(outlook.belief.model, Linear):
        starts = np.vstack([starts, _embedded_starts(box, outlook, acquisition, rng)])
    ends, values = _climb(box, outlook, acquisition, starts)
    known = outlook.belief.X if outlook.out is None else np.vstack([outlook.belief.X, outlook.out.X])
    half_width = 0.5 * (box.upper - box.lower)
    for i in np.argsort(-values):
        if np.abs((known - ends[i]) / half_width).max(axis=1).min() > _APART:
            return ends[i], float(values[i]), flat
    x = sample[int(np.argmax(scores))]  # every climb ended where an experiment has been: stay in the sample
    return x, float(scores.max()), flat


def _embedded_starts(box: Box, outlook: Outlook, acquisition: Acquisition, rng: np.random.Generator) -> Array:
    """The best inputs found by a search over ``u``, ``(k, D)``."""
    surest = Surest.of(outlook.belief, box.bounds)
    rank = surest.rows.shape[0]
    axes = np.vstack([np.eye(rank), -np.eye(rank)])
    directions = np.vstack([axes, rng.standard_normal((_DIRECTIONS, rank))])
    corners = np.stack([surest.corner(direction) for direction in directions])
    reach = np.concatenate([np.ones(axes.shape[0]), np.sqrt(rng.uniform(size=_DIRECTIONS))])
    center = 0.5 * (surest.lower + surest.upper)
    inner = center + reach[:, None] * (corners - center)
    scaling = outlook.belief.space.scaling
    X = scaling.center + scaling.half_width * np.vstack([corners[axes.shape[0] :], inner])
    X = np.clip(X, box.lower, box.upper)
    scores = acquisitions.score(acquisition, outlook, X)
    order = np.argsort(-scores)
    found = [X[order[:_CLIMBS]]]
    for i in order[:_SUREST]:
        try:
            x = surest.inputs(surest.rows @ scaling.scaled(X[i : i + 1])[0], most_programs=1)
        except NumericalError:  # the solver gave up on this u: its corner is still there
            continue
        found.append(np.clip(x, box.lower, box.upper)[None])
    return np.vstack(found)


def _climb(box: Box, outlook: Outlook, acquisition: Acquisition, X: Array) -> tuple[Array, Array]:
    """Local maxima of the score near each of ``X (k, D)``, and their scores.

    All climb at once, as one maximisation of the sum: points side by side cost little more than one.
    """
    center, half = 0.5 * box.lower + 0.5 * box.upper, 0.5 * box.upper - 0.5 * box.lower
    best, values = X.copy(), np.full(X.shape[0], -np.inf)

    def objective(v: Array) -> tuple[float, Array]:
        points = np.clip(center + half * v.reshape(X.shape), box.lower, box.upper)
        scores, gradients = acquisitions.score_with_gradient(acquisition, outlook, points)
        better = scores > values
        best[better], values[better] = points[better], scores[better]
        return -float(scores.sum()), -(gradients * half).ravel()

    # Where scores differ by millionths only, progress is measured in those.
    flatness = min(1.0, max(float(np.ptp(acquisitions.score(acquisition, outlook, X))), 1e-9))
    minimize(
        objective,
        ((X - center) / half).ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-1.0, 1.0)] * X.size,
        options={"maxfun": _EVALUATIONS, "maxiter": _EVALUATIONS, "ftol": 1e-7 * flatness, "gtol": 1e-5 * flatness},
    )
    return best, values


def _is_flat(scores: Array) -> bool:
    return bool(np.ptp(scores) <= 1e-6 * max(1.0, float(np.abs(scores).max())))
