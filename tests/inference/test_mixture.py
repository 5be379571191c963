"""Weights of modes, and what a search says about itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ridgeway.gp.linear import Linear
from ridgeway.gp.priors import Priors
from ridgeway.gp.process import LOG_NOISE, N_GLOBAL
from ridgeway.inference import evidence, mixture
from ridgeway.inference.laplace import approximate
from ridgeway.inference.mixture import KnownMode, at_full_rank
from ridgeway.inference.population import Optimum
from tests.helpers import random_posterior
from tests.inference.problems import best_mode, model_posterior, run


def test_tempered_weights_sum_to_one_and_keep_their_order() -> None:
    weights = mixture.tempered(np.array([-3.0, 0.0, -6.0]), 3.0)
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(weights / weights[1], np.exp([-1.0, 0.0, -2.0]))


def test_the_chance_of_a_better_mode() -> None:
    """Less where the mode leaves less to noise, and where more searches and climbs led to it."""
    posterior = model_posterior(3, 1)
    theta = posterior.initial(np.ones(3))

    def chance(noise: float, searches: int = 1, climbs: int = 400) -> float:
        theta[LOG_NOISE] = np.log(noise)
        lap = approximate(posterior, posterior.evaluate(theta), np.arange(3))
        return mixture.chance_missed(Optimum(lap, searches=searches), climbs)

    assert chance(0.02) < chance(0.1, 2) < chance(0.1) < chance(0.5)
    assert chance(0.02) == pytest.approx(0.03)
    assert chance(0.5, 3) == chance(0.5) == pytest.approx(0.4)
    assert chance(0.1, climbs=40) == pytest.approx(0.2 * 5**0.5)
    assert chance(0.5, climbs=10) == 0.9


def test_a_mode_of_lower_rank_gets_small_rows() -> None:
    full, lower = random_posterior(Linear(3)), random_posterior(Linear(1))
    theta = lower.initial(np.arange(1.0, 5.0))
    padded = at_full_rank(full, theta, np.random.default_rng(0))
    np.testing.assert_array_equal(padded[:4], theta[:4])
    np.testing.assert_array_equal(padded[-N_GLOBAL:], theta[-N_GLOBAL:])
    assert padded.shape == (3 * 4 + N_GLOBAL,)
    assert 0 < np.abs(padded[4:12]).max() < 0.5 * full.scale(theta[-1])
    np.testing.assert_array_equal(at_full_rank(lower, theta, np.random.default_rng(0)), theta)


def test_a_known_mode_belongs_to_its_own_rank() -> None:
    one, two = random_posterior(Linear(1)), random_posterior(Linear(2))
    mode = KnownMode(one, one.initial(np.ones(4)))
    assert mode.belongs_to(one)
    assert not mode.belongs_to(two)


def test_what_is_no_mode_is_left_out_of_the_mixture_while_there_is_a_mode() -> None:
    posterior = model_posterior(3, 1, priors=Priors())
    lap = best_mode(posterior, 4)
    nested = evidence.conclude(posterior, evidence.maximize_evidence(posterior, lap))[0]
    mode = Optimum(nested.inner, nested=nested)
    better = replace(nested, log_evidence=nested.log_evidence + 5.0, inner=replace(nested.inner, decrement=100.0))
    short = Optimum(better.inner, nested=better)
    both = mixture.mixture([mode, short], 2, 1, run())
    assert len(both.components) == 1
    assert (both.n_dropped, both.converged) == (1, True)
    alone = mixture.mixture([short], 2, 1, run())
    assert (alone.n_dropped, alone.converged) == (0, False)
