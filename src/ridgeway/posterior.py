"""The log posterior of all hyperparameters, up to the constant that is the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ridgeway import likelihood
from ridgeway.embeddings import Embedding
from ridgeway.gp import LOG_SCALE, N_GLOBAL, ConditionedGP, Data, condition
from ridgeway.kernels import Kernel
from ridgeway.priors import Priors, parameter_prior
from ridgeway.types import Array

_LOG_2PI = float(np.log(2.0 * np.pi))


class Evaluation(NamedTuple):
    """``log p(y, theta)`` and its gradient at one ``theta``, with the process they came from."""

    gp: ConditionedGP
    log_density: float
    gradient: Array


@dataclass(frozen=True)
class Posterior:
    """``p(y, theta)`` for one model and data set; ``D`` is the number of inputs before reduction."""

    embedding: Embedding
    kernel: Kernel
    data: Data
    priors: Priors
    D: int

    @property
    def n_parameters(self) -> int:
        return self.embedding.n_parameters(self.data.Z.shape[1])

    def scale(self, log_scale: float) -> float:
        """Prior standard deviation of the embedding's parameters."""
        return parameter_prior(self.embedding, self.priors, self.D, log_scale).std

    def log_density(self, theta: Array) -> float:
        """``log p(y, theta)``."""
        return self.log_density_of(self.condition(theta))

    def condition(self, theta: Array) -> ConditionedGP:
        """The process with these hyperparameters, given the data."""
        return condition(self.embedding, self.kernel, self.data, theta)

    def log_density_of(self, gp: ConditionedGP) -> float:
        """``log p(y, theta)`` where ``gp`` stands."""
        return gp.log_likelihood() + self._log_prior(gp.theta)

    def evaluate(self, theta: Array) -> Evaluation:
        """``log p(y, theta)`` and its gradient."""
        gp = self.condition(theta)
        gradient = likelihood.gradient(gp) + self._prior_gradient(theta)
        return Evaluation(gp, self.log_density_of(gp), gradient)

    def hessian(self, gp: ConditionedGP) -> Array:
        """Second derivatives of ``log p(y, theta)`` where ``gp`` stands; fixed ones have none."""
        H = likelihood.hessian(gp)
        theta, p = gp.theta, self.n_parameters
        prior = parameter_prior(self.embedding, self.priors, self.D, theta[LOG_SCALE])
        z = (theta[:p] - prior.mean) / prior.std
        H.flat[: p * H.shape[0] : H.shape[0] + 1] -= prior.std**-2
        mixed = (prior.mean_slope / prior.std + 2.0 * prior.log_std_slope * z) / prior.std
        H[:p, LOG_SCALE] += mixed
        H[LOG_SCALE, :p] += mixed
        H[LOG_SCALE, LOG_SCALE] -= p * (prior.mean_slope / prior.std) ** 2
        H[LOG_SCALE, LOG_SCALE] -= 2.0 * prior.log_std_slope**2 * float(z @ z)
        _, stds = self.priors.globals
        free = np.flatnonzero(stds > 0)
        H[p + free, p + free] -= stds[free] ** -2
        return H

    def free(self) -> Array:
        """Indices of the hyperparameters that no prior fixes."""
        stds = self.priors.globals[1]
        return np.concatenate([np.arange(self.n_parameters), self.n_parameters + np.flatnonzero(stds > 0)])

    def initial(self, parameters: Array) -> Array:
        """``theta`` with these embedding parameters and the prior's means beside them."""
        return np.concatenate([parameters, self.priors.globals[0]])

    def _log_prior(self, theta: Array) -> float:
        prior = parameter_prior(self.embedding, self.priors, self.D, theta[LOG_SCALE])
        z = (theta[:-N_GLOBAL] - prior.mean) / prior.std
        value = -0.5 * float(z @ z) - z.shape[0] * (np.log(prior.std) + 0.5 * _LOG_2PI)
        means, stds = self.priors.globals
        free = stds > 0
        w = (theta[-N_GLOBAL:][free] - means[free]) / stds[free]
        return float(value - 0.5 * float(w @ w) - np.log(stds[free]).sum() - 0.5 * _LOG_2PI * free.sum())

    def _prior_gradient(self, theta: Array) -> Array:
        prior = parameter_prior(self.embedding, self.priors, self.D, theta[LOG_SCALE])
        z = (theta[:-N_GLOBAL] - prior.mean) / prior.std
        result = np.zeros(theta.shape[0])
        result[:-N_GLOBAL] = -z / prior.std
        result[LOG_SCALE] = prior.mean_slope * z.sum() / prior.std
        result[LOG_SCALE] += prior.log_std_slope * (float(z @ z) - z.shape[0])
        means, stds = self.priors.globals
        free = np.flatnonzero(stds > 0)
        result[-N_GLOBAL + free] -= (theta[-N_GLOBAL + free] - means[free]) / stds[free] ** 2
        return result
