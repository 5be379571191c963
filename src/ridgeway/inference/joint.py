"""``inference="map"``: the paper's joint mode over all hyperparameters, and its Hessian."""

from __future__ import annotations

from collections.abc import Sequence

from ridgeway.errors import NumericalError
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LOG_SCALE, N_GLOBAL
from ridgeway.inference import mode_search, sharpening
from ridgeway.inference.laplace import settle
from ridgeway.inference.mixture import Component, Inferred, KnownMode, at_full_rank, summarise
from ridgeway.inference.newton import climb
from ridgeway.inference.population import Optimum, merge
from ridgeway.inference.search_run import SearchRun


def infer(
    posterior: Posterior, n_starts: int, known: Sequence[KnownMode], run: SearchRun, searched_rank: int = 0
) -> Inferred:
    """The mode of highest density over everything; ``known`` are modes of an earlier belief.

    Lower ranks are not searched, whatever ``searched_rank``.
    """
    free = posterior.free()
    free = free[free != posterior.n_parameters + N_GLOBAL + LOG_SCALE]  # the prior scale is given
    searched, n_made = mode_search.search(posterior, n_starts, (), run) if n_starts else ([], 0)
    searched = sharpening.sharpened(posterior, searched, run.settings.climbs.last_climbs(n_made), run)
    thetas = [at_full_rank(posterior, mode.theta, run.rng) for mode in known]
    counts = [1 for _ in known]
    for optimum in searched[: run.settings.n_finalists]:
        thetas.append(optimum.laplace.theta.copy())
        counts.append(optimum.reached)
    found: list[Optimum] = []
    for theta, reached in zip(thetas, counts, strict=True):
        theta[LOG_SCALE] = posterior.priors.globals[0][LOG_SCALE]
        with run.counting_failures():
            climbed = climb(posterior, theta, free, run.settings.joint_iterations)
            mode = settle(posterior, climbed, free, settings=run.settings.newton)
            found = merge(found, Optimum(mode, reached), run.settings.population)
    if not found:
        raise NumericalError("no mode of the posterior could be followed in floating point")
    found.sort(key=lambda o: -o.laplace.log_density)
    best = found[0].laplace
    component = Component(posterior, best.gp, best.full_factor, 1.0, best.log_evidence)
    ranking = [o.laplace.log_density for o in found]
    return summarise((component,), found, ranking, best.log_evidence, n_made + len(known), 0.0, run)
