"""Where climbs with a finite basis begin: at known modes, also without a direction of theirs, and at moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ridgeway.errors import NumericalError
from ridgeway.gp.eigen import eigh
from ridgeway.gp.feature_process import FeatureData
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, LOG_SCALE, N_GLOBAL, Data
from ridgeway.inference import evidence
from ridgeway.inference.mixture import KnownMode
from ridgeway.inference.newton import climb
from ridgeway.inference.search_run import SearchRun
from ridgeway.types import Array

_AFFORDABLE = 0.1  # nats a row that a direction less may cost to be tried
_LINE_SCALE = 1.5  # log output scale that a straight line begins with
_FIRST_NOISES = ((0.6, 25), (0.25, 25))  # noise and iterations through which a start from moments climbs


def from_modes(part: Posterior, modes: Sequence[KnownMode], run: SearchRun) -> list[tuple[Posterior, Array]]:
    """Models and where to begin: at known modes, and at the best of them without a direction that hardly matters."""
    result = []
    for mode in modes:
        model = replace(part, embedding=mode.posterior.embedding)
        result.append((model, _bent(model, mode.theta) if mode.posterior.is_line else mode.theta))
    if modes:
        result += of_lower_rank(*result[0], run)
    return result


def of_lower_rank(model: Posterior, theta: Array, run: SearchRun) -> list[tuple[Posterior, Array]]:
    """The same mode without the direction along which the function varies least, and so on while that costs little."""
    result: list[tuple[Posterior, Array]] = []
    few = replace(model, data=model.data.rows(slice(0, run.settings.subset)))
    for smaller in reversed(model.embedding.lower_ranks()):
        try:
            gp = few.condition(theta)
        except NumericalError:  # whoever follows the mode will say so
            break
        _, axes = eigh(np.cov(gp.mean_slopes().T))
        rows = axes.T[1:] @ gp.parameters.reshape(axes.shape[0], -1)
        lower = replace(few, embedding=smaller)
        theta = np.concatenate([rows.ravel(), theta[-N_GLOBAL:]])
        if lower.log_density(theta) < few.log_density_of(gp) - _AFFORDABLE * few.data.n:
            break
        result.append((replace(model, embedding=smaller), theta))
        few = lower
    return result


def _bent(model: Posterior, theta: Array) -> Array:
    """A straight line as a function that is nearly one."""
    result = theta.copy()
    result[:-N_GLOBAL] *= np.exp(theta[LOG_OUTPUT_SCALE] - _LINE_SCALE)
    result[LOG_OUTPUT_SCALE] = _LINE_SCALE
    size = float(np.sqrt(np.mean(result[:-N_GLOBAL] ** 2)))
    result[LOG_SCALE] = np.clip(np.log(max(size, 1e-12) / model.scale(0.0)), -2.0, 2.0)
    return result


def from_moments(part: Posterior) -> Array:
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
        fixed = replace(part, data=data.around(part.embedding, part.kernel, theta, is_draft=True))
        theta = climb(fixed, theta, inner, iterations)
    return theta


def moment_directions(data: Data, d: int) -> Array:
    """``d`` orthonormal rows: the slope of a linear regression, then principal Hessian directions of what it leaves."""
    Z = data.Z - data.Z.mean(axis=0)
    y = data.y - data.y.mean()
    slope = np.linalg.lstsq(Z, y, rcond=None)[0]
    left = y - Z @ slope
    values, vectors = eigh((Z * left[:, None]).T @ Z)
    order = np.argsort(-np.abs(values))
    rows = np.vstack([slope, vectors[:, order[:d]].T])
    basis, _ = np.linalg.qr(rows.T)
    return np.ascontiguousarray(basis.T[:d])
