"""``marginal``: the paper's marginal GP for any exact GPyTorch model.

Around the mode of the hyperparameters their posterior is taken for a Gaussian. How the mean and the variance of ``f``
change with the hyperparameters says how much their uncertainty adds to the variance (paper eqs. 18-19, and BBQ). These
derivatives are exact, by automatic differentiation of the kernel, the mean function and the noise.
"""

from __future__ import annotations

import copy
from typing import cast

import torch
from gpytorch.distributions import MultivariateNormal
from gpytorch.likelihoods import Likelihood
from gpytorch.likelihoods.gaussian_likelihood import _GaussianLikelihoodBase
from gpytorch.models import ExactGP
from torch import Tensor

from ridgeway import checks
from ridgeway.active.component_view import Spread
from ridgeway.gp.moments import RELATIVE_VARIANCE_FLOOR, marginal_covariance
from ridgeway.gpytorch import laplace
from ridgeway.gpytorch.evaluation import Evaluation
from ridgeway.gpytorch.laplace import Laplace, LaplaceSettings
from ridgeway.gpytorch.tensor_moments import TensorMoments

MARGINALS: tuple[Spread, ...] = ("map", "bbq", "mgp")
_AT_ONCE = 128  # points computed at a time, beside the training data


def marginal(
    model: ExactGP,
    likelihood: Likelihood | None = None,
    kind: Spread = "mgp",
    settings: LaplaceSettings | None = None,
) -> MarginalGP:
    """The model with its hyperparameters integrated out, around the mode next to where they stand.

    Parameters
    ----------
    model, likelihood
        An exact GP with one output and a Gaussian likelihood, fitted or not; by default the model's own likelihood.
        Priors are those that it has. A parameter without a prior gets a wide one around its value.
    kind
        ``"mgp"`` (paper eqs. 18-19), ``"bbq"`` (Osborne et al. 2012) or ``"map"``, which takes the hyperparameters as
        known.

    Examples
    --------
    >>> import gpytorch, torch
    >>> class Model(gpytorch.models.ExactGP):
    ...     def __init__(self, X, y, likelihood):
    ...         super().__init__(X, y, likelihood)
    ...         self.mean_module = gpytorch.means.ConstantMean()
    ...         self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel())
    ...     def forward(self, x):
    ...         return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))
    >>> X = torch.linspace(0, 1, 12, dtype=torch.double)[:, None]
    >>> likelihood = gpytorch.likelihoods.GaussianLikelihood()
    >>> found = marginal(Model(X, torch.sin(6 * X[:, 0]), likelihood).double(), likelihood)
    >>> bool((found(X + 0.3).variance > 0).all())
    True
    """
    checks.choice(kind, MARGINALS, "kind")
    own = _checked(model, likelihood)
    evaluation = Evaluation(own)
    if evaluation.coordinates.size == 0:
        raise ValueError("model must have a hyperparameter that is learned: all have requires_grad=False")
    return MarginalGP(evaluation, laplace.find(evaluation, settings or LaplaceSettings()), kind)


class MarginalGP(torch.nn.Module):
    """An exact GP with its hyperparameters integrated out; made by :func:`marginal`.

    Called with points ``(..., q, d)`` it gives their joint distribution, as the model itself does in evaluation mode.
    """

    def __init__(self, evaluation: Evaluation, around: Laplace, kind: Spread) -> None:
        super().__init__()
        self.evaluation = evaluation
        self.laplace = around
        self.kind: Spread = kind
        with torch.no_grad():
            mean, _, observed = evaluation.prior(around.mode, evaluation.X[:0])
            factor = torch.linalg.cholesky(observed)
            self._inverse = torch.cholesky_inverse(factor)
            self._alpha = torch.cholesky_solve((evaluation.y - mean)[:, None], factor)[:, 0]

    def forward(self, X: Tensor) -> MultivariateNormal:
        """The joint distribution of ``f`` at ``X (..., q, d)``."""
        return self.joint_moments(X).distribution()

    def posterior(self, X: Tensor, observation_noise: bool = False) -> MultivariateNormal:
        """The joint distribution of ``f``, or of noisy observations, at ``X (..., q, d)``."""
        return self.joint_moments(X).distribution(self.noise if observation_noise else None)

    def bald(self, X: Tensor) -> Tensor:
        """Nats about the hyperparameters in ``f`` at each point alone, ``(..., q)`` (paper eqs. 20-21)."""
        _, covariance, plain = self.joint_moments(X[..., None, :])
        return 0.5 * (covariance.log() - plain.log())[..., 0, 0]

    @property
    def noise(self) -> Tensor:
        """Variance of an observation's noise at the mode; the mean where it is known for each."""
        evaluation = self.evaluation
        with torch.no_grad():
            _, covariance, observed = evaluation.prior(self.laplace.mode, evaluation.X[:0])
        return (observed - covariance).diagonal().mean()

    @property
    def hyperparameters(self) -> dict[str, float]:
        """Values at the mode, by name."""
        coordinates = self.evaluation.coordinates
        return dict(zip(coordinates.labels, coordinates.values(self.laplace.mode).tolist(), strict=True))

    def joint_moments(self, X: Tensor) -> TensorMoments:
        """At ``X (..., q, d)``, with the covariance that the mode alone would give beside the marginal one."""
        *batch, q, d = X.shape
        sets = X.reshape(-1, q, d)
        step = max(1, _AT_ONCE // max(q, 1))
        parts = [self._moments(sets[start : start + step]) for start in range(0, sets.shape[0], step)]
        mean, covariance, plain = (torch.cat(part) for part in zip(*parts, strict=True))
        return TensorMoments(mean.reshape(*batch, q), covariance.reshape(*batch, q, q), plain.reshape(*batch, q, q))

    def _moments(self, sets: Tensor) -> TensorMoments:
        s, q, d = sets.shape
        X = sets.reshape(-1, d)
        n, mode = self.evaluation.y.shape[0], self.laplace.mode
        with torch.set_grad_enabled(X.requires_grad):
            mean, covariance, _ = self.evaluation.prior(mode, X)
            cross = covariance[n:, :n]
            solved = cross @ self._inverse
            own = self.evaluation.covariances(mode, sets)
            plain = own - cross.reshape(s, q, n) @ solved.reshape(s, q, n).mT
            scale = own.diagonal(dim1=-2, dim2=-1)
            variance = torch.maximum(plain.diagonal(dim1=-2, dim2=-1), RELATIVE_VARIANCE_FLOOR * scale)
            plain = plain + torch.diag_embed(variance - plain.diagonal(dim1=-2, dim2=-1))
            center = (mean[n:] + cross @ self._alpha).reshape(s, q)
        if self.kind == "map":
            return TensorMoments(center, plain, plain)
        by_mean, by_variance = (part.reshape(s, q, -1) for part in self._spreads(X, solved))
        with torch.set_grad_enabled(X.requires_grad):
            by_spread = by_variance / variance.sqrt()[..., None]
            full = marginal_covariance(plain, by_mean @ by_mean.mT, by_spread @ by_spread.mT, self.kind)
        return TensorMoments(center, cast(Tensor, full), plain)

    def _spreads(self, X: Tensor, solved: Tensor) -> tuple[Tensor, Tensor]:
        """``∂m F`` and ``∂V F`` at points ``X (M, d)``, ``(M, P)`` each; ``solved (M, N)`` are rows ``k G⁻¹``.

        With ``α = G⁻¹ (y - μ)`` and ``a = G⁻¹ k`` held fixed, ``μ* + k α - a (μ + G α)`` and ``k** - 2 k a + a G a``
        have the derivatives of the mean and of the variance: no inverse has to be differentiated.
        """
        n, keep = self.evaluation.y.shape[0], X.requires_grad
        with torch.enable_grad():
            at = self.laplace.mode.detach().clone().requires_grad_()
            mean, covariance, observed = self.evaluation.prior(at, X)
            cross = covariance[n:, :n]
            of_mean = mean[n:] + cross @ self._alpha - solved @ (mean[:n] + observed @ self._alpha)
            quadratic = ((solved @ observed - 2.0 * cross) * solved).sum(1)
            of_variance = covariance.diagonal()[n:] + quadratic
            both = jacobian(torch.cat([of_mean, of_variance]), at, keep)
            spreads = self.laplace.spread(both)
        m = X.shape[0]
        return spreads[:m], spreads[m:]


def jacobian(outputs: Tensor, inputs: Tensor, keep: bool) -> Tensor:
    """Derivatives ``(M, P)`` of ``outputs (M,)`` in ``inputs (P,)``; ``keep`` them differentiable.

    By rows where there are fewer outputs than inputs, one backward pass each. Else by columns: the derivative of
    ``v · outputs`` is linear in ``v``, and its derivative in ``v`` is a column.
    """
    m, p = outputs.shape[0], inputs.shape[0]
    if m <= p:
        units = torch.eye(m).to(outputs)
        rows = [torch.autograd.grad(outputs, inputs, u, retain_graph=True, create_graph=keep)[0] for u in units]
        return torch.stack(rows)
    v = torch.zeros_like(outputs, requires_grad=True)
    (linear,) = torch.autograd.grad(outputs, inputs, v, create_graph=True)
    units = torch.eye(p).to(outputs)
    columns = [torch.autograd.grad(linear, v, u, retain_graph=True, create_graph=keep)[0] for u in units]
    return torch.stack(columns, dim=1)


def _checked(model: ExactGP, likelihood: Likelihood | None) -> ExactGP:
    """A copy of the model that nobody else changes."""
    if not isinstance(model, ExactGP):
        raise TypeError(f"model must be an exact GP of GPyTorch, got {type(model).__name__}")
    if likelihood is not None and likelihood is not model.likelihood:
        raise ValueError("likelihood must be the model's own: ExactGP(train_x, train_y, likelihood)")
    if not isinstance(model.likelihood, _GaussianLikelihoodBase):
        raise TypeError(f"likelihood must be Gaussian, got {type(model.likelihood).__name__}")
    if model.train_targets is None or model.train_targets.dim() != 1:
        shape = None if model.train_targets is None else tuple(model.train_targets.shape)
        raise ValueError(f"model must have one output and no batch: train_targets (n,), got {shape}")
    return copy.deepcopy(model).eval()
