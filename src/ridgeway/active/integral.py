"""``integrate``: experiments chosen to narrow an integral, Bayesian quadrature on a learned embedding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrs
from scipy.spatial.distance import cdist

from ridgeway import checks
from ridgeway.active.evaluation import Evaluations
from ridgeway.active.learner import ActiveLearner
from ridgeway.belief import measures, process_draws
from ridgeway.belief.belief import Belief
from ridgeway.belief.integral import Integral
from ridgeway.belief.process_draws import ProcessDraw
from ridgeway.blas import blas_threads
from ridgeway.gp.kernel_means import kernel_means
from ridgeway.gp.measures import Points
from ridgeway.spaces.pool import Pool
from ridgeway.spaces.space import Space
from ridgeway.types import Array

_DRAWS = 12  # of the hyperparameters that a choice averages over
_CANDIDATES = 512  # points that are scored, and again around the best
_ROUNDS = 2
_POOL_SAMPLE = 4096  # points of a pool that its integral is over


class Step(NamedTuple):
    """The integral after a number of experiments."""

    n: int
    mean: float
    std: float


@dataclass(frozen=True)
class Integration:
    """What :func:`integrate` found: the integral, the learner that made the experiments, and the way there."""

    integral: Integral
    learner: ActiveLearner
    course: tuple[Step, ...]

    @property
    def mean(self) -> float:
        """Of the integral."""
        return self.integral.mean

    @property
    def std(self) -> float:
        """Standard deviation of the integral."""
        return self.integral.std


def integrate(
    f: Callable[..., Any],
    space: Space | ActiveLearner,
    budget: int = 100,
    *,
    over: Any = None,
    stop_below: float | None = None,
    callback: Callable[[ActiveLearner], Any] | None = None,
    most_failures: int = 5,
    **options: Any,
) -> Integration:
    """The integral of ``f`` under a measure with at most ``budget`` experiments, chosen to narrow it.

    Experiments alternate: one where the integral's variance is expected to fall most, one that the learner chooses to
    learn the directions or to fill the space. A failed experiment counts towards the budget.

    Parameters
    ----------
    f, space, budget, callback, most_failures, options
        As for :func:`ridgeway.learn`.
    over
        How the inputs are distributed, as in :meth:`Belief.integrate`; by default uniform in the box, or the points
        of the pool.
    stop_below
        Stop once the integral's standard deviation is below this, in the units of ``f``.

    Examples
    --------
    >>> import numpy as np, ridgeway as rw
    >>> found = rw.integrate(lambda x: np.exp(x[0] - x[1]), rw.Box([0, 0], [1, 1]), budget=12, embedding=rw.Linear(1))
    >>> bool(abs(found.mean - 2 * (np.cosh(1) - 1)) < 0.01)
    True
    """
    learner = space if isinstance(space, ActiveLearner) else ActiveLearner(space, **options)
    if learner is space and options:
        raise TypeError(f"options must be left out where a learner is given: {', '.join(options)}")
    if stop_below is not None and not (isinstance(stop_below, int | float) and 0.0 < stop_below < np.inf):
        raise ValueError(f"stop_below must be a positive number or None, got {stop_below!r}")
    budget, most = checks.count(budget, "budget", 1), checks.count(most_failures, "most_failures", 1)
    over = _own_measure(learner.space) if over is None else over
    course: list[Step] = []
    failures, first = 0, learner.n_initial
    learner.ended = ""
    with Evaluations(f, None, 1, None) as experiments:
        while learner.n_done < budget and not learner.ended and learner.record.n_left:
            ready = learner.record.n >= first
            chosen = ready and (learner.record.n - first) % 2 == 0
            x = best_point(learner, over) if chosen else learner.ask()
            experiments.submit(x)
            outcome = experiments.next()
            if outcome.value is None:
                learner.fail(x, outcome.reason or "failed")
                failures += 1
                if failures >= most:
                    last = f"the last {failures} experiments failed, the last one: {outcome.reason}"
                    raise RuntimeError(last) from outcome.error
                continue
            failures = 0
            learner.tell(x, outcome.value)
            if learner.record.n >= first:
                now = learner.belief.integrate(over, n_draws=_DRAWS)
                course.append(Step(learner.record.n, now.mean, now.std))
                if stop_below is not None and now.std < stop_below:
                    learner.ended = f"the integral's standard deviation is below {stop_below:g}"
            if callback is not None and callback(learner):
                learner.ended = "stopped by the callback"
    learner.search_again()
    learner.ended = learner.ended or f"the budget of {budget} experiments is spent"
    return Integration(learner.belief.integrate(over), learner, tuple(course))


def best_point(learner: ActiveLearner, over: Any = None) -> Array:
    """Where an experiment is expected to narrow the integral most: the best of candidates, and of more around it."""
    belief, space = learner.belief, learner.space
    rng = np.random.default_rng(learner.record.n)
    scorer = ReductionScorer(belief, over)
    if isinstance(space, Pool):
        taken = space.taken(learner.record.seen)
        rows = space.rows(space.uniform(min(_CANDIDATES, len(space) - len(taken)), rng, exclude=taken))
        return np.asarray(rows[int(np.argmax(scorer(rows)))])
    lower, upper = space.bounds
    X = space.filling(_CANDIDATES, rng)
    scores = scorer(X)
    best, value = X[int(np.argmax(scores))], float(scores.max())
    for round_ in range(1, _ROUNDS + 1):
        width = (upper - lower) * 0.2**round_
        near = space.snapped(best + width * rng.standard_normal((_CANDIDATES // 4, lower.shape[0])))
        scores = scorer(near)
        if scores.max() > value:
            best, value = near[int(np.argmax(scores))], float(scores.max())
    return best


class ReductionScorer:
    """The expected reduction of the integral's variance by an observation at each point, outputs standardised.

    Integral ``I`` and observation ``y(x)`` are taken as jointly Gaussian, with the covariances that draws of the
    hyperparameters give them: ``Cov(I, y)² / Var(y)``, where ``Cov`` is the mean of the covariances given the
    hyperparameters and the covariance of the means over them.
    """

    def __init__(self, belief: Belief, over: Any = None, n_draws: int = _DRAWS) -> None:
        self.belief = belief
        self.measure = measures.scaled(belief, over)
        with blas_threads(belief.y.shape[0]):
            drawn = process_draws.draws(belief, n_draws, np.random.default_rng(belief.seed))
            self._drawn = [(one, *self._at_data(one)) for one in drawn]

    def __call__(self, X: Any) -> Array:
        """Scores ``(n,)`` of points ``(n, D)`` in the user's units."""
        Z = self.belief.space.scaling.scaled(self.belief.points(X))
        with blas_threads(self.belief.y.shape[0]):
            parts = [self._moments(one, solved, Z) for one, _, solved in self._drawn]
        integrals = np.array([mean for _, mean, _ in self._drawn])
        means, covariances, variances = (np.stack(values) for values in zip(*parts, strict=True))
        away = integrals - integrals.mean()
        together = covariances.mean(axis=0) + away @ means / len(parts)
        variance = variances.mean(axis=0) + means.var(axis=0)
        result: Array = together**2 / variance
        return result

    def _at_data(self, one: ProcessDraw) -> tuple[float, Array]:
        """The integral's mean, and ``G⁻¹ z``."""
        gp = one.gp
        z = gp.output_variance * kernel_means(self.measure, gp.kernel, one.rows, one.U).to_data
        return gp.mean + float(z @ gp.alpha), dpotrs(gp.L, z, lower=1)[0]

    def _moments(self, one: ProcessDraw, solved: Array, Z: Array) -> tuple[Array, Array, Array]:
        """Of an observation at each point: its mean, its covariance with the integral, its variance."""
        gp, U = one.gp, one.rows.project(Z)
        gamma2 = gp.output_variance
        k = gamma2 * gp.kernel.value(cdist(U, one.U, "sqeuclidean"))
        z = gamma2 * kernel_means(self.measure, gp.kernel, one.rows, U).to_data
        v = dtrsm(1.0, gp.L, k.T, lower=1)
        variance = np.maximum(gamma2 - np.einsum("nm,nm->m", v, v), 0.0) + float(np.median(gp.noise_diagonal))
        return gp.mean + k @ gp.alpha, z - k @ solved, variance


def _own_measure(space: Space) -> Any:
    """What an integral over a space is over: the points of a pool, or the part of a box that is allowed."""
    if isinstance(space, Pool):
        return _pool_points(space)
    return space if space.constraints or space.categories else None


def _pool_points(pool: Pool) -> Points:
    """The points of a pool, or of a large one some thousands of them, always the same."""
    if len(pool) <= _POOL_SAMPLE:
        return Points(pool.rows(np.arange(len(pool))))
    return Points(pool.rows(pool.uniform(_POOL_SAMPLE, np.random.default_rng(0))))


__all__ = ["Integration", "ReductionScorer", "Step", "best_point", "integrate"]
