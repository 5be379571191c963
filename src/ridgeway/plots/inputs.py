"""Which inputs matter, and with what weight in each direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ridgeway.belief import embedding_draws
from ridgeway.belief.directions import Directions, directions
from ridgeway.belief.embedding_draws import Interval
from ridgeway.names import labels
from ridgeway.plots.rows import rows
from ridgeway.plots.theme import BLUE, GREEN, GREY, PURPLE, VERMILLION
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

TOP = 12  # inputs shown; the others are summed up
_COLORS = (BLUE, VERMILLION, GREEN, PURPLE, GREY)


def importance(
    belief: Belief,
    names: Sequence[str] | None = None,
    top: int = TOP,
    R: Array | None = None,
    shares: Interval | None = None,
) -> go.Figure:
    """Share of each input in the variation with its 90 % interval, the largest first; free of rotation.

    ``R (n, d, D)`` are draws of the embedding and ``shares`` what they say of the inputs, where they have been
    computed already.
    """
    called = belief.labels if names is None else labels(names, belief.X.shape[1])
    if shares is None:
        drawn = embedding_draws.embeddings(belief) if R is None else R
        shares = embedding_draws.input_shares(belief, drawn)
    return shared(called, shares, top)


def shared(called: Sequence[str], shares: Interval, top: int = TOP) -> go.Figure:
    """Shares of inputs in the variation with their intervals, the largest first."""
    order = np.argsort(-shares.mean, kind="stable")
    shown, rest = order[:top], float(shares.mean[order[top:]].sum())
    mean, low, high = shares.mean[shown], shares.low[shown], shares.high[shown]
    axis = "share of the variation"
    if order.size > top:  # in words: their sum would squeeze the others into a corner
        axis += f"<br>({others(order.size - top)} together {rest:.0%})"
    fig = rows([called[j] for j in shown], mean, low, high, axis, percent=True)
    return fig.update_xaxes(range=[0.0, 1.05 * max(float(high.max()), 1e-3)], tickformat=".2~%")


def weights(
    belief: Belief,
    direction: int = 0,
    names: Sequence[str] | None = None,
    top: int = TOP,
    R: Array | None = None,
    found: Directions | None = None,
) -> go.Figure:
    """Weights of the inputs in one direction with their 90 % intervals, the largest first.

    The scale is the same for all directions of a belief, so that figures of them can be compared.
    ``R (n, d, D)`` are draws of the embedding and ``found`` the belief's directions, where they have been computed
    already.
    """
    found = directions(belief) if found is None else found
    if not 0 <= direction < found.k:
        raise ValueError(f"direction must be between 0 and {found.k - 1}, got {direction}")
    called = belief.labels if names is None else labels(names, belief.X.shape[1])
    interval = embedding_draws.weights(found, embedding_draws.embeddings(belief) if R is None else R)
    best = found.weights[direction]
    shown = np.argsort(-np.abs(best), kind="stable")[:top]
    text = [called[j] for j in shown]
    low, high = (np.asarray(side[direction, shown]) for side in (interval.low, interval.high))
    left = best.size - shown.size
    axis = f"weight in direction {direction + 1}" + (f"<br>({others(left)} not shown)" if left else "")
    # The best estimate is one mode of several: it may lie outside the interval that most draws are in.
    low, high = np.minimum(low, best[shown]), np.maximum(high, best[shown])
    fig = rows(text, best[shown], low, high, axis, color=_COLORS[direction % len(_COLORS)])
    reach = 1.08 * max(float(np.abs(side).max()) for side in (interval.low, interval.high, found.weights))
    return fig.update_xaxes(range=[-reach, reach])


def others(n: int) -> str:
    """What the inputs that are not shown are called."""
    return f"{n} other" if n == 1 else f"{n} others"
