"""Smoothed importance weights."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.inference import importance_sampling


def test_smoothed_weights_know_a_good_proposal_from_a_bad_one() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(4000)
    good = -0.5 * (x / 0.9) ** 2 + 0.5 * x**2
    bad = -0.5 * (x / 3.0) ** 2 + 0.5 * x**2
    assert importance_sampling.smooth(good)[1] < 0.4
    assert importance_sampling.smooth(bad)[1] > 0.7
    flat, k = importance_sampling.smooth(np.zeros(100))
    np.testing.assert_array_equal(flat, 0.0)
    assert k == -np.inf


def test_pareto_fit_recovers_its_shape() -> None:
    rng = np.random.default_rng(1)
    for k in (0.2, 0.5, 0.9):
        draws = np.sort(2.0 * np.expm1(-k * np.log(rng.uniform(size=5000))) / k)
        shape, scale = importance_sampling.fit_pareto(draws)
        assert shape == pytest.approx(k, abs=0.06)
        assert scale == pytest.approx(2.0, rel=0.1)
