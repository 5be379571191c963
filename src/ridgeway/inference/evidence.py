"""Output scale, noise and prior scale by the evidence, with the embedding integrated out.

The joint mode over everything drives the noise to zero. Here the hyperparameters split in
two: the *inner* ones (embedding and mean) get a Laplace approximation for every value of the
*outer* ones (output scale, noise, prior scale), and the outer ones maximise the evidence
that this approximation gives, in the style of INLA.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ridgeway.errors import NumericalError
from ridgeway.gp.eigen import eigh
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, LOG_SCALE, MEAN
from ridgeway.inference.laplace import Laplace, log_volume, settle
from ridgeway.inference.settings import DEFAULT, EvidenceSettings, SearchSettings
from ridgeway.types import Array

_OUTER = (LOG_OUTPUT_SCALE, LOG_NOISE, LOG_SCALE)


def split(posterior: Posterior) -> tuple[Array, Array]:
    """Indices of ``theta`` that are inner, and those that are outer and not fixed."""
    p = posterior.n_parameters
    stds = posterior.priors.globals[1]
    last = p + stds.shape[0]
    inner = list(range(p)) + ([last + MEAN] if stds[MEAN] > 0 else [])
    outer = [last + q for q in _OUTER if stds[q] > 0]
    if posterior.embedding.reduction != "span":
        # The location of the length scales' prior adds nothing where there is but one.
        outer = [q for q in outer if q != last + LOG_SCALE or p > 1]
    return np.array(inner, dtype=int), np.array(outer, dtype=int)


@dataclass(frozen=True)
class Nested:
    """The inner approximation at the best outer hyperparameters, and the outer covariance."""

    inner: Laplace
    outer: Array  # (m,) indices of theta
    outer_factor: Array  # (m, m) with factor factorᵀ the covariance of the outer ones
    log_evidence: float  # with all of theta integrated out
    slack: float  # nats that the outer hyperparameters may still be below their mode

    @property
    def theta(self) -> Array:
        return self.inner.theta

    @property
    def factor(self) -> Array:
        """``F (P + 4, q)`` with ``F Fᵀ`` the covariance of ``theta``."""
        lap = self.inner
        own = lap.factor
        F = np.zeros((self.theta.shape[0], own.shape[1] + self.outer.shape[0]))
        F[lap.inner, : own.shape[1]] = own
        F[lap.inner, own.shape[1] :] = tangent(lap, self.outer) @ self.outer_factor
        F[self.outer, own.shape[1] :] = self.outer_factor
        return F


def tangent(lap: Laplace, outer: Array) -> Array:
    """How the inner mode moves with the outer hyperparameters, ``(n, m)``."""
    return lap.solve(lap.hessian[np.ix_(lap.inner, outer)])


def evidence_gradient(
    posterior: Posterior, lap: Laplace, outer: Array, settings: EvidenceSettings = DEFAULT.evidence
) -> Array:
    """Gradient of the Laplace evidence in the outer hyperparameters.

    At the inner mode the density's own part is its partial derivative; the log determinant is
    differenced along the curve of inner modes, which the implicit function theorem gives.
    """
    slope = tangent(lap, outer)
    width = posterior.prior_width(lap.theta)
    # Near a bifurcation the inner mode moves fast: a step is small for the inner ones as well.
    fastest = np.abs(slope / width[lap.inner, None]).max(axis=0, initial=0.0) * width[outer]
    steps = settings.difference_step * width[outer] / np.maximum(fastest, 1.0)
    moved = np.empty(outer.shape[0])
    for j, (q, step) in enumerate(zip(outer, steps, strict=True)):
        theta = lap.theta.copy()
        theta[q] += step
        theta[lap.inner] += step * slope[:, j]
        moved[j] = log_volume(posterior, theta, lap.inner)
    result: Array = lap.gradient[outer] + (moved - (lap.log_evidence - lap.log_density)) / steps
    return result


def maximize_evidence(
    posterior: Posterior,
    start: Laplace,
    discard_below: float = -np.inf,
    max_evaluations: int | None = None,
    settings: SearchSettings = DEFAULT,
) -> Laplace:
    """Climb the evidence over the outer hyperparameters from ``start``, an inner mode.

    Newton within a trust radius. The curvature is that of the density along the inner modes,
    which each evaluation brings with it, corrected by what the last step has shown of the rest. A
    climb that is still below ``discard_below`` after a few evaluations ends there.
    """
    _, outer = split(posterior)
    if outer.shape[0] == 0:
        return start
    rules = settings.evidence
    best = start
    width = posterior.prior_width(best.theta)[outer]
    gradient = width * evidence_gradient(posterior, best, outer, rules)
    curvature = _outer_curvature(best, outer, width)
    radius, rejected = rules.first_radius, False
    for evaluation in range(rules.max_evaluations if max_evaluations is None else max_evaluations):
        if evaluation >= rules.patience and best.log_evidence < discard_below:
            break
        step = np.linalg.solve(curvature, gradient)
        if gradient @ step < 2.0 * rules.tolerance:
            break
        length = float(np.linalg.norm(step))
        step, length = step * min(1.0, radius / length), min(length, radius)
        predicted = float(gradient @ step - 0.5 * step @ curvature @ step)
        there = _moved(posterior, best, outer, width * step, settings)
        gained = there.log_evidence - best.log_evidence
        if not gained > (0.0 if rejected else rules.acceptance * predicted):
            if length < rules.bifurcation:
                break
            radius, rejected = rules.shrink * length, True
            continue
        if gained > rules.enlarge * predicted:
            radius = max(radius, 2.0 * length)
        rejected = False
        slope = width * evidence_gradient(posterior, there, outer, rules)
        curvature = _corrected(_outer_curvature(there, outer, width), step, gradient - slope, rules)
        best, gradient = there, slope
        if gained < rules.tolerance:
            break
    return best


def _corrected(curvature: Array, step: Array, change: Array, rules: EvidenceSettings) -> Array:
    """A curvature made to agree with how a gradient has changed over a step (BFGS)."""
    along = curvature @ step
    if change @ step < rules.least_update * (step @ along):  # it curves the other way, or nearly
        return curvature
    result: Array = curvature - np.outer(along, along) / (step @ along) + np.outer(change, change) / (change @ step)
    return result


def conclude(posterior: Posterior, lap: Laplace, settings: SearchSettings = DEFAULT) -> tuple[Nested, Laplace]:
    """The covariance of the outer hyperparameters at their mode, and the evidence with all integrated out.

    The evidence is probed one standard deviation up and down each axis that the Schur
    complement suggests, as INLA does: near a bifurcation of the inner mode derivatives
    say little, but the evidence itself still does. Also returned is the probe of most
    evidence, from which to climb on if it beats the mode.
    """
    _, outer = split(posterior)
    if outer.shape[0] == 0:
        return Nested(lap, outer, np.zeros((0, 0)), lap.log_evidence, 0.0), lap
    metric = _metric(posterior, lap, outer)
    probes = [_moved(posterior, lap, outer, sign * axis, settings) for axis in metric.T for sign in (1.0, -1.0)]
    drops = np.array([lap.log_evidence - probe.log_evidence for probe in probes]).reshape(-1, 2)
    drops = np.minimum(drops, settings.evidence.largest_drop)
    curvature = np.maximum(drops.sum(axis=1), settings.evidence.least_curvature)
    factor = metric / np.sqrt(curvature)
    volume = 0.5 * outer.shape[0] * np.log(2.0 * np.pi) + float(np.linalg.slogdet(factor)[1])
    slack = float(np.max((drops[:, 1] - drops[:, 0]) ** 2 / curvature)) / 8.0
    best = max(probes, key=lambda probe: probe.log_evidence)
    return Nested(lap, outer, factor, lap.log_evidence + volume, slack), best


def concluded_by_curvature(posterior: Posterior, lap: Laplace) -> Nested:
    """The same from the density's curvature alone, for so many observations that the evidence is a Gaussian."""
    _, outer = split(posterior)
    if outer.shape[0] == 0:
        return Nested(lap, outer, np.zeros((0, 0)), lap.log_evidence, 0.0)
    factor = _metric(posterior, lap, outer)
    volume = 0.5 * outer.shape[0] * np.log(2.0 * np.pi) + float(np.linalg.slogdet(factor)[1])
    return Nested(lap, outer, factor, lap.log_evidence + volume, 0.0)


def _moved(posterior: Posterior, lap: Laplace, outer: Array, step: Array, settings: SearchSettings) -> Laplace:
    """The inner approximation after a step of the outer hyperparameters."""
    theta = lap.theta.copy()
    theta[outer] += step
    theta[lap.inner] += tangent(lap, outer) @ step
    try:
        return settle(posterior, theta, lap.inner, lap, settings.evidence.max_newton, settings.newton)
    except NumericalError:  # no covariance there: no evidence
        return replace(lap, log_evidence=-np.inf)


def _metric(posterior: Posterior, lap: Laplace, outer: Array) -> Array:
    """Square root of a first guess at the outer covariance."""
    width = posterior.prior_width(lap.theta)[outer]
    values, vectors = eigh(_outer_curvature(lap, outer, width))
    result: Array = width[:, None] * vectors / np.sqrt(values)
    return result


def _outer_curvature(lap: Laplace, outer: Array, width: Array) -> Array:
    """The density's curvature along the inner modes, a Schur complement, in units of the prior's and no less."""
    H = lap.hessian
    cross = H[np.ix_(lap.inner, outer)]
    schur = -H[np.ix_(outer, outer)] - cross.T @ lap.solve(cross)
    values, vectors = eigh(schur * np.outer(width, width))
    result: Array = (vectors * np.maximum(values, 1.0)) @ vectors.T
    return result
