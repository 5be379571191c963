"""The search for the posterior's modes: many climbs, some from fresh starts, the others from offspring of the best.

Each climb goes through falling noise levels. Much noise smooths the posterior, so that a climb starts from afar, but
it also erases sharp modes. Which levels are right differs from problem to problem, so each climb draws a sequence
of them, and a mode is scored by its Laplace evidence at the level that suits it best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ridgeway.errors import NumericalError
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LOG_NOISE
from ridgeway.inference import evidence, starts
from ridgeway.inference.laplace import Laplace, approximate
from ridgeway.inference.newton import climb
from ridgeway.inference.population import Optimum, Population, is_clear
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import ClimbSettings
from ridgeway.types import Array


@dataclass(frozen=True)
class _Task:
    """One climb, ready to be made here or in another process."""

    posterior: Posterior
    theta: Array
    levels: tuple[float, ...]  # noise, falling; none where it is fixed
    fresh: bool
    settings: ClimbSettings

    def __call__(self) -> Laplace | None:
        """The mode that it leads to, or nothing where floating point cannot follow."""
        try:
            return climb_through(self.posterior, self.theta, self.levels, self.settings)
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
    while made < n_climbs and not _is_settled(population, made, n_climbs, rules):
        if run.is_over() and len(population):
            break
        size = min(rules.generation, n_climbs - made)
        tasks = [_task(posterior, population, fresh_starts, run) for _ in range(size)]
        run.say(f"climb {made + 1} of at most {n_climbs}{_best_so_far(population)}")
        try:
            results = run.map(tasks)
        except KeyboardInterrupt:
            if not len(population):  # there is nothing yet to return
                raise
            run.interrupted = True
            break
        for task, lap in zip(tasks, results, strict=True):
            made += 1
            if lap is None:
                run.failures += 1
            else:
                population = population.with_mode(Optimum(lap, 1, int(task.fresh), made))
    if not len(population):
        raise NumericalError("no start could be followed: is an input or output of enormous range?")
    return list(population.optima), made


def climb_through(posterior: Posterior, theta: Array, levels: Sequence[float], settings: ClimbSettings) -> Laplace:
    """The mode that a climb over embedding and mean leads to through falling noise, at the level of most evidence."""
    inner, _ = evidence.split(posterior)
    found: list[Laplace] = []
    for i, level in enumerate(levels or (None,)):
        theta = theta.copy()
        if level is not None:
            theta[LOG_NOISE] = np.log(level)
        last = i + 1 >= len(levels)
        theta = climb(posterior, theta, inner, settings.last_iterations if last else settings.iterations)
        found.append(approximate(posterior, posterior.evaluate(theta), inner))
    return max(found, key=lambda lap: lap.log_evidence)


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


def _task(posterior: Posterior, population: Population, fresh_starts: _FreshStarts, run: SearchRun) -> _Task:
    rules, rng = run.settings.climbs, run.rng
    few = len(population) < run.settings.population.least or not posterior.embedding.has_directions
    fresh = few or bool(rng.random() < rules.fresh)
    start = fresh_starts.next()
    theta = start if fresh else population.offspring(posterior, start, rng)
    levels: tuple[float, ...] = ()
    if posterior.priors.globals[1][LOG_NOISE] > 0:
        levels = rules.levels[int(rng.integers(len(rules.levels)))]
    return _Task(posterior, theta, levels, fresh, rules)


def _is_settled(population: Population, made: int, n_climbs: int, rules: ClimbSettings) -> bool:
    """Whether a better mode than the best so far is unlikely: agreement alone does not show it."""
    if made < rules.least_climbs or not len(population):
        return False
    best = population.optima[0]
    if best.independent >= rules.enough_independent and is_clear(best.laplace, rules):
        return True
    return made >= rules.least_share * n_climbs and best.found_at <= rules.early * made


def _best_so_far(population: Population) -> str:
    return f", best log evidence {population.optima[0].laplace.log_evidence:.1f}" if len(population) else ""
