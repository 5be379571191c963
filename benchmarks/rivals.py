"""The same quantities by other people's code, written as a competent user would.

Imported only where a rival is timed, so that the measurement of memory does not pay for them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

HESSIAN_BLOCK = 16  # rows of the Hessian at a time in reverse over reverse; fastest of 16, 64 and all
FORWARD_BLOCK = 500  # candidates at a time in forward mode; fastest of 50, 100, 200, 500 and 1,000
REVERSE_BLOCK = 25  # candidates at a time in reverse mode; fastest of 5, 25 and 100


class TorchLikelihood(NamedTuple):
    """Derivatives of ``log p(y | X, theta)`` in ``theta = [R, log gamma, log sigma, mean]``."""

    gradient: Callable[[], Any]
    hessian: Callable[[], Any]  # torch.func.hessian: forward over reverse
    hessian_in_blocks: Callable[[], Any]  # reverse over reverse, a few rows at a time


class TorchMoments(NamedTuple):
    """Derivatives of mean and variance at ``M`` points in ``R``, two arrays ``(M, d, D)``."""

    forward: Callable[[Any], tuple[Any, Any]]
    reverse: Callable[[Any], tuple[Any, Any]]


def torch_likelihood(X: np.ndarray, y: np.ndarray, theta: np.ndarray, d: int) -> TorchLikelihood:
    """Automatic differentiation of the log likelihood; ``theta (d D + 3,)``."""
    torch = _torch()
    inputs, outputs, at = torch.tensor(X), torch.tensor(y), torch.tensor(theta)
    n, D = X.shape

    def log_likelihood(t: Any) -> Any:
        U = inputs @ t[: d * D].reshape(d, D).T
        log_gamma, log_sigma, mean = t[d * D :]
        K = torch.exp(2.0 * log_gamma - 0.5 * _squared_distances(U, U))
        L = torch.linalg.cholesky(K + torch.exp(2.0 * log_sigma) * torch.eye(n))
        r = (outputs - mean)[:, None]
        fit = (r * torch.cholesky_solve(r, L)).sum()
        return -0.5 * fit - torch.log(torch.diagonal(L)).sum() - 0.5 * n * math.log(2.0 * math.pi)

    def gradient() -> Any:
        t = at.clone().requires_grad_()
        return torch.autograd.grad(log_likelihood(t), t)[0]

    rows = torch.func.jacrev(torch.func.grad(log_likelihood), chunk_size=HESSIAN_BLOCK)
    return TorchLikelihood(gradient, lambda: torch.func.hessian(log_likelihood)(at), lambda: rows(at))


def torch_moments(X: np.ndarray, y: np.ndarray, R: np.ndarray, noise_variance: float) -> TorchMoments:
    """Automatic differentiation of the predictive moments; output scale 1 and mean 0."""
    torch = _torch()
    inputs, outputs, at = torch.tensor(X), torch.tensor(y), torch.tensor(R)

    def moments(R: Any, points: Any) -> tuple[Any, Any]:
        U = inputs @ R.T
        L = torch.linalg.cholesky(torch.exp(-0.5 * _squared_distances(U, U)) + noise_variance * torch.eye(len(U)))
        k = torch.exp(-0.5 * _squared_distances(points @ R.T, U))
        alpha = torch.cholesky_solve(outputs[:, None], L)[:, 0]
        v = torch.linalg.solve_triangular(L, k.T, upper=False)
        return k @ alpha, 1.0 - (v * v).sum(0)

    def one(R: Any, point: Any) -> tuple[Any, Any]:
        mean, variance = moments(R, point[None])
        return mean[0], variance[0]

    def forward(points: Any) -> tuple[Any, Any]:
        parts = [torch.func.jacfwd(moments)(at, block) for block in torch.tensor(points).split(FORWARD_BLOCK)]
        means, variances = zip(*parts, strict=True)
        return torch.cat(means), torch.cat(variances)

    per_point = torch.func.vmap(torch.func.jacrev(one), in_dims=(None, 0), chunk_size=REVERSE_BLOCK)
    return TorchMoments(forward, lambda points: per_point(at, torch.tensor(points)))


def sklearn_fixed(
    X: np.ndarray, y: np.ndarray, R: np.ndarray, noise_variance: float, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance at points by scikit-learn's process on embedded inputs, hyperparameters given."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    model = GaussianProcessRegressor(RBF(1.0), alpha=noise_variance, optimizer=None).fit(X @ R.T, y)
    mean, std = model.predict(points @ R.T, return_std=True)
    return mean, std**2


def sklearn_ard(X: np.ndarray, y: np.ndarray) -> Any:
    """scikit-learn's process with one length scale an input, a learned noise and one start."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    lengths = np.full(X.shape[1], np.sqrt(X.shape[1]))
    kernel = ConstantKernel() * RBF(lengths, (1e-2, 1e3)) + WhiteKernel(0.1)
    with warnings.catch_warnings():
        # It warns of every length scale at its bound, where those of inputs without effect belong.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return GaussianProcessRegressor(kernel, normalize_y=True).fit(X, y)


def smt_mgp(X: np.ndarray, y: np.ndarray, d: int, noise_variance: float) -> Any:
    """SMT's MGP from one start, given the noise (relative to the output variance, here 1)."""
    from smt.surrogate_models import MGP

    model = MGP(n_comp=d, noise0=[noise_variance], n_start=1, print_global=False)
    model.set_training_values(X, y)
    model.train()
    return model


def _squared_distances(U: Any, V: Any) -> Any:
    return (U * U).sum(-1)[:, None] + (V * V).sum(-1)[None] - 2.0 * U @ V.T


def _torch() -> Any:
    import torch

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    return torch
