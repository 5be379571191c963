"""The modes of one rank: independent searches until one is trusted, and the evidence's optima that they lead to.

A population of modes can settle on a poor one, and then searching on hardly helps: another search with other random
numbers finds the right one more often. So the climbs are split into several searches. The first is often enough: a
mode that leaves nothing to noise rarely has a better one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from ridgeway.errors import NumericalError
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LOG_NOISE
from ridgeway.inference import evidence, mode_search, sharpening
from ridgeway.inference.laplace import Laplace, settle
from ridgeway.inference.population import Optimum, Population, is_clear, merge, same
from ridgeway.inference.search_run import SearchRun
from ridgeway.types import Array


def find(
    posterior: Posterior,
    n_climbs: int,
    n_searches: int,
    n_finalists: int,
    known: list[Array],
    spare: list[Array],
    run: SearchRun,
    rivals: Sequence[Optimum] = (),
) -> tuple[list[Optimum], list[Optimum], int]:
    """Modes near those that are known and those that searches find, what the searches found, and their climbs.

    The first search begins with the ``known`` modes and the ``spare`` ones, which an earlier search had left over.
    ``rivals`` are modes of other ranks.
    """
    settings = run.settings
    # Climbs of the evidence begin at the best scales and noise so far. At those of a mode that takes most for noise
    # every other mode disappears, so such modes come last.
    noisy = [theta for theta in known if theta[LOG_NOISE] > np.log(settings.high_noise)]
    others = [theta for theta in known if theta[LOG_NOISE] <= np.log(settings.high_noise)]
    climbs = _EvidenceClimbs(posterior, followed(posterior, [], others, run), run)
    if known and n_climbs < settings.full_search:
        climbs.margin = settings.warm_margin
    population, n_made = Population(settings=settings.population), 0
    for i in range(n_searches if n_climbs else 0):
        run.doing = f"search {i + 1} of at most {n_searches}: " if n_searches > 1 else ""
        before = [] if i else [o.laplace for o in climbs.optima] + mode_search.scored_again(posterior, spare, run)
        try:
            found, made = _found(posterior, n_climbs // n_searches, before, n_made, run)
        except NumericalError:
            if not climbs.optima:  # there is nothing yet to return
                raise
            run.failures += 1
            continue
        population, n_made = reduce(Population.with_mode, found, population), n_made + made
        climbs.begin()
        climbs.make(found[:n_finalists])
        if climbs.optima:
            best, n_last = climbs.optima[0].laplace, settings.climbs.last_climbs(n_climbs)
            climbs.make(sharpening.siblings(posterior, best, found, n_last, run)[:n_finalists])
        if run.is_over() or climbs.agree(rivals):
            break
    run.doing = ""
    return followed(posterior, climbs.counted(), noisy, run), list(population.optima), n_made


def _found(
    posterior: Posterior, n_climbs: int, before: list[Laplace], n_made: int, run: SearchRun
) -> tuple[list[Optimum], int]:
    """What one search found after ``n_made`` climbs of others, and its climbs."""
    found, made = mode_search.search(posterior, n_climbs, before, run)
    sharp = sharpening.sharpened(posterior, found, run.settings.climbs.last_climbs(n_climbs), run)
    return [replace(o, found_at=o.found_at + n_made if o.found_at else 0) for o in sharp], made


class _EvidenceClimbs:
    """Climbs of the evidence from modes that searches found, and the distinct ``optima`` that they led to."""

    def __init__(self, posterior: Posterior, optima: list[Optimum], run: SearchRun) -> None:
        self.posterior, self.optima, self.run = posterior, optima, run
        self.margin = np.inf  # nats below the best from which a climb is not worth while
        self._made: list[tuple[Laplace, Laplace]] = []  # where each began and ended
        self._searches: list[list[Laplace]] = []  # where those of each search ended

    def begin(self) -> None:
        """What follows is from another search."""
        self._searches.append([])

    def make(self, found: Sequence[Optimum]) -> None:
        """Those from the modes that one search found."""
        for i, optimum in enumerate(found):
            self.run.say(f"evidence of mode {i + 1} of {len(found)}")
            with self.run.counting_failures():
                climb = _climb_evidence(self.posterior, optimum.laplace, self.optima, self._made, self.margin, self.run)
                self._made.append(climb)
                self._searches[-1].append(climb[1])
                done = replace(optimum, laplace=climb[1])
                self.optima = merge(self.optima, done, self.run.settings.population)

    def agree(self, rivals: Sequence[Optimum]) -> bool:
        """Whether another search is unlikely to find a better mode than the best.

        That is so where the best of all ranks leaves nothing to noise, or several searches led to the same: more where
        it leaves much, because such modes can be wide and wrong.
        """
        if not self.optima:
            return False
        settings, best = self.run.settings, self.optima[0].laplace
        leading = max((best, *(o.laplace for o in rivals)), key=lambda lap: lap.log_evidence)
        enough = settings.agreeing_searches[settings.is_noisy(leading.theta)]
        return is_clear(leading, settings.climbs) or self._agreeing(best) >= enough

    def counted(self) -> list[Optimum]:
        """The optima, with how many searches led to each."""
        return [replace(o, searches=max(1, self._agreeing(o.laplace))) for o in self.optima]

    def _agreeing(self, lap: Laplace) -> int:
        rules = self.run.settings.population
        return sum(any(same(lap, end, rules) for end in ends) for ends in self._searches)


def _climb_evidence(
    posterior: Posterior,
    found: Laplace,
    optima: list[Optimum],
    climbs: list[tuple[Laplace, Laplace]],
    margin: float,
    run: SearchRun,
) -> tuple[Laplace, Laplace]:
    """Where the climb of the evidence from a mode that was ``found`` begins, and the optimum that it leads to.

    A climb that would begin where one of the ``climbs`` before it began or ended is not made
    again, nor one that would begin more than ``margin`` nats below the best. Each begins at the
    best's scales and noise, or at its own where these suit it better.
    """
    settings = run.settings
    inner, outer = evidence.split(posterior)
    start = found
    if optima and outer.shape[0]:
        best = optima[0].laplace
        moved = found.theta.copy()
        moved[outer] = best.theta[outer]
        there = settle(posterior, moved, inner, settings=settings.newton)
        if there.log_evidence < best.log_evidence - margin:
            return there, there
        start = max((there, found), key=lambda lap: lap.log_evidence)
    if start is found:
        start = settle(posterior, found.theta, inner, settings=settings.newton)
    for known in (*((o.laplace, o.laplace) for o in optima), *climbs):
        if same(start, known[0], settings.population):
            return known
    floor = optima[0].laplace.log_evidence - settings.mixture.discard if optima else -np.inf
    return start, evidence.maximize_evidence(posterior, start, floor, settings=settings)


def followed(posterior: Posterior, optima: list[Optimum], thetas: list[Array], run: SearchRun) -> list[Optimum]:
    """``optima`` and the evidence's optima near known modes, best first."""
    settings = run.settings
    inner, _ = evidence.split(posterior)
    for i, theta in enumerate(thetas):  # one more observation moves a mode little: only the best is followed to the end
        evaluations = settings.evidence.max_evaluations if i == 0 else settings.evidence.few_evaluations
        with run.counting_failures():
            start = settle(posterior, theta, inner, settings=settings.newton)
            lap = evidence.maximize_evidence(posterior, start, max_evaluations=evaluations, settings=settings)
            optima = merge(optima, Optimum(lap), settings.population)
    return optima
