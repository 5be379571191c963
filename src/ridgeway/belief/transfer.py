"""What was learned of the embedding, carried over to other data: more observations, other units, other points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from ridgeway.gp import rowspace
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import N_GLOBAL, Data
from ridgeway.gp.rowspace import RowSpace
from ridgeway.gp.scaling import InputScaling
from ridgeway.inference import line_model
from ridgeway.inference.importance_sampling import WeightedDraws
from ridgeway.inference.mixture import Component, KnownMode
from ridgeway.types import Array, Inputs


def row_space(
    X: Inputs, scaling: InputScaling, embedding: Embedding, earlier: tuple[Inputs, RowSpace] | None
) -> RowSpace:
    """The row space of ``X``, grown from that of ``earlier`` data where observations have only been added."""
    if embedding.reduction == "none":
        return rowspace.unreduced(X, scaling)
    if earlier is not None and _continues(X, scaling, *earlier):
        return rowspace.extend(earlier[1], X)
    return rowspace.reduce(X, scaling)


def _continues(X: Inputs, scaling: InputScaling, earlier: Inputs, space: RowSpace) -> bool:
    known, old = earlier.shape[0], space.scaling
    if sparse.issparse(X) or sparse.issparse(earlier) or not 0 < X.shape[0] - known <= known:
        return False
    same_units = np.array_equal(old.center, scaling.center) and np.array_equal(old.half_width, scaling.half_width)
    return bool(same_units and np.array_equal(X[:known], earlier))


def known_modes(
    components: tuple[Component, ...], old: RowSpace, posterior: Posterior, new: RowSpace
) -> tuple[KnownMode, ...]:
    """The modes of an earlier belief as modes of a new posterior of the same kind."""
    modes = []
    for c in components:
        model = line_model.model(posterior) if c.is_line else replace(posterior, embedding=c.gp.embedding)
        parameters = c.gp.embedding.transferred(c.gp.parameters, old, new)
        modes.append(KnownMode(model, np.concatenate([parameters, c.gp.theta[-N_GLOBAL:]])))
    return tuple(modes)


def spare_modes(
    population: tuple[Array, ...], old: RowSpace, posterior: Posterior, new: RowSpace
) -> tuple[KnownMode, ...]:
    """The modes that an earlier search kept, for a search that goes on from them."""
    embedding = posterior.embedding
    return tuple(
        KnownMode(
            posterior,
            np.concatenate([embedding.transferred(theta[:-N_GLOBAL], old, new), theta[-N_GLOBAL:]]),
            is_spare=True,
        )
        for theta in population
    )


def component_on(component: Component, data: Data, r: int) -> Component:
    """The same hyperparameters on other data, whose row space of ``r`` coordinates contains the old one.

    What the new points add to the row space has its prior still.
    """
    posterior = replace(component.posterior, data=data)
    theta = _padded(component, component.gp.theta[None], r)[0]
    F = _padded(component, component.factor.T, r).T
    unseen = component.gp.embedding.unseen(component.gp.data.Z.shape[1], r)
    spread = np.pad(np.sqrt(component.prior_variance) * unseen, ((0, N_GLOBAL), (0, 0)))
    return replace(component, posterior=posterior, gp=posterior.condition(theta), factor=np.hstack([F, spread]))


def draws_on(component: Component, draws: WeightedDraws, r: int) -> WeightedDraws:
    """Draws of a component's hyperparameters in a larger row space, with their weights."""
    return replace(draws, theta=_padded(component, draws.theta, r))


def _padded(component: Component, rows: Array, r: int) -> Array:
    """Rows of hyperparameters ``(n, P + 4)`` in ``r`` reduced coordinates, zero in the new ones."""
    parameters = component.gp.embedding.padded(rows[:, :-N_GLOBAL], component.gp.data.Z.shape[1], r)
    return np.hstack([parameters, rows[:, -N_GLOBAL:]])
