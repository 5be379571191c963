"""Scores of what was learned: the paper's test with the hyperparameters carried over, and others beside it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy.optimize import minimize

from ridgeway import fit
from ridgeway.belief.belief import Belief
from ridgeway.errors import NumericalError, RidgewayWarning
from ridgeway.gp.process import LOG_SCALE, N_GLOBAL
from ridgeway.gp.scaling import OutputScaling
from ridgeway.testfunctions import subspace_angles
from ridgeway.types import Array

N_TRAIN, N_TEST = 100, 1000


@dataclass(frozen=True)
class Test:
    """One repeat of the test: fresh points to train on and to test on, the same for all methods."""

    __test__ = False  # not a test case, whatever its name says to pytest

    X: Array  # (n, D)
    y: Array  # (n,) with noise
    X_test: Array
    f_test: Array  # without
    y_test: Array


class Values(Protocol):
    """A function of points ``(n, D)``."""

    def __call__(self, X: Array) -> Array: ...


def draw_test(
    f: Values, points: Array, noise: float, rng: np.random.Generator, n: int = N_TRAIN, n_test: int = N_TEST
) -> Test:
    """``n`` and ``n_test`` different ones of ``points``, uniformly, observed with ``noise``."""
    chosen = rng.choice(len(points), n + n_test, replace=False)
    X, X_test = points[chosen[:n]], points[chosen[n:]]
    y = f(X) + noise * rng.standard_normal(n)
    f_test = f(X_test)
    return Test(X, y, X_test, f_test, f_test + noise * rng.standard_normal(n_test))


def rmse(a: Array, b: Array) -> float:
    """Root mean square of the difference."""
    return float(np.sqrt(np.mean((a - b) ** 2)))


def nlpd(mean: Array, variance: Any, y: Array) -> float:
    """Mean negative log density of ``y`` under Gaussians, in nats."""
    return float(np.mean(0.5 * (np.log(2 * np.pi * variance) + (y - mean) ** 2 / variance)))


def quiet_fit(*arguments: Any, **options: Any) -> Belief:
    """:func:`ridgeway.fit` without its warnings: tables count what they are about instead."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RidgewayWarning)
        return fit(*arguments, **options)


def carried_scores(belief: Belief, test: Test) -> dict[str, float]:
    """The paper's test: the hyperparameters as they were learned, the function from the fresh points.

    ``rmse`` (against f), ``rmse_y`` and ``nlpd`` take the best mode for the truth, as the paper does;
    ``carried_rmse`` and ``carried_nlpd`` keep what the belief knows about its own uncertainty, with the
    marginal that it was fitted for.
    """
    carried = belief.condition_on(test.X, test.y)
    plugged, marginal = carried.predict(test.X_test, "map"), carried.predict(test.X_test)
    noise = carried.noise_variance
    return {
        "rmse": rmse(plugged.mean, test.f_test),
        "rmse_y": rmse(plugged.mean, test.y_test),
        "nlpd": nlpd(plugged.mean, plugged.variance + noise, test.y_test),
        "carried_rmse": rmse(marginal.mean, test.f_test),
        "carried_nlpd": nlpd(marginal.mean, marginal.variance + noise, test.y_test),
    }


def refitted_scores(belief: Belief, test: Test) -> dict[str, float]:
    """The other reading of the paper's test: of what was learned only ``R`` is kept."""
    refitted = with_embedding_of(belief, test.X, test.y)
    prediction = refitted.predict(test.X_test, "map")
    return {
        "refit_rmse": rmse(prediction.mean, test.f_test),
        "refit_nlpd": nlpd(prediction.mean, prediction.variance + refitted.noise_variance, test.y_test),
    }


def direct_scores(belief: Belief, test: Test) -> dict[str, float]:
    """The belief as it is, from the observations that were selected: no fresh points at all."""
    prediction = belief.predict(test.X_test, "mgp")
    return {
        "belief_rmse": rmse(prediction.mean, test.f_test),
        "belief_nlpd": nlpd(prediction.mean, prediction.variance + belief.noise_variance, test.y_test),
    }


def with_embedding_of(belief: Belief, X: Array, y: Array) -> Belief:
    """The best mode's ``R`` on other data; output scale, noise and mean at their mode given these."""
    carried = belief.condition_on(X, y)
    best, output = carried.components[0], OutputScaling.from_data(y, standardize=True)
    data = replace(carried.posterior.data, y=output.scaled(y))
    posterior = replace(carried.posterior, embedding=best.gp.embedding, data=data)
    theta, (means, stds) = best.gp.theta, posterior.priors.globals
    free = [i for i in range(-N_GLOBAL, LOG_SCALE) if stds[i] > 0]

    def at(values: Array) -> Array:
        moved = theta.copy()
        moved[free] = values
        return moved

    def objective(values: Array) -> tuple[float, Array]:
        try:
            there = posterior.evaluate(at(values))
        except NumericalError:
            return 1e10, np.zeros(len(free))
        return -there.log_density, -there.gradient[free]

    found = minimize(objective, means[free], jac=True, method="L-BFGS-B")
    gp = posterior.evaluate(at(found.x)).gp
    return replace(carried, posterior=posterior, output=output, components=(replace(best, gp=gp, weight=1.0),))


def largest_angle(belief: Belief, embedding: Array) -> float:
    """Degrees between the subspaces of the best mode and of ``embedding``; 90 where directions are missing."""
    if belief.rank < embedding.shape[0]:
        return 90.0
    return float(np.rad2deg(subspace_angles(belief.embedding[: belief.rank], embedding)[0]))


def mean_of(scores: list[dict[str, float]]) -> dict[str, float]:
    """The mean of each score over repeats."""
    return {key: float(np.mean([one[key] for one in scores])) for key in scores[0]}
