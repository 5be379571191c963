"""The process at hyperparameters drawn from a belief: embedding, scales and noise together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ridgeway.blas import blas_threads
from ridgeway.gp.kernel_means import Rows
from ridgeway.gp.process import ConditionedGP
from ridgeway.inference import importance_sampling
from ridgeway.inference.mixture import Component
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

_WORK = 4e9  # multiply-adds of factorisations to spend on proposals
_MOST, _LEAST = 2048, 64  # proposals: of a Gaussian around a mode few are likely where there are many parameters
_EACH = 16  # proposals for every draw


class ProcessDraw(NamedTuple):
    """A process, and how inputs mapped to [-1, 1] become its coordinates."""

    gp: ConditionedGP
    rows: Rows
    U: Array  # (N, k) the data


def at_modes(belief: Belief) -> list[ProcessDraw]:
    """The process at each mode, in the order of the belief's components."""
    return [_drawn(belief, c, c.gp.condensed(), None) for c in belief.components]


def draws(belief: Belief, n: int, rng: np.random.Generator) -> list[ProcessDraw]:
    """``n`` draws of equal weight; beyond what the data span a linear embedding varies as under its prior."""
    shares = np.array([c.weight for c in belief.components])
    counts = np.diff(np.floor(np.concatenate([[0.0], np.cumsum(shares)]) * n + rng.uniform()).astype(int))
    result = []
    with blas_threads(belief.y.shape[0]):
        for i, (component, count) in enumerate(zip(belief.components, counts, strict=True)):
            for theta in _thetas(belief, i, int(count), rng):
                result.append(_drawn(belief, component, component.gp.at_draw(component.posterior, theta, rng), rng))
    return result


def _thetas(belief: Belief, i: int, n: int, rng: np.random.Generator) -> Array:
    """Hyperparameters around one mode, resampled in proportion to the exact posterior."""
    component = belief.components[i]
    if n == 0:
        return np.zeros((0, component.gp.theta.shape[0]))
    if belief.diagnostics.waves:  # with so many rows the posterior is the Gaussian
        return component.gp.theta + rng.standard_normal((n, component.factor.shape[1])) @ component.factor.T
    if belief.draws is not None:
        weighted = belief.draws[i]
    else:
        affordable = 3.0 * _WORK / max(belief.y.shape[0], 1) ** 3
        proposals = int(np.clip(min(affordable, _EACH * n), _LEAST, _MOST))
        weighted = importance_sampling.draw(component.posterior, component.gp.theta, component.factor, proposals, rng)
    at = (np.arange(n) + rng.uniform()) / n
    chosen = np.minimum(np.searchsorted(np.cumsum(weighted.weights), at), weighted.weights.shape[0] - 1)
    return weighted.theta[chosen]


def _drawn(belief: Belief, component: Component, gp: ConditionedGP, rng: np.random.Generator | None) -> ProcessDraw:
    space, embedding = belief.space, gp.embedding
    if not embedding.has_directions:
        scale = np.broadcast_to(np.exp(-gp.parameters), (space.scaling.D,))
        rows = Rows(np.ascontiguousarray(scale))
        return ProcessDraw(gp, rows, rows.project(space.scaling.scaled(belief.X)))
    R = embedding.matrix(gp.parameters, space)
    if space.rows is not None and rng is not None:
        prior = np.sqrt(component.prior_variance) * rng.standard_normal(R.shape)
        R = R + prior - space.lift(space.restrict(prior))
    return ProcessDraw(gp, Rows(R), gp.U)
