"""Nothing acknowledged is lost, whoever is killed and however many work at once."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

import campaign_workers as workers
from ridgeway import Campaign, CampaignError
from ridgeway.campaign import schema
from ridgeway.campaign.chain import Chain
from ridgeway.campaign.database import Database


def _sequence(where: str) -> list[tuple[object, ...]]:
    return [(t.id, t.state, t.x.tobytes(), t.value, t.expected, t.seen) for t in Campaign.open(where).all_trials()]


def test_killed_at_random_moments_it_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    rounds = 40
    whole, broken, log = str(tmp_path / "whole.sqlite"), str(tmp_path / "broken.sqlite"), tmp_path / "log"
    workers.create(whole)
    workers.work(whole, rounds, str(tmp_path / "other"))
    workers.create(broken)
    kills = workers.work_until_killed(broken, rounds, log, seed=1, longest=0.4)
    assert kills >= 5
    assert sqlite3.connect(broken).execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert _sequence(broken) == _sequence(whole)
    kept = {t.id: t for t in Campaign.open(broken).all_trials()}
    for line in log.read_text().splitlines():
        what, number, content = line.split()
        trial = kept[int(number)]
        assert trial.x.tobytes().hex() == content if what == "asked" else trial.value == float.fromhex(content)


def test_many_processes_at_once_get_different_trials_and_lose_none(tmp_path: Path) -> None:
    where = str(tmp_path / "shared.sqlite")
    workers.create(where, n_initial=1000)  # the design alone: the lock is what is tested
    got, _ = workers.share_out(where, processes=8, many=5)
    _check_shared(where, got, 40)


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


def test_an_ask_that_was_overtaken_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign, other = workers.create(tmp_path / "c.sqlite"), Campaign.open(tmp_path / "c.sqlite")
    choose, overtaken = Chain.choose, []

    def overtaking(chain: Chain, n: int) -> object:
        chosen = choose(chain, n)
        if not overtaken:  # the try without the lock; the next one holds it
            monkeypatch.setattr(Chain, "choose", choose)
            overtaken.append(other.ask())
            monkeypatch.setattr(Chain, "choose", overtaking)
        return chosen

    monkeypatch.setattr(Chain, "choose", overtaking)
    mine = campaign.ask()
    monkeypatch.setattr(Chain, "choose", choose)
    assert [t.id for t in (*overtaken, mine)] == [1, 2]
    assert len({t.x.tobytes() for t in campaign.all_trials()}) == 2


def test_a_tell_in_between_does_not_disturb_an_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign, other = workers.create(tmp_path / "c.sqlite"), Campaign.open(tmp_path / "c.sqlite")
    first = campaign.ask()
    choose, calls = Chain.choose, []

    def interrupted(chain: Chain, n: int) -> object:
        calls.append(n)
        other.tell(first, 1.0)
        return choose(chain, n)

    monkeypatch.setattr(Chain, "choose", interrupted)
    assert campaign.ask().seen == 0
    assert len(calls) == 1


def test_opening_and_looking_do_not_fit_again_nor_change_the_next_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, blind = workers.create(tmp_path / "looked.sqlite"), workers.create(tmp_path / "blind.sqlite")
    fits = []
    for k in range(7):
        for campaign in (looked, blind):
            trial = campaign.ask()
            campaign.tell(trial, workers.experiment(trial.inputs))
        if k in (3, 5):
            _ = looked.belief  # a fit of its own, from which the next ask goes on
        if k == 4:
            looked.predict(np.array([[0.5, 1.0]]))
    a, b = (_sequence(str(tmp_path / name)) for name in ("looked.sqlite", "blind.sqlite"))
    assert a == b
    _ = looked.belief
    from ridgeway import learner

    monkeypatch.setattr(learner, "fit", lambda *args, **kwargs: fits.append(1))
    again = Campaign.open(tmp_path / "looked.sqlite")
    assert again.belief.y.shape == (7,)
    assert again.should_stop().nats is not None
    assert fits == []


def test_a_correction_leads_to_a_fresh_fit(tmp_path: Path) -> None:
    campaign = workers.create(tmp_path / "c.sqlite")
    for _ in range(5):
        trial = campaign.ask()
        campaign.tell(trial, workers.experiment(trial.inputs))
    before = campaign.belief
    campaign.correct(2, 0.25, "decimal point")
    after = campaign.belief
    assert before.y[1] != 0.25
    assert after.y[1] == 0.25
    fresh = workers.create(tmp_path / "fresh.sqlite")
    frame = campaign.trials.rename(columns={"value": "value"})
    fresh.attach(frame[["a", "b", "value"]])
    assert fresh.belief.log_evidence == after.log_evidence  # nothing of the wrong value is left in it


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


def test_versions_of_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.sqlite"
    workers.create(path).ask()
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
    monkeypatch.setitem(schema.UPGRADES, 0, ("ALTER TABLE ridgeway_trials ADD COLUMN colour TEXT",))
    assert Campaign.open(path).pending[0].id == 1
    with Database(path).reading() as upgraded:
        assert schema.version(upgraded, "it") == schema.VERSION


def test_the_stored_campaign_of_the_first_release_opens_and_goes_on(tmp_path: Path) -> None:
    stored = Path(__file__).parent / "assets" / "campaign_v1.sqlite"
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
