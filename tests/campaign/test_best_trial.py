"""Campaigns whose goal is the best point."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ridgeway as rw
from ridgeway.campaign.setup import Setup
from ridgeway.errors import CampaignError

INPUTS = [rw.Input("temperature", 20, 80, "°C"), rw.Input("rate", 0.01, 10, "1/s", log=True), rw.Fixed("bar", 1.2)]


def strength(temperature: float, rate: float) -> float:
    from math import log10

    return 5.0 - ((temperature - 50) / 20) ** 2 - (log10(rate) - 0.3) ** 2


def begun(path: Path, **options: object) -> rw.Campaign:
    return rw.Campaign.create(
        path, "c", INPUTS, output="strength", **{"embedding": rw.Linear(1), "inference": "map", **options}
    )


def filled(campaign: rw.Campaign, n: int) -> None:
    for _ in range(n):
        (trial,) = campaign.ask(1)
        campaign.tell(trial, strength(trial.inputs["temperature"], trial.inputs["rate"]))


@pytest.mark.slow
def test_the_best_trial_in_the_campaigns_own_units(tmp_path: Path) -> None:
    campaign = begun(tmp_path / "c.sqlite", goal="maximize")
    with pytest.raises(CampaignError, match="no best point before the first result"):
        campaign.best()
    filled(campaign, 7)
    best = rw.Campaign.open(tmp_path / "c.sqlite", "c").best()
    values = {trial.id: trial.value for trial in campaign.all_trials()}
    assert best.observed.value == max(values.values())
    assert 20 <= best.trial.inputs["temperature"] <= 80
    assert best.trial.inputs["bar"] == 1.2
    assert best.interval[0] < best.value < best.interval[1]
    advice = campaign.should_stop()
    assert "expected to improve on it by" in str(advice)


@pytest.mark.slow
def test_a_restart_makes_no_difference(tmp_path: Path) -> None:
    """Each ask rebuilds the learner from the database: what it believes follows from what is stored."""
    once, again = begun(tmp_path / "a.sqlite", goal="minimize"), begun(tmp_path / "b.sqlite", goal="minimize")
    filled(once, 7)
    for _ in range(7):
        filled(rw.Campaign.open(tmp_path / "b.sqlite", "c"), 1)
    assert [t.inputs for t in once.all_trials()] == [t.inputs for t in again.all_trials()]


def test_a_campaign_that_learns_has_none(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match='begin one whose goal is "minimize" or "maximize"'):
        begun(tmp_path / "c.sqlite").best()


def test_a_goal_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="goal must be one of 'learn', 'minimize', 'maximize', got 'maximise'"):
        begun(tmp_path / "c.sqlite", goal="maximise")


def test_a_setup_of_an_earlier_version_learns(tmp_path: Path) -> None:
    stored = json.loads(begun(tmp_path / "c.sqlite").setup.to_json())
    assert stored["learning"].pop("goal") == "learn"
    old = Setup.from_json(json.dumps(stored))
    assert old.goal == "learn"
    assert old.learner(None).goal == "learn"
