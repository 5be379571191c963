"""Versions of the tables: newer ones are refused, older ones open."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ridgeway import Campaign, CampaignError
from ridgeway.campaign import schema
from ridgeway.campaign.database import Database
from tests.helpers import ASSETS


def test_versions_of_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.sqlite"
    path.write_bytes((ASSETS / "campaign_v1.sqlite").read_bytes())
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE ridgeway_schema SET version = 99")
    connection.close()
    with pytest.raises(CampaignError, match="newer version of Ridgeway"):
        Campaign.open(path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE ridgeway_schema SET version = 0")
    connection.close()
    with pytest.raises(CampaignError, match="version 0, which this version of Ridgeway cannot read"):
        Campaign.open(path)
    step = "ALTER TABLE ridgeway_trials ADD COLUMN colour TEXT"
    monkeypatch.setitem(schema.UPGRADES, 0, lambda connection: connection.exec_driver_sql(step))
    assert Campaign.open(path).pending[0].id == 10
    with Database(path).reading() as upgraded:
        assert schema.version(upgraded, "it") == schema.VERSION


def test_the_stored_campaign_of_the_first_release_opens_and_goes_on(tmp_path: Path) -> None:
    stored = ASSETS / "campaign_v1.sqlite"
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(stored.read_bytes())
    campaign = Campaign.open(copy)
    assert [t.state for t in campaign.all_trials()] == ["attached"] * 2 + ["told"] * 5 + [
        "failed",
        "abandoned",
        "asked",
    ]
    assert campaign.corrections[0]["reason"] == "decimal point"
    assert campaign.summary() is not None
    assert campaign.belief.y.shape == (7,)
    assert campaign.ask().id == 11


def test_campaigns_of_the_first_version_get_an_identity_that_stays(tmp_path: Path) -> None:
    copies = [tmp_path / "a.sqlite", tmp_path / "b.sqlite"]
    for copy in copies:
        copy.write_bytes((ASSETS / "campaign_v1.sqlite").read_bytes())
    first, second = (Campaign.open(copy) for copy in copies)
    identities = [campaign.all_trials()[0].campaign for campaign in (first, second, Campaign.open(copies[0]))]
    assert identities[0] == identities[2] != identities[1]
    assert None not in identities
    first.tell(first.pending[0], 0.5)
    with pytest.raises(CampaignError, match="of another one"):
        second.tell(first.all_trials()[-1], 0.5)


def test_a_campaign_of_version_3_goes_on_as_it_would_have(tmp_path: Path) -> None:
    """One output, constraints, a failure, a correction and two fits; numbers are those that version 3 gave."""
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes((ASSETS / "campaign_v3.sqlite").read_bytes())
    campaign = Campaign.open(copy)
    assert [t.state for t in campaign.all_trials()] == ["told"] * 5 + ["failed", "told", "asked"]
    assert [t.value for t in campaign.all_trials()] == [0.998, 0.5, 0.972, 0.836, 0.998, None, 0.75, None]
    assert {t.results["strength"].by for t in campaign.all_trials() if t.results} == {"anna@lab"}
    assert {fit.identity[:8] for fit in campaign._store.snapshot().fits} == {"76587245", "8e143563"}
    assert campaign.setup.outputs.labels == ("strength [MPa]",)
    assert campaign.predict([[0.3, 0.5, 3.0]]).mean[0] == pytest.approx(1.0702970023, rel=1e-6)
    asked = campaign.ask()
    assert asked.x == pytest.approx([0.8, 1.0, 3.0], abs=1e-3)
    assert asked.expected == pytest.approx(0.64324577, rel=1e-2)
    assert campaign.undo() == "trial 2: value 0.969 to 0.5"
    assert campaign.all_trials()[1].value == 0.969
    campaign.add_output("cost [EUR]", "now it is weighed")
    campaign.tell(1, {"cost": 5.0})
    assert Campaign.open(copy).all_trials()[0].values == {"strength": 0.998, "cost": 5.0}
