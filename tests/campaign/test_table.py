"""Trials as tables."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from ridgeway import Campaign, CampaignError
from tests import campaign_workers as workers


def test_export_and_score(campaign: Campaign, tmp_path: Path) -> None:
    for trial in campaign.ask(4):
        campaign.tell(trial, workers.experiment(trial.inputs))
    for name in ("t.csv", "t.xlsx", "t.json", "t.parquet"):
        assert campaign.export(tmp_path / name).exists()
    assert json.loads((tmp_path / "t.json").read_text())[2]["trial"] == 3
    assert pd.read_excel(tmp_path / "t.xlsx")["value"].tolist() == campaign.trials["value"].tolist()
    assert pd.read_csv(tmp_path / "t.csv")["a"].tolist() == pd.read_parquet(tmp_path / "t.parquet")["a"].tolist()
    assert campaign.score(campaign.trials[["b", "a"]]).shape == (4,)
    with pytest.raises(CampaignError, match=r"must end in \.csv"):
        campaign.export(tmp_path / "t.doc")
    with pytest.raises(CampaignError, match="there is no folder"):
        campaign.export(tmp_path / "nowhere" / "t.csv")
