"""How a search for the best point went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ridgeway.names import marked_up
from ridgeway.plots.theme import BLUE, CHARACTERS, VERMILLION, figure
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.active.goals import Goal

_BENDS = 30.0  # times the spread of the better half, from which far worse outcomes would hide the others


def outcomes(y: Array, called: Sequence[str] | None = None, output: str = "outcome") -> go.Figure:
    """Outcomes ``y (n,)`` in their order; ``called`` are their names, ``output`` what was measured, with its unit."""
    n = np.arange(1, len(y) + 1)
    dots = go.Scatter(
        x=n, y=np.asarray(y, dtype=float), mode="markers", marker={"color": BLUE, "size": 7}, name="outcome",
        text=[f"observation {i}" for i in n] if called is None else list(called),
        hovertemplate="%{text}<br>%{y:.4g}<extra></extra>",
    )  # fmt: skip
    fig = figure(dots, height=340)
    fig.update_xaxes(title_text="experiment")
    return fig.update_yaxes(title_text=marked_up(output, CHARACTERS))


def best_so_far(y: Array, goal: Goal, called: Sequence[str] | None = None, output: str = "outcome") -> go.Figure:
    """Outcomes ``y (n,)`` in their order, and the best so far; far worse ones are cut off.

    ``called`` are the names of the observations, ``output`` is what was measured, with its unit.
    """
    y = np.asarray(y, dtype=float)
    best = np.maximum.accumulate(y) if goal == "maximize" else np.minimum.accumulate(y)
    fig = outcomes(y, called, output)
    fig.add_trace(
        go.Scatter(
            x=np.arange(1, len(y) + 1), y=best, mode="lines", line={"color": VERMILLION, "shape": "hv"},
            name="best so far", hoverinfo="skip",
        )
    )  # fmt: skip
    middle, top = float(np.median(y)), float(best[-1])
    reach = 3.0 * abs(middle - top)
    if reach > 0 and np.ptp(y) > _BENDS * abs(middle - top):
        fig.update_yaxes(range=sorted((top - 0.1 * (middle - top), top + np.sign(middle - top) * reach)))
    return fig.update_layout(height=420)
