"""``init``: plans in files, options, tables of inputs and pools."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ridgeway import Campaign, Category, Input
from ridgeway.cli.plan import from_table, from_toml, from_words
from ridgeway.errors import CampaignError
from tests.cli.commands import Ridgeway

TOML = """
name = "coating"
directions = 1
random_state = 3
output = {name = "strength", unit = "MPa"}
[[input]]
name = "temperature"
lower = 20
upper = 80
unit = "°C"
[[input]]
name = "rate"
lower = 0.01
upper = 10
log = true
[[fixed]]
name = "pressure"
value = 1.2
"""


def test_a_plan_in_a_file(ridgeway: Ridgeway) -> None:
    Path("plan.toml").write_text(TOML, encoding="utf-8")
    assert ridgeway("init", "plan.toml").code == 0
    campaign = Campaign.open("campaign.sqlite", "coating")
    assert campaign.setup.labels == ("temperature [°C]", "rate", "pressure")
    assert campaign.setup.outputs.labels == ("strength [MPa]",)
    assert campaign.setup.learning["random_state"] == 3


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("lower = 20", "lwoer = 20", ["plan.toml, [[input]] number 1", "'lwoer'", "did you mean 'lower'?"]),
        ("random_state", "random_sate", ["plan.toml", "'random_sate'", "did you mean 'random_state'?"]),
        ("[[input]]", "[input]", ["plan.toml"]),
        ("[[input]]", "[[inputs]]", ["plan.toml", "'inputs' names a sheet", "write [[input]]"]),
        ("upper = 80", "upper = ", ["plan.toml is not valid TOML", "line"]),
        ("upper = 80", "", ["plan.toml, [[input]] number 1", "no 'upper'"]),
        ("upper = 80", "upper = 10", ["plan.toml, [[input]] number 1", "lower below upper"]),
        ("lower = 0.01", "lower = 0", ["[[input]] number 2", "log scale"]),
        ("directions = 1", "directions = 'many'", ["d of Linear"]),
        ("directions = 1", "embedding = 'round'", ["embedding must be one of"]),
    ],
)
def test_a_plan_with_a_mistake(ridgeway: Ridgeway, old: str, new: str, words: list[str]) -> None:
    Path("plan.toml").write_text(TOML.replace(old, new), encoding="utf-8")
    said = ridgeway("init", "plan.toml")
    assert said.code == 1
    assert said.err.count("\n") == 1
    for word in words:
        assert word in said.err
    assert not Path("campaign.sqlite").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("--input", "temperature 20"),
        ("--input", "temperature low high"),
        ("--input", "temperature 20 80 °C Kelvin"),
        ("--fixed", "pressure"),
        (),
        ("--pool", "none.csv"),
    ],
)
def test_options_with_a_mistake(ridgeway: Ridgeway, words: tuple[str, ...]) -> None:
    said = ridgeway("init", *words)
    assert (said.code, said.err.count("\n")) == (1, 1)
    assert os.listdir() == []


@pytest.mark.parametrize(
    "words",
    [
        ("--inputs", "a 0 1"),
        ("--inputs", "a 0 1", "--inputs", "rate 0.01 10 1/s log"),
        ("--inputs", "solvent in water, wax"),
        ("a 0 1 mm",),
    ],
)
def test_an_input_in_the_place_of_a_file(ridgeway: Ridgeway, words: tuple[str, ...]) -> None:
    said = ridgeway("init", *words)
    assert said.code == 1
    assert "is an input: give it with --input, once for each input" in " ".join(said.err.split())
    assert not Path("campaign.sqlite").exists()


def test_a_sheet_of_inputs_that_is_not_there(ridgeway: Ridgeway) -> None:
    Path("a 0 1.csv").write_text("name,lower,upper\na,0,1\n")
    assert ridgeway("init", "--inputs", "a 0 1.csv").code == 0
    assert "there is no file inputs.csv" in ridgeway("init", "--inputs", "inputs.csv").err


def test_a_table_of_inputs(ridgeway: Ridgeway) -> None:
    Path("inputs.csv").write_text("name,lower,upper,unit,log,value\na,0,1,m,,\nb,1,100,,x,\nc,,,,,3\n")
    assert ridgeway("init", "--inputs", "inputs.csv").code == 0
    assert [item["name"] for item in json.loads(Campaign.open("campaign.sqlite").setup.to_json())["inputs"]] == list(
        "abc"
    )
    Path("inputs.csv").write_text("name,lower,uper\na,0,1\n")
    assert "did you mean 'upper'?" in ridgeway("init", "--inputs", "inputs.csv", "--name", "b").err


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("a,0,1,,ja,,", ["inputs.csv, row 2, column 'log': yes or no is expected, got 'ja'"]),
        ("a,0,1,,,,3", ["inputs.csv, row 2: an input with a value is fixed and has no 'lower'"]),
        ("a,,,,,x,3", ["an input with a value is fixed and has no 'integer'"]),
    ],
)
def test_a_table_of_inputs_with_a_mistake(ridgeway: Ridgeway, row: str, words: list[str]) -> None:
    Path("inputs.csv").write_text(f"name,lower,upper,unit,log,integer,value\n{row}\n")
    said = ridgeway("init", "--inputs", "inputs.csv")
    assert said.code == 1
    for word in words:
        assert word in said.err


def test_a_pool_with_words_in_it(ridgeway: Ridgeway) -> None:
    Path("pool.csv").write_text("id,solvent,share\nA1,water,0.1\nA2,ethanol,0.2\nA3,water,0.3\n")
    said = ridgeway("init", "--pool", "pool.csv")
    assert "pool.csv, row 2, column 'id': a number is expected, got 'A1'; text is for --label or --category" in said.err
    assert ridgeway("init", "--pool", "pool.csv", "--label", "id", "--category", "solvent").code == 0
    asked = json.loads(ridgeway("ask", "-n", "3", "--format", "json").out)
    assert sorted(row["id"] for row in asked) == ["A1", "A2", "A3"]
    kept = json.loads(ridgeway("export", "--format", "json").out)
    assert all(row[f"solvent={row['solvent']}"] == 1.0 for row in kept)


@pytest.mark.parametrize("option", ["--label", "--category"])
def test_columns_of_a_pool_without_a_pool_are_refused(ridgeway: Ridgeway, option: str) -> None:
    said = ridgeway("init", "--input", "a 0 1", option, "solvent")
    assert (said.code, said.out) == (1, "")
    assert f"{option} names a column of a pool, and there is none: got 'solvent'" in said.err
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("name = 5\n", ["plan.toml: 'name' must be a word in quotes, got 5"]),
        ("name = 1979-05-27\n", ["plan.toml: 'name' must be a word"]),
        ("output = {name = 3}\n", ["plan.toml, [output]: 'name' must be a word in quotes, got 3"]),
        ("output = {name = 'y', unit = ['m']}\n", ["plan.toml, [output]: 'unit' must be a word"]),
        ("pool = {file = 7}\n", ["plan.toml, [pool]: 'file' must be a word"]),
        ("pool = {file = 'p.csv', labels = 'id'}\n", ["[pool]: 'labels' must be a list of words", "got 'id'"]),
        ("pool = {file = 'p.csv', categories = [1]}\n", ["[pool]: 'categories' must be a list of words"]),
        ("input = [{name = 'a', lower = 1, upper = 2, log = 'no'}]\n", ["log of input 'a' must be true or false"]),
        ("input = [{name = 'a', lower = 1, upper = 2, integer = 07:32:00}]\n", ["integer of input 'a' must be true"]),
        ("x = " + "[" * 9000 + "]" * 9000, ["plan.toml is not valid TOML"]),
    ],
)
def test_odd_toml_is_answered_with_a_sentence(ridgeway: Ridgeway, content: str, words: list[str]) -> None:
    Path("p.csv").write_text("id,a\nx,1\ny,2\n")
    Path("plan.toml").write_text(content)
    said = ridgeway("init", "plan.toml")
    assert (said.code, said.err.count("\n")) == (1, 1)
    for word in words:
        assert word in said.err
    assert not Path("campaign.sqlite").exists()


def test_names_that_collide_are_refused(ridgeway: Ridgeway) -> None:
    said = ridgeway("init", "--input", "a 0 1 x", "--input", "'a [x]' 0 1")
    assert said.code == 1
    assert "inputs 'a' and 'a [x]' would both have the column 'a [x]'" in said.err
    assert os.listdir() == []


@pytest.mark.parametrize(("text", "effort"), [("quick", "quick"), ("2.5", 2.5)])
def test_effort_is_kept_with_the_campaign(ridgeway: Ridgeway, text: str, effort: object) -> None:
    assert ridgeway("init", "--input", "a 0 1", "--effort", text).code == 0
    assert Campaign.open("campaign.sqlite").setup.learner(None).effort == effort


def test_an_effort_that_is_none_is_refused(ridgeway: Ridgeway) -> None:
    said = ridgeway("init", "--input", "a 0 1", "--effort", "hard")
    assert said.code == 1
    assert "effort must be one of 'quick', 'normal', 'thorough' or seconds above 0, got 'hard'" in said.err
    assert not Path("campaign.sqlite").exists()


def test_steps_categories_and_constraints(tmp_path: Path) -> None:
    assert from_words("C 0 1 % step=0.05") == Input("C", 0.0, 1.0, "%", step=0.05)
    assert from_words("solvent in water, 'dry ice', oil") == Category("solvent", ("water", "dry ice", "oil"))
    with pytest.raises(CampaignError, match="two different levels"):
        from_words("solvent in water")
    path = tmp_path / "plan.toml"
    path.write_text(
        'constraints = ["A + B <= 1"]\n'
        '[[input]]\nname = "A"\nlower = 0\nupper = 1\nstep = 0.1\n'
        '[[input]]\nname = "B"\nlower = 0\nupper = 1\n'
        '[[input]]\nname = "s"\nlevels = ["p", "q"]\n'
    )
    plan = from_toml(path)
    assert plan.constraints == ("A + B <= 1",)
    assert plan.inputs == (Input("A", 0, 1, step=0.1), Input("B", 0, 1), Category("s", ("p", "q")))
    made = plan.create(str(tmp_path / "c.sqlite"))
    assert [str(c) for c in made.setup.inputs.constraints] == ["A + B <= 1"]
    sheet = tmp_path / "inputs.csv"
    sheet.write_text('name,lower,upper,step,levels\nA,0,1,0.5,\ns,,,,"p, q"\n')
    assert from_table(sheet) == [Input("A", 0, 1, step=0.5), Category("s", ("p", "q"))]
    sheet.write_text('name,lower,levels\ns,0,"p, q"\n')
    with pytest.raises(CampaignError, match="is a category and has no 'lower'"):
        from_table(sheet)


def test_several_outputs_in_a_plan_and_in_options(ridgeway: Ridgeway) -> None:
    outputs = '[[output]]\nname = "yield"\nunit = "%"\n[[output]]\nname = "cost"\nweight = 2\n'
    Path("two.toml").write_text(f'choose = "turns"\n[[input]]\nname = "a"\nlower = 0\nupper = 1\n{outputs}')
    assert ridgeway("init", "two.toml").code == 0
    planned = Campaign.open("campaign.sqlite").setup.outputs
    assert (planned.labels, planned.weights, planned.choose) == (("yield [%]", "cost"), (1.0, 2.0), "turns")
    words = ("--output", "yield [%]", "--output", "cost [EUR]", "--goal", "minimize cost")
    assert ridgeway("init", "--input", "a 0 1", *words, "-c", "goal.sqlite").code == 0
    found = Campaign.open("goal.sqlite").setup
    assert (found.goal, found.target) == ("minimize", "minimize cost [EUR], also yield [%]")
    assert found.learner(None, found.outputs.one("cost")).goal == "minimize"
    assert found.learner(None, found.outputs.one("yield")).goal == "learn"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--output", "y", "--output", "y"), "got 'y' twice"),
        (("--output", "y [EUR"), "must read 'name' or 'name [unit]'"),
        (("--output", "y", "--output-name", "z"), "give --output once for each output"),
        (("--output", "y", "--output", "z", "--weight", "w=1"), "there is no output 'w'"),
        (("--output", "y", "--output", "z", "--weight", "y=0", "--weight", "z=0"), "must not all be 0"),
        (("--output", "y", "--output", "z", "--goal", "minimize"), "goal must name one of the outputs y, z"),
        (("--output", "y", "--output", "z", "--goal", "minimize w"), "there is no output 'w'"),
        (("--output", "y", "--output", "z", "--choose", "both"), "choose must be one of sum, turns"),
    ],
)
def test_outputs_that_are_refused(ridgeway: Ridgeway, words: tuple[str, ...], says: str) -> None:
    said = ridgeway("init", "--input", "a 0 1", *words)
    assert said.code == 1
    assert says in said.err
    assert not Path("campaign.sqlite").exists()


def files_of_points() -> None:
    rng = np.random.default_rng(0)
    Path("points").mkdir()
    for i in range(3):
        frame = pd.DataFrame(rng.uniform(0, 1, (40, 2)), columns=["share", "load"])
        frame.assign(id=[f"M{i}-{j}" for j in range(40)]).to_parquet(f"points/{i}.parquet", index=False)


@pytest.mark.slow
def test_a_pool_of_files_stays_in_its_files(ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch) -> None:
    files_of_points()
    assert ridgeway("init", "--pool", "points/*.parquet", "--label", "id", "--directions", "1").code == 0
    assert Path("campaign.sqlite").stat().st_size < 200_000
    assert ridgeway("ask", "-n", "4", "-o", "next.csv").code == 0
    asked = pd.read_csv("next.csv")
    for _, row in asked.iterrows():  # the label is that of the point
        part, j = row["id"][1:].split("-")
        point = pd.read_parquet(f"points/{part}.parquet").loc[int(j), ["share", "load"]]
        assert point.tolist() == row[["share", "load"]].tolist()
    asked.assign(value=asked["share"]).to_csv("next.csv", index=False)
    assert ridgeway("tell", "next.csv").code == 0
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")  # the files are found from any folder
    assert ridgeway("ask", "-c", "../campaign.sqlite", "-n", "3").code == 0
    assert ridgeway("status", "-c", "../campaign.sqlite").code == 0
    Path("../points/1.parquet").unlink()
    said = ridgeway("ask", "-c", "../campaign.sqlite")
    assert said.code != 0
    assert "the pool of this campaign cannot be opened: points must be files that exist" in said.err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["points/*.parquet"], "points must hold numbers, but column 'id' of points/0.parquet holds"),
        (
            ["points/*.parquet", "--label", "name"],
            "points/*.parquet has no column 'name'; its columns are share, load, id",
        ),
        (["points", "--category", "id"], "--category needs a pool that is read into memory, got 'id'"),
        (["none/*.parquet"], "points must be Parquet files, got 'none/*.parquet', where there are none"),
    ],
)
def test_a_pool_of_files_that_cannot_be(ridgeway: Ridgeway, options: list[str], expected: str) -> None:
    files_of_points()
    said = ridgeway("init", "--pool", *options)
    assert said.code != 0
    assert expected in said.err
