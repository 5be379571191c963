"""What the tests share."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from ridgeway import kernels
from ridgeway.embeddings import Embedding
from ridgeway.gp import Data
from ridgeway.posterior import Posterior
from ridgeway.priors import Priors

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the paper's data and other libraries' scores, where there is one."""
    folder = os.environ.get("RIDGEWAY_SHARED")
    if not folder:
        pytest.skip("set RIDGEWAY_SHARED to the folder that holds peers/ to run this test")
    return Path(folder)


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
