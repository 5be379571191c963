"""``integrate``: experiments chosen to narrow an integral, Bayesian quadrature on a learned embedding."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from numbers import Real
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrs
from scipy.spatial.distance import cdist

from ridgeway import checks
from ridgeway import progress as progresses
from ridgeway.active import loop
from ridgeway.active.learner import ActiveLearner
from ridgeway.active.loop import Callback, Rule
from ridgeway.active.outcome import Outcome
from ridgeway.belief import measures, process_draws
from ridgeway.belief.belief import Belief
from ridgeway.belief.integral import Integral
from ridgeway.belief.process_draws import ProcessDraw
from ridgeway.blas import blas_threads
from ridgeway.gp.kernel_means import kernel_means
from ridgeway.gp.measures import Points
from ridgeway.gp.scaling import InputScaling
from ridgeway.spaces.pool import Pool
from ridgeway.spaces.space import Space
from ridgeway.text.counts import counted
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

    def __str__(self) -> str:
        return f"{self.integral} from {counted(self.learner.record.n, 'observation')}; {self.learner.ended}"


def integrate(
    f: Callable[..., Any],
    space: Space | ActiveLearner,
    budget: int = 100,
    *,
    over: Any = None,
    stop_below: float | None = None,
    callback: Callback | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    timeout: float | None = None,
    most_failures: int = 5,
    progress: Any = None,
    **options: Any,
) -> Integration:
    """The integral of ``f`` under a measure with at most ``budget`` experiments, chosen to narrow it.

    Experiments alternate: one where the integral's variance is expected to fall most, one that the learner chooses to
    learn the directions or to fill the space. A failed experiment counts towards the budget.

    Parameters
    ----------
    f, space, budget, callback, executor, workers, timeout, most_failures, progress, options
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
    learner = loop.given_learner(space, options)
    if learner.goal != "learn":
        raise ValueError(f'space must be a learner whose goal is "learn", got one whose goal is {learner.goal!r}')
    say = progresses.resolve(learner.progress if progress is None else progress)
    budget = checks.count(budget, "budget", 1)
    over = own_measure(learner.space) if over is None else over
    measures.choose(cast(Belief, _Unfitted(learner.space)), over)  # an error comes before an experiment costs anything
    rule = _Narrow(over, stop_below, most_failures)
    while True:
        learner.ended = ""
        loop.run(f, learner, budget, partial(_next, learner, over), rule, say, callback, executor, workers, timeout)
        learner.search_again()
        found = learner.belief.integrate(over)
        # Another mode may have been found that knows less.
        if not (rule.is_met and not rule.narrow(found) and learner.n_done < budget):
            break
        rule.is_met = False
    learner.ended = learner.ended or loop.spent(budget)
    return Integration(found, learner, tuple(rule.course))


@dataclass(frozen=True)
class _Unfitted:
    """What a measure is checked against, as a belief has it, where there is none yet."""

    where: Space

    @property
    def X(self) -> Array:
        return np.stack(self.where.bounds)

    @property
    def space(self) -> Any:
        return SimpleNamespace(scaling=InputScaling.from_bounds(*self.where.bounds))

    @property
    def names(self) -> tuple[str, ...] | None:
        return self.where.names

    @property
    def labels(self) -> tuple[str, ...]:
        return self.where.labels


def _next(learner: ActiveLearner, over: Any) -> Array:
    """The next point: one that narrows the integral, then one that the learner chooses, by turns after the first."""
    number = learner.n_done + len(learner.pending) - learner.n_initial
    if learner.record.n < learner.n_initial or number % 2:
        return learner.ask()
    x = best_point(learner, over)
    learner.reserve(x)
    return x


class _Narrow(Rule):
    """Stop once the integral is narrow enough."""

    def __init__(self, over: Any, stop_below: Any, most_failures: int) -> None:
        super().__init__(most_failures)
        number = isinstance(stop_below, Real) and not isinstance(stop_below, bool)
        if stop_below is not None and not (number and 0.0 < float(stop_below) < np.inf):
            raise ValueError(f"stop_below must be a positive number or None, got {stop_below!r}")
        self.over = over
        self.stop_below = None if stop_below is None else float(stop_below)
        self.is_met = False
        self.course: list[Step] = []

    def after_outcome(self, learner: ActiveLearner, outcome: Outcome) -> str:
        super().after_outcome(learner, outcome)
        if outcome.value is None or learner.record.n < learner.n_initial:
            return ""
        now = learner.belief.integrate(self.over, n_draws=_DRAWS)
        self.course.append(Step(learner.record.n, now.mean, now.std))
        # Few draws show the course; that it is narrow enough is for all of them to say.
        self.is_met = self.narrow(now) and self.narrow(learner.belief.integrate(self.over))
        return f"the integral's standard deviation is below {self.stop_below:g}" if self.is_met else ""

    def narrow(self, found: Integral) -> bool:
        """Whether it is narrow enough."""
        return self.stop_below is not None and found.std < self.stop_below


def best_point(learner: ActiveLearner, over: Any = None) -> Array:
    """Where an experiment is expected to narrow the integral most: the best of candidates, and of more around it.

    Pending points count as observed, failed ones too: their outcome will not come, but asking there again is no use.
    """
    belief, space, record = learner.belief, learner.space, learner.record
    rng = np.random.default_rng([learner.random_state, 7, learner.n_done + len(record.pending)])
    scorer = ReductionScorer(belief, over, given=np.vstack([record.pending, record.failed]))
    if isinstance(space, Pool):
        taken = space.taken(record.seen)
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
    hyperparameters and the covariance of the means over them. Observations at the points ``given (m, D)`` are on
    their way: variances do not depend on what they will be.
    """

    def __init__(self, belief: Belief, over: Any = None, n_draws: int = _DRAWS, given: Any = ()) -> None:
        self.belief = belief
        self.measure = measures.scaled(belief, over)
        self._given = self._scaled(given) if len(given) else np.zeros((0, belief.space.scaling.D))
        with blas_threads(belief.y.shape[0]):
            drawn = process_draws.draws(belief, n_draws, np.random.default_rng(belief.seed))
            self._drawn = [(one, *self._at_data(one)) for one in drawn]

    def __call__(self, X: Any) -> Array:
        """Scores ``(n,)`` of points ``(n, D)`` in the user's units."""
        Z = np.vstack([self._given, self._scaled(X)])
        with blas_threads(self.belief.y.shape[0]):
            parts = [self._moments(one, solved, Z) for one, _, solved in self._drawn]
        integrals = np.array([mean for _, mean, _ in self._drawn])
        means, covariances, variances, between = (np.stack(values) for values in zip(*parts, strict=True))
        away, apart = integrals - integrals.mean(), means - means.mean(axis=0)
        together = covariances.mean(axis=0) + away @ means / len(parts)
        variance = variances.mean(axis=0) + means.var(axis=0)
        m = len(self._given)
        if m:
            between = between.mean(axis=0) + apart[:, :m].T @ apart / len(parts)
            between[:, :m][np.diag_indices(m)] = variance[:m]  # with the noise of the observation
            gain = np.linalg.solve(between[:, :m], between[:, m:])
            together = together[m:] - together[:m] @ gain
            variance = variance[m:] - np.sum(between[:, m:] * gain, axis=0)
        result: Array = together**2 / variance
        return result

    def _scaled(self, X: Any) -> Array:
        result: Array = self.belief.space.scaling.scaled(self.belief.points(X))
        return result

    def _at_data(self, one: ProcessDraw) -> tuple[float, Array]:
        """The integral's mean, and ``G⁻¹ z``."""
        gp = one.gp
        z = gp.output_variance * kernel_means(self.measure, gp.kernel, one.rows, one.U).to_data
        return gp.mean + float(z @ gp.alpha), dpotrs(gp.L, z, lower=1)[0]

    def _moments(self, one: ProcessDraw, solved: Array, Z: Array) -> tuple[Array, Array, Array, Array]:
        """Of an observation at each point: its mean, its covariance with the integral, its variance.

        The last is the covariance of the function at the first points, those given, with the function at all.
        """
        gp, U, m = one.gp, one.rows.project(Z), len(self._given)
        gamma2 = gp.output_variance
        k = gamma2 * gp.kernel.value(cdist(U, one.U, "sqeuclidean"))
        z = gamma2 * kernel_means(self.measure, gp.kernel, one.rows, U).to_data
        v = dtrsm(1.0, gp.L, k.T, lower=1)
        variance = np.maximum(gamma2 - np.einsum("nm,nm->m", v, v), 0.0) + float(np.median(gp.noise_diagonal))
        between = gamma2 * gp.kernel.value(cdist(U[:m], U, "sqeuclidean")) - v[:, :m].T @ v
        return gp.mean + k @ gp.alpha, z - k @ solved, variance, between


def own_measure(space: Space) -> Any:
    """What an integral over a space is over: the points of a pool, or the part of a box that is allowed."""
    if isinstance(space, Pool):
        return _pool_points(space)
    return space if space.constraints or space.categories or space.steps is not None else None


def _pool_points(pool: Pool) -> Points:
    """The points of a pool, or of a large one some thousands of them, always the same."""
    if len(pool) <= _POOL_SAMPLE:
        return Points(pool.rows(np.arange(len(pool))))
    return Points(pool.rows(pool.uniform(_POOL_SAMPLE, np.random.default_rng(0))))


__all__ = ["Integration", "ReductionScorer", "Step", "best_point", "integrate"]
