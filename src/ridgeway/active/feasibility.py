"""``Feasible``: an outlook that avoids places where experiments fail.

A failure has no value to model, but a place. Success (1) and failure (0) are fitted by a plain process with one length
scale, and the logarithm of the probability that an experiment succeeds is added to its score.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import erfcx, log_ndtr

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
_BORDER = 0.5  # between failure and success
_PRIORS = Priors(tie_noise=0.0, kink_noise=0.1, log_noise=(-2.0, 0.5))  # labels are equal because they are labels


@dataclass(frozen=True)
class Feasible:
    """``outlook``, with points where experiments are likely to fail scored lower."""

    outlook: Outlook
    success: Belief  # of 1 where experiments succeeded and 0 where they failed
    failed: Array  # (k, D)

    @classmethod
    def of(cls, outlook: Outlook, record: Record, seed: int) -> Outlook:
        """``outlook`` itself where nothing failed."""
        if not len(record.failed):
            return outlook
        X = np.vstack([record.X, record.failed])
        labels = np.repeat([1.0, 0.0], [record.n, len(record.failed)])
        with warnings.catch_warnings():  # about ties, of which labels have many
            warnings.simplefilter("ignore", RidgewayWarning)
            options: dict[str, Any] = {"bounds": record.space.bounds, "n_starts": _N_STARTS, "random_state": seed}
            success = fit(X, labels, Isotropic(), priors=_PRIORS, robust=False, marginal="map", **options)
        return cls(outlook, success, record.failed)

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
        """The outlook's."""
        return self.outlook.promising

    def given(self, X: Array) -> Feasible:
        """With the points ``X (n, D)`` pending as well."""
        return replace(self, outlook=self.outlook.given(X))

    def score(self, acquisition: Any, X: Inputs) -> Array:
        """The outlook's scores and the logarithms of the probabilities of success."""
        prediction = self.success.predict(X, "map")
        z = (prediction.mean - _BORDER) / np.sqrt(prediction.variance + self.success.noise_variance)
        return self.outlook.score(acquisition, X) + log_ndtr(z)

    def score_with_gradient(self, acquisition: Any, X: Array) -> tuple[Array, Array]:
        """The same of a few points, and their gradients ``(n, D)``."""
        value, gradient = self.outlook.score_with_gradient(acquisition, X)
        log_success, slope = self._log_success(X)
        return value + log_success, gradient + slope

    def pool_scores(self, acquisition: Any, view: PoolView) -> Array:
        """Scores of every point of a pool, ``(M,)``."""
        return np.concatenate([self.score(acquisition, points) for _, points in view.pool.blocks(BLOCK_ROWS)])

    def _log_success(self, X: Array) -> tuple[Array, Array]:
        belief, component = self.success, self.success.components[0]  # as the "map" marginal has it
        anchors, view = Anchors.of(belief, X[:0]), ComponentView(component, "map")
        border = (_BORDER - belief.output.shift) / belief.output.scale
        noise = belief.noise_variance / belief.output.scale**2
        with blas_threads(belief.y.shape[0]):
            points = anchors.reduced(X)
            features = view.features(points.z)
            std = np.sqrt(features.V + noise)
            z = (features.mean - border) / std
            slope = np.sqrt(2.0 / np.pi) / erfcx(-z / np.sqrt(2.0))  # phi(z) / Phi(z)
            none = np.zeros_like(points.cross)
            of_variance = -0.5 * slope * z / std**2
            adjoint = MomentAdjoint(slope / std, of_variance, np.zeros_like(z), none, none)
            return log_ndtr(z), anchors.gradient(X, points, view.pull_back(features, points, adjoint, None))
