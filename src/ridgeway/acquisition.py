"""Acquisitions by their public name; they live in :mod:`ridgeway.active.acquisition`."""

from ridgeway.active.acquisition import Acquisition, Bald, Uncertainty, bald, information, resolve, uncertainty

__all__ = ["Acquisition", "Bald", "Uncertainty", "bald", "information", "resolve", "uncertainty"]
