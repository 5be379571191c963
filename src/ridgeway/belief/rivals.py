"""Rivals of a linear embedding: the same data with a length scale for each input, or one for all.

Where the function does not depend on a few combinations of inputs, these explain it better, and the evidence says so.
Averages over a belief and its rivals, weighed by evidence, hold what the embedding misses.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ridgeway.errors import NumericalError, RidgewayWarning
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.length_scales import Diagonal, Isotropic
from ridgeway.inference.mixture import tempered
from ridgeway.inference.settings import DEFAULT

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

_WORK = 4e9  # multiply-adds of one Hessian, beyond which a length scale for each input takes too long
_LEAST_WEIGHT = 0.01


class Weighed(NamedTuple):
    """A belief, and its weight among its rivals."""

    belief: Belief
    weight: float


def fitted(belief: Belief) -> tuple[Belief, ...]:
    """The rivals of a belief on the same data, those that can be fitted in reasonable time."""
    return tuple(found for model in _models(belief) if (found := _fit(belief, model)) is not None)


def weighed(belief: Belief, rivals: tuple[Belief, ...]) -> list[Weighed]:
    """A belief and its rivals by evidence, those that count."""
    everyone = [belief, *rivals]
    evidence = np.array([one.log_evidence for one in everyone])
    weights = tempered(evidence, DEFAULT.mixture.temperature)
    weights = np.where(weights >= _LEAST_WEIGHT, weights, 0.0)
    weights = weights / weights.sum()
    return [Weighed(one, float(w)) for one, w in zip(everyone, weights, strict=True) if w > 0]


def _models(belief: Belief) -> list[Embedding]:
    n, D = belief.X.shape
    possible: list[Embedding] = [Isotropic()]
    if D > 1 and float(D) * n**2 * (n + D) < _WORK:
        possible.insert(0, Diagonal())
    return [model for model in possible if model != belief.model]


def _fit(belief: Belief, model: Embedding) -> Belief | None:
    """A rival with the belief's priors, box and noise, those of suspects included; ``None`` where numbers fail."""
    from ridgeway.belief.fit import fit  # the fit makes beliefs, which know their rivals

    scaling, output, priors = belief.space.scaling, belief.output, belief.posterior.priors
    known = np.maximum(belief.posterior.data.noise - priors.noise_floor**2, 0.0) * output.scale**2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RidgewayWarning)  # about the data: the belief's own fit has said it
        try:
            return fit(
                belief.X, belief.y, model, kernel=belief.kernel, priors=priors, effort="quick", robust=False,
                bounds=(scaling.center - scaling.half_width, scaling.center + scaling.half_width),
                standardize=(output.shift, output.scale) != (0.0, 1.0), random_state=belief.seed,
                noise_variance=known if known.max() > 0 else None, names=belief.names, units=belief.units,
            )  # fmt: skip
        except NumericalError:
            return None
