"""Rows of estimates with intervals, each under its label, so that long labels never squeeze the picture."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from ridgeway.names import lines, marked_up
from ridgeway.plots.theme import BLUE, CHARACTERS, GREY, figure
from ridgeway.types import Array

_LINE = 16  # pixels of a line of label
_BAR = 16  # pixels of the interval under it
_GAP = 14  # pixels between an interval and the next label
_EDGES = 72  # pixels of axis and margins


def rows(
    labels: Sequence[str], best: Array, low: Array, high: Array, axis: str, percent: bool = False,
    color: str = BLUE, hover: Sequence[str] | None = None, level: str = "90 %",
) -> go.Figure:  # fmt: skip
    """Dots with intervals, the first row on top; ``best``, ``low`` and ``high`` are ``(n,)``."""
    heights = [_LINE * len(lines(label, CHARACTERS)) + _BAR + _GAP for label in labels]
    tops = [-sum(heights[:i]) for i in range(len(labels))]
    middles = [top - height + _GAP + 0.5 * _BAR for top, height in zip(tops, heights, strict=True)]
    form = ".1%" if percent else ".3f"
    dots = go.Scatter(
        x=best, y=middles, mode="markers", marker={"color": color, "size": 9}, showlegend=False,
        error_x={
            "type": "data", "symmetric": False, "array": high - best, "arrayminus": best - low, "color": color,
            "thickness": 2, "width": 5,
        },
        text=list(hover or labels), customdata=list(zip(low, high, strict=True)),
        hovertemplate=f"%{{text}}<br>%{{x:{form}}} ({level}: %{{customdata[0]:{form}}} to %{{customdata[1]:{form}}})"
        "<extra></extra>",
    )  # fmt: skip
    names = [
        {
            "x": 0, "xref": "paper", "xanchor": "left", "y": top, "yanchor": "top", "align": "left",
            "text": marked_up(label, CHARACTERS), "showarrow": False, "font": {"size": 12}, "borderpad": 0,
        }
        for label, top in zip(labels, tops, strict=True)
    ]  # fmt: skip
    fig = figure(dots, height=sum(heights) + _EDGES, annotations=names)
    fig.update_yaxes(visible=False, range=[-sum(heights) - 4, 4], fixedrange=True)
    fig.update_xaxes(title_text=axis, tickformat=".0%" if percent else None, zeroline=True, zerolinecolor=GREY)
    return fig.update_layout(margin={"l": 16, "r": 16, "t": 6, "b": 58})
