"""The command line as a user meets it: what is printed, where, and with which exit code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest

from ridgeway import Campaign
from ridgeway.cli import _COMMANDS, main


class Said(NamedTuple):
    code: int
    out: str
    err: str


Ridgeway = Callable[..., Said]
INIT = (
    "init",
    "--input",
    "temperature 20 80 °C",
    "--input",
    "rate 0.01 10 1/s log",
    "-d",
    "1",
    "--output-name",
    "strength",
)


@pytest.fixture
def ridgeway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ridgeway:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("RIDGEWAY_CAMPAIGN", raising=False)

    def call(*words: str) -> Said:
        code = 0
        try:
            main(list(words))
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return call


def _fill(path: str = "next.csv", values: str = "0.5") -> None:
    frame = pd.read_csv(path)
    frame["strength"] = [float(v) if v else None for v in (values.split(",") + [""] * len(frame))[: len(frame)]]
    frame.to_csv(path, index=False)


def test_a_campaign_from_beginning_to_end(ridgeway: Ridgeway) -> None:
    assert ridgeway(*INIT).out.startswith(
        "Campaign 'campaign' with 2 inputs is in campaign.sqlite.\nNext: ridgeway ask"
    )
    asked = ridgeway("ask", "-n", "6", "-o", "next.csv")
    assert (asked.code, asked.out) == (0, "")
    assert "Trials 1, 2, 3, 4, 5, 6 written to next.csv" in asked.err
    _fill(values="0.1,0.5,0.3,0.8,,0.2")
    assert ridgeway("tell", "next.csv").out == "5 told, 1 still pending.\n"
    assert ridgeway("fail", "5", "--reason", "it broke").out == "Trial 5 failed: it broke.\n"
    assert ridgeway("correct", "1", "--value", "0.15", "--reason", "typo").out == "Trial 1 is now 0.15 (typo).\n"
    pd.DataFrame({"temperature": [30.0], "rate": [1.0], "strength": [0.4]}).to_csv("old.csv", index=False)
    assert ridgeway("attach", "old.csv").out == "1 attached, as trials 7 to 7.\n"
    predicted = ridgeway("predict", "old.csv", "--format", "csv")
    assert predicted.out.splitlines()[0] == "temperature [°C],rate [1/s],strength,std"
    scored = json.loads(ridgeway("score", "old.csv", "--top", "1", "--format", "json").out)
    assert set(scored[0]) == {"row", "temperature [°C]", "rate [1/s]", "nats"}
    status = ridgeway("status", "--advice")
    assert "5 told, 1 attached, 1 failed" in status.out
    assert "The best next experiment would teach" in status.out
    assert max(map(len, status.out.splitlines())) <= 60
    assert ridgeway("export", "-o", "all.xlsx").code == 0
    assert pd.read_excel("all.xlsx")["state"].tolist() == ["told"] * 4 + ["failed", "told", "attached"]
    assert len(ridgeway("export").out.splitlines()) == 8


def test_nothing_but_data_on_the_standard_output(ridgeway: Ridgeway) -> None:
    ridgeway(*INIT)
    record = json.loads(ridgeway("ask", "-n", "2", "--format", "json").out)
    assert [row["trial"] for row in record] == [1, 2]
    assert ridgeway("ask", "--format", "csv").out.startswith("trial,temperature [°C],rate [1/s],strength\n3,")
    status = json.loads(ridgeway("status", "--format", "json").out)
    assert (status["asked"], status["pending"], status["belief"]) == (3, [1, 2, 3], None)
    table = ridgeway("ask").out
    assert max(map(len, table.splitlines())) <= 60
    assert json.loads(ridgeway("reclaim", "--older-than", "0s", "--format", "json").out)[0]["trial"] == 1
    assert json.loads(ridgeway("abandon", "1", "--format", "json").out) == {"abandoned": 1, "reason": "abandoned"}


@pytest.mark.parametrize("name", [command.__name__ for command, _ in _COMMANDS])
def test_every_command_shows_an_example(ridgeway: Ridgeway, name: str) -> None:
    said = ridgeway(name, "--help")
    assert said.code == 0
    assert f"\n    ridgeway {name}" in said.out
    assert "Example" in said.out
    assert max(map(len, said.out.splitlines())) <= 60


def test_every_command_is_in_the_documentation() -> None:
    text = (Path(__file__).parents[1] / "docs" / "commands.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE) == [command.__name__ for command, _ in _COMMANDS]


def test_a_command_that_cannot_be_understood(ridgeway: Ridgeway) -> None:
    assert ridgeway("aks").code == 2
    assert ridgeway("ask", "--many", "3").code == 2
    assert ridgeway("ask", "-n", "0").code == 2
    assert ridgeway("tell").code == 2


RESULTS = "trial,strength\n"


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
        (RESULTS + "2,0.9\n", ["results.csv, row 2", "trial 2 was told 0.25", "now it is 0.9", "`correct`"]),
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
        "2 told, 1 failed, 1 still pending.\nMade elsewhere than asked, and taken as it was made: trial 4.\n"
    )
    first, second, third, fourth = Campaign.open("campaign.sqlite").all_trials()
    assert (first.value, first.notes) == (0.5, {"operator": "Jürgen"})
    assert (second.state, third.state) == ("failed", "asked")
    assert (fourth.value, fourth.x[0]) == (0.75, 25.5)
    assert ridgeway("tell", "back.csv").out == "0 told, 3 known already, 1 still pending.\n"


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
    assert campaign.setup.output_label == "strength [MPa]"
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


def test_a_table_of_inputs(ridgeway: Ridgeway) -> None:
    Path("inputs.csv").write_text("name,lower,upper,unit,log,value\na,0,1,m,,\nb,1,100,,x,\nc,,,,,3\n")
    assert ridgeway("init", "--inputs", "inputs.csv").code == 0
    assert [item["name"] for item in json.loads(Campaign.open("campaign.sqlite").setup.to_json())["inputs"]] == list(
        "abc"
    )
    Path("inputs.csv").write_text("name,lower,uper\na,0,1\n")
    assert "did you mean 'upper'?" in ridgeway("init", "--inputs", "inputs.csv", "--name", "b").err


def test_a_pool_with_words_in_it(ridgeway: Ridgeway) -> None:
    Path("pool.csv").write_text("id,solvent,share\nA1,water,0.1\nA2,ethanol,0.2\nA3,water,0.3\n")
    said = ridgeway("init", "--pool", "pool.csv")
    assert "pool.csv, row 2, column 'id': a number is expected, got 'A1'; text is for --label or --category" in said.err
    assert ridgeway("init", "--pool", "pool.csv", "--label", "id", "--category", "solvent").code == 0
    asked = json.loads(ridgeway("ask", "-n", "3", "--format", "json").out)
    assert sorted(row["id"] for row in asked) == ["A1", "A2", "A3"]
    kept = json.loads(ridgeway("export", "--format", "json").out)
    assert all(row[f"solvent={row['solvent']}"] == 1.0 for row in kept)


def test_no_campaign_and_no_server(ridgeway: Ridgeway) -> None:
    said = ridgeway("status")
    assert (said.code, "there is no campaign at campaign.sqlite" in said.err) == (1, True)
    pytest.importorskip("psycopg")
    said = ridgeway("status", "-c", "postgresql://anna:secret@127.0.0.1:9/lab")
    assert (said.code, "no server answers there" in said.err, "secret" in said.err) == (1, True, False)


SIMULATOR = """
import json, sys
inputs = json.load(open(sys.argv[1]))
if inputs["x"] > 0.9:
    sys.exit("out of range")
json.dump({"value": inputs["x"] ** 2, "iterations": 12}, open(sys.argv[2], "w"))
"""


def test_a_program_is_driven(ridgeway: Ridgeway) -> None:
    Path("simulate.py").write_text(SIMULATOR)
    ridgeway("init", "--input", "x 0 1", "--input", "y 0 1", "--acquisition", "random")
    command = f"{sys.executable} simulate.py {{input}} {{output}}"
    said = ridgeway(
        "run", "--command", command, "--workers", "2", "--budget", "8", "--time-limit", "1m", "--format", "json"
    )
    assert said.code == 0
    done = json.loads(said.out)
    assert done["told"] + done["failed"] == 8
    for trial in Campaign.open("campaign.sqlite").all_trials():
        assert trial.state == ("failed" if trial.inputs["x"] > 0.9 else "told")
        if trial.state == "told":
            assert (trial.value, trial.notes) == (trial.inputs["x"] ** 2, {"iterations": "12"})
    assert json.loads(ridgeway("run", "--command", command, "-b", "8", "-f", "json").out)["told"] == 0


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import time; time.sleep(30)", "took longer than the time limit of 0.5 s"),
        ("import sys; sys.exit('no licence')", "exit code 1: no licence"),
        ("print('hello')", "what it printed is no number and no JSON: 'hello'"),
        ("print('NaN')", "what it printed has no finite number 'value'"),
        ("print('{\"result\": 3}')", "what it printed has no finite number 'value'"),
    ],
)
def test_a_program_that_fails_is_recorded(ridgeway: Ridgeway, program: str, reason: str) -> None:
    Path("p.py").write_text(program)
    ridgeway("init", "--input", "x 0 1")
    said = ridgeway("run", "--command", f"{sys.executable} p.py {{input}}", "-b", "1", "--time-limit", "0.5s")
    assert said.code == 0
    assert Campaign.open("campaign.sqlite").all_trials()[0].reason.startswith(reason)  # type: ignore[union-attr]


def test_retries_and_a_program_that_always_fails(ridgeway: Ridgeway) -> None:
    Path("p.py").write_text(
        "import os, sys\nif not os.path.exists('tried'):\n    open('tried', 'w'); sys.exit(1)\nprint(0.5)\n"
    )
    ridgeway("init", "--input", "x 0 1")
    ridgeway("run", "--command", f"{sys.executable} p.py {{input}}", "-b", "1", "--retries", "1")
    assert Campaign.open("campaign.sqlite").all_trials()[0].value == 0.5
    said = ridgeway("run", "--command", "false {input}", "-b", "20")
    assert (said.code, "the last 5 runs failed" in said.err) == (1, True)
    assert not Campaign.open("campaign.sqlite").pending
    said = ridgeway("run", "--command", "no-such-program {input}", "-b", "20")
    assert (said.code, "--command cannot be run: no-such-program" in said.err) == (1, True)
    assert not Campaign.open("campaign.sqlite").pending
    assert "must name its input file" in ridgeway("run", "--command", "true", "-b", "2").err
    assert "must know when to stop" in ridgeway("run", "--command", "true {input}").err


def test_the_program_itself_loads_little_and_survives_a_full_disk(tmp_path: Path) -> None:
    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "ridgeway.cli", *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    assert call(*INIT).returncode == 0
    said = call("status")
    assert said.returncode == 0
    assert "nothing fitted yet" in said.stdout
    heavy = "import sys, ridgeway.cli; print(any(m in sys.modules for m in ('scipy', 'sklearn', 'pandas')))"
    heaviest = "import sys, ridgeway.campaign.chain; print('scipy.stats' in sys.modules)"
    for code in (heavy, heaviest):
        loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert loaded.stdout == "False\n"
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192));"
    full = subprocess.run(
        [sys.executable, "-c", f"{limit} from ridgeway.cli import main; main(['ask', '-n', '99'])"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert full.returncode == 1
    assert "nothing was" in full.stderr
    assert json.loads(call("status", "-f", "json").stdout)["asked"] == 0


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


def test_the_next_step_is_for_the_same_campaign(ridgeway: Ridgeway) -> None:
    assert "ridgeway ask -n 4 -o next.csv -c 'my oven.sqlite'\n" in ridgeway(*INIT, "-c", "my oven.sqlite").out
    said = ridgeway("ask", "-o", "next.csv", "-c", "my oven.sqlite")
    assert said.err.endswith("Fill in 'strength', then: ridgeway tell next.csv -c 'my oven.sqlite'\n")


def test_a_sheet_of_a_pool_says_a_category_once(ridgeway: Ridgeway) -> None:
    Path("pool.csv").write_text("sample,solvent,ph\nS1,water,7\nS2,ethanol,6\nS3,water,8\n")
    assert ridgeway("init", "--pool", "pool.csv", "--label", "sample", "--category", "solvent").code == 0
    assert ridgeway("ask", "-n", "2", "-o", "next.csv").code == 0
    frame = pd.read_csv("next.csv")
    assert list(frame.columns) == ["trial", "sample", "solvent", "ph", "value"]
    frame["value"] = [1.0, 2.0]
    frame.to_csv("next.csv", index=False)
    assert ridgeway("tell", "next.csv").out == "2 told.\n"


def test_advice_and_status_speak_of_the_same_fit(ridgeway: Ridgeway) -> None:
    assert ridgeway(*INIT).code == 0
    rows = [[20 + 10 * i, 0.02 * 2**i, float(i % 3)] for i in range(7)]
    pd.DataFrame(rows, columns=["temperature", "rate", "strength"]).to_csv("old.csv", index=False)
    assert ridgeway("attach", "old.csv").code == 0
    said = ridgeway("status", "--advice").out
    assert "After 7 outcomes" in said
    assert said.count("The subspace is") == 1
    assert not any(line.startswith("%") for line in said.splitlines())


def test_a_parquet_file_that_is_none(ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ridgeway(*INIT).code == 0
    Path("x.parquet").write_text("nonsense")
    assert "x.parquet cannot be read as a Parquet file" in ridgeway("tell", "x.parquet").err
    monkeypatch.setattr("ridgeway.sheets.find_spec", lambda name: None)
    assert ".parquet files need pandas and pyarrow: pip install" in ridgeway("tell", "x.parquet").err


def test_a_header_that_is_nearly_right(ridgeway: Ridgeway) -> None:
    assert ridgeway(*INIT).code == 0
    Path("h.csv").write_text("trail,strength\n1,5\n")
    assert "h.csv has no column 'trial'" in (said := ridgeway("tell", "h.csv").err)
    assert "is it 'trail'? Rename it" in said
