"""Kernels by their public name; they live in :mod:`ridgeway.gp.kernels`."""

from ridgeway.gp.kernels import Kernel, Matern32, Matern52, RationalQuadratic, SquaredExponential, resolve

__all__ = ["Kernel", "Matern32", "Matern52", "RationalQuadratic", "SquaredExponential", "resolve"]
