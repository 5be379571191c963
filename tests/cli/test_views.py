"""``status`` and other commands that show something."""

from __future__ import annotations

import pandas as pd

from tests.cli.commands import INIT, Ridgeway


def test_units_in_brackets_are_no_markup(ridgeway: Ridgeway) -> None:
    assert ridgeway("init", "--input", "width 0 1 mm", "--input", "time 0 1 s").code == 0
    assert "width [mm]" in (said := ridgeway("ask").out)
    assert "time [s]" in said


def test_a_narrow_window_shows_the_prediction(ridgeway: Ridgeway) -> None:
    names = [f"input{j}" for j in range(8)]
    assert ridgeway("init", *(w for name in names for w in ("--input", f"{name} 0 1")), "-d", "1").code == 0
    rows = [[(3 * i + 5 * j) % 7 / 7 for j in range(8)] + [float(i)] for i in range(6)]
    pd.DataFrame(rows, columns=[*names, "value"]).to_csv("old.csv", index=False)
    assert ridgeway("attach", "old.csv").code == 0
    header = ridgeway("predict", "old.csv").out.splitlines()[1].split()
    assert header[0] == "input0"
    assert header[-2:] == ["value", "std"]
    assert "input7" not in header


def test_advice_and_status_speak_of_the_same_fit(ridgeway: Ridgeway) -> None:
    assert ridgeway(*INIT).code == 0
    rows = [[20 + 10 * i, 0.02 * 2**i, float(i % 3)] for i in range(7)]
    pd.DataFrame(rows, columns=["temperature", "rate", "strength"]).to_csv("old.csv", index=False)
    assert ridgeway("attach", "old.csv").code == 0
    said = ridgeway("status", "--advice").out
    assert "After 7 outcomes" in said
    assert said.replace("\n", " ").count("The direction") == 1
    assert not any(line.startswith("%") for line in said.splitlines())
