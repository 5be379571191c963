"""``ask`` and ``tell``: sheets out, results in."""

from __future__ import annotations

import io
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
