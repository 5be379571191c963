"""What a campaign lets happen to a trial, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ridgeway as rw
from ridgeway import Campaign, Fixed, Input, Pool
from ridgeway.errors import BudgetSpentError, CampaignError, RidgewayWarning
from tests.spaces import pools_on_disk as on_disk


class _Odd(rw.acquisition.Bald):
    """An acquisition of a user's own, which no file can hold."""


def test_a_trial_remembers_who_and_when(campaign: Campaign) -> None:
    trial = campaign.ask()
    campaign.tell(trial, 1.5, sigma=0.1, notes={"operator": "Åsa"})
    kept = campaign.all_trials()[0]
    assert (kept.value, kept.sigma, kept.notes) == (1.5, 0.1, {"operator": "Åsa"})
    assert kept.asked_by == kept.settled_by
    assert "@" in str(kept.asked_by)
    assert str(kept.asked_at) <= str(kept.settled_at)
    assert campaign.trials.loc[0, "operator"] == "Åsa"


def test_nobody_gets_a_point_twice_also_among_integers(tmp_path: Path) -> None:
    whole = Campaign.create(
        tmp_path / "c.sqlite", "grid", [Input("i", 1, 4, integer=True), Input("j", 1, 3, integer=True)]
    )
    trials = whole.ask(12)
    assert len({t.x.tobytes() for t in trials}) == 12
    assert {v for t in trials for v in t.x.tolist()} == {1.0, 2.0, 3.0, 4.0}
    with pytest.raises(ValueError, match="hardly any combination of these inputs is left"):
        whole.ask()


@pytest.mark.slow
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


def test_a_budget_that_several_share(campaign: Campaign) -> None:
    campaign.ask(2, budget=3)
    with pytest.raises(BudgetSpentError, match="budget of 3 trials leaves no room for 2 more"):
        campaign.ask(2, budget=3)
    campaign.abandon(1)
    assert [t.id for t in campaign.ask(2, budget=3)] == [3, 4]


def test_the_belief_knows_the_names_and_what_is_a_logarithm(campaign: Campaign) -> None:
    for trial in campaign.ask(6):
        campaign.tell(trial, trial.inputs["a"] + np.log10(trial.inputs["b"]))
    table = pd.DataFrame({"b": [0.1, 1.0], "a": [0.2, 0.9]})
    expected = campaign.predict(np.array([[0.2, 0.1], [0.9, 1.0]])).mean
    np.testing.assert_array_equal(campaign.predict(table).mean, expected)
    np.testing.assert_array_equal(campaign.predict({"b": [0.1, 1.0], "a": [0.2, 0.9]}).mean, expected)
    belief = campaign.belief
    assert belief.names == ("a", "log10 of b")
    np.testing.assert_array_equal(belief.predict({"log10 of b": [-1.0, 0.0], "a": [0.2, 0.9]}).mean, expected)
    with pytest.raises(ValueError, match="'log10 of b' missing and 'b' not known"):
        belief.predict(table)
    summary = campaign.summary()
    assert summary is not None
    assert {name for name, _ in summary["inputs"]} == {"a", "b"}  # shares are of the inputs as people know them


def mixture(path: Path) -> Campaign:
    items = [
        Input("A", 0, 1),
        Input("B", 0, 1, step=0.05),
        rw.Category("solvent", ("water", "oil")),
        rw.Fixed("C", 0.2),
    ]
    return Campaign.create(
        path, "mix", items, constraints=["A + B + C <= 1", "A >= 0.1"], embedding=rw.Linear(1), inference="map"
    )


def test_constraints_and_categories_in_sheets_and_back(tmp_path: Path) -> None:
    made = mixture(tmp_path / "c.sqlite")
    made.ask(7)
    opened = Campaign.open(tmp_path / "c.sqlite")
    assert opened.setup.inputs == made.setup.inputs
    head, rows = opened.table()
    assert head[:6] == ["trial", "state", "A", "B", "solvent", "C"]
    assert {row[4] for row in rows} == {"water", "oil"}
    for trial in opened.pending:
        assert set(trial.inputs) == {"A", "B", "solvent", "C"}
        assert trial.inputs["A"] + trial.inputs["B"] <= 0.8 + 1e-9
    frame = opened.trials[["trial", "A", "B", "solvent", "C"]].assign(value=range(7))
    frame.loc[0, "solvent"] = "oil" if frame.loc[0, "solvent"] == "water" else "water"
    told = opened.tell_table(frame)
    assert told.moved == (1,)
    assert opened.trials.loc[0, "solvent"] == frame.loc[0, "solvent"]
    opened.correct(2, inputs={"solvent": "oil"}, reason="mixed up")
    assert opened.all_trials()[1].inputs["solvent"] == "oil"
    with pytest.raises(CampaignError, match="one of water, oil"):
        opened.correct(2, inputs={"solvent": "gin"}, reason="mixed up")
    (trial,) = opened.ask(1)
    assert trial.inputs["A"] + trial.inputs["B"] <= 0.8 + 1e-9
    assert opened.belief.X.shape == (7, 4)
    summary = opened.summary()
    assert summary is not None
    assert sorted(name for name, _ in summary["inputs"]) == ["A", "B", "solvent"]


def test_an_experiment_against_a_constraint_is_data_with_a_warning(tmp_path: Path) -> None:
    made = mixture(tmp_path / "c.sqlite")
    with pytest.warns(RidgewayWarning, match=r"breaks the constraint 'A \+ B \+ C <= 1'"):
        made.attach(pd.DataFrame({"A": [0.9], "B": [0.9], "solvent": ["oil"], "value": [1.0]}))
    assert made.all_trials()[0].inputs == {"A": 0.9, "B": 0.9, "solvent": "oil", "C": 0.2}


def test_a_constraint_that_changes_nothing_is_said_once(tmp_path: Path) -> None:
    with pytest.warns(RidgewayWarning, match="changes nothing"):
        Campaign.create(tmp_path / "c.sqlite", "c", [Input("A", 0, 1), Input("B", 0, 1)], constraints="A + B <= 5")
    assert Campaign.open(tmp_path / "c.sqlite").ask().id == 1


def test_a_pool_that_cannot_be_opened_again_is_refused(tmp_path: Path) -> None:
    X = np.random.default_rng(0).uniform(0, 1, (60, 3))
    with pytest.raises(CampaignError, match="a Dask collection cannot be stored: write its points to Parquet files"):
        Campaign.create(tmp_path / "c.sqlite", "dask", Pool(on_disk.array_of(X, 20)))
    with pytest.raises(CampaignError, match="labels must be columns of text by their names, got "):
        Campaign.create(tmp_path / "c.sqlite", "memory", Pool(X), labels=["id"])


@pytest.mark.slow
def test_a_campaign_on_disk_asks_what_one_in_memory_asks(tmp_path: Path) -> None:
    X = on_disk.points(120)
    (tmp_path / "p").mkdir()
    words = [f"M{i}" for i in range(120)]
    pattern = on_disk.written(tmp_path / "p", X, word=words)
    options: dict[str, Any] = {"embedding": rw.Linear(1), "inference": "map", "n_initial": 3}
    memory = Campaign.create(tmp_path / "m.sqlite", "m", Pool(X, on_disk.NAMES), labels={"word": words}, **options)
    Campaign.create(tmp_path / "d.sqlite", "d", Pool(pattern, on_disk.NAMES), labels=["word"], **options)
    for step in range(2):
        disk = Campaign.open(tmp_path / "d.sqlite")  # as a command does it each time
        asked = [campaign.ask(3) for campaign in (memory, disk)]
        for mine, theirs in zip(*asked, strict=True):
            np.testing.assert_array_equal(mine.x, theirs.x)
            assert mine.notes == theirs.notes
            for campaign in (memory, disk):
                campaign.tell(mine.id, float(on_disk.function(mine.x[None])[0]) + 0.1 * np.sin(step + mine.id))
    with pytest.raises(CampaignError, match="labels of a pool in files must be names of columns"):
        Campaign.create(tmp_path / "e.sqlite", "e", Pool(pattern, on_disk.NAMES), labels={"word": words}, **options)
