"""``status`` and other commands that show something."""

from __future__ import annotations

import io
import json
import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ridgeway as rw
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


def optimised(ridgeway: Ridgeway, *more: str) -> None:
    """A campaign that maximizes, with seven outcomes."""
    assert ridgeway(*INIT, "--goal", "maximize", "--output-unit", "MPa", *more).code == 0
    rows = [[20 + 10 * i, 0.02 * 2**i, 3.0 - 0.1 * (i - 3) ** 2] for i in range(7)]
    pd.DataFrame(rows, columns=["temperature", "rate", "strength"]).to_csv("old.csv", index=False)
    assert ridgeway("attach", "old.csv").code == 0


@pytest.mark.slow
def test_a_campaign_that_optimises_speaks_of_improvement(ridgeway: Ridgeway) -> None:
    optimised(ridgeway)
    ridgeway("ask", "-n", "2", "-o", "next.csv")
    ridgeway("best")  # fits
    for words in (("status",), ("status", "--advice")):
        said = " ".join(ridgeway(*words).out.split())
        assert "nats" not in said
        assert "The best strength [MPa] so far is 3, of trial 4." in said
    assert "expected to improve on it" in said
    record = json.loads(ridgeway("status", "--format", "json").out)
    assert (record["best_outcome"], record["best_outcome_trial"], record["expected_nats"]) == (3.0, 4, None)


@pytest.mark.slow
def test_points_are_ranked_by_what_the_campaign_chooses_by(ridgeway: Ridgeway) -> None:
    optimised(ridgeway)
    said = ridgeway("score", "old.csv", "--format", "csv")
    frame = pd.read_csv(io.StringIO(said.out))
    chain = rw.Campaign.open("campaign.sqlite").output().looked()
    chain.belief()
    scores = chain.learner.score(chain.setup.coordinates(frame[["temperature [°C]", "rate [1/s]"]].to_numpy()))
    np.testing.assert_allclose(frame["improvement [MPa]"], np.exp(scores), rtol=1e-6)
    assert frame["improvement [MPa]"].is_monotonic_decreasing
    assert "Ranked by the expected improvement on the best strength [MPa]." in " ".join(said.err.split())


@pytest.mark.slow
@pytest.mark.parametrize(("acquisition", "said"), [("thompson", "Ranked by thompson"), ("random", "by information")])
def test_a_rank_that_is_no_improvement_says_what_it_is(ridgeway: Ridgeway, acquisition: str, said: str) -> None:
    optimised(ridgeway, "--acquisition", acquisition)
    result = ridgeway("score", "old.csv")
    assert said in " ".join(result.err.split())
    assert "improvement" not in result.out


def test_there_is_no_rank_before_the_first_result(ridgeway: Ridgeway) -> None:
    assert ridgeway(*INIT, "--goal", "minimize").code == 0
    Path("grid.csv").write_text("temperature,rate\n30,1\n")
    assert "there is no score before the first result" in ridgeway("score", "grid.csv").err


@pytest.mark.slow
def test_the_best_of_a_pool_has_its_label(ridgeway: Ridgeway) -> None:
    rows = [[f"mol-{i}", (3 * i % 7) / 7, (5 * i % 11) / 11] for i in range(12)]
    pd.DataFrame(rows, columns=["id", "a", "b"]).to_csv("pool.csv", index=False)
    assert ridgeway("init", "--pool", "pool.csv", "--label", "id", "--goal", "minimize", "-d", "1").code == 0
    campaign = rw.Campaign.open("campaign.sqlite")
    for trial in campaign.ask(7):
        campaign.tell(trial, float(trial.inputs["a"]) + float(trial.inputs["b"]))
    trial = campaign.best().trial
    campaign.close()
    said = ridgeway("best").out
    assert f"  id  {trial.notes['id']}\n" in said
    assert max(map(len, said.splitlines())) <= 60
    assert json.loads(ridgeway("best", "--format", "json").out)["notes"] == {"id": trial.notes["id"]}
    (row,) = pd.read_csv(io.StringIO(ridgeway("best", "--format", "csv").out)).to_dict("records")
    assert (row["trial"], row["id"], row["a"]) == (trial.id, trial.notes["id"], pytest.approx(trial.inputs["a"]))
    assert row["predicted_low"] <= row["predicted"] <= row["predicted_high"]


@pytest.mark.slow
@pytest.mark.parametrize("is_luck", [True, False])
def test_luck_is_said_where_there_is_noise(ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch, is_luck: bool) -> None:
    optimised(ridgeway)
    best = rw.Campaign.best
    monkeypatch.setattr(rw.Campaign, "best", lambda self: replace(best(self), observed=self.all_trials()[0]))
    monkeypatch.setattr("ridgeway.report.best_point.may_be_luck", lambda *a: is_luck)
    said = " ".join(ridgeway("best").out.split())
    assert "Trial 1 had the best outcome, 2.1" in said
    assert ("that was luck" in said) == is_luck


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
