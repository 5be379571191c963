"""The exact process at some points: covariances with every observation, and their derivatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from ridgeway.active.process_view import ProcessAdjoint
from ridgeway.gp import moments
from ridgeway.gp.embeddings import Candidates, MomentGradients, towards
from ridgeway.gp.moments import SlopesAdjoint
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, MEAN, ConditionedGP
from ridgeway.types import Array


class ExactView(NamedTuple):
    """What it says about points, and the derivatives of that."""

    gp: ConditionedGP

    def at(self, z: Array) -> tuple[Array, Array, Candidates]:
        """Mean and variance at points ``z (M, r)``, and what covariances and derivatives need."""
        return moments.predictive(self.gp, z)

    def slopes(self, mean: Array, variance: Array, at: Candidates) -> tuple[Array, Array, Array, Array]:
        """Derivatives of mean and variance in ``theta``, ``(M, P + 4)``, and in the embedded input, ``(M, d)``."""
        return moments.moment_gradients(self.gp, variance, mean, at)

    def covariances(self, x: Candidates, b: Candidates, residual: Array) -> Array:
        """Covariances given the data, ``(M, B)``."""
        result: Array = self.gp.output_variance * self.gp.kernel.value(self._distances(x, b, residual)) - x.k @ b.a.T
        return result

    def pull_back(
        self, at: Candidates, adjoint: ProcessAdjoint, pending: Candidates | None, residual: Array
    ) -> tuple[Array, Array]:
        """Derivatives in the points, ``(M, r)``, and in the ``residual``."""
        gp = self.gp
        Z, U, k = self._pull_back_moments(at, adjoint)
        of_residual = np.zeros_like(residual)
        if pending is not None and adjoint.cross is not None:
            k -= adjoint.cross @ pending.a
            more, of_residual = self._pull_back_distances(at, pending, adjoint.cross, residual)
            U = U + more
        U = U + towards(k * at.K1, at.U, gp.U)
        return Z + gp.embedding.pull_back_projection(gp.parameters, U), of_residual

    def _pull_back_moments(self, at: Candidates, adjoint: ProcessAdjoint) -> tuple[Array, Array, Array]:
        """Down to ``Z``, ``U`` and ``k``; ``U`` without what enters through ``k``."""
        gp, slopes = self.gp, adjoint.slopes
        if slopes is None:
            k = np.outer(adjoint.mean, gp.alpha) - 2.0 * adjoint.variance[:, None] * at.a
            return np.zeros_like(at.Z), np.zeros_like(at.U), k
        p = gp.parameters.shape[0]
        dm, dV, mean_u, variance_u = slopes
        back = gp.embedding.pull_back(gp, at, MomentGradients(dm[:, :p], dV[:, :p], mean_u, variance_u))
        k, a = _pull_back_globals(gp, at, adjoint.mean, adjoint.variance, slopes, back.a)
        k += a @ gp.Ginv
        return back.Z, back.U, k

    @property
    def _by_distance(self) -> bool:
        return self.gp.embedding.reduction == "distance"

    def _distances(self, x: Candidates, b: Candidates, residual: Array) -> Array:
        S = cdist(x.U, b.U, "sqeuclidean")
        if self._by_distance:  # the last coordinate is a distance to the span, without a direction
            scale = np.exp(-2.0 * self.gp.parameters[0])
            S += 2.0 * np.outer(x.U[:, -1], b.U[:, -1]) - 2.0 * scale * residual
        return np.maximum(S, 0.0)

    def _pull_back_distances(self, x: Candidates, b: Candidates, plain: Array, residual: Array) -> tuple[Array, Array]:
        gp = self.gp
        slope = gp.kernel.derivatives(self._distances(x, b, residual))[1]
        along = plain * (2.0 * gp.output_variance * slope)
        U = towards(along, x.U, b.U)
        if not self._by_distance:
            return U, np.zeros_like(residual)
        U[:, -1] += along @ b.U[:, -1]
        return U, -np.exp(-2.0 * gp.parameters[0]) * along


def _pull_back_globals(
    gp: ConditionedGP, at: Candidates, mean: Array, V: Array, slopes: SlopesAdjoint, a: Array
) -> tuple[Array, Array]:
    """The transpose of the derivatives in output scale, noise and mean, down to ``k`` and ``a``."""
    dm, dV = slopes.mean_by_theta, slopes.variance_by_theta
    noise, sigma2 = gp.noise_diagonal, gp.noise_variance
    residual = gp.data.y - gp.mean
    mean = mean + 2.0 * dm[:, LOG_OUTPUT_SCALE]
    V = V + 2.0 * dV[:, LOG_OUTPUT_SCALE]
    a = a - np.outer(2.0 * dm[:, LOG_OUTPUT_SCALE], residual - noise * gp.alpha)
    a -= np.outer(2.0 * sigma2 * dm[:, LOG_NOISE], gp.alpha) + dm[:, MEAN, None]
    a += at.a * (4.0 * sigma2 * dV[:, LOG_NOISE, None] - np.outer(4.0 * dV[:, LOG_OUTPUT_SCALE], noise))
    return np.outer(mean, gp.alpha) - 2.0 * V[:, None] * at.a, a
