"""The look of every figure: colours that colour-blind readers can distinguish, on light and on dark."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

# Okabe & Ito (2008), those with a contrast of at least 3:1 on white as well as on the dark page.
BLUE, VERMILLION, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#808080"
ORANGE = "#E69F00"  # of the same, behind black numbers
BAND = "rgba(213, 94, 0, 0.20)"
SCALE = "Cividis"  # looks the same to colour-blind readers, and rises in lightness
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
CHARACTERS = 36  # of a label's line: fits a phone


def template(dark: bool = False) -> go.layout.Template:
    """The plotly template, for light pages or dark ones."""
    ink, line = ("#e8e6e3", "#40464c") if dark else ("#1d2327", "#d9dde1")
    paper = "#14181c" if dark else "#ffffff"
    axis = {
        "gridcolor": line, "zerolinecolor": line, "linecolor": line, "automargin": True,
        "title": {"standoff": 8}, "zeroline": False, "exponentformat": "power",
    }  # fmt: skip
    scene = {
        "exponentformat": "power",
        "backgroundcolor": paper,
        "gridcolor": line,
        "color": ink,
        "zerolinecolor": line,
    }
    return go.layout.Template(
        layout={
            "font": {"family": FONT, "size": 13, "color": ink},
            "paper_bgcolor": paper, "plot_bgcolor": paper,
            "colorway": [BLUE, VERMILLION, GREEN, PURPLE, GREY],
            "xaxis": axis, "yaxis": axis,
            "scene": {"xaxis": scene, "yaxis": scene, "zaxis": scene},
            "margin": {"l": 56, "r": 16, "t": 16, "b": 48},
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "xanchor": "left"},
            "hoverlabel": {"font": {"family": FONT}},
            "annotationdefaults": {"bgcolor": paper},  # lines do not cross the words
        }
    )  # fmt: skip


def figure(traces: Any, height: int = 420, **layout: Any) -> go.Figure:
    """A figure in the light look."""
    return go.Figure(traces, go.Layout(template=template(), height=height, **layout))


def themed(fig: go.Figure, dark: bool) -> go.Figure:
    """The same figure on a light or a dark page."""
    return go.Figure(fig).update_layout(template=template(dark))
