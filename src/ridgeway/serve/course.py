"""The course of a campaign: its outcomes in their order, and what each experiment was expected to teach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ridgeway import plots
from ridgeway.belief.directions import UnavailableError
from ridgeway.campaign.belief_chain import observed
from ridgeway.campaign.outputs import Output
from ridgeway.campaign.trial import Trial
from ridgeway.plots.theme import BLUE, figure
from ridgeway.report.content import Picture, Section, picture


def course(output: Output, trials: Sequence[Trial], further: Sequence[Picture] = ()) -> Section:
    """Pictures that need no fit, and ``further`` ones."""
    drawn = [
        *further,
        picture("outcomes", "Outcomes", "Each outcome, in the order they came.", lambda: _outcomes(output, trials)),
    ]
    if output.goal == "learn":  # else experiments were chosen for what they might improve
        words = "What was expected of each experiment when it was chosen; where it is small, little is left to learn."
        drawn.append(
            picture("expected", "What each experiment was expected to teach", words, lambda: _expected(trials))
        )
    return Section("course", "The campaign so far", "", tuple(drawn))


def _outcomes(output: Output, trials: Sequence[Trial]) -> go.Figure:
    seen = observed(trials, output.name)
    if not seen:
        raise UnavailableError("there are no outcomes yet")
    values, called = np.array([t.values[output.name] for t in seen]), [f"trial {t.id}" for t in seen]
    if output.goal == "learn":
        return plots.outcomes(values, called, output.label)
    return plots.best_so_far(values, "maximize" if output.goal == "maximize" else "minimize", called, output.label)


def _expected(trials: Sequence[Trial]) -> go.Figure:
    chosen = [trial for trial in trials if trial.expected is not None]
    if not chosen:
        raise UnavailableError("no experiment was chosen by the model yet: the first ones fill the space")
    dots = go.Scatter(
        x=[trial.id for trial in chosen], y=[trial.expected for trial in chosen], mode="lines+markers",
        marker={"color": BLUE, "size": 7}, line={"color": BLUE, "width": 1},
        hovertemplate="trial %{x}: %{y:.3f} nats<extra></extra>",
    )  # fmt: skip
    fig = figure(dots, height=340)
    fig.update_xaxes(title_text="trial")
    return fig.update_yaxes(title_text="expected information, nats", rangemode="tozero")
