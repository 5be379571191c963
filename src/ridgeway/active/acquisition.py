"""Acquisitions: how much an experiment at each point would teach, and in which direction it grows.

Each is a function of a belief and points, in the user's units::

    bald(belief, X)                 # (n,) nats
    bald.with_gradient(belief, X)   # the same, and the exact gradient in X, (n, D)

A new one is a frozen dataclass with a ``name`` and what :class:`Acquisition` asks for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ridgeway import validation
from ridgeway.belief import Belief
from ridgeway.marginal import Moments
from ridgeway.outlook import Outlook
from ridgeway.threads import blas_threads
from ridgeway.types import Array


@runtime_checkable
class Acquisition(Protocol):
    """What a search asks of an acquisition: a function of the two variances of ``f``."""

    @property
    def name(self) -> str:
        """What a user calls it."""

    def value(self, moments: Moments, noise: float) -> Array:
        """The score from the moments of ``f`` and the noise variance of an observation."""

    def slopes(self, moments: Moments, noise: float) -> tuple[Array, Array]:
        """Its derivatives in the marginal variance and in the variance at the mode."""

    @property
    def jointly(self) -> Acquisition:
        """What to choose the points of a batch by, each given those before it."""


class _Scores:
    """Scores of points from an acquisition's ``value`` and ``slopes``."""

    def __call__(self: Acquisition, belief: Belief, X: Any) -> Array:
        """Scores ``(n,)`` of points ``X (n, D)``."""
        return score(self, outlook_of(belief), validation.inputs(X, belief.space.scaling.D))

    @property
    def jointly(self: Acquisition) -> Acquisition:
        return self

    def with_gradient(self: Acquisition, belief: Belief, X: Any) -> tuple[Array, Array]:
        """Scores ``(n,)`` and their gradients in ``X``, ``(n, D)``."""
        return score_with_gradient(self, outlook_of(belief), validation.inputs(X, belief.space.scaling.D))


@dataclass(frozen=True)
class Bald(_Scores):
    """Information about the hyperparameters in ``f`` at a point, in nats (paper eqs. 20-21).

    ``½ log(Ṽ / V)``: the marginal variance over the one with the hyperparameters known. With
    ``noisy`` it is the information in an *observation*, ``½ log((Ṽ + σ²) / (V + σ²))``, which
    does not value what the noise will hide. Batches are chosen by that: without noise, two looks
    side by side would tell the slope, too.
    """

    noisy: bool = False

    @property
    def name(self) -> str:
        return "information" if self.noisy else "bald"

    @property
    def jointly(self) -> Acquisition:
        return information

    def value(self, moments: Moments, noise: float) -> Array:
        hidden = noise if self.noisy else 0.0
        return 0.5 * np.log((moments.variance + hidden) / (moments.map_variance + hidden))

    def slopes(self, moments: Moments, noise: float) -> tuple[Array, Array]:
        hidden = noise if self.noisy else 0.0
        return 0.5 / (moments.variance + hidden), -0.5 / (moments.map_variance + hidden)


@dataclass(frozen=True)
class Uncertainty(_Scores):
    """Entropy of ``f`` at a point, in nats, on the standardised scale: uncertainty sampling."""

    @property
    def name(self) -> str:
        return "uncertainty"

    def value(self, moments: Moments, noise: float) -> Array:
        return 0.5 * np.log(2.0 * np.pi * math.e * moments.variance)

    def slopes(self, moments: Moments, noise: float) -> tuple[Array, Array]:
        return 0.5 / moments.variance, np.zeros_like(moments.variance)


bald = Bald()
information = Bald(noisy=True)
uncertainty = Uncertainty()

#: Acquisitions by the name a user gives.
BY_NAME: dict[str, Acquisition] = {"bald": bald, "information": information, "uncertainty": uncertainty}


def resolve(acquisition: Any) -> Acquisition:
    """An acquisition from its name, or itself."""
    if isinstance(acquisition, str):
        return BY_NAME[validation.choice(acquisition, tuple(BY_NAME), "acquisition")]
    if not isinstance(acquisition, Acquisition):
        raise TypeError(f"acquisition must be a name or have value(), slopes() and jointly, got {acquisition!r}")
    return acquisition


def outlook_of(belief: Belief, known_noise: float = 0.0) -> Outlook:
    """The belief's outlook, with the marginal that it was fitted for; ``known_noise`` comes on top of its own."""
    return Outlook(belief, "bbq" if belief.marginal == "bbq" else "mgp", known_noise=known_noise)


def score(acquisition: Acquisition, outlook: Outlook, X: Any) -> Array:
    """Scores ``(n,)`` of points given what is out."""
    with blas_threads(outlook.belief.y.shape[0]):
        return acquisition.value(outlook.moments(outlook.points(X)), outlook.noise)


def score_with_gradient(acquisition: Acquisition, outlook: Outlook, X: Array) -> tuple[Array, Array]:
    """Scores ``(n,)`` and gradients ``(n, D)`` of a few points given what is out."""
    with blas_threads(outlook.belief.y.shape[0]):
        moments, adjoint = outlook.pull_back(outlook.points(X), lambda m: acquisition.slopes(m, outlook.noise))
        return acquisition.value(moments, outlook.noise), outlook.gradient(X, adjoint)
