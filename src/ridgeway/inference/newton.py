"""Climbs to a mode of the posterior: quasi-Newton from afar, Newton within a trust radius near it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dpotrf
from scipy.optimize import minimize

from ridgeway.errors import NumericalError
from ridgeway.gp import inner_density
from ridgeway.gp.eigen import eigh
from ridgeway.gp.posterior import Evaluation, Posterior
from ridgeway.inference import gauge
from ridgeway.inference.settings import DEFAULT, NewtonSettings
from ridgeway.types import Array

Solve = Callable[[Array], Array]  # the inverse of a curvature, times a gradient

_WALL = 1e25  # stands for minus the log density where there is none
_MEMORY = 20  # steps that the quasi-Newton approximation remembers


def climb(posterior: Posterior, theta: Array, inner: Array, max_iterations: int) -> Array:
    """Quasi-Newton ascent of ``log p(y, theta)`` over ``theta[inner]`` (paper: L-BFGS)."""
    width = posterior.prior_width(theta)[inner]
    density = inner_density.of(posterior, theta, inner)

    def full(x: Array) -> Array:
        moved = theta.copy()
        moved[inner] = x * width
        return moved

    def objective(x: Array) -> tuple[float, Array]:
        try:
            value, gradient = density(full(x))
        except NumericalError:  # the line search has gone too far: it steps back from a wall
            return _WALL, np.zeros_like(x)
        return -value, -gradient[inner] * width

    options = {"maxiter": max_iterations, "maxcor": _MEMORY}
    return full(minimize(objective, theta[inner] / width, jac=True, method="L-BFGS-B", options=options).x)


def climb_with(
    posterior: Posterior, theta: Array, inner: Array, factor: Array, max_iterations: int, left: float
) -> Array:
    """The same in coordinates in which a known curvature is the identity: ``factor (n, k)`` is a square root of its
    inverse.

    It serves where curvatures are expensive and only roughly right: gradients correct them on the way. It ends
    where about ``left`` nats are left to gain.
    """

    def objective(z: Array) -> tuple[float, Array]:
        moved = theta.copy()
        moved[inner] += factor @ z
        try:
            at = posterior.evaluate(moved)
        except NumericalError:
            return _WALL, np.zeros_like(z)
        return -at.log_density, -factor.T @ at.gradient[inner]

    options = {"maxiter": max_iterations, "maxcor": _MEMORY, "gtol": np.sqrt(2.0 * left / factor.shape[1]), "ftol": 0.0}
    result = minimize(objective, np.zeros(factor.shape[1]), jac=True, method="L-BFGS-B", options=options)
    moved = theta.copy()
    moved[inner] += factor @ result.x
    return moved


def find_mode(
    posterior: Posterior,
    theta: Array,
    inner: Array,
    near: Solve | None = None,
    max_iterations: int = DEFAULT.newton.max_iterations,
    settings: NewtonSettings = DEFAULT.newton,
) -> tuple[Evaluation, Array | None]:
    """The mode that Newton's method reaches from ``theta``, and the Hessian there if it was computed.

    Newton within a trust radius, saddle-free: where curvatures are negative or nearly zero, they
    count by their size, so every step is uphill. ``near`` solves with the covariance of a mode
    nearby, which then serves for the first steps.
    """
    width = posterior.prior_width(theta)[inner]
    objective = _Objective(posterior, theta, inner, width)
    x, radius = theta[inner] / width, 1.0
    if near is not None:
        x = _with_known_curvature(objective, x, lambda gradient: near(gradient / width) / width, settings)
    for _ in range(max_iterations):
        gradient, H = objective.gradient(x), objective.hessian(x)
        if np.linalg.norm(gradient) < settings.gradient_tolerance:
            beyond = None if _is_positive(H, settings.saddle) else _beyond_saddle(objective, x, H, settings)
            if beyond is None:
                break
            x = beyond
            continue
        N = gauge.basis(posterior, objective.full(x), inner, width)
        # From afar steps are kept short, so that none leads to another mode. Near a mode, which may be at a
        # bifurcation, they may be as long as the trust radius.
        least, reach = (settings.least_curvature_far, 0.0) if near is None else (settings.least_curvature_near, radius)
        step, solve = _newton_step(H, gradient, N, least, reach, settings)
        radius, moved = _within_radius(objective, x, H, gradient, step, radius, settings)
        if moved is None:
            break
        x = moved
        if solve is not None and np.linalg.norm(objective.gradient(x)) < settings.reuse * np.linalg.norm(gradient):
            x = _with_known_curvature(objective, x, solve, settings)
    at = objective.evaluate(x)
    return at, objective.last_hessian if objective.last_hessian_at is at else None


def refined(
    posterior: Posterior, theta: Array, inner: Array, solve: Solve, settings: NewtonSettings = DEFAULT.newton
) -> Evaluation:
    """The mode that steps with a known curvature lead to from ``theta``; ``solve`` is the curvature's inverse."""
    width = posterior.prior_width(theta)[inner]
    objective = _Objective(posterior, theta, inner, width)
    x = _with_known_curvature(
        objective, theta[inner] / width, lambda gradient: solve(gradient / width) / width, settings
    )
    return objective.evaluate(x)


def _with_known_curvature(objective: _Objective, x: Array, solve: Solve, settings: NewtonSettings) -> Array:
    """``x`` after steps with the curvature of a point nearby, as long as each takes most of the gradient away."""
    for _ in range(settings.reuse_steps):
        gradient = objective.gradient(x)
        size = float(np.linalg.norm(gradient))
        if size < settings.gradient_tolerance:
            break
        moved = x - solve(gradient)
        try:
            left = float(np.linalg.norm(objective.gradient(moved)))
        except NumericalError:
            break
        if left > settings.reuse_progress * size:
            break
        x = moved
    return x


def _newton_step(
    H: Array, gradient: Array, N: Array, least: float, reach: float, settings: NewtonSettings
) -> tuple[Array, Solve | None]:
    """Minus the inverse of ``H`` times the gradient, with curvatures of at ``least`` so much, whatever their sign.

    The gauge ``N`` carries no gradient. Where all else is curved enough, a Cholesky factor
    replaces the eigenvectors, at a tenth of their cost, and is returned as the function that
    solves with it. Where the curvature is negative, the step is at least as long as ``reach``, or
    leaving a saddle point would begin slowly.
    """
    lifted = H + N @ N.T
    if _is_positive(lifted, -least):
        try:
            factor = cho_factor(lifted, lower=True, check_finite=False)
        except LinAlgError:  # rounding: the two triangles of enormous entries differ
            pass
        else:
            solve = partial(cho_solve, factor, check_finite=False)
            return -solve(gradient), solve
    values, vectors = eigh(lifted)
    rotated = vectors.T @ gradient
    step = -rotated / np.maximum(np.abs(values), least)
    room = reach**2 - float(step[1:] @ step[1:])
    if values[0] < -settings.saddle and room > step[0] ** 2:
        step[0] = -np.copysign(np.sqrt(room), rotated[0])
    return vectors @ step, None


def _is_positive(H: Array, shift: float) -> bool:
    """Whether all eigenvalues of ``H`` are above ``-shift``."""
    shifted = H.copy()
    shifted.flat[:: H.shape[0] + 1] += shift
    return int(dpotrf(shifted.T, lower=1, overwrite_a=1, clean=0)[1]) == 0


def _beyond_saddle(objective: _Objective, x: Array, H: Array, settings: NewtonSettings) -> Array | None:
    """A better point along the most negative curvature of a saddle point, if there is one."""
    _, vectors = eigh(H)
    sides = [x + side * vectors[:, 0] * length for length in settings.saddle_distances for side in (1.0, -1.0)]
    best = min(sides, key=objective.value)
    return best if objective.value(best) < objective.value(x) else None


def _within_radius(
    objective: _Objective, x: Array, H: Array, gradient: Array, step: Array, radius: float, settings: NewtonSettings
) -> tuple[float, Array | None]:
    """The radius for the next step, and the point that as much of this one leads to as the trust radius allows."""
    here = objective.value(x)
    slope, curvature = float(gradient @ step), float(step @ H @ step)
    length = float(np.linalg.norm(step))
    share, found = min(1.0, radius / length), None
    for _ in range(settings.max_tries):
        predicted = -(slope + 0.5 * share * curvature) * share
        moved = x + share * step
        gained = here - objective.value(moved)
        if gained > settings.acceptance * predicted or (predicted < 1e-9 and gained > -1e-9):
            radius, found = (
                max(radius, 2.0 * share * length) if gained > settings.enlarge * predicted else radius,
                moved,
            )
            if share == 1.0 or gained < settings.extend * predicted:
                break
            share = min(1.0, 2.0 * share)  # the radius was too small: go on with the same model
        elif found is not None:
            break
        else:
            radius = settings.shrink * share * length
            share = settings.shrink * share
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
            self.evaluation = None  # before the next: each holds several (N, N) matrices
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

    def hessian(self, x: Array) -> Array:
        self.last_hessian_at = self.evaluate(x)
        self.last_hessian = self.posterior.hessian(self.last_hessian_at.gp)
        return -self.last_hessian[np.ix_(self.inner, self.inner)] * np.outer(self.width, self.width)
