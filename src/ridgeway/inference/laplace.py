"""The Gaussian around a mode of the posterior, and the evidence that it gives (paper eq. 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvalsh

from ridgeway.gp.eigen import eigh
from ridgeway.gp.posterior import Evaluation, Posterior, Process
from ridgeway.gp.process import LOG_SCALE
from ridgeway.inference import gauge, newton
from ridgeway.inference.gauge import LOG_2PI
from ridgeway.inference.settings import DEFAULT, NewtonSettings
from ridgeway.types import Array


@dataclass(frozen=True)
class Laplace:
    """A Gaussian approximation of ``p(theta[inner] | y, rest of theta)`` and its evidence."""

    posterior: Posterior  # the model that it approximates
    gp: Process
    inner: Array  # (n,) indices of theta that the Gaussian is over
    log_density: float  # log p(y, theta) at the mode
    log_evidence: float  # with theta[inner] integrated out
    gradient: Array  # of log p(y, theta) in all of theta
    hessian: Array
    eigenvalues: Array  # (n - g,) curvatures in units of the prior's, floored
    eigenvectors: Array  # (n, n - g) orthonormal, in units of the prior's widths
    width: Array  # (n,) prior standard deviations: the units
    decrement: float  # nats that a Newton step still predicts
    smallest_curvature: float  # before flooring, in units of the prior's

    @property
    def theta(self) -> Array:
        return self.gp.theta

    @property
    def factor(self) -> Array:
        """``F (n, n - g)`` with ``F Fᵀ`` the covariance of ``theta[inner]``."""
        return self.width[:, None] * self.eigenvectors / np.sqrt(self.eigenvalues)

    @property
    def full_factor(self) -> Array:
        """The same over all of ``theta``, zero for what the Gaussian is not over."""
        F = np.zeros((self.theta.shape[0], self.eigenvalues.shape[0]))
        F[self.inner] = self.factor
        return F

    def has_arrived(self, settings: NewtonSettings = DEFAULT.newton) -> bool:
        """Whether a Newton step would gain next to nothing.

        On the way to a mode there is no approximation: curvatures that are negative there, raised to the prior's,
        leave the embedding uncertain where the density changes steeply.
        """
        return self.decrement < settings.converged_decrement

    def solve(self, rhs: Array) -> Array:
        """The covariance times ``rhs (n, ...)``."""
        F = self.factor
        return F @ (F.T @ rhs)


def approximate(posterior: Posterior, at: Evaluation, inner: Array, H: Array | None = None) -> Laplace:
    """The Laplace approximation at a mode over ``theta[inner]``.

    Curvature is measured in units of the prior's and floored there: a direction may be no
    wider than the prior, or a spurious mode would earn evidence by being flat. ``H`` is the
    Hessian of the log density in all of ``theta``, if it is known already.
    """
    theta = at.gp.theta
    if H is None:
        H = posterior.hessian(at.gp)
    width = posterior.prior_width(theta)[inner]
    scaled, N = _scaled_curvature(posterior, theta, H, inner, width)
    values, vectors = eigh(scaled)
    values, vectors = gauge.drop(values, vectors, N)
    floored = floor_curvature(values)
    g = (at.gradient[inner] * width) @ vectors
    return Laplace(
        posterior=posterior,
        gp=at.gp.lean(),  # what its derivatives took is not needed any more, and many modes are kept
        inner=inner,
        log_density=at.log_density,
        log_evidence=at.log_density + _log_volume(posterior, theta, floored, width, N.shape[1]),
        gradient=at.gradient,
        hessian=H,
        eigenvalues=floored,
        eigenvectors=vectors,
        width=width,
        decrement=0.5 * float(g @ (g / floored)),
        smallest_curvature=float(values.min(initial=1.0)),
    )


def settle(
    posterior: Posterior,
    theta: Array,
    inner: Array,
    near: Laplace | None = None,
    max_iterations: int | None = None,
    settings: NewtonSettings = DEFAULT.newton,
) -> Laplace:
    """The approximation at the mode that Newton's method reaches from ``theta``.

    A mode that is ``near`` lends its curvature to the first steps, which then cost a gradient each.
    """
    solve = None if near is None else near.solve
    at, H = newton.find_mode(posterior, theta, inner, solve, max_iterations or settings.max_iterations, settings)
    return approximate(posterior, at, inner, H)


def log_volume(posterior: Posterior, theta: Array, inner: Array) -> float:
    """Logarithm of the Gaussian's volume that :func:`approximate` would find at ``theta``."""
    width = posterior.prior_width(theta)[inner]
    scaled, N = _scaled_curvature(posterior, theta, posterior.hessian(posterior.condition(theta)), inner, width)
    # The gauge's eigenvalues are zero: moved beyond all others, they sort last and are left out.
    beyond = 1.0 + 2.0 * float(np.linalg.norm(scaled))
    values = eigvalsh(scaled + beyond * (N @ N.T))[: inner.shape[0] - N.shape[1]]
    return _log_volume(posterior, theta, floor_curvature(values), width, N.shape[1])


def floor_curvature(values: Array) -> Array:
    """Curvatures in units of the prior's, those below it raised smoothly to at least half of it.

    Above 1 nothing changes; the slope is continuous, so that the evidence can be climbed.
    """
    return np.where(values >= 1.0, values, 0.5 + 0.5 * np.exp(2.0 * np.minimum(values - 1.0, 0.0)))


def _scaled_curvature(posterior: Posterior, theta: Array, H: Array, inner: Array, width: Array) -> tuple[Array, Array]:
    """``-H`` over ``theta[inner]`` in units of the prior, off the gauge, and a basis of the gauge."""
    N = gauge.basis(posterior, theta, inner, width)
    return gauge.project_out(-H[np.ix_(inner, inner)] * np.outer(width, width), N), N


def _log_volume(posterior: Posterior, theta: Array, curvature: Array, width: Array, n_gauge: int) -> float:
    gaussian = 0.5 * (curvature.shape[0] * LOG_2PI - np.log(curvature).sum()) + np.log(width).sum()
    gaussian -= n_gauge * np.log(posterior.scale(theta[LOG_SCALE]))
    return float(gaussian) + gauge.log_volume(posterior, theta, n_gauge)
