"""The log posterior of all hyperparameters, up to the constant that is the evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ridgeway.gp import feature_likelihood, feature_moments, likelihood  # noqa: F401 - to register a process
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.kernels import Kernel
from ridgeway.gp.priors import Priors, parameter_prior
from ridgeway.gp.process import LOG_SCALE, N_GLOBAL
from ridgeway.types import Array

#: A process conditioned on data: a ConditionedGP, or a FeatureProcess, which predicts as well but has no (N, N) matrix.
Process = Any

_LOG_2PI = float(np.log(2.0 * np.pi))


class Evaluation(NamedTuple):
    """``log p(y, theta)`` and its gradient at one ``theta``, with the process they came from."""

    gp: Process
    log_density: float
    gradient: Array


@dataclass(frozen=True)
class Posterior:
    """``p(y, theta)`` for one model and data set; ``D`` is the number of inputs before reduction.

    ``is_line`` marks the model of straight lines, whose output scale is fixed (``inference.line_model``).
    """

    embedding: Embedding
    kernel: Kernel
    data: Any  # a Data, or a FeatureData of many rows
    priors: Priors
    D: int
    is_line: bool = False

    @property
    def n_parameters(self) -> int:
        return self.embedding.n_parameters(self.data.Z.shape[1])

    def scale(self, log_scale: float) -> float:
        """Prior standard deviation of the embedding's parameters."""
        return parameter_prior(self.embedding, self.priors, self.D, log_scale).std

    def log_density(self, theta: Array) -> float:
        """``log p(y, theta)``."""
        return self.log_density_of(self.condition(theta))

    def condition(self, theta: Array) -> Process:
        """The process with these hyperparameters, given the data."""
        return self.data.condition(self.embedding, self.kernel, theta)

    def log_density_of(self, gp: Process) -> float:
        """``log p(y, theta)`` where ``gp`` stands."""
        return gp.log_likelihood() + self._log_prior(gp.theta)

    def evaluate(self, theta: Array) -> Evaluation:
        """``log p(y, theta)`` and its gradient."""
        gp = self.condition(theta)
        log_prior, gradient = self.log_prior_and_gradient(theta)
        gradient += likelihood.gradient(gp)
        return Evaluation(gp, gp.log_likelihood() + log_prior, gradient)

    def hessian(self, gp: Process) -> Array:
        """Second derivatives of ``log p(y, theta)`` where ``gp`` stands; fixed ones have none."""
        return self.hessian_of(gp, likelihood.hessian(gp))

    def hessian_of(self, gp: Process, of_likelihood: Array) -> Array:
        """The same where those of the log likelihood are known."""
        H = of_likelihood.copy()
        theta, p = gp.theta, self.n_parameters
        prior = parameter_prior(self.embedding, self.priors, self.D, theta[LOG_SCALE])
        z = (theta[:p] - prior.mean) / prior.std
        H.flat[: p * H.shape[0] : H.shape[0] + 1] -= prior.std**-2
        mixed = (prior.mean_slope / prior.std + 2.0 * prior.log_std_slope * z) / prior.std
        H[:p, LOG_SCALE] += mixed
        H[LOG_SCALE, :p] += mixed
        H[LOG_SCALE, LOG_SCALE] -= p * (prior.mean_slope / prior.std) ** 2
        H[LOG_SCALE, LOG_SCALE] -= 2.0 * prior.log_std_slope**2 * float(z @ z)
        H.flat[p * (H.shape[0] + 1) :: H.shape[0] + 1] -= self.priors.precisions
        return H

    def prior_width(self, theta: Array) -> Array:
        """Prior standard deviations of all of ``theta``, the natural units; 1 for those that are fixed."""
        stds = self.priors.globals[1]
        parameters = np.full(self.n_parameters, self.scale(theta[LOG_SCALE]))
        return np.concatenate([parameters, np.where(stds > 0, stds, 1.0)])

    def free(self) -> Array:
        """Indices of the hyperparameters that no prior fixes."""
        stds = self.priors.globals[1]
        return np.concatenate([np.arange(self.n_parameters), self.n_parameters + np.flatnonzero(stds > 0)])

    def initial(self, parameters: Array) -> Array:
        """``theta`` with these embedding parameters and the prior's means beside them."""
        return np.concatenate([parameters, self.priors.globals[0]])

    def _log_prior(self, theta: Array) -> float:
        return self.log_prior_and_gradient(theta)[0]

    def log_prior_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """``log p(theta)`` and its gradient."""
        prior = parameter_prior(self.embedding, self.priors, self.D, theta[LOG_SCALE])
        z = (theta[:-N_GLOBAL] - prior.mean) / prior.std
        n, z2 = z.shape[0], float(z @ z)
        means, precisions = self.priors.globals[0], self.priors.precisions
        away = theta[-N_GLOBAL:] - means
        pull = precisions * away
        value = -0.5 * (z2 + float(pull @ away) + n * _LOG_2PI) - n * math.log(prior.std) + self.priors.log_constant
        gradient = np.concatenate([z / -prior.std, -pull])
        gradient[LOG_SCALE] += prior.log_std_slope * (z2 - n)
        if prior.mean_slope:
            gradient[LOG_SCALE] += prior.mean_slope * float(z.sum()) / prior.std
        return value, gradient
