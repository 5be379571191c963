"""Where a score is largest: over a pool by scoring all of it, over a box by a search from many starts.

In a box the search begins in the low-dimensional space, as the paper proposes: corners of the box that
lie farthest along directions of ``u``, points between them and the centre, and for the best of those the
input that maps to the same ``u`` with most certainty. From the best of these and of a space-filling sample,
gradient ascent with the exact gradient and the box as bounds finds local maxima of the score. Under linear
constraints the ascents are projected onto what they allow. Where inputs move in steps or are categories, the ends of
the ascents are moved to values that may be proposed, then step by step and level by level as long as the score rises.

A batch is chosen greedily: each point maximises the score given the pending points and those chosen before
it. For information this is the chain rule, so the sum of the scores is the joint information of the batch.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from ridgeway.active import acquisition as acquisitions
from ridgeway.active import projected_climb
from ridgeway.active.acquisition import AnyAcquisition
from ridgeway.active.outlook import Outlook
from ridgeway.active.pool_coordinates import PoolView, View
from ridgeway.active.preimage import Preimage, PreimageSettings
from ridgeway.belief.belief import Belief
from ridgeway.errors import NumericalError
from ridgeway.spaces.box import Box
from ridgeway.types import Array


@dataclass(frozen=True)
class MaximizeSettings:
    """How hard the best points are searched for.

    Attributes
    ----------
    shortlist
        The later points of a batch are chosen from this many of a pool's best candidates for the first.
    rescored
        Where one point is chosen from a pool, so many of the best are scored once more, together: how a pool is cut
        into blocks changes scores by their rounding, and must not change what is chosen.
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
    near
        Points scattered around each of the promising points of the outlook that are scored as well.
    near_scales
        Smallest and largest standard deviation of that scatter, in half widths of the box.
    near_inputs
        About so many inputs of a promising point are moved in a scattered one.
    polish
        Evaluations of a last ascent from the best of all ends alone, where a search begins at promising points.
    rounds
        Where inputs move in steps or are categories: so often the best neighbour is taken, at most.
    preimage
        One program for each ``u`` is enough here: its solution is only a start.
    """

    shortlist: int = 4096
    rescored: int = 64
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
    near: int = 32
    near_scales: tuple[float, float] = (0.01, 0.5)
    near_inputs: int = 20
    polish: int = 60
    rounds: int = 12
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
    view: View,
    outlook: Outlook,
    acquisition: AnyAcquisition,
    n: int,
    seen: Array,
    settings: MaximizeSettings | None = None,
) -> Choice:
    """The best ``n`` different points of the pool that are equal to none of ``seen (k, D)``.

    All rows are scored for the first point; the later ones are chosen from the best of them.
    """
    settings = DEFAULT if settings is None else settings
    acquisition = acquisition.jointly if n > 1 else acquisition
    most = max(settings.shortlist, n) if n > 1 else settings.rescored
    left = view.leading(outlook, acquisition, seen, most)
    flat = _spans_little(left.least, left.most, settings)
    chosen: list[int] = []
    values: list[float] = []
    points: list[Array] = []
    while left.rows.shape[0]:
        assert left.points is not None
        scores = acquisitions.score(acquisition, outlook, left.points)
        best = left.points[int(np.argmax(scores))]
        copies = (left.points == best).all(axis=1)  # the same experiment
        chosen.append(int(left.rows[copies][0]))
        values.append(float(scores.max()))
        points.append(best)
        if len(chosen) == n:
            rows, X = np.array(chosen), np.stack(points)
            view.pool.table.note(rows, X)
            return Choice(X, np.array(values), rows, flat)
        outlook = outlook.given(best[None])
        left = left._replace(rows=left.rows[~copies], points=left.points[~copies])
        if left.rows.shape[0] == 0:  # the shortlist held nothing but copies
            left = view.leading(outlook, acquisition, np.vstack([seen, *points]), most)
    if chosen:
        raise ValueError(f"n must be at most the number of different points left, {len(chosen)}, got {n}")
    raise ValueError(f"n must be at most the number of points left: the pool is exhausted, {n} asked")


def pool_scores(view: PoolView, outlook: Outlook, acquisition: AnyAcquisition) -> Array:
    """Scores of every point of a pool in memory, ``(M,)``."""
    return outlook.pool_scores(acquisition, view)


def over_box(
    box: Box,
    outlook: Outlook,
    acquisition: AnyAcquisition,
    n: int,
    rng: np.random.Generator,
    settings: MaximizeSettings | None = None,
    seen: Array | None = None,
) -> Choice:
    """``n`` points of the box, each the best given those before it.

    None is one that the outlook knows, or one of ``seen (k, D)``: of many observations an outlook knows a sample.
    """
    settings = DEFAULT if settings is None else settings
    seen = np.zeros((0, box.D)) if seen is None else seen
    acquisition = acquisition.jointly if n > 1 else acquisition
    X, values, flat = [], [], False
    for i in range(n):
        x, value, same = _best_in_box(box, outlook, acquisition, rng, settings, seen)
        flat = same if i == 0 else flat
        X.append(x)
        values.append(value)
        if i + 1 < n:
            outlook = outlook.given(x[None])
    return Choice(np.stack(X), np.array(values), None, flat)


def _best_in_box(
    box: Box,
    outlook: Outlook,
    acquisition: AnyAcquisition,
    rng: np.random.Generator,
    settings: MaximizeSettings,
    seen: Array,
) -> tuple[Array, float, bool]:
    known = np.vstack([outlook.known_inputs, seen])
    sample = box.scattered(settings.sample, rng)
    scores = acquisitions.score(acquisition, outlook, sample)
    flat = _is_flat(scores, settings)  # the caller decides what to do then; the search goes on
    starts = sample[np.argsort(-scores)[: settings.climbs]]
    for belief in outlook.beliefs:
        if belief.model.reduction == "span":
            starts = np.vstack([starts, _embedded_starts(box, belief, outlook, acquisition, rng, settings)])
    promising = _promising_starts(box, outlook, acquisition, rng, settings)
    ends, values = climb(box, outlook, acquisition, np.vstack([starts, promising]), settings)
    if promising.shape[0]:
        alone = replace(settings, evaluations=settings.polish)
        end, value = climb(box, outlook, acquisition, ends[[np.argmax(values)]], alone)
        ends, values = np.vstack([ends, end]), np.append(values, value)
    if box.lattice is not None:
        ends, values = _proposed(box, outlook, acquisition, ends, values, settings, known)
    for i in np.argsort(-values):
        if _is_new(ends[i], box, known, settings):
            return ends[i], float(values[i]), flat
    return *_best_of_sample(box, outlook, acquisition, sample, scores, settings, known), flat


def _is_new(x: Array, box: Box, known: Array, settings: MaximizeSettings) -> bool:
    half_width = 0.5 * (box.upper - box.lower)
    return bool(np.abs((known - x) / half_width).max(axis=1).min() > settings.apart)


def _best_of_sample(
    box: Box,
    outlook: Outlook,
    acquisition: AnyAcquisition,
    sample: Array,
    scores: Array,
    settings: MaximizeSettings,
    known: Array,
) -> tuple[Array, float]:
    """The best point of a sample that is new: every ascent ended at a known point."""
    order = np.argsort(-scores)
    if box.lattice is None:
        return sample[order[0]], float(scores[order[0]])
    X = box.snapped(sample[order[: 16 * settings.climbs]])
    new = [i for i, x in enumerate(X) if _is_new(x, box, known, settings)] or [0]  # what is left may all be known
    found = acquisitions.score(acquisition, outlook, X[new])
    best = int(np.argmax(found))
    return X[new[best]], float(found[best])


def _proposed(
    box: Box,
    outlook: Outlook,
    acquisition: AnyAcquisition,
    ends: Array,
    values: Array,
    settings: MaximizeSettings,
    known: Array,
) -> tuple[Array, Array]:
    """Points on the lattice of a box, from the best ends of ascents: by neighbours, and by inputs that vary freely.

    A point that is known already counts as worst: in a coarse lattice the best one often is.
    """
    lattice = box.lattice
    assert lattice is not None
    fixed = lattice.stepped | lattice.leveled

    def scored(X: Array) -> Array:
        found = acquisitions.score(acquisition, outlook, X)
        return np.array([v if _is_new(x, box, known, settings) else -np.inf for x, v in zip(X, found, strict=True)])

    X = np.unique(box.snapped(ends[np.argsort(-values)[: settings.climbs]]), axis=0)
    scores = scored(X)
    best, top = X[int(np.argmax(scores))], float(scores.max())
    for _ in range(settings.rounds):
        near = lattice.neighbours(best)
        if not len(near):
            break
        found = scored(near)
        if not fixed.all():  # a step may only pay once the other inputs follow it: the best few are compared after that
            few = near[np.argsort(-found)[: settings.climbs]]
            near, found = climb(box, outlook, acquisition, np.vstack([best, few]), settings, fixed)
        if not found.max() > top:
            break
        best, top = near[int(np.argmax(found))], float(found.max())
    return np.vstack([best, X]), np.append(top, scores)


def _embedded_starts(
    box: Box,
    belief: Belief,
    outlook: Outlook,
    acquisition: AnyAcquisition,
    rng: np.random.Generator,
    settings: MaximizeSettings,
) -> Array:
    """The best inputs found by a search over ``u``, ``(k, D)``."""
    preimage = Preimage.of(belief, box, settings.preimage)
    rank = preimage.rows.shape[0]
    axes = np.vstack([np.eye(rank), -np.eye(rank)])
    directions = np.vstack([axes, rng.standard_normal((settings.directions, rank))])
    corners = np.stack([preimage.corner(direction) for direction in directions])
    reach = np.concatenate([np.ones(axes.shape[0]), np.sqrt(rng.uniform(size=settings.directions))])
    center = preimage.center
    inner = center + reach[:, None] * (corners - center)
    scaling = belief.space.scaling
    X = scaling.center + scaling.half_width * np.vstack([corners[axes.shape[0] :], inner])
    X = box.nearest(X)
    scores = acquisitions.score(acquisition, outlook, X)
    order = np.argsort(-scores)
    found = [X[order[: settings.climbs]]]
    for i in order[: settings.preimages]:
        try:
            x = preimage.most_certain(preimage.rows @ scaling.scaled(X[i : i + 1])[0])
        except NumericalError:  # the solver failed for this u: the input that gave u is a start already
            continue
        found.append(box.nearest(x[None]))
    return np.vstack(found)


def _promising_starts(
    box: Box, outlook: Outlook, acquisition: AnyAcquisition, rng: np.random.Generator, settings: MaximizeSettings
) -> Array:
    """The best of points scattered around the promising ones, ``(k, D)``; none where there are none.

    In many inputs random points are far from everything: what is near the best so far has to be tried on purpose.
    """
    promising = outlook.promising
    if promising.shape[0] == 0:
        return promising
    center = np.repeat(promising, settings.near, axis=0)
    n, D = center.shape
    low, high = np.log(settings.near_scales)
    scale = np.exp(rng.uniform(low, high, (n, 1)))
    moved = rng.random((n, D)) < min(1.0, settings.near_inputs / D) * np.ones((n, 1))
    moved[::2] = True  # half of them in all inputs
    steps = scale * moved * rng.standard_normal((n, D)) * 0.5 * (box.upper - box.lower)
    X = box.nearest(center + steps)
    scores = acquisitions.score(acquisition, outlook, X)
    best: Array = X[np.argsort(-scores)[: settings.climbs]]
    return best


def climb(
    box: Box,
    outlook: Outlook,
    acquisition: AnyAcquisition,
    X: Array,
    settings: MaximizeSettings | None = None,
    held: Array | None = None,
) -> tuple[Array, Array]:
    """Local maxima of the score near each of ``X (k, D)``, and their scores.

    All ascents are one maximisation of the sum of scores: several points cost little more than one. Inputs that are
    ``held (D,)`` stay, and so do levels of categories.
    """
    settings = DEFAULT if settings is None else settings
    center, half = 0.5 * box.lower + 0.5 * box.upper, 0.5 * box.upper - 0.5 * box.lower
    best, values = X.copy(), np.full(X.shape[0], -np.inf)
    if box.lattice is not None:
        held = box.lattice.leveled if held is None else held | box.lattice.leveled

    def objective(V: Array) -> tuple[Array, Array]:
        points = np.clip(center + half * V, box.lower, box.upper)
        points = points if held is None else np.where(held, X, points)
        scores, gradients = acquisitions.score_with_gradient(acquisition, outlook, points)
        better = scores > values
        best[better], values[better] = points[better], scores[better]
        return scores, gradients * half

    # Where scores differ by millionths, tolerances are relative to those.
    extent = min(1.0, max(float(np.ptp(acquisitions.score(acquisition, outlook, X))), settings.least_range))
    start, polytope = (X - center) / half, box.polytope
    if polytope is not None:
        projected_climb.climb(polytope, objective, start, settings.evaluations, settings.score_tolerance * extent, held)
        return best, values
    _climb_in_box(objective, start, extent, settings, held)
    return best, values


def _climb_in_box(
    objective: projected_climb.Objective, start: Array, extent: float, settings: MaximizeSettings, held: Array | None
) -> None:
    """L-BFGS from each of ``start (k, D)``, in inputs scaled to [-1, 1], of the sum of all scores."""
    moving = np.broadcast_to(True if held is None else np.logical_not(held), start.shape).ravel()

    def negative(v: Array) -> tuple[float, Array]:
        scores, gradients = objective(v.reshape(start.shape))
        return -float(scores.sum()), -np.where(moving, gradients.ravel(), 0.0)

    ends = [(-1.0, 1.0) if free else (v, v) for free, v in zip(moving.tolist(), start.ravel().tolist(), strict=True)]
    minimize(
        negative,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=ends,
        options={
            "maxfun": settings.evaluations,
            "maxiter": settings.evaluations,
            "ftol": settings.score_tolerance * extent,
            "gtol": settings.gradient_tolerance * extent,
        },
    )


def _is_flat(scores: Array, settings: MaximizeSettings) -> bool:
    return _spans_little(float(scores.min()), float(scores.max()), settings)


def _spans_little(least: float, most: float, settings: MaximizeSettings) -> bool:
    """Whether scores from ``least`` to ``most`` are all the same."""
    return most - least <= settings.flat * max(1.0, abs(least), abs(most))
