"""A mode known from a part of many rows, brought to all of them in a few passes.

Many rows hold the function along the embedding. What they say grows with their number for the space that the
embedding's rows span, and for the noise. It does not grow for what describes the function: how long the rows are (a
longer row is a slower function of the same combination), output scale, mean, and the prior's scale. Of these all rows
know no more than a part, and to all rows their density is a small difference of large sums. So they stay as the part
has them, with the curvature that it has; where rows are not too many, a step or two in everything follow
(:mod:`ridgeway.inference.many_rows`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, block_diag, cho_factor, cho_solve

from ridgeway.errors import NumericalError
from ridgeway.gp import feature_likelihood
from ridgeway.gp.feature_process import FeatureData
from ridgeway.gp.posterior import Evaluation, Posterior
from ridgeway.gp.process import LOG_NOISE, N_GLOBAL
from ridgeway.inference import evidence
from ridgeway.inference.laplace import Laplace, approximate
from ridgeway.inference.newton import Solve
from ridgeway.inference.tilted_density import Frame, Tilted
from ridgeway.types import Array

_ROUNDS = 4  # bases at most, each chosen around the mode found with the one before
_DECREMENT = 1e-6  # nats that are not worth another pass
_TOLERABLE = 1e-2  # nats that may be left where steps lead no further
_PROGRESS = 0.3  # of the nats left that a step may leave without a new curvature
_CURVATURES, _STEPS = 4, 30  # at most


def on_all_rows(model: Posterior, known: Laplace) -> Laplace:
    """The mode of ``model``, whose data are all rows, near one that is ``known`` from a part of them."""
    data = model.data
    assert isinstance(data, FeatureData)
    theta = known.theta
    for _ in range(_ROUNDS):
        fixed = replace(model, data=data.around(model.embedding, model.kernel, theta))
        at = _climbed(fixed, known, theta)
        theta = at.gp.theta
        assert isinstance(fixed.data, FeatureData)
        if fixed.data.covers(theta) and fixed.data.is_fine_for(model.embedding, model.kernel, theta):
            return _concluded(fixed, at, known)
    raise NumericalError("the embedding grows out of every basis")


@dataclass(frozen=True)
class _Split:
    """Directions of ``theta`` that rows decide, and those in which only the description of the function changes."""

    rows: Array  # (d, r) of the embedding
    decided_globals: tuple[int, ...]  # indices, from the end of theta

    @classmethod
    def at(cls, posterior: Posterior, theta: Array) -> _Split:
        """Where the embedding is that of ``theta``."""
        rows = theta[:-N_GLOBAL].reshape(-1, posterior.data.Z.shape[1])
        is_free = posterior.priors.globals[1][LOG_NOISE] > 0
        return cls(rows, (LOG_NOISE,) if is_free else ())

    @cached_property
    def decided(self) -> Array:
        """``(P + 4, k)``: changes of the embedding's rows across the space that they span, and the noise."""
        d = self.rows.shape[0]
        across = np.linalg.qr(self.rows.T, mode="complete")[0][:, d:]
        return self._padded(np.kron(np.eye(d), across), self.decided_globals)

    @cached_property
    def described(self) -> Array:
        """``(P + 4, P + 4 - k)``: the rows' combinations with each other, and the other hyperparameters."""
        d = self.rows.shape[0]
        others = tuple(i for i in range(-N_GLOBAL, 0) if i not in self.decided_globals)
        return self._padded(np.kron(np.eye(d), self.rows.T), others)

    def _padded(self, of_rows: Any, of_globals: tuple[int, ...]) -> Array:
        P, k = of_rows.shape
        result = np.zeros((P + N_GLOBAL, k + len(of_globals)))
        result[:P, :k] = of_rows
        for column, i in enumerate(of_globals):
            result[i, k + column] = 1.0
        return result


def _climbed(fixed: Posterior, known: Laplace, theta: Array) -> Evaluation:
    """The point of most density in the directions that rows decide."""
    more = fixed.data.n / known.posterior.data.n
    Q = _Split.at(fixed, known.theta).decided
    tilted = Tilted.of(fixed, Frame.at(known, evidence.split(fixed)[1], more).tilt)
    solve = _solver(-more * (Q.T @ known.hessian @ Q))
    at, n_curvatures = tilted.evaluate(theta), 0
    left = _left(at, Q, solve)
    for _ in range(_STEPS):
        if left < _DECREMENT:
            break
        moved = tilted.evaluate(at.gp.theta + Q @ solve(Q.T @ at.gradient))
        then = _left(moved, Q, solve)
        is_slow = then > _PROGRESS * left
        if then < left:
            at, left = moved, then
        if is_slow:
            if n_curvatures == _CURVATURES:
                break
            solve = _solver(-(Q.T @ tilted.hessian(at.gp) @ Q))
            left, n_curvatures = _left(at, Q, solve), n_curvatures + 1
    if left > _TOLERABLE:
        raise NumericalError(f"steps on all rows lead nowhere: {left:.2g} nats are left")
    return tilted.without(at)


def _solver(K: Array) -> Solve:
    try:
        return partial(cho_solve, cho_factor(K, lower=True), check_finite=False)
    except LinAlgError:
        raise NumericalError("the rows do not decide the embedding") from None


def _left(at: Evaluation, Q: Array, solve: Solve) -> float:
    """Nats that a Newton step in the directions ``Q`` would gain."""
    gradient = Q.T @ at.gradient
    return 0.5 * float(gradient @ solve(gradient))


def _concluded(fixed: Posterior, at: Evaluation, known: Laplace) -> Laplace:
    """The Gaussian: as all rows have it where they decide, and as the part has it elsewhere."""
    curvature = feature_likelihood.curvature(at.gp)
    gp: Any = replace(at.gp, response=curvature.response)
    before, here = _Split.at(fixed, known.theta), _Split.at(fixed, gp.theta)
    decided = here.decided.T @ fixed.hessian_of(gp, curvature.hessian) @ here.decided
    T = np.linalg.inv(np.hstack([here.decided, here.described]))
    H = T.T @ block_diag(decided, _description_alone(known.hessian, before)) @ T
    gradient = here.decided @ (here.decided.T @ at.gradient)
    inner, _ = evidence.split(fixed)
    return approximate(fixed, Evaluation(gp, at.log_density, gradient), inner, 0.5 * (H + H.T))


def _description_alone(H: Array, split: _Split) -> Array:
    """The Hessian in what describes the function where all else follows: a Schur complement."""
    Q, F = split.decided, split.described
    across = Q.T @ H @ F
    result: Array = F.T @ H @ F - across.T @ np.linalg.solve(Q.T @ H @ Q, across)
    return result
