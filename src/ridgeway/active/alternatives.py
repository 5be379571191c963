"""Alternatives to a learned embedding: what plain Bayesian optimisation would believe about the same observations.

While directions are unknown, an optimiser that trusts them is worse than one without. So the embedding is weighed by
evidence against one length scale for all inputs and, where there are not too many, one for each. These are fitted
afresh each time, with few climbs. Directions are searched for at certain numbers of observations, and followed in
between. All of it depends on nothing but the observations, so an optimiser that was stopped goes on as it would have.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ridgeway.active.history import Record
from ridgeway.active.refit import Refit, searches
from ridgeway.active.warp import Warp
from ridgeway.belief.approximation import MOST_EXACT
from ridgeway.belief.belief import Belief
from ridgeway.belief.belief_mixture import BeliefMixture
from ridgeway.belief.fit import fit
from ridgeway.errors import RidgewayWarning
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.length_scales import Diagonal, Isotropic
from ridgeway.gp.moments import Marginal
from ridgeway.gp.priors import Priors
from ridgeway.inference.mixture import tempered
from ridgeway.types import Array


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
    long_and_sure
        Where there are more inputs than ``most_diagonal``: the inverse of the typical length scale times the root of
        their number, and the spread of its logarithm. With so many inputs all points are far from each other. A length
        scale that is short beside their distances explains any outcomes as unrelated, and a search that believes in it
        draws points at random.
    most_rows
        Beyond so many observations there are no alternatives: directions are known by then, and models without them
        would cost the cube of that number.
    warp_rows
        Beyond ``most_rows``, a warp is drawn by so many observations.
    """

    most_diagonal: int = 128
    n_starts: int = 3
    temperature: float = 2.0
    least_weight: float = 0.01
    log_noise: tuple[float, float] = (-5.0, 1.5)
    long_and_sure: tuple[float, float] = (0.6, 0.5)
    most_rows: int = MOST_EXACT
    warp_rows: int = 500


DEFAULT = AlternativeSettings()


class Searched(NamedTuple):
    """What the last full search for directions found, and which observations it knew."""

    X: Array
    y: Array
    belief: Belief

    def is_about(self, record: Record) -> bool:
        """Whether it knew just the observations of ``record``."""
        return np.array_equal(self.X, record.X) and np.array_equal(self.y, record.y)


class Averaged(NamedTuple):
    """Beliefs about warped outcomes, weighed by evidence, and the warp."""

    mixture: BeliefMixture
    warp: Warp
    searched: Searched | None  # None where the user's own model has no directions


def averaged(
    record: Record,
    refit: Refit,
    sign: float,
    settings: AlternativeSettings = DEFAULT,
    last: Searched | None = None,
) -> Averaged:
    """What is believed about the warped observations of ``record``, by ``refit``'s embedding and its alternatives.

    ``sign`` is 1 where the least value is looked for and -1 where the largest is. ``last`` saves a search that was
    made before.
    """
    warp = _drawn_warp(record, refit, sign, settings)
    warped = _warped(record, warp)
    plain = models(record.space.D, settings) if record.n <= settings.most_rows else []
    searched, beliefs = None, []
    if refit.embedding.has_directions:
        searched = _searched(record.first(refit.last_search(record.n)), refit, sign, settings, last)
        if searched.is_about(record):  # the warp is the same, too
            beliefs.append(searched.belief)
        else:
            beliefs.append(_fitted(searched.belief.model, warped, refit, settings, known=searched.belief))
    elif refit.embedding not in plain:
        beliefs.append(_fitted(refit.embedding, warped, refit, settings))
    beliefs += [_fitted(model, warped, refit, settings) for model in plain]
    return Averaged(BeliefMixture.by_evidence(beliefs, settings.temperature, settings.least_weight), warp, searched)


def _searched(
    record: Record, refit: Refit, sign: float, settings: AlternativeSettings, last: Searched | None
) -> Searched:
    """A full search for directions with the observations of ``record``, unless ``last`` is just that."""
    if last is not None and last.is_about(record):
        return last
    warped = _warped(record, _drawn_warp(record, refit, sign, settings))
    return Searched(record.X, record.y, _fitted(refit.embedding, warped, refit, settings))


def _warped(record: Record, warp: Warp) -> Record:
    return replace(record, y=warp(record.y), noise=record.noise * warp.slope(record.y) ** 2)


def _drawn_warp(record: Record, refit: Refit, sign: float, settings: AlternativeSettings) -> Warp:
    """A warp drawn by its evidence under the simplest model: the density of the outcomes as they were observed."""
    warps = Warp.candidates(record.y, sign)
    few = record
    if record.n > settings.most_rows:
        few = record.part(np.sort(_rng(refit, record, 6).choice(record.n, settings.warp_rows, replace=False)))
    evidence = [
        _fitted(Isotropic(), _warped(few, warp), refit, settings, "map").log_evidence
        + float(np.sum(np.log(warp.slope(few.y))))
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
    model: Embedding,
    record: Record,
    refit: Refit,
    settings: AlternativeSettings,
    marginal: Marginal = "mgp",
    known: Belief | None = None,
) -> Belief:
    """The belief of a model about the observations of ``record``; with ``known`` modes these are followed."""
    # A length scale for each input has many parameters: their uncertainty would cost more than all else.
    marginal = "map" if model == Diagonal() else marginal
    n_starts = settings.n_starts
    if model.has_directions:
        full = searches(record.n, refit.settings, refit.effort)
        n_starts = full if known is None else refit.settings.fresh_starts
    with warnings.catch_warnings():  # about the data, which the learner's own belief has warned about
        warnings.simplefilter("ignore", RidgewayWarning)
        return fit(
            record.X,
            record.y,
            model,
            kernel=refit.kernel,
            marginal=marginal,
            bounds=refit.bounds,
            priors=refit.priors or _priors(model, record.space.D, settings),
            noise_variance=record.known_noise,
            initial=known,
            n_starts=n_starts,
            effort=refit.effort,
            random_state=int(_rng(refit, record, 4).integers(2**31)),
            names=record.space.names,
            units=record.space.units,
            robust=False,
        )


def _priors(model: Embedding, D: int, settings: AlternativeSettings) -> Priors:
    """What is believed before the first observation where the user says nothing."""
    if model.has_directions or settings.most_diagonal >= D:
        return Priors(log_noise=settings.log_noise)
    inverse, spread = settings.long_and_sure
    scale = inverse / float(np.sqrt(D))
    return Priors(log_noise=settings.log_noise, embedding_scale=scale, log_length_scale_std=spread)
