"""Alternatives to a learned embedding: what plain Bayesian optimisation would believe about the same observations.

While directions are unknown, an optimiser that trusts them is worse than one without. So the embedding is weighed by
evidence against one length scale for all inputs and, where there are not too many, one for each. They are fitted
afresh each time, with few climbs, and depend on nothing but the observations.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ridgeway.active.history import Record
from ridgeway.active.refit import Refit, searches
from ridgeway.active.warp import Warp
from ridgeway.belief.belief import Belief
from ridgeway.belief.belief_mixture import BeliefMixture
from ridgeway.belief.fit import fit
from ridgeway.errors import RidgewayWarning
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.length_scales import Diagonal, Isotropic
from ridgeway.gp.moments import Marginal
from ridgeway.gp.priors import Priors
from ridgeway.inference.mixture import tempered


@dataclass(frozen=True)
class AlternativeSettings:
    """Which alternatives there are, and how they are weighed.

    Attributes
    ----------
    most_diagonal
        Up to this many inputs each may have a length scale of its own: the fit costs the square of their number.
    n_starts
        Climbs for each: these models have few modes.
    temperature
        Log evidences are divided by this: Laplace's are wrong by several nats.
    least_weight
        A belief with less weight is left out.
    log_noise
        Mean and standard deviation of the prior of the logarithm of the noise, where the user gives no priors. With
        few observations of many inputs the noise is what its prior says, and a search that takes the differences
        between its best outcomes for noise ends there. It expects less noise than a learner does, and is less sure.
    """

    most_diagonal: int = 128
    n_starts: int = 3
    temperature: float = 2.0
    least_weight: float = 0.01
    log_noise: tuple[float, float] = (-3.0, 1.0)


DEFAULT = AlternativeSettings()


class Averaged(NamedTuple):
    """Beliefs about warped outcomes, weighed by evidence, and the warp."""

    mixture: BeliefMixture
    warp: Warp


def averaged(record: Record, refit: Refit, sign: float, settings: AlternativeSettings = DEFAULT) -> Averaged:
    """What is believed about the warped observations of ``record``, by ``refit``'s embedding and its alternatives.

    ``sign`` is 1 where the least value is looked for and -1 where the largest is.
    """
    warp = _drawn_warp(record, refit, sign, settings)
    warped = _warped(record, warp)
    compared = [refit.embedding, *(m for m in models(record.space.D, settings) if m != refit.embedding)]
    beliefs = [_fitted(model, warped, refit, settings) for model in compared]
    return Averaged(BeliefMixture.by_evidence(beliefs, settings.temperature, settings.least_weight), warp)


def _warped(record: Record, warp: Warp) -> Record:
    return replace(record, y=warp(record.y), noise=record.noise * warp.slope(record.y) ** 2)


def _drawn_warp(record: Record, refit: Refit, sign: float, settings: AlternativeSettings) -> Warp:
    """A warp drawn by its evidence under the simplest model: the density of the outcomes as they were observed."""
    warps = Warp.candidates(record.y, sign)
    evidence = [
        _fitted(Isotropic(), _warped(record, warp), refit, settings, "map").log_evidence
        + float(np.sum(np.log(warp.slope(record.y))))
        for warp in warps
    ]
    weights = tempered(np.array(evidence), 1.0)  # one model for all: what is wrong with its evidence cancels
    return warps[int(_rng(refit, record, 5).choice(len(warps), p=weights))]


def _rng(refit: Refit, record: Record, purpose: int) -> np.random.Generator:
    return np.random.default_rng([refit.random_state, purpose, record.n])


def models(D: int, settings: AlternativeSettings = DEFAULT) -> list[Embedding]:
    """The models of functions of ``D`` inputs without directions."""
    return [Isotropic(), Diagonal()] if settings.most_diagonal >= D > 1 else [Isotropic()]


def _fitted(
    model: Embedding, record: Record, refit: Refit, settings: AlternativeSettings, marginal: Marginal = "mgp"
) -> Belief:
    """The belief of a model about the observations of ``record``."""
    plain = not model.has_directions
    # A length scale for each input has many parameters: their uncertainty would cost more than all else.
    marginal = "map" if model == Diagonal() else marginal
    n_starts = settings.n_starts if plain else searches(record.n, refit.settings, refit.effort)
    with warnings.catch_warnings():  # about the data, which the learner's own belief has warned about
        warnings.simplefilter("ignore", RidgewayWarning)
        return fit(
            record.X,
            record.y,
            model,
            kernel=refit.kernel,
            marginal=marginal,
            bounds=refit.bounds,
            priors=refit.priors or Priors(log_noise=settings.log_noise),
            noise_variance=record.known_noise,
            n_starts=n_starts,
            effort=refit.effort,
            random_state=int(_rng(refit, record, 4).integers(2**31)),
            names=record.space.names,
            units=record.space.units,
            robust=False,
        )
