"""Pictures in files: PNG, SVG or PDF."""

from __future__ import annotations

from pathlib import Path

import plotly.graph_objects as go

from ridgeway.plots.theme import themed

FORMATS = (".png", ".svg", ".pdf")


def save(fig: go.Figure, path: str | Path, width: int = 800, height: int | None = None, dark: bool = False) -> Path:
    """Write a figure to a ``.png``, ``.svg`` or ``.pdf`` file; needs the extra ``static`` and Chromium or Chrome."""
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"path must end in {', '.join(FORMATS)}, got {path.name!r}")
    try:
        import kaleido  # noqa: F401 - plotly looks for it and says less about how to get it
    except ImportError as error:
        raise ImportError("static pictures need kaleido: pip install 'ridgeway[static]'") from error
    fig = themed(fig, dark)
    fig.write_image(path, width=width, height=height or fig.layout.height or 420, scale=2)
    return path
