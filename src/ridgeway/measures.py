"""Measures by their public name, what integrals are over; they live in :mod:`ridgeway.gp.measures`."""

from ridgeway.gp.leveled import Leveled
from ridgeway.gp.measures import Gaussian, Independent, Points, Uniform

__all__ = ["Gaussian", "Independent", "Leveled", "Points", "Uniform"]
