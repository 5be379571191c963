"""Advice on when to stop."""

from __future__ import annotations

from ridgeway.campaign.stopping import advise


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
