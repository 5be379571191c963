"""The closed forms of :mod:`ridgeway.gp` at the hyperparameters of the GPyTorch model that is the same."""

from __future__ import annotations

import numpy as np
from torch import Tensor

import ridgeway as rw
from ridgeway.gp import kernels
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import Data
from ridgeway.gpytorch.evaluation import Evaluation
from ridgeway.inference import laplace
from tests.gpytorch.cases import PRIORS, D, N, data


def same_laplace(evaluation: Evaluation, mode: Tensor) -> laplace.Laplace:
    X, y = (part.numpy() for part in data())
    posterior = Posterior(rw.Diagonal(), kernels.resolve("se"), Data(X, y, np.zeros(N)), PRIORS, D)
    at = dict(zip(evaluation.coordinates.labels, mode.tolist(), strict=True))
    length_scales = [at[f"covar_module.base_kernel.lengthscale[{i}]"] for i in range(D)]
    output_scale, noise = 0.5 * at["covar_module.outputscale"], 0.5 * at["likelihood.noise_covar.noise"]
    theta = np.array([*length_scales, output_scale, noise, at["mean_module.constant"], 0.0])
    return laplace.approximate(posterior, posterior.evaluate(theta), posterior.free())
