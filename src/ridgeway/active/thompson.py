"""``DrawnOutlook``: one function that the data allow, drawn with its embedding, and where it is best.

A mode of a belief is drawn by its weight, then hyperparameters around it, then a function from the process with
those: a sum of random waves from the prior, corrected to agree with a noisy observation of each outcome
(:mod:`ridgeway.gp.drawn_functions`). It costs a few matrix products a point, and so does its gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ridgeway.active.pool_coordinates import BLOCK_ROWS, PoolView
from ridgeway.belief.belief import Belief
from ridgeway.belief.belief_mixture import BeliefMixture
from ridgeway.blas import blas_threads
from ridgeway.gp.drawn_functions import Path, path
from ridgeway.gp.process import N_GLOBAL
from ridgeway.types import Array, Inputs

_ROWS = 4096  # points whose waves are summed at a time


@dataclass(frozen=True)
class ThompsonSettings:
    """How a function is drawn.

    Attributes
    ----------
    waves
        Waves of the prior's part: their sum is nearly Gaussian.
    promising
        Observations near which a search for the function's best point begins.
    """

    waves: int = 1024
    promising: int = 8


DEFAULT = ThompsonSettings()


@dataclass(frozen=True)
class DrawnPath:
    """A drawn function of scaled inputs: one of ``u = R x``."""

    R: Array  # (d, D)
    of_u: Path

    def __call__(self, X: Array) -> Array:
        """Values at scaled inputs ``X (n, D)``."""
        return self.of_u(X @ self.R.T)

    def gradient(self, X: Array) -> Array:
        """Gradients in scaled inputs, ``(n, D)``."""
        return self.of_u.slopes(X @ self.R.T) @ self.R


def drawn_path(belief: Belief, rng: np.random.Generator, settings: ThompsonSettings = DEFAULT) -> DrawnPath:
    """A function and its embedding drawn from ``belief``, outputs standardised."""
    index = int(rng.choice(len(belief.components), p=[c.weight for c in belief.components]))
    component = belief.components[index]
    theta = component.gp.theta + component.factor @ rng.standard_normal(component.factor.shape[1])
    R = belief.embedding_posterior.sample(component, theta[None, :-N_GLOBAL], rng)[0]
    gp = component.gp.at_draw(component.posterior, theta, rng)
    U = belief.space.scaling.scaled(belief.X[: gp.data.n]) @ R.T  # of many rows it goes through the first few
    return DrawnPath(R, path(gp, U, rng, settings.waves))


@dataclass(frozen=True)
class DrawnOutlook:
    """A function drawn from a mixture of beliefs; each pending point makes the next draw another one.

    ``sign`` is 1 where the least value is looked for and -1 where the largest is.
    """

    mixture: BeliefMixture
    sign: float
    seed: int = 0
    pending: Array | None = None  # (n, D)
    settings: ThompsonSettings = DEFAULT

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """The belief that the function was drawn from."""
        return (self._belief,)

    @property
    def known_inputs(self) -> Array:
        """Inputs of all observations and pending points, ``(n, D)``."""
        X = self._belief.X
        return X if self.pending is None else np.vstack([X, self.pending])

    @cached_property
    def promising(self) -> Array:
        """The observations where the drawn function is best, ``(k, D)``."""
        X = self._belief.X
        result: Array = X[np.argsort(-self.score(None, X), kind="stable")[: self.settings.promising]]
        return result

    def given(self, X: Array) -> DrawnOutlook:
        """With the points ``X (n, D)`` pending as well."""
        return replace(self, pending=X if self.pending is None else np.vstack([self.pending, X]))

    def score(self, acquisition: Any, X: Inputs) -> Array:
        """Values of the drawn function at ``X (n, D)``, larger where it is better, outputs standardised."""
        scaling = self._belief.space.scaling
        with blas_threads(self._belief.y.shape[0]):
            parts = [self._path(scaling.scaled(X[i : i + _ROWS])) for i in range(0, X.shape[0], _ROWS)]
        return -self.sign * np.concatenate([np.zeros(0), *parts])

    def score_with_gradient(self, acquisition: Any, X: Array) -> tuple[Array, Array]:
        """The same of a few points, and their gradients ``(n, D)``."""
        scaling = self._belief.space.scaling
        scaled = scaling.scaled(X)
        with blas_threads(self._belief.y.shape[0]):
            return -self.sign * self._path(scaled), -self.sign * self._path.gradient(scaled) / scaling.half_width

    def pool_scores(self, acquisition: Any, view: PoolView) -> Array:
        """Scores of every point of a pool, ``(M,)``."""
        return np.concatenate([self.score(acquisition, points) for _, points in view.pool.blocks(BLOCK_ROWS)])

    @cached_property
    def _drawn(self) -> tuple[Belief, DrawnPath]:
        n_pending = 0 if self.pending is None else self.pending.shape[0]
        rng = np.random.default_rng([self.seed, n_pending])
        belief = self.mixture.beliefs[int(rng.choice(len(self.mixture.beliefs), p=self.mixture.weights))]
        with blas_threads(belief.y.shape[0]):
            return belief, drawn_path(belief, rng, self.settings)

    @property
    def _belief(self) -> Belief:
        return self._drawn[0]

    @property
    def _path(self) -> DrawnPath:
        return self._drawn[1]
