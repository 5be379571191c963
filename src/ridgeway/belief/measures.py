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
from ridgeway.gp import measures
from ridgeway.gp.leveled import Leveled
from ridgeway.gp.measures import Gaussian, Independent, Points, Uniform
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

_ALLOWED = 2048  # draws that stand for a box with constraints
_BEYOND = 0.1  # of half a width that a measure may reach beyond the belief's box without a warning


def choose(belief: Belief, over: Any) -> Any:
    """The measure that ``over`` means, in the user's units.

    ``None`` is the belief's box; a box (anything with ``lower`` and ``upper``) is uniform in it; a dictionary gives
    some inputs a distribution and leaves the others uniform in the belief's box; a measure is itself; an array or
    table is the user's own points.
    """
    found = _chosen(belief, over)
    D = belief.space.scaling.D
    if found.D != D:
        raise ValueError(f"over must be about the {D} inputs of the belief, got one about {found.D}")
    _warn_beyond(belief, found)
    return found


def scaled(belief: Belief, over: Any) -> Any:
    """The same about inputs mapped to [-1, 1]."""
    return choose(belief, over).scaled(belief.space.scaling)


def independent(belief: Belief, over: Any, what: str) -> Any:
    """The measure about inputs mapped to [-1, 1], refused where its inputs depend on each other."""
    found = scaled(belief, over)
    if not (measures.independent(found) or isinstance(found, Leveled)):
        raise ValueError(
            f"over must be a measure of independent inputs for {what}, got {_described(over)}: "
            "the parts of inputs that vary together cannot be told apart"
        )
    return found


def own_box(belief: Belief) -> Uniform:
    """Uniform in the belief's box; an input that never varied stays where it was."""
    scaling = belief.space.scaling
    lower, upper = checks.column_range(belief.X)
    fixed = (lower == upper) & (lower == scaling.center) & (scaling.half_width == 1.0)
    half = np.where(fixed, 0.0, scaling.half_width)
    return Uniform(scaling.center - half, scaling.center + half)


def _chosen(belief: Belief, over: Any) -> Any:
    if over is None:
        return own_box(belief)
    if isinstance(over, Uniform | Gaussian | Independent | Points | Leveled):
        return over
    if isinstance(over, Mapping):
        return _with_marginals(belief, over)
    if hasattr(over, "lower") and hasattr(over, "upper"):
        order = _order(belief, getattr(over, "names", None))
        if getattr(over, "constraints", ()):  # draws stand for inputs that constraints tie together
            return Points(over.uniform(_ALLOWED, np.random.default_rng(0))[:, order])
        return _box(np.asarray(over.lower), np.asarray(over.upper), getattr(over, "categories", ()), order)
    return Points(checks.dense(belief.points(over)))


def _box(lower: Array, upper: Array, categories: Any, order: Any) -> Uniform | Leveled:
    """Uniform in a box, every level of its categories as likely, with its columns in the belief's order."""
    if not categories:
        return Uniform(lower[order], upper[order])
    place = np.argsort(np.arange(lower.shape[0])[order])
    return Leveled(lower[order], upper[order], [tuple(int(place[j]) for j in columns) for columns in categories])


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
    marginals = [stats.uniform(low, high - low) for low, high in zip(box.lower, box.upper, strict=True)]
    for name, marginal in given.items():
        marginals[index(belief, name)] = marginal
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


def _order(belief: Belief, names: Any) -> Any:
    if names is None or belief.names is None or tuple(names) == belief.names:
        return slice(None)
    if sorted(names) != sorted(belief.names):
        raise ValueError(f"over must be a box of the inputs {_names.listed(belief.names)}, got {_names.listed(names)}")
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
    return "points" if not isinstance(over, Gaussian) else "a Gaussian with correlated inputs"
