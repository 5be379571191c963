"""``Prospect``: by how much the best value so far may be improved on at new points.

The score is the logarithm of the noisy expected improvement (Letham et al. 2019), over the mixture of all modes of
several beliefs, each with the uncertainty of its embedding (paper eq. 19)::

    log  Σ_c w_c  1/S Σ_s  E[ max(f_s* - f(x), 0)  |  f(B) = f_s(B) ]

``B`` are anchors: observations that may be the best, whose true values noise hides, and pending points, whose values
are not known yet. ``f_s(B)`` is a draw of their values under mode ``c``, and ``f_s*`` its least. Given a draw, ``f(x)``
is Gaussian. Modes are not merged into one Gaussian: where two of them disagree, one Gaussian in the middle would
promise improvements that neither believes in. Draws are made once, so the score is a smooth function of ``x``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ridgeway.active.anchors import Anchors
from ridgeway.active.component_view import Adjoint, ComponentView, Features, MomentAdjoint, ReducedPoints, Spread
from ridgeway.active.log_improvement import log_improvement
from ridgeway.active.pool_coordinates import BLOCK_ROWS, PoolView
from ridgeway.belief.belief import Belief
from ridgeway.belief.belief_mixture import BeliefMixture
from ridgeway.blas import blas_threads
from ridgeway.gp import moments
from ridgeway.gp.eigen import eigh
from ridgeway.types import Array, Inputs


@dataclass(frozen=True)
class ProspectSettings:
    """How the expectation is computed.

    Attributes
    ----------
    incumbents
        Observations that may be the best: so many of the best predicted ones.
    draws
        Draws of the values of incumbents and pending points; a power of two.
    least_eigenvalue
        Eigenvalues of the correlations between anchors are raised to this: what is below it may be rounding.
    """

    incumbents: int = 8
    draws: int = 16
    least_eigenvalue: float = 1e-6


DEFAULT = ProspectSettings()


class _Mode(NamedTuple):
    """One mode of one belief, with draws of ``f`` at the anchors; lower is better."""

    view: ComponentView
    log_weight: float
    features: Features  # of the anchors
    scale: Array  # (B,) standard deviations of f there
    inverse_root: Array  # (B, B) whose transpose times itself is the inverse of the correlations
    pulls: Array  # (B, S) how much a unit of covariance with each anchor moves the mean at a point
    best: Array  # (S,) least drawn value


class _Part(NamedTuple):
    """One belief and its modes."""

    anchors: Anchors
    modes: tuple[_Mode, ...]


class _Outcome(NamedTuple):
    """A point's conditional moments under one mode, and what their derivatives need."""

    features: Features
    mean: Array  # (M, S)
    variance: Array  # (M,)
    solved: Array  # (M, B) covariances with the anchors times the inverse of those between them


@dataclass(frozen=True)
class Prospect:
    """Improvements on the best so far, given pending points; none at first.

    ``sign`` is 1 where the least value is looked for and -1 where the largest is.
    """

    mixture: BeliefMixture
    sign: float
    seed: int = 0
    pending: Array | None = None  # (n, D)
    settings: ProspectSettings = DEFAULT
    eligible: NDArray[np.bool_] | None = None  # (n,) which observations may be the best; None: all

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """The beliefs of the mixture."""
        return self.mixture.beliefs

    @property
    def known_inputs(self) -> Array:
        """Inputs of all observations and pending points, ``(n, D)``."""
        X = self.beliefs[0].X
        return X if self.pending is None else np.vstack([X, self.pending])

    @cached_property
    def promising(self) -> Array:
        """The eligible observations that are predicted best by any mode, ``(k, D)``, best first."""
        X = self.beliefs[0].X if self.eligible is None else self.beliefs[0].X[self.eligible]
        means = self.sign * self.mixture.gaussians(X)[1]
        order = np.argsort(means.min(axis=0), kind="stable")
        result: Array = X[order[: self.settings.incumbents]]
        return result

    def given(self, X: Array) -> Prospect:
        """With the points ``X (n, D)`` pending as well."""
        return replace(self, pending=X if self.pending is None else np.vstack([self.pending, X]))

    def score(self, acquisition: Any, X: Inputs) -> Array:
        """Logarithms of the expected improvement at ``X (n, D)``, in the user's units."""
        step = moments.block_size(self._width, self._largest_theta)
        return np.concatenate([np.zeros(0), *(self._value(X[i : i + step]) for i in range(0, X.shape[0], step))])

    def score_with_gradient(self, acquisition: Any, X: Array) -> tuple[Array, Array]:
        """The same of a few points, and their gradients ``(n, D)``."""
        with blas_threads(self.known_inputs.shape[0]):
            points = [part.anchors.reduced(X) for part in self._parts]
            seen = [[_outcome(m, p) for m in part.modes] for part, p in zip(self._parts, points, strict=True)]
            terms = [[self._terms(m, o) for m, o in zip(part.modes, s, strict=True)] for part, s in self._with(seen)]
            total = logsumexp(np.concatenate([t.value for ts in terms for t in ts], axis=1), axis=1)
            gradient = np.zeros(X.shape)
            for part, at, outcomes, own in zip(self._parts, points, seen, terms, strict=True):
                adjoints = [
                    self._pull_back(m, o, t, at, total) for m, o, t in zip(part.modes, outcomes, own, strict=True)
                ]
                summed = Adjoint(*(sum(a) for a in zip(*adjoints, strict=True)))
                gradient += part.anchors.gradient(X, at, summed)
        return total, gradient

    def pool_scores(self, acquisition: Any, view: PoolView) -> Array:
        """Scores of every point of a pool, ``(M,)``."""
        return np.concatenate([self.score(acquisition, points) for _, points in view.pool.blocks(BLOCK_ROWS)])

    # -- draws at the anchors ------------------------------------------------------------------------

    @property
    def _width(self) -> int:
        """Numbers that a prediction at one point is made of."""
        pending = 0 if self.pending is None else self.pending.shape[0]
        return pending + max(c.gp.width for belief in self.beliefs for c in belief.components)

    @property
    def _largest_theta(self) -> int:
        return max(c.gp.theta.shape[0] for belief in self.beliefs for c in belief.components)

    @cached_property
    def _parts(self) -> tuple[_Part, ...]:
        X = self.promising if self.pending is None else np.vstack([self.promising, self.pending])
        normal = _normal_draws(X.shape[0], self.settings.draws, self.seed)
        with blas_threads(self.known_inputs.shape[0]):
            return tuple(
                self._part(belief, float(weight), X, normal)
                for belief, weight in zip(self.beliefs, self.mixture.weights, strict=True)
            )

    def _part(self, belief: Belief, weight: float, X: Array, normal: Array) -> _Part:
        anchors = Anchors.of(belief, X)
        # Improvements are in the units of the outputs, which beliefs may scale in their own way.
        unit = float(np.log(belief.output.scale))
        modes = []
        for component in belief.components:
            view = ComponentView(component, _spread(belief))
            features = view.features(anchors.z)
            covariance = view.covariances(features, features, anchors.gram)[1]
            scale = np.sqrt(np.diagonal(covariance))
            values, vectors = eigh(covariance / np.outer(scale, scale))
            roots = np.sqrt(np.maximum(values, self.settings.least_eigenvalue))
            drawn = self.sign * features.mean[:, None] + scale[:, None] * ((vectors * roots) @ normal)
            inverse_root = (vectors / roots).T
            pulls = (inverse_root.T @ normal) / scale[:, None]
            log_weight = float(np.log(weight * component.weight / self.settings.draws)) + unit
            modes.append(_Mode(view, log_weight, features, scale, inverse_root, pulls, drawn.min(axis=0)))
        return _Part(anchors, tuple(modes))

    # -- scores --------------------------------------------------------------------------------------

    def _with(self, seen: list[list[_Outcome]]) -> Any:
        return zip(self._parts, seen, strict=True)

    def _value(self, X: Inputs) -> Array:
        with blas_threads(self.known_inputs.shape[0]):
            terms = []
            for part in self._parts:
                points = part.anchors.reduced(X)
                terms += [self._terms(mode, _outcome(mode, points)).value for mode in part.modes]
        result: Array = logsumexp(np.concatenate(terms, axis=1), axis=1)
        return result

    def _terms(self, mode: _Mode, outcome: _Outcome) -> Any:
        """The logarithm of each draw's part in the expectation, ``(M, S)``, and its slopes."""
        # For a maximum the signs of mean and draws are turned; the draws' signs make no difference.
        mean = self.sign * outcome.features.mean[:, None] + outcome.mean
        found = log_improvement(mean, outcome.variance[:, None], mode.best)
        return found._replace(value=found.value + mode.log_weight)

    def _pull_back(self, mode: _Mode, outcome: _Outcome, terms: Any, points: ReducedPoints, total: Array) -> Adjoint:
        share = np.exp(terms.value - total[:, None])
        of_mean = share * terms.by_mean  # (M, S)
        of_variance = np.einsum("ms,ms->m", share, terms.by_variance)
        cross = of_mean @ mode.pulls.T - 2.0 * of_variance[:, None] * outcome.solved
        zero = np.zeros_like(of_variance)
        adjoint = MomentAdjoint(self.sign * of_mean.sum(axis=1), of_variance, zero, cross, np.zeros_like(cross))
        return mode.view.pull_back(outcome.features, points, adjoint, mode.features)


def _outcome(mode: _Mode, points: ReducedPoints) -> _Outcome:
    features = mode.view.features(points.z)
    cross = mode.view.covariances(features, mode.features, points.cross)[1]
    half = (cross / mode.scale) @ mode.inverse_root.T
    floor = moments.RELATIVE_VARIANCE_FLOOR * mode.view.component.gp.output_variance
    variance = mode.view.variance(features, points.rho) - np.einsum("mb,mb->m", half, half)
    solved = half @ mode.inverse_root / mode.scale
    return _Outcome(features, cross @ mode.pulls, np.maximum(variance, floor), solved)


def _spread(belief: Belief) -> Spread:
    return belief.marginal if belief.marginal in ("map", "bbq") else "mgp"


def _normal_draws(n: int, draws: int, seed: int) -> Array:
    """Draws of ``n`` independent normal variables, ``(n, draws)``, spread evenly where there are few variables."""
    from scipy.stats import norm, qmc  # importing it takes half a second, and a learner that learns does not need it

    if n > qmc.Sobol.MAXDIM:
        return np.random.default_rng(seed).standard_normal((n, draws))
    uniform = qmc.Sobol(n, scramble=True, rng=seed).random(draws)
    result: Array = norm.ppf(np.clip(uniform, 1e-12, 1.0 - 1e-12)).T
    return result
