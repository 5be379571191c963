"""Outputs: names, units, weights and goals, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ridgeway as rw
from ridgeway import Campaign, CampaignError, Input, Output
from ridgeway.campaign.outputs import OutputList

SPACE = [Input("a", 0, 1), Input("b", 0, 1)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yield", ("yield", None)),
        ("cost [EUR]", ("cost", "EUR")),
        (" flow rate [m³/h] ", ("flow rate", "m³/h")),
    ],
)
def test_text_as_an_output(text: str, expected: tuple[str, str | None]) -> None:
    found = Output.read(text)
    assert (found.name, found.unit, found.weight) == (*expected, 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OutputList.of(["a", "A"]), "different names, got 'A' twice"),
        (lambda: OutputList.of([]), "at least one"),
        (lambda: OutputList.of(3), "sequence of Output"),
        (lambda: OutputList.of(["a [EUR"]), r"must read 'name' or 'name \[unit\]', got 'a \[EUR'"),
        (lambda: Output("  "), "output must be a word"),
        (lambda: Output("a", 3), "output and unit must be words"),  # type: ignore[arg-type]
        (lambda: Output("a", weight=-1.0), "weight of output 'a' must be 0 or more and finite, got -1"),
        (lambda: Output("a", weight=float("nan")), "weight of output 'a' must be 0 or more and finite"),
        (lambda: Output("a", weight="heavy"), "weight of output 'a' must be a number, got 'heavy'"),  # type: ignore[arg-type]
        (lambda: OutputList.of([Output("a", weight=0), Output("b", weight=0)]), "must not all be 0"),
        (lambda: OutputList.of(["a", "b"], "both"), "choose must be one of sum, turns, got 'both'"),
        (lambda: OutputList.of(["a"], weights={"c": 1.0}), "there is no output 'c'; there is a"),
        (lambda: Output("a", goal="best"), "goal of output 'a' must be one of learn, minimize, maximize"),
        (
            lambda: OutputList.of([Output("a", goal="minimize"), Output("b", goal="maximize")]),
            "only one output can be minimized or maximized, got a and b",
        ),
    ],
)
def test_what_is_refused(make: Any, message: str) -> None:
    with pytest.raises(CampaignError, match=message):
        make()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outputs": ["y", "a"]}, "must not be called 'a'"),
        ({"outputs": ["y", "trial"]}, "must not be called 'trial'"),
        ({"outputs": ["y", "sigma of y"]}, "must not be called 'sigma of y'"),
        ({"outputs": ["y", "z"], "output": "w"}, "outputs has all of them"),
        ({"outputs": ["y", "z"], "goal": "minimize"}, "goal must say which output to minimize"),
        ({"outputs": [Output("y", goal="maximize"), "z"], "goal": "minimize"}, "goal must be that of output 'y'"),
    ],
)
def test_what_a_campaign_refuses(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(CampaignError, match=message):
        Campaign.create(tmp_path / "c.sqlite", "c", SPACE, **options)
    assert not (tmp_path / "c.sqlite").exists()


def test_they_are_stored_and_found_again() -> None:
    made = OutputList.of([Output("yield", "%", goal="maximize"), "cost [EUR]"], "turns")
    again = OutputList.from_list(made.to_list(), made.choose)
    assert again == made
    assert again.weights == (1.0, 0.0)  # experiments are for the goal
    assert again.place("COST [eur]") == 1
    assert (again.only, again.one("yield").goal) == (None, "maximize")


def test_a_single_output_need_not_be_named() -> None:
    one, two = OutputList.of("y"), OutputList.of(["y", "z"])
    assert one.named(3.0, "value") == {"y": 3.0}
    assert (one.word("y"), one.sigma_name("y")) == ("value", "sigma")
    assert (two.word("y"), two.sigma_name("y")) == ("y", "sigma of y")
    with pytest.raises(
        CampaignError, match=r"value must say of which output it is, such as \{'y': ..., 'z': ...\}, got 3.0"
    ):
        two.named(3.0, "value")
    with pytest.raises(CampaignError, match="names the output 'y' twice"):
        two.named({"y": 1.0, "Y": 2.0}, "value")
    with pytest.raises(CampaignError, match="several outputs: name one of y, z"):
        two.one()


def test_a_campaign_of_one_output_in_the_list_is_one_of_one_output(tmp_path: Path) -> None:
    listed = Campaign.create(tmp_path / "a.sqlite", "c", SPACE, outputs=["strength [MPa]"], embedding=rw.Linear(1))
    plain = Campaign.create(tmp_path / "b.sqlite", "c", SPACE, output="strength", unit="MPa", embedding=rw.Linear(1))
    assert listed.setup == plain.setup
