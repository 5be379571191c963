"""How a search for the best point went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ridgeway.plots.theme import BLUE, VERMILLION, figure
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.active.goals import Goal

_BENDS = 30.0  # times the spread of the better half, from which far worse outcomes would hide the others


def best_so_far(y: Array, goal: Goal, called: Sequence[str] | None = None) -> go.Figure:
    """Outcomes ``y (n,)`` in their order, and the best so far; far worse ones are cut off.

    ``called`` are the names of the observations.
    """
    y = np.asarray(y, dtype=float)
    n = np.arange(1, y.shape[0] + 1)
    best = np.maximum.accumulate(y) if goal == "maximize" else np.minimum.accumulate(y)
    dots = go.Scatter(
        x=n, y=y, mode="markers", marker={"color": BLUE, "size": 7}, name="outcome",
        text=[f"observation {i}" for i in n] if called is None else list(called),
        hovertemplate="%{text}<br>%{y:.4g}<extra></extra>",
    )  # fmt: skip
    line = go.Scatter(
        x=n, y=best, mode="lines", line={"color": VERMILLION, "shape": "hv"}, name="best so far", hoverinfo="skip"
    )
    fig = figure([dots, line])
    middle, top = float(np.median(y)), float(best[-1])
    reach = 3.0 * abs(middle - top)
    if reach > 0 and np.ptp(y) > _BENDS * abs(middle - top):
        fig.update_yaxes(range=sorted((top - 0.1 * (middle - top), top + np.sign(middle - top) * reach)))
    fig.update_xaxes(title_text="experiment")
    return fig.update_yaxes(title_text="outcome")
