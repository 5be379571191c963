"""What an inference finds: a mixture of Gaussians over the hyperparameters, one for each mode with weight."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from ridgeway.gp.posterior import Posterior, Process
from ridgeway.gp.process import LOG_SCALE, N_GLOBAL
from ridgeway.inference.laplace import Laplace
from ridgeway.inference.population import Optimum, is_clear
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import DEFAULT, MixtureSettings, SearchSettings
from ridgeway.types import Array

_SMALL_ROWS = 0.1  # prior standard deviations: rows that a mode of lower rank gets


@dataclass(frozen=True)
class Component:
    """One Gaussian of the mixture: the process at a mode, and ``F`` with ``F Fᵀ`` the covariance."""

    posterior: Posterior  # the model that this is a mode of: of its rank, or of straight lines
    gp: Process
    factor: Array  # (P + 4, q)
    weight: float
    log_evidence: float  # of the mode, with the prior of its rank

    @property
    def is_line(self) -> bool:
        """Whether it is a straight line."""
        return self.posterior.is_line

    @property
    def rank(self) -> int:
        """Rows of its embedding."""
        return int(self.gp.U.shape[1])

    @property
    def prior_variance(self) -> float:
        """Of the embedding's entries where the data say nothing."""
        return self.posterior.scale(self.gp.theta[LOG_SCALE]) ** 2


@dataclass(frozen=True)
class KnownMode:
    """A mode of an earlier belief, from which to begin."""

    posterior: Posterior  # the model that it is a mode of, on the new data
    theta: Array
    is_spare: bool = (
        False  # without weight in that belief: the search goes on from it, but its evidence is not followed
    )

    def belongs_to(self, posterior: Posterior) -> bool:
        """Whether it is a mode of this model: of the same rank, and a straight line or not."""
        mine, theirs = self.posterior, posterior
        return mine.is_line == theirs.is_line and mine.embedding == theirs.embedding


def at_full_rank(posterior: Posterior, theta: Array, rng: np.random.Generator) -> Array:
    """``theta`` of a mode of lower rank, with small random rows where ``posterior`` has more."""
    missing = posterior.n_parameters - (theta.shape[0] - N_GLOBAL)
    small = _SMALL_ROWS * posterior.scale(theta[LOG_SCALE]) * rng.standard_normal(missing)
    return np.concatenate([theta[:-N_GLOBAL], small, theta[-N_GLOBAL:]])


@dataclass(frozen=True)
class Inferred:
    """What an inference found, and how it went."""

    components: tuple[Component, ...]
    log_evidence: float
    optima: tuple[float, ...]  # log evidences of the modes found, best first
    n_starts: int
    starts_at_best: int
    disagreement: float  # root mean square difference of the best two modes' fits
    smallest_curvature: float
    decrement: float
    outer_slack: float
    converged: bool
    failures: int  # climbs that floating point could not follow
    n_modes: int  # distinct modes found
    found_at: int  # number of the climb that first led to the best mode; 0 for a known one
    chance_missed: float | None  # that a better mode exists which the search did not find
    interrupted: bool  # whether the search was ended from the keyboard
    population: tuple[Array, ...] = ()  # theta of the best distinct modes of full rank, for a search that goes on
    n_dropped: int = 0  # rivals of the best left out because no mode could be reached from them


def mixture(optima: list[Optimum], n_searches: int, n_ranks: int, run: SearchRun) -> Inferred:
    """Concluded modes of all ranks as one mixture, each weighed by its evidence and the prior of its rank."""
    rules = run.settings.mixture
    optima, dropped = _modes_first(optima, run)
    ranked = sorted(optima, key=lambda o: -_log_posterior(o, n_ranks, rules))
    concluded = [o for o in ranked if o.nested is not None][: rules.n_components]
    logs = np.array([_log_posterior(o, n_ranks, rules) for o in concluded])
    weights = tempered(logs, rules.temperature)
    weights = np.where(weights > rules.least_weight, weights, 0.0)
    components = tuple(
        Component(o.laplace.posterior, o.laplace.gp, o.nested.factor, float(w), float(log))
        for o, w, log in zip(concluded, weights / weights.sum(), logs, strict=True)
        if w > 0 and o.nested is not None
    )
    best = concluded[0]
    assert best.nested is not None
    # Modes that were discarded have no evidence with scales and noise integrated out: theirs changes as the best's.
    gained = best.nested.log_evidence - best.laplace.log_evidence
    values = [
        min(_log_posterior(o, n_ranks, rules) + (0.0 if o.nested is not None else gained), float(logs[0]))
        for o in optima
    ]
    order = sorted(range(len(optima)), key=lambda i: (-values[i], optima[i] is not best))
    found, ranking = [optima[i] for i in order], [values[i] for i in order]
    result = summarise(components, found, ranking, float(logsumexp(logs)), n_searches, best.nested.slack, run)
    rivals = [o for o in dropped if _log_posterior(o, n_ranks, rules) > logs[0] - rules.temperature]
    return replace(result, n_dropped=len(rivals))


def _modes_first(optima: list[Optimum], run: SearchRun) -> tuple[list[Optimum], list[Optimum]]:
    """The optima that have arrived at a mode, and the others: short of it there is no Gaussian.

    Where no mode was concluded, the best of the others is better than nothing.
    """
    modes = [o for o in optima if o.laplace.has_arrived(run.settings.newton)]
    if not any(o.nested is not None for o in modes):
        return optima, []
    return modes, [o for o in optima if not o.laplace.has_arrived(run.settings.newton)]


def tempered(log_evidences: Array, temperature: float) -> Array:
    """Weights that sum to 1, in proportion to evidences flattened by ``temperature``."""
    weights = np.exp((log_evidences - log_evidences.max()) / temperature)
    result: Array = weights / weights.sum()
    return result


def _log_posterior(optimum: Optimum, n_ranks: int, rules: MixtureSettings) -> float:
    """Log evidence, with scales and noise integrated out where that is known, and the prior of its rank."""
    own = optimum.laplace.log_evidence if optimum.nested is None else optimum.nested.log_evidence
    return own + _log_rank_prior(optimum.laplace, n_ranks, rules)


def _log_rank_prior(lap: Laplace, n_ranks: int, rules: MixtureSettings) -> float:
    """Each row fewer than the user asked for is less likely beforehand."""
    if not lap.gp.embedding.has_directions:
        return 0.0
    penalty = -rules.rank_penalty * np.arange(n_ranks)
    return float(penalty[n_ranks - lap.gp.U.shape[1]] - logsumexp(penalty))


def summarise(
    components: tuple[Component, ...],
    found: list[Optimum],
    ranking: list[float],
    log_evidence: float,
    n_starts: int,
    slack: float,
    run: SearchRun,
) -> Inferred:
    """The components, and how the search for them went; ``found`` are all modes, best first."""
    best, newton = found[0].laplace, run.settings.newton
    disagreement = 0.0
    if len(found) > 1:
        gap = best.gp.fitted() - found[1].laplace.gp.fitted()
        disagreement = float(np.sqrt(np.mean(gap**2)))
    return Inferred(
        components=components,
        log_evidence=log_evidence,
        optima=tuple(map(float, ranking)),
        n_starts=n_starts,
        starts_at_best=found[0].reached,
        disagreement=disagreement,
        smallest_curvature=best.smallest_curvature,
        decrement=best.decrement,
        outer_slack=slack,
        converged=best.has_arrived(newton) and best.smallest_curvature > -newton.saddle,
        failures=run.failures,
        n_modes=len(found),
        found_at=found[0].found_at,
        chance_missed=_chance_missed(found[0], n_starts, run),
        interrupted=run.interrupted,
    )


def _chance_missed(best: Optimum, n_climbs: int, run: SearchRun) -> float | None:
    # A few climbs beside a mode that is known say nothing of the search that had found it.
    least = run.settings.full_search if best.found_at else run.settings.climbs.least_climbs
    if n_climbs < least:
        return None
    return chance_missed(best, n_climbs, run.settings)


def chance_missed(best: Optimum, n_climbs: int, settings: SearchSettings = DEFAULT) -> float:
    """Chance that a mode with more evidence than the best was not found, from counts on functions with known modes.

    A mode that is clear, because it leaves nothing to noise, hardly ever has a better one, and rarely one that leaves
    little and that two independent searches led to. One that leaves much is often wrong (docs/search.md).
    """
    rules = settings.chances
    if is_clear(best.laplace, settings.climbs):
        chance = rules.clear
    elif settings.is_noisy(best.laplace.theta):
        chance = rules.noisy
    else:
        chance = rules.agreed if best.searches >= settings.agreeing_searches[0] else rules.alone
    return float(min(rules.most, chance * max(1.0, rules.usual_climbs / max(n_climbs, 1)) ** 0.5))
