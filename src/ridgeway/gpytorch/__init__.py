"""The paper's marginal GP for GPyTorch models: ``pip install 'ridgeway[botorch]'``."""

from ridgeway.gpytorch.laplace import LaplaceSettings
from ridgeway.gpytorch.marginal_gp import MarginalGP, marginal

__all__ = ["LaplaceSettings", "MarginalGP", "marginal"]
