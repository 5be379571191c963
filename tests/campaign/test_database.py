"""Addresses of databases that hold no campaign."""

from __future__ import annotations

from pathlib import Path

import pytest

from ridgeway import Campaign, CampaignError
from tests import campaign_workers as workers


def test_places_that_hold_no_campaign(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="there is no campaign at"):
        Campaign.open(tmp_path / "none.sqlite")
    (tmp_path / "text.sqlite").write_text("not a database, but a text of some length" * 50)
    with pytest.raises(CampaignError, match="some other file"):
        Campaign.open(tmp_path / "text.sqlite")
    (tmp_path / "empty.sqlite").touch()
    with pytest.raises(CampaignError, match="holds no campaign"):
        Campaign.open(tmp_path / "empty.sqlite")
    with pytest.raises(CampaignError, match="must outlive its program"):
        Campaign.open("sqlite://")
    with pytest.raises(CampaignError, match="path, a sqlite:/// or a postgresql:// address"):
        Campaign.open("mysql://somewhere/lab")
    with pytest.raises(CampaignError, match="cannot be read"):
        Campaign.open("nonsense://somewhere/lab")
    made = workers.create(tmp_path / "c.sqlite")
    assert Campaign.open(f"sqlite:///{tmp_path / 'c.sqlite'}").name == made.name
