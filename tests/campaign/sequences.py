"""The course of a campaign, to compare one with another."""

from __future__ import annotations

from ridgeway import Campaign


def sequence(where: str) -> list[tuple[object, ...]]:
    return [(t.id, t.state, t.x.tobytes(), t.values, t.expected, t.seen) for t in Campaign.open(where).all_trials()]
