"""Trials as tables."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import ridgeway as rw
from ridgeway import Campaign, CampaignError, Pool
from ridgeway.campaign import table
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


def test_notes_do_not_take_the_place_of_columns(campaign: Campaign, tmp_path: Path) -> None:
    notes = {"trial": "n1", "value": "n2", "a": "n3", "sigma": "n4", "State": "n5", "asked by": "n6", "free": "n7"}
    trial = campaign.ask()
    campaign.tell(trial, 1.5, sigma=0.1, notes=notes)
    campaign.export(tmp_path / "t.json")
    (record,) = json.loads((tmp_path / "t.json").read_text())
    assert [record[name] for name in ("trial", "state", "a", "value", "sigma")] == [1, "told", trial.x[0], 1.5, 0.1]
    assert "@" in record["asked by"]
    assert {name.removesuffix(" (note)"): record[name] for name in record if str(record[name]).startswith("n")} == notes
    assert record["free"] == "n7"
    campaign.trials.to_csv(tmp_path / "t.csv", index=False)
    assert campaign.tell_table(tmp_path / "t.csv").already == (1,)
    assert campaign.all_trials()[0].notes == notes


def test_labels_of_a_pool_do_not_take_the_place_of_columns(tmp_path: Path) -> None:
    pool = Pool([[0.0, 1.0], [1.0, 0.0]], names=["a", "b"])
    made = Campaign.create(tmp_path / "p.sqlite", "p", pool, labels={"trial": ["x", "y"]}, embedding=rw.Linear(1))
    columns, rows = table.to_fill_in(made.setup, made.ask(2))
    assert columns == ["trial", "trial (note)", "a", "b", "value"]
    assert [row[0] for row in rows] == [1, 2]
    assert sorted(row[1] for row in rows) == ["x", "y"]
