"""Forecasts of the error: against the belief after the experiments were made, and numbers that follow from a curve."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.campaign.forecast import Forecast, ForecastSettings, forecast, own_error, steps_ahead

PLAIN = ForecastSettings(faster=1.0, level=1.0)


def power_law(n: int = 20, rate: float = 0.5, settings: ForecastSettings = PLAIN) -> Forecast:
    more = np.array([0.0, 1, 5, 20, 100, 400])
    return Forecast(n, more, 2.0 * ((n + more) / n) ** -rate, settings)


def test_a_power_law_is_followed() -> None:
    found = power_law()
    assert found.now == pytest.approx(2.0)
    assert found.after(60) == pytest.approx(1.0)
    low, about, high = found.needed(1.0)
    assert about == pytest.approx(60.0)
    assert low < about < high
    assert found.needed(3.0)[1] == 0.0
    assert found.needed(0.01)[1] == math.inf
    assert not found.is_flat
    assert power_law(rate=0.1).is_flat


def test_doubt_widens_with_what_is_ahead() -> None:
    found = power_law()
    widths = [high / low for low, high in (found.interval(n) for n in (0, 20, 200))]
    assert widths[0] < widths[1] < widths[2]


def learner(n: int, seed: int = 0) -> rw.ActiveLearner:
    made = rw.ActiveLearner(
        rw.Box([-1, -1, -1], [1, 1, 1]), rw.Linear(1), inference="map", acquisition="random", random_state=seed,
        priors=rw.Priors(log_noise=(-2.5, 0.2)),
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    X = made.ask(n)
    made.tell(X, np.sin(X @ [2.0, 1.0, 0.0]) + 0.08 * rng.standard_normal(n))
    return made


def test_the_error_now_is_the_beliefs_own() -> None:
    made = learner(20)
    found = forecast(made, made.belief, settings=PLAIN)
    assert found.now == pytest.approx(own_error(made, made.belief), rel=0.15)
    assert np.all(np.diff(found.errors) <= 0.0)
    assert found.more[0] == 0


@pytest.mark.slow
def test_what_is_expected_of_more_experiments_comes_about() -> None:
    short, long = learner(20), learner(60)
    expected = forecast(short, short.belief, settings=PLAIN).after(40)
    assert 0.4 < own_error(long, long.belief) / expected < 1.6


def test_outcomes_far_from_predictions_raise_the_error() -> None:
    made = learner(20)
    X = np.random.default_rng(5).uniform(-1, 1, (10, 3))
    as_expected = made.belief.predict(X)
    good = steps_ahead(made.belief, X, as_expected.mean, np.zeros(10))
    bad = steps_ahead(made.belief, X, as_expected.mean + 10.0, np.zeros(10))
    assert good == (20, 10, 0.0)
    assert bad == (20, 10, 90.0)
    errors = [forecast(made, made.belief, ahead).now for ahead in ((good,), (), (bad,))]
    assert errors[0] < errors[1] < errors[2]


def test_a_pool_is_forecast_up_to_its_last_point() -> None:
    points = np.random.default_rng(0).uniform(-1, 1, (30, 2))
    made = rw.ActiveLearner(rw.Pool(points), rw.Linear(1), inference="map", acquisition="random")
    X = made.ask(12)
    made.tell(X, X @ [1.0, 0.5])
    assert forecast(made, made.belief).more[-1] == 18
