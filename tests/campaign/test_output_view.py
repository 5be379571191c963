"""What a campaign knows about one output."""

from __future__ import annotations

from pathlib import Path

import pytest

from ridgeway import Campaign, CampaignError, Output
from tests.campaign import several


@pytest.fixture
def told(tmp_path: Path) -> Campaign:
    campaign = several.create(tmp_path / "c.sqlite", n_initial=12)
    for trial in campaign.ask(12):
        campaign.tell(trial, several.measured(trial))
    return campaign


@pytest.mark.slow
def test_advice_for_each_output_and_for_all(told: Campaign) -> None:
    both = told.should_stop({"cost": 0.001})
    assert list(both.parts) == ["yield [%]", "cost [EUR]"]
    assert "0.001 EUR" in both.parts["cost [EUR]"].text
    assert (both.parts["yield [%]"].needed, both.parts["cost [EUR]"].needed is None) == (None, False)
    assert both.stop == all(both.parts.values())
    assert str(both).splitlines()[-1].startswith("All in all: ")
    alone = told.should_stop(0.001, output="cost")
    assert alone.text == both.parts["cost [EUR]"].text
    with pytest.raises(CampaignError, match="target_error must say of which output"):
        told.should_stop(0.5)
    with pytest.raises(CampaignError, match="target_error must be above 0, got -1"):
        told.should_stop({"cost": -1.0})


@pytest.mark.slow
def test_surprises_are_by_output(told: Campaign) -> None:
    told.beliefs  # noqa: B018
    trial = told.ask()
    usual = several.measured(trial)
    assert told.surprises(trial, {"yield": usual["yield"]}) == {}
    found = told.surprises(trial, {"yield": usual["yield"], "cost": 500.0})
    assert list(found) == ["cost"]
    assert told.surprise(trial, {"cost": 500.0}) is not None
    assert trial.id == told.pending[0].id
    assert not told.pending[0].results  # nothing was recorded


@pytest.mark.slow
def test_the_best_of_the_goal_while_others_are_learned(tmp_path: Path) -> None:
    campaign = several.create(tmp_path / "c.sqlite", outputs=["yield", Output("cost", goal="minimize")])
    with pytest.raises(CampaignError, match="no best point before the first result"):
        campaign.best()
    for trial in campaign.ask(5):
        campaign.tell(trial, several.measured(trial))
    trial = campaign.ask()
    campaign.tell(trial, several.measured(trial))
    best = campaign.best()
    assert best.observed.values["cost"] == min(t.values["cost"] for t in campaign.all_trials())
    assert campaign.output("yield").belief.y.shape == (6,)
    with pytest.raises(CampaignError, match="to learn yield, so it has no best point"):
        campaign.output("yield").best()
    with pytest.raises(CampaignError, match="weights are for learning: here experiments are chosen to minimize cost"):
        campaign.set_weights({"yield": 2.0}, "why not")
