"""Ridgeway in BoTorch and Ax, and their acquisitions in Ridgeway: ``pip install 'ridgeway[botorch]'``."""

from ridgeway.botorch.embedding_gp import EmbeddingGP
from ridgeway.botorch.information import qInformation

__all__ = ["EmbeddingGP", "qInformation"]
