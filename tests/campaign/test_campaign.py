"""What a campaign lets happen to a trial, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import campaign_workers as workers
import ridgeway as rw
from ridgeway import Campaign, CampaignError, Fixed, Input, Pool
from ridgeway.campaign.advice import advise
from ridgeway.errors import BudgetSpentError
from ridgeway.inputs import InputList


class _Odd(rw.acquisition.Bald):
    """An acquisition of a user's own, which no file can hold."""


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return workers.create(tmp_path / "c.sqlite", n_initial=50)


def test_a_trial_remembers_who_and_when(campaign: Campaign) -> None:
    trial = campaign.ask()
    campaign.tell(trial, 1.5, sigma=0.1, notes={"operator": "Åsa"})
    kept = campaign.all_trials()[0]
    assert (kept.value, kept.sigma, kept.notes) == (1.5, 0.1, {"operator": "Åsa"})
    assert kept.asked_by == kept.settled_by
    assert "@" in str(kept.asked_by)
    assert str(kept.asked_at) <= str(kept.settled_at)
    assert campaign.trials.loc[0, "operator"] == "Åsa"


def test_telling_the_same_twice_is_harmless_another_value_is_refused(campaign: Campaign) -> None:
    trial = campaign.ask()
    campaign.tell(trial, 1.5)
    campaign.tell(trial, 1.5)
    with pytest.raises(CampaignError, match=r"trial 1 was told 1\.5 .* now it is 2; .*`correct`"):
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
    with pytest.raises(CampaignError, match="no outcome yet: tell it"):
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


def test_a_table_of_results_is_taken_whole_or_not_at_all(campaign: Campaign) -> None:
    trials = campaign.ask(4)
    frame = pd.DataFrame({"remark": ["", "late", None, "x"], "value": [1.0, None, 3.0, 4.0], "trial": [4, 3, 2, 9]})
    with pytest.raises(CampaignError, match="the table, row 3: there is no trial 9"):
        campaign.tell_table(frame)
    assert len(campaign.pending) == 4
    told = campaign.tell_table(frame.head(3))
    assert (told.told, told.pending) == ((4, 2), 1)
    again = campaign.tell_table(frame.head(3))
    assert (again.told, again.already) == ((), (4, 2))
    assert campaign.all_trials()[1].sequence == 1
    assert trials[1].x.tolist() == [*campaign.belief.X[1].tolist()[:1], trials[1].inputs["b"]]


def test_data_from_before(campaign: Campaign) -> None:
    frame = pd.DataFrame({"b": [0.1, 1.0], "a": [0.5, 0.25], "value": [0.3, 0.4], "batch": [7, 8]})
    assert campaign.attach(frame) == [1, 2]
    with pytest.raises(CampaignError, match="row 0 is in the campaign already, as trial 1"):
        campaign.attach(frame)
    assert campaign.attach(frame.head(1), repeated=True) == [3]
    with pytest.raises(CampaignError, match="row 0, column 'a': is 2, not within"):
        campaign.attach(frame.head(1).assign(a=2.0))
    with pytest.raises(CampaignError, match="has no column 'b', which is an input"):
        campaign.attach(frame.drop(columns="b"))
    assert campaign.all_trials()[0].notes == {"batch": "7"}
    assert campaign.belief.y.tolist() == [0.3, 0.4, 0.3]


def test_nobody_gets_a_point_twice_also_among_integers(tmp_path: Path) -> None:
    whole = Campaign.create(
        tmp_path / "c.sqlite", "grid", [Input("i", 1, 4, integer=True), Input("j", 1, 3, integer=True)]
    )
    trials = whole.ask(12)
    assert len({t.x.tobytes() for t in trials}) == 12
    assert {v for t in trials for v in t.x.tolist()} == {1.0, 2.0, 3.0, 4.0}
    with pytest.raises(ValueError, match="hardly any combination of these integer inputs is left"):
        whole.ask()


def test_a_pool_with_labels_is_given_out_once(tmp_path: Path) -> None:
    points = np.random.default_rng(0).uniform(size=(12, 3))
    made = Campaign.create(
        tmp_path / "c.sqlite", "pool", Pool(points), labels={"id": [f"s{i}" for i in range(12)]}, embedding=rw.Linear(1)
    )
    assert made.should_stop().text == "Too early to say: 0 of the first 6 outcomes are there."
    for trial in made.ask(8):
        made.tell(trial, float(trial.x.sum()))
    opened = Campaign.open(tmp_path / "c.sqlite")
    trials = [opened.ask() for _ in range(4)]
    ids = [str((t.notes or {})["id"]) for t in opened.all_trials()]
    assert sorted(ids) == sorted(f"s{i}" for i in range(12))
    assert all(points[int(i[1:])].tolist() == t.x.tolist() for i, t in zip(ids, opened.all_trials(), strict=True))
    with pytest.raises(ValueError, match="the pool is exhausted"):
        opened.ask()
    opened.tell(trials[0], 1.0)
    assert opened.should_stop().text.startswith("Every point of the pool was tried")


def test_one_value_for_all_inputs_and_quick_writing_at_two_thousand(tmp_path: Path) -> None:
    wide = Campaign.create(tmp_path / "c.sqlite", "wide", rw.Box([0.0] * 2000, [1.0] * 2000))
    trial = wide.ask()
    wide.tell(trial, 1.0)
    assert (tmp_path / "c.sqlite").stat().st_size < 400_000
    assert wide.predict(trial.x[None]).mean.shape == (1,)


def test_advice_in_words() -> None:
    stop = advise(0.004, 6.0)
    assert stop
    assert str(stop) == (
        "The best next experiment would teach 0.004 nats: it narrows what it tests by 0.4 %. "
        "The subspace is well known (typically off by 6°). You may stop."
    )
    assert not advise(0.5, 6.0)
    assert "points that fill the space would test it" in str(advise(0.004, 60.0))
    assert advise(0.004, None)


def test_export_and_score(campaign: Campaign, tmp_path: Path) -> None:
    for trial in campaign.ask(4):
        campaign.tell(trial, workers.experiment(trial.inputs))
    for name in ("t.csv", "t.xlsx", "t.json", "t.parquet"):
        assert campaign.export(tmp_path / name).exists()
    assert json.loads((tmp_path / "t.json").read_text())[2]["trial"] == 3
    assert pd.read_excel(tmp_path / "t.xlsx")["value"].tolist() == campaign.trials["value"].tolist()
    assert pd.read_csv(tmp_path / "t.csv")["a"].tolist() == pd.read_parquet(tmp_path / "t.parquet")["a"].tolist()
    assert campaign.score(campaign.trials[["b", "a"]]).shape == (4,)
    with pytest.raises(CampaignError, match=r"must end in \.csv"):
        campaign.export(tmp_path / "t.doc")
    with pytest.raises(CampaignError, match="there is no folder"):
        campaign.export(tmp_path / "nowhere" / "t.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"space": []}, "at least one that varies"),
        ({"space": [Fixed("a", 1.0)]}, "at least one that varies"),
        ({"space": [Input("a", 0, 1), Input("a", 0, 1)]}, "'a' twice"),
        ({"space": [Input("trial", 0, 1)]}, "must not be called 'trial'"),
        ({"space": [Input("a", 0, 1)], "output": "a"}, "must not be called 'a'"),
        ({"space": [Input("a", 0, 1)], "name": " "}, "name must be a word"),
        ({"space": [Input("a", 0, 1)], "acquisition": _Odd()}, "able to store how it learns"),
    ],
)
def test_a_campaign_that_makes_no_sense(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Campaign.create(tmp_path / "c.sqlite", options.pop("name", "c"), options.pop("space"), **options)
    assert not (tmp_path / "c.sqlite").exists()


def test_places_that_hold_no_campaign(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="there is no campaign at"):
        Campaign.open(tmp_path / "none.sqlite")
    (tmp_path / "text.sqlite").write_text("not a database, but a text of some length" * 50)
    with pytest.raises(CampaignError, match="some other file"):
        Campaign.open(tmp_path / "text.sqlite")
    (tmp_path / "empty.sqlite").touch()
    with pytest.raises(CampaignError, match="holds no campaign"):
        Campaign.open(tmp_path / "empty.sqlite")
    with pytest.raises(CampaignError, match="must outlive its program"):
        Campaign.open("sqlite://")
    with pytest.raises(CampaignError, match="path, a sqlite:/// or a postgresql:// address"):
        Campaign.open("mysql://somewhere/lab")
    with pytest.raises(CampaignError, match="cannot be read"):
        Campaign.open("nonsense://somewhere/lab")
    made = workers.create(tmp_path / "c.sqlite")
    assert Campaign.open(f"sqlite:///{tmp_path / 'c.sqlite'}").name == made.name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Input("a", 1, 1), "lower below upper"),
        (lambda: Input("a", 0, 1, log=True), "lower must be positive"),
        (lambda: Input("a", 0.5, 3, integer=True), "whole numbers"),
        (lambda: Input("", 0, 1), "name must be a word"),
        (lambda: Input("a", "0", 1), "must be a number"),
        (lambda: Fixed("a", float("nan")), "must be finite"),
        (lambda: InputList(("a",)), "sequence of Input and Fixed"),
    ],
)
def test_inputs_that_make_no_sense(make: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_proposals_are_readable_and_come_back_exactly() -> None:
    inputs = InputList(
        (Input("t", 20, 80), Input("r", 1e-6, 1e3, log=True), Fixed("p", 1.2), Input("n", 1, 9, integer=True))
    )
    X = inputs.box.filling(50, np.random.default_rng(0))
    values = inputs.proposals(X)
    assert max(len(repr(v)) for v in values[:, 0].tolist()) <= 8
    assert np.all(values[:, 2] == 1.2)
    assert np.all(values[:, 3] % 1 == 0)
    assert np.abs(inputs.coordinates(values) - X)[:, :2].max() < 1e-4
    assert np.array_equal(inputs.proposals(inputs.coordinates(values)), values)
    assert InputList.from_list(json.loads(json.dumps(inputs.to_list()))) == inputs


def test_a_budget_that_several_share(campaign: Campaign) -> None:
    campaign.ask(2, budget=3)
    with pytest.raises(BudgetSpentError, match="budget of 3 trials leaves no room for 2 more"):
        campaign.ask(2, budget=3)
    campaign.abandon(1)
    assert [t.id for t in campaign.ask(2, budget=3)] == [3, 4]
