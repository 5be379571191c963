"""What may become of a trial, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from ridgeway import Campaign, CampaignError


def test_telling_the_same_twice_is_harmless_another_value_is_refused(campaign: Campaign) -> None:
    trial = campaign.ask()
    campaign.tell(trial, 1.5)
    campaign.tell(trial, 1.5)
    with pytest.raises(CampaignError, match=r"trial 1 has the value 1\.5 .* now it is 2; .*`correct`"):
        campaign.tell(trial, 2.0)
    assert campaign.all_trials()[0].value == 1.5


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "high", None])
def test_a_value_must_be_a_finite_number(campaign: Campaign, value: Any) -> None:
    trial = campaign.ask()
    with pytest.raises(CampaignError, match="value must be"):
        campaign.tell(trial, value)
    assert campaign.pending[0].id == 1


def test_states_and_their_refusals(campaign: Campaign) -> None:
    failed, abandoned, out = campaign.ask(3)
    campaign.fail(failed, "it broke")
    campaign.fail(failed, "it broke")
    campaign.abandon(abandoned)
    with pytest.raises(CampaignError, match=r"trial 1 failed .*it broke.* use `correct`"):
        campaign.tell(failed, 1.0)
    with pytest.raises(CampaignError, match=r"trial 2 was abandoned .* `attach`"):
        campaign.tell(abandoned, 1.0)
    with pytest.raises(CampaignError, match="no outcome yet: use `tell`"):
        campaign.correct(out, 1.0, "why not")
    with pytest.raises(CampaignError, match="there is no trial 9 in this campaign: trials are numbered 1 to 3"):
        campaign.tell(9, 1.0)
    with pytest.raises(CampaignError, match="reason must say why"):
        campaign.correct(failed, 1.0, " ")
    assert [t.state for t in campaign.all_trials()] == ["failed", "abandoned", "asked"]


def test_corrections_are_kept(campaign: Campaign) -> None:
    first, second = campaign.ask(2)
    campaign.tell(first, 15.0)
    campaign.fail(second, "lost")
    campaign.correct(first, 1.5, "decimal point")
    campaign.correct(second, 0.5, "found again")
    campaign.correct(first, None, "wrong sample")
    history = campaign.corrections
    assert [(c["trial"], c["before"]["value"], c["after"]["value"]) for c in history] == [
        (1, 15.0, 1.5),
        (2, None, 0.5),
        (1, 1.5, None),
    ]
    assert [(t.state, t.value) for t in campaign.all_trials()] == [("failed", None), ("told", 0.5)]
    assert campaign.belief.y.tolist() == [0.5]


def test_what_was_really_set_counts(campaign: Campaign) -> None:
    trial = campaign.ask()
    with pytest.raises(CampaignError, match=r"column 'a': is 3, not within \[0, 1\]"):
        campaign.tell(trial, 1.0, inputs={"a": 3.0})
    with pytest.raises(CampaignError, match="'b': is -1, but this input has a log scale"):
        campaign.tell(trial, 1.0, inputs={"b": -1.0}, outside=True)
    with pytest.raises(CampaignError, match="inputs must be among a, b, got 'c'"):
        campaign.tell(trial, 1.0, inputs={"c": 1.0})
    campaign.tell(trial, 1.0, inputs={"a": 0.25})
    kept = campaign.all_trials()[0]
    assert kept.inputs == {"a": 0.25, "b": trial.inputs["b"]}
    assert kept.proposed is not None
    assert kept.proposed[0] == trial.x[0]


def test_stale_trials_are_taken_over(campaign: Campaign) -> None:
    campaign.ask(2)
    assert campaign.reclaim(3600.0) == []
    assert [t.id for t in campaign.reclaim(0.0)] == [1, 2]
    assert {c["kind"] for c in campaign.corrections} == {"reclaimed"}
    campaign.tell(1, 0.5)
    assert [t.id for t in campaign.reclaim(0.0)] == [2]
