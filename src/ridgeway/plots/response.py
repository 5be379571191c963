"""Sufficient summary plots: observations and the predictive mean over the learned directions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from ridgeway.belief.directions import Directions, directions
from ridgeway.belief.response_surface import Grid, coordinates, grid, line
from ridgeway.names import marked_up
from ridgeway.plots.theme import BAND, BLUE, CHARACTERS, SCALE, VERMILLION, figure
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

_PAIRS = 3  # directions of which pairs are shown
_GRID = 40
_ROOM = 24  # characters for which there is room beside a scale of colours or a surface


def response(
    belief: Belief,
    output: str = "response",
    called: Sequence[str] | None = None,
    found: Directions | None = None,
) -> go.Figure:
    """Observations over the learned directions with the predictive mean.

    One direction: a curve with the band that holds 95 % of ``f``; two: contours; more: every pair of the
    first three. ``output`` is what was measured, ``called`` the names of the observations; ``found`` are the
    belief's directions, where they have been computed already.
    """
    found = directions(belief) if found is None else found
    if found.k == 1:
        return _curve(found, belief, output, called)
    if found.k == 2:
        return contour(belief, output=output, called=called, found=found)
    return pairs(belief, output, called, found)


def _curve(found: Directions, belief: Belief, output: str, called: Sequence[str] | None) -> go.Figure:
    u = coordinates(found, belief)[:, 0]
    along = line(found, belief)
    low, high = along.mean - 1.96 * along.std, along.mean + 1.96 * along.std
    band = go.Scatter(
        x=np.concatenate([along.u, along.u[::-1]]), y=np.concatenate([high, low[::-1]]), fill="toself", fillcolor=BAND,
        mode="lines", line={"width": 0}, hoverinfo="skip", name="95 % of f",
    )  # fmt: skip
    mean = go.Scatter(x=along.u, y=along.mean, line={"color": VERMILLION, "width": 2.5}, name="mean")
    fig = figure([band, mean, _observations(u, belief, called)])
    fig.update_xaxes(title_text="direction 1")
    return fig.update_yaxes(title_text=marked_up(output, CHARACTERS))


def contour(
    belief: Belief,
    first: int = 0,
    second: int = 1,
    output: str = "response",
    called: Sequence[str] | None = None,
    found: Directions | None = None,
) -> go.Figure:
    """Predictive mean as contours over two directions, observations as dots of the same colours."""
    found = _at_least_two(belief, found)
    at, values = coordinates(found, belief), grid(found, belief, first, second, _GRID)
    low, high = _limits(values, belief)
    colors = {"colorscale": SCALE, "zmin": low, "zmax": high}
    mean = go.Contour(
        x=values.u, y=values.v, z=values.mean, **colors, ncontours=16, line={"width": 0.5},
        colorbar={**_bar(output), "len": 0.95}, name="mean",
        hovertemplate="%{x:.2f}, %{y:.2f}: %{z:.3g}<extra>mean</extra>",
    )  # fmt: skip
    fig = figure([mean, _dots(at[:, first], at[:, second], belief, low, high, called)], height=460)
    fig.update_layout(showlegend=False)
    fig.update_xaxes(title_text=f"direction {first + 1}", showgrid=False)
    return fig.update_yaxes(title_text=f"direction {second + 1}", showgrid=False)


def surface(
    belief: Belief, first: int = 0, second: int = 1, output: str = "response", found: Directions | None = None
) -> go.Figure:
    """Predictive mean as a surface that can be turned, with the observations."""
    found = _at_least_two(belief, found)
    at, values = coordinates(found, belief), grid(found, belief, first, second, _GRID)
    low, high = _limits(values, belief)
    mean = go.Surface(
        x=values.u, y=values.v, z=values.mean, colorscale=SCALE, cmin=low, cmax=high, opacity=0.92, showscale=False,
        hovertemplate="%{x:.2f}, %{y:.2f}: %{z:.3g}<extra>mean</extra>",
    )  # fmt: skip
    dots = go.Scatter3d(
        x=at[:, first], y=at[:, second], z=belief.y, mode="markers", marker={"size": 3, "color": VERMILLION},
        hovertemplate="%{x:.2f}, %{y:.2f}: %{z:.3g}<extra>observed</extra>",
    )  # fmt: skip
    fig = figure([mean, dots], height=480)
    titles = (f"direction {first + 1}", f"direction {second + 1}", _short(output))
    axes: dict[str, Any] = {
        f"{name}axis": {"title": {"text": text}, "nticks": 5} for name, text in zip("xyz", titles, strict=True)
    }
    camera = {"eye": {"x": 1.6, "y": -1.75, "z": 1.0}}
    return fig.update_layout(
        scene={**axes, "camera": camera, "aspectmode": "cube"},
        showlegend=False,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
    )


def pairs(
    belief: Belief,
    output: str = "response",
    called: Sequence[str] | None = None,
    found: Directions | None = None,
) -> go.Figure:
    """Every pair of the first three directions, one above the other, so that a phone can show them."""
    found = _at_least_two(belief, found)
    couples = list(combinations(range(min(found.k, _PAIRS)), 2))
    at = coordinates(found, belief)
    grids = [grid(found, belief, first, second, _GRID) for first, second in couples]
    limits = np.array([_limits(values, belief) for values in grids])
    low, high = float(limits[:, 0].min()), float(limits[:, 1].max())  # the same for all: there is one scale of colours
    fig = figure(None, height=330 * len(couples), showlegend=False)
    step = 1.0 / len(couples)
    for i, (values, (first, second)) in enumerate(zip(grids, couples, strict=True)):
        axes = {"xaxis": "x" if i == 0 else f"x{i + 1}", "yaxis": "y" if i == 0 else f"y{i + 1}"}
        fig.add_trace(
            go.Contour(
                x=values.u, y=values.v, z=values.mean, colorscale=SCALE, zmin=low, zmax=high, line={"width": 0.5},
                showscale=i == 0, colorbar=_bar(output), **axes,
            )
        )  # fmt: skip
        fig.add_trace(_dots(at[:, first], at[:, second], belief, low, high, called).update(axes))
        top = 1.0 - i * step
        fig.update_layout({
            f"xaxis{i + 1 if i else ''}": {"title": {"text": f"direction {first + 1}"}, "anchor": axes["yaxis"]},
            f"yaxis{i + 1 if i else ''}": {
                "title": {"text": f"direction {second + 1}"}, "anchor": axes["xaxis"],
                "domain": [top - step + (0.06 if len(couples) > 1 else 0.0), top],
            },
        })  # fmt: skip
    return fig


def _at_least_two(belief: Belief, found: Directions | None) -> Directions:
    found = directions(belief) if found is None else found
    if found.k < 2:
        raise ValueError("belief must use at least two directions, got one: use response()")
    return found


def _limits(values: Grid, belief: Belief) -> tuple[float, float]:
    y = belief.y[belief.trusted]  # one outlier would leave a single colour to all others
    return float(min(values.mean.min(), y.min())), float(max(values.mean.max(), y.max()))


def _bar(output: str) -> dict[str, Any]:
    return {"title": {"text": _short(output), "side": "right"}, "thickness": 12}


def _short(output: str) -> str:
    """What was measured, by another name where its own would squeeze the picture."""
    return marked_up(output, _ROOM) if len(output) <= _ROOM else "response"


def names_of(called: Sequence[str] | None, belief: Belief) -> list[str]:
    """What each observation of a belief is called where a pointer rests on it."""
    names = [f"observation {i + 1}" for i in range(belief.y.shape[0])] if called is None else list(called)
    return [name if ok else f"{name} (suspected outlier)" for name, ok in zip(names, belief.trusted, strict=True)]


def _observations(u: Array, belief: Belief, called: Sequence[str] | None) -> go.Scatter:
    symbols = np.where(belief.trusted, "circle", "x").tolist()
    return go.Scatter(
        x=u, y=belief.y, mode="markers", marker={"color": BLUE, "size": 7, "symbol": symbols}, name="observed",
        text=names_of(called, belief),
        hovertemplate="%{text}<br>%{x:.2f}: %{y:.4g}<extra></extra>",
    )  # fmt: skip


def _dots(u: Array, v: Array, belief: Belief, low: float, high: float, called: Sequence[str] | None) -> go.Scatter:
    # Where the fit agrees, a dot has the colour of the ground: its edge is white on dark colours, black on light ones.
    edges = np.where(belief.y < 0.5 * (low + high), "#ffffff", "#000000").tolist()
    return go.Scatter(
        x=u, y=v, mode="markers", name="observed",
        text=[f"{name}: {value:.4g}" for name, value in zip(names_of(called, belief), belief.y, strict=True)],
        marker={
            "color": belief.y, "colorscale": SCALE, "cmin": low, "cmax": high, "size": 9,
            "symbol": np.where(belief.trusted, "circle", "x").tolist(),
            "line": {"width": 2, "color": edges}, "showscale": False,
        },
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip
