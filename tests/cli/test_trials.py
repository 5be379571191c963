"""``ask`` and ``tell``: sheets out, results in."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pandas as pd
import pytest

from ridgeway import Campaign
from ridgeway.cli import trials
from tests.cli.commands import INIT, Ridgeway

RESULTS = "trial,strength\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("number,strength\n1,0.5\n", ["results.csv", "no column 'trial'"]),
        ("trial,strenght\n1,0.5\n", ["results.csv", "no column 'strength'", "is it 'strenght'? Rename it"]),
        (RESULTS + "1,0.5\n2,high\n", ["results.csv, row 3, column 'strength'", "got 'high'", "leave it empty"]),
        (RESULTS + ",0.5\n", ["results.csv, row 2, column 'trial'", "no trial number"]),
        (RESULTS + "one,0.5\n", ["results.csv, row 2, column 'trial'", "got 'one'"]),
        (RESULTS + "1.5,0.5\n", ["row 2, column 'trial'", "got 1.5"]),
        (RESULTS + "77,0.5\n", ["results.csv, row 2", "no trial 77", "numbered 1 to 4"]),
        (RESULTS + "1,0.5\n1,0.6\n", ["results.csv, row 3", "trial 1 stands in results.csv, row 2 already"]),
        (RESULTS + "2,0.9\n", ["results.csv, row 2", "trial 2 has the value 0.25", "now it is 0.9", "`correct`"]),
        (RESULTS + "3,0.9\n", ["results.csv, row 2", "trial 3 was abandoned", "`attach`"]),
        ("trial,strength,sigma\n1,0.9,-1\n", ["row 2, column 'sigma'", "must not be negative"]),
        (
            "trial,temperature,strength\n1,900,0.9\n",
            ["row 2, column 'temperature [°C]'", "not within [20, 80]", "--outside"],
        ),
        ("trial,temperature [K],strength\n1,300,0.9\n", ["column 'temperature [K]'", "'temperature [°C]': convert it"]),
    ],
)
def test_results_that_are_wrong_change_nothing(ridgeway: Ridgeway, content: str, words: list[str]) -> None:
    ridgeway(*INIT)
    ridgeway("ask", "-n", "4")
    Path("told.csv").write_text("trial,strength\n2,0.25\n")
    ridgeway("tell", "told.csv")
    ridgeway("abandon", "3")
    before = ridgeway("export").out
    Path("results.csv").write_text(content)
    said = ridgeway("tell", "results.csv")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("ridgeway: ")
    assert said.err.count("\n") == 1
    for word in words:
        assert word in said.err
    assert ridgeway("export").out == before


def test_a_results_file_as_people_fill_it_in(ridgeway: Ridgeway) -> None:
    ridgeway(*INIT)
    ridgeway("ask", "-n", "4", "-o", "next.csv", "--decimal-comma")
    lines = Path("next.csv").read_text("utf-8-sig").splitlines()
    rows = [line.split(";") for line in lines]
    assert "," in rows[1][1]
    rows[0] += ["operator"]
    rows[1][-1:] = ["0,5", "Jürgen"]
    rows[2][-1:] = ["failed", ""]
    rows[3][-1:] = ["", "tomorrow"]
    rows[4][1] = "25,5"
    rows[4][-1:] = ["0,75", ""]
    Path("back.csv").write_bytes("\r\n".join(";".join(row) for row in rows).encode("utf-8-sig"))
    said = ridgeway("tell", "back.csv")
    assert said.out == (
        "2 observed, 1 failed, 1 still pending.\nMade elsewhere than asked, and taken as it was made: trial 4.\n"
    )
    first, second, third, fourth = Campaign.open("campaign.sqlite").all_trials()
    assert (first.value, first.notes) == (0.5, {"operator": "Jürgen"})
    assert (second.state, third.state) == ("failed", "asked")
    assert (fourth.value, fourth.x[0]) == (0.75, 25.5)
    assert ridgeway("tell", "back.csv").out == "0 observed, 3 known already, 1 still pending.\n"


def test_files_that_are_there_already_are_not_replaced(ridgeway: Ridgeway) -> None:
    ridgeway(*INIT)
    ridgeway("ask", "-o", "next.csv")
    said = ridgeway("ask", "-o", "next.csv")
    assert said.code == 1
    assert "next.csv is there already, perhaps with results" in said.err
    assert len(Campaign.open("campaign.sqlite").pending) == 1
    assert ridgeway("ask", "-o", "next.csv", "--force").code == 0
    assert ridgeway("ask", "-o", "nowhere/next.csv").code == 1
    assert ridgeway("ask", "-o", "next.doc").code == 1
    assert len(Campaign.open("campaign.sqlite").pending) == 2
    assert sorted(os.listdir()) == ["campaign.sqlite", "next.csv"]
    said = ridgeway(*INIT)
    assert (said.code, "has a campaign 'campaign' already" in said.err) == (1, True)


def test_a_sheet_of_a_pool_says_a_category_once(ridgeway: Ridgeway) -> None:
    Path("pool.csv").write_text("sample,solvent,ph\nS1,water,7\nS2,ethanol,6\nS3,water,8\n")
    assert ridgeway("init", "--pool", "pool.csv", "--label", "sample", "--category", "solvent").code == 0
    assert ridgeway("ask", "-n", "2", "-o", "next.csv").code == 0
    frame = pd.read_csv("next.csv")
    assert list(frame.columns) == ["trial", "sample", "solvent", "ph", "value"]
    frame["value"] = [1.0, 2.0]
    frame.to_csv("next.csv", index=False)
    assert ridgeway("tell", "next.csv").out == "2 observed.\n"


def test_a_header_that_is_nearly_right(ridgeway: Ridgeway) -> None:
    assert ridgeway(*INIT).code == 0
    Path("h.csv").write_text("trail,strength\n1,5\n")
    assert "h.csv has no column 'trial'" in (said := ridgeway("tell", "h.csv").err)
    assert "is it 'trail'? Rename it" in said


def test_inputs_changed_in_a_sheet_that_was_told_before(ridgeway: Ridgeway) -> None:
    ridgeway(*INIT)
    ridgeway("ask", "-n", "2", "-o", "next.csv")
    frame = pd.read_csv("next.csv").assign(strength=[1.0, 2.0])
    frame.to_csv("next.csv", index=False)
    assert ridgeway("tell", "next.csv").code == 0
    frame.loc[1, "temperature [°C]"] = 27.0
    frame.to_csv("next.csv", index=False)
    said = ridgeway("tell", "next.csv")
    assert (said.code, said.out) == (1, "")
    assert "next.csv, row 3: trial 2 has its result since" in said.err
    assert " to 27; if the first was wrong, change it with `correct`" in said.err
    assert "--corrections 'reason'" in said.err
    told = ridgeway("tell", "next.csv", "--corrections", "thermometer was off")
    assert told.out == "0 observed, 1 corrected, 1 known already.\n"
    assert Campaign.open("campaign.sqlite").all_trials()[1].x[0] == 27.0


@pytest.mark.slow
def test_inputs_can_be_corrected_and_corrections_are_listed(ridgeway: Ridgeway) -> None:
    ridgeway(*INIT)
    ridgeway("ask")
    Path("told.csv").write_text("trial,temperature,strength\n1,30,5\n")
    ridgeway("tell", "told.csv")
    assert ridgeway("corrections").out == "Nothing was corrected.\n"
    said = ridgeway("correct", "1", "--input", "temperature=27", "--reason", "misread")
    assert said.out == "Trial 1 is at temperature=27 (misread).\n"
    said = ridgeway("correct", "1", "--value", "4", "--input", "temperature [°C]=28", "--reason", "again")
    assert said.out == "Trial 1 is now 4, at temperature [°C]=28 (again).\n"
    listed = json.loads(ridgeway("corrections", "--format", "json").out)
    assert [(row["trial"], row["what"], row["reason"]) for row in listed] == [
        (1, "temperature 30 to 27", "misread"),
        (1, "value 5 to 4, temperature 27 to 28", "again"),
    ]
    assert all("@" in row["by"] and "UTC" in row["at"] for row in listed)
    status = " ".join(ridgeway("status").out.split())
    assert "2 corrections, the last of trial 1: value 5 to 4, temperature 27 to 28." in status
    assert json.loads(ridgeway("status", "--format", "json").out)["corrections"] == 2
    assert "temperature 30 to 27 (misread" in ridgeway("export").out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("correct", "1", "--reason", "x"), "say what is right: --value, --sigma or --input"),
        (("correct", "1", "--reason", "x", "--discard", "--sigma", "1"), "either --value with the right one, or --d"),
        (("correct", "1", "--reason", "x", "--input", "temperature"), "--input must read 'name=value'"),
        (("correct", "1", "--reason", "x", "--input", "temperature=hot"), "--input must read 'name=value'"),
        (("correct", "1", "--reason", "x", "--input", "rate=1", "--input", "rate=2"), "'rate' was given twice"),
        (("correct", "1", "--reason", "x", "--input", "colour=1"), "inputs must be among temperature, rate"),
        (("fail", "99999999999999999999"), "there is no trial 99999999999999999999 in this campaign"),
        (("abandon", "99999999999999999999"), "there is no trial"),
        (("reclaim", "--older-than", "99999999d"), "an age must be at most 36500d"),
        (("reclaim", "--older-than", "9" * 400 + "d"), "an age must be at most 36500d"),
        (("ask", "--decimal-comma"), "--decimal-comma is for a file"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(ridgeway: Ridgeway, words: tuple[str, ...], sentence: str) -> None:
    ridgeway(*INIT)
    ridgeway("ask")
    said = ridgeway(*words)
    assert (said.code, said.out, said.err.count("\n")) == (1, "", 1)
    assert sentence in said.err
    assert len(Campaign.open("campaign.sqlite").pending) == 1


def test_the_export_of_another_campaign_is_attached(ridgeway: Ridgeway) -> None:
    ridgeway(*INIT)
    ridgeway("ask", "-n", "3", "-o", "next.csv")
    Path("told.csv").write_text("trial,strength\n1,5\n2,failed\n")
    ridgeway("tell", "told.csv")
    ridgeway("export", "--decimal-comma", "-o", "all.csv")
    ridgeway(*INIT, "-c", "other.sqlite")
    said = ridgeway("attach", "all.csv", "-c", "other.sqlite")
    assert said.out == "1 attached, as trials 1 to 1.\n2 without a value left out.\n"
    assert ridgeway("export", "--decimal-comma").out.startswith("trial;state;temperature [°C];")


def test_names_and_notes_like_formulas_make_the_round_trip(ridgeway: Ridgeway) -> None:
    init = ("init", "--input", "=rate 0 1 @unit", "--output-name", "+strength", "-c")
    assert ridgeway(*init, "a.sqlite").code == 0
    campaign = Campaign.open("a.sqlite")
    notes = {"=note": "=1+1", "@who": "@anna", "sign": "-3.5", "tab": "\t=1"}
    campaign.tell(campaign.ask(), -0.5, notes=notes)
    campaign.fail(campaign.ask(), "=broken()")
    for name in ("all.csv", "all.xlsx"):
        assert ridgeway("export", "-o", name, "-c", "a.sqlite").code == 0
        assert ridgeway("tell", name, "-c", "a.sqlite").out.startswith("0 observed, 1 known already")
    Path("first.csv").write_text("".join(Path("all.csv").read_text("utf-8-sig").splitlines(keepends=True)[:2]))
    assert ridgeway(*init, "b.sqlite").code == 0
    assert ridgeway("attach", "first.csv", "-c", "b.sqlite").code == 0
    (again,) = Campaign.open("b.sqlite").all_trials()
    assert (again.value, {key: (again.notes or {}).get(key) for key in notes}) == (-0.5, notes)


def test_a_bad_place_for_the_file_takes_nothing_out(ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch) -> None:
    ridgeway(*INIT)
    ridgeway("ask")
    Path("folder.csv").mkdir()
    for bad in ("folder.csv", "nowhere/next.csv", "next.doc"):
        assert ridgeway("ask", "-o", bad, "--force").code == 1
        assert ridgeway("reclaim", "--older-than", "0s", "-o", bad, "--force").code == 1
    campaign = Campaign.open("campaign.sqlite")
    assert len(campaign.all_trials()) == 1
    assert campaign.corrections == []

    def refuse(*_: object) -> None:  # at the last moment, when the trials are stored
        raise OSError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    said = ridgeway("ask", "-n", "2", "-o", "next.csv")
    assert (said.code, "next.csv cannot be written: Permission denied" in said.err) == (1, True)
    assert [t.state for t in campaign.all_trials()] == ["asked", "abandoned", "abandoned"]
    assert sorted(os.listdir()) == ["campaign.sqlite", "folder.csv"]


SPEEDS = [0.02 * 1.9**i for i in range(10)]


def _campaign_with_a_belief(ridgeway: Ridgeway) -> None:
    """Twelve results around 50, a fit to them, and one more trial."""
    ridgeway(*INIT)
    old = ["temperature,rate,strength"]
    old += [f"{20 + 5 * i},{SPEEDS[i % 10]:.4g},{50 + 2 * i + 0.1 * (-1) ** i}" for i in range(12)]
    Path("old.csv").write_text("\n".join(old))
    assert ridgeway("attach", "old.csv").code == 0
    ridgeway("status", "--advice")
    assert ridgeway("ask").code == 0


@pytest.mark.slow
def test_a_value_far_from_its_prediction_is_said_and_taken_where_nobody_can_be_asked(ridgeway: Ridgeway) -> None:
    _campaign_with_a_belief(ridgeway)
    Path("results.csv").write_text(RESULTS + "13,4000\n")
    said = ridgeway("tell", "results.csv")
    assert said.code == 0
    assert "Trial 13 is 4000, but" in said.err
    assert "standard deviations away" in said.err
    assert "1 observed" in said.out
    assert ridgeway("tell", "results.csv").err == ""  # known already
    status = ridgeway("status", "--advice")
    assert "trial 13 is 4000" in " ".join(status.out.split())
    Campaign.open("campaign.sqlite").report("report.html")
    assert "trial 13 is 4000" in Path("report.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(("words", "answer", "taken"), [((), "n\n", False), ((), "y\n", True), (("--yes",), "", True)])
def test_in_a_terminal_a_surprising_value_is_asked_about(
    ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], answer: str, taken: bool
) -> None:
    _campaign_with_a_belief(ridgeway)
    Path("results.csv").write_text(RESULTS + "13,4000\n")
    monkeypatch.setattr(trials, "is_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    said = ridgeway("tell", "results.csv", *words)
    assert (said.code == 0) is taken
    assert ("nothing was taken" in said.err) is not taken
    assert len(Campaign.open("campaign.sqlite").pending) == (0 if taken else 1)


@pytest.mark.slow
def test_an_expected_value_is_taken_without_a_word(ridgeway: Ridgeway) -> None:
    _campaign_with_a_belief(ridgeway)
    campaign = Campaign.open("campaign.sqlite")
    (trial,) = campaign.pending
    value = float(campaign.predict(trial.x[None]).mean[0])
    Path("results.csv").write_text(RESULTS + f"13,{value}\n")
    said = ridgeway("tell", "results.csv")
    assert (said.code, said.err) == (0, "")


TWO = ("init", "--input", "a 0 1", "--input", "b 0 1", "--output", "yield [%]", "--output", "cost [EUR]", "-d", "1")


def test_results_of_one_trial_on_the_command_line(ridgeway: Ridgeway) -> None:
    assert ridgeway(*INIT).code == 0
    ridgeway("ask", "-n", "2")
    assert ridgeway("tell", "1", "3.2", "--sigma", "0.1").out == "Trial 1: strength 3.2.\n"
    told = Campaign.open("campaign.sqlite").all_trials()[0]
    assert (told.state, told.value, told.sigma) == ("told", 3.2, 0.1)
    assert ridgeway("tell", "2", "strength=4").code == 0
    Path("3").write_text(RESULTS)  # a file may be called so
    assert "must end in" in ridgeway("tell", "3").err


def test_several_outputs_from_the_sheet_to_the_command_line(ridgeway: Ridgeway) -> None:
    assert ridgeway(*TWO).code == 0
    said = ridgeway("ask", "-n", "3", "-o", "next.csv")
    assert "Fill in 'yield [%]' and 'cost [EUR]'" in said.err
    frame = pd.read_csv("next.csv")
    assert list(frame.columns[-2:]) == ["yield [%]", "cost [EUR]"]
    frame["yield [%]"] = [1.0, 2.0, None]
    frame["cost [EUR]"] = [10.0, None, None]
    frame.to_csv("next.csv", index=False)
    assert ridgeway("tell", "next.csv").out == "1 observed, 1 with some results, 1 still pending.\n"
    assert ridgeway("tell", "3", "yield=3").out == "Trial 3: yield 3. It awaits cost.\n"
    status = ridgeway("status").out
    assert "2 pending (2 with some results)" in status
    assert "2 awaits cost" in status
    assert ridgeway("fail", "3", "--of", "cost", "-r", "no invoice").out == "Trial 3 has no cost: no invoice.\n"
    assert ridgeway("correct", "1", "--value", "cost=11", "-r", "misread").out == "Trial 1 is now cost=11 (misread).\n"
    assert ridgeway("correct", "1", "--discard", "--of", "yield", "-r", "wrong sample").code == 0
    assert [t.values for t in Campaign.open("campaign.sqlite").all_trials()] == [
        {"cost": 11.0}, {"yield": 2.0}, {"yield": 3.0}
    ]  # fmt: skip
    found = json.loads(ridgeway("status", "--format", "json").out)
    assert (found["outputs"], found["awaited"]) == (["yield [%]", "cost [EUR]"], {"2": ["cost"]})


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("tell", "1", "3.2"), "value must say of which output it is"),
        (("tell", "1", "profit=3"), "there is no output 'profit'; there are yield, cost"),
        (("tell", "1", "yield=3", "yield=4"), "'yield' was given twice"),
        (("tell", "1", "yield=nan"), "with a finite number, got 'yield=nan'"),
        (("tell", "1", "yield=much"), "with a finite number, got 'yield=much'"),
        (("tell", "1"), "say what trial 1 gave: ridgeway tell 1 yield=... cost=..."),
        (("tell", "next.csv", "yield=3"), "need the number of a trial before them, got 'next.csv'"),
        (("tell", "9", "yield=3"), "there is no trial 9"),
        (("fail", "1", "--of", "profit"), "there is no output 'profit'"),
        (("correct", "1", "--of", "cost", "--value", "cost=3", "-r", "x"), "--of goes with --discard"),
        (("status", "--target-error", "0.5"), "target_error must say of which output"),
        (("sensitivity",), "several outputs: name one of yield, cost"),
        (("integrate", "--of", "profit"), "there is no output 'profit'"),
        (("change", "--weight", "cost", "-r", "x"), "must read 'name=number'"),
        (("change", "--weight", "cost=-1", "-r", "x"), "weight of output 'cost' must be 0 or more"),
        (("change", "--choose", "both", "-r", "x"), "choose must be one of sum, turns"),
        (("change", "--add-output", "cost", "-r", "x"), "got 'cost' twice"),
    ],
)
def test_what_is_said_about_outputs_that_are_not_there(ridgeway: Ridgeway, words: tuple[str, ...], says: str) -> None:
    ridgeway(*TWO)
    ridgeway("ask")
    said = ridgeway(*words)
    assert (said.code, said.out) == (1, "")
    assert says in said.err


def test_outputs_are_changed(ridgeway: Ridgeway) -> None:
    ridgeway(*TWO)
    for words, done in [
        (("--add-output", "colour [nm]"), "new output colour [nm]"),
        (("--weight", "cost=2"), "weights of the outputs: yield 1, cost 2, colour 1"),
        (("--choose", "turns"), "experiments are chosen by turns"),
        (("--rename", "cost price"), "output cost is called price"),
        (("--unit", "price CHF"), "unit of price: CHF"),
    ]:
        assert done in ridgeway("change", *words, "-r", "why not").out
    outputs = Campaign.open("campaign.sqlite").setup.outputs
    assert (outputs.labels, outputs.choose) == (("yield [%]", "price [CHF]", "colour [nm]"), "turns")
    assert "unit of price" in ridgeway("undo").out
