"""Acquisitions: how much an experiment at each point would teach, and in which direction it grows.

Each is a function of a belief and points, in the user's units::

    bald(belief, X)                 # (n,) nats
    bald.with_gradient(belief, X)   # the same, and the exact gradient in X, (n, D)

A new one is a frozen dataclass with a ``name`` and what :class:`Acquisition` asks for. One that is not a function of
the two variances, such as those of BoTorch, is a :class:`PointAcquisition`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from ridgeway import checks, names
from ridgeway.active import goals
from ridgeway.active.goals import Goal
from ridgeway.active.outlook import Outlook
from ridgeway.active.pending import PendingBelief
from ridgeway.active.prospect import Prospect
from ridgeway.active.thompson import DrawnOutlook
from ridgeway.belief.belief import Belief
from ridgeway.belief.belief_mixture import BeliefMixture
from ridgeway.gp import moments as gp_moments
from ridgeway.gp.moments import Moments
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.active.maximize import Choice
    from ridgeway.spaces.pool import Pool


@runtime_checkable
class Acquisition(Protocol):
    """What a search needs of an acquisition: a function of the two variances of ``f``."""

    @property
    def name(self) -> str:
        """The name that a user gives."""

    def value(self, moments: Moments, noise: float) -> Array:
        """The score from the moments of ``f`` and the noise variance of an observation."""

    def slopes(self, moments: Moments, noise: float) -> tuple[Array, Array]:
        """Its derivatives in the marginal variance and in the variance at the mode."""

    @property
    def jointly(self) -> Acquisition:
        """The acquisition for the points of a batch, each chosen given those before it."""


@runtime_checkable
class PointAcquisition(Protocol):
    """An acquisition that scores points by itself: it may use whatever a belief says, not the two variances alone."""

    @property
    def name(self) -> str:
        """The name that it is stored by."""

    def scores(self, pending: PendingBelief, X: Array) -> Array:
        """Scores ``(n,)`` of points ``X (n, D)`` given the pending ones."""

    def scores_with_gradient(self, pending: PendingBelief, X: Array) -> tuple[Array, Array]:
        """Scores ``(n,)`` and gradients ``(n, D)``."""

    @property
    def jointly(self) -> PointAcquisition:
        """The acquisition for the points of a batch, each chosen given those before it."""


class _Scores:
    """Scores of points from an acquisition's ``value`` and ``slopes``."""

    def __call__(self: Acquisition, belief: Belief, X: Any) -> Array:
        """Scores ``(n,)`` of points ``X (n, D)``."""
        return score(self, outlook_of(belief), belief.points(X))

    @property
    def jointly(self: Acquisition) -> Acquisition:
        return self

    def with_gradient(self: Acquisition, belief: Belief, X: Any) -> tuple[Array, Array]:
        """Scores ``(n,)`` and their gradients in ``X``, ``(n, D)``."""
        return score_with_gradient(self, outlook_of(belief), belief.points(X))

    def choose(self: Acquisition, belief: Belief, pool: Pool, n: int = 1) -> Choice:
        """The best ``n`` points of a pool: ``X (n, D)``, their ``scores`` and their ``indices``.

        Each is chosen given those before it. Inputs that the belief was fitted to are left out.
        """
        return _chosen(self, outlook_of(belief), belief, pool, n)


@dataclass(frozen=True)
class Bald(_Scores):
    """Information about the hyperparameters in ``f`` at a point, in nats (paper eqs. 20-21).

    ``½ log(Ṽ / V)``: the marginal variance over the one with the hyperparameters known. With
    ``noisy`` it is the information in an *observation*, ``½ log((Ṽ + σ²) / (V + σ²))``, which
    leaves out what the noise hides. Batches are chosen by that: without noise, two points very close
    together would also measure the slope, and a batch would be made of such pairs.
    """

    noisy: bool = False

    @property
    def name(self) -> str:
        return "information" if self.noisy else "bald"

    @property
    def jointly(self) -> Acquisition:
        return information

    def value(self, moments: Moments, noise: float) -> Array:
        return gp_moments.information(moments, noise if self.noisy else 0.0)

    def slopes(self, moments: Moments, noise: float) -> tuple[Array, Array]:
        return gp_moments.information_slopes(moments, noise if self.noisy else 0.0)


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


@runtime_checkable
class Optimising(Protocol):
    """An acquisition that looks for the best point: it has an outlook of its own."""

    @property
    def name(self) -> str:
        """The name that a user gives."""

    @property
    def jointly(self) -> Optimising:
        """The acquisition for the points of a batch, each chosen given those before it."""

    def outlook(self, mixture: BeliefMixture, sign: float, seed: int, eligible: Any = None) -> Outlook:
        """What points are scored by; ``sign`` is 1 where the least value is looked for, -1 where the largest is.

        ``eligible (n,)`` says which observations may be the best one; ``None``: all.
        """


class _BestScores:
    """Scores of points by an acquisition that looks for the best one."""

    def __call__(self: Optimising, belief: Belief, X: Any, goal: Goal = "minimize") -> Array:
        """Scores ``(n,)`` of points ``X (n, D)``."""
        return _own_outlook(self, belief, goal).score(self, belief.points(X))

    @property
    def jointly(self: Optimising) -> Optimising:
        return self

    def with_gradient(self: Optimising, belief: Belief, X: Any, goal: Goal = "minimize") -> tuple[Array, Array]:
        """Scores ``(n,)`` and their gradients in ``X``, ``(n, D)``."""
        return _own_outlook(self, belief, goal).score_with_gradient(self, belief.points(X))

    def choose(self: Optimising, belief: Belief, pool: Pool, n: int = 1, goal: Goal = "minimize") -> Choice:
        """The best ``n`` points of a pool: ``X (n, D)``, their ``scores`` and their ``indices``.

        Each is chosen given those before it. Inputs that the belief was fitted to are left out.
        """
        return _chosen(self, _own_outlook(self, belief, goal), belief, pool, n)


def _own_outlook(acquisition: Optimising, belief: Belief, goal: Goal) -> Outlook:
    return acquisition.outlook(BeliefMixture.by_evidence([belief]), goals.sign(goals.checked(goal)), belief.seed)


def _chosen(acquisition: Acquisition | Optimising, outlook: Outlook, belief: Belief, pool: Pool, n: int) -> Choice:
    from ridgeway.active import maximize  # which needs acquisitions itself
    from ridgeway.active.pool_coordinates import view_of
    from ridgeway.spaces.pool import Pool

    pool = checks.instance(pool, Pool, "pool", "a Pool")
    if pool.D != belief.space.scaling.D:
        raise ValueError(f"pool must have the {belief.space.scaling.D} inputs of the belief, got {pool.D}")
    if None not in (belief.names, pool.names) and belief.names != pool.names:
        raise ValueError(
            f"pool must have the inputs of the belief in their order, {names.listed(belief.names or ())}, "
            f"got {names.listed(pool.names or ())}: Pool(points, names=belief.names) puts them in order"
        )
    return maximize.over_pool(view_of(pool), outlook, acquisition, checks.count(n, "n", 1), checks.dense(belief.X))


@dataclass(frozen=True)
class Improvement(_BestScores):
    """Logarithm of the expected improvement on the best value so far, in the user's units; noise is accounted for.

    The expectation is over the modes of the belief, the embedding's uncertainty and what noise hides of the values
    so far (:mod:`ridgeway.active.prospect`).
    """

    @property
    def name(self) -> str:
        return "improvement"

    def outlook(self, mixture: BeliefMixture, sign: float, seed: int, eligible: Any = None) -> Outlook:
        return Prospect(mixture, sign, seed, eligible=eligible)


@dataclass(frozen=True)
class Thompson(_BestScores):
    """Thompson sampling: the value of one function, drawn with its embedding, turned so that larger is better."""

    @property
    def name(self) -> str:
        return "thompson"

    def outlook(self, mixture: BeliefMixture, sign: float, seed: int, eligible: Any = None) -> Outlook:
        return DrawnOutlook(mixture, sign, seed)  # a drawn function has its own best point, whatever was observed


bald = Bald()
information = Bald(noisy=True)
uncertainty = Uncertainty()
improvement = Improvement()
thompson = Thompson()

AnyAcquisition = Acquisition | Optimising | PointAcquisition

#: Acquisitions by the name a user gives.
BY_NAME: dict[str, Acquisition | Optimising] = {
    "bald": bald,
    "information": information,
    "uncertainty": uncertainty,
    "improvement": improvement,
    "thompson": thompson,
}


#: What the names of BoTorch's acquisitions begin with, where a learner is stored.
OF_BOTORCH = "botorch:"


@dataclass(frozen=True)
class NotHere:
    """The name of a BoTorch acquisition, which was stored without the function that makes it."""

    name: str

    @property
    def jointly(self) -> NotHere:
        return self

    def scores(self, pending: PendingBelief, X: Array) -> Array:
        raise ValueError(
            f"acquisition {self.name!r} is made by a function of Python, which cannot be stored: "
            "hand it over again as acquisition=... where this is opened"
        )

    def scores_with_gradient(self, pending: PendingBelief, X: Array) -> tuple[Array, Array]:
        return self.scores(pending, X), X


#: Ways to choose points without a model.
DESIGNS = ("random", "latin-hypercube")


def resolve(acquisition: Any) -> AnyAcquisition:
    """An acquisition from its name, itself, or by the function that makes a BoTorch acquisition for a model."""
    if isinstance(acquisition, str) and acquisition.startswith(OF_BOTORCH):
        return NotHere(acquisition)
    if isinstance(acquisition, str):
        designs = () if acquisition in DESIGNS else DESIGNS  # which have no score, but are among what may be asked for
        return BY_NAME[checks.choice(acquisition, (*BY_NAME, *designs), "acquisition")]
    if isinstance(acquisition, Acquisition | Optimising | PointAcquisition):
        return acquisition
    if callable(acquisition):
        try:  # an extra that is built on this package: it is known here by its name alone
            guest = import_module("ridgeway.botorch.made_acquisition")
        except ImportError as error:
            raise ImportError(
                f"acquisition {acquisition!r} is a function, which has to make a BoTorch acquisition for a model: that "
                "needs pip install 'ridgeway[botorch]'"
            ) from error
        made: PointAcquisition = guest.MadeAcquisition(acquisition)
        return made
    raise TypeError(
        "acquisition must be a name, have value(), slopes() and jointly, or outlook() and jointly, or be a function "
        f"that makes a BoTorch acquisition for a model, got {acquisition!r}"
    )


def handed_over(stored: str, acquisition: Any) -> Any:
    """The acquisition that was stored by this name: itself, where it had to be handed over again."""
    if acquisition is None or (isinstance(acquisition, str) and acquisition == stored):
        return stored
    name = resolve(acquisition).name
    if name != stored:
        raise ValueError(f"acquisition must be the one that was stored, {stored!r}, got {name!r}")
    return acquisition


def outlook_of(belief: Belief, known_noise: float = 0.0) -> PendingBelief:
    """The belief without pending points yet, with the marginal it was fitted for.

    ``known_noise`` is added to the noise variance that the belief has learned.
    """
    return PendingBelief(belief, "bbq" if belief.marginal == "bbq" else "mgp", known_noise=known_noise)


def score(acquisition: AnyAcquisition, outlook: Outlook, X: Any) -> Array:
    """Scores ``(n,)`` of points given the pending ones."""
    return outlook.score(acquisition, X)


def score_with_gradient(acquisition: AnyAcquisition, outlook: Outlook, X: Array) -> tuple[Array, Array]:
    """Scores ``(n,)`` and gradients ``(n, D)`` of a few points given the pending ones."""
    return outlook.score_with_gradient(acquisition, X)
