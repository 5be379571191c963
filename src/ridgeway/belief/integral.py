"""The integral of the function under a measure: its mean, with the uncertainty of function and embedding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.lapack import dpotrs
from scipy.stats import norm

from ridgeway import checks
from ridgeway.belief import measures, process_draws
from ridgeway.belief.estimates import checked_level, percent
from ridgeway.belief.process_draws import ProcessDraw
from ridgeway.blas import blas_threads
from ridgeway.gp.kernel_means import MOST_DIRECTIONS, kernel_means
from ridgeway.gp.measures import Points, error_of_parts
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

N_DRAWS = 64  # of the hyperparameters
_FEW = 8  # where one integral takes long
_WORK = 2**24  # kernels of points and data in one integral, where points stand for a box with constraints
_LEAST_POINTS, _MOST_POINTS = 2**12, 2**14


@dataclass(frozen=True)
class Integral:
    """``∫ f dp``, in the units of ``y``; Gaussian to good approximation."""

    mean: float
    std: float  # of function and embedding together
    function_std: float  # with the embedding taken as known at its modes
    sampling_std: float = 0.0  # of the points that stand for what has no closed form; a part of both

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The central interval."""
        reach = float(norm.ppf(0.5 + 0.5 * checked_level(level))) * self.std
        return self.mean - reach, self.mean + reach

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.mean:.6g} ± {self.std:.2g} ({percent(0.95)}: {low:.6g} to {high:.6g})"


def integrate(belief: Belief, over: Any = None, n_draws: int | None = None, random_state: int = 0) -> Integral:
    """Mean and standard deviation of the integral of ``f``; see :meth:`Belief.integrate`."""
    rng = np.random.default_rng(checks.count(random_state, "random_state"))
    n_draws = None if n_draws is None else checks.count(n_draws, "n_draws", 1)
    points = int(np.clip(_WORK / belief.y.shape[0], _LEAST_POINTS, _MOST_POINTS))
    measure = measures.scaled(belief, over, random_state, points)
    n = _number_of_draws(belief, measure) if n_draws is None else n_draws
    with blas_threads(belief.y.shape[0]):
        modes = [_moments(measure, one) for one in process_draws.at_modes(belief)]
        drawn = [_moments(measure, one) for one in process_draws.draws(belief, n, rng)]
    weights = np.array([c.weight for c in belief.components])
    found = modes
    if belief.marginal == "samples":  # as its predictions, the mean is that of the draws
        found, weights = drawn, np.full(len(drawn), 1.0 / len(drawn))
    means, variances, deviations = zip(*found, strict=True)
    mean = float(weights @ np.array(means))
    # The law of total variance, about the mean that is reported.
    total = float(np.mean([variance + (value - mean) ** 2 for value, variance, _ in drawn]))
    scale = belief.output.scale
    parts = max(map(len, deviations))  # where a mode needs no points, no part adds anything
    added = weights @ np.array([one if len(one) else np.zeros(parts) for one in deviations])
    sampling = float(error_of_parts(added))
    within = float(weights @ np.array(variances)) + sampling**2
    total += sampling**2
    return Integral(
        float(belief.output.shift + scale * mean),
        scale * float(np.sqrt(max(total, within))),
        scale * float(np.sqrt(within)),
        scale * sampling,
    )


def _moments(measure: Any, drawn: ProcessDraw) -> tuple[float, float, Array]:
    """Mean and variance of the integral given the hyperparameters, outputs standardised (Bayesian quadrature).

    And what each part of a sample adds to the mean, beside what its share would.
    """
    gp = drawn.gp
    means = kernel_means(measure, gp.kernel, drawn.rows, drawn.U)
    gamma2 = gp.output_variance
    variance = means.variance(lambda z: gamma2 * dpotrs(gp.L, z, lower=1)[0])
    weights = gamma2 * gp.alpha
    return gp.mean + float(means.to_data @ weights), gamma2 * variance, means.deviations(weights)


def _number_of_draws(belief: Belief, measure: Any) -> int:
    """Fewer where every integral is a sum over many points."""
    rank = max(c.rank for c in belief.components)
    exact = belief.kernel.name == "se" and (rank <= MOST_DIRECTIONS or not belief.model.has_directions)
    return _FEW if isinstance(measure, Points) or not exact else N_DRAWS
