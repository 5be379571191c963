"""The search for the posterior's modes: many short climbs, a few long ones, each told apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ridgeway import starts
from ridgeway.errors import NumericalError
from ridgeway.gp import LOG_NOISE
from ridgeway.laplace import Laplace, approximate, climb
from ridgeway.posterior import Posterior
from ridgeway.types import Array

_SECOND_NOISE = 0.2
_SHORT, _MIDDLE, _LONG = 20, 15, 40  # iterations of the three heats


@dataclass(frozen=True)
class Optimum:
    """A mode and how many starts led to it."""

    laplace: Laplace
    reached: int


def fitted(lap: Laplace) -> Array:
    """The function at the data, ``K alpha + mu``: what a mode says, whatever its rotation."""
    gp = lap.gp
    return gp.data.y - gp.noise_diagonal * gp.alpha


def same(a: Laplace, b: Laplace) -> bool:
    """Whether two modes are one, up to rotation: equal evidence and equal fits."""
    if abs(a.log_evidence - b.log_evidence) > 0.2:
        return False
    fa, fb = fitted(a), fitted(b)
    return float(np.mean((fa - fb) ** 2)) < 1e-3 * max(float(np.var(fa)), 1e-6)


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


def distinct(laps: list[Laplace]) -> list[Optimum]:
    """The different modes among ``laps``, best evidence first."""
    optima: list[Optimum] = []
    for lap in laps:
        optima = merge(optima, lap)
    return optima


def search(
    posterior: Posterior, inner: Array, n_starts: int, rng: np.random.Generator, say: Callable[[str], None]
) -> list[Optimum]:
    """Modes over ``theta[inner]`` at the outer hyperparameters that each start brings.

    Three heats: all starts climb a little at their own noise, then at a common one, and the
    better half of them climbs on.
    """
    ascending = []
    for i, theta in enumerate(starts.draw(posterior, n_starts, rng)):
        say(f"start {i + 1} of {n_starts}")
        try:
            theta = climb(posterior, theta, inner, _SHORT)
            if posterior.priors.globals[1][LOG_NOISE] > 0:
                theta[LOG_NOISE] = np.log(_SECOND_NOISE)
            theta = climb(posterior, theta, inner, _MIDDLE)
            ascending.append((posterior.log_density(theta), theta))
        except NumericalError:  # a start that floating point cannot follow; others remain
            continue
    if not ascending:
        raise NumericalError("no start could be followed: is an input or output of enormous range?")
    ascending.sort(key=lambda pair: -pair[0])
    laps = []
    for _, theta in ascending[: max(1, len(ascending) // 2)]:
        theta = climb(posterior, theta, inner, _LONG)
        laps.append(approximate(posterior, posterior.evaluate(theta), inner))
    return distinct(laps)
