"""A campaign in a database survives killed processes, full disks and many writers at once."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import event

from ridgeway import Campaign, CampaignError, RidgewayWarning
from ridgeway.campaign import store
from ridgeway.campaign.trial import Trial
from ridgeway.errors import ReadOnlyError
from tests import campaign_workers as workers
from tests.campaign.sequences import sequence
from tests.helpers import ASSETS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rounds", "options"),
    [(25, {}), (30, {"outputs": ["yield", "cost"], "acquisition": "random"})],
    ids=["one output", "two outputs, told one by one"],
)
def test_killed_at_random_moments_it_goes_on_as_if_nothing_had_happened(
    tmp_path: Path, rounds: int, options: dict[str, Any]
) -> None:
    whole, broken, log = str(tmp_path / "whole.sqlite"), str(tmp_path / "broken.sqlite"), tmp_path / "log"
    workers.create(whole, **options)
    started = time.monotonic()
    workers.work(whole, rounds, str(tmp_path / "other"))
    needed = time.monotonic() - started  # a fast machine must be interrupted sooner
    workers.create(broken, **options)
    kills = workers.work_until_killed(broken, rounds, log, seed=1, longest=min(0.4, needed / 8.0))
    assert kills >= 5
    assert sqlite3.connect(broken).execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert sequence(broken) == sequence(whole)
    kept = {t.id: t for t in Campaign.open(broken).all_trials()}
    for line in log.read_text().splitlines():
        what, number, content, *outputs = line.split()
        trial = kept[int(number)]
        if what == "asked":
            assert trial.x.tobytes().hex() == content
        else:
            assert [trial.values[name] for name in outputs] == [float.fromhex(content)]


@pytest.mark.slow
def test_many_processes_at_once_get_different_trials_and_lose_none(tmp_path: Path) -> None:
    where = str(tmp_path / "shared.sqlite")
    workers.create(where, n_initial=1000)  # the design alone: the lock is what is tested
    got, _ = workers.share_out(where, processes=8, many=5)
    _check_shared(where, got, 40)


@pytest.mark.slow
def test_processes_that_choose_by_the_model_at_once(tmp_path: Path) -> None:
    where = str(tmp_path / "shared.sqlite")
    workers.create(where)
    got, _ = workers.share_out(where, processes=3, many=3)
    _check_shared(where, got, 9)


def _check_shared(where: str, got: list[tuple[int, list[tuple[int, bytes]], str | None]], total: int) -> None:
    assert [error for _, _, error in got if error] == []
    mine = [trial for _, trials, _ in got for trial in trials]
    assert sorted(number for number, _ in mine) == list(range(1, total + 1))
    assert len({x for _, x in mine}) == total
    kept = Campaign.open(where).all_trials()
    assert {t.id: t.x.tobytes() for t in kept} == dict(mine)
    assert all(t.state == "told" and t.value == workers.experiment(t.inputs) for t in kept)
    assert sorted(t.sequence for t in kept if t.sequence is not None) == list(range(total))


def test_a_write_that_fails_midway_leaves_nothing(tmp_path: Path) -> None:
    campaign = workers.create(tmp_path / "c.sqlite")

    def refuse(trials: list[object]) -> None:
        raise CampaignError("no room")

    with pytest.raises(CampaignError, match="no room"):
        campaign.ask(3, refuse)
    assert campaign.all_trials() == ()
    assert campaign.ask().id == 1


def test_a_full_disk_is_a_sentence_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = workers.create(tmp_path / "c.sqlite")
    trial = campaign.ask()
    connect = sqlite3.connect

    def cramped(*args: object, **kwargs: object) -> sqlite3.Connection:
        connection = connect(*args, **kwargs)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")
        return connection

    monkeypatch.setattr(sqlite3, "connect", cramped)
    with pytest.raises(CampaignError, match="disk is full; nothing was written"):
        campaign.tell(trial, 1.0, notes={"remark": "x" * 100_000})
    monkeypatch.undo()
    assert [t.state for t in campaign.all_trials()] == ["asked"]
    campaign.tell(trial, 1.0)


def test_a_read_only_campaign_can_be_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.sqlite"
    workers.create(path).ask()
    connect = sqlite3.connect
    read_only = f"file:{path}?mode=ro"
    monkeypatch.setattr(sqlite3, "connect", lambda target, **kwargs: connect(read_only, **kwargs))
    campaign = Campaign.open(path)
    assert len(campaign.pending) == 1
    with pytest.raises(CampaignError, match=r"c\.sqlite: it is read-only"):
        campaign.ask()


def _many(campaign: Campaign, n: int) -> pd.DataFrame:
    """``n`` pending trials, put there without being chosen, and their results."""
    x = np.round(np.random.default_rng(0).uniform(0.1, 1.0, (n, 2)), 5)
    names = campaign.setup.names
    kept = campaign._store
    with kept.database.writing() as connection:
        kept.add(connection, [Trial(i + 1, "asked", names, x[i]) for i in range(n)], asked=n)
    values: list[object] = [float(i) for i in range(n)]
    values[1] = "failed"
    notes = ["wet" if i % 3 == 0 else None for i in range(n)]
    return pd.DataFrame({"trial": range(1, n + 1), "a": x[:, 0], "b": x[:, 1], "value": values, "note": notes})


def test_a_table_is_told_in_a_few_statements(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_PART", 7)  # several queries, as for a table of thousands
    frame = _many(campaign, 60)
    frame.loc[5, "a"] = 0.05  # made elsewhere
    statements: list[str] = []
    event.listen(campaign._store.database._engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
    told = campaign.tell_table(frame.iloc[::-1])
    assert sum(text.startswith("UPDATE ridgeway_trials") for text in statements) <= 5  # by the columns that change
    assert (len(told.told), told.failed, told.moved) == (59, (2,), (6,))
    trials = campaign.all_trials()
    assert [t.value for t in trials] == [None if i == 1 else float(i) for i in range(60)]
    assert [t.sequence for t in trials] == list(range(59, -1, -1))
    assert [(t.notes or {}).get("note") for t in trials] == ["wet" if i % 3 == 0 else None for i in range(60)]
    assert trials[5].x[0] == 0.05
    assert trials[5].proposed is not None
    assert trials[1].state == "failed"
    assert len(campaign.tell_table(frame).already) == 60


@pytest.mark.slow
def test_a_table_of_more_rows_than_a_query_may_name(campaign: Campaign) -> None:
    frame = _many(campaign, 40_000)
    assert len(campaign.tell_table(frame).told) == 39_999
    assert campaign.all_trials()[-1].value == 39_999.0


def test_a_handle_of_a_deleted_campaign_does_not_touch_the_one_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    old = workers.create(path, n_initial=50)
    trial = old.ask()
    path.unlink()
    with pytest.raises(CampaignError, match="cannot be opened"):
        old.tell(trial, 1.0)
    assert not path.exists()
    new = workers.create(path, n_initial=50)
    new.ask()
    for act in (
        old.ask,
        old.all_trials,
        lambda: old.corrections,
        lambda: old.tell(trial, 1.0),
        lambda: old.attach(new.trials.assign(value=1.0)),
        lambda: old.reclaim(0.0),
    ):
        with pytest.raises(CampaignError, match=r"'work' that was opened is no longer at .*another one has its place"):
            act()
    assert [(t.id, t.state) for t in new.all_trials()] == [(1, "asked")]
    assert Campaign.open(path).all_trials()[0].campaign == new.all_trials()[0].campaign != trial.campaign


def test_a_campaign_that_is_gone_from_its_database_is_a_sentence(tmp_path: Path) -> None:
    campaign = workers.create(tmp_path / "c.sqlite", n_initial=50)
    with sqlite3.connect(tmp_path / "c.sqlite") as connection:
        connection.execute("DELETE FROM ridgeway_campaigns")
    connection.close()
    with pytest.raises(CampaignError, match="it was deleted; nothing was read or written"):
        campaign.ask()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_an_old_campaign_that_may_only_be_read_opens(kind: str) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        shutil.copy(ASSETS / "campaign_v3.sqlite", folder / "c.sqlite")
        (folder / "c.sqlite").chmod(0o444 if kind == "file" else 0o666)
        folder.chmod(0o777 if kind == "file" else 0o555)
        assert _as_nobody(_look_at_old, folder) == "8 trials; it is read-only"
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)


def _look_at_old(folder: Path) -> str:
    with pytest.warns(RidgewayWarning, match="a copy in memory"):
        campaign = Campaign.open(folder / "c.sqlite")
    try:
        campaign.ask()
    except ReadOnlyError as error:
        return f"{len(campaign.all_trials())} trials; {'it is read-only' if 'read-only' in str(error) else error}"
    return "asked"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_read_only_campaign_can_be_read_in_full(kind: str) -> None:
    folder = Path(tempfile.mkdtemp())  # not pytest's own, which other users may not enter
    try:
        campaign = workers.create(folder / "c.sqlite")
        for _ in range(4):
            trial = campaign.ask()
            campaign.tell(trial, workers.experiment(trial.inputs))
        (folder / "out").mkdir(mode=0o777)
        (folder / "out").chmod(0o777)
        (folder / "c.sqlite").chmod(0o444 if kind == "file" else 0o666)
        folder.chmod(0o777 if kind == "file" else 0o555)
        assert _as_nobody(_read_in_full, folder) == "it is read-only"
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)


def _read_in_full(folder: Path) -> str:
    campaign = Campaign.open(folder / "c.sqlite")
    belief = campaign.belief  # of observations that nobody has fitted yet
    assert campaign.belief.log_evidence == belief.log_evidence
    campaign.predict([[0.5, 1.0]])
    campaign.should_stop()
    campaign.export(folder / "out" / "all.csv")
    campaign.report(folder / "out" / "report.html")
    assert len(campaign.trials) == 4
    try:
        campaign.ask()
    except ReadOnlyError as error:
        return (
            "it is read-only" if "may you write there" in str(error) or "it is read-only" in str(error) else str(error)
        )
    return "asked"


def _as_nobody(call: Callable[[Path], str], folder: Path) -> str:
    """What ``call`` gives in a process that permissions hold for; root may do everything."""
    import ridgeway.report  # noqa: F401 - what is imported later must be readable to nobody

    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            said = call(folder)
        except BaseException as error:
            said = repr(error)
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as stream:
        return stream.read()


@pytest.mark.slow
def test_an_interrupt_is_heard_while_waiting_for_a_lock(tmp_path: Path) -> None:
    workers.create(tmp_path / "c.sqlite")
    other = sqlite3.connect(tmp_path / "c.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from ridgeway.cli import main; "
    for words in (["status"], ["ask"]):
        call = [sys.executable, "-c", f"{program}print('ready', flush=True); main()", *words, "-c", "c.sqlite"]
        waiting = subprocess.Popen(call, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert waiting.stdout is not None
        waiting.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(3.0)
        waiting.send_signal(signal.SIGINT)
        waiting.communicate(timeout=60.0)  # the lock is waited for ten minutes
        assert waiting.returncode not in (0, None)
    other.execute("ROLLBACK")
