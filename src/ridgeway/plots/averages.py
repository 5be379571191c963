"""What follows from a belief: Sobol indices, main effects, and the output's distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ridgeway.belief.estimates import percent
from ridgeway.names import marked_up
from ridgeway.plots.inputs import TOP, others
from ridgeway.plots.rows import rows
from ridgeway.plots.theme import BAND, BLUE, CHARACTERS, VERMILLION, figure

if TYPE_CHECKING:
    from ridgeway.belief.effects import Effect
    from ridgeway.belief.output_distribution import OutputDistribution
    from ridgeway.belief.sensitivity import Sensitivity


def sensitivity(found: Sensitivity, top: int = TOP) -> go.Figure:
    """Total Sobol indices with their intervals, the largest first, and first-order indices as crosses."""
    shown = found.ranking[:top]
    total, level = found.total, percent(found.level)
    left = len(found.labels) - len(shown)
    axis = "share of the variance" + (f"<br>({others(left)} not shown)" if left else "")
    fig = rows(
        [found.labels[j] for j in shown], total.mean[shown], total.low[shown], total.high[shown], axis, level=level
    )
    fig.data[0].update(name="total", showlegend=True)
    crosses = go.Scatter(
        x=found.first.mean[shown], y=fig.data[0].y, mode="markers", name="first order",
        marker={"color": VERMILLION, "symbol": "x-thin", "size": 9, "line": {"color": VERMILLION, "width": 2}},
        hovertemplate="first order %{x:.3f}<extra></extra>",
    )  # fmt: skip
    fig.add_trace(crosses)
    fig.update_layout(height=fig.layout.height + 24, margin={"t": 30})
    return fig.update_xaxes(range=[-0.02, 1.05 * max(float(total.high[shown].max()), 0.05)])


def effect(found: Effect, output: str = "response") -> go.Figure:
    """The main effect of one input with its band, or of each level of a category with its interval."""
    if found.words:
        axis = marked_up(output, CHARACTERS)
        fig = rows(found.words, found.mean, found.low, found.high, axis, level=percent(found.level))
        return fig.update_xaxes(zeroline=False)
    band = go.Scatter(
        x=np.concatenate([found.x, found.x[::-1]]), y=np.concatenate([found.high, found.low[::-1]]), fill="toself",
        fillcolor=BAND, mode="lines", line={"width": 0}, name=percent(found.level), hoverinfo="skip",
    )  # fmt: skip
    line = go.Scatter(
        x=found.x, y=found.mean, mode="lines", line={"color": VERMILLION, "width": 2}, name="mean over the others",
        hovertemplate="%{x:.4g}: %{y:.4g}<extra></extra>",
    )  # fmt: skip
    fig = figure([band, line], height=320)
    fig.update_xaxes(title_text=marked_up(found.label, CHARACTERS))
    return fig.update_yaxes(title_text=marked_up(output, CHARACTERS))


def distribution(found: OutputDistribution, output: str = "response", bins: int = 40) -> go.Figure:
    """The output's density, with its mean and the quantiles of 5 and 95 %."""
    edges, density = found.density(bins)
    bars = go.Bar(
        x=0.5 * (edges[1:] + edges[:-1]), y=density, width=np.diff(edges), marker={"color": BLUE, "line": {"width": 0}},
        name="density", hovertemplate="%{x:.4g}<extra></extra>", showlegend=False,
    )  # fmt: skip
    fig = figure(bars, height=320, bargap=0)
    marks = [("mean", found.mean), ("5 %", found.quantile(0.05)), ("95 %", found.quantile(0.95))]
    middle = 0.5 * (edges[0] + edges[-1])
    for text, estimate in marks:
        at, dash = float(estimate.mean), "solid" if text == "mean" else "dash"
        inwards = "top right" if at < middle else "top left"
        line = {"color": VERMILLION, "dash": dash}
        fig.add_vline(at, line=line, annotation_text=text, annotation_position=inwards)
    fig.update_xaxes(title_text=marked_up(output, CHARACTERS))
    return fig.update_yaxes(title_text="density", rangemode="tozero")
