"""GPyTorch models of several kinds, and one that is the same as a belief's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpytorch
import numpy as np
import torch
from gpytorch.constraints import Interval, Positive
from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import (
    Kernel,
    LinearKernel,
    MaternKernel,
    PeriodicKernel,
    RBFKernel,
    RQKernel,
    ScaleKernel,
    SpectralMixtureKernel,
)
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ConstantMean, LinearMean
from gpytorch.priors import GammaPrior, LogNormalPrior, NormalPrior
from torch import Tensor

import ridgeway as rw

D, N = 3, 25


class Model(gpytorch.models.ExactGP):
    """As in GPyTorch's own examples."""

    def __init__(self, kernel: Kernel, likelihood: Any = None, mean: Any = None) -> None:
        X, y = data()
        super().__init__(X, y, likelihood or GaussianLikelihood(noise_prior=GammaPrior(1.1, 5.0)))
        self.mean_module = mean or ConstantMean()
        self.covar_module = kernel
        self.double()

    def forward(self, x: Tensor) -> MultivariateNormal:
        return MultivariateNormal(self.mean_module(x), self.covar_module(x))


def data() -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (N, D))
    return torch.tensor(X), torch.tensor(np.sin(2.0 * X[:, 0] - X[:, 1]) + 0.1 * rng.standard_normal(N))


def points(*shape: int, seed: int = 1) -> Tensor:
    return torch.tensor(np.random.default_rng(seed).uniform(-1.5, 1.5, (*shape, D)))


def _spectral() -> Kernel:
    kernel = SpectralMixtureKernel(num_mixtures=1, ard_num_dims=D)
    kernel.mixture_means = torch.tensor([0.1, 0.2, 0.3]).reshape(1, 1, D)
    return kernel


#: Among them kernels without a length scale for each input, which GPyTorch differentiates by rules of its own.
MODELS: dict[str, Callable[[], Model]] = {
    "RBF, linear mean": lambda: Model(ScaleKernel(RBFKernel()), mean=LinearMean(D)),
    "Matérn": lambda: Model(ScaleKernel(MaternKernel(nu=1.5, lengthscale_prior=GammaPrior(3.0, 6.0)))),
    "Matérn ARD": lambda: Model(ScaleKernel(MaternKernel(ard_num_dims=D), outputscale_prior=GammaPrior(2.0, 0.15))),
    "rational quadratic": lambda: Model(RQKernel(lengthscale_constraint=Interval(0.1, 20.0))),
    "spectral mixture": lambda: Model(_spectral()),
    "sum of products": lambda: Model(
        ScaleKernel(PeriodicKernel(active_dims=[0]) * RBFKernel(active_dims=[1])) + LinearKernel()
    ),
}

PRIORS = rw.Priors(
    embedding_scale=0.7,
    log_scale=(0.0, 0.0),
    log_output_scale=(0.2, 1.0),
    log_noise=(-2.0, 0.7),
    mean=(0.1, 0.5),
    noise_floor=0.0,
)


def like_diagonal() -> Model:
    """One length scale an input with :data:`PRIORS`: standard deviations there are variances here."""
    length_scale = LogNormalPrior(-float(np.log(0.7)), PRIORS.log_length_scale_std)
    kernel = RBFKernel(ard_num_dims=D, lengthscale_prior=length_scale, lengthscale_constraint=Positive())
    scaled = ScaleKernel(kernel, outputscale_prior=LogNormalPrior(0.4, 2.0), outputscale_constraint=Positive())
    likelihood = GaussianLikelihood(noise_prior=LogNormalPrior(-4.0, 1.4), noise_constraint=Positive())
    return Model(scaled, likelihood, ConstantMean(constant_prior=NormalPrior(0.1, 0.5)))
