"""The mode of a GPyTorch model's hyperparameters, and the Gaussian around it (paper eq. 3)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, eigsh
from torch import Tensor

from ridgeway.errors import NumericalError, RidgewayWarning
from ridgeway.gpytorch.evaluation import Evaluation
from ridgeway.inference.laplace import floor_curvature
from ridgeway.types import Array

Density = Callable[[Tensor], Tensor]
_ROUNDING = 1e-9  # nats: log densities that differ by less are the same, and only their gradients tell them apart


@dataclass(frozen=True)
class LaplaceSettings:
    """How the mode is found and the curvature around it measured.

    Attributes
    ----------
    spread
        A parameter without a prior gets a Gaussian with this standard deviation in its coordinate (a factor of 20
        where that is a logarithm), centred at the value that the model came with: without any, a parameter that the
        data say nothing about would make every prediction infinitely uncertain.
    most_dense
        With more hyperparameters than this, only the leading curvatures are computed, by Lanczos' method from products
        of the Hessian with vectors; in all other directions the prior's is taken.
    rank
        How many are computed then.
    iterations
        Of the search for the mode at most, by L-BFGS and by Newton's method each.
    converged_decrement
        The mode is reached when a Newton step would gain fewer nats.
    doubtful_decrement
        Above this a warning says that it was not reached.
    """

    spread: float = 3.0
    most_dense: int = 256
    rank: int = 64
    iterations: int = 200
    converged_decrement: float = 1e-16
    doubtful_decrement: float = 1e-3


@dataclass(frozen=True)
class Laplace:
    """A Gaussian over the hyperparameters' coordinates.

    Its covariance is ``F Fᵀ`` with ``F = W (1 + V (Λ^-½ - 1) Vᵀ)``: ``W`` the widths of the prior, ``Λ`` and ``V`` the
    curvatures in units of the prior's and their directions; 1 in the directions that ``V`` leaves out.
    """

    mode: Tensor  # (P,)
    width: Tensor  # (P,)
    curvatures: Tensor  # (k,)
    directions: Tensor  # (P, k) orthonormal
    log_density: float  # log p(y, theta) at the mode
    gradient: Tensor  # (P,) of that, next to 0

    def spread(self, jacobian: Tensor) -> Tensor:
        """``J F`` of derivatives ``J (M, P)``: their squared lengths are variances."""
        return self._narrowed(jacobian * self.width)

    @property
    def decrement(self) -> float:
        """Nats that a Newton step would gain."""
        return 0.5 * float(self.spread(self.gradient[None]).square().sum())

    @property
    def step(self) -> Tensor:
        """Newton's, ``F Fᵀ`` times the gradient."""
        return self.width * self._narrowed(self.spread(self.gradient[None]))[0]

    def _narrowed(self, rows: Tensor) -> Tensor:
        return rows + ((rows @ self.directions) * (self.curvatures.rsqrt() - 1.0)) @ self.directions.T

    @property
    def std(self) -> Tensor:
        """Standard deviations of the coordinates, ``(P,)``."""
        return self.spread(torch.eye(self.mode.shape[0]).to(self.mode)).norm(dim=1)

    @property
    def log_evidence(self) -> float:
        """``log p(y)`` (paper eq. 3)."""
        half = 0.5 * float(np.log(2.0 * np.pi))
        volume = self.width.log().sum() - 0.5 * self.curvatures.log().sum()
        return self.log_density + float(volume) + half * self.mode.shape[0]


def find(evaluation: Evaluation, settings: LaplaceSettings) -> Laplace:
    """The Gaussian around the mode that lies next to the model's own hyperparameters."""
    start = evaluation.coordinates.from_model(evaluation.model)

    def log_prior(at: Tensor) -> Tensor:
        away = torch.where(evaluation.has_prior, 0.0, at - start) / settings.spread
        missing = (~evaluation.has_prior).sum()
        constant = missing * np.log(np.sqrt(2.0 * np.pi) * settings.spread)
        return evaluation.log_prior(at) - 0.5 * away.square().sum() - constant

    def log_density(at: Tensor) -> Tensor:
        return evaluation.log_likelihood(at) + log_prior(at)

    mode = _climbed(log_density, start, settings)
    measured = _dense if mode.shape[0] <= settings.most_dense else _leading
    found = measured(log_density, log_prior, mode, settings)
    for _ in range(settings.iterations):
        if found.decrement < settings.converged_decrement:
            break
        better = _stepped(partial(measured, log_density, log_prior, settings=settings), found)
        if better is None:  # as near as floating point allows
            break
        found = better
    if found.decrement > settings.doubtful_decrement:
        warnings.warn(
            f"the mode of the hyperparameters was not reached: a further step would gain {found.decrement:.2g} nats",
            RidgewayWarning,
            stacklevel=3,
        )
    return found


def _climbed(log_density: Density, start: Tensor, settings: LaplaceSettings) -> Tensor:
    """Near the mode, by L-BFGS."""

    def objective(at: Array) -> tuple[float, Array]:
        try:
            value, gradient = _value_and_gradient(log_density, torch.as_tensor(at).to(start))
        except torch.linalg.LinAlgError:  # a covariance that is not positive definite: too far
            return np.inf, np.zeros_like(at)
        return -float(value), -gradient.double().numpy()

    first = objective(start.double().numpy())[0]
    if not np.isfinite(first):
        raise NumericalError("the covariance of the training data is not positive definite at the model's parameters")
    found = minimize(
        objective, start.double().numpy(), jac=True, method="L-BFGS-B",
        options={"maxiter": settings.iterations, "ftol": 1e-14, "gtol": 1e-9},
    )  # fmt: skip
    return torch.as_tensor(found.x).to(start)


def _value_and_gradient(log_density: Density, at: Tensor) -> tuple[Tensor, Tensor]:
    at = at.detach().requires_grad_()
    value = log_density(at)
    (gradient,) = torch.autograd.grad(value, at)
    return value.detach(), gradient


def _products(density: Density, at: Tensor) -> tuple[float, Tensor, Callable[[Tensor], Tensor]]:
    """Value, gradient, and the function that multiplies a vector with the Hessian, by differentiating twice."""
    at = at.detach().requires_grad_()
    value = density(at)
    (gradient,) = torch.autograd.grad(value, at, create_graph=True)

    def product(vector: Tensor) -> Tensor:
        (result,) = torch.autograd.grad(gradient, at, vector, retain_graph=True)
        return result

    return float(value.detach()), gradient.detach(), product


def _width(log_prior: Density, at: Tensor, settings: LaplaceSettings) -> Tensor:
    """Standard deviations of the prior; where it is not curved, what a parameter without a prior has."""
    _, _, product = _products(log_prior, at)
    curvature = -product(torch.ones_like(at))  # priors of one parameter each: a row of the Hessian has one entry
    return curvature.clamp_min(settings.spread**-2).rsqrt()


def _dense(log_density: Density, log_prior: Density, at: Tensor, settings: LaplaceSettings) -> Laplace:
    """The Gaussian from the whole Hessian."""
    value, gradient, product = _products(log_density, at)
    width = _width(log_prior, at, settings)
    hessian = torch.stack([product(unit) for unit in torch.eye(at.shape[0]).to(at)]) * torch.outer(width, width)
    values, vectors = torch.linalg.eigh(-0.5 * (hessian + hessian.T))
    curvatures = torch.as_tensor(floor_curvature(values.double().numpy())).to(at)
    return Laplace(at.detach(), width, curvatures, vectors, value, gradient)


def _leading(log_density: Density, log_prior: Density, at: Tensor, settings: LaplaceSettings) -> Laplace:
    """The Gaussian from the leading curvatures: those that the data give, which are few."""
    value, gradient, product = _products(log_density, at)
    width = _width(log_prior, at, settings)
    p = at.shape[0]

    def beyond_prior(vector: Array) -> Array:
        v = torch.as_tensor(vector.reshape(-1)).to(at)
        return (-width * product(width * v) - v).double().numpy()

    start = np.random.default_rng(0).standard_normal(p)  # the same at each call
    values, vectors = eigsh(LinearOperator((p, p), beyond_prior, dtype=float), k=min(settings.rank, p - 1), v0=start)
    curvatures = torch.as_tensor(floor_curvature(1.0 + values)).to(at)
    return Laplace(at.detach(), width, curvatures, torch.as_tensor(vectors.copy()).to(at), value, gradient)


def _stepped(measured: Callable[..., Laplace], found: Laplace) -> Laplace | None:
    """After a Newton step, halved until it gains; ``None`` where no step does."""
    step = found.step
    for _ in range(20):
        try:
            better = measured(at=found.mode + step)
        except torch.linalg.LinAlgError:  # too far: the covariance is not positive definite there
            step = 0.5 * step
            continue
        if better.decrement < found.decrement and better.log_density > found.log_density - _ROUNDING:
            return better
        step = 0.5 * step
    return None
