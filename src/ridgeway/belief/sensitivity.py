"""Which inputs matter: Sobol indices and activity scores, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ridgeway.belief import measures
from ridgeway.belief.averages import Drawing, average
from ridgeway.belief.estimates import Estimate, percent
from ridgeway.gp.drawn_functions import DrawnFunction
from ridgeway.gp.scaling import OutputScaling
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

_SHOWN = 12


@dataclass(frozen=True)
class Sensitivity:
    """Sobol indices of every input under independent inputs, and the output's mean and standard deviation.

    ``first`` is the share of the variance that an input explains alone, ``total`` the share in which it takes part;
    ``activity`` is the mean square of the derivative, inputs in units of the box, as a share of all. Each has ``mean``,
    ``std``, ``low`` and ``high``, one for each input. A category is one input.
    """

    labels: tuple[str, ...]
    mean: Estimate
    std: Estimate
    first: Estimate
    total: Estimate
    activity: Estimate
    level: float
    models: dict[str, float]  # weight of the belief's embedding and of its rivals
    n_draws: int

    @property
    def ranking(self) -> list[int]:
        """Inputs by their total index, largest first."""
        return [int(j) for j in np.argsort(-self.total.mean, kind="stable")]

    @property
    def interactions(self) -> Estimate:
        """Share of the variance that no input explains alone."""
        low, high = (max(0.0, 1.0 - float(np.sum(side))) for side in (self.first.high, self.first.low))
        mean = max(0.0, 1.0 - float(np.sum(self.first.mean)))
        return Estimate(np.array(mean), np.array(0.5 * (high - low)), np.array(low), np.array(high))

    def rows(self, top: int | None = None) -> list[tuple[str, str, str, str]]:
        """Label, first-order index, total index and activity of the leading inputs, as text."""
        return [
            (self.labels[j], _shown(self.first, j), _shown(self.total, j), _shown(self.activity, j))
            for j in self.ranking[:top]
        ]

    def __str__(self) -> str:
        rows = [("input", "first order", "total", "activity"), *self.rows(_SHOWN)]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        if len(self.labels) > _SHOWN:
            more = len(self.labels) - _SHOWN
            lines.append(f"and {more} more input{'s' if more > 1 else ''} with smaller total indices")
        share = percent(self.level)
        lines.append(
            f"mean {float(self.mean.mean):.5g} ({share}: {float(self.mean.low):.5g} to {float(self.mean.high):.5g}), "
            f"standard deviation {float(self.std.mean):.5g} ({float(self.std.low):.5g} to {float(self.std.high):.5g})"
        )
        return "\n".join(lines)


class _Indices(NamedTuple):
    mean: float
    std: float
    first: Array
    total: Array
    activity: Array


def sensitivity(
    belief: Belief,
    over: Any = None,
    drawing: Drawing = Drawing(),  # noqa: B008 - a tuple
) -> Sensitivity:
    """Sobol indices with intervals; see :meth:`Belief.sensitivity`."""
    measure = measures.independent(belief, over, "sensitivity")
    varied = measures.varied(measure)
    if not varied.any():
        raise ValueError("over must let some input vary for sensitivity, got one in which every input is fixed")
    how = average(belief, measure, drawing, "sensitivity")
    found = how.over_draws(measure, lambda drawn, output: _indices(drawn, output, varied))
    rng = np.random.default_rng(how.seed)
    missed, unexplained = how.missed, how.unexplained
    stds = how.corrected([one.std for one in found])
    found = [one._replace(std=float(std)) for one, std in zip(found, stds, strict=True)]
    sets = [found, [_with_missed(one, missed, rng, varied) for one in found]]
    sets.append([_shared_otherwise(one, unexplained, rng) for one in found])
    kinds = (how.estimate, how.estimate, *(3 * [how.estimate_of_shares]))
    mean, std, first, total, activity = (
        reduce(Estimate.hull, (kind([one[i] for one in draws]) for draws in sets)) for i, kind in enumerate(kinds)
    )
    return Sensitivity(
        measures.labels(belief.labels, measure), mean, std.within(0.0),
        first.within(0.0, 1.0), total.within(0.0, 1.0), activity.within(0.0, 1.0),
        how.level, how.shares, len(found),
    )  # fmt: skip


def _indices(drawn: DrawnFunction, output: OutputScaling, varied: Array) -> _Indices:
    parts = drawn.parts()
    first, total, slopes = (np.where(varied, one, 0.0) for one in (parts.first, parts.total, drawn.slopes()))
    variance = max(parts.variance, 1e-300)
    mean, std = output.shift + output.scale * parts.mean, output.scale * float(np.sqrt(variance))
    return _Indices(mean, std, first / variance, total / variance, slopes / max(slopes.sum(), 1e-300))


def _shared_otherwise(one: _Indices, unexplained: float, rng: np.random.Generator) -> _Indices:
    """The same if inputs acted alone in part of what the data do not explain.

    Where there are no data, a draw is as its kernel has it, and a kernel that is a product over the inputs lets every
    input act together with the others. The data do not say so.
    """
    together = np.minimum(one.total - one.first, unexplained)
    more, less = rng.uniform(size=(2, one.first.shape[0])) * together
    return one._replace(first=one.first + more, total=one.total - less)


def _with_missed(one: _Indices, missed: float, rng: np.random.Generator, varied: Array) -> _Indices:
    """The same if part of what was taken for noise were function, in which any input that varies may take part."""
    extra = rng.uniform() * missed
    n = int(varied.sum())
    alone = np.zeros(varied.shape[0] + 1)
    alone[np.append(varied, True)] = rng.dirichlet(np.ones(n + 1))  # each input's own part, and of several together
    part = alone[:-1].copy()
    part[varied] += alone[-1] * rng.uniform(size=n)
    variance = one.std**2 + extra
    keep, share = one.std**2 / max(variance, 1e-300), extra / max(variance, 1e-300)
    first, total = keep * one.first + share * alone[:-1], keep * one.total + share * part
    return _Indices(one.mean, float(np.sqrt(variance)), first, total, one.activity)


def _shown(estimate: Estimate, j: int) -> str:
    return f"{estimate.mean[j]:.3f} ({estimate.low[j]:.3f} to {estimate.high[j]:.3f})"
