"""A posterior whose data come from the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ridgeway.gp import kernels
from ridgeway.gp.linear import Linear
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.priors import Priors
from ridgeway.gp.process import Data
from ridgeway.inference import mode_search
from ridgeway.inference.laplace import Laplace
from ridgeway.inference.search_run import SearchRun
from ridgeway.testfunctions import from_model
from ridgeway.types import Array
from tests.gp.many import problem as many_rows_problem

FIXED = Priors(log_noise=(-1.5, 0.0), log_output_scale=(0.0, 0.0), mean=(0.0, 0.0), log_scale=(0.0, 0.0))


def model_posterior(D: int, d: int, n: int = 40, priors: Priors = FIXED, seed: int = 0) -> Posterior:
    f = from_model(D, d, random_state=seed)
    X = f.sample(n, seed)
    y = f(X) + 0.1 * np.random.default_rng(seed).standard_normal(n)
    data = Data(X, (y - y.mean()) / y.std(), np.full(n, 1e-4))
    return Posterior(Linear(d), kernels.resolve("se"), data, priors, D)


def run(seed: int = 0) -> SearchRun:
    return SearchRun(np.random.default_rng(seed))


def best_mode(posterior: Posterior, n_starts: int) -> Laplace:
    """The mode of most evidence that a short search finds."""
    return mode_search.search(posterior, n_starts, (), run())[0][0].laplace


def of_many_rows(n: int = 600, D: int = 4, d: int = 1) -> tuple[Posterior, Array]:
    """A model of many rows with a finite basis, and hyperparameters near its mode."""
    _, rows, embedding, kernel, theta = many_rows_problem(n, D, d)
    theta[-1] = 0.0
    model = Posterior(embedding, kernel, rows, Priors(), D)
    return replace(model, data=rows.around(embedding, kernel, theta)), theta
