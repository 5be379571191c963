"""The error of predictions over a campaign, as each fit expected it, and what is expected of further experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import plotly.graph_objects as go

from ridgeway.belief.directions import UnavailableError
from ridgeway.plots.theme import BAND, BLUE, GREY, VERMILLION, figure

_WIDE = 15.0  # the largest error beside the smallest, from which on a linear scale would hide the latter


class ErrorStep(NamedTuple):
    """What is expected of predictions after ``n`` observations: the error, and an interval that holds it."""

    n: int
    error: float
    low: float
    high: float


@dataclass(frozen=True)
class ErrorCourse:
    """Expected errors of predictions in the output's units, noise not included."""

    past: tuple[ErrorStep, ...]  # the last one is now
    ahead: tuple[ErrorStep, ...] = ()
    target: float | None = None  # what is small enough
    output: str = "the response"  # with its unit
    unit: str = ""


def errors(course: ErrorCourse) -> go.Figure:
    """How far a prediction is typically off, by number of observations, with what is wanted where that is known."""
    if not course.past:
        raise UnavailableError("no fit has said yet how large the error is")
    now, ahead = course.past[-1:], course.ahead
    unit = f" {course.unit}" if course.unit else ""
    parts = [_band(course.past, "80 % interval", True), _band((*now, *ahead), "80 % interval ahead", False)]
    parts.append(_line(course.past, "so far", BLUE, unit, mode="lines+markers"))
    if ahead:
        parts.append(_line((*now, *ahead), "with more experiments", BLUE, unit, dash="dot"))
    steps = (*course.past, *ahead)
    if course.target is not None:
        parts.append(
            go.Scatter(
                x=[steps[0].n, steps[-1].n],
                y=[course.target] * 2,
                mode="lines",
                name="wanted",
                line={"color": VERMILLION, "dash": "dash"},
                hovertemplate=f"wanted: %{{y:.3g}}{unit}<extra></extra>",
            )
        )
    fig = figure(parts)
    fig.add_vline(x=now[0].n, line={"color": GREY, "width": 1})
    fig.update_xaxes(title_text="observations")
    fig.update_yaxes(title_text=f"typical error{f', {course.unit}' if course.unit else ''}")
    seen = [step.error for step in steps] + ([] if course.target is None else [course.target])
    if max(seen) > _WIDE * min(seen):
        return fig.update_yaxes(type="log", dtick="D2", tickformat="~g")
    return fig.update_yaxes(rangemode="tozero")


def _band(steps: Sequence[ErrorStep], name: str, shown: bool) -> go.Scatter:
    n = [step.n for step in steps]
    return go.Scatter(
        x=n + n[::-1], y=[s.high for s in steps] + [s.low for s in steps][::-1], fill="toself", fillcolor=BAND,
        mode="lines", line={"width": 0}, name=name, hoverinfo="skip", showlegend=shown,
    )  # fmt: skip


def _line(
    steps: Sequence[ErrorStep], name: str, color: str, unit: str, mode: str = "lines", dash: str = "solid"
) -> go.Scatter:
    return go.Scatter(
        x=[s.n for s in steps], y=[s.error for s in steps], mode=mode, line={"color": color, "dash": dash},
        marker={"color": color, "size": 6}, name=name, customdata=[[s.low, s.high] for s in steps],
        hovertemplate=f"%{{x}} observations: %{{y:.3g}}{unit} (%{{customdata[0]:.2g}} to %{{customdata[1]:.2g}})"
        "<extra></extra>",
    )  # fmt: skip
