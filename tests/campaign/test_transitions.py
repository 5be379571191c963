"""What may become of a trial, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ridgeway import Campaign, CampaignError
from ridgeway.campaign import corrections
from tests import campaign_workers as workers
from tests.campaign import several


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


def test_inputs_changed_in_a_sheet_told_before_do_not_pass_in_silence(campaign: Campaign) -> None:
    trials = campaign.ask(2)
    frame = pd.DataFrame(
        {"trial": [1, 2], "a": [t.x[0] for t in trials], "b": [t.x[1] for t in trials], "value": [1.0, 2.0]}
    )
    campaign.tell_table(frame)
    assert campaign.tell_table(frame).already == (1, 2)
    changed = frame.assign(a=[0.125, trials[1].x[0]])
    with pytest.raises(CampaignError, match=r"row 0: trial 1 has its result since .* other inputs: a .* to 0\.125; if"):
        campaign.tell_table(changed)
    assert campaign.all_trials()[0].x[0] == trials[0].x[0]
    with pytest.raises(CampaignError, match="corrections must say why results have changed"):
        campaign.tell_table(changed, corrections=" ")
    told = campaign.tell_table(changed.assign(value=[1.0, 2.5]), corrections="read again")
    assert (told.corrected, told.already, told.told) == ((1, 2), (), ())
    first, second = campaign.all_trials()
    assert (first.x[0], second.value) == (0.125, 2.5)
    assert first.proposed is not None
    assert first.proposed[0] == trials[0].x[0]
    assert [(c["trial"], c["reason"]) for c in campaign.corrections] == [(1, "read again"), (2, "read again")]
    assert campaign.belief.X[0, 0] == 0.125


def test_a_failure_that_a_sheet_takes_back_is_a_correction(campaign: Campaign) -> None:
    campaign.ask(2)
    campaign.fail(1, "lost")
    campaign.tell(2, 2.0)
    frame = pd.DataFrame({"trial": [1, 2], "value": [1.0, "failed"]})
    with pytest.raises(CampaignError, match=r"row 0: trial 1 failed .*use `correct`"):
        campaign.tell_table(frame)
    assert campaign.tell_table(frame, corrections="mixed up").corrected == (1, 2)
    assert [(t.state, t.value) for t in campaign.all_trials()] == [("told", 1.0), ("failed", None)]


def test_a_sigma_told_later_is_named_in_the_refusal(campaign: Campaign) -> None:
    campaign.ask()
    campaign.tell(1, 1.5)
    with pytest.raises(CampaignError, match=r"has the value 1\.5 since .* now it is 1\.5 \(sigma 0\.1\)"):
        campaign.tell(1, 1.5, sigma=0.1)


def test_inputs_can_be_corrected(campaign: Campaign) -> None:
    first, second = campaign.ask(2)
    campaign.tell(first, 1.5, sigma=0.1)
    campaign.fail(second, "burst")
    before = campaign.belief.X.copy()
    campaign.correct(first, reason="misread", inputs={"a": 0.25})
    campaign.correct(second, reason="misread", inputs={"b": 0.5})
    kept, failed = campaign.all_trials()
    assert (kept.value, kept.sigma, kept.inputs) == (1.5, 0.1, {"a": 0.25, "b": first.inputs["b"]})
    assert (failed.state, failed.reason, failed.inputs["b"]) == ("failed", "burst", 0.5)
    assert campaign.corrections[0]["before"]["inputs"] == {"a": first.inputs["a"]}
    assert campaign.corrections[0]["after"]["inputs"] == {"a": 0.25}
    assert campaign.belief.X[0, 0] == 0.25
    assert before[0, 0] != 0.25
    campaign.correct(first, 1.5, "again the same")
    assert len(campaign.corrections) == 2
    with pytest.raises(CampaignError, match="'a': is 3, not within"):
        campaign.correct(first, reason="far", inputs={"a": 3.0})
    with pytest.raises(CampaignError, match="nothing to correct"):
        campaign.correct(first, reason="why")
    with pytest.raises(CampaignError, match="sigma is for a trial with a value"):
        campaign.correct(first, None, "why", sigma=0.5)


def test_a_point_told_outside_its_range_may_be_told_again(campaign: Campaign) -> None:
    campaign.ask()
    frame = pd.DataFrame({"trial": [1], "a": [1.5], "value": [1.0]})
    campaign.tell_table(frame, outside=True)
    assert campaign.tell_table(frame).already == (1,)


def test_notes_added_to_a_sheet_told_before_are_kept(campaign: Campaign) -> None:
    campaign.ask()
    frame = pd.DataFrame({"trial": [1], "value": [1.0], "operator": ["Åsa"]})
    campaign.tell_table(frame)
    told = campaign.tell_table(frame.assign(remark="late"))
    assert (told.already, told.noted) == ((1,), (1,))
    assert campaign.all_trials()[0].notes == {"operator": "Åsa", "remark": "late"}
    assert campaign.tell_table(frame).noted == ()


def test_a_trial_of_another_campaign_is_refused(campaign: Campaign, tmp_path: Path) -> None:
    campaign.ask()
    other = workers.create(tmp_path / "other.sqlite", n_initial=50)
    stranger = other.ask()
    for act in (
        lambda: campaign.tell(stranger, 1.0),
        lambda: campaign.fail(stranger),
        lambda: campaign.abandon(stranger),
        lambda: campaign.correct(stranger, 1.0, "why"),
    ):
        with pytest.raises(CampaignError, match="got trial 1 of another one"):
            act()
    assert [t.state for t in campaign.all_trials()] == ["asked"]
    Campaign.open(other.where).tell(other.pending[0], 1.0)
    assert other.all_trials()[0].value == 1.0


def test_a_clock_that_was_wrong_blocks_no_trial(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as wrong:
        wrong.setattr("ridgeway.campaign.asking.now", lambda: "2099-01-01T00:00:00.000+00:00")
        campaign.ask()
    campaign.ask()
    assert [t.id for t in campaign.reclaim(3600.0)] == [1]
    assert campaign.corrections[0]["reason"] == "asked for in the future: a clock is wrong"
    assert campaign.reclaim(3600.0) == []
    for wrong_age in (float("nan"), float("inf"), -1.0):
        with pytest.raises(CampaignError, match="older_than must be"):
            campaign.reclaim(wrong_age)


@pytest.mark.parametrize("number", [10**20, 2**63, 0, -1])
def test_a_number_no_trial_can_have_is_a_sentence(campaign: Campaign, number: int) -> None:
    campaign.ask()
    with pytest.raises(CampaignError, match=f"there is no trial {number} in this campaign"):
        campaign.fail(number)
    with pytest.raises(CampaignError, match="there is no trial"):
        campaign.tell_table(pd.DataFrame({"trial": [float(number)], "value": [1.0]}))


# -- several outputs ---------------------------------------------------------------------------


@pytest.fixture
def two(tmp_path: Path) -> Campaign:
    return several.create(tmp_path / "two.sqlite", n_initial=50)


def test_a_trial_is_pending_until_every_output_has_its_result(two: Campaign) -> None:
    first, second = two.ask(2)
    two.tell(first, {"yield": 3.2}, sigma={"yield": 0.1})
    kept = two.pending[0]
    assert (kept.id, kept.values, kept.awaited, kept.sigma) == (1, {"yield": 3.2}, ("cost",), 0.1)
    assert (kept.settled_at, kept.results["yield"].by) == (None, kept.asked_by)
    two.tell(1, {"yield": 3.2})  # the same again is harmless
    two.tell(1, {"cost": 140.0, "yield": None})
    done = two.all_trials()[0]
    assert (done.state, done.values, done.awaited) == ("told", {"yield": 3.2, "cost": 140.0}, ())
    two.tell(second, {"yield": 1.0, "cost [EUR]": 2.0})
    assert two.pending == []
    assert [line.what for line in two.log] == [
        "campaign made", "asked for trials 1, 2", "yield of trial 1", "result of trial 1", "result of trial 2"
    ]  # fmt: skip


def test_the_rest_will_not_come(two: Campaign) -> None:
    two.ask(4)
    two.tell(1, {"yield": 3.0})
    two.fail(1, "the sample is used up")
    two.fail(2, "no invoice", "cost")
    two.fail(3, "broke")
    two.tell(4, {"cost": 5.0}, last=True)
    first, second, third, fourth = two.all_trials()
    assert (first.state, first.values, first.awaited) == ("told", {"yield": 3.0}, ())
    assert first.reason == "the sample is used up"
    assert (second.state, second.values, second.awaited) == ("asked", {}, ("yield",))
    assert (third.state, third.reason, third.awaited) == ("failed", "broke", ())
    assert (fourth.state, fourth.values, fourth.awaited) == ("told", {"cost": 5.0}, ())
    two.tell(2, {"yield": 1.0})
    assert two.all_trials()[1].state == "told"
    with pytest.raises(CampaignError, match=r"trial 2 has no cost since .* now it is 7"):
        two.tell(2, {"cost": 7.0})
    two.correct(2, {"cost": 7.0}, "it was found")
    assert two.all_trials()[1].values == {"yield": 1.0, "cost": 7.0}


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ((1, 3.0), "value must say of which output it is"),
        ((1, {"profit": 3.0}), "there is no output 'profit'; there are yield, cost"),
        ((1, {"yield": 3.0, "Yield": 4.0}), "value names the output 'yield' twice"),
        ((1, {}), "value must have a result for at least one of yield, cost, got none"),
        ((1, {"yield": None}), "value must have a result for at least one of yield, cost, got none"),
        ((1, {"yield": float("nan")}), "yield must be finite, got nan"),
        ((1, {"yield": float("inf")}), "yield must be finite, got inf"),
        ((1, {"yield": "much"}), "yield must be a number, got 'much'"),
        ((1, {"yield": 1.0}, {"cost": 0.1}), "sigma of 'cost' goes with a value of it"),
        ((1, {"yield": 1.0}, {"yield": -0.1}), "sigma must not be negative"),
        ((2, {"yield": 2.0}), "trial 2 has the yield 1 since .* now it is 2"),
    ],
)
def test_results_that_are_refused_change_nothing(two: Campaign, told: Any, message: str) -> None:
    two.ask(2)
    two.tell(2, {"yield": 1.0})
    before = two.version()
    with pytest.raises(CampaignError, match=message):
        two.tell(*told)
    assert two.version() == before


def test_results_of_several_outputs_are_corrected_and_back(two: Campaign) -> None:
    two.ask(2)
    two.tell(1, {"yield": 15.0, "cost": 2.0})
    two.tell(2, {"yield": 1.0})
    two.correct(1, {"yield": 1.5, "cost": 3.0}, "misread", sigma={"cost": 0.5})
    two.correct(2, {"yield": 2.0}, "a slip")
    assert [(row[0], row[1]) for row in corrections.listed(two.corrections)] == [
        (1, "yield 15 to 1.5"),
        (1, "cost 2 to 3, sigma of cost none to 0.5"),
        (2, "yield 1 to 2"),
    ]
    with pytest.raises(CampaignError, match="cost of trial 2 cannot be corrected, it has none yet: use `tell`"):
        two.correct(2, {"cost": 2.0}, "a slip")
    assert two.undo() == "trial 2: yield 1 to 2"
    assert two.undo() == "trial 1: yield 15 to 1.5, cost 2 to 3, sigma of cost none to 0.5"
    assert two.all_trials()[0].values == {"yield": 15.0, "cost": 2.0}
    two.correct(1, None, "wrong sample")
    assert (two.all_trials()[0].state, two.all_trials()[0].values) == ("failed", {})
    assert (two.pending[0].id, two.pending[0].values) == (2, {"yield": 1.0})


def test_results_are_taken_back_all_or_some(two: Campaign) -> None:
    two.ask(2)
    two.tell(1, {"yield": 1.0, "cost": 2.0})
    two.tell(2, {"yield": 3.0})
    two.reopen(1, "a slip", ["cost"])
    assert (two.pending[0].values, two.pending[0].awaited) == ({"yield": 1.0}, ("cost",))
    two.reopen(2, "a slip")
    assert two.pending[1].results == {}
    assert [e["kind"] for e in two.corrections] == ["reopened", "reopened"]
    assert corrections.what(two.corrections[0]) == "cost 2 taken back: pending again"
    two.abandon(2)
    with pytest.raises(CampaignError, match="trial 1 cannot be abandoned, it has yield: say that the rest"):
        two.abandon(1)


def test_what_was_acknowledged_is_there_whatever_is_interrupted(
    two: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that dies in the middle of a transaction leaves all of it undone, also the results before it."""
    two.ask(2)
    two.tell(1, {"yield": 1.0})
    before = [(t.state, t.values) for t in two.all_trials()]
    rows, calls = two._store._result_rows, []

    def dying(number: int, results: Any) -> Any:
        calls.append(number)
        if number == 2:
            raise KeyboardInterrupt
        return rows(number, results)

    monkeypatch.setattr(two._store, "_result_rows", dying)
    frame = pd.DataFrame({"trial": [1, 2], "cost": [5.0, 6.0], "yield": [None, 7.0]})
    with pytest.raises(KeyboardInterrupt):
        two.tell_table(frame)
    assert calls == [1, 2]
    again = Campaign.open(tmp_path / "two.sqlite")
    assert [(t.state, t.values) for t in again.all_trials()] == before
    told = again.tell_table(frame)
    assert (told.told, told.partial) == ((1, 2), ())


def test_experiments_from_before_may_lack_an_output(two: Campaign) -> None:
    frame = pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.5] * 3, "yield": [1.0, None, 3.0], "cost": [None, 2.0, 3.0]})
    assert two.attach(frame) == [1, 2, 3]
    assert [t.values for t in two.all_trials()] == [{"yield": 1.0}, {"cost": 2.0}, {"yield": 3.0, "cost": 3.0}]
    with pytest.raises(CampaignError, match="row 0 is in the campaign already, as trial 1"):
        two.attach(frame.head(1))
    two.tell(1, {"cost": 9.0})
    assert (two.all_trials()[0].state, two.all_trials()[0].values) == ("attached", {"yield": 1.0, "cost": 9.0})
