"""Logarithm of the expected improvement of a Gaussian, accurate however unlikely an improvement is.

With ``z = (best - mean) / std`` the expected improvement is ``std h(z)``, ``h(z) = phi(z) + z Phi(z)``. Far below
zero the two terms of ``h`` cancel; there the scaled complementary error function keeps all digits (Ament et al.
2023, "Unexpected improvements to expected improvement").
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, ndtr

from ridgeway.types import Array

_LOG_ROOT_2PI = 0.5 * float(np.log(2.0 * np.pi))
_ROOT_HALF_PI = float(np.sqrt(0.5 * np.pi))
_CANCELS = -1.0  # below this the terms of h cancel
_SERIES = -1e3  # below this the next term of the asymptotic series, 3/z², is within rounding of its first


class LogImprovement(NamedTuple):
    """The logarithm of the expected improvement, and its derivatives in mean and variance of the Gaussian."""

    value: Array
    by_mean: Array
    by_variance: Array


class _Gain(NamedTuple):
    log: Array  # of h(z) = phi(z) + z Phi(z)
    density: Array  # phi(z) / h(z)
    tail: Array  # Phi(z) / h(z)


def log_improvement(mean: Array, variance: Array, best: Array) -> LogImprovement:
    """``log E[max(best - f, 0)]`` for ``f ~ N(mean, variance)``; the arguments broadcast."""
    std = np.sqrt(variance)
    gain = _gain((best - mean) / std)
    # d(std h)/d mean = -Phi(z) and d(std h)/d std = phi(z)
    return LogImprovement(np.log(std) + gain.log, -gain.tail / std, gain.density / (2.0 * std * std))


def _gain(z: Array) -> _Gain:
    z = np.asarray(z, dtype=float)
    result = _Gain(*(np.empty_like(z) for _ in range(3)))
    near, far = z > _CANCELS, z <= _SERIES
    for where, branch in ((near, _near), (far, _far), (~(near | far), _between)):
        for out, values in zip(result, branch(z[where]), strict=True):
            out[where] = values
    return result


def _near(z: Array) -> _Gain:
    phi, Phi = np.exp(-0.5 * z * z - _LOG_ROOT_2PI), ndtr(z)
    h = phi + z * Phi
    return _Gain(np.log(h), phi / h, Phi / h)


def _between(z: Array) -> _Gain:
    mills = _ROOT_HALF_PI * erfcx(-z / np.sqrt(2.0))  # Phi / phi
    share = 1.0 + z * mills  # h / phi
    return _Gain(-0.5 * z * z - _LOG_ROOT_2PI + np.log(share), 1.0 / share, mills / share)


def _far(z: Array) -> _Gain:
    squared = z * z
    share = (1.0 - 3.0 / squared) / squared
    return _Gain(-0.5 * squared - _LOG_ROOT_2PI + np.log(share), 1.0 / share, (1.0 - 1.0 / squared) / (-z * share))
