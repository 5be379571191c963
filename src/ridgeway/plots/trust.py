"""How far to trust it: calibration, the subspace over a campaign, evidence for dimensions, optima."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ridgeway.belief.calibration import Calibration, calibration
from ridgeway.belief.directions import UnavailableError
from ridgeway.belief.subspace import SubspaceUncertainty, uncertainty
from ridgeway.plots.response import names_of
from ridgeway.plots.theme import BAND, BLUE, GREY, VERMILLION, figure

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

_STEPS = 60  # of a campaign that are drawn


def left_out(belief: Belief, called: Sequence[str] | None = None, found: Calibration | None = None) -> go.Figure:
    """Each observation against its prediction from all others, with 95 % intervals where it is no suspect.

    ``called`` are the names of the observations; ``found`` is the belief's calibration, where it has been computed
    already.
    """
    found = calibration(belief) if found is None else found
    low = float(min(found.observed.min(), found.mean.min()))
    high = float(max(found.observed.max(), found.mean.max()))
    equal = go.Scatter(
        x=[low, high], y=[low, high], mode="lines", line={"color": GREY, "dash": "dash"}, name="equal", hoverinfo="skip"
    )
    widths = np.where(belief.trusted, 1.96 * found.std, 0.0)
    dots = go.Scatter(
        x=found.mean, y=found.observed, mode="markers", marker={"color": BLUE, "size": 7}, name="observed",
        error_x={"type": "data", "array": widths, "color": BLUE, "thickness": 1, "width": 0},
        text=names_of(called, belief),
        hovertemplate="%{text}<br>predicted %{x:.4g}, observed %{y:.4g}<extra></extra>",
    )  # fmt: skip
    fig = figure([equal, dots])
    fig.update_xaxes(title_text="predicted from the others")
    return fig.update_yaxes(title_text="observed")


def coverage(belief: Belief, found: Calibration | None = None) -> go.Figure:
    """Share of observations inside their intervals, at several levels; inside the band is calibrated.

    ``found`` is the belief's calibration, where it has been computed already.
    """
    found = calibration(belief) if found is None else found
    band = go.Scatter(
        x=np.concatenate([found.levels, found.levels[::-1]]), y=np.concatenate([found.high, found.low[::-1]]),
        fill="toself", fillcolor=BAND, mode="lines", line={"width": 0}, name="by chance", hoverinfo="skip",
    )  # fmt: skip
    ideal = go.Scatter(
        x=found.levels, y=found.levels, mode="lines", line={"color": VERMILLION, "dash": "dash"}, name="ideal",
        hoverinfo="skip",
    )  # fmt: skip
    dots = go.Scatter(
        x=found.levels, y=found.coverage, mode="lines+markers", marker={"color": BLUE, "size": 9}, line={"color": BLUE},
        name="observed", hovertemplate="%{x:.0%} interval holds %{y:.0%}<extra></extra>",
    )  # fmt: skip
    fig = figure([band, ideal, dots])
    fig.update_xaxes(title_text="nominal level of the interval", tickformat=".0%")
    return fig.update_yaxes(title_text="observations inside", tickformat=".0%", range=[0.0, 1.03])


def subspace(history: Sequence[Belief | SubspaceUncertainty]) -> go.Figure:
    """Uncertainty of the subspace over a campaign: the largest angle between draws and the best estimate.

    ``history`` holds beliefs, or what :func:`ridgeway.belief.subspace.uncertainty` said of them, by number of
    observations. Beliefs that found no direction are left out.
    """
    steps = measured(history)
    if len(steps) < 2:
        raise UnavailableError(f"a course needs at least two beliefs with directions, got {len(steps)}")
    n = [step.n for step in steps]
    band = go.Scatter(
        x=n + n[::-1], y=[s.high for s in steps] + [s.low for s in steps][::-1], fill="toself", fillcolor=BAND,
        mode="lines", line={"width": 0}, name="90 % of draws", hoverinfo="skip",
    )  # fmt: skip
    median = go.Scatter(
        x=n, y=[s.median for s in steps], mode="lines+markers", line={"color": VERMILLION}, name="median",
        hovertemplate="%{x} observations: %{y:.0f}°<extra></extra>",
    )  # fmt: skip
    fig = figure([band, median])
    fig.update_xaxes(title_text="observations")
    return fig.update_yaxes(title_text="angle, degrees", range=[0, 92])


def measured(history: Sequence[Belief | SubspaceUncertainty]) -> list[SubspaceUncertainty]:
    """At most some dozens of steps of a campaign, evenly spread, in order."""
    steps = []
    for i in sorted({round(i) for i in np.linspace(0, len(history) - 1, min(len(history), _STEPS))}):
        step = history[i]
        try:
            steps.append(step if isinstance(step, SubspaceUncertainty) else uncertainty(step))
        except UnavailableError:
            continue
    return sorted(steps, key=lambda step: step.n)


def dimensions(belief: Belief) -> go.Figure:
    """Evidence of each number of directions beside the best, in nats; needs ``Linear("auto")``."""
    evidence = belief.diagnostics.dimension_evidence
    if not evidence:
        raise UnavailableError('only one number of directions was tried; Linear("auto") compares several')
    tried = sorted(evidence)
    best = max(evidence.values())
    below = [evidence[d] - best for d in tried]
    chosen = [d == belief.model.n_directions for d in tried]
    dots = go.Scatter(
        x=[str(d) for d in tried], y=below, mode="lines+markers+text", line={"color": GREY, "width": 1},
        text=[f"{value:.1f}" for value in below], textposition="top center", cliponaxis=False,
        marker={
            "color": [VERMILLION if c else BLUE for c in chosen], "size": [14 if c else 9 for c in chosen],
            "symbol": ["star" if c else "circle" for c in chosen],
        },
        hovertemplate="d = %{x}: %{y:.1f} nats<extra></extra>",
    )  # fmt: skip
    fig = figure(dots, height=340)
    fig.update_xaxes(title_text="number of directions d", type="category")
    lowest = min(min(below), -1.0)
    return fig.update_yaxes(title_text="nats beside the best", range=[1.08 * lowest, -0.15 * lowest])


def optima(belief: Belief) -> go.Figure:
    """Evidence of the different explanations that the searches found, the best first."""
    found = belief.diagnostics.optima
    if not found:
        raise UnavailableError("no search for modes was recorded")
    below = [value - found[0] for value in found]
    dots = go.Scatter(
        x=list(range(1, len(found) + 1)), y=below, mode="lines+markers", marker={"color": BLUE, "size": 9},
        line={"color": GREY, "width": 1}, hovertemplate="optimum %{x}: %{y:.1f} nats<extra></extra>",
    )  # fmt: skip
    fig = figure(dots, height=340)
    fig.update_xaxes(title_text="optimum, by evidence", dtick=max(1, len(found) // 12), range=[0.5, len(found) + 0.5])
    lowest = min(min(below), -1.0)
    return fig.update_yaxes(title_text="nats beside the best", range=[1.08 * lowest, -0.08 * lowest])
