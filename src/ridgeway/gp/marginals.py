"""Marginals: distributions of one input that are known by their quantiles, as those of ``scipy.stats`` are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from ridgeway.gp.atoms import Atoms
from ridgeway.types import Array

_LEVELS = 161  # nodes of a distribution that is known by its quantiles
_MORE_LEVELS = 641  # of one with heavy tails, where neighbours are far apart
_REACH = 8.0  # of those nodes, in standard deviations of a normal variable
_HEAVY_REACH = 6.0  # of a heavy tail, as far as functions are known: 2e-9 of it is beyond
_HEAVY = 1.0  # distance of neighbours, in central standard deviations, from which a tail is heavy


@dataclass(frozen=True)
class Moved:
    """A distribution in other units: ``(x - center) / width``."""

    marginal: Any
    center: float
    width: float

    def ppf(self, q: Any) -> Array:
        """Quantiles."""
        return (quantiles(self.marginal, q) - self.center) / self.width


@dataclass(frozen=True)
class Fixed:
    """The distribution of an input that does not vary."""

    value: float

    def ppf(self, q: Any) -> Array:
        """Quantiles."""
        return np.full(np.shape(q), self.value)


def check(marginal: Any, argument: str, called: str) -> None:
    """Raise where something is no distribution of one input."""
    if hasattr(marginal, "freeze") and not hasattr(marginal, "xk"):
        name = getattr(marginal, "name", "norm")
        raise TypeError(
            f"{argument} must be distributions with their parameters, got scipy.stats.{name} itself: call it, as in "
            f"scipy.stats.{name}(...); {called} is {marginal!r:.80}"
        )
    if not callable(getattr(marginal, "ppf", None)):
        raise TypeError(
            f"{argument} must have a method `ppf`, as frozen distributions of scipy.stats have; {called} is "
            f"{marginal!r:.80}"
        )


def is_discrete(marginal: Any) -> bool:
    """Whether a distribution is one of finitely many, or countable, values."""
    while isinstance(marginal, Moved):
        marginal = marginal.marginal
    return callable(getattr(marginal, "pmf", None)) and callable(getattr(marginal, "support", None))


def quantiles(marginal: Any, q: Any) -> Array:
    """Of a distribution, as floats."""
    return np.asarray(marginal.ppf(q), dtype=float)


def atoms(marginal: Any) -> Atoms:
    """The values of a discrete distribution, or nodes that stand for a density."""
    if isinstance(marginal, Moved):
        return atoms(marginal.marginal).moved(marginal.center, marginal.width)
    return Atoms.of_distribution(marginal) if is_discrete(marginal) else _nodes(marginal)


def _nodes(marginal: Any) -> Atoms:
    """Trapezoids in a normal variable: their error falls faster than any power for a smooth quantile function.

    Where a tail is heavy they are many more.
    """
    z, found = _trapezoids(marginal, _LEVELS)
    central = 0.5 * float(np.diff(np.interp([-1.0, 1.0], z, found.values))[0])
    apart = np.diff(found.values[np.abs(z) < 4.0])
    return found if apart.max() <= _HEAVY * central or central <= 0.0 else _trapezoids(marginal, _MORE_LEVELS)[1]


def _trapezoids(marginal: Any, n: int) -> tuple[Array, Atoms]:
    z = np.linspace(-_REACH, _REACH, n)
    w = np.exp(-0.5 * z**2)
    return z, Atoms(quantiles(marginal, np.clip(ndtr(z), 1e-300, 1.0 - 1e-16)), w / w.sum())


def farthest(marginal: Any, found: Atoms) -> float:
    """How far the input of a distribution, with these values or nodes, is to be followed from its mean."""
    if is_discrete(marginal) or len(found.values) == _LEVELS:
        return found.reach
    return float(np.abs(quantiles(marginal, ndtr([-_HEAVY_REACH, _HEAVY_REACH])) - found.mean).max())


def missed(nodes: Atoms, r: float) -> float:
    """Error of a sum over nodes, by Poisson's formula, of a squared exponential with ``r`` length scales a unit."""
    apart = np.maximum(r * np.diff(nodes.values), 1e-300)
    return float(nodes.shares[1:] @ np.exp(-0.5 * np.minimum(2.0 * np.pi / apart, 40.0) ** 2))
