"""``ridgeway sensitivity`` and ``ridgeway integrate``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.cli import explain
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
    assert record["mean_low"] < record["mean"] < record["mean_high"]
    assert record["5_percent_quantile"] < record["mean"] < record["95_percent_quantile"]
    assert 0.2 < record["probability_above_20"] < 0.5
    (row,) = csv.DictReader(campaign("integrate", "--no-rivals", "--format", "csv").out.splitlines())
    assert float(row["standard_deviation_low"]) < float(row["standard_deviation"])
    assert float(row["weight of Linear(d=1)"]) == 1.0
    assert not any("{" in cell or " to " in cell for cell in row.values())
    (tmp_path / "points.csv").write_text("temperature,rate,load\n50,1,3\n65,1,3\n")
    said = campaign("integrate", "--no-rivals", "--over", "points.csv")
    assert "strength [MPa] over 2 points (95 % intervals)" in said.out
    assert float(said.out.splitlines()[1].split()[1]) == pytest.approx(20.5, abs=0.15)


@pytest.mark.slow
def test_mean_and_quantiles_are_of_one_distribution(campaign: Ridgeway, tmp_path: Path) -> None:
    """At a single point every quantile is the value there, and so is its mean, with the same interval."""
    (tmp_path / "points.csv").write_text("temperature,rate,load\n79,9,3\n")
    for more in (("--rivals",), ("--no-rivals",)):
        record = json.loads(campaign("integrate", "--over", "points.csv", "--format", "json", *more).out)
        for side in ("", "_low", "_high"):
            assert record[f"mean{side}"] == pytest.approx(record[f"50_percent_quantile{side}"], rel=1e-9)
    said = campaign("integrate", "--no-rivals", "--over", "points.csv").out
    assert said.startswith("strength [MPa] over 1 point (95 % intervals)")


@pytest.mark.slow
@pytest.mark.filterwarnings("always::ridgeway.RidgewayWarning")
def test_a_warning_is_printed_once(campaign: Ridgeway, tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("temperature,rate,load\n50,1,3\n200,1,3\n")
    assert campaign("integrate", "--no-rivals", "--over", "points.csv").err.count("extrapolates") == 1


@pytest.mark.slow
def test_a_pool_is_averaged_over_its_points(ridgeway: Ridgeway) -> None:
    points = np.random.default_rng(0).uniform(0, 1, (30, 2)) ** 4  # far from uniform in their box
    made = rw.Campaign.create("campaign.sqlite", "pool", rw.Pool(points), embedding=rw.Linear(1), n_initial=6)
    for trial in made.ask(10):
        made.tell(trial, float(trial.inputs["x0"]) + float(trial.inputs["x1"]))
    made.close()
    said = ridgeway("integrate", "--no-rivals", "--format", "json").out
    assert json.loads(said)["mean"] == pytest.approx(points.sum(axis=1).mean(), abs=0.02)
    assert ridgeway("integrate", "--no-rivals").out.startswith("value over the 30 points of the pool (95 % intervals)")


@pytest.mark.parametrize(
    ("inputs", "constraints", "place"),
    [
        ([rw.Input("a", 0, 1)], (), "the box"),
        ([rw.Input("a", 0, 1), rw.Input("b", 0, 1)], ["a + b <= 1"], "what the constraints allow"),
        ([rw.Category("c", ["x", "y"])], (), "the box, every level of c as likely"),
        ([rw.Input("n", 1, 3, integer=True)], (), "the box, every step of n as likely"),
        ([rw.Input(f"n{j}", 1, 3, step=1) for j in range(4)], (), "the box, every step of 4 inputs as likely"),
    ],
)
def test_what_is_averaged_over_is_said_with_its_cause(
    tmp_path: Path, inputs: list, constraints: list, place: str
) -> None:
    made = rw.Campaign.create(tmp_path / "campaign.sqlite", "x", inputs, constraints=constraints)
    assert explain._of_box(made, None if place == "the box" else made.setup.inputs.box) == place
    made.close()


def test_before_the_first_result_commands_are_named(ridgeway: Ridgeway) -> None:
    for command in ("sensitivity", "integrate"):
        said = ridgeway(command)
        assert (said.code, "make one with `ridgeway init`" in said.err) == (1, True)
        assert "Campaign.create" not in said.err
    rw.Campaign.create("campaign.sqlite", "kiln", INPUTS).close()
    for command in ("sensitivity", "integrate"):
        said = ridgeway(command)
        assert said.code == 1
        assert "`ridgeway ask` gives experiments, `ridgeway tell` takes what came out" in said.err


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 80])
def test_a_narrow_window_breaks_no_word(ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    inputs = [rw.Input("catalyst_concentration", 0, 1, "mol/l"), rw.Category("solvent", ["water", "wax"])]
    made = rw.Campaign.create("campaign.sqlite", "glue", inputs, embedding=rw.Linear(1), effort="quick")
    for trial in made.ask(8):
        made.tell(trial, float(trial.inputs["catalyst_concentration"]) + (trial.inputs["solvent"] == "water"))
    made.close()
    said = ridgeway("sensitivity")
    lines = [line.rstrip() for line in (said.out + said.err).splitlines()]
    assert max(map(len, lines)) <= columns
    assert any(line.lstrip().startswith(("catalyst_concentration", "concentration")) for line in lines)
    assert said.out.count("(") == said.out.count(")") == 4
    assert all(line.count("(") == line.count(")") for line in said.out.splitlines())  # no interval is broken
    assert "of the 2 inputs" in " ".join(said.err.split())
    said = ridgeway("integrate", "--no-rivals")
    assert " ".join(said.out.split()).startswith(
        "value over the box, every level of solvent as likely (95 % intervals)"
    )
    assert max(map(len, said.out.splitlines())) <= columns


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
