"""The response as a straight line, a model beside those of each rank.

A function of one direction that is far shorter than a length scale is a straight line. The default
priors hold so much stretch for unlikely, and with few data some bend remains in a fit that a
linear regression does not have. Here the output scale is fixed at a large value instead, so that
only the slope, its prior scale and the noise are left. A regression in closed form says
where that model's mode is, and whether it is worth climbing to.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ridgeway.embeddings import Linear
from ridgeway.gp import LOG_NOISE, LOG_OUTPUT_SCALE, LOG_SCALE
from ridgeway.posterior import Posterior
from ridgeway.types import Array

#: Log of the output scale: the outputs, of standard deviation 1, take up a twentieth of a length scale.
STRETCH = 3.0
#: Share of a belief from which it is called a straight line.
MOSTLY = 0.5
_LEAST = 4  # observations
_LEAST_NOISE = 1e-3  # standard deviation that a climb begins with
_FARTHEST = 5.0  # prior widths from its mean that the scale may begin at
_RATIOS = np.logspace(-5.0, 7.0, 49)  # of the variance explained to that of the noise


class Regression(NamedTuple):
    """A Bayesian linear regression whose prior scale and noise are the likeliest."""

    theta: Array  # the mode, as the straight model has it
    log_evidence: float


def possible(posterior: Posterior) -> bool:
    """Whether the priors leave room for a straight line beside other functions."""
    stds = posterior.priors.globals[1]
    linear = isinstance(posterior.embedding, Linear)
    return linear and posterior.data.n >= _LEAST and bool(stds[LOG_OUTPUT_SCALE] > 0 and stds[LOG_SCALE] > 0)


def model(posterior: Posterior) -> Posterior:
    """The posterior over straight lines, of the same data."""
    mean, std = posterior.priors.log_scale
    priors = replace(posterior.priors, log_output_scale=(STRETCH, 0.0), log_scale=(mean - STRETCH, std))
    return replace(posterior, embedding=Linear(1), priors=priors)


def is_straight(posterior: Posterior, theta: Array) -> bool:
    """Whether hyperparameters are those of a straight line beside the posterior's own functions."""
    return possible(posterior) and bool(theta[LOG_OUTPUT_SCALE] == STRETCH)


def regression(line: Posterior) -> Regression:
    """Where a climb in the model of straight lines begins: the likeliest of a grid, in closed form."""
    Z, y = line.data.Z - line.data.Z.mean(axis=0), line.data.y - line.data.y.mean()
    n = y.shape[0]
    values, vectors = np.linalg.eigh(Z @ Z.T)
    values = np.maximum(values, 0.0)
    ratios = _RATIOS / (float(values.mean()) or 1.0)
    spectrum = 1.0 + ratios[:, None] * values
    rotated = vectors.T @ y
    noise = np.maximum(np.mean(rotated**2 / spectrum, axis=1), 1e-300)
    evidence = -0.5 * (n * (np.log(2.0 * np.pi * noise) + 1.0) + np.log(spectrum).sum(axis=1))
    # Where there are more inputs than observations a line that fits all may be as likely as noise: priors decide.
    outer = np.tile(line.priors.globals[0], (ratios.shape[0], 1))
    if line.priors.globals[1][LOG_NOISE] > 0:
        outer[:, LOG_NOISE] = 0.5 * np.log(np.maximum(noise - line.data.noise.mean(), _LEAST_NOISE**2))
    mean, std = line.priors.log_scale
    scales = 0.5 * np.log(ratios * noise) - STRETCH - np.log(line.scale(0.0))
    outer[:, LOG_SCALE] = np.clip(scales, mean - _FARTHEST * std, mean + _FARTHEST * std)
    best = int(np.argmax(evidence - 0.5 * (outer - line.priors.globals[0]) ** 2 @ line.priors.precisions))
    slope = ratios[best] * (Z.T @ (vectors @ (rotated / spectrum[best])))
    return Regression(np.concatenate([slope * np.exp(-STRETCH), outer[best]]), float(evidence[best]))
