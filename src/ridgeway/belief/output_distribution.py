"""The distribution of the output when the inputs vary: quantiles and exceedance, with intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from ridgeway import checks
from ridgeway.belief import measures
from ridgeway.belief.averages import Average, Drawing, average
from ridgeway.belief.estimates import Estimate
from ridgeway.gp.kernel_means import sobol_points
from ridgeway.gp.measures import Points, Sample, error_of_parts
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

_LOG2_POINTS = 13
_COMPARED = 8  # draws in which the parts of a sample are compared


@dataclass(frozen=True)
class OutputDistribution:
    """The output at points of the measure, under every function drawn; noise is not included."""

    values: Array  # (draws, points), each row sorted
    weights: Array  # (draws, points) of the sorted values, rows sum to 1
    how: Average
    over_points: bool  # of the user's own, which may be those of the observations
    parts: Array | None = None  # (draws, points) to which part of a sample each belongs, where points are one

    @property
    def mean(self) -> Estimate:
        """Of the output."""
        return self._blurred(self.how.estimate(_means(self.values, self.weights)), _means)

    @property
    def std(self) -> Estimate:
        """Standard deviation of the output."""
        stds = _stds(self.values, self.weights)
        found = self.how.estimate(stds if self.over_points else self.how.corrected(stds))
        return self._blurred(found, _stds).within(0.0)

    def quantile(self, q: Any) -> Estimate:
        """Values that the output stays below with probability ``q``, a number or several."""
        levels = checks.numeric(q, "q")
        if not np.all((levels >= 0) & (levels <= 1)):
            raise ValueError(f"q must be between 0 and 1, got {q!r}")

        def statistic(values: Array, weights: Array) -> Array:
            middle = np.cumsum(weights, axis=1) - 0.5 * weights
            return np.stack([np.interp(levels, at, row) for at, row in zip(middle, values, strict=True)])

        return self._blurred(self.how.estimate(statistic(self.values, self.weights)), statistic)

    def exceedance(self, threshold: Any) -> Estimate:
        """Probability that the output is above ``threshold``, a number or several."""
        limits = checks.numeric(threshold, "threshold")
        if np.isnan(limits).any():
            raise ValueError(f"threshold must be a number, got {threshold!r}")

        def statistic(values: Array, weights: Array) -> Array:
            above = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
            above = np.hstack([above, np.zeros((above.shape[0], 1))])
            return np.stack(
                [row[np.searchsorted(v, limits, side="right")] for row, v in zip(above, values, strict=True)]
            )

        return self._blurred(self.how.estimate(statistic(self.values, self.weights)), statistic).within(0.0, 1.0)

    def density(self, bins: int = 40) -> tuple[Array, Array]:
        """Edges ``(bins + 1,)`` and mean density ``(bins,)`` of a histogram over all draws."""
        low, high = np.quantile(self.values, [0.0005, 0.9995])
        edges = np.linspace(low, high if high > low else low + 1.0, checks.count(bins, "bins", 1) + 1)
        heights, _ = np.histogram(self.values, edges, weights=self.weights)
        result: Array = heights / self.values.shape[0] / np.diff(edges)
        return edges, result

    def _blurred(self, found: Estimate, statistic: Callable[[Array, Array], Array]) -> Estimate:
        """With the error of the points where they are a sample, from how the statistic differs between its parts."""
        if self.parts is None:
            return found
        values, weights, parts = (side[:_COMPARED] for side in (self.values, self.weights, self.parts))
        n, each = int(parts.max()) + 1, []
        for part in range(n):
            own = [side[parts == part].reshape(len(parts), -1) for side in (values, weights)]
            each.append(statistic(own[0], own[1] / own[1].sum(axis=1, keepdims=True)))
        away = (np.array(each) - np.mean(each, axis=0)) / n
        error = np.sqrt(np.mean(error_of_parts(away) ** 2, axis=0))
        return found.blurred(error, float(ndtri(0.5 + 0.5 * self.how.level)))


def _means(values: Array, weights: Array) -> Array:
    result: Array = np.sum(weights * values, axis=1)
    return result


def _stds(values: Array, weights: Array) -> Array:
    away = values - _means(values, weights)[:, None]
    result: Array = np.sqrt(np.sum(weights * away**2, axis=1))
    return result


def distribution(
    belief: Belief,
    over: Any = None,
    drawing: Drawing = Drawing(),  # noqa: B008 - a tuple
) -> OutputDistribution:
    """The output's distribution; see :meth:`Belief.distribution`."""
    measure = measures.scaled(belief, over, checks.count(drawing.random_state, "random_state"), 2**_LOG2_POINTS)
    if isinstance(measure, Points):
        X, weights = measure.points, measure.shares
    else:
        X = sobol_points(measure, _LOG2_POINTS)
        weights = np.full(X.shape[0], 1.0 / X.shape[0])
    how = average(belief, measure, drawing, "a distribution", by_inputs=False)
    values = np.stack(how.values(measure, X))
    order = np.argsort(values, axis=1)
    own = isinstance(measure, Points) and not isinstance(measure, Sample)
    parts = measure.parts[order] if isinstance(measure, Sample) and measure.parts is not None else None
    return OutputDistribution(np.take_along_axis(values, order, axis=1), weights[order], how, own, parts)
