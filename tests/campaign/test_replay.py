"""The learner of a campaign stands where the database says."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

import ridgeway as rw
from ridgeway import Campaign, Pool, RidgewayWarning
from ridgeway.active.acquisition import information, outlook_of, score
from ridgeway.campaign.replay import Chain
from tests import campaign_workers as workers
from tests.campaign import several
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


@pytest.mark.slow
def test_what_is_asked_for_teaches_most_about_all_outputs_together(tmp_path: Path) -> None:
    two = several.create(tmp_path / "two.sqlite", outputs=["yield", rw.Output("cost", weight=3.0)], fill_every=None)
    for trial in two.ask(5):
        two.tell(trial, several.measured(trial))
    X = np.random.default_rng(1).uniform(size=(2000, 2))
    parts = [two.output(name).belief for name in ("yield", "cost")]
    sums = sum(w * score(information, outlook_of(b), X) for w, b in zip((1.0, 3.0), parts, strict=True))
    np.testing.assert_allclose(two.score(X), sums, rtol=1e-7)  # variances near data are differences
    chain = Chain.at(two.setup, None, two._store.snapshot())
    values, expected = chain.choose(1)
    assert two.score(values)[0] >= 0.98 * sums.max()
    nats = sum(score(information, outlook_of(belief), values)[0] for belief in parts)
    assert expected[0] == pytest.approx(nats, rel=1e-6)  # what is learned in all, whatever the weights
    assert two.ask().x.tolist() == values[0].tolist()
    assert {(fit.output, fit.role) for fit in two._store.snapshot().fits} == {(0, "asked"), (1, "asked")}


@pytest.mark.slow
def test_by_turns_each_output_chooses_for_itself(tmp_path: Path) -> None:
    turns = several.create(tmp_path / "two.sqlite", choose="turns", fill_every=None, random_state=1)
    for trial in turns.ask(4):
        turns.tell(trial, several.measured(trial))
    X, beliefs = np.random.default_rng(1).uniform(size=(2000, 2)), turns.beliefs
    asked = turns.ask(2)
    pending = np.zeros((0, 2))
    for trial, name in zip(asked, ("yield", "cost"), strict=True):
        outlook = outlook_of(beliefs[name]).given(pending)
        assert score(information, outlook, trial.x[None])[0] >= 0.98 * score(information, outlook, X).max()
        assert trial.expected == pytest.approx(score(information, outlook, trial.x[None])[0], rel=1e-6)
        pending = np.vstack([pending, trial.x])


@pytest.mark.slow
@pytest.mark.parametrize("choose", ["sum", "turns"])
def test_several_outputs_go_on_as_if_nothing_had_happened(tmp_path: Path, choose: str) -> None:
    """Opened anew at every step, looked at in between, with results that come late: the same choices."""
    for name in ("steady", "restless"):
        several.create(tmp_path / name, choose=choose)
    for k in range(7):
        for name in ("steady", "restless"):
            campaign = Campaign.open(tmp_path / name)
            trial = campaign.ask()
            told = several.measured(trial)
            campaign.tell(trial, {"yield": told["yield"]})
            if name == "restless":
                campaign = Campaign.open(tmp_path / name)
            if k % 3 != 2:
                campaign.tell(trial.id, {"cost": told["cost"]})
            if name == "restless" and k == 5:
                campaign.beliefs  # noqa: B018 - fits that the next ask goes on with
    steady, restless = (Campaign.open(tmp_path / name).all_trials() for name in ("steady", "restless"))
    assert [(t.x.tobytes(), t.values, t.expected) for t in steady] == [
        (t.x.tobytes(), t.values, t.expected) for t in restless
    ]
    assert any(t.expected is not None for t in steady)


@pytest.mark.slow
def test_several_outputs_of_a_pool(tmp_path: Path) -> None:
    points = np.random.default_rng(0).uniform(size=(12, 2))
    pool = Campaign.create(
        tmp_path / "c.sqlite", "pool", Pool(points, names=["a", "b"]), outputs=["yield", "cost"], n_initial=4,
        embedding=rw.Linear(1), inference="map", effort="quick",
    )  # fmt: skip
    for _ in range(3):
        for trial in pool.ask(4):
            pool.tell(trial, {"yield": several.measured(trial)["yield"]})
    assert len({t.x.tobytes() for t in pool.all_trials()}) == 12
    with pytest.raises(ValueError, match="the pool is exhausted"):
        pool.ask()
