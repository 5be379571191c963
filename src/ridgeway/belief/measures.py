"""What a belief is averaged over: the choice of a user, checked and brought to inputs mapped to [-1, 1]."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from ridgeway import checks
from ridgeway import names as _names
from ridgeway.errors import RidgewayWarning
from ridgeway.gp import marginals as distributions
from ridgeway.gp import measures
from ridgeway.gp.leveled import Leveled
from ridgeway.gp.marginals import Fixed
from ridgeway.gp.measures import Gaussian, Independent, Points, Sample, Uniform
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

_PARTS = 16  # of the points that stand for a box with constraints, each drawn by itself
_ALLOWED, _LEAST_ALLOWED = 2**12, 2**11  # points in all parts together, and where they cost much
_TRIED = 2**12  # evenly spread points of the whole box in each part, from which those are kept that constraints allow
_WALKS = 2**25  # numbers drawn, roughly, in walks through a polytope where few would be kept
_MOST_POINTS = 1_000_000  # of a pool
_MOST_VALUES = 1024  # of an input in steps: with more it is as good as continuous
_BEYOND = 0.1  # of half a width that a measure may reach beyond the belief's box without a warning


def choose(belief: Belief, over: Any, seed: int = 0, points: int = _ALLOWED) -> Any:
    """The measure that ``over`` means, in the user's units.

    ``None`` is the belief's box; a box (anything with ``lower`` and ``upper``) is uniform in it, every value of an
    input in steps as likely; a dictionary gives some inputs a distribution and leaves the others uniform in the
    belief's box; a measure is itself; an array, a table or a pool is the user's own points. About so many ``points``
    stand for a box with constraints, and ``seed`` decides which.
    """
    found = _chosen(belief, over, seed, points)
    D = belief.space.scaling.D
    if found.D != D:
        raise ValueError(f"over must be about the {D} inputs of the belief, got one about {found.D}")
    _warn_beyond(belief, found)
    return found


def scaled(belief: Belief, over: Any, seed: int = 0, points: int = _ALLOWED) -> Any:
    """The same about inputs mapped to [-1, 1]."""
    return choose(belief, over, seed, points).scaled(belief.space.scaling)


def independent(belief: Belief, over: Any, what: str) -> Any:
    """The measure about inputs mapped to [-1, 1], refused where its inputs depend on each other."""
    found = scaled(belief, over)
    if not (measures.independent(found) or isinstance(found, Leveled)):
        raise ValueError(
            f"over must be a measure of independent inputs for {what}, got {_described(over)}: "
            "the parts of inputs that vary together cannot be told apart"
        )
    return found


def varied(measure: Any) -> Array:
    """Which inputs vary under a measure of independent ones, ``(G,)``."""
    return np.array([len(g) > 1 or bool(np.ptp(measure.nodes(g[0], 2)[0]) > 0.0) for g in measures.groups(measure)])


def own_box(belief: Belief) -> Uniform:
    """Uniform in the belief's box; an input that never varied stays where it was."""
    scaling = belief.space.scaling
    lower, upper = checks.column_range(belief.X)
    fixed = (lower == upper) & (lower == scaling.center) & (scaling.half_width == 1.0)
    half = np.where(fixed, 0.0, scaling.half_width)
    return Uniform(scaling.center - half, scaling.center + half)


def _chosen(belief: Belief, over: Any, seed: int, points: int) -> Any:
    if over is None:
        return own_box(belief)
    if isinstance(over, Uniform | Gaussian | Independent | Points | Leveled):
        return over
    if isinstance(over, Mapping):
        return _with_marginals(belief, over)
    if _is_box(over):
        order = _order(belief, getattr(over, "names", None))
        return _allowed(over, order, seed, points) if getattr(over, "constraints", ()) else _box(over, order)
    if isinstance(over, str | bytes | int | float):
        raise TypeError(f"over must be a box, a measure, a dictionary of distributions or points, got {over!r:.80}")
    return Points(_points(belief, over))


def _is_box(over: Any) -> bool:
    if hasattr(over, "columns"):  # a table, whose columns may be called so
        return False
    return all(hasattr(over, side) and not callable(getattr(over, side)) for side in ("lower", "upper"))


def _points(belief: Belief, over: Any) -> Array:
    """The user's own points, of a pool as well."""
    names, D = belief.names, belief.space.scaling.D
    if hasattr(over, "in_memory"):
        if not over.in_memory or len(over) > _MOST_POINTS:
            raise ValueError(
                f"over must be at most {_MOST_POINTS} points in memory, got a pool of {len(over)}"
                f"{'' if over.in_memory else ' that is not'}: give some of them, as in "
                "pool.rows(pool.uniform(10_000, np.random.default_rng(0)))"
            )
        return np.asarray(over.points, dtype=float)[:, _order(belief, over.names, "pool")]
    return checks.dense(checks.inputs(over, D, "over", names=names))


def _box(box: Any, order: Any) -> Uniform | Leveled:
    """Uniform in a box, every value and level as likely, with its columns in the belief's order."""
    lower, upper = np.asarray(box.lower, dtype=float), np.asarray(box.upper, dtype=float)
    categories, steps = getattr(box, "categories", ()), getattr(box, "steps", None)
    if not categories and steps is None:
        return Uniform(lower[order], upper[order])
    columns = np.arange(lower.shape[0])[order]
    place = np.argsort(columns)
    stepped = () if steps is None else [int(j) for j in columns if steps[j] and box.lattice.counts[j] < _MOST_VALUES]
    values = {int(place[j]): box.lattice.values(j) for j in stepped}
    groups = [tuple(int(place[j]) for j in group) for group in categories]
    return Leveled(lower[order], upper[order], groups, values)


def _allowed(box: Any, order: Any, seed: int, points: int) -> Sample:
    """Points that stand for a box with constraints: evenly spread ones that these allow, or else random walks."""
    rng = np.random.default_rng(seed)
    whole = box.unconstrained
    tried = whole.filling(_TRIED, rng)
    share = float(box.contains(tried).mean())
    if share * _TRIED * _PARTS >= _LEAST_ALLOWED:
        n = int(min(_TRIED, 2.0 ** np.ceil(np.log2(points / _PARTS / share))))
        draws = (whole.filling(n, rng) for _ in range(_PARTS))
        return Sample.of([X[box.contains(X)][:, order] for X in draws])
    steps = 20 + 2 * box.D
    n = int(np.clip(_WALKS / (steps * box.D), _LEAST_ALLOWED, points)) // _PARTS
    return Sample.of(list(box.uniform(n * _PARTS, rng)[:, order].reshape(_PARTS, n, -1)))


def labels(columns: Sequence[str], measure: Any) -> tuple[str, ...]:
    """What the inputs under a measure are called: a category by what its columns' labels begin with."""
    return tuple(_called([columns[j] for j in group]) for group in measures.groups(measure))


def levels(belief: Belief, columns: tuple[int, ...]) -> tuple[str, ...]:
    """What the levels of a category are called."""
    return tuple(belief.labels[j].partition("=")[2] or belief.labels[j] for j in columns)


def _called(columns: list[str]) -> str:
    if len(columns) == 1:
        return columns[0]
    before = {label.partition("=")[0] for label in columns}
    return before.pop() if len(before) == 1 else " or ".join(columns)


def place(belief: Belief, measure: Any, name: Any) -> int:
    """The number of an input among those under a measure, by its own name, or by the name or number of a column."""
    called = labels(belief.labels, measure)
    if name in called:
        return called.index(name)
    j = index(belief, name)
    return next(i for i, columns in enumerate(measures.groups(measure)) if j in columns)


def _with_marginals(belief: Belief, given: Mapping[Any, Any]) -> Independent:
    box = own_box(belief)
    marginals: list[Any] = [
        stats.uniform(low, high - low) if low < high else Fixed(float(low))
        for low, high in zip(box.lower, box.upper, strict=True)
    ]
    for name, marginal in given.items():
        try:
            j = index(belief, name)
        except ValueError as error:
            raise ValueError(f"over must be a dictionary of inputs and their distributions: {error}") from None
        distributions.check(marginal, "distributions in over", f"that of {belief.labels[j]}")
        marginals[j] = marginal
    return Independent(marginals)


def index(belief: Belief, name: Any) -> int:
    """The position of an input given by its name, its label or its number."""
    D = belief.space.scaling.D
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        if not -D <= name < D:
            raise ValueError(f"input must be a number from 0 to {D - 1}, got {name}")
        return int(name) % D
    for known in (belief.names, belief.labels):
        if known is not None and name in known:
            return known.index(name)
    known = belief.names or belief.labels
    raise ValueError(f"input must be one of {_names.listed(known)} or its number, got {name!r}")


def _order(belief: Belief, names: Any, kind: str = "box") -> Any:
    if names is None or belief.names is None or tuple(names) == belief.names:
        return slice(None)
    if sorted(names) != sorted(belief.names):
        raise ValueError(
            f"over must be a {kind} of the inputs {_names.listed(belief.names)}, got {_names.listed(names)}"
        )
    return [list(names).index(name) for name in belief.names]


def _warn_beyond(belief: Belief, found: Any) -> None:
    """Say so where the measure leaves the belief's box: what stands there is extrapolated."""
    scaling = belief.space.scaling
    lower, upper = _range(found)
    slack = (1.0 + _BEYOND) * scaling.half_width
    outside = np.flatnonzero((lower < scaling.center - slack) | (upper > scaling.center + slack))
    if outside.size:
        j = int(outside[0])
        own = scaling.center[j] - scaling.half_width[j], scaling.center[j] + scaling.half_width[j]
        more = f" and {outside.size - 1} more" if outside.size > 1 else ""
        warnings.warn(
            f"over reaches beyond the belief's box: input {belief.labels[j]}{more} goes from {lower[j]:.4g} to "
            f"{upper[j]:.4g}, the box from {own[0]:.4g} to {own[1]:.4g}; outside, the belief extrapolates",
            RidgewayWarning,
            stacklevel=5,
        )


def _range(found: Any) -> tuple[Array, Array]:
    if isinstance(found, Points):
        return checks.column_range(found.points)
    lower, upper = zip(*(found.interval(j) for j in range(found.D)), strict=True)
    return np.array(lower), np.array(upper)


def _described(over: Any) -> str:
    if isinstance(over, Gaussian):
        return "a Gaussian with correlated inputs"
    return "a box with constraints" if _is_box(over) else "points"
