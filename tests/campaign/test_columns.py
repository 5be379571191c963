"""Which column of a sheet is what: exact names first, and nothing that could be two things."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ridgeway as rw
from ridgeway import Campaign, CampaignError, Fixed, Input, Pool
from ridgeway.campaign.columns import note_names


def created(folder: Path, *inputs: Any, **options: Any) -> Campaign:
    return Campaign.create(folder / "c.sqlite", "c", list(inputs), n_initial=50, **options)


@pytest.mark.parametrize(
    ("inputs", "output", "message"),
    [
        (
            [Input("a", 0, 1, "x"), Input("a [x]", 0, 1)],
            {},
            "'a' and 'a \\[x\\]' would both have the column 'a \\[x\\]'",
        ),
        ([Input("a", 0, 1), Fixed("a ", 1)], {}, "'a' and 'a ' would both have the column 'a'"),
        ([Input("y [MPa]", 0, 1)], {"output": "y", "unit": "MPa"}, "an input must not be called 'y \\[MPa\\]'"),
        ([Input("Asked by", 0, 1)], {}, "an input must not be called 'Asked by'"),
        ([Input("Expected", 0, 1)], {}, "an input must not be called 'Expected'"),
        ([Input("a", 0, 1)], {"output": "Corrections"}, "output must not be called 'Corrections'"),
        ([Input("a", 0, 1)], {"output": 3}, "output and unit must be words, got 3"),
    ],
)
def test_names_that_collide_are_refused(
    tmp_path: Path, inputs: list[Any], output: dict[str, Any], message: str
) -> None:
    with pytest.raises(CampaignError, match=message):
        created(tmp_path, *inputs, **output)
    assert not (tmp_path / "c.sqlite").exists()


def test_a_pool_has_no_columns_that_collide_with_the_campaigns_own(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="must not be called 'State'"):
        Campaign.create(tmp_path / "c.sqlite", "c", Pool([[0.0, 1.0], [1.0, 0.0]], names=["State", "b"]))


def test_names_that_differ_in_capital_letters_alone_are_told_apart(tmp_path: Path) -> None:
    campaign = created(tmp_path, Input("T", 0, 100, "K"), Input("t", 0, 100, "s"))
    campaign.ask(4)
    campaign.tell_table(pd.DataFrame({"trial": [1], "t": [25.0], "T": [75.0], "value": [1.0]}))
    campaign.tell_table(pd.DataFrame({"trial": [2], "t [s]": [20.0], "T [K]": [70.0], "value": [1.0]}))
    campaign.tell(3, 1.0, inputs={"t": 10.0, "T [K]": 60.0})
    trials = campaign.all_trials()
    assert [trial.x.tolist() for trial in trials[:3]] == [[75.0, 25.0], [70.0, 20.0], [60.0, 10.0]]
    assert [trial.notes for trial in trials[:3]] == [{}, {}, {}]


def test_a_column_that_may_be_two_inputs_is_refused(tmp_path: Path) -> None:
    campaign = created(tmp_path, Input("Temp", 0, 1), Input("temp", 0, 1))
    campaign.ask()
    frame = pd.DataFrame({"trial": [1], "TEMP": [0.5], "value": [1.0]})
    with pytest.raises(CampaignError, match="column 'TEMP': it may be 'Temp' or 'temp'"):
        campaign.tell_table(frame)
    with pytest.raises(CampaignError, match="input 'TEMP' may be 'Temp' or 'temp'"):
        campaign.tell(1, 1.0, inputs={"TEMP": 0.5})
    assert campaign.pending[0].id == 1


@pytest.mark.parametrize(("first", "second"), [("a", "a [m]"), ("A", "a [m]"), ("A", "a"), ("value", "VALUE")])
def test_two_columns_for_one_thing_are_refused(tmp_path: Path, first: str, second: str) -> None:
    campaign = created(tmp_path, Input("a", 0, 1, "m"))
    campaign.ask()
    frame = pd.DataFrame({"trial": [1], first: [0.5], second: [0.25]})
    frame = frame if first == "value" else frame.assign(value=1.0)
    with pytest.raises(CampaignError, match=r"columns '.*' and '.*' both stand for '(a \[m\]|value)': remove one"):
        campaign.tell_table(frame)
    assert campaign.pending[0].id == 1


def test_other_words_for_the_trial_and_the_output(tmp_path: Path) -> None:
    campaign = created(tmp_path, Input("a", 0, 1), output="strength")
    campaign.ask(2)
    campaign.tell_table(pd.DataFrame({"ID": [1], "Value": [3.0]}))
    campaign.tell_table(pd.DataFrame({"Trial": [2], "id": ["S7"], "Strength": [4.0], "value": ["good"]}))
    first, second = campaign.all_trials()
    assert (first.value, first.notes) == (3.0, {})
    assert (second.value, second.notes) == (4.0, {"id": "S7", "value": "good"})
    assert campaign.attach(pd.DataFrame({"id": ["S8"], "a": [0.5], "strength": [5.0]})) == [3]
    assert campaign.all_trials()[2].notes == {"id": "S8"}


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("y [GPa]", r"column 'y \[GPa\]': this output is 'y \[MPa\]': convert it to MPa"),
        ("Y (GPa)", r"column 'Y \(GPa\)': this output is 'y \[MPa\]': convert it to MPa"),
        ("y (MPa)", r"this output is called 'y \[MPa\]': name the column so"),
    ],
)
def test_a_wrong_unit_of_the_output_is_answered_with_the_right_one(tmp_path: Path, column: str, message: str) -> None:
    campaign = created(tmp_path, Input("a", 0, 1), output="y", unit="MPa")
    campaign.ask()
    for take in (campaign.tell_table, campaign.attach):
        with pytest.raises(CampaignError, match=message) as caught:
            take(pd.DataFrame({"trial": [1], "a": [0.5], column: [1.0]}))
        assert "Rename" not in str(caught.value)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("a [cm]", r"this input is 'a \[m\]': convert it to m"),
        ("a (cm)", r"this input is 'a \[m\]': convert it to m"),
        ("b [s]", "this input is 'b', without a unit"),
        ("c", r"this input is called 'c \[K\]': name the column so"),
        ("sigma [MPa]", "this column is 'sigma', without a unit"),
    ],
)
def test_a_column_with_an_inputs_name_is_never_just_a_note(tmp_path: Path, column: str, message: str) -> None:
    campaign = created(tmp_path, Input("a", 0, 1, "m"), Input("b", 0, 1), Input("c [K]", 0, 1))
    campaign.ask()
    with pytest.raises(CampaignError, match=message):
        campaign.tell_table(pd.DataFrame({"trial": [1], "value": [1.0], column: [0.5]}))
    assert campaign.pending[0].id == 1


def test_names_with_spaces_around_them_are_found(tmp_path: Path) -> None:
    campaign = created(tmp_path, Input(" a", 0, 1), rw.Input("b", 0, 1))
    campaign.ask()
    campaign.tell_table(pd.DataFrame({"trial": [1], " a": [0.5], "b": [0.25], "value": [1.0]}))
    assert campaign.all_trials()[0].x.tolist() == [0.5, 0.25]


def test_notes_never_have_the_name_of_another_column() -> None:
    assert note_names(["a", "trial"], ["Trial", "A (note)", "a", "b"]) == [
        "Trial (note)",
        "A (note)",
        "a (note 2)",
        "b",
    ]
