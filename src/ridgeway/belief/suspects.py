"""Suspects: observations that do not fit the others, and how surprising each of them is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway.inference import outliers
from ridgeway.inference.settings import DEFAULT, OutlierSettings
from ridgeway.types import Array, Inputs

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief


@dataclass(frozen=True)
class Suspect:
    """An observation that a belief takes for an outlier: it has a noise of its own, and hardly any influence."""

    row: int  # of X and y, counted from 0
    value: float
    predicted: float  # by all others, hyperparameters as fitted
    residual: float  # standard deviations of that prediction
    noise_std: float  # of the noise of its own, in the units of y
    nats: float  # that this noise adds to the log likelihood

    def sentence(self, name: str | None = None) -> str:
        """What a user should know about it; ``name`` says what the observation is called."""
        return (
            f"{name or f'y[{self.row}]'} is {self.value:.6g}, {distance(self.residual)} from the "
            f"{self.predicted:.4g} that the others predict. It counts as an outlier and has hardly any influence: "
            "correct it if it is wrong, or repeat the experiment"
        )


@dataclass(frozen=True)
class Surprise:
    """A new outcome that is far from its prediction."""

    index: int  # among the outcomes that were compared
    value: float
    predicted: float
    std: float  # of the prediction, noise included
    residual: float  # standard deviations

    def sentence(self, name: str) -> str:
        """What to tell whoever reports it."""
        return (
            f"{name} is {self.value:.6g}, but {self.predicted:.4g} ± {self.std:.2g} was predicted: "
            f"{distance(self.residual)} away"
        )


def distance(residual: float) -> str:
    """How far something is from its prediction, in words.

    >>> distance(-4.321), distance(231.4)
    ('4.3 standard deviations', '231 standard deviations')
    """
    size = abs(residual)
    return f"{size:.2g} standard deviations" if size < 100.0 else f"{size:,.0f} standard deviations"


def suspects(belief: Belief, own: Array, settings: OutlierSettings = DEFAULT.outliers) -> tuple[Suspect, ...]:
    """The suspects of a belief whose observations have these noise variances of their own, in squared units of y."""
    rows = np.flatnonzero(own > 0)
    if not rows.size:
        return ()
    output, best = belief.output, belief.components[0]
    scaled = own / output.scale**2
    seen = outliers.behind(best.gp, scaled, best.posterior.priors, settings)
    verdict = outliers.examine(seen, scaled, best.gp.log_noise, settings)
    predicted = output.mean(best.gp.leave_one_out()[0])
    return tuple(
        Suspect(
            int(i), float(belief.y[i]), float(predicted[i]), float(verdict.residual[i]), float(np.sqrt(own[i])),
            float(verdict.gain[i]),
        )
        for i in rows
    )  # fmt: skip


def surprises(
    belief: Belief, X: Inputs, y: Any, noise_variance: Any = 0.0, settings: OutlierSettings = DEFAULT.outliers
) -> tuple[Surprise, ...]:
    """Which of the new outcomes ``y (n,)`` at ``X (n, D)`` would be suspects by what ``belief`` predicts.

    None where the belief knows too little to be surprised.
    """
    known = belief.y.shape[0]
    if known < settings.least_observations or not len(y):
        return ()
    prediction = belief.predict(X)
    floor = settings.floor * float(np.std(belief.y[belief.trusted]))
    variance = prediction.variance + belief.noise_variance + noise_variance + floor**2
    verdict = outliers.judge(np.asarray(y) - prediction.mean, variance, known, settings)
    far, std = np.flatnonzero(verdict.gain > settings.price), np.sqrt(variance)
    return tuple(
        Surprise(int(i), float(y[i]), float(prediction.mean[i]), float(std[i]), float(verdict.residual[i])) for i in far
    )


def warnings_naming(belief: Belief, names: Sequence[str]) -> tuple[str, ...]:
    """The warnings of a belief, with observations called by their ``names``."""
    renamed = {suspect.sentence(): suspect.sentence(names[suspect.row]) for suspect in belief.suspects}
    return tuple(renamed.get(text, text) for text in belief.diagnostics.warnings)
