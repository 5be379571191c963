"""A GPyTorch model as a function of its hyperparameters, which can be differentiated twice."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import gpytorch
import torch
from gpytorch.distributions import MultivariateNormal
from gpytorch.models import ExactGP
from linear_operator import to_linear_operator
from torch import Tensor

from ridgeway.gpytorch.coordinates import Coordinates


class Prior(NamedTuple):
    """Mean and covariance before any data, with what the noise adds where there are data."""

    mean: Tensor  # (N + M,)
    covariance: Tensor  # (N + M, N + M)
    observed: Tensor  # (N, N) with noise


class Evaluation(torch.nn.Module):
    """The model at given coordinates of its hyperparameters.

    GPyTorch's fast paths are switched off inside: they are not made to be differentiated twice.
    """

    def __init__(self, model: ExactGP) -> None:
        super().__init__()
        self.model = model
        self.coordinates = Coordinates.of(model)
        self.has_prior = self._has_prior()

    @property
    def X(self) -> Tensor:
        """Training inputs, ``(N, d)``."""
        return self.model.train_inputs[0]

    @property
    def y(self) -> Tensor:
        """Training outcomes, ``(N,)``."""
        return self.model.train_targets

    def forward(self, function: Callable[[], Any]) -> Any:
        return function()

    def at(self, coordinates: Tensor, function: Callable[[], Any]) -> Any:
        """What ``function`` gives while the model has these hyperparameters."""
        return self._with(self.coordinates.raw(coordinates), function)

    def prior(self, coordinates: Tensor, X: Tensor) -> Prior:
        """Of ``f`` at the training inputs followed by ``X (M, d)``."""
        return self.at(coordinates, lambda: self._prior(X))

    def covariances(self, coordinates: Tensor, X: Tensor) -> Tensor:
        """Prior covariances within each set of points ``X (S, q, d)``, ``(S, q, q)``."""
        return self.at(coordinates, lambda: self.model.forward(X).covariance_matrix)

    def log_prior(self, coordinates: Tensor) -> Tensor:
        """Log density of the coordinates under GPyTorch's priors, which are densities of the values."""
        slopes = torch.where(self.has_prior, self.coordinates.log_slopes(coordinates), 0.0)
        return self.at(coordinates, self._log_prior_of_values) + slopes.sum()

    def log_likelihood(self, coordinates: Tensor) -> Tensor:
        """``log p(y | X, theta)``."""
        mean, _, observed = self.prior(coordinates, self.X[:0])
        factor = torch.linalg.cholesky(observed)
        away = torch.linalg.solve_triangular(factor, (self.y - mean)[:, None], upper=False)
        constant = 0.5 * self.y.shape[0] * math.log(2.0 * math.pi)
        return -0.5 * away.square().sum() - factor.diagonal().log().sum() - constant

    def _with(self, raw: dict[str, Tensor], function: Callable[[], Any]) -> Any:
        named = {f"model.{name}": value for name, value in raw.items()}
        with gpytorch.settings.trace_mode(), gpytorch.settings.lazily_evaluate_kernels(False):
            return torch.func.functional_call(self, named, (function,))

    def _prior(self, X: Tensor) -> Prior:
        n = self.y.shape[0]
        found = self.model.forward(torch.cat([self.X, X]))
        mean, covariance = found.mean, found.covariance_matrix
        data = MultivariateNormal(mean[:n], to_linear_operator(covariance[:n, :n]))
        return Prior(mean, covariance, self.model.likelihood(data, [self.X]).covariance_matrix)

    def _log_prior_of_values(self) -> Tensor:
        total = self.y.new_zeros(())
        for _, module, prior, closure, _ in self.model.named_priors():
            total = total + prior.log_prob(closure(module)).sum()
        return total

    def _has_prior(self) -> Tensor:
        """Which coordinates a prior depends on, ``(P,)``."""
        named = dict(self.model.named_parameters())
        raw = {part.name: named[part.name].detach().clone().requires_grad_() for part in self.coordinates.parts}
        total = self._with(raw, self._log_prior_of_values)
        if total.grad_fn is None:
            return torch.zeros(self.coordinates.size, dtype=torch.bool)
        slopes = torch.autograd.grad(total, list(raw.values()), allow_unused=True)
        parts = zip(self.coordinates.parts, slopes, strict=True)
        return torch.cat([torch.full((part.size,), slope is not None) for part, slope in parts])
