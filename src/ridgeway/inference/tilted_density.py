"""A posterior density times the exponential of a line, and the line that stands for the embedding's volume."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

import numpy as np

from ridgeway.gp.posterior import Evaluation, Posterior
from ridgeway.inference import evidence
from ridgeway.inference.embedding_volume import volume_gradient
from ridgeway.inference.laplace import Laplace, approximate
from ridgeway.types import Array


@dataclass(frozen=True)
class Tilted(Posterior):
    """A posterior density times the exponential of a line in ``theta``."""

    tilt: Array = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, posterior: Posterior, tilt: Array) -> Tilted:
        """With the slopes of that line."""
        return cls(**{f.name: getattr(posterior, f.name) for f in fields(posterior)}, tilt=tilt)

    def evaluate(self, theta: Array) -> Evaluation:
        """The logarithm of the product, and its gradient."""
        at = super().evaluate(theta)
        return Evaluation(at.gp, at.log_density + float(self.tilt @ theta), at.gradient + self.tilt)

    def without(self, at: Evaluation) -> Evaluation:
        """The same of the density alone."""
        return Evaluation(at.gp, at.log_density - float(self.tilt @ at.gp.theta), at.gradient - self.tilt)


@dataclass(frozen=True)
class Frame:
    """The curvature at one point over embedding, mean, scales and noise, and the volume's gradient in the last two."""

    joint: Laplace
    tilt: Array  # (P + 4,)

    @classmethod
    def at(cls, lap: Laplace, outer: Array, more: float = 1.0) -> Frame:
        """From an approximation, for so many times ``more`` rows, and so curvature, than it had."""
        there = Evaluation(lap.gp, lap.log_density, lap.gradient)
        joint = approximate(lap.posterior, there, np.concatenate([lap.inner, outer]), lap.hessian)
        volume = volume_gradient(lap.gp, 1.0 - float(np.mean(1.0 / (more * lap.eigenvalues))))
        tilt = np.zeros_like(volume)
        tilt[outer] = volume[outer] + evidence.tangent(lap, outer).T @ volume[lap.inner]
        return cls(replace(joint, eigenvalues=more * joint.eigenvalues), tilt)

    @property
    def left(self) -> float:
        """Nats that are left to gain."""
        pull = self.joint.factor.T @ (self.joint.gradient + self.tilt)[self.joint.inner]
        return 0.5 * float(pull @ pull)
