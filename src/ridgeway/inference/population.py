"""A population of modes: which of them are the same, the best distinct ones, and new starts made of them.

Modes of a linear embedding share rows: a climb that ended with one right direction and one wrong one is half of
the way. Starts that take rows from two modes, or that disturb one, lead to better modes more often than fresh ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LOG_NOISE, LOG_SCALE, N_GLOBAL
from ridgeway.inference.evidence import Nested
from ridgeway.inference.laplace import Laplace
from ridgeway.inference.settings import DEFAULT, ClimbSettings, PopulationSettings
from ridgeway.types import Array


@dataclass(frozen=True)
class Optimum:
    """A mode, how many climbs led to it, and what is known with scales and noise integrated out."""

    laplace: Laplace
    reached: int = 1
    independent: int = 0  # of these climbs, those from fresh starts
    found_at: int = 0  # number of the climb that first led to it
    scored: frozenset[float] = frozenset()  # noise levels at which climbs to it ended
    nested: Nested | None = None  # once it has been concluded
    searches: int = 1  # independent ones that led to it


def same(a: Laplace, b: Laplace, settings: PopulationSettings = DEFAULT.population) -> bool:
    """Whether two modes are one, up to rotation: equal evidence, equal fits, and alike embeddings."""
    if abs(a.log_evidence - b.log_evidence) > settings.same_evidence:
        return False
    fit_a, fit_b = a.gp.fitted(), b.gp.fitted()
    if np.mean((fit_a - fit_b) ** 2) > settings.same_fit * max(float(np.var(fit_a)), 1e-6):
        return False
    return similarity(a, b) > settings.similar  # without noise all modes fit the data equally


def similarity(a: Laplace, b: Laplace) -> float:
    """From 0 to 1: how alike the embeddings of two modes of one model are, whatever their rotation."""
    return a.gp.embedding.similarity(a.gp.parameters, b.gp.parameters)


def is_clear(lap: Laplace, settings: ClimbSettings = DEFAULT.climbs) -> bool:
    """Whether a mode leaves nothing to noise: such a mode rarely has a better one."""
    return bool(lap.theta[LOG_NOISE] < np.log(settings.explains_all))


def merge(optima: list[Optimum], found: Optimum, settings: PopulationSettings = DEFAULT.population) -> list[Optimum]:
    """``optima`` and one more, best evidence first; the same mode twice is counted, not kept."""
    for i, other in enumerate(optima):
        if same(found.laplace, other.laplace, settings):
            optima = [*optima[:i], _better(other, found), *optima[i + 1 :]]
            break
    else:
        optima = [*optima, found]
    return sorted(optima, key=lambda o: -o.laplace.log_evidence)


def _better(a: Optimum, b: Optimum) -> Optimum:
    """The one of more evidence, with the counts of both."""
    best = b if b.laplace.log_evidence > a.laplace.log_evidence else a
    return replace(
        best,
        reached=a.reached + b.reached,
        independent=a.independent + b.independent,
        found_at=min(a.found_at, b.found_at),
        searches=max(a.searches, b.searches),
        scored=a.scored | b.scored,
    )


@dataclass(frozen=True)
class Population:
    """The best distinct modes so far, best evidence first.

    Modes at different noise levels have different evidence: two are taken for one where their embeddings are alike.
    """

    optima: tuple[Optimum, ...] = ()
    settings: PopulationSettings = DEFAULT.population

    def __len__(self) -> int:
        return len(self.optima)

    def with_mode(self, found: Optimum) -> Population:
        """With one more mode."""
        optima, mine = [], found
        for other in self.optima:
            if similarity(mine.laplace, other.laplace) > self.settings.similar:
                mine = _better(other, mine)
            else:
                optima.append(other)
        ranked = sorted([*optima, mine], key=lambda o: -o.laplace.log_evidence)
        return replace(self, optima=tuple(ranked[: self.settings.size]))

    def with_meeting(self, parameters: Array, fresh: bool) -> Population:
        """With one more climb counted that came to a known mode with these embedding ``parameters``."""

        def alike(optimum: Optimum) -> float:
            gp = optimum.laplace.gp
            return gp.embedding.similarity(gp.parameters, parameters)

        met = max(self.optima, key=alike)
        if alike(met) <= self.settings.similar:  # better modes have taken its place since
            return self
        counted = replace(met, reached=met.reached + 1, independent=met.independent + int(fresh))
        return replace(self, optima=tuple(counted if o is met else o for o in self.optima))

    def offspring(self, posterior: Posterior, rng: np.random.Generator) -> Array:
        """A start ``theta`` made of one mode or two."""
        rules = self.settings
        first = self._parent(rng)
        A = _rotated(first, rng)
        scale = posterior.scale(first.theta[LOG_SCALE])
        if A.shape[0] > 1 and rng.random() < rules.crossed:
            B = _rotated(self._parent(rng), rng)
            kept = int(rng.integers(1, A.shape[0]))
            A = np.vstack([A[:kept], B[kept:]])
        else:
            A = A + rng.uniform(*rules.shake) * scale * rng.standard_normal(A.shape)
        return np.concatenate([A.ravel(), first.theta[-N_GLOBAL:]])

    def near(self, posterior: Posterior, rng: np.random.Generator) -> Array:
        """A start ``theta`` near one of the modes."""
        theta = self._parent(rng).theta.copy()
        scale = rng.uniform(*self.settings.last_shake) * posterior.scale(theta[LOG_SCALE])
        theta[:-N_GLOBAL] += scale * rng.standard_normal(theta.shape[0] - N_GLOBAL)
        return theta

    def _parent(self, rng: np.random.Generator) -> Laplace:
        """One of the modes, the better ones more often."""
        weights = 1.0 / np.arange(1, len(self.optima) + 1)
        return self.optima[rng.choice(len(self.optima), p=weights / weights.sum())].laplace


def _rotated(lap: Laplace, rng: np.random.Generator) -> Array:
    """The rows of a mode's embedding after a random rotation, which changes nothing about the model."""
    A = lap.gp.parameters.reshape(lap.gp.U.shape[1], -1)
    rotation, _ = np.linalg.qr(rng.standard_normal((A.shape[0], A.shape[0])))
    result: Array = rotation @ A
    return result
