"""Priors over the hyperparameters, on the standardised scale.

Inputs are mapped to [-1, 1] and outputs to mean 0 and variance 1 before any of these is
used, so one set of defaults serves every unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import NamedTuple

import numpy as np

from ridgeway.gp.embeddings import Embedding
from ridgeway.types import Array

_FEW = 2  # observations for each input; below,
_MUCH_NOISE = (-1.5, 0.7)  # the prior of the logarithm of the noise


@dataclass(frozen=True)
class Priors:
    """Gaussian priors; a standard deviation of 0 fixes a hyperparameter at its mean.

    Parameters
    ----------
    embedding_scale
        Standard deviation of the entries of ``R``; ``None`` is ``5/4 · D^(-1/2)``, which maps
        the box to about five length scales a side. The paper's text says ``5/4 / D``, but its
        explanation and its results belong to the square root. For :class:`Diagonal` and
        :class:`Isotropic` it is the inverse of the typical length scale.
    log_scale, log_output_scale, log_noise, mean
        ``(mean, standard deviation)`` of the logarithm of the factor by which ``"nested"``
        inference may change that scale, of the logarithms of the output scale and of the noise (both
        standard deviations), and of the constant mean. Where no priors are given, and there are fewer than two
        observations for each input, ``log_noise`` is ``(-1.5, 0.7)``.
    log_length_scale_std
        Spread of the log length scales of :class:`Diagonal` and :class:`Isotropic`.
    noise_floor
        A standard deviation always added to the noise: evidence may not reward certainty
        that no measurement has.
    tie_noise
        A standard deviation added to the noise of observations that share their exact output
        with a fifth of all (a response that saturates): equality would pass for exact knowledge.
    kink_noise
        What ``noise_floor`` is raised to where a response saturates: it has a kink, which no
        smooth function follows exactly.

    Examples
    --------
    >>> Priors(log_noise=(-2.3, 0.0)).log_noise
    (-2.3, 0.0)
    """

    embedding_scale: float | None = None
    log_scale: tuple[float, float] = (0.0, 1.0)
    log_output_scale: tuple[float, float] = (0.0, 1.0)
    log_noise: tuple[float, float] = (-2.5, 1.2)
    mean: tuple[float, float] = (0.0, 0.5)
    log_length_scale_std: float = 1.0
    noise_floor: float = 0.005
    tie_noise: float = 0.5
    kink_noise: float = 0.1

    def __post_init__(self) -> None:
        for name in ("log_scale", "log_output_scale", "log_noise", "mean"):
            pair = getattr(self, name)
            if not (_numbers(pair, 2) and pair[1] >= 0):
                raise ValueError(f"{name} of Priors must be a (mean, standard deviation >= 0), got {pair!r}")
        for name in ("noise_floor", "tie_noise", "kink_noise"):
            value = getattr(self, name)
            if not (_numbers((value,), 1) and value >= 0):
                raise ValueError(f"{name} of Priors must be a finite number of at least 0, got {value!r}")
        if not (_numbers((self.log_length_scale_std,), 1) and self.log_length_scale_std > 0):
            raise ValueError(
                f"log_length_scale_std of Priors must be positive and finite, got {self.log_length_scale_std!r}"
            )
        scale = self.embedding_scale
        if scale is not None and not (_numbers((scale,), 1) and scale > 0):
            raise ValueError(
                f"embedding_scale of Priors must be positive and finite or None, got {self.embedding_scale!r}"
            )

    @classmethod
    def for_data(cls, n: int, D: int) -> Priors:
        """The defaults for ``n`` observations of ``D`` inputs.

        With few observations for each input some direction explains almost anything, and little noise would be taken
        for knowledge. So the noise is then expected to be larger.
        """
        return cls() if n >= _FEW * D else cls(log_noise=_MUCH_NOISE)

    def scale(self, D: int) -> float:
        """The prior scale for ``D`` inputs."""
        return 1.25 / float(np.sqrt(D)) if self.embedding_scale is None else float(self.embedding_scale)

    @cached_property
    def globals(self) -> tuple[Array, Array]:
        """Means and standard deviations of log output scale, log noise, mean and log scale."""
        pairs = (self.log_output_scale, self.log_noise, self.mean, self.log_scale)
        means, stds = zip(*pairs, strict=True)
        return np.array(means, dtype=float), np.array(stds, dtype=float)

    @cached_property
    def precisions(self) -> Array:
        """Inverse variances of the same four; 0 of what is fixed, which has no density."""
        stds = self.globals[1]
        return np.divide(1.0, stds**2, out=np.zeros_like(stds), where=stds > 0)

    @cached_property
    def log_constant(self) -> float:
        """Logarithm of the product of their densities at the means."""
        stds = self.globals[1]
        return -float(np.sum(np.log(np.sqrt(2.0 * np.pi) * stds[stds > 0])))


def _numbers(values: object, n: int) -> bool:
    """Whether ``values`` are ``n`` finite real numbers."""
    try:
        items = list(values)  # type: ignore[call-overload]
        return len(items) == n and all(isinstance(v, Real) and np.isfinite(float(v)) for v in items)
    except TypeError:
        return False


class ParameterPrior(NamedTuple):
    """The Gaussian prior of every embedding parameter at one log scale ``t``."""

    mean: float
    std: float
    mean_slope: float  # d mean / dt
    log_std_slope: float  # d log std / dt


def parameter_prior(embedding: Embedding, priors: Priors, D: int, log_scale: float) -> ParameterPrior:
    """Prior of the embedding's parameters: entries of ``R``, or log length scales."""
    scale = priors.scale(D)
    if embedding.reduction == "span":
        return ParameterPrior(0.0, scale * float(np.exp(log_scale)), 0.0, 1.0)
    return ParameterPrior(-float(np.log(scale)) - log_scale, priors.log_length_scale_std, -1.0, 0.0)
