"""What the tests share: models, data, and ways to look at what came out."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ridgeway.gp import kernels
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.priors import Priors
from ridgeway.gp.process import Data

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "tests" / "assets"
GOLDEN = ROOT / "tests" / "golden"

#: Rounding errors add up over a few operations: so many times the error of one are allowed.
SEVERAL = 10.0


@dataclass(frozen=True)
class Cauchy:
    """A kernel as a user would write it."""

    name: str = "cauchy"

    def value(self, s: np.ndarray) -> np.ndarray:
        return 1.0 / (1.0 + s)

    def derivatives(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        g = 1.0 / (1.0 + s)
        return g, -(g**2), 2.0 * g**3


def random_posterior(embedding: Embedding, kernel: str = "se", n: int = 14, D: int = 4, seed: int = 0) -> Posterior:
    """A small posterior with known noise variances of its own for each observation."""
    rng = np.random.default_rng(seed)
    data = Data(rng.uniform(-1, 1, (n, D)), rng.standard_normal(n), rng.uniform(0.0, 0.1, n))
    return Posterior(embedding, kernels.resolve(kernel), data, Priors(), D)


def random_theta(posterior: Posterior, seed: int = 1) -> np.ndarray:
    """Hyperparameters at no special place."""
    rng = np.random.default_rng(seed)
    return np.concatenate([0.6 * rng.standard_normal(posterior.n_parameters), [0.2, -1.0, 0.3, 0.1]])


def inputs(n, D, seed=0):
    """Points in the box from -1 to 1."""
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (n, D))


def assert_says(error, *fragments):
    """The message of an error holds each of these."""
    message = str(error.value)
    for fragment in fragments:
        assert fragment in message, f"{fragment!r} is not in {message!r}"


class Terminal(io.StringIO):
    """A terminal that can be read back."""

    def isatty(self):
        return True


def shown(text):
    """What stood in the terminal's last line, one after another."""
    return [part.removeprefix("\033[K").strip() for part in text.split("\r") if part]


def rounding_of_variance(gp):
    """Absolute error that rounding leaves in the predictive variances of one process.

    A variance is ``gamma² - kᵀ G⁻¹ k``: both terms are near ``gamma²``, and solving with ``G`` loses a relative
    ``eps cond(G)``. So two correct programs, or one on two processors, agree to about ``eps cond(G) gamma²``,
    however small the variance itself is.
    """
    return np.finfo(float).eps * np.linalg.cond(gp.K + np.diag(gp.noise_diagonal)) * gp.output_variance


def variance_rounding(belief):
    """The same of a belief with all its components, in the user's units."""
    return max(rounding_of_variance(c.gp) for c in belief.components) * belief.output.scale**2
