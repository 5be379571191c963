"""Ridgeway in BoTorch and Ax, and their acquisitions in Ridgeway: ``pip install 'ridgeway[botorch]'``."""

from ridgeway.botorch.embedding_gp import EmbeddingGP
from ridgeway.botorch.information import qInformation
from ridgeway.botorch.made_acquisition import MadeAcquisition
from ridgeway.botorch.marginal_model import MarginalModel

__all__ = ["EmbeddingGP", "MadeAcquisition", "MarginalModel", "qInformation"]
