"""The learner of a campaign stands where the database says."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from ridgeway import Campaign, RidgewayWarning
from ridgeway.campaign.replay import Chain
from tests import campaign_workers as workers
from tests.campaign.sequences import sequence


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


@pytest.mark.slow
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
    a, b = (sequence(str(tmp_path / name)) for name in ("looked.sqlite", "blind.sqlite"))
    assert a == b
    _ = looked.belief
    from ridgeway.active import refit

    monkeypatch.setattr(refit, "fit", lambda *args, **kwargs: fits.append(1))
    again = Campaign.open(tmp_path / "looked.sqlite")
    assert again.belief.y.shape == (7,)
    assert again.should_stop().nats is not None
    assert fits == []


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("column", ["content", "summary"])
def test_a_damaged_fit_is_made_again(tmp_path: Path, column: str) -> None:
    campaign = workers.create(tmp_path / "c.sqlite")
    for _ in range(6):
        trial = campaign.ask()
        campaign.tell(trial, workers.experiment(trial.inputs))
    before = campaign.belief.log_evidence
    other = sqlite3.connect(tmp_path / "c.sqlite")
    with other:
        other.execute(f"UPDATE ridgeway_fits SET {column} = substr({column}, 1, length({column}) / 2)")
    other.close()
    with pytest.warns(RidgewayWarning, match="stored fit of . observations is damaged"):
        again = Campaign.open(tmp_path / "c.sqlite").belief
    assert again.log_evidence == pytest.approx(before, abs=1.0)
    with pytest.warns(RidgewayWarning, match="is damaged"):
        assert campaign.ask().id == 7
    assert campaign.summary() is not None  # the damaged ones were replaced
