"""Figure 1 of the paper: a function of two inputs that varies along one direction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ridgeway.experiments import drawing
from ridgeway.experiments.waves import Waves
from ridgeway.types import Array

EMBEDDING = np.array([[1.5, 0.7]])  # R (1, 2)
WAVES = Waves(length_scale=1.0, seed=3)


def function(X: Array, g: Waves = WAVES) -> Array:
    """``f(x) = g(x Rᵀ)`` at ``X (n, 2)``, with ``g`` drawn from the model."""
    return g((X @ EMBEDDING.T)[:, 0])


def lines() -> list[Array]:
    """What the caption calls the thick black lines, each ``(n, 2)``: searching over any of them is enough.

    The first joins the corners at which ``u`` is smallest and largest, within the box; the second follows
    ``R`` as far as ``u`` goes.
    """
    t = np.linspace(-1.0, 1.0, 401)[:, None]
    along = EMBEDDING / np.sum(EMBEDDING**2) * np.sum(np.abs(EMBEDDING))
    return [t * np.sign(EMBEDDING), t * along]


def draw(folder: Path, results: Any = None) -> list[Path]:
    """Write the figure; there is nothing to compute."""
    X, _ = drawing.square(201)
    with drawing.style():
        picture = drawing.figure(4.6, 3.5)
        ax = picture.subplots()
        filled = drawing.surface(ax, function(X), drawing.SURFACE)
        ax.plot([-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1], color=drawing.BLACK, linewidth=1.0)
        for line in lines():
            ax.plot(*line.T, color=drawing.BLACK, linewidth=3.5, solid_capstyle="round")
        ax.annotate("$R$", lines()[1][-1], textcoords="offset points", xytext=(6, 2), fontsize=12)
        ax.annotate("domain", (-1.0, 1.0), textcoords="offset points", xytext=(0, 4))
        ax.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal", xlim=(-1.45, 1.5), ylim=(-1.15, 1.25))
        picture.colorbar(filled, ax=ax, label="$f(x)$", shrink=0.72)
        return drawing.save(picture, folder, "figure1")
