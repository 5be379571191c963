"""Observations that deserve a noise of their own: relevance pursuit (Ament et al. 2024) in closed form.

Adding a variance to the noise of one observation changes the log likelihood by a function of its leave-one-out
residual alone, whose maximum over that variance is known (docs/method.md). So whether an observation needs a variance
of its own is answered for all of them at once, those that have one already included. Several outliers hide each other
by raising the noise that all share. So a pursuit also begins with a generous set of suspects, and lets go of those
that the others explain once the shared noise has fallen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.optimize import minimize_scalar

from ridgeway.errors import NumericalError
from ridgeway.gp.priors import Priors
from ridgeway.gp.process import ConditionedGP
from ridgeway.inference.settings import DEFAULT, OutlierSettings
from ridgeway.types import Array, Mask

_LEAST = 1e-9  # of a leave-one-out variance, relative to what it is a difference of: less is rounding
_WIDE = 100.0  # prior standard deviation of a constant of which nothing is known, in units of the data's scale
_MAD = 1.4826  # standard deviation of a normal distribution over its median absolute deviation


@dataclass(frozen=True)
class Observed:
    """Observations of a process with a known covariance, and noise that is shared or an observation's own."""

    y: Array  # (n,) less what is known of their mean
    K: Array | float  # (n, n) covariance of the function's values, that of a constant mean included; or of that alone
    noise: Array  # (n,) variances known beforehand
    log_noise: tuple[float, float]  # prior mean and standard deviation of the logarithm of the shared noise
    floor: float  # standard deviation that is always added where residuals are judged

    @property
    def n(self) -> int:
        return self.y.shape[0]


class Solved(NamedTuple):
    """What the observations say with some noise."""

    alpha: Array  # (n,) G⁻¹ y
    half_log_determinant: float  # of G
    precision: Array  # (n,) diagonal of G⁻¹, empty where it was not asked for


class Verdict(NamedTuple):
    """What the residual of each observation, given all the others, says about it."""

    residual: Array  # (n,) signed, in standard deviations of its leave-one-out prediction
    gain: Array  # (n,) nats that a variance of its own adds
    variance: Array  # (n,) the variance that adds most


class Pursuit(NamedTuple):
    """What a pursuit ended with."""

    own: Array  # (n,) variances of suspects, 0 for all others
    log_noise: float  # of the noise that all share
    log_density: float  # of data and shared noise, less the price of the suspects


def gain(z2: Array) -> Array:
    """Nats that a variance of its own adds to the log likelihood, from the squared standardised residual."""
    larger = np.maximum(z2, 1.0)
    result: Array = 0.5 * (larger - 1.0 - np.log(larger))
    return result


def judge(residual: Array, variance: Array, n: int, settings: OutlierSettings = DEFAULT.outliers) -> Verdict:
    """The verdict on residuals of leave-one-out predictions with these variances, own ones not included.

    The scales behind the variances were learned from ``n`` observations. So a standardised residual has the tails of
    Student's t, and a few observations prove an outlier only if it is a gross one.
    """
    z2 = residual**2 / variance
    freedom = max(n - settings.n_scales, 1.0)
    normal = freedom * np.log1p(z2 / freedom)
    return Verdict(residual / np.sqrt(variance), gain(normal), np.maximum(residual**2 - variance, 0.0))


def examine(seen: Observed, own: Array, log_noise: float, settings: OutlierSettings = DEFAULT.outliers) -> Verdict:
    """The verdict on every observation where some have variances of their own."""
    alpha, _, precision = _solved(seen, own, log_noise, with_precision=True)
    residual = alpha / precision
    # A leave-one-out prediction does not depend on the own noise of the observation that is left out.
    variance = np.maximum(1.0 / precision - own, _LEAST / precision) + seen.floor**2
    # Where a function rises steeply beyond most of the data, a prediction may be wrong by as much as it is beyond them.
    trusted = seen.y[own <= 0]
    beyond = np.abs(seen.y - residual - trusted.mean()) - settings.usual * trusted.std()
    return judge(residual, variance + np.maximum(beyond, 0.0) ** 2, seen.n, settings)


def pursue(seen: Observed, start: Array, settings: OutlierSettings = DEFAULT.outliers) -> Pursuit:
    """The likeliest suspects: of those found from none, from ``start`` (own variances), and from a generous set."""
    nobody = _finished(seen, np.zeros(seen.n), settings)
    first = examine(seen, nobody.own, nobody.log_noise, settings)
    generous = np.where(_worst(np.abs(first.residual), settings), first.variance, 0.0)
    found = [_pursued(seen, nobody.own, settings, nobody.log_noise), _pursued(seen, generous, settings)]
    if np.any(start > 0):
        found.append(_pursued(seen, start, settings))
    return max([nobody, *found], key=lambda pursuit: pursuit.log_density)


def screened(y: Array, known: Array | None = None, settings: OutlierSettings = DEFAULT.outliers) -> Array:
    """Own variances ``(n,)`` of values far from all others whatever their inputs, in squared units of ``y``.

    ``known (n,)`` are noise variances known beforehand: a value that is that uncertain may be far away.
    The process is a constant here. A function with a long tail has such values, too, so this only says where to look.
    Where half of the values are equal there is no scale to compare with.
    """
    n = y.shape[0]
    middle = float(np.median(y))
    scale = _MAD * float(np.median(np.abs(y - middle)))
    if not scale > 0:
        return np.zeros(n)
    noise = np.zeros(n) if known is None else known / scale**2
    seen = Observed((y - middle) / scale, _WIDE**2, noise, (0.0, 1.0), 0.0)
    return scale**2 * pursue(seen, np.zeros(n), settings).own


def behind(gp: ConditionedGP, own: Array, priors: Priors, settings: OutlierSettings = DEFAULT.outliers) -> Observed:
    """The observations behind a process at its mode; ``own`` variances are part of what it takes for known noise."""
    mean, spread = priors.mean
    fixed = priors.log_noise[1] == 0
    return Observed(
        y=gp.data.y - mean,
        K=gp.K + spread**2 + gp.jitter * np.eye(gp.data.n),
        noise=np.maximum(gp.data.noise - own, 0.0),
        log_noise=(gp.log_noise, 0.0) if fixed else priors.log_noise,
        floor=settings.floor * float(np.std(gp.data.y[own <= 0])),
    )


def _pursued(seen: Observed, own: Array, settings: OutlierSettings, log_noise: float | None = None) -> Pursuit:
    """Shared noise and own variances in turn, each the likeliest given the other.

    ``log_noise`` is the likeliest shared noise with variances ``own``, where it is known: it takes a dozen solves.
    """
    for _ in range(settings.rounds):
        if log_noise is None:
            log_noise = _shared_noise(seen, own, settings)
        verdict = examine(seen, own, log_noise, settings)
        suspected = (verdict.gain > settings.price) & _worst(verdict.gain, settings)
        settled = np.array_equal(suspected, own > 0)
        if settled and not suspected.any():
            break
        own, log_noise = np.where(suspected, verdict.variance, 0.0), None
        if settled:
            break
    return _finished(seen, own, settings, log_noise)


def _finished(seen: Observed, own: Array, settings: OutlierSettings, log_noise: float | None = None) -> Pursuit:
    if log_noise is None:
        log_noise = _shared_noise(seen, own, settings)
    price = settings.price * float(np.sum(own > 0))
    return Pursuit(own, log_noise, _log_density(seen, own, log_noise) - price)


def _worst(values: Array, settings: OutlierSettings) -> Mask:
    """A mask of the largest ``values``: as many as may be suspects."""
    n = values.shape[0]
    return np.isin(np.arange(n), np.argsort(-values, kind="stable")[: int(settings.most_share * n)])


def _shared_noise(seen: Observed, own: Array, settings: OutlierSettings) -> float:
    """Logarithm of the likeliest shared noise."""
    mean, spread = seen.log_noise
    if spread == 0:
        return mean
    found = minimize_scalar(
        lambda log_noise: -_log_density(seen, own, log_noise),
        bounds=(mean - settings.noise_reach, mean + settings.noise_reach),
        method="bounded",
        options={"xatol": settings.noise_tolerance},
    )
    return float(found.x)


def _log_density(seen: Observed, own: Array, log_noise: float) -> float:
    """Log likelihood plus log prior of the shared noise, constants apart."""
    mean, spread = seen.log_noise
    prior = 0.0 if spread == 0 else -0.5 * ((log_noise - mean) / spread) ** 2
    solved = _solved(seen, own, log_noise)
    return prior - 0.5 * float(seen.y @ solved.alpha) - solved.half_log_determinant


def _solved(seen: Observed, own: Array, log_noise: float, with_precision: bool = False) -> Solved:
    """``G⁻¹`` in what is needed of it, for ``G = K +`` noise."""
    noise = seen.noise + own + np.exp(2.0 * log_noise)
    if isinstance(seen.K, float):
        return _solved_constant(seen.y, seen.K, noise)
    G = seen.K.copy()
    G.flat[:: seen.n + 1] += noise
    L, info = dpotrf(G.T, lower=1, overwrite_a=1, clean=1)
    if info != 0:
        raise NumericalError("the covariance of the observations is not positive definite")
    alpha, _ = dpotrs(L, seen.y, lower=1)
    half = float(np.log(np.diagonal(L)).sum())
    precision = np.diagonal(dpotri(L, lower=1)[0]) if with_precision else np.zeros(0)
    return Solved(alpha, half, precision)


def _solved_constant(y: Array, variance: float, noise: Array) -> Solved:
    """The same for a constant of this variance, by Sherman and Morrison's formula: any number of observations."""
    w = 1.0 / noise
    share = variance / (1.0 + variance * w.sum())
    half = 0.5 * (float(np.log(noise).sum()) + float(np.log1p(variance * w.sum())))
    return Solved(w * (y - share * float(w @ y)), half, w - share * w**2)
