"""Addresses of databases that hold no campaign, and connections that are left open."""

from __future__ import annotations

import time
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


def test_closing_lets_go_of_what_an_interrupt_left_locked(tmp_path: Path) -> None:
    check_closing(workers.create(tmp_path / "c.sqlite"))


def check_closing(campaign: Campaign) -> None:
    """A transaction that was begun and neither ended nor left, as an exception between two lines leaves it."""
    first, second = campaign.ask(2)
    half = campaign._store.writing()
    connection = half.__enter__()
    connection.exec_driver_sql("DELETE FROM ridgeway_trials")
    campaign.close()
    began = time.monotonic()
    campaign.abandon(first)  # which waits for the lock
    assert time.monotonic() - began < 5.0
    assert [trial.id for trial in campaign.pending] == [second.id]  # and what was begun did not happen
    with pytest.raises(CampaignError):  # whoever had begun it learns that it was undone
        half.__exit__(SystemExit, SystemExit(), None)
    assert len(campaign.all_trials()) == 2
