"""``status`` and other commands that show something."""

from __future__ import annotations

import io
import json
import re
import sqlite3
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.commands import INIT, Ridgeway, Said
from tests.helpers import ASSETS


def test_units_in_brackets_are_no_markup(ridgeway: Ridgeway) -> None:
    assert ridgeway("init", "--input", "width 0 1 mm", "--input", "time 0 1 s").code == 0
    assert "width [mm]" in (said := ridgeway("ask").out)
    assert "time [s]" in said


@pytest.mark.slow
@pytest.mark.filterwarnings("always:.*a copy in memory")
def test_an_old_file_that_may_only_be_read(ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("campaign.sqlite").write_bytes((ASSETS / "campaign_v3.sqlite").read_bytes())
    connect = sqlite3.connect  # root may write whatever the permissions say
    monkeypatch.setattr(sqlite3, "connect", lambda to, **k: connect(to.replace("mode=rw", "mode=ro"), **k))
    for words in (("status",), ("log",), ("export", "-o", "all.csv"), ("predict", "all.csv"), ("corrections",)):
        said = ridgeway(*words)
        assert said.code == 0, words
        assert said.err.count("this is a copy in memory") == 1
    for words in (("ask",), ("tell", "8", "3"), ("abandon", "8"), ("undo",), ("change", "--range", "a 0 2", "-r", "x")):
        said = ridgeway(*words)
        assert said.code == 1, words
        assert "ridgeway: campaign.sqlite: it is read-only: change its permissions" in said.err


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


@pytest.mark.slow
def test_advice_and_status_speak_of_the_same_fit(ridgeway: Ridgeway) -> None:
    assert ridgeway(*INIT).code == 0
    rows = [[20 + 10 * i, 0.02 * 2**i, float(i % 3)] for i in range(7)]
    pd.DataFrame(rows, columns=["temperature", "rate", "strength"]).to_csv("old.csv", index=False)
    assert ridgeway("attach", "old.csv").code == 0
    said = ridgeway("status", "--advice").out
    assert "After 7 outcomes" in said
    assert said.replace("\n", " ").count("The direction") == 1
    assert not any(line.startswith("%") for line in said.splitlines())


def test_status_names_the_oldest_trial_and_clocks_that_are_wrong(
    ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch
) -> None:
    ridgeway(*INIT)
    for stamp in ("2099-01-01T00:00:00.000+00:00", "2020-01-01T00:00:00.000+00:00"):
        with monkeypatch.context() as wrong:
            wrong.setattr("ridgeway.campaign.asking.now", lambda stamp=stamp: stamp)
            assert ridgeway("ask").code == 0
    said = " ".join(ridgeway("status").out.split())
    assert re.search(r"the longest for [\d]+ d \(", said)
    assert "trial 1 was asked for in the future (2099-01-01 00:00 UTC" in said
    assert json.loads(ridgeway("reclaim", "--older-than", "1h", "--format", "json").out)[0]["trial"] == 1


@pytest.mark.slow
def test_columns_of_predictions_and_scores_are_told_from_inputs(ridgeway: Ridgeway) -> None:
    assert ridgeway("init", "--input", "std 0 1", "--input", "row 0 1", "--input", "nats 0 1", "-d", "1").code == 0
    rows = [[(3 * i + 5 * j) % 7 / 7 for j in range(3)] + [float(i)] for i in range(6)]
    pd.DataFrame(rows, columns=["std", "row", "nats", "value"]).to_csv("old.csv", index=False)
    assert ridgeway("attach", "old.csv").code == 0
    (first, *_) = json.loads(ridgeway("predict", "old.csv", "--format", "json").out)
    assert [first[name] for name in ("std", "row", "nats")] == rows[0][:3]
    assert len(first) == 5
    scored = ridgeway("score", "old.csv", "--format", "csv").out.splitlines()[0].split(",")
    assert len(set(scored)) == 5


@pytest.mark.slow
def test_the_best_point(ridgeway: Ridgeway) -> None:
    assert "goal must be one of" in ridgeway(*INIT, "--goal", "maximise").err
    assert ridgeway(*INIT, "--goal", "maximize").code == 0
    assert "no best point before the first result" in ridgeway("best").err
    rows = [[20 + 10 * i, 0.02 * 2**i, float(i % 3)] for i in range(7)]
    pd.DataFrame(rows, columns=["temperature", "rate", "strength"]).to_csv("old.csv", index=False)
    assert ridgeway("attach", "old.csv").code == 0
    found = json.loads(ridgeway("best", "--format", "json").out)
    assert found["best_outcome"] == 2.0
    assert found["interval"][0] < found["predicted"] < found["interval"][1]
    said = ridgeway("best").out
    assert said.startswith(f"maximize strength: trial {found['trial']} is best so far\n  temperature [°C]  ")
    assert "maximize strength" in ridgeway("status").out


def test_a_campaign_that_learns_has_no_best_point(ridgeway: Ridgeway) -> None:
    assert ridgeway(*INIT).code == 0
    said = ridgeway("best")
    assert said.code == 1
    assert "(ridgeway init --goal)" in said.err


@pytest.mark.slow
def test_predictions_and_explanations_of_each_output(ridgeway: Ridgeway) -> None:
    outputs = ("--output", "yield [%]", "--output", "cost [EUR]")
    assert ridgeway("init", "--input", "a 0 1", "--input", "b 0 1", *outputs, "-d", "1", "--effort", "quick").code == 0
    assert "no prediction before the first result" in _points_of(ridgeway).err
    rows = [[(3 * i % 7) / 7, (5 * i % 7) / 7] for i in range(7)]
    frame = pd.DataFrame([[a, b, 10 * a + b, a - b] for a, b in rows], columns=["a", "b", "yield", "cost"])
    frame.loc[6, "cost"] = None
    frame.to_csv("old.csv", index=False)
    assert ridgeway("attach", "old.csv").code == 0
    found = pd.read_csv(io.StringIO(_points_of(ridgeway, "--format", "csv").out))
    assert list(found.columns) == ["a", "b", "yield [%]", "std of yield", "cost [EUR]", "std of cost"]
    assert found["yield [%]"].tolist() == pytest.approx([5.5], abs=1.0)
    status = ridgeway("status").out
    assert status.count("share of the variation") == 2
    assert max(map(len, status.splitlines())) <= 60
    assert ridgeway("integrate", "--of", "cost", "--no-rivals").out.startswith("cost [EUR] over the box")
    assert "nats" in ridgeway("score", "points.csv").out


def _points_of(ridgeway: Ridgeway, *words: str) -> Said:
    pd.DataFrame({"a": [0.5], "b": [0.5]}).to_csv("points.csv", index=False)
    return ridgeway("predict", "points.csv", *words)
