"""Functions drawn from a belief and its rivals, and how far to trust the spread of what they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ridgeway import checks
from ridgeway.belief import process_draws, rivals
from ridgeway.belief.estimates import Estimate, checked_level
from ridgeway.belief.process_draws import ProcessDraw
from ridgeway.belief.rivals import Weighed
from ridgeway.blas import blas_threads
from ridgeway.gp import drawn_functions, fourier
from ridgeway.gp import measures as distributions
from ridgeway.gp.drawn_functions import DrawnFunction
from ridgeway.gp.kernel_means import MOST_DIRECTIONS, principal
from ridgeway.gp.scaling import OutputScaling, is_constant
from ridgeway.text.counts import counted
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

T = TypeVar("T")
N_DRAWS, LEAST_DRAWS = 200, 40
LEAST_OBSERVATIONS = 4
_WORK = 4e9  # multiply-adds to spend on splitting variances
_NARROWING = 1.0 / 6.0  # power of how much better than expected left-out predictions do (docs/howto/explain.md)
_NARROWEST = 0.3  # factor on intervals at least
_REACH = 1000.0  # length scales over which a function drawn is followed


class Drawing(NamedTuple):
    """How functions are drawn from a belief, and what intervals are made of the draws; as Belief.sensitivity says."""

    level: float = 0.95
    rivals: bool = True
    n_draws: int | None = None
    random_state: int = 0


@dataclass(frozen=True)
class Average:
    """What averages share: the models and their weights, the level of intervals, and how left-out predictions did."""

    models: tuple[Weighed, ...]
    level: float
    dispersion: float  # errors of left-out predictions relative to what was expected of them
    n_draws: int
    seed: int

    @property
    def shares(self) -> dict[str, float]:
        """Weight of each model, by its name."""
        return {str(one.belief.model): one.weight for one in self.models}

    @property
    def missed(self) -> float:
        """Variance that the models leave to noise of unknown size, in the squared units of ``y``.

        It may be noise, or what they miss of the function.
        """
        return sum(weight * _learned_noise(one) for one, weight in self.models)

    @property
    def unexplained(self) -> float:
        """Share of the variance of the observations that is left when each is predicted from the others."""
        return sum(weight * unexplained(one) for one, weight in self.models)

    @property
    def missed_along(self) -> tuple[float, float]:
        """Covariance of what left-out predictions miss with them, as a share of the variance of the observations.

        With its standard error. Far from its data a process returns to its mean, so the function that it predicts
        varies too little, and what it misses goes along with it: its variance is larger by twice this share.
        """
        first = self.models[0].belief
        y = first.y[first.trusted]
        each = [weight * one.leave_one_out().mean[first.trusted] for one, weight in self.models]
        predicted = np.sum(each, axis=0)
        products = (y - predicted) * (predicted - predicted.mean()) / max(float(np.var(y)), 1e-300)
        return float(products.mean()), float(products.std() / np.sqrt(y.shape[0]))

    def over_draws(self, measure: Any, statistic: Callable[[DrawnFunction, OutputScaling], T]) -> list[T]:
        """A statistic of every function drawn."""

        def of_process(one: ProcessDraw, output: OutputScaling, rng: np.random.Generator) -> T:
            return statistic(drawn_functions.source(*one, measure).draw(rng), output)

        return self._over_processes(of_process)

    def values(self, measure: Any, X: Array) -> list[Array]:
        """Every function drawn, at points ``(n, D)`` of the measure, which may reach as far as it likes."""

        def of_process(one: ProcessDraw, output: OutputScaling, rng: np.random.Generator) -> Array:
            if _follows(one, measure):
                return output.mean(drawn_functions.source(*one, measure).draw(rng).values(X))
            return output.mean(drawn_functions.path(one.gp, one.U, rng)(one.rows.project(X)))

        return self._over_processes(of_process)

    def _over_processes(self, of_process: Callable[[ProcessDraw, OutputScaling, np.random.Generator], T]) -> list[T]:
        rng = np.random.default_rng(self.seed)
        result: list[T] = []
        for belief, weight in self.models:
            n = max(2, round(weight * self.n_draws))
            with blas_threads(belief.y.shape[0]):
                result += [of_process(one, belief.output, rng) for one in process_draws.draws(belief, n, rng)]
        return result

    def corrected(self, stds: Any) -> Array:
        """Standard deviations of functions drawn, with what left-out predictions miss of them."""
        share, error = self.missed_along
        factors = 1.0 + 2.0 * np.random.default_rng([self.seed, 1]).normal(share, error, np.shape(stds))
        result: Array = np.asarray(stds) * np.sqrt(np.maximum(factors, 0.0))
        return result

    def estimate(self, values: Any) -> Estimate:
        """Mean and interval of a statistic over draws, widened where left-out predictions ask for it."""
        return Estimate.of(np.asarray(values), self.level, max(self.dispersion, 1.0))

    def estimate_of_shares(self, values: Any) -> Estimate:
        """The same of shares of inputs, narrowed a sixth of the way (in logarithms) where these predictions do better.

        How the variance is shared depends on the directions, which have all of the noise that a belief insists on in
        their uncertainty; the mean and the variance also depend on the function where no data are, of which left-out
        observations say little.
        """
        ratio = self.dispersion
        spread = ratio if ratio > 1.0 else max(ratio**_NARROWING, _NARROWEST)
        return Estimate.of_shares(np.asarray(values), self.level, spread)


def average(belief: Belief, measure: Any, drawing: Drawing, what: str, by_inputs: bool = True) -> Average:
    """How to average a belief, after checks that it can be; ``by_inputs`` where single inputs will be held fixed."""
    level, use_rivals, n_draws, seed = drawing
    level, seed = checked_level(level), checks.count(seed, "random_state")
    n_draws = None if n_draws is None else checks.count(n_draws, "n_draws", 2)
    n = belief.y.shape[0]
    if n < LEAST_OBSERVATIONS or is_constant(belief.y):
        got = counted(n, "observation") if n < LEAST_OBSERVATIONS else f"{n} equal ones"
        raise ValueError(f"{what} needs at least {LEAST_OBSERVATIONS} observations that differ, got {got}")
    models = rivals.weighed(belief, belief.rivals) if use_rivals else [Weighed(belief, 1.0)]
    followed = all(_follows(one, measure) for model in models for one in process_draws.at_modes(model.belief))
    if by_inputs and not followed:
        raise ValueError(
            f"over reaches too far for {what}, farthest in input {_farthest(models[0].belief, measure)}: cut "
            "distributions with heavy tails off, or give a smaller box; integrate and distribution take it as it is"
        )
    if n_draws is None:
        each = sum(weight * work(one, measure) for one, weight in models) if followed else _WORK / N_DRAWS
        n_draws = int(np.clip(_WORK / each, LEAST_DRAWS, N_DRAWS))
    ratio = sum(weight * dispersion(one) for one, weight in models)
    return Average(tuple(models), level, ratio, n_draws, seed)


def _follows(one: ProcessDraw, measure: Any) -> bool:
    """Whether functions drawn from a process can be followed as far as a measure reaches."""
    gp, rows, U = one
    if gp.kernel.name != "se" or (not rows.are_scales and rows.k > MOST_DIRECTIONS):
        return True  # sums over points
    if rows.are_scales:
        widths = np.array([high - low for low, high in map(measure.interval, range(measure.D))])
        return bool(np.max(rows.matrix * widths) <= _REACH) and distributions.resolves(measure, rows.matrix[None])
    R = rows.matrix
    if not (distributions.resolves(measure, R) and np.isfinite(measure.covariance(R)).all()):
        return False
    turned, V = principal(measure, R, U)
    extent = measure.extent(turned)
    return bool(np.max(extent) <= _REACH) and fourier.fits(extent, V)


def _farthest(belief: Belief, measure: Any) -> str:
    """The input along which a measure reaches farthest, in units of what matters to a belief."""
    rows = process_draws.at_modes(belief)[0].rows.matrix
    lower, upper = np.transpose([measure.interval(j) for j in range(measure.D)])
    return belief.labels[int(np.argmax(np.abs(np.atleast_2d(rows)).max(axis=0) * (upper - lower)))]


def _learned_noise(belief: Belief) -> float:
    floor = belief.output.scale * belief.posterior.priors.noise_floor
    return max(belief.noise_variance - floor**2, 0.0)


def work(belief: Belief, measure: Any) -> float:
    """Multiply-adds, roughly, of splitting the variance of one function drawn from a belief."""
    return drawn_functions.work(belief.kernel, process_draws.at_modes(belief)[0].rows, belief.y.shape[0], measure)


def dispersion(belief: Belief) -> float:
    """Errors of observations predicted from the others, relative to what the belief expects of them.

    1 for a belief whose noise is right; less where the data have less noise than the belief will believe, such as a
    simulator without any. The embedding's parameters that the data determine take their share of the errors.
    """
    left_out = belief.leave_one_out()
    trusted = belief.trusted
    z2 = ((belief.y - left_out.mean)[trusted] / left_out.std[trusted]) ** 2
    used = _determined(belief)
    free = max(z2.shape[0] - used, 0.1 * z2.shape[0])
    return float(np.sqrt(z2.sum() / free))


def unexplained(belief: Belief) -> float:
    """Mean square error of observations predicted from the others, relative to their variance; at most 1."""
    errors = (belief.y - belief.leave_one_out().mean)[belief.trusted]
    return min(float(np.mean(errors**2)) / float(np.var(belief.y[belief.trusted])), 1.0)


def _determined(belief: Belief) -> float:
    """How many parameters of the embedding the data determine, and not the prior."""
    component = belief.components[0]
    p = component.gp.parameters.shape[0]
    width = component.posterior.prior_width(component.gp.theta)[:p]
    variance: Array = np.sum(component.factor[:p] ** 2, axis=1) / width**2
    return float(np.sum(np.clip(1.0 - variance, 0.0, 1.0)))
