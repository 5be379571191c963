"""The integral of the function under a measure: its mean, with the uncertainty of function and embedding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.lapack import dpotrs
from scipy.stats import norm

from ridgeway.belief import measures, process_draws
from ridgeway.belief.process_draws import ProcessDraw
from ridgeway.blas import blas_threads
from ridgeway.gp.kernel_means import MOST_DIRECTIONS, kernel_means
from ridgeway.gp.measures import Points

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

N_DRAWS = 64  # of the hyperparameters
_FEW = 8  # where one integral takes long


@dataclass(frozen=True)
class Integral:
    """``∫ f dp``, in the units of ``y``; Gaussian to good approximation."""

    mean: float
    std: float  # of function and embedding together
    function_std: float  # with the embedding taken as known at its modes

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The central interval."""
        reach = float(norm.ppf(0.5 + 0.5 * level)) * self.std
        return self.mean - reach, self.mean + reach

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.mean:.6g} ± {self.std:.2g} (95 %: {low:.6g} to {high:.6g})"


def integrate(belief: Belief, over: Any = None, n_draws: int | None = None, random_state: int = 0) -> Integral:
    """Mean and standard deviation of the integral of ``f``; see :meth:`Belief.integrate`."""
    measure = measures.scaled(belief, over)
    rng = np.random.default_rng(random_state)
    n = _number_of_draws(belief, measure) if n_draws is None else n_draws
    with blas_threads(belief.y.shape[0]):
        modes = [_moments(measure, one) for one in process_draws.at_modes(belief)]
        drawn = [_moments(measure, one) for one in process_draws.draws(belief, n, rng)]
    weights = np.array([c.weight for c in belief.components])
    means, variances = np.array(modes).T
    if belief.marginal == "samples":  # as its predictions, the mean is that of the draws
        means, variances = np.array(drawn).T
        weights = np.full(len(drawn), 1.0 / len(drawn))
    mean = float(weights @ means)
    # The law of total variance, about the mean that is reported.
    total = float(np.mean([variance + (value - mean) ** 2 for value, variance in drawn]))
    scale = belief.output.scale
    within = float(weights @ variances)
    return Integral(
        float(belief.output.shift + scale * mean),
        scale * float(np.sqrt(max(total, within))),
        scale * float(np.sqrt(within)),
    )


def _moments(measure: Any, drawn: ProcessDraw) -> tuple[float, float]:
    """Mean and variance of the integral given the hyperparameters, outputs standardised (Bayesian quadrature)."""
    gp = drawn.gp
    means = kernel_means(measure, gp.kernel, drawn.rows, drawn.U)
    gamma2 = gp.output_variance
    variance = means.variance(lambda z: gamma2 * dpotrs(gp.L, z, lower=1)[0])
    return gp.mean + gamma2 * float(means.to_data @ gp.alpha), gamma2 * variance


def _number_of_draws(belief: Belief, measure: Any) -> int:
    """Fewer where every integral is a sum over many points."""
    rank = max(c.rank for c in belief.components)
    exact = belief.kernel.name == "se" and (rank <= MOST_DIRECTIONS or not belief.model.has_directions)
    return _FEW if isinstance(measure, Points) or not exact else N_DRAWS
