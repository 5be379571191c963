"""The distribution of the output when the inputs vary: quantiles and exceedance, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway import checks
from ridgeway.belief import measures
from ridgeway.belief.averages import Average, Drawing, average
from ridgeway.belief.estimates import Estimate
from ridgeway.gp.kernel_means import sobol_points
from ridgeway.gp.measures import Points
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

_LOG2_POINTS = 13


@dataclass(frozen=True)
class OutputDistribution:
    """The output at points of the measure, under every function drawn; noise is not included."""

    values: Array  # (draws, points), each row sorted
    weights: Array  # (draws, points) of the sorted values, rows sum to 1
    how: Average
    over_points: bool  # of the user's own, which may be those of the observations

    @property
    def mean(self) -> Estimate:
        """Of the output."""
        return self.how.estimate(np.sum(self.weights * self.values, axis=1))

    @property
    def std(self) -> Estimate:
        """Standard deviation of the output."""
        centre = np.sum(self.weights * self.values, axis=1, keepdims=True)
        stds = np.sqrt(np.sum(self.weights * (self.values - centre) ** 2, axis=1))
        return self.how.estimate(stds if self.over_points else self.how.corrected(stds)).within(0.0)

    def quantile(self, q: Any) -> Estimate:
        """Values that the output stays below with probability ``q``, a number or several."""
        levels = checks.numeric(q, "q")
        if not np.all((levels >= 0) & (levels <= 1)):
            raise ValueError(f"q must be between 0 and 1, got {q!r}")
        middle = np.cumsum(self.weights, axis=1) - 0.5 * self.weights
        rows = [np.interp(levels, at, row) for at, row in zip(middle, self.values, strict=True)]
        return self.how.estimate(np.stack(rows))

    def exceedance(self, threshold: Any) -> Estimate:
        """Probability that the output is above ``threshold``, a number or several."""
        limits = checks.numeric(threshold, "threshold")
        if np.isnan(limits).any():
            raise ValueError(f"threshold must be a number, got {threshold!r}")
        above = np.cumsum(self.weights[:, ::-1], axis=1)[:, ::-1]
        above = np.hstack([above, np.zeros((above.shape[0], 1))])
        rows = [row[np.searchsorted(v, limits, side="right")] for row, v in zip(above, self.values, strict=True)]
        return self.how.estimate(np.stack(rows)).within(0.0, 1.0)

    def density(self, bins: int = 40) -> tuple[Array, Array]:
        """Edges ``(bins + 1,)`` and mean density ``(bins,)`` of a histogram over all draws."""
        low, high = np.quantile(self.values, [0.0005, 0.9995])
        edges = np.linspace(low, high if high > low else low + 1.0, checks.count(bins, "bins", 1) + 1)
        heights, _ = np.histogram(self.values, edges, weights=self.weights)
        result: Array = heights / self.values.shape[0] / np.diff(edges)
        return edges, result


def distribution(
    belief: Belief,
    over: Any = None,
    drawing: Drawing = Drawing(),  # noqa: B008 - a tuple
) -> OutputDistribution:
    """The output's distribution; see :meth:`Belief.distribution`."""
    measure = measures.scaled(belief, over)
    if isinstance(measure, Points):
        X, weights = measure.points, measure.shares
    else:
        X = sobol_points(measure, _LOG2_POINTS)
        weights = np.full(X.shape[0], 1.0 / X.shape[0])
    how = average(belief, measure, drawing, "a distribution")
    values = np.stack(how.over_draws(measure, lambda drawn, output: output.mean(drawn.values(X))))
    order = np.argsort(values, axis=1)
    return OutputDistribution(
        np.take_along_axis(values, order, axis=1), weights[order], how, isinstance(measure, Points)
    )
