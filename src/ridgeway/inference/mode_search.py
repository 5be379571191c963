"""The search for the posterior's modes: many short climbs, a few long ones, each told apart."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ridgeway import starts
from ridgeway.errors import NumericalError
from ridgeway.gp import LOG_NOISE, LOG_OUTPUT_SCALE, LOG_SCALE, ConditionedGP
from ridgeway.laplace import Laplace, approximate, climb
from ridgeway.posterior import Posterior
from ridgeway.types import Array

_OUTER = [LOG_OUTPUT_SCALE, LOG_NOISE, LOG_SCALE]
_SECOND_NOISE = 0.2
_ENOUGH = 20  # starts that are made before it counts whether they agree
_MANY = 1 / 3  # of the starts, at the best place so far, that agree
_SHORT, _MIDDLE, _LONG = 20, 15, 40  # iterations of the three heats


@dataclass(frozen=True)
class Optimum:
    """A mode and how many starts led to it."""

    laplace: Laplace
    reached: int


def fitted(gp: ConditionedGP) -> Array:
    """The function at the data, ``K alpha + mu``: what a mode says, whatever its rotation."""
    return gp.data.y - gp.noise_diagonal * gp.alpha


def same(a: Laplace, b: Laplace) -> bool:
    """Whether two modes are one, up to rotation: equal evidence and equal fits."""
    return _alike(a.log_evidence, b.log_evidence, fitted(a.gp), fitted(b.gp))


def _alike(log_a: float, log_b: float, fit_a: Array, fit_b: Array) -> bool:
    if abs(log_a - log_b) > 0.2:
        return False
    return float(np.mean((fit_a - fit_b) ** 2)) < 1e-3 * max(float(np.var(fit_a)), 1e-6)


def merge(optima: list[Optimum], lap: Laplace, reached: int = 1) -> list[Optimum]:
    """``optima`` and one more, best evidence first; the same mode twice is counted, not kept."""
    for i, other in enumerate(optima):
        if same(lap, other.laplace):
            keep = max((lap, other.laplace), key=lambda lap: lap.log_evidence)
            optima = [*optima[:i], Optimum(keep, other.reached + reached), *optima[i + 1 :]]
            break
    else:
        optima = [*optima, Optimum(lap, reached)]
    return sorted(optima, key=lambda o: -o.laplace.log_evidence)


class _Place(NamedTuple):
    """Where a climb has got to."""

    theta: Array
    log_density: float
    fit: Array  # (n,) the function at the data


@dataclass(frozen=True)
class _Climber:
    """A start after its first and its second heat, for as many as have met it."""

    first: _Place
    second: _Place
    reached: int


def search(
    posterior: Posterior, inner: Array, n_starts: int, rng: np.random.Generator, say: Callable[[str], None]
) -> tuple[list[Optimum], int]:
    """Modes over ``theta[inner]`` at the outer hyperparameters that each start brings, and how many starts it took.

    Three heats: every start climbs a little at its own noise, then at a common one, and the
    better half of them climbs on. Starts that have met go on as one, and where most have, fewer
    are made.
    """
    climbers: list[_Climber] = []
    n_made = 0
    for theta in starts.draw(posterior, n_starts, rng):
        if n_made and n_made % _ENOUGH == 0 and _agree(climbers):
            break
        n_made += 1
        say(f"start {n_made} of {n_starts}")
        with suppress(NumericalError):  # a start that floating point cannot follow; others remain
            climbers = _joined(posterior, climbers, theta, inner)
    if not climbers:
        raise NumericalError("no start could be followed: is an input or output of enormous range?")
    optima: list[Optimum] = []
    for climber in _better_half(climbers):
        theta = climb(posterior, climber.second.theta, inner, _LONG)
        optima = merge(optima, approximate(posterior, posterior.evaluate(theta), inner), climber.reached)
    return optima, n_made


def _joined(posterior: Posterior, climbers: list[_Climber], theta: Array, inner: Array) -> list[_Climber]:
    """``climbers`` and one more start, which may meet one of them on its way."""
    first = _place(posterior, climb(posterior, theta, inner, _SHORT))
    known = next((i for i, other in enumerate(climbers) if _meet(first, other.first)), None)
    if known is None:
        theta = first.theta.copy()
        if posterior.priors.globals[1][LOG_NOISE] > 0:
            theta[LOG_NOISE] = np.log(_SECOND_NOISE)
        second = _place(posterior, climb(posterior, theta, inner, _MIDDLE))
        known = next((i for i, other in enumerate(climbers) if _meet(second, other.second)), None)
        if known is None:
            return [*climbers, _Climber(first, second, 1)]
    met = replace(climbers[known], reached=climbers[known].reached + 1)
    return [*climbers[:known], met, *climbers[known + 1 :]]


def _place(posterior: Posterior, theta: Array) -> _Place:
    gp = posterior.condition(theta)
    return _Place(theta, posterior.log_density_of(gp), fitted(gp))


def _meet(a: _Place, b: _Place) -> bool:
    """Whether two climbs have arrived at the same place, and with the same scales and noise."""
    return np.array_equal(a.theta[_OUTER], b.theta[_OUTER]) and _alike(a.log_density, b.log_density, a.fit, b.fit)


def _agree(climbers: list[_Climber]) -> bool:
    """Whether many starts lead to the best, at every setting of scales and noise: more would hardly find better."""
    settings: dict[bytes, list[_Climber]] = {}
    for climber in climbers:
        settings.setdefault(climber.second.theta[_OUTER].tobytes(), []).append(climber)
    for group in settings.values():
        best = max(group, key=lambda climber: climber.second.log_density)
        if best.reached < _MANY * sum(climber.reached for climber in group):
            return False
    return True


def _better_half(climbers: list[_Climber]) -> list[_Climber]:
    """The best of ``climbers`` that half of all starts have led to."""
    ordered = sorted(climbers, key=lambda climber: -climber.second.log_density)
    enough, kept = max(1, sum(climber.reached for climber in climbers) // 2), 0
    while sum(climber.reached for climber in ordered[:kept]) < enough:
        kept += 1
    return ordered[:kept]
