"""Main effects: how the output changes with one input, averaged over all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway import checks
from ridgeway.belief import measures
from ridgeway.belief.averages import Drawing, average
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief


@dataclass(frozen=True)
class Effect:
    """``E[f | x_j]`` over the range of one input, in the user's units, with a band."""

    label: str
    x: Array  # (m,)
    mean: Array  # (m,)
    low: Array
    high: Array
    level: float


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
    columns = [measures.index(belief, name) for name in names]
    measure = measures.independent(belief, over, "an effect")
    n_points = checks.count(n_points, "n_points", 2)
    how = average(belief, measure, drawing, "an effect")
    scaling = belief.space.scaling
    at: list[Array] = [np.linspace(low, high, n_points) for low, high in map(measure.interval, columns)]
    curves = how.over_draws(
        measure,
        lambda drawn, output: np.stack(
            [output.mean(drawn.main_effect(j, t)) for j, t in zip(columns, at, strict=True)]
        ),
    )
    bands = how.estimate(curves)
    result = []
    for j, t, mean, low, high in zip(columns, at, bands.mean, bands.low, bands.high, strict=True):
        x = scaling.center[j] + scaling.half_width[j] * t
        result.append(Effect(belief.labels[j], x, mean, low, high, how.level))
    return result
