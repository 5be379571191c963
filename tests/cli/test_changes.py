"""The commands ``change``, ``undo``, ``log``, and ``abandon`` of many."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import INIT, Ridgeway


def test_change_undo_and_log(ridgeway: Ridgeway) -> None:
    ridgeway(*INIT)
    ridgeway("ask", "-n", "3")
    changed = ridgeway("change", "--range", "temperature 20 120", "--reason", "a new oven")
    assert changed.code == 0
    assert "Changed: temperature from 20 .. 80 to 20 .. 120." in changed.out
    assert ridgeway("change", "--add", "pressure 1 5 bar", "--value", "1.5", "-r", "valve").code == 0
    assert ridgeway("change", "--constraint", "pressure + temperature <= 120", "-r", "limit").code == 0
    shown = json.loads(ridgeway("log", "--format", "json").out)
    assert [row["what"] for row in shown][-2:] == [
        "new input pressure [bar], 1.5 in the trials so far",
        "constraint pressure + temperature <= 120",
    ]
    assert shown[-1]["why"] == "limit"
    assert "Taken back: constraint pressure + temperature <= 120." in ridgeway("undo").out
    assert ridgeway("abandon", "1-2").code == 0
    assert json.loads(ridgeway("status", "--format", "json").out)["pending"] == [3]
    assert "Trial 3 is abandoned." in ridgeway("abandon", "--all").out


def test_a_category_and_a_logarithm_are_held(ridgeway: Ridgeway) -> None:
    ridgeway(*INIT, "--input", "solvent in water, wax")
    assert "Changed: rate held at 0.05." in ridgeway("change", "--hold", "rate 0.05", "-r", "x").out
    assert "Changed: solvent held at wax." in ridgeway("change", "--hold", "solvent 'wax'", "-r", "x").out
    rows = json.loads(ridgeway("ask", "-n", "3", "--format", "json").out)
    assert {(row["rate [1/s]"], row["solvent"]) for row in rows} == {(0.05, "wax")}
    assert "must be one of water, wax, got 'beer'" in ridgeway("change", "--hold", "solvent beer", "-r", "x").err
    assert "Changed: solvent varies again." in ridgeway("change", "--release", "solvent", "-r", "x").out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("change", "-r", "x"), "change one thing at a time"),
        (("change", "--range", "temperature 20", "-r", "x"), "must read 'name lower upper'"),
        (("change", "--range", "temperature 20 hot", "-r", "x"), "a number in place of 'hot'"),
        (("change", "--range", "temperature 20 90"), "reason must say why"),
        (("change", "--hold", "rate fast", "-r", "x"), "a number in place of 'fast'"),
        (("change", "--hold", "rate 0", "-r", "x"), "cannot be held at 0, which is not within"),
        (("change", "--add", "p 0 1", "-r", "x"), "needs --value"),
        (("change", "--release", "temperature", "--value", "3", "-r", "x"), "--value goes with --add"),
        (("change", "--rename", "heat T", "-r", "x"), "there is no input 'heat'"),
        (("abandon",), "name the trials"),
        (("abandon", "5-2"), "a range such as 7-12"),
        (("undo",), "nothing to undo"),
    ],
)
def test_what_cannot_be_changed_is_said(ridgeway: Ridgeway, arguments: tuple[str, ...], says: str) -> None:
    ridgeway(*INIT)
    said = ridgeway(*arguments)
    assert said.code == 1
    assert says in said.err
