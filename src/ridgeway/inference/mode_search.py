"""The search for the posterior's modes: many climbs, some from fresh starts, the others from offspring of the best.

Each climb goes through falling noise levels. Much noise smooths the posterior, so that a climb can start from afar, but
it also erases sharp modes: stages at a high noise are short. Which levels are right differs from problem to problem, so
each climb draws a sequence of them, and a mode is scored by its Laplace evidence at the level that suits it best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ridgeway.errors import NumericalError
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LOG_NOISE, N_GLOBAL
from ridgeway.inference import evidence, starts
from ridgeway.inference.laplace import Laplace, approximate
from ridgeway.inference.newton import climb
from ridgeway.inference.population import Optimum, Population, is_clear
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import ClimbSettings, Stage
from ridgeway.types import Array


class Known(NamedTuple):
    """A mode that climbs need not go to again: where it is, and the noise levels at which it was scored."""

    parameters: Array
    scored: frozenset[float]


@dataclass(frozen=True)
class ClimbTask:
    """One climb, ready to be made here or in another process."""

    posterior: Posterior
    theta: Array
    stages: tuple[Stage, ...]  # none where the noise is fixed
    fresh: bool
    known: tuple[Known, ...]
    settings: ClimbSettings

    def __call__(self) -> Laplace | Array | None:
        """A new mode, the parameters of a known one, or nothing where floating point cannot follow."""
        try:
            return climb_through(self.posterior, self.theta, self.stages, self.settings, self.known)
        except NumericalError:
            return None


def search(posterior: Posterior, n_climbs: int, known: Sequence[Laplace], run: SearchRun) -> tuple[list[Optimum], int]:
    """The best distinct modes at scales and noise of their own, and how many climbs were made.

    ``known`` modes take part from the beginning. The search ends before ``n_climbs`` when a better mode is unlikely.
    """
    rules = run.settings.climbs
    population = Population(settings=run.settings.population)
    for lap in known:
        population = population.with_mode(Optimum(lap, reached=0))
    fresh_starts = _FreshStarts(posterior, n_climbs, run)
    made = 0
    while made < n_climbs and not _is_settled(population, made, rules):
        if run.is_over() and len(population):
            break
        size = min(rules.generation, n_climbs - made)
        tasks = [_task(posterior, population, fresh_starts, run) for _ in range(size)]
        run.say(f"climb {made + 1} of at most {n_climbs}{best_so_far(population)}")
        try:
            results = run.map(tasks)
        except KeyboardInterrupt:
            if not len(population):  # there is nothing yet to return
                raise
            run.interrupted = True
            break
        for task, found in zip(tasks, results, strict=True):
            made += 1
            if found is None:
                run.failures += 1
            elif isinstance(found, Laplace):
                level = frozenset(stage.noise for stage in task.stages[-1:])
                population = population.with_mode(Optimum(found, 1, int(task.fresh), made, level))
            else:
                population = population.with_meeting(found, task.fresh)
    if not len(population):
        raise NumericalError("no start could be followed: is an input or output of enormous range?")
    return list(population.optima), made


def climb_through(
    posterior: Posterior, theta: Array, stages: Sequence[Stage], settings: ClimbSettings, known: Sequence[Known] = ()
) -> Laplace | Array:
    """The mode that a climb over embedding and mean leads to through falling noise, at the last noise level.

    Where it comes to a ``known`` mode that was scored at this level, it ends, and the mode's parameters are returned.
    """
    inner, _ = evidence.split(posterior)
    for noise, iterations in stages[:-1]:
        theta = climb(posterior, _with_noise(theta, noise), inner, iterations)
    last, rest = theta, settings.iterations
    if stages:
        last, rest = _with_noise(theta, stages[-1].noise), stages[-1].iterations
        scored = [mode.parameters for mode in known if stages[-1].noise in mode.scored]
        if scored:
            last = climb(posterior, last, inner, settings.iterations_to_recognise)
            rest -= settings.iterations_to_recognise
            for parameters in scored:
                if posterior.embedding.similarity(last[:-N_GLOBAL], parameters) > settings.recognised:
                    return parameters
    return approximate(posterior, posterior.evaluate(climb(posterior, last, inner, rest)), inner)


def _with_noise(theta: Array, noise: float) -> Array:
    moved = theta.copy()
    moved[LOG_NOISE] = np.log(noise)
    return moved


def scored_again(posterior: Posterior, thetas: Sequence[Array], run: SearchRun) -> list[Laplace]:
    """Modes of an earlier search on other data, each moved a little and scored on these."""
    inner, _ = evidence.split(posterior)
    found = []
    for theta in thetas:
        with run.counting_failures():
            moved = climb(posterior, theta, inner, run.settings.climbs.iterations_to_recognise)
            found.append(approximate(posterior, posterior.evaluate(moved), inner))
    return found


class _FreshStarts:
    """Fresh starts without end, drawn a list at a time."""

    def __init__(self, posterior: Posterior, n_climbs: int, run: SearchRun) -> None:
        self._posterior, self._run = posterior, run
        self._guide = starts.guide(posterior, run.settings.starts)
        self._at_once = min(n_climbs, len(run.settings.starts.recipes))
        self._drawn: list[Array] = []

    def next(self) -> Array:
        if not self._drawn:
            settings = self._run.settings.starts
            self._drawn = starts.draw(self._posterior, self._at_once, self._run.rng, settings, self._guide)[::-1]
        return self._drawn.pop()


def _task(posterior: Posterior, population: Population, fresh_starts: _FreshStarts, run: SearchRun) -> ClimbTask:
    rules, rng = run.settings.climbs, run.rng
    few = len(population) < run.settings.population.least or not posterior.embedding.has_directions
    fresh = few or bool(rng.random() < rules.fresh)
    theta = fresh_starts.next() if fresh else population.offspring(posterior, rng)
    stages: tuple[Stage, ...] = ()
    if posterior.priors.globals[1][LOG_NOISE] > 0:
        stages = rules.sequences[int(rng.integers(len(rules.sequences)))]
    known = tuple(Known(o.laplace.gp.parameters, o.scored) for o in population.optima)
    return ClimbTask(posterior, theta, stages, fresh, known, rules)


def _is_settled(population: Population, made: int, rules: ClimbSettings) -> bool:
    """Whether a better mode than the best so far is unlikely: agreement alone does not show it."""
    if made < rules.least_climbs or not len(population):
        return False
    best = population.optima[0]
    return best.independent >= rules.enough_independent and is_clear(best.laplace, rules)


def best_so_far(population: Population) -> str:
    """The best evidence, for the end of a sentence about progress."""
    return f", best log evidence {population.optima[0].laplace.log_evidence:.1f}" if len(population) else ""
