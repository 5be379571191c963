"""The posterior's volume around the mode of the embedding where there are many rows, and the density times it."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ridgeway.gp.posterior import Evaluation, Posterior, Process
from ridgeway.gp.process import LOG_NOISE, LOG_SCALE, N_GLOBAL
from ridgeway.inference import gauge
from ridgeway.types import Array


def log_volume(gp: Process) -> float:
    """``½ D log |R Rᵀ| + P log noise``, up to a constant: where there are many rows, the function itself is known.

    Then the width of the embedding's entries goes with its own size and with the noise.
    """
    R = _rows(gp)
    return 0.5 * R.shape[1] * float(np.linalg.slogdet(R @ R.T)[1]) + R.size * float(gp.theta[LOG_NOISE])


def volume_gradient(gp: Process, share: float = 1.0) -> Array:
    """How it changes with ``theta``.

    The ``share`` of it is the rows'. The rest is the prior's own, and goes with the prior's scale.
    """
    R = _rows(gp)
    result = np.zeros(gp.theta.shape[0])
    result[:-N_GLOBAL] = share * R.shape[1] * np.linalg.solve(R @ R.T, R).ravel()
    result[LOG_NOISE] = share * R.size
    result[LOG_SCALE] = (1.0 - share) * R.size
    return result


def volume_hessian(gp: Process) -> Array:
    """Its second derivatives, all of it being the rows' share."""
    R = _rows(gp)
    S = np.linalg.inv(R @ R.T)
    SR = S @ R
    across = np.eye(R.shape[1]) - R.T @ SR
    blocks = np.einsum("kl,ij->kilj", S, across) - np.einsum("kj,li->kilj", SR, SR)
    turns, _ = np.linalg.qr(gp.embedding.rotations(gp.parameters))  # which change nothing
    result = np.zeros((gp.theta.shape[0],) * 2)
    result[:-N_GLOBAL, :-N_GLOBAL] = gauge.project_out(R.shape[1] * blocks.reshape(R.size, R.size), turns)
    return result


def _rows(gp: Process) -> Array:
    parameters: Array = gp.parameters
    return parameters.reshape(-1, gp.data.Z.shape[1])


@dataclass(frozen=True)
class WithVolume(Posterior):
    """A posterior density times the volume around the mode of the embedding: its mode is near that of the evidence."""

    @classmethod
    def of(cls, posterior: Posterior) -> WithVolume:
        """Of this density."""
        return cls(**{f.name: getattr(posterior, f.name) for f in fields(posterior)})

    def evaluate(self, theta: Array) -> Evaluation:
        """The logarithm of the product, and its gradient."""
        at = super().evaluate(theta)
        return Evaluation(at.gp, at.log_density + log_volume(at.gp), at.gradient + volume_gradient(at.gp))

    def without(self, at: Evaluation) -> Evaluation:
        """The same of the density alone."""
        return Evaluation(at.gp, at.log_density - log_volume(at.gp), at.gradient - volume_gradient(at.gp))

    def hessian(self, gp: Process) -> Array:
        """Its second derivatives."""
        return super().hessian(gp) + volume_hessian(gp)
