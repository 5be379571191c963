"""``qInformation``: what observations would teach about the hyperparameters, as a BoTorch acquisition."""

from __future__ import annotations

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.utils.transforms import concatenate_pending_points, t_batch_mode_transform
from torch import Tensor

from ridgeway.botorch.joint_model import JointModel


class qInformation(AcquisitionFunction):  # noqa: N801 - as BoTorch names what is joint in q points
    """Nats that ``q`` noisy observations together would give about the hyperparameters (BALD, paper eqs. 20-21).

    ``½ log det(C̃ + σ²) - ½ log det(C + σ²)``, with ``C̃`` the covariance of ``f`` with the hyperparameters integrated
    out and ``C`` that at their modes. Given pending points it is what the others add to them. With ``noisy=False``
    it is the information in ``f`` itself, for one point at a time: without noise, points very close together would
    measure the slope as well.

    Parameters
    ----------
    model
        An :class:`~ridgeway.botorch.EmbeddingGP` or a :class:`~ridgeway.botorch.MarginalModel`.
    X_pending
        Points ``(n, d)`` whose outcomes are on their way.
    """

    def __init__(self, model: JointModel, X_pending: Tensor | None = None, noisy: bool = True) -> None:
        super().__init__(model=model)
        self.noisy = noisy
        self.set_X_pending(X_pending)

    def set_X_pending(self, X_pending: Tensor | None = None) -> None:
        super().set_X_pending(X_pending)
        self._of_pending: Tensor | float = 0.0
        if X_pending is not None:
            with torch.no_grad():
                self._of_pending = self._information(X_pending)

    @t_batch_mode_transform()
    @concatenate_pending_points
    def forward(self, X: Tensor) -> Tensor:
        """Information of each batch of points, ``(...,)``, for ``X (..., q, d)``."""
        return self._information(X) - self._of_pending

    def _information(self, X: Tensor) -> Tensor:
        if not self.noisy and X.shape[-2] > 1:
            raise ValueError(f"noisy must be True for several points at once, pending ones included, got {X.shape[-2]}")
        _, covariance, plain = self.model.joint_moments(self.model.transform_inputs(X))
        noise = self.model.noise.to(X) if self.noisy else torch.zeros((), dtype=X.dtype, device=X.device)
        own = torch.diag_embed(noise.expand(X.shape[-2]))
        return 0.5 * (torch.logdet(covariance + own) - torch.logdet(plain + own))
