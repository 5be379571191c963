"""Advice on when to stop."""

from __future__ import annotations

import numpy as np

from ridgeway.active.best import Best
from ridgeway.campaign.forecast import Forecast
from ridgeway.campaign.stopping import Errors, advise, advise_best, no_forecast


def test_advice_in_words() -> None:
    stop = advise(0.004, 6.0)
    assert stop
    assert str(stop) == (
        "The best next experiment would teach 0.004 nats: it narrows what it tests by 0.4 %. "
        "The directions are well known (typically off by 6°). You may stop."
    )
    assert not advise(0.5, 6.0)
    assert "points that fill the space would test them" in str(advise(0.004, 60.0))
    assert advise(0.004, None)


def test_advice_on_a_search_in_words() -> None:
    best = Best(np.zeros(2), 0, 4.0, (3.9, 4.2), np.zeros(2), 0, 4.0)
    stop = advise_best(0.001, best)
    assert stop
    assert str(stop) == (
        "The best value is predicted to be 4 (3.9 to 4.2), and the next experiment is expected to improve on it by "
        "0.001. That is little beside what is uncertain about it. You may stop."
    )
    assert not advise_best(0.1, best)
    assert str(no_forecast(4.0)) == "The best value is predicted to be 4. Go on."


def errors(target: float | None = None, rate: float = 0.5, course: tuple[tuple[int, float], ...] = ()) -> Errors:
    more = np.array([0.0, 1, 5, 20, 100, 400])
    return Errors(Forecast(20, more, 2.0 * ((20 + more) / 20) ** -rate), course, target, "MPa")


def test_errors_in_words() -> None:
    going = advise(0.5, 6.0, 2, errors())
    assert not going
    assert "A prediction is off by about 2 MPa now (" in going.text
    assert "by about 1.83 MPa after 4 more experiments. Go on." in going.text
    assert (going.error, going.batch, going.needed) == (2.0, 4, None)
    wanted = advise(0.5, 6.0, 2, errors(1.0))
    assert "It takes about 60 more to bring it down to 1 MPa (" in wanted.text
    assert wanted.needed is not None
    assert advise(0.5, 60.0, 2, errors(2.5)).stop
    assert "The 2.5 MPa that you want are reached. You may stop." in advise(0.5, 6.0, 2, errors(2.5)).text
    never = advise(0.5, 6.0, 2, errors(0.01))
    assert not never
    assert "400 more would not bring it down to 0.01 MPa" in never.text


def test_an_error_that_has_become_flat_is_a_reason_to_stop() -> None:
    assert "would hardly lower the error. You may stop." in advise(0.5, 6.0, 2, errors(rate=0.05)).text
    assert not advise(0.5, 60.0, 2, errors(rate=0.05)), "directions may still be found"
    assert advise(0.5, 60.0, 2, errors(rate=0.05, course=((11, 2.05), (12, 2.1), (20, 2.0)))), "it was flat for long"
    assert not advise(0.5, 60.0, 2, errors(rate=0.05, course=((12, 4.0), (20, 2.0))))


def test_an_error_that_has_not_fallen_for_long_is_a_reason_to_stop_whatever_is_forecast() -> None:
    forecast = Forecast(100, np.array([0.0, 100.0]), np.array([1.0, 0.5]))
    flat = Errors(forecast, ((50, 1.02), (60, 1.0), (80, 1.02), (100, 0.98)))
    falling = Errors(forecast, ((50, 1.6), (60, 1.5), (80, 1.2), (100, 1.0)))
    assert not forecast.is_flat
    assert "has hardly fallen since 60 experiments. You may stop." in advise(0.5, 6.0, 2, flat).text
    assert not advise(0.5, 6.0, 2, falling)
    assert not advise(0.5, 60.0, 2, flat), "the directions are not known yet"
