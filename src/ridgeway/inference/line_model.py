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

from ridgeway.gp.eigen import eigh
from ridgeway.gp.linear import Linear
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, LOG_SCALE
from ridgeway.inference.settings import DEFAULT, LineSettings
from ridgeway.types import Array

#: Share of a belief from which it is called a straight line.
MOSTLY = 0.5


class Regression(NamedTuple):
    """A Bayesian linear regression whose prior scale and noise are the likeliest."""

    theta: Array  # the mode, as the model of straight lines has it
    log_evidence: float


def possible(posterior: Posterior, settings: LineSettings = DEFAULT.lines) -> bool:
    """Whether the priors leave room for a straight line beside other functions."""
    stds = posterior.priors.globals[1]
    enough = posterior.embedding.has_directions and posterior.data.n >= settings.least_observations
    return enough and bool(stds[LOG_OUTPUT_SCALE] > 0 and stds[LOG_SCALE] > 0)


def model(posterior: Posterior, settings: LineSettings = DEFAULT.lines) -> Posterior:
    """The posterior over straight lines, of the same data."""
    mean, std = posterior.priors.log_scale
    stretch = settings.log_output_scale
    priors = replace(posterior.priors, log_output_scale=(stretch, 0.0), log_scale=(mean - stretch, std))
    return replace(posterior, embedding=Linear(1), priors=priors, is_line=True)


def regression(line: Posterior, settings: LineSettings = DEFAULT.lines) -> Regression:
    """Where a climb in the model of straight lines begins: the likeliest of a grid, in closed form."""
    Z, y = line.data.Z - line.data.Z.mean(axis=0), line.data.y - line.data.y.mean()
    n = y.shape[0]
    values, vectors = eigh(Z @ Z.T)
    values = np.maximum(values, 0.0)
    first, last, size = settings.ratios
    ratios = np.logspace(first, last, size) / (float(values.mean()) or 1.0)
    spectrum = 1.0 + ratios[:, None] * values
    rotated = vectors.T @ y
    noise = np.maximum(np.mean(rotated**2 / spectrum, axis=1), 1e-300)
    evidence = -0.5 * (n * (np.log(2.0 * np.pi * noise) + 1.0) + np.log(spectrum).sum(axis=1))
    # Where there are more inputs than observations a line that fits all may be as likely as noise: priors decide.
    outer = np.tile(line.priors.globals[0], (ratios.shape[0], 1))
    if line.priors.globals[1][LOG_NOISE] > 0:
        outer[:, LOG_NOISE] = 0.5 * np.log(np.maximum(noise - line.data.noise.mean(), settings.least_noise**2))
    mean, std = line.priors.log_scale
    stretch, farthest = settings.log_output_scale, settings.farthest_scale
    scales = 0.5 * np.log(ratios * noise) - stretch - np.log(line.scale(0.0))
    outer[:, LOG_SCALE] = np.clip(scales, mean - farthest * std, mean + farthest * std)
    best = int(np.argmax(evidence - 0.5 * (outer - line.priors.globals[0]) ** 2 @ line.priors.precisions))
    slope = ratios[best] * (Z.T @ (vectors @ (rotated / spectrum[best])))
    return Regression(np.concatenate([slope * np.exp(-stretch), outer[best]]), float(evidence[best]))
