"""Moments of ``f`` at several points, as tensors."""

from __future__ import annotations

from typing import NamedTuple

import torch
from gpytorch.distributions import MultivariateNormal
from linear_operator import to_linear_operator
from torch import Tensor


class TensorMoments(NamedTuple):
    """At ``q`` points, with any batch shape before them."""

    mean: Tensor  # (..., q)
    covariance: Tensor  # (..., q, q) with the hyperparameters integrated out
    plain: Tensor  # (..., q, q) at the modes of the hyperparameters

    def distribution(self, noise: Tensor | None = None) -> MultivariateNormal:
        """Of ``f``, or of observations with a noise of this variance, ``(..., q)`` or a number.

        It factorises its covariance when it has to, with jitter where rounding asks for it.
        """
        covariance = self.covariance
        if noise is not None:
            covariance = covariance + torch.diag_embed(noise.expand(self.mean.shape))
        return MultivariateNormal(self.mean, to_linear_operator(covariance))
