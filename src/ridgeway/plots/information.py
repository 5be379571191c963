"""What experiments would teach, over the learned directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ridgeway.active.scored_points import ScoredPoints, of_belief
from ridgeway.belief.directions import Directions, directions
from ridgeway.belief.response_surface import coordinates
from ridgeway.plots.theme import BLUE, ORANGE, SCALE, figure
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief


def information(
    belief: Belief,
    candidates: ScoredPoints | None = None,
    suggested: ScoredPoints | None = None,
    found: Directions | None = None,
    what: str = "expected information",
    unit: str = "nats",
) -> go.Figure:
    """Expected information of candidates over the first directions; suggestions stand out with their numbers.

    ``candidates`` are by default uniform in the belief's box, scored by BALD; ``found`` are the belief's directions,
    where they have been computed already. ``what`` and ``unit`` say what other scores are.
    """
    found = directions(belief) if found is None else found
    shown = of_belief(belief) if candidates is None else candidates
    at = coordinates(found, belief, shown.X)
    plan = None if suggested is None else coordinates(found, belief, suggested.X)
    fig = figure(None, height=420)
    if found.k == 1:
        fig.add_trace(_plain(at[:, 0], shown.scores, unit))
        if plan is not None and suggested is not None:
            fig.add_trace(_numbered(plan[:, 0], np.nan_to_num(suggested.scores, nan=0.0)))
        fig.update_yaxes(title_text=f"{what}, {unit}" if unit else what)
    else:
        fig.add_trace(_coloured(at[:, 0], at[:, 1], shown.scores, unit))
        if plan is not None:
            fig.add_trace(_numbered(plan[:, 0], plan[:, 1]))
        fig.update_yaxes(title_text="direction 2")
    return fig.update_xaxes(title_text="direction 1")


def _plain(u: Array, scores: Array, unit: str) -> go.Scatter:
    return go.Scatter(
        x=u, y=scores, mode="markers", marker={"color": BLUE, "size": 5}, name="candidates",
        hovertemplate="%{y:.3g} " + unit + "<extra></extra>",
    )  # fmt: skip


def _coloured(u: Array, v: Array, scores: Array, unit: str) -> go.Scatter:
    return go.Scatter(
        x=u, y=v, mode="markers", name="candidates", text=[f"{value:.3g} {unit}".strip() for value in scores],
        marker={
            "color": scores, "colorscale": SCALE, "size": 7,
            "colorbar": {"title": {"text": unit, "side": "right"}, "thickness": 12},
        },
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip


def _numbered(u: Array, v: Array) -> go.Scatter:
    return go.Scatter(
        x=u, y=v, mode="markers+text", name="next", text=[str(i + 1) for i in range(u.shape[0])],
        textfont={"color": "#000000", "size": 12}, cliponaxis=False,
        marker={"color": ORANGE, "size": 20, "line": {"width": 1.5, "color": "#000000"}},
        hovertemplate="suggestion %{text}<extra></extra>",
    )  # fmt: skip
