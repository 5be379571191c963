"""Climbs through lower noise from near the best modes, at the end of a search.

At a high noise a mode is wide: it can hold several sharp ones, of which the first climb to it found any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LOG_NOISE
from ridgeway.inference import evidence
from ridgeway.inference.laplace import Laplace, approximate
from ridgeway.inference.mode_search import ClimbTask, best_so_far
from ridgeway.inference.newton import climb
from ridgeway.inference.population import Optimum, Population
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import Stage


def sharpened(posterior: Posterior, optima: Sequence[Optimum], n_climbs: int, run: SearchRun) -> list[Optimum]:
    """``optima`` and what lower noise shows near them, best evidence first."""
    population = Population(tuple(optima), run.settings.population)
    return list(_climbed(posterior, population, run.settings.climbs.sharpening, n_climbs, run).optima)


def siblings(
    posterior: Posterior, best: Laplace, optima: Sequence[Optimum], n_climbs: int, run: SearchRun
) -> list[Optimum]:
    """The same at the output scale and prior scale of the ``best`` mode, down to a share of its noise.

    A mode whose scales have been chosen by evidence often has a sharper sibling, which at other scales, or at the
    noise that suits the best, looks worse.
    """
    rules = run.settings.climbs
    if not _pays(posterior, n_climbs):
        return []
    inner, outer = evidence.split(posterior)
    population = Population(settings=replace(run.settings.population, similar=rules.similar_siblings))
    for optimum in optima:
        theta = optimum.laplace.theta.copy()
        theta[outer] = best.theta[outer]
        with run.counting_failures():
            at = posterior.evaluate(climb(posterior, theta, inner, rules.iterations))
            moved = approximate(posterior, at, inner)
            population = population.with_mode(
                replace(optimum, laplace=moved, reached=0, independent=0)
            )  # counted before
    least = float(np.exp(best.theta[LOG_NOISE])) * rules.sharper
    *before, last = rules.sharpening
    stages = (*(stage for stage in before if stage.noise > least), Stage(least, last.iterations))
    return list(_climbed(posterior, population, stages, n_climbs, run).optima)


def _climbed(
    posterior: Posterior, population: Population, stages: tuple[Stage, ...], n_climbs: int, run: SearchRun
) -> Population:
    """With what rounds of climbs through ``stages`` find, each from near the best modes after the one before."""
    rules = run.settings.climbs
    if not len(population) or not _pays(posterior, n_climbs):
        return population
    made = max(optimum.found_at for optimum in population.optima)
    for _ in range(rules.sharpening_rounds):
        if run.is_over():
            break
        starts = [population.near(posterior, run.rng) for _ in range(n_climbs)]
        run.say(f"{n_climbs} climbs from near the best modes{best_so_far(population)}")
        try:
            results = run.map([ClimbTask(posterior, theta, stages, False, (), rules) for theta in starts])
        except KeyboardInterrupt:
            run.interrupted = True
            break
        for found in results:
            if isinstance(found, Laplace):
                population = population.with_mode(Optimum(found, found_at=made))
    return population


def _pays(posterior: Posterior, n_climbs: int) -> bool:
    """Whether there are sharper modes to look for: where the noise is known, or nothing is turned, there are none."""
    return n_climbs > 0 and posterior.priors.globals[1][LOG_NOISE] > 0 and posterior.embedding.has_directions
