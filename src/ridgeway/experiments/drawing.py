"""What the paper's figures share: colours that the colour-blind can tell apart, bands, and both kinds of files."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from ridgeway import files
from ridgeway.types import Array

BLACK, BLUE, ORANGE, GREEN, PURPLE, GREY = "#000000", "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#8A8F94"
SURFACE = "cividis"  # read the same by everyone
_STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "ridgeway",  # the same figure gives the same file
}


def style() -> AbstractContextManager[None]:
    """The style that all of a figure is drawn in."""
    import matplotlib

    return matplotlib.rc_context(_STYLE)


def figure(width: float, height: float) -> Any:
    """An empty figure of so many inches, with no window behind it."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(picture: Any, folder: Path, name: str) -> list[Path]:
    """Write ``name.png`` and ``name.svg`` into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / f"{name}.{kind}" for kind in ("png", "svg")]
    for path in written:
        with files.writing(path) as temporary:
            picture.savefig(temporary, dpi=200, metadata={"Date": None} if path.suffix == ".svg" else None)
    return written


def band(ax: Any, x: Array, mean: Array, std: Array, color: str, label: str, line: str = "-") -> None:
    """Mean ± 2 standard deviations as two lines."""
    for side, name in ((2.0, label), (-2.0, None)):
        ax.plot(x, mean + side * std, color=color, linestyle=line, linewidth=1.4, label=name)


def square(n: int) -> tuple[Array, Array]:
    """``n`` by ``n`` points of ``[-1, 1]²``, ``(n², 2)``, and the values along a side."""
    side = np.linspace(-1.0, 1.0, n)
    first, second = np.meshgrid(side, side)
    return np.column_stack([first.ravel(), second.ravel()]), side


def surface(ax: Any, values: Array, cmap: str, alpha: float = 1.0) -> Any:
    """The values at the points of :func:`square` as colours."""
    n = round(np.sqrt(values.shape[0]))
    image = values.reshape(n, n)
    return ax.imshow(image, origin="lower", extent=(-1, 1, -1, 1), cmap=cmap, alpha=alpha, interpolation="bilinear")
