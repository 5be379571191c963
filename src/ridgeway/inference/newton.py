"""Modes of the posterior, the rotation gauge, and the Gaussian around a mode.

For an isotropic kernel ``R`` and ``O R`` are the same model for every rotation ``O``, so at a
mode of a linear embedding the Hessian has ``d(d-1)/2`` eigenvalues that are exactly zero.
Nothing depends on those directions: they are projected out of the Gaussian, and the
evidence takes the volume of the whole orbit in their place.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, eigvalsh
from scipy.linalg.lapack import dpotrf
from scipy.optimize import minimize
from scipy.special import gammaln

from ridgeway.embeddings import Embedding, Linear
from ridgeway.errors import NumericalError
from ridgeway.gp import LOG_SCALE, ConditionedGP
from ridgeway.posterior import Evaluation, Posterior
from ridgeway.types import Array

#: Newton stops at a gradient of this size, in units of the prior's widths: 5e-9 nats at most.
GRADIENT_TOLERANCE = 1e-4
_CAREFUL, _BOLD = 0.1, 0.01  # least curvatures of a Newton step, in units of the prior's
#: Negative curvature, in units of the prior's, that is more than the gauge's rounding.
SADDLE = 1e-3
_AS_PROMISED = 0.9  # share of what a step promised from which one twice as long is tried
_NEAR = 0.1  # of the gradient that a step may leave for its curvature to serve for the next as well
_MOST_APPROACHES = 8  # steps with the curvature of a mode nearby
_APPROACH = 0.3  # of the gradient that such a step may leave
_BEYOND = (1.0, 0.3, 0.1, 0.01)  # how far from a saddle a better point is looked for
_WALL = 1e25  # minus a log density that no point has
_LOG_2PI = float(np.log(2.0 * np.pi))

Solve = Callable[[Array], Array]  # the inverse of a curvature, times a gradient


@dataclass(frozen=True)
class Laplace:
    """A Gaussian approximation of ``p(theta[inner] | y, rest of theta)`` and its evidence."""

    gp: ConditionedGP
    inner: Array  # (n,) indices of theta that the Gaussian is over
    log_density: float  # log p(y, theta) at the mode
    log_evidence: float  # with theta[inner] integrated out
    gradient: Array  # of log p(y, theta) in all of theta
    hessian: Array
    eigenvalues: Array  # (n - gauge,) curvatures in units of the prior's, floored at 1
    eigenvectors: Array  # (n, n - gauge) orthonormal, in units of the prior's widths
    width: Array  # (n,) prior standard deviations: the units
    decrement: float  # nats that a Newton step still promises
    smallest_curvature: float  # before flooring, in units of the prior's

    @property
    def theta(self) -> Array:
        return self.gp.theta

    @property
    def factor(self) -> Array:
        """``F (n, n - gauge)`` with ``F Fᵀ`` the covariance."""
        return self.width[:, None] * self.eigenvectors / np.sqrt(self.eigenvalues)

    def solve(self, rhs: Array) -> Array:
        """The covariance times ``rhs (n, ...)``."""
        F = self.factor
        return F @ (F.T @ rhs)


def gauge_directions(embedding: Embedding, parameters: Array) -> Array:
    """Tangents ``S A`` of the rotation orbit through the parameters, ``(P, d(d-1)/2)``."""
    if not isinstance(embedding, Linear):
        return np.zeros((parameters.shape[0], 0))
    A = parameters.reshape(embedding.rows, -1)
    d = A.shape[0]
    pairs = [(i, j) for i in range(d) for j in range(i + 1, d)]
    tangents = np.zeros((len(pairs), *A.shape))
    for tangent, (i, j) in zip(tangents, pairs, strict=True):
        tangent[i], tangent[j] = A[j], -A[i]
    return tangents.reshape(len(pairs), A.size).T


def log_orbit_volume(embedding: Embedding, parameters: Array) -> float:
    """Logarithm of the volume of ``{O A : O in O(d)}``, all of which is one and the same model."""
    if not isinstance(embedding, Linear):
        return 0.0
    A = parameters.reshape(embedding.rows, -1)
    d = A.shape[0]
    squared = np.zeros(d)
    s = np.linalg.svd(A, compute_uv=False)
    squared[: s.shape[0]] = s**2
    i, j = np.triu_indices(d, 1)
    k = np.arange(2, d + 1)
    spheres = np.sum(np.log(2.0) + 0.5 * k * np.log(np.pi) - gammaln(0.5 * k))
    with np.errstate(divide="ignore"):  # an orbit that is a point has no volume
        return float(np.log(2.0) + spheres + 0.5 * np.log(squared[i] + squared[j]).sum())


def approximate(posterior: Posterior, at: Evaluation, inner: Array, H: Array | None = None) -> Laplace:
    """The Laplace approximation (paper eq. 3) at a mode over ``theta[inner]``.

    Curvature is measured in units of the prior's and floored there: a direction may be no
    wider than the prior, or a bogus mode would earn evidence by being flat. ``H`` is the
    Hessian of the log density in all of ``theta``, if it is known already.
    """
    theta = at.gp.theta
    if H is None:
        H = posterior.hessian(at.gp)
    width = prior_width(posterior, theta)[inner]
    scaled, N = _scaled_curvature(posterior, theta, H, inner, width)
    values, vectors = eigh(scaled, driver="evd", check_finite=False)
    values, vectors = _drop(values, vectors, N)
    floored = floor_curvature(values)
    g = (at.gradient[inner] * width) @ vectors
    log_volume = _log_volume(posterior, theta, floored, width, N.shape[1])
    return Laplace(
        gp=at.gp,
        inner=inner,
        log_density=at.log_density,
        log_evidence=at.log_density + log_volume,
        gradient=at.gradient,
        hessian=H,
        eigenvalues=floored,
        eigenvectors=vectors,
        width=width,
        decrement=0.5 * float(g @ (g / floored)),
        smallest_curvature=float(values.min(initial=1.0)),
    )


def log_volume(posterior: Posterior, theta: Array, inner: Array) -> float:
    """Logarithm of the Gaussian's volume that :func:`approximate` would find at ``theta``."""
    width = prior_width(posterior, theta)[inner]
    scaled, N = _scaled_curvature(posterior, theta, posterior.hessian(posterior.condition(theta)), inner, width)
    # The gauge's eigenvalues are zero: moved beyond all others, they sort last and are left out.
    beyond = 1.0 + 2.0 * float(np.linalg.norm(scaled))
    values = eigvalsh(scaled + beyond * (N @ N.T))[: inner.shape[0] - N.shape[1]]
    return _log_volume(posterior, theta, floor_curvature(values), width, N.shape[1])


def _scaled_curvature(posterior: Posterior, theta: Array, H: Array, inner: Array, width: Array) -> tuple[Array, Array]:
    """``-H`` over ``theta[inner]`` in units of the prior, off the gauge, and a basis of the gauge."""
    N = _gauge(posterior, theta, inner, width)
    return _project_out(-H[np.ix_(inner, inner)] * np.outer(width, width), N), N


def _gauge(posterior: Posterior, theta: Array, inner: Array, width: Array) -> Array:
    """An orthonormal basis of the gauge over ``theta[inner]``, in units of the prior."""
    p = posterior.n_parameters
    tangents = gauge_directions(posterior.embedding, theta[:p])
    padded = np.zeros((inner.shape[0], tangents.shape[1]))
    padded[inner < p] = tangents / width[inner < p, None]
    return _orthonormal(padded)


def _log_volume(posterior: Posterior, theta: Array, curvature: Array, width: Array, n_gauge: int) -> float:
    gaussian = 0.5 * (curvature.shape[0] * _LOG_2PI - np.log(curvature).sum()) + np.log(width).sum()
    gaussian -= n_gauge * np.log(posterior.scale(theta[LOG_SCALE]))
    return float(gaussian) + _gauge_volume(posterior, theta, n_gauge)


def floor_curvature(values: Array) -> Array:
    """Curvatures in units of the prior's, those below it raised smoothly to at least half of it.

    Above 1 nothing changes; the slope is continuous, so that the evidence can be climbed.
    """
    return np.where(values >= 1.0, values, 0.5 + 0.5 * np.exp(2.0 * np.minimum(values - 1.0, 0.0)))


def prior_width(posterior: Posterior, theta: Array) -> Array:
    """Prior standard deviations of all of ``theta``: the natural units; 1 where fixed."""
    stds = posterior.priors.globals[1]
    parameters = np.full(posterior.n_parameters, posterior.scale(theta[LOG_SCALE]))
    return np.concatenate([parameters, np.where(stds > 0, stds, 1.0)])


def climb(posterior: Posterior, theta: Array, inner: Array, max_iterations: int) -> Array:
    """Quasi-Newton ascent of ``log p(y, theta)`` over ``theta[inner]`` (paper: L-BFGS)."""
    width = prior_width(posterior, theta)[inner]
    objective = _Objective(posterior, theta, inner, width)
    result = minimize(
        objective.value_and_gradient,
        theta[inner] / width,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iterations, "maxcor": 20},
    )
    return objective.full(result.x)


def settle(
    posterior: Posterior, theta: Array, inner: Array, near: Laplace | None = None, max_iterations: int = 40
) -> Laplace:
    """The approximation at the mode that Newton's method reaches from ``theta``.

    Newton within a trust radius, saddle-free: where curvatures are negative or nearly zero, they
    count by their size, so every step is downhill. A mode that is ``near`` lends its curvature to
    the first steps, which then cost a gradient each.
    """
    width = prior_width(posterior, theta)[inner]
    objective = _Objective(posterior, theta, inner, width)
    x, radius = theta[inner] / width, 1.0
    if near is not None:
        x = _approached(objective, x, lambda gradient: near.solve(gradient / width) / width)
    for _ in range(max_iterations):
        gradient, H = objective.gradient(x), objective.hessian(x)
        if np.linalg.norm(gradient) < GRADIENT_TOLERANCE:
            beyond = None if _is_positive(H, SADDLE) else _beyond_saddle(objective, x, H)
            if beyond is None:
                break
            x = beyond
            continue
        gauge = _gauge(posterior, objective.full(x), inner, width)
        # From afar with care, lest a step lead to another mode; close to a mode, where one may just fork, boldly.
        careful = near is None
        step, solve = _newton_step(H, gradient, gauge, *((_CAREFUL, 0.0) if careful else (_BOLD, radius)))
        radius, moved = _within(objective, x, H, gradient, step, radius)
        if moved is None:
            break
        x = moved
        if solve is not None and np.linalg.norm(objective.gradient(x)) < _NEAR * np.linalg.norm(gradient):
            x = _approached(objective, x, solve)
    at = objective.evaluate(x)
    return approximate(posterior, at, inner, objective.last_hessian if objective.last_hessian_at is at else None)


def _approached(objective: _Objective, x: Array, solve: Solve) -> Array:
    """``x`` after steps with the curvature of a point nearby, as long as each takes most of the gradient away."""
    for _ in range(_MOST_APPROACHES):
        gradient = objective.gradient(x)
        size = float(np.linalg.norm(gradient))
        if size < GRADIENT_TOLERANCE:
            break
        moved = x - solve(gradient)
        try:
            left = float(np.linalg.norm(objective.gradient(moved)))
        except NumericalError:
            break
        if left > _APPROACH * size:
            break
        x = moved
    return x


def _newton_step(H: Array, gradient: Array, N: Array, least: float, reach: float) -> tuple[Array, Solve | None]:
    """Minus the inverse of ``H`` times the gradient, with curvatures of at ``least`` so much, whatever their sign.

    The gauge ``N`` carries no gradient. Where all else is curved enough, a Cholesky factor
    replaces the eigenvectors, at a tenth of their price, and is returned as the function that
    solves with it. Where it curves the wrong way, a step is at least as long as ``reach``, or
    leaving a saddle would begin slowly.
    """
    lifted = H + N @ N.T
    if _is_positive(lifted, -least):
        with suppress(LinAlgError):  # its two triangles differ by rounding, which enormous entries make large
            factor = cho_factor(lifted, lower=True, check_finite=False)
            solve = partial(cho_solve, factor, check_finite=False)
            return -solve(gradient), solve
    values, vectors = eigh(lifted, driver="evd", check_finite=False)
    rotated = vectors.T @ gradient
    step = -rotated / np.maximum(np.abs(values), least)
    room = reach**2 - float(step[1:] @ step[1:])
    if values[0] < -SADDLE and room > step[0] ** 2:
        step[0] = -np.copysign(np.sqrt(room), rotated[0])
    return vectors @ step, None


def _is_positive(H: Array, shift: float) -> bool:
    """Whether all eigenvalues of ``H`` are above ``-shift``."""
    shifted = H.copy()
    shifted.flat[:: H.shape[0] + 1] += shift
    return int(dpotrf(shifted.T, lower=1, overwrite_a=1, clean=0)[1]) == 0


def _beyond_saddle(objective: _Objective, x: Array, H: Array) -> Array | None:
    """A better point down the most negative curvature, where the gradient vanishes but it goes on; if there is one."""
    _, vectors = eigh(H, driver="evd", check_finite=False)
    sides = [x + side * vectors[:, 0] * length for length in _BEYOND for side in (1.0, -1.0)]
    best = min(sides, key=objective.value)
    return best if objective.value(best) < objective.value(x) else None


def _within(
    objective: _Objective, x: Array, H: Array, gradient: Array, step: Array, radius: float
) -> tuple[float, Array | None]:
    """As much of the step as the density rises by what its model promises; and the radius for the next."""
    here = objective.value(x)
    slope, curvature = float(gradient @ step), float(step @ H @ step)
    length = float(np.linalg.norm(step))
    share, found = min(1.0, radius / length), None
    for _ in range(20):
        promised = -(slope + 0.5 * share * curvature) * share
        moved = x + share * step
        gained = here - objective.value(moved)
        if gained > 0.1 * promised or (promised < 1e-9 and gained > -1e-9):
            radius, found = max(radius, 2.0 * share * length) if gained > 0.7 * promised else radius, moved
            if share == 1.0 or gained < _AS_PROMISED * promised:
                break
            share = min(1.0, 2.0 * share)  # the radius was too careful: go on with the same model
        elif found is not None:
            break
        else:
            radius = 0.25 * share * length
            share = 0.25 * share
    return radius, found


class _Objective:
    """``-log p(y, theta)`` over ``theta[inner]`` in units of the prior, remembering its last point."""

    def __init__(self, posterior: Posterior, theta: Array, inner: Array, width: Array) -> None:
        self.posterior, self.theta, self.inner, self.width = posterior, theta, inner, width
        self.point: Array | None = None
        self.evaluation: Evaluation | None = None
        self.last_hessian: Array | None = None
        self.last_hessian_at: Evaluation | None = None

    def full(self, x: Array) -> Array:
        theta = self.theta.copy()
        theta[self.inner] = x * self.width
        return theta

    def evaluate(self, x: Array) -> Evaluation:
        if self.evaluation is None or self.point is None or not np.array_equal(x, self.point):
            self.evaluation = self.posterior.evaluate(self.full(x))
            self.point = x.copy()
        return self.evaluation

    def value(self, x: Array) -> float:
        try:
            return -self.evaluate(x).log_density
        except NumericalError:
            return np.inf

    def gradient(self, x: Array) -> Array:
        return -self.evaluate(x).gradient[self.inner] * self.width

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        try:
            at = self.posterior.evaluate(self.full(x))
        except NumericalError:  # the line search has gone too far: it steps back from a wall
            return _WALL, np.zeros_like(x)
        return -at.log_density, -at.gradient[self.inner] * self.width

    def hessian(self, x: Array) -> Array:
        self.last_hessian_at = self.evaluate(x)
        self.last_hessian = self.posterior.hessian(self.last_hessian_at.gp)
        return -self.last_hessian[np.ix_(self.inner, self.inner)] * np.outer(self.width, self.width)


def _orthonormal(tangents: Array) -> Array:
    if tangents.shape[1] == 0:
        return tangents
    U, s, _ = np.linalg.svd(tangents, full_matrices=False)
    return U[:, s > 1e-8 * max(1.0, s[0])]


def _project_out(H: Array, N: Array) -> Array:
    if N.shape[1] == 0:
        return H
    H = H - N @ (N.T @ H)
    return H - (H @ N) @ N.T


def _drop(values: Array, vectors: Array, N: Array) -> tuple[Array, Array]:
    """Leave out the eigenvectors that are the gauge."""
    if N.shape[1] == 0:
        return values, vectors
    overlap = np.einsum("ij,ij->j", N.T @ vectors, N.T @ vectors)
    kept = np.sort(np.argsort(overlap)[: values.shape[0] - N.shape[1]])
    return values[kept], vectors[:, kept]


def _gauge_volume(posterior: Posterior, theta: Array, n_gauge: int) -> float:
    """The orbit's volume; where the orbit shrinks to a point, a Gaussian's of the prior's width."""
    p = posterior.n_parameters
    width = posterior.scale(theta[LOG_SCALE])
    gaussian = n_gauge * (0.5 * _LOG_2PI + float(np.log(width)))
    return max(log_orbit_volume(posterior.embedding, theta[:p]), gaussian)
