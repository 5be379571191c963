"""Modes followed with a finite basis, then refined with the exact process of the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ridgeway.gp.feature_process import FeatureData
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import Data
from ridgeway.gp.row_source import DataRows
from ridgeway.inference import evidence, many_rows_starts, newton
from ridgeway.inference.laplace import Laplace, approximate
from ridgeway.inference.mixture import Inferred, KnownMode, mixture
from ridgeway.inference.mode_following import ROWS_A_PARAMETER, followed
from ridgeway.inference.population import Optimum, merge
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import SearchSettings

_SAMPLE = 2048  # rows at which modes are compared
_CORRECTIONS, _ARRIVED = 30, 1e-3  # quasi-Newton iterations at most, and nats that are not worth one more
_FEW_ROWS = 1000  # up to which the exact process costs less than a second climb with a basis


def infer(posterior: Posterior, modes: Sequence[KnownMode], n_ranks: int, run: SearchRun) -> Inferred | None:
    """The mixture of exact modes near ``modes``, each followed with a finite basis before it is refined.

    ``None`` where the function varies so fast that no basis is large enough, or where climbs with few rows run away:
    then the exact process has to do alone.
    """
    data = posterior.data
    assert isinstance(data, Data)
    behind = FeatureData(data.rows(slice(0, _SAMPLE)), data.n, DataRows(data))
    laps: list[Optimum] = []
    starts = many_rows_starts.from_modes(replace(posterior, data=behind), modes, run)
    for i, (model, theta) in enumerate(starts):
        run.say(f"following mode {i + 1} of {len(starts)} on {data.n:,} rows")
        with run.counting_failures():
            lap = followed(model, theta, run, once=data.n <= _FEW_ROWS)
            laps = merge(laps, Optimum(lap), run.settings.population)
    if not laps:
        return None
    best = laps[0].laplace.log_evidence
    optima = []
    for optimum in laps:
        if optimum.laplace.log_evidence > best - run.settings.mixture.discard:
            run.say(f"refining a mode on {data.n:,} rows")
            model = replace(optimum.laplace.posterior, data=data)
            optima.append(refined(model, optimum.laplace, run.settings))
    return mixture(optima, 0, n_ranks, run)


def refined(posterior: Posterior, found: Laplace, settings: SearchSettings) -> Optimum:
    """A mode found with a finite basis as a mode of the exact ``posterior`` of the same rows.

    Density and gradient are exact, so that the mode is. Curvatures are those of the basis, which are as good as exact
    (:mod:`ridgeway.gp.feature_likelihood`) at a small part of the cost.
    """
    at = newton.refined(posterior, found.theta, found.inner, found.solve, settings.newton)
    lap = approximate(posterior, at, found.inner, found.hessian)
    if not lap.has_arrived(settings.newton):  # those curvatures are too rough here: gradients correct them
        theta = newton.climb_with(posterior, lap.theta, found.inner, lap.factor, _CORRECTIONS, _ARRIVED)
        lap = approximate(posterior, posterior.evaluate(theta), found.inner, found.hessian)
    if posterior.data.n > ROWS_A_PARAMETER * found.theta.shape[0]:
        outer = evidence.concluded_by_curvature(found.posterior, found)
    else:
        outer, _ = evidence.conclude(found.posterior, found, settings)
    gained = lap.log_evidence - found.log_evidence
    return Optimum(lap, nested=replace(outer, inner=lap, log_evidence=outer.log_evidence + gained))
