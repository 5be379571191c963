"""``run``: a program that makes the experiments."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ridgeway import Campaign
from tests.cli.commands import Ridgeway

SIMULATOR = """
import json, sys
inputs = json.load(open(sys.argv[1]))
if inputs["x"] > 0.9:
    sys.exit("out of range")
json.dump({"value": inputs["x"] ** 2, "iterations": 12}, open(sys.argv[2], "w"))
"""


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
