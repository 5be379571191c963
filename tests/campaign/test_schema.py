"""Versions of the tables: newer ones are refused, older ones open."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ridgeway import Campaign, CampaignError, RidgewayWarning
from ridgeway.campaign import schema
from ridgeway.campaign.database import Database
from ridgeway.errors import ReadOnlyError
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


def _read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if files could only be read: root may write whatever their permissions say."""
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda to, **k: connect(to.replace("mode=rw", "mode=ro"), **k))


@pytest.mark.parametrize("version", [1, 3])
def test_an_old_file_that_may_only_be_read_is_looked_at(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, migrated = tmp_path / "old.sqlite", tmp_path / "migrated.sqlite"
    for copy in (path, migrated):
        copy.write_bytes((ASSETS / f"campaign_v{version}.sqlite").read_bytes())
    before = path.read_bytes()
    expected = Campaign.open(migrated)
    _read_only(monkeypatch)
    with pytest.warns(RidgewayWarning, match=r"old\.sqlite was written by an earlier version .* a copy in memory"):
        found = Campaign.open(path)
    assert found.table() == expected.table()
    assert found.log == expected.log
    x = np.stack([trial.x for trial in expected.all_trials()])
    np.testing.assert_array_equal(found.predict(x).mean, expected.predict(x).mean)
    assert found.export(tmp_path / "all.csv").is_file()
    assert found.version().outcomes == expected.version().outcomes
    with pytest.raises(ReadOnlyError, match=r"old\.sqlite: it is read-only: change its permissions"):
        found.ask()
    with pytest.raises(ReadOnlyError, match="work on a copy"):
        found.tell(found.pending[0], 0.5)
    found.close()
    assert len(found.all_trials()) == len(expected.all_trials())  # the copy stays as long as the campaign does
    assert path.read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} == {"old.sqlite", "migrated.sqlite", "all.csv"}


def test_a_copy_in_memory_is_that_of_one_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.sqlite"
    path.write_bytes((ASSETS / "campaign_v3.sqlite").read_bytes())
    _read_only(monkeypatch)
    with pytest.warns(RidgewayWarning, match="a copy in memory"):
        first, second = Campaign.open(path), Campaign.open(path)
    del first
    with ThreadPoolExecutor(4) as pool:  # as the live page reads it
        found = list(pool.map(lambda _: len(second.all_trials()), range(20)))
    assert set(found) == {8}


def test_a_file_of_this_version_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.sqlite"
    path.write_bytes((ASSETS / "campaign_v3.sqlite").read_bytes())
    Campaign.open(path)  # brought up to date
    _read_only(monkeypatch)
    campaign = Campaign.open(path)  # without a warning, which would be an error
    with pytest.raises(ReadOnlyError):
        campaign.ask()
