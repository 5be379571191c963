"""A process with a finite basis at some points: covariances are products of the functions of the basis."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ridgeway.active.process_view import ProcessAdjoint
from ridgeway.gp import feature_adjoint, feature_moments
from ridgeway.gp.feature_moments import Waves
from ridgeway.gp.feature_process import FeatureProcess
from ridgeway.types import Array


class BasisView(NamedTuple):
    """What it says about points, and the derivatives of that."""

    gp: FeatureProcess

    def at(self, z: Array) -> tuple[Array, Array, Waves]:
        """Mean and variance at points ``z (M, r)``, and their waves."""
        at = feature_moments.waves(self.gp, z)
        return *feature_moments.plain_at(self.gp, at), at

    def slopes(self, mean: Array, variance: Array, at: Waves) -> tuple[Array, Array, Array, Array]:
        """Derivatives of mean and variance in ``theta``, ``(M, P + 4)``, and in the embedded input, ``(M, d)``."""
        return feature_moments.slopes_at(self.gp, at)[2:]

    def covariances(self, x: Waves, b: Waves, residual: Array) -> Array:
        """Covariances given the rows, ``(M, B)``; so many rows span all inputs."""
        return x.half @ b.half.T

    def pull_back(
        self, at: Waves, adjoint: ProcessAdjoint, pending: Waves | None, residual: Array
    ) -> tuple[Array, Array]:
        """Derivatives in the points, ``(M, r)``, and none in the ``residual``."""
        half = np.zeros_like(at.half)
        if pending is not None and adjoint.cross is not None:
            half += adjoint.cross @ pending.half
        z = feature_adjoint.pull_back(self.gp, at, adjoint.mean, adjoint.variance, half, adjoint.slopes)
        return z, np.zeros_like(residual)
