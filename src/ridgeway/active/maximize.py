"""Where a score is largest: over a pool by scoring all of it, over a box by a search from many starts.

In a box the search begins in the low-dimensional space, as the paper proposes: corners of the box that
lie farthest along directions of ``u``, points between them and the centre, and for the best of those the
input that maps to the same ``u`` with most certainty. From the best of these and of a space-filling sample,
gradient ascent with the exact gradient and the box as bounds finds local maxima of the score.

A batch is chosen greedily: each point maximises the score given the pending points and those chosen before
it. For information this is the chain rule, so the sum of the scores is the joint information of the batch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from ridgeway.active import acquisition as acquisitions
from ridgeway.active.acquisition import Acquisition, PointAcquisition
from ridgeway.active.box import Box
from ridgeway.active.component_view import ReducedPoints
from ridgeway.active.pending import PendingBelief
from ridgeway.active.pool_coordinates import PoolView
from ridgeway.active.preimage import Preimage, PreimageSettings
from ridgeway.errors import NumericalError
from ridgeway.gp.rowspace import reduced
from ridgeway.types import Array


@dataclass(frozen=True)
class MaximizeSettings:
    """How hard the best points are searched for.

    Attributes
    ----------
    shortlist
        The later points of a batch are chosen from this many of a pool's best candidates for the first.
    sample
        Points of a Latin hypercube over the box that are scored.
    directions
        Random directions of the embedded space along which inputs are tried.
    preimages
        For this many of the best ``u`` the most certain input is computed.
    climbs
        Ascents start from this many of the best inputs of the embedded space, and as many of the sample.
    evaluations
        Evaluations of the score and its gradient in all ascents, which run at once.
    apart
        Points closer than this, relative to half the width of the box, count as the same.
    flat
        Scores whose range is below this, relative to the largest or to 1, give nothing to choose by.
    score_tolerance, gradient_tolerance
        Where an ascent stops, relative to the range of the scores at its starts.
    least_range
        The smallest range of scores that these tolerances are relative to.
    preimage
        One program for each ``u`` is enough here: its solution is only a start.
    """

    shortlist: int = 4096
    sample: int = 1024
    directions: int = 128
    preimages: int = 2
    climbs: int = 4
    evaluations: int = 60
    apart: float = 1e-6
    flat: float = 1e-6
    score_tolerance: float = 1e-7
    gradient_tolerance: float = 1e-5
    least_range: float = 1e-9
    preimage: PreimageSettings = field(default_factory=lambda: PreimageSettings(most_programs=1))


#: What a search uses unless it is given other settings.
DEFAULT = MaximizeSettings()


class Choice(NamedTuple):
    """What to evaluate next."""

    X: Array  # (n, D)
    scores: Array  # (n,) each given the points before it
    indices: npt.NDArray[np.int64] | None  # (n,) rows of the pool, where there is one
    flat: bool  # whether the first score is the same everywhere: there is nothing to choose by


def over_pool(
    view: PoolView,
    pending: PendingBelief,
    acquisition: Acquisition | PointAcquisition,
    n: int,
    free: npt.NDArray[np.bool_],
    settings: MaximizeSettings | None = None,
) -> Choice:
    """The best ``n`` different points of the pool that are ``free (M,)``."""
    settings = DEFAULT if settings is None else settings
    acquisition = acquisition.jointly if n > 1 else acquisition
    free, whole = free.copy(), pool_scores(view, pending, acquisition)
    flat = _is_flat(whole[free], settings)
    shortlist = _leading(whole, free, max(settings.shortlist, n))
    points, scores = view.pool.rows(shortlist), whole[shortlist]
    chosen: list[int] = []
    values: list[float] = []
    while True:
        best = int(np.argmax(np.where(free[shortlist], scores, -np.inf)))
        chosen.append(int(shortlist[best]))
        values.append(float(scores[best]))
        if len(chosen) == n:
            break
        free[view.pool.find(points[best])] = False  # and its copies: the same experiment
        pending = pending.given(points[best : best + 1])
        if not free[shortlist].any():  # the shortlist held nothing but copies
            shortlist = _leading(pool_scores(view, pending, acquisition), free, max(settings.shortlist, n))
            points = view.pool.rows(shortlist)
        if shortlist.shape[0] == 0:
            raise ValueError(f"n must be at most the number of different points left, {len(chosen)}, got {n}")
        scores = acquisitions.score(acquisition, pending, points)
    return Choice(view.pool.rows(chosen), np.array(values), np.array(chosen), flat)


def _leading(scores: Array, free: npt.NDArray[np.bool_], most: int) -> npt.NDArray[np.int64]:
    """Indices of the best candidates that are free, at most ``most`` of them."""
    candidates = np.flatnonzero(free)
    if candidates.shape[0] <= most:
        return candidates
    return candidates[np.argpartition(-scores[candidates], most)[:most]]


def pool_scores(view: PoolView, pending: PendingBelief, acquisition: Acquisition | PointAcquisition) -> Array:
    """Scores of every point of a pool, ``(M,)``."""
    belief = pending.belief
    scores = np.empty(len(view.pool))
    for rows, z, rho in view.blocks(belief.space):
        if isinstance(acquisition, PointAcquisition):
            scores[rows] = acquisition.scores(pending, np.asarray(view.pool.points[rows], dtype=float))
            continue
        cross = np.zeros((z.shape[0], 0))
        if pending.n_pending:
            cross = pending.cross(np.asarray(view.pool.points[rows], dtype=float), z)
        points = ReducedPoints(*reduced(belief.model, z, rho), cross)
        scores[rows] = acquisition.value(pending.moments(points), pending.noise)
    return scores


def over_box(
    box: Box,
    pending: PendingBelief,
    acquisition: Acquisition | PointAcquisition,
    n: int,
    rng: np.random.Generator,
    settings: MaximizeSettings | None = None,
) -> Choice:
    """``n`` points of the box, each the best given those before it."""
    settings = DEFAULT if settings is None else settings
    acquisition = acquisition.jointly if n > 1 else acquisition
    X, values, flat = [], [], False
    for i in range(n):
        x, value, same = _best_in_box(box, pending, acquisition, rng, settings)
        flat = same if i == 0 else flat
        X.append(x)
        values.append(value)
        if i + 1 < n:
            pending = pending.given(x[None])
    return Choice(np.stack(X), np.array(values), None, flat)


def _best_in_box(
    box: Box,
    pending: PendingBelief,
    acquisition: Acquisition | PointAcquisition,
    rng: np.random.Generator,
    settings: MaximizeSettings,
) -> tuple[Array, float, bool]:
    sample = box.latin_hypercube(settings.sample, rng)
    scores = acquisitions.score(acquisition, pending, sample)
    flat = _is_flat(scores, settings)  # the caller decides what to do then; the search goes on
    starts = sample[np.argsort(-scores)[: settings.climbs]]
    if pending.belief.model.reduction == "span":
        starts = np.vstack([starts, _embedded_starts(box, pending, acquisition, rng, settings)])
    ends, values = climb(box, pending, acquisition, starts, settings)
    known = pending.known_inputs
    half_width = 0.5 * (box.upper - box.lower)
    for i in np.argsort(-values):
        if np.abs((known - ends[i]) / half_width).max(axis=1).min() > settings.apart:
            return ends[i], float(values[i]), flat
    x = sample[int(np.argmax(scores))]  # every ascent ended at a known point: take the best of the sample
    return x, float(scores.max()), flat


def _embedded_starts(
    box: Box,
    pending: PendingBelief,
    acquisition: Acquisition | PointAcquisition,
    rng: np.random.Generator,
    settings: MaximizeSettings,
) -> Array:
    """The best inputs found by a search over ``u``, ``(k, D)``."""
    preimage = Preimage.of(pending.belief, box.bounds, settings.preimage)
    rank = preimage.rows.shape[0]
    axes = np.vstack([np.eye(rank), -np.eye(rank)])
    directions = np.vstack([axes, rng.standard_normal((settings.directions, rank))])
    corners = np.stack([preimage.corner(direction) for direction in directions])
    reach = np.concatenate([np.ones(axes.shape[0]), np.sqrt(rng.uniform(size=settings.directions))])
    center = 0.5 * (preimage.lower + preimage.upper)
    inner = center + reach[:, None] * (corners - center)
    scaling = pending.belief.space.scaling
    X = scaling.center + scaling.half_width * np.vstack([corners[axes.shape[0] :], inner])
    X = np.clip(X, box.lower, box.upper)
    scores = acquisitions.score(acquisition, pending, X)
    order = np.argsort(-scores)
    found = [X[order[: settings.climbs]]]
    for i in order[: settings.preimages]:
        try:
            x = preimage.most_certain(preimage.rows @ scaling.scaled(X[i : i + 1])[0])
        except NumericalError:  # the solver failed for this u: the input that gave u is a start already
            continue
        found.append(np.clip(x, box.lower, box.upper)[None])
    return np.vstack(found)


def climb(
    box: Box,
    pending: PendingBelief,
    acquisition: Acquisition | PointAcquisition,
    X: Array,
    settings: MaximizeSettings | None = None,
) -> tuple[Array, Array]:
    """Local maxima of the score near each of ``X (k, D)``, and their scores.

    All ascents are one maximisation of the sum of scores: several points cost little more than one.
    """
    settings = DEFAULT if settings is None else settings
    center, half = 0.5 * box.lower + 0.5 * box.upper, 0.5 * box.upper - 0.5 * box.lower
    best, values = X.copy(), np.full(X.shape[0], -np.inf)

    def objective(v: Array) -> tuple[float, Array]:
        points = np.clip(center + half * v.reshape(X.shape), box.lower, box.upper)
        scores, gradients = acquisitions.score_with_gradient(acquisition, pending, points)
        better = scores > values
        best[better], values[better] = points[better], scores[better]
        return -float(scores.sum()), -(gradients * half).ravel()

    # Where scores differ by millionths, tolerances are relative to those.
    extent = min(1.0, max(float(np.ptp(acquisitions.score(acquisition, pending, X))), settings.least_range))
    minimize(
        objective,
        ((X - center) / half).ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-1.0, 1.0)] * X.size,
        options={
            "maxfun": settings.evaluations,
            "maxiter": settings.evaluations,
            "ftol": settings.score_tolerance * extent,
            "gtol": settings.gradient_tolerance * extent,
        },
    )
    return best, values


def _is_flat(scores: Array, settings: MaximizeSettings) -> bool:
    return bool(np.ptp(scores) <= settings.flat * max(1.0, float(np.abs(scores).max())))
