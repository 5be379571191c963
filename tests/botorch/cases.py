"""A belief with one mode, the BoTorch model of it, and a ``SingleTaskGP`` that is the same model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import gpytorch
import numpy as np
import torch
from botorch.models import SingleTaskGP
from gpytorch.constraints import Positive
from gpytorch.kernels import RBFKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ConstantMean
from torch import Tensor

import ridgeway as rw
from ridgeway.botorch import EmbeddingGP
from ridgeway.gp.process import LOG_OUTPUT_SCALE

D, N = 4, 20
LOWER, UPPER = -1.0, 3.0


class Embedded(RBFKernel):
    """The squared exponential of ``x Rᵀ``."""

    def __init__(self, R: Tensor) -> None:
        super().__init__()
        self.R = R

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: object) -> Tensor:
        u1, u2 = x1 @ self.R.T, x2 @ self.R.T
        if diag:
            return torch.exp(-0.5 * (u1 - u2).square().sum(-1))
        return torch.exp(-0.5 * (u1.unsqueeze(-2) - u2.unsqueeze(-3)).square().sum(-1))


@dataclass(frozen=True)
class Case:
    belief: rw.Belief
    X: Tensor
    Y: Tensor

    def model(self, marginal: str = "mgp") -> EmbeddingGP:
        return EmbeddingGP.from_belief(self.belief, marginal)

    def twin(self) -> SingleTaskGP:
        """The same as a model whose hyperparameters are known."""
        belief, gp = self.belief, self.belief.components[0].gp
        R = torch.tensor(gp.parameters.reshape(-1, D) / belief.space.scaling.half_width)
        model = SingleTaskGP(
            self.X,
            self.Y,
            likelihood=GaussianLikelihood(noise_constraint=Positive()),
            covar_module=ScaleKernel(Embedded(R), outputscale_constraint=Positive()),
            mean_module=ConstantMean(),
            outcome_transform=None,
        ).double()
        model.covar_module.outputscale = belief.output.scale**2 * float(np.exp(2.0 * gp.theta[LOG_OUTPUT_SCALE]))
        model.mean_module.constant = belief.mean
        model.likelihood.noise = belief.noise_variance
        return model


@lru_cache(maxsize=1)
def case() -> Case:
    rng = np.random.default_rng(0)
    X = rng.uniform(LOWER, UPPER, (N, D))
    y = 5.0 + 3.0 * np.sin(X[:, 0] - 0.5 * X[:, 1]) + 0.3 * rng.standard_normal(N)
    belief = rw.fit(X, y, rw.Linear(2), "se", "map", bounds=(LOWER, UPPER), n_starts=3)
    best = replace(belief.components[0], weight=1.0)
    return Case(replace(belief, components=(best,)), torch.tensor(X), torch.tensor(y)[:, None])


def points(*shape: int, seed: int = 1) -> Tensor:
    return torch.tensor(np.random.default_rng(seed).uniform(LOWER, UPPER, (*shape, D)))


def exact() -> object:
    """GPyTorch without its approximations."""
    return gpytorch.settings.fast_computations(False, False, False)
