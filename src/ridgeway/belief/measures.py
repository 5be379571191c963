"""What a belief is averaged over: the choice of a user, checked and brought to inputs mapped to [-1, 1]."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from ridgeway import checks
from ridgeway import names as _names
from ridgeway.errors import RidgewayWarning
from ridgeway.gp import measures
from ridgeway.gp.measures import Gaussian, Independent, Points, Uniform
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

_ALLOWED = 2048  # draws that stand for a box with constraints or categories
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
    if not measures.independent(found):
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
    if isinstance(over, Uniform | Gaussian | Independent | Points):
        return over
    if isinstance(over, Mapping):
        return _with_marginals(belief, over)
    if hasattr(over, "lower") and hasattr(over, "upper"):
        order = _order(belief, getattr(over, "names", None))
        if getattr(over, "constraints", ()) or getattr(over, "categories", ()):
            # Inputs that constraints tie together, or of which exactly one is 1: draws stand for them.
            return Points(over.uniform(_ALLOWED, np.random.default_rng(0))[:, order])
        return Uniform(np.asarray(over.lower)[order], np.asarray(over.upper)[order])
    return Points(checks.dense(belief.points(over)))


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
