"""``ridgeway sensitivity`` and ``ridgeway integrate``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import ridgeway as rw
from tests.cli.commands import Ridgeway

INPUTS = [
    rw.Input("temperature", 20, 80, "°C"),
    rw.Input("rate", 0.01, 10, "1/s", log=True),
    rw.Fixed("load", 3, "kg"),
]


@pytest.fixture
def campaign(ridgeway: Ridgeway) -> Ridgeway:
    made = rw.Campaign.create("campaign.sqlite", "kiln", INPUTS, output="strength", unit="MPa", embedding=rw.Linear(1))
    rows = np.random.default_rng(0).uniform([20, -2], [80, 1], (14, 2))
    lines = [f"{t},{10**r},3,{20 + (t - 50) / 15 + r}" for t, r in rows]
    Path("before.csv").write_text("\n".join(["temperature,rate,load,strength", *lines]))
    made.attach("before.csv")
    made.close()
    return ridgeway


@pytest.mark.slow
def test_inputs_have_their_names_and_units(campaign: Ridgeway, tmp_path: Path) -> None:
    said = campaign("sensitivity", "--no-rivals", "--format", "json")
    assert said.code == 0
    first, second = json.loads(said.out)
    assert first["input"] == "temperature [°C]"
    assert second["input"] == "log10 of rate [1/s]"
    truth = np.array([60 / 15, 3.0]) ** 2
    assert first["total"] == pytest.approx(truth[0] / truth.sum(), abs=0.03)
    assert first["first_low"] <= first["first"] <= first["first_high"]
    table = campaign("sensitivity", "--no-rivals", "--top", "1")
    assert "temperature" in table.out
    assert "rate" not in table.out
    assert "1 more input: --top 2 shows all" in table.err
    assert campaign("sensitivity", "--no-rivals", "-o", "indices.csv").code == 0
    with (tmp_path / "indices.csv").open(encoding="utf-8-sig") as file:
        assert [row["input"] for row in csv.DictReader(file)] == ["temperature [°C]", "log10 of rate [1/s]"]


@pytest.mark.slow
def test_the_output_is_averaged(campaign: Ridgeway, tmp_path: Path) -> None:
    said = campaign("integrate", "--no-rivals", "--above", "20", "--format", "json")
    record = json.loads(said.out)
    assert record["mean"] == pytest.approx(19.5, abs=0.1)  # the mean of the logarithm is -1/2
    assert 0 < record["mean_std"] < 0.2
    assert record["5_percent_quantile"]["mean"] < record["mean"] < record["95_percent_quantile"]["mean"]
    assert 0.2 < record["probability_above_20"]["mean"] < 0.5
    (tmp_path / "points.csv").write_text("temperature,rate,load\n50,1,3\n65,1,3\n")
    said = campaign("integrate", "--no-rivals", "--over", "points.csv")
    assert "strength [MPa] over 2 points (95 % intervals)" in said.out
    assert float(said.out.splitlines()[1].split()[1]) == pytest.approx(20.5, abs=0.15)


def test_what_cannot_be_averaged_is_said(campaign: Ridgeway, tmp_path: Path) -> None:
    assert campaign("integrate", "--above", "x").code == 2
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    said = campaign("integrate", "--over", "other.csv")
    assert said.code == 1
    assert "temperature" in said.err
    said = campaign("sensitivity", "-c", "nowhere.sqlite")
    assert said.code == 1
    assert "no campaign at nowhere.sqlite" in said.err


@pytest.mark.slow
def test_a_category_is_one_input(ridgeway: Ridgeway) -> None:
    inputs = [rw.Input("heat", 0, 10, "W"), rw.Category("solvent", ["water", "acetone"])]
    made = rw.Campaign.create("campaign.sqlite", "glue", inputs, output="strength", embedding=rw.Linear(1))
    for trial in made.ask(10):
        heat, solvent = trial.inputs["heat"], trial.inputs["solvent"]
        made.tell(trial.id, 0.1 * float(heat) + (solvent == "water"))
    made.close()
    said = ridgeway("sensitivity", "--no-rivals", "--format", "json")
    first, second = json.loads(said.out)
    assert (first["input"], second["input"]) == ("solvent", "heat [W]")
    assert first["total"] == pytest.approx(0.25 / (0.25 + 1 / 12), abs=0.02)  # variances of a coin and of heat / 10
    assert ridgeway("report", "-o", "report.html").code == 0
    page = Path("report.html").read_text()
    assert "Effect of solvent" in page
    assert "solvent=water" in page  # in the directions
