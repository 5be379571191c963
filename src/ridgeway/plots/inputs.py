"""Which inputs matter, and with what weight in each direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ridgeway import draws
from ridgeway.directions import directions
from ridgeway.draws import Interval
from ridgeway.labels import labels
from ridgeway.plots.rows import rows
from ridgeway.plots.theme import BLUE, GREEN, GREY, PURPLE, VERMILLION
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief import Belief

TOP = 12  # inputs shown; the others are summed up
_COLORS = (BLUE, VERMILLION, GREEN, PURPLE, GREY)


def importance(belief: Belief, names: Sequence[str] | None = None, top: int = TOP, R: Array | None = None) -> go.Figure:
    """Share of each input in the variation with its 90 % interval, the largest first; free of rotation.

    ``R (n, d, D)`` are draws of the embedding, where they exist already.
    """
    called = labels(names, belief.X.shape[1])
    shares = draws.shares(belief, draws.embeddings(belief) if R is None else R)
    mean = shares.mean(axis=0)
    order = np.argsort(-mean, kind="stable")
    shown, rest = order[:top], shares[:, order[top:]].sum(axis=1)
    interval = Interval.of(shares[:, shown])
    axis = "share of the variation"
    if order.size > top:  # as words: their sum would squeeze the others into a corner
        axis += f"<br>({others(order.size - top)} together {rest.mean():.0%})"
    fig = rows([called[j] for j in shown], interval.mean, interval.low, interval.high, axis, percent=True)
    return fig.update_xaxes(range=[0.0, 1.05 * max(float(interval.high.max()), 1e-3)], tickformat=".2~%")


def weights(
    belief: Belief, direction: int = 0, names: Sequence[str] | None = None, top: int = TOP, R: Array | None = None
) -> go.Figure:
    """Weights of the inputs in one direction with their 90 % intervals, the largest first."""
    found = directions(belief)
    if not 0 <= direction < found.k:
        raise ValueError(f"direction must be between 0 and {found.k - 1}, got {direction}")
    called = labels(names, belief.X.shape[1])
    interval = draws.weights(found, draws.embeddings(belief) if R is None else R)
    best = found.weights[direction]
    shown = np.argsort(-np.abs(best), kind="stable")[:top]
    text = [called[j] for j in shown]
    low, high = (np.asarray(side[direction, shown]) for side in (interval.low, interval.high))
    left = best.size - shown.size
    axis = f"weight in direction {direction + 1}" + (f"<br>({others(left)} not shown)" if left else "")
    # The best estimate is a mode: with several of them it may lie outside what most draws say.
    low, high = np.minimum(low, best[shown]), np.maximum(high, best[shown])
    fig = rows(text, best[shown], low, high, axis, color=_COLORS[direction % len(_COLORS)])
    reach = 1.08 * max(float(np.abs(low).max()), float(np.abs(high).max()))
    return fig.update_xaxes(range=[-reach, reach])


def others(n: int) -> str:
    """How the inputs that are not shown are called."""
    return f"{n} other" if n == 1 else f"{n} others"
