"""Figure 3 of the paper: a length scale learned actively in one dimension, six steps of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import ridgeway as rw
from ridgeway.active.acquisition import bald
from ridgeway.experiments import drawing
from ridgeway.experiments.actively import learned
from ridgeway.experiments.waves import Waves
from ridgeway.types import Array

LENGTH_SCALE = 0.25  # in a domain of length 2
NOISE = 0.02
SEED = 3
FIRST, LAST = 2, 7  # observations in the first and the last panel
#: All but the length scale is known; beforehand it may be anything from a tenth of the domain to all of it.
PRIORS = rw.Priors(
    embedding_scale=2.0, log_length_scale_std=0.8, log_scale=(0.0, 0.0), log_output_scale=(0.0, 0.0),
    log_noise=(float(np.log(NOISE)), 0.0), mean=(0.0, 0.0), noise_floor=0.0,
)  # fmt: skip
GRID = np.linspace(-1.0, 1.0, 401)


def function(X: Array) -> Array:
    """A function of the model with that length scale, ``(n, 1)`` to ``(n,)``."""
    return Waves(LENGTH_SCALE, SEED)(X[:, 0])


def beliefs() -> list[rw.Belief]:
    """After each observation, each taken where the two variances disagree most."""
    start = np.array([[-0.1], [0.1]])
    return learned(function, GRID[:, None], start, LAST, rw.Isotropic(), PRIORS, bald)


def log_length_scale(belief: rw.Belief) -> tuple[float, float]:
    """Mean and standard deviation of the approximate posterior."""
    best = belief.components[0]
    return float(best.gp.theta[0]), float(np.linalg.norm(best.factor[0]))


def draw(folder: Path, results: Any = None) -> list[Path]:
    """Write the figure."""
    steps = beliefs()
    with drawing.style():
        picture = drawing.figure(7.2, 6.6)
        panels = picture.subplots(3, 2, sharex=True, sharey=True)
        for ax, belief, after in zip(panels.flat, steps, [*steps[1:], None], strict=True):
            _panel(ax, belief, after)
        for ax in panels[-1]:
            ax.set_xlabel("$x$")
        for ax in panels[:, 0]:
            ax.set_ylabel("$f(x)$")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        picture.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=8)
        return drawing.save(picture, folder, "figure3")


def _panel(ax: Any, belief: rw.Belief, after: rw.Belief | None) -> None:
    at = GRID[:, None]
    found = belief.predict(at, "mgp")
    ax.plot(GRID, function(at), color=drawing.BLACK, linewidth=1.0, label="function")
    ax.plot(GRID, found.mean, color=drawing.GREEN, linewidth=1.2, label="mean")
    drawing.band(ax, GRID, found.mean, np.sqrt(found.map_variance), drawing.GREY, "MAP ± 2 std", ":")
    drawing.band(ax, GRID, found.mean, found.std, drawing.BLUE, "MGP ± 2 std", "--")
    ax.plot(belief.X[:, 0], belief.y, "o", color=drawing.BLACK, markersize=5, label="data")
    score = bald(belief, at)
    best = GRID[np.argmax(score)] if after is None else after.X[-1, 0]
    ax.axvline(best, ymax=0.66, color=drawing.ORANGE, linewidth=1.4, label="next")
    ax.set(xlim=(-1, 1), ylim=(-4.0, 6.5), xticks=np.linspace(-1.0, 1.0, 5))
    ax.set_title(f"{belief.y.shape[0]} observations", fontsize=9)
    _inset(ax, belief)


def _inset(ax: Any, belief: rw.Belief) -> None:
    """The posterior over the log length scale; all insets share their axes."""
    inset = ax.inset_axes((0.64, 0.74, 0.34, 0.25))
    t = np.linspace(-3.2, 1.0, 300)
    mean, std = log_length_scale(belief)
    density = np.exp(-0.5 * ((t - mean) / std) ** 2) / (np.sqrt(2.0 * np.pi) * std)
    inset.fill_between(t, density, color=drawing.BLUE, alpha=0.35, linewidth=0)
    inset.plot(t, density, color=drawing.BLUE, linewidth=1.0)
    inset.axvline(np.log(LENGTH_SCALE), color=drawing.BLACK, linewidth=0.8, linestyle="--")
    inset.set(xlim=(t[0], t[-1]), ylim=(0, 4.0), yticks=[], xticks=(-3, -2, -1, 0, 1))
    inset.tick_params(labelsize=6, length=2, pad=1)
    inset.text(0.98, 0.95, "log length\nscale", fontsize=6, ha="right", va="top", transform=inset.transAxes)
