"""The logbook of a campaign."""

from __future__ import annotations

from pathlib import Path

import ridgeway as rw
from ridgeway.campaign import logbook


def test_a_result_that_there_is_none_of_reads_so(tmp_path: Path) -> None:
    campaign = rw.Campaign.create(
        str(tmp_path / "two.sqlite"), "two", [rw.Input("heat", 0, 1)], outputs=["yield", "cost"], acquisition="random"
    )
    campaign.ask(2)
    campaign.tell(1, {"yield": 1.0})
    campaign.tell(1, {"cost": 3.0})
    campaign.fail(2, "scale broken", output="cost")
    campaign.tell(2, {"yield": 2.0})
    done = [row[2:] for row in logbook.rows(campaign.log)]
    assert {what for what, _ in done} == {
        "campaign made", "asked for trials 1, 2", "yield of trial 1", "result of trial 1", "no cost of trial 2",
        "result of trial 2",
    }  # fmt: skip
    assert ["result of trial 2", "scale broken"] in done
