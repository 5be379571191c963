"""Tables of results are taken whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ridgeway as rw
from ridgeway import Campaign, CampaignError, Pool
from ridgeway.campaign import table
from tests import campaign_workers as workers
from tests.campaign import several


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


def test_a_sheet_of_another_campaign_is_refused(campaign: Campaign) -> None:
    campaign.ask(2)
    foreign = pd.DataFrame({"trial": [1, 2], "pressure": [1.0, 2.0], "flow": [3.0, None], "value": [0.5, 0.6]})
    with pytest.raises(
        CampaignError, match=r"none of this campaign's inputs \(a, b\), but .*'pressure', 'flow'.*another"
    ):
        campaign.tell_table(foreign)
    assert len(campaign.pending) == 2
    assert campaign.tell_table(foreign.drop(columns=["pressure", "flow"]).assign(operator="Åsa")).told == (1, 2)


@pytest.fixture
def samples(tmp_path: Path) -> Campaign:
    """A pool whose inputs are words, in columns of 0 and 1."""
    pool = Pool([[1.0, 0.0, 7.0], [0.0, 1.0, 6.0], [0.0, 1.0, 5.0]], names=["kind=1", "kind=2.0", "ph"])
    return Campaign.create(
        tmp_path / "p.sqlite", "p", pool, labels={"kind": ["1", "2.0", "2.0"]}, embedding=rw.Linear(1), n_initial=3
    )


def test_a_word_that_was_changed_in_a_sheet_is_no_mere_note(samples: Campaign) -> None:
    trials = samples.ask(3)
    frame = pd.DataFrame({"trial": [t.id for t in trials], "kind": [int(t.x[1]) + 1 for t in trials], "value": 0.5})
    swapped = frame.assign(kind=3 - frame["kind"])
    with pytest.raises(CampaignError, match="but the pool's point has"):
        samples.tell_table(swapped)
    with pytest.raises(CampaignError, match=r"column 'kind': one of 1, 2\.0 is expected, got 'ethanol'"):
        samples.tell_table(frame.assign(kind="ethanol"))
    with pytest.raises(CampaignError, match="column 'kind': is '2', but the column 'kind=1' disagrees"):
        samples.tell_table(frame.assign(kind=2).assign(**{"kind=1": 1.0}))
    assert len(samples.pending) == 3
    assert samples.tell_table(frame).told == (1, 2, 3)
    assert {(t.notes or {})["kind"] for t in samples.all_trials()} == {"1", "2.0"}
    with pytest.raises(CampaignError, match="but the pool's point has"):
        samples.tell_table(swapped)


def test_a_sheet_with_the_labels_of_a_pool_alone_is_taken(tmp_path: Path) -> None:
    pool = Pool([[1.0, 0.0], [0.0, 1.0]], names=["a", "b"])
    made = Campaign.create(tmp_path / "p.sqlite", "p", pool, labels={"sample": ["17", "18"]}, embedding=rw.Linear(1))
    made.ask(2)
    with pytest.raises(CampaignError, match="is it of another campaign"):
        made.tell_table(pd.DataFrame({"trial": [1], "pressure": [17], "value": [0.5]}))
    assert made.tell_table(pd.DataFrame({"trial": [1], "sample": [17], "value": [0.5]})).told == (1,)


def test_words_of_a_pool_stand_for_its_inputs(samples: Campaign) -> None:
    assert samples.attach(pd.DataFrame({"kind": ["2.0"], "ph": [6.0], "value": [0.5]})) == [1]
    assert samples.all_trials()[0].x.tolist() == [0.0, 1.0, 6.0]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "json", "parquet"])
def test_attach_takes_what_export_writes(campaign: Campaign, tmp_path: Path, ending: str) -> None:
    first, failed, abandoned, second, third, _ = campaign.ask(6)
    campaign.tell(first, 1.0, sigma=0.5, notes={"trial": "x", "a": "y", "operator": "Åsa"})
    campaign.fail(failed, "broke")
    campaign.abandon(abandoned)
    for trial in (second, third):  # measured twice at the same point, with the same value
        campaign.tell(trial, 2.0, inputs={"a": 0.5, "b": 1.0})
    campaign.correct(second, 3.0, "misread")
    campaign.correct(second, 2.0, "no, it was right")
    path = campaign.export(tmp_path / f"all.{ending}")
    other = workers.create(tmp_path / "other.sqlite", n_initial=50)
    assert other.attach(path) == [1, 2, 3]
    kept = [trial for trial in campaign.all_trials() if trial.value is not None]
    taken = other.all_trials()
    assert [(t.x.tolist(), t.value, t.sigma, t.notes or {}) for t in taken] == [
        (t.x.tolist(), t.value, t.sigma, t.notes or {}) for t in kept
    ]
    with pytest.raises(CampaignError, match="in the campaign already, as trial 1"):
        other.attach(path)


def test_a_row_that_stands_twice_in_a_file_is_refused(campaign: Campaign) -> None:
    frame = pd.DataFrame({"a": [0.5, 0.5], "b": [1.0, 1.0], "value": [0.3, 0.3]})
    with pytest.raises(CampaignError, match=r"row 1 says the same as the table, row 0; .*--repeated"):
        campaign.attach(frame)
    with pytest.raises(CampaignError, match="no row with a value"):
        campaign.attach(frame.assign(value=None, state="asked"))
    assert campaign.all_trials() == ()


def test_a_table_longer_than_a_query_may_be(campaign: Campaign) -> None:
    campaign.attach(pd.DataFrame({"a": np.linspace(0, 1, 1500), "b": 1.0, "value": 0.5}))
    assert len(campaign.tell_table(pd.DataFrame({"trial": range(1, 1501), "value": 0.5})).already) == 1500


def test_a_sheet_has_a_column_for_each_output(tmp_path: Path) -> None:
    two = several.create(tmp_path / "two.sqlite", n_initial=50)
    head, rows = table.to_fill_in(two.setup, two.ask(4))
    assert head == ["trial", "a", "b", "yield [%]", "cost [EUR]"]
    frame = pd.DataFrame(rows, columns=head)
    frame["yield [%]"] = [1.0, 2.0, "failed", None]
    frame["cost [EUR]"] = [10.0, None, "failed", None]
    frame["sigma of cost"] = [0.5, None, None, None]
    told = two.tell_table(frame)
    assert (told.told, told.partial, told.failed, told.pending) == ((1,), (2,), (3,), 1)
    assert two.all_trials()[0].results["cost"].sigma == 0.5
    head, rows = table.to_fill_in(two.setup, two.pending)
    assert [row[3:] for row in rows] == [[2.0, None], [None, None]]  # what is known stands there
    rows[0][4] = "failed"
    assert two.tell_table(pd.DataFrame(rows, columns=head)).told == (2,)
    assert two.all_trials()[1].values == {"yield": 2.0}


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "json", "parquet"])
def test_what_is_exported_can_be_attached_elsewhere(tmp_path: Path, suffix: str) -> None:
    two = several.create(tmp_path / "two.sqlite", n_initial=50)
    two.ask(4)
    two.tell(1, {"yield": 1.5, "cost": 10.25}, sigma={"yield": 0.1, "cost": 0.2})
    two.tell(2, {"cost": 7.0}, last=True)
    two.fail(3, "broke")
    path = two.export(tmp_path / f"t.{suffix}")
    other = several.create(tmp_path / "other.sqlite")
    assert other.attach(path) == [1, 2]
    first, second = other.all_trials()
    assert {name: (m.value, m.sigma) for name, m in first.results.items()} == {
        "yield": (1.5, 0.1),
        "cost": (10.25, 0.2),
    }
    assert second.values == {"cost": 7.0}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"trial": [1], "profit": [1.0]}, "has no column 'yield' or 'cost' for the results"),
        ({"trial": [1], "value": [1.0]}, "has no column 'yield' or 'cost' for the results"),
        ({"trial": [1], "cost [USD]": [1.0], "yield": [1.0]}, r"this output is 'cost \[EUR\]': convert it to EUR"),
        ({"trial": [1], "cost": ["much"]}, "column 'cost': a number is expected, got 'much'"),
        ({"trial": [1], "cost": [1.0], "sigma of cost": [-1.0]}, "standard deviation must not be negative"),
    ],
)
def test_sheets_that_are_refused(tmp_path: Path, columns: dict[str, list[Any]], message: str) -> None:
    two = several.create(tmp_path / "two.sqlite", n_initial=50)
    two.ask()
    with pytest.raises(CampaignError, match=message):
        two.tell_table(pd.DataFrame(columns))
    assert two.pending[0].results == {}
