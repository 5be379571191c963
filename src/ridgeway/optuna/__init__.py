"""Ridgeway in Optuna: ``pip install 'ridgeway[optuna]'``."""

from ridgeway.optuna.sampler import RidgewaySampler

__all__ = ["RidgewaySampler"]
