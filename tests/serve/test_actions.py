"""What a page may change, and how it is taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ridgeway import Campaign, CampaignError
from ridgeway.serve.actions import act, asked
from ridgeway.serve.said import Said
from tests import campaign_workers as workers
from tests.campaign import several


def do(campaign: Campaign, action: str, **fields: Any) -> dict[str, Any]:
    return act(campaign, action, Said(fields))


def undo(campaign: Campaign, answer: dict[str, Any]) -> None:
    act(campaign, answer["undo"]["action"], Said(answer["undo"]))


def states(campaign: Campaign) -> list[str]:
    return [trial.state for trial in campaign.all_trials()]


def test_every_change_can_be_taken_back(campaign: Campaign) -> None:
    before = states(campaign)
    x = campaign.pending[0].x
    for action, fields in [
        ("tell", {"value": 1.0, "inputs": {"a": 0.5}}),
        ("fail", {"reason": "broke"}),
        ("abandon", {}),
    ]:
        answer = do(campaign, action, trial=1, **fields)
        assert states(campaign)[0] != "asked"
        undo(campaign, answer)
        assert states(campaign) == before
        assert np.array_equal(campaign.pending[0].x, x)  # what was asked, not what was set
    do(campaign, "tell", trial=1, value=1.0)
    undo(campaign, do(campaign, "correct", trial=1, value=2.0, reason="misread"))
    assert campaign.all_trials()[0].value == 1.0
    undo(campaign, do(campaign, "correct", trial=1, discard=True, reason="wrong sample"))
    assert (campaign.all_trials()[0].state, campaign.all_trials()[0].value) == ("told", 1.0)
    undo(campaign, asked([2, 3]))
    assert states(campaign) == ["told", "abandoned", "abandoned", "asked"]
    assert len(campaign.corrections) == 7  # nothing of it is forgotten


def test_results_of_several_outputs_one_after_the_other(tmp_path: Any) -> None:
    two = several.create(tmp_path / "c.sqlite", n_initial=50)
    two.ask(2)
    first = do(two, "tell", trial=1, value={"yield": "1.5", "cost": " "}, sigma={"yield": "0.1", "cost": ""})
    assert first["message"] == "Trial 1: yield 1.5 is recorded. cost can follow."
    second = do(two, "tell", trial=1, value={"cost": 20.0})
    assert states(two) == ["told", "asked"]
    undo(two, second)
    assert (states(two)[0], two.pending[0].values, two.pending[0].sigma) == ("asked", {"yield": 1.5}, 0.1)
    closed = do(two, "fail", trial=1, reason="no invoice")
    assert closed["message"] == "Trial 1 is done: cost will not come."
    undo(two, closed)
    assert two.pending[0].awaited == ("cost",)
    do(two, "tell", trial=1, value={"cost": 20.0})
    undo(two, do(two, "correct", trial=1, value={"cost": "21", "yield": "2"}, reason="misread"))
    assert two.all_trials()[0].values == {"yield": 1.5, "cost": 20.0}
    with pytest.raises(CampaignError, match=r"yield \[%\] and cost \[EUR\] are empty: write what trial 2 gave"):
        do(two, "tell", trial=2, value={"yield": "", "cost": None})
    with pytest.raises(CampaignError, match="there is no output 'profit'"):
        do(two, "tell", trial=2, value={"profit": 1.0})
    with pytest.raises(CampaignError, match="cost must be a number, got 'much'"):
        do(two, "tell", trial=2, value={"cost": "much"})
    with pytest.raises(CampaignError, match="name one of yield, cost"):
        do(two, "tell", trial=2, value=3.0)
    with pytest.raises(CampaignError, match="outputs must be at most"):
        do(two, "reopen", trial=1, outputs="yield")
    assert two.pending[0].results == {}


def test_one_entry_in_the_page_is_one_change(tmp_path: Path) -> None:
    two = several.create(tmp_path / "two.sqlite")
    two.ask()
    two.tell(1, {"yield": 1.0, "cost": 2.0})
    do(two, "correct", trial=1, value={"cost": "21", "yield": "3"}, reason="misread")
    assert two.undo() == "trial 1: cost 2 to 21, yield 1 to 3"
    assert two.all_trials()[0].values == {"yield": 1.0, "cost": 2.0}


@pytest.mark.slow
def test_a_surprising_value_is_asked_about(tmp_path: Any) -> None:
    made = workers.create(tmp_path / "c.sqlite")
    for _ in range(12):
        trial = made.ask()
        made.tell(trial, workers.experiment(trial.inputs))
    assert made.belief.y.shape == (12,)
    trial = made.ask()
    value = workers.experiment(trial.inputs)
    answer = do(made, "tell", trial=trial.id, value=value + 50.0)
    assert f"Trial {trial.id} is" in answer["surprise"]
    assert "was predicted" in answer["surprise"]
    assert made.pending[0].id == trial.id
    assert made.surprise(trial, value) is None
    assert "recorded" in do(made, "tell", trial=trial.id, value=value + 50.0, sure=True)["message"]


def test_a_trial_comes_back_only_where_that_makes_sense(campaign: Campaign) -> None:
    old = campaign.attach(campaign.trials.head(1)[["a", "b"]].assign(value=1.0))[0]
    with pytest.raises(CampaignError, match="was not asked for"):
        do(campaign, "reopen", trial=old)
    do(campaign, "abandon", trial=1)
    with pytest.raises(CampaignError, match=f"trial {old} has its inputs since"):
        do(campaign, "reopen", trial=1)
    with pytest.raises(CampaignError, match="reason must say why"):
        campaign.reopen(1, " ")
    assert do(campaign, "reopen", trial=2)["message"] == "Trial 2 is pending again."  # as it was all the time
    assert len(campaign.corrections) == 0
