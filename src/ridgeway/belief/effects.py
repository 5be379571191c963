"""Main effects: how the output changes with one input, averaged over all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway import checks
from ridgeway.belief import measures
from ridgeway.belief.averages import Drawing, average
from ridgeway.gp.measures import groups as groups_of
from ridgeway.gp.measures import values as values_of
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief


@dataclass(frozen=True)
class Effect:
    """``E[f | x_j]`` over the range of one input, in the user's units, with a band.

    Of a category it is at each level, and of an input that takes some values only at these, or at most of them.
    """

    label: str
    x: Array  # (m,), of a category the numbers of its levels
    mean: Array  # (m,)
    low: Array
    high: Array
    level: float
    words: tuple[str, ...] = ()  # the levels of a category


def effect(
    belief: Belief,
    name: Any,
    over: Any = None,
    n_points: int = 41,
    drawing: Drawing = Drawing(),  # noqa: B008 - a tuple
) -> Effect:
    """The main effect of one input; see :meth:`Belief.effect`."""
    return effects(belief, [name], over, n_points, drawing)[0]


def effects(
    belief: Belief,
    names: list[Any],
    over: Any = None,
    n_points: int = 41,
    drawing: Drawing = Drawing(),  # noqa: B008 - a tuple
) -> list[Effect]:
    """Main effects of several inputs from the same draws."""
    measure = measures.independent(belief, over, "an effect")
    n_points = checks.count(n_points, "n_points", 2)
    how = average(belief, measure, drawing, "an effect")
    called, groups = measures.labels(belief.labels, measure), groups_of(measure)
    places = [measures.place(belief, measure, name) for name in names]
    at = [_values(measure, groups[i], n_points) for i in places]
    curves = how.over_draws(
        measure, lambda drawn, output: [output.mean(drawn.main_effect(i, t)) for i, t in zip(places, at, strict=True)]
    )
    result = []
    for i, t, curve in zip(places, at, zip(*curves, strict=True), strict=True):
        band = how.estimate(curve)
        words = measures.levels(belief, groups[i]) if len(groups[i]) > 1 else ()
        x = np.arange(len(words), dtype=float) if words else _in_units(belief, groups[i][0], t)
        result.append(Effect(called[i], x, band.mean, band.low, band.high, how.level, words))
    return result


def _values(measure: Any, columns: tuple[int, ...], n_points: int) -> Array:
    """Where an effect is computed: over the range of an input, at its values, or at each level of a category."""
    if len(columns) > 1:
        levels: Array = measure.atoms(columns)
        return levels
    taken = values_of(measure, columns[0])
    if taken is not None:
        chosen = np.unique(np.linspace(0, len(taken) - 1, min(n_points, len(taken))).round().astype(int))
        return np.asarray(taken)[chosen]
    low, high = measure.interval(columns[0])
    return np.linspace(low, high, n_points)


def _in_units(belief: Belief, j: int, t: Array) -> Array:
    scaling = belief.space.scaling
    result: Array = scaling.center[j] + scaling.half_width[j] * t
    return result
