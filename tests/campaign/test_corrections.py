"""Corrections in words."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ridgeway import Campaign
from ridgeway.campaign import corrections


def test_every_kind_of_correction_is_a_sentence(campaign: Campaign) -> None:
    for trial in campaign.ask(4):
        campaign.tell(trial, 1.0, inputs={"a": 0.5})
    campaign.correct(1, 1.5, "decimal point", sigma=0.1)
    campaign.correct(2, reason="misread", inputs={"a": 0.25})
    campaign.correct(3, None, "wrong sample")
    campaign.correct(3, 2.0, "it was right")
    campaign.tell_table(pd.DataFrame({"trial": [4], "a": [0.5], "value": [1.0], "operator": ["Åsa"]}))
    campaign.ask()
    campaign.reclaim(0.0)
    rows = corrections.listed(campaign.corrections)
    assert [row[:3] for row in rows] == [
        [1, "value 1 to 1.5, sigma none to 0.1", "decimal point"],
        [2, "a 0.5 to 0.25", "misread"],
        [3, "value 1 to failed", "wrong sample"],
        [3, "failed to value 2", "it was right"],
        [4, "operator none to 'Åsa'", "told again with other notes"],
    ]
    assert all("@" in row[3] and row[4].endswith(" UTC") for row in rows)


def test_an_export_has_the_corrections_of_each_trial(campaign: Campaign, tmp_path: Path) -> None:
    for trial in campaign.ask(2):
        campaign.tell(trial, 15.0)
    campaign.correct(2, 1.5, "decimal point")
    campaign.correct(2, reason="misread", inputs={"a": 0.25})
    campaign.export(tmp_path / "t.csv")
    cells = pd.read_csv(tmp_path / "t.csv")["corrections"].tolist()
    assert cells[0] != cells[0]  # empty
    assert "value 15 to 1.5 (decimal point; " in cells[1]
    assert " to 0.25 (misread; " in cells[1]
