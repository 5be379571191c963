"""``Feasible``: an outlook that avoids places where experiments fail or break a limit.

A failure has no value to model, but a place: success (1) and failure (0) are fitted by a plain process with one length
scale. A limit is a quantity that was observed beside the outcome and must be at most 0: it is fitted itself, by a
process with one length scale or one for each input, whichever has more evidence. The logarithms of the probabilities
that an experiment succeeds and keeps its limits are added to its score (constrained improvement, Gardner et al. 2014).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import erfcx, log_ndtr

from ridgeway import checks
from ridgeway.active.alternatives import models
from ridgeway.active.anchors import Anchors
from ridgeway.active.component_view import ComponentView, MomentAdjoint
from ridgeway.active.history import Record
from ridgeway.active.outlook import Outlook
from ridgeway.active.pool_coordinates import BLOCK_ROWS, PoolView
from ridgeway.belief.belief import Belief
from ridgeway.belief.fit import fit
from ridgeway.blas import blas_threads
from ridgeway.errors import RidgewayWarning
from ridgeway.gp.length_scales import Isotropic
from ridgeway.gp.priors import Priors
from ridgeway.types import Array, Inputs

_N_STARTS = 3
_LABELS = Priors(tie_noise=0.0, kink_noise=0.1, log_noise=(-2.0, 0.5))  # labels are equal because they are labels
_LIMITS = Priors(log_noise=(-3.0, 1.0))
_FEWEST = 2  # observations of a quantity that say something about it
_PROMISING = 8  # observations near which a search begins where none keeps all limits


@dataclass(frozen=True)
class Requirement:
    """A quantity that must be on one side of a border: above it where ``sign`` is 1, below where it is -1."""

    belief: Belief
    border: float
    sign: float

    def log_probability(self, X: Inputs) -> Array:
        """Logarithms of the probability that an observation at ``X (n, D)`` is on the right side."""
        prediction = self.belief.predict(X, "map")
        std = np.sqrt(prediction.variance + self.belief.noise_variance)
        result: Array = log_ndtr(self.sign * (prediction.mean - self.border) / std)
        return result

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        """The same of a few points, and their gradients ``(n, D)``."""
        belief, component = self.belief, self.belief.components[0]  # as the "map" marginal has it
        anchors, view = Anchors.of(belief, X[:0]), ComponentView(component, "map")
        border = (self.border - belief.output.shift) / belief.output.scale
        noise = belief.noise_variance / belief.output.scale**2
        with blas_threads(belief.y.shape[0]):
            points = anchors.reduced(X)
            features = view.features(points.z)
            std = np.sqrt(features.V + noise)
            z = self.sign * (features.mean - border) / std
            slope = np.sqrt(2.0 / np.pi) / erfcx(-z / np.sqrt(2.0))  # phi(z) / Phi(z)
            none = np.zeros_like(points.cross)
            of_variance = -0.5 * slope * z / std**2
            adjoint = MomentAdjoint(self.sign * slope / std, of_variance, np.zeros_like(z), none, none)
            return log_ndtr(z), anchors.gradient(X, points, view.pull_back(features, points, adjoint, None))


@dataclass(frozen=True)
class Feasible:
    """``outlook``, with points scored lower where experiments are likely to fail or to break a limit."""

    outlook: Outlook
    requirements: tuple[Requirement, ...]
    failed: Array  # (k, D)
    improves: bool = True  # whether some observation keeps all limits: else one that does comes first

    @classmethod
    def of(cls, outlook: Outlook, record: Record, seed: int, limits: Array | None = None) -> Outlook:
        """``outlook`` itself where nothing failed and nothing is limited.

        ``limits (n, m)`` are quantities of the observations that must be at most 0; NaN is one that is not known.
        """
        requirements = []
        if len(record.failed):
            X = np.vstack([record.X, record.failed])
            labels = np.repeat([1.0, 0.0], [record.n, len(record.failed)])
            belief = _fitted(X, labels, record, seed, Isotropic(), _LABELS)
            requirements.append(Requirement(belief, 0.5, 1.0))
        keeps = np.ones(record.n, dtype=bool)
        if limits is not None:
            keeps = kept(limits)
            for values in limits.T:
                known = np.isfinite(values)
                if np.sum(known) >= _FEWEST:
                    belief = _limit(record.X[known], values[known], record, seed)
                    requirements.append(Requirement(belief, 0.0, -1.0))
        return cls(outlook, tuple(requirements), record.failed, bool(keeps.any())) if requirements else outlook

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """What the outlook rests on."""
        return self.outlook.beliefs

    @property
    def known_inputs(self) -> Array:
        """Inputs of all observations, pending points and failures, ``(n, D)``."""
        return np.vstack([self.outlook.known_inputs, self.failed])

    @property
    def promising(self) -> Array:
        """The outlook's; the observations that come nearest to keeping all limits where none does."""
        if self.improves:
            return self.outlook.promising
        X = self.beliefs[0].X
        result: Array = X[np.argsort(-self._log_probability(X), kind="stable")[:_PROMISING]]
        return result

    def given(self, X: Array) -> Feasible:
        """With the points ``X (n, D)`` pending as well."""
        return replace(self, outlook=self.outlook.given(X))

    def score(self, acquisition: Any, X: Inputs) -> Array:
        """The outlook's scores and the logarithms of the probabilities."""
        found = self._log_probability(X)
        return self.outlook.score(acquisition, X) + found if self.improves else found

    def score_with_gradient(self, acquisition: Any, X: Array) -> tuple[Array, Array]:
        """The same of a few points, and their gradients ``(n, D)``."""
        parts = [requirement.with_gradient(X) for requirement in self.requirements]
        if self.improves:
            parts.append(self.outlook.score_with_gradient(acquisition, X))
        values, gradients = zip(*parts, strict=True)
        return np.sum(values, axis=0), np.sum(gradients, axis=0)

    def pool_scores(self, acquisition: Any, view: PoolView) -> Array:
        """Scores of every point of a pool, ``(M,)``."""
        return np.concatenate([self.score(acquisition, points) for _, points in view.pool.blocks(BLOCK_ROWS)])

    def _log_probability(self, X: Inputs) -> Array:
        result: Array = np.sum([requirement.log_probability(X) for requirement in self.requirements], axis=0)
        return result


def limits_of(values: Any, n: int) -> Array:
    """``values (n, m)`` as limits of ``n`` observations; NaN is one that is not known."""
    limits = checks.numeric(values, "values")
    if limits.ndim != 2 or limits.shape[0] != n:
        raise ValueError(f"values must have a row for each of the {n} observations, got shape {limits.shape}")
    if np.isinf(limits).any():
        raise ValueError("values must be finite, or NaN where one is not known")
    return limits


def kept(limits: Array) -> Any:
    """Which observations keep all limits, ``(n,)``, as far as is known."""
    return ~np.any(limits > 0.0, axis=1)


def _limit(X: Array, values: Array, record: Record, seed: int) -> Belief:
    found = [_fitted(X, values, record, seed, model, _LIMITS) for model in models(record.space.D)]
    return max(found, key=lambda belief: belief.log_evidence)


def _fitted(X: Array, values: Array, record: Record, seed: int, model: Any, priors: Priors) -> Belief:
    with warnings.catch_warnings():  # about ties, of which labels have many
        warnings.simplefilter("ignore", RidgewayWarning)
        return fit(
            X,
            values,
            model,
            priors=priors,
            robust=False,
            marginal="map",
            bounds=record.space.bounds,
            n_starts=_N_STARTS,
            random_state=seed,
        )
