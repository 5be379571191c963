"""``JointModel``: what BoTorch asks of a model whose joint moments are known at any points.

Observations that are added later condition the joint Gaussian of all points. With the hyperparameters integrated out
they teach the hyperparameters as well as the function, to first order, and nothing has to be fitted.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any, NamedTuple, Self

import torch
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.model import FantasizeMixin
from botorch.posteriors import Posterior
from botorch.posteriors.gpytorch import GPyTorchPosterior
from gpytorch.distributions import MultivariateNormal
from gpytorch.models import GP
from linear_operator.utils.cholesky import psd_safe_cholesky
from torch import Tensor

from ridgeway.gpytorch.tensor_moments import TensorMoments


class Added(NamedTuple):
    """Observations that a model was conditioned on after its fit, as the model sees them: transformed."""

    X: Tensor  # (..., n, D)
    Y: Tensor  # (..., n), its batch shape may be longer
    noise: Tensor  # (..., n) variances

    def and_also(self, X: Tensor, Y: Tensor, noise: Tensor) -> Added:
        """With more observations after these."""
        return Added(*(_joined(a, b, dim) for a, b, dim in zip(self, (X, Y, noise), (-2, -1, -1), strict=True)))


class JointModel(GPyTorchModel, GP, FantasizeMixin):
    """A BoTorch model with one output, from joint moments and the variance of the noise."""

    _num_outputs = 1
    _added: Added | None = None

    @property
    @abstractmethod
    def noise(self) -> Tensor:
        """Variance of a new observation's noise, in the space of transformed outcomes."""

    @abstractmethod
    def moments_without_added(self, X: Tensor) -> TensorMoments:
        """At (transformed) points ``X (..., q, d)``, outcomes transformed."""

    @property
    def batch_shape(self) -> torch.Size:
        """Of the observations that were added, if any."""
        return torch.Size() if self._added is None else self._added.Y.shape[:-1]

    def forward(self, X: Tensor) -> MultivariateNormal:
        """The joint distribution of ``f`` at (transformed) points, outcomes transformed."""
        return self.joint_moments(X).distribution()

    def posterior(
        self,
        X: Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | Tensor = False,
        posterior_transform: PosteriorTransform | None = None,
        **kwargs: Any,
    ) -> Posterior:
        """The joint distribution at ``X (..., q, d)``; see :class:`botorch.models.model.Model`.

        A tensor of ``observation_noise`` is the whole noise, in the space of transformed outcomes.
        """
        if output_indices not in (None, [0]):
            raise ValueError(f"output_indices must be None or [0]: there is one output, got {output_indices}")
        self.eval()
        X = self.transform_inputs(X)
        noise = None
        if observation_noise is not False:
            noise = observation_noise[..., 0] if isinstance(observation_noise, Tensor) else self.noise.to(X)
        posterior: Posterior = GPyTorchPosterior(distribution=self.joint_moments(X).distribution(noise))
        if hasattr(self, "outcome_transform"):
            posterior = self.outcome_transform.untransform_posterior(posterior, X=X)
        return posterior if posterior_transform is None else posterior_transform(posterior=posterior, X=X)

    def condition_on_observations(self, X: Tensor, Y: Tensor, noise: Tensor | None = None, **kwargs: Any) -> Self:
        """The model given more observations ``X (..., n, d)``, ``Y (..., n, 1)``; nothing is fitted.

        ``noise`` is their variance in the space of transformed outcomes, by default as :attr:`noise`.
        """
        self.eval()
        X = self.transform_inputs(X)
        if hasattr(self, "outcome_transform"):
            Y, _ = self.outcome_transform(Y, X=X)
        return self.get_fantasy_model(X, Y[..., 0], None if noise is None else noise[..., 0])

    def get_fantasy_model(self, inputs: Tensor, targets: Tensor, noise: Tensor | None = None) -> Self:
        """As :meth:`condition_on_observations`, for what has been transformed: targets are ``(..., n)``."""
        variance = (self.noise.to(inputs) if noise is None else noise).expand(targets.shape)
        more = (inputs, targets, variance)
        other = copy.copy(self)  # not a deep copy: fantasies may carry gradients
        other._added = Added(*more) if self._added is None else self._added.and_also(*more)
        return other

    # -- joint moments ---------------------------------------------------------------------

    def joint_moments(self, X: Tensor) -> TensorMoments:
        """At (transformed) points ``X (..., q, d)``, given the observations that were added, too."""
        added = self._added
        if added is None:
            return self.moments_without_added(X)
        n, whole = added.X.shape[-2], _joined(added.X.to(X), X, -2)
        mean, covariance, plain = self.moments_without_added(whole)
        noise = torch.diag_embed(added.noise.to(X))
        of_Y, covariance = _given(n, covariance, noise)
        mean = mean[..., n:] + ((added.Y.to(X) - mean[..., :n])[..., None, :] @ of_Y)[..., 0, :]
        shape = mean.shape[:-1] + covariance.shape[-2:]
        return TensorMoments(mean, covariance.expand(shape), _given(n, plain, noise)[1].expand(shape))


def _given(n: int, covariance: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Given the first ``n`` points with this noise: what the others' means are multiplied by, and their covariance."""
    cross = covariance[..., :n, n:]
    factor = psd_safe_cholesky(covariance[..., :n, :n] + noise)
    solved = torch.cholesky_solve(cross.expand(*factor.shape[:-1], cross.shape[-1]), factor)
    return solved, covariance[..., n:, n:] - cross.mT @ solved


def _joined(a: Tensor, b: Tensor, dim: int) -> Tensor:
    """Along ``dim``, which all dimensions before are a batch of."""
    shape = torch.broadcast_shapes(a.shape[:dim], b.shape[:dim])
    return torch.cat([a.expand(shape + a.shape[dim:]), b.expand(shape + b.shape[dim:])], dim=dim)
