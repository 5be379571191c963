"""Draws the picture of the README and the documentation; run with ``make picture``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from plotly.subplots import make_subplots

import ridgeway as rw
from ridgeway import plots

HERE = Path(__file__).parent


def main() -> None:
    """Fit the demonstration's function and draw what was found."""
    f = rw.testfunctions.from_model(20, 2, random_state=2)
    X = f.sample(80, 0)
    belief = rw.fit(X, f(X) + 0.1 * np.random.default_rng(0).standard_normal(80), rw.Linear(2))
    contour, shares = plots.response(belief), plots.importance(belief, top=8)
    fig = make_subplots(cols=2, column_widths=[0.6, 0.4], horizontal_spacing=0.2)
    for trace in contour.data:
        fig.add_trace(trace, row=1, col=1)
    fig.data[0].colorbar.update(x=0.49, title="response")
    dots = shares.data[0]
    fig.add_trace(dots.update(y=list(dots.text), hovertemplate=None), row=1, col=2)
    fig.update_layout(
        template=plots.template(), showlegend=False, height=400, margin={"l": 60, "r": 16, "t": 16, "b": 48}
    )
    fig.update_xaxes(title_text="direction 1", row=1, col=1)
    fig.update_yaxes(title_text="direction 2", row=1, col=1)
    fig.update_xaxes(title_text=shares.layout.xaxis.title.text, tickformat=".0%", row=1, col=2)
    fig.update_yaxes(autorange="reversed", row=1, col=2)
    plots.save(fig, HERE / "found.png", width=900, height=400)


if __name__ == "__main__":
    main()
