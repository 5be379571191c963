"""Advice on when to stop."""

from __future__ import annotations

import numpy as np

from ridgeway.active.best import Best
from ridgeway.campaign.stopping import advise, advise_best, no_forecast


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
