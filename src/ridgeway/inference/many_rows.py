"""Modes known from a part of many rows, followed on all of them with a finite basis.

A search for modes needs few rows; scales, noise and the embedding's last digits need all. So modes that were found on
a part are climbed from on a larger part, and those that carry weight there on all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ridgeway.errors import NumericalError
from ridgeway.gp.feature_process import FeatureData
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, LOG_SCALE, N_GLOBAL, Data
from ridgeway.gp.row_source import DataRows
from ridgeway.inference import evidence, newton
from ridgeway.inference.laplace import Laplace, approximate, settle
from ridgeway.inference.mixture import Inferred, KnownMode, mixture
from ridgeway.inference.newton import climb
from ridgeway.inference.population import Optimum, merge
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import SearchSettings
from ridgeway.types import Array

_ROUNDS = 4  # bases at most, each chosen around the mode found with the one before
_FINE = 0.8  # of the waves that would be chosen again
_SAMPLE = 2048  # rows at which modes are compared
_ITERATIONS = 40  # of a quasi-Newton climb before Newton's method takes over
_LINE_SCALE = 1.5  # log output scale that a straight line begins with
_FIRST_NOISES = ((0.6, 25), (0.25, 25))  # noise and iterations through which a start from moments climbs


def infer(part: Posterior, whole: Posterior, modes: Sequence[KnownMode], n_ranks: int, run: SearchRun) -> Inferred:
    """The mixture of modes of ``whole``: of those near ``modes`` and of a regression on ``part``, all that have weight.

    ``part`` and ``whole`` are the same model on a part of the rows and on all.
    """
    optima: list[Optimum] = []
    for i, (model, theta) in enumerate(_starts(part, modes, run)):
        run.say(f"following mode {i + 1} on {part.data.n:,} rows")
        with run.counting_failures():
            optima = merge(optima, Optimum(followed(model, theta, run)), run.settings.population)
    if not optima:
        raise NumericalError(_too_many(part))
    if whole.data.n > part.data.n:
        optima = _on_all(whole, optima, run)
    done = [replace(o, nested=evidence.concluded_by_curvature(o.laplace.posterior, o.laplace)) for o in optima]
    return mixture(done, 0, n_ranks, run)


def _too_many(posterior: Posterior) -> str:
    return (
        f"no finite basis is large enough for a function of {posterior.embedding.n_rows(posterior.D)} directions that "
        "varies so fast: are there inputs of enormous range? Fewer directions, bounds, or approximation='exact' on a "
        "part of the rows are ways on"
    )


def _on_all(whole: Posterior, optima: list[Optimum], run: SearchRun) -> list[Optimum]:
    """The leading modes of a part of the rows, on all of them."""
    rules, best = run.settings, optima[0].laplace.log_evidence
    # Evidence grows with the rows: what is far behind on a part is out of the question on all.
    leading = [o for o in optima if o.laplace.log_evidence > best - rules.mixture.discard][: rules.subset_modes]
    found: list[Optimum] = []
    for i, optimum in enumerate(leading):
        run.say(f"following mode {i + 1} of {len(leading)} on all {whole.data.n:,} rows")
        model = replace(optimum.laplace.posterior, data=whole.data)
        with run.counting_failures():
            near = optimum.laplace
            more = whole.data.n / near.posterior.data.n  # rows, and so curvature
            near = replace(near, eigenvalues=more * near.eigenvalues)
            lap = followed(model, near.theta, run, rules.evidence.few_evaluations, near)
            found = merge(found, replace(optimum, laplace=lap), rules.population)
    if not found:
        raise NumericalError(_too_many(whole))
    return found


def followed(
    model: Posterior, theta: Array, run: SearchRun, evaluations: int | None = None, near: Laplace | None = None
) -> Laplace:
    """The mode near ``theta``, with a basis that is accurate there.

    A mode ``near`` lends its curvature to the first steps.
    """
    inner, _ = evidence.split(model)
    lap = near
    for _ in range(_ROUNDS):
        data = model.data
        assert isinstance(data, FeatureData)
        fixed = replace(model, data=data.around(model.embedding, model.kernel, theta))
        if lap is None:
            theta = climb(fixed, theta, inner, _ITERATIONS)
        start = settle(fixed, theta, inner, lap, settings=run.settings.newton)
        lap = evidence.maximize_evidence(fixed, start, max_evaluations=evaluations, settings=run.settings)
        theta = lap.theta
        assert isinstance(fixed.data, FeatureData)
        if fixed.data.covers(theta) and _is_fine(fixed.data, data.around(model.embedding, model.kernel, theta)):
            return lap
    raise NumericalError("the embedding grows out of every basis")


def refined(posterior: Posterior, found: Laplace, settings: SearchSettings) -> Optimum:
    """A mode found with a finite basis as a mode of the exact ``posterior`` of the same rows.

    Density and gradient are exact, so that the mode is. Curvatures are those of the basis, which are as good as exact
    (:mod:`ridgeway.gp.feature_likelihood`) at a small part of the cost.
    """
    at = newton.refined(posterior, found.theta, found.inner, found.solve, settings.newton)
    lap = approximate(posterior, at, found.inner, found.hessian)
    outer, _ = evidence.conclude(found.posterior, found, settings)
    gained = lap.log_evidence - found.log_evidence
    return Optimum(lap, nested=replace(outer, inner=lap, log_evidence=outer.log_evidence + gained))


def _is_fine(used: FeatureData, wanted: FeatureData) -> bool:
    """Whether a basis has about as many waves as would be chosen for the scales and noise that it led to."""
    assert used.basis is not None
    assert wanted.basis is not None
    return used.basis.m >= _FINE * wanted.basis.m


def infer_exactly(posterior: Posterior, modes: Sequence[KnownMode], n_ranks: int, run: SearchRun) -> Inferred:
    """The mixture of exact modes near ``modes``, each followed with a finite basis before it is refined."""
    data = posterior.data
    assert isinstance(data, Data)
    behind = FeatureData(data.rows(slice(0, _SAMPLE)), data.n, DataRows(data))
    laps: list[Optimum] = []
    for i, mode in enumerate(modes):
        run.say(f"following mode {i + 1} of {len(modes)} on {data.n:,} rows")
        with run.counting_failures():
            model = replace(mode.posterior, data=behind)
            laps = merge(laps, Optimum(followed(model, mode.theta, run)), run.settings.population)
    if not laps:
        raise NumericalError(_too_many(posterior))
    best = laps[0].laplace.log_evidence
    optima = []
    for optimum in laps:
        if optimum.laplace.log_evidence > best - run.settings.mixture.discard:
            run.say(f"refining a mode on {data.n:,} rows")
            model = replace(optimum.laplace.posterior, data=data)
            optima.append(refined(model, optimum.laplace, run.settings))
    return mixture(optima, 0, n_ranks, run)


def _starts(part: Posterior, modes: Sequence[KnownMode], run: SearchRun) -> list[tuple[Posterior, Array]]:
    """Models and where to begin: at known modes, and in the directions that moments of the rows point to."""
    result = []
    for mode in modes:
        model = replace(part, embedding=mode.posterior.embedding)
        result.append((model, _bent(model, mode.theta) if mode.posterior.is_line else mode.theta))
    with run.counting_failures():
        result.append((part, _from_moments(part)))
    return result


def _bent(model: Posterior, theta: Array) -> Array:
    """A straight line as a function that is nearly one."""
    result = theta.copy()
    result[:-N_GLOBAL] *= np.exp(theta[LOG_OUTPUT_SCALE] - _LINE_SCALE)
    result[LOG_OUTPUT_SCALE] = _LINE_SCALE
    size = float(np.sqrt(np.mean(result[:-N_GLOBAL] ** 2)))
    result[LOG_SCALE] = np.clip(np.log(max(size, 1e-12) / model.scale(0.0)), -2.0, 2.0)
    return result


def _from_moments(part: Posterior) -> Array:
    """A climb from the directions of a linear regression and of the residuals' quadratic part (Li 1992)."""
    data = part.data
    assert isinstance(data, FeatureData)
    rows = moment_directions(data.sample, part.embedding.n_rows(part.D))
    length = part.scale(0.0) * np.sqrt(part.D)
    theta = np.concatenate([(length * rows).ravel(), part.priors.globals[0]])
    inner, _ = evidence.split(part)
    for noise, iterations in _FIRST_NOISES:
        if part.priors.globals[1][LOG_NOISE] > 0:
            theta[LOG_NOISE] = np.log(noise)
        fixed = replace(part, data=data.around(part.embedding, part.kernel, theta))
        theta = climb(fixed, theta, inner, iterations)
    return theta


def moment_directions(data: Data, d: int) -> Array:
    """``d`` orthonormal rows: the slope of a linear regression, then principal Hessian directions of what it leaves."""
    Z = data.Z - data.Z.mean(axis=0)
    y = data.y - data.y.mean()
    slope = np.linalg.lstsq(Z, y, rcond=None)[0]
    left = y - Z @ slope
    values, vectors = np.linalg.eigh((Z * left[:, None]).T @ Z)
    order = np.argsort(-np.abs(values))
    rows = np.vstack([slope, vectors[:, order[:d]].T])
    basis, _ = np.linalg.qr(rows.T)
    return np.ascontiguousarray(basis.T[:d])
