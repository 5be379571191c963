"""``run``: a program that makes the experiments."""

from __future__ import annotations

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ridgeway import Campaign
from ridgeway.errors import UnreachableError
from tests.cli.commands import Ridgeway

RUN = sys.modules["ridgeway.cli.run"]  # the package has the command under this name
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


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_programs_and_gives_trials_back(ridgeway: Ridgeway, number: signal.Signals) -> None:
    ridgeway("init", "--input", "x 0 1", "--acquisition", "random")
    # Neither the program nor its child obeys a polite request.
    Path("p.sh").write_text("trap '' TERM INT\necho $$ >> started\nsleep 600 &\nsleep 600\n")
    running = _started("--command", "sh p.sh {input}", "-w", "3", "-b", "50")
    groups = _lines("started", 3)
    began = time.monotonic()
    running.send_signal(number)
    said = running.communicate(timeout=60)[1]
    assert time.monotonic() - began < 20.0  # 5 on a machine that is not busy: benchmarks/durability.py
    assert running.returncode == 128 + number
    assert said == f"Stopped by {number.name}. The same command goes on.\n"
    assert not [group for group in groups if _runs(group)]
    states = [(t.state, t.reason) for t in Campaign.open("campaign.sqlite").all_trials()]
    assert states == [("abandoned", "the run was stopped")] * 3


@pytest.mark.slow
def test_an_interrupt_keeps_what_is_finished_and_waits_for_no_lock(ridgeway: Ridgeway) -> None:
    ridgeway("init", "--input", "x 0 1", "--acquisition", "random")
    Path("p.sh").write_text("echo $$ >> started\nsleep 600\n")
    running = _started("--command", "sh p.sh {input}", "-w", "2", "-b", "50")
    groups = _lines("started", 2)
    other = sqlite3.connect("campaign.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    running.send_signal(signal.SIGTERM)
    said = running.communicate(timeout=60)[1]
    other.execute("ROLLBACK")
    assert time.monotonic() - began < 20.0
    assert "The database does not answer. Perhaps still pending: 1, 2." in said
    assert running.returncode == 1
    assert not [group for group in groups if _runs(group)]


@pytest.mark.slow
def test_an_error_ends_the_other_programs_and_is_shown(ridgeway: Ridgeway) -> None:
    ridgeway("init", "--input", "x 0 1", "--acquisition", "random")
    Path("p.sh").write_text(
        "if mkdir first; then echo $$ >> started; exec sleep 600; fi\necho no licence >&2\nexit 3\n"
    )
    began = time.monotonic()
    said = ridgeway("run", "--command", "sh p.sh {input}", "-w", "2", "-b", "50")
    assert time.monotonic() - began < 30.0
    assert said.code == 1
    assert said.err.endswith("ridgeway: the last 5 runs failed, the last one: exit code 3: no licence\n")
    assert not _runs(_lines("started", 1)[0])
    assert not Campaign.open("campaign.sqlite").pending


@pytest.mark.slow
def test_a_trial_that_somebody_took_over_is_not_given_back(ridgeway: Ridgeway) -> None:
    ridgeway("init", "--input", "x 0 1", "--acquisition", "random")
    Path("p.sh").write_text("echo $$ >> started\nsleep 600\n")
    running = _started("--command", "sh p.sh {input}", "-w", "2", "-b", "50")
    _lines("started", 2)
    campaign = Campaign.open("campaign.sqlite")
    campaign.reclaim(0.0)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert [t.state for t in campaign.all_trials()] == ["asked", "asked"]


@pytest.mark.slow
def test_the_time_limit_holds_for_children_that_keep_the_output_open(ridgeway: Ridgeway) -> None:
    ridgeway("init", "--input", "x 0 1", "--acquisition", "random")
    Path("quick.sh").write_text("sleep 600 &\necho $! >> started\necho 0.5\n")
    began = time.monotonic()
    ridgeway("run", "--command", "sh quick.sh {input}", "-b", "1")
    Path("slow.sh").write_text("sleep 600 &\necho $! >> started\nsleep 600\n")
    ridgeway("run", "--command", "sh slow.sh {input}", "-b", "2", "--time-limit", "0.3s")
    assert time.monotonic() - began < 30.0
    first, second = Campaign.open("campaign.sqlite").all_trials()
    assert (first.value, second.reason) == (0.5, "took longer than the time limit of 0.3 s")
    assert not [one for one in _lines("started", 2) if _runs(one)]


ANSWERS = [
    ("1" + "0" * 400, "what it printed has no finite number 'value'"),
    ("1" + "0" * 5000, "what it printed is no number and no JSON"),
    ("[" * 100_000, "what it printed is no number and no JSON"),
    ("[" * 400 + "]" * 400, "what it printed has no finite number 'value'"),
    ('{"value": 1, "sigma": -1}', "what it printed has no 'sigma' between 0 and 1e+100"),
    ('{"value": 1, "sigma": 1e200}', "what it printed has no 'sigma' between 0 and 1e+100"),
    ('{"value": 1, "sigma": NaN}', "what it printed has no 'sigma' between 0 and 1e+100"),
    ('{"value": 1, "sigma": true}', "what it printed has no 'sigma' between 0 and 1e+100"),
    ('{"value": 1, "note": "\\ud800"}', "what it printed has text that is not Unicode"),
    ('{"value": 1, "\\ud800": 2}', "what it printed has text that is not Unicode"),
    ('{"value": -Infinity}', "what it printed has no finite number 'value'"),
    ('{"value": 1, "note": "' + "x" * 1_000_000 + '"}', "what it printed has more than 1,000,000 bytes"),
    ("", "what it printed is no number and no JSON"),
]


@pytest.mark.slow
def test_an_answer_that_is_wrong_fails_its_trial_alone(ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch) -> None:
    ridgeway("init", "--input", "x 0 1", "--acquisition", "random")
    for i, (answer, _) in enumerate(ANSWERS):
        Path(f"answer{i + 1}").write_text(answer)
    monkeypatch.setattr(RUN, "_MOST_FAILURES", 100)
    said = ridgeway("run", "--command", "sh -c 'cat answer$RIDGEWAY_TRIAL' {input}", "-b", str(len(ANSWERS)))
    assert said.code == 0
    trials = Campaign.open("campaign.sqlite").all_trials()
    for trial, (_, reason) in zip(trials, ANSWERS, strict=True):
        assert (trial.state, (trial.reason or "")[: len(reason)]) == ("failed", reason)


@pytest.mark.slow
def test_a_database_that_is_away_is_waited_for(ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RUN, "_PAUSES", (0.1,))
    ridgeway("init", "--input", "x 0 1", "--acquisition", "random")
    # The program itself takes the database away; it comes back a little later.
    Path("p.sh").write_text("mv campaign.sqlite away\necho 0.25\n")
    returning = threading.Thread(target=_brought_back, args=(2,))
    returning.start()
    said = ridgeway("run", "--command", "sh p.sh {input}", "-b", "2")
    returning.join()
    assert said.code == 0
    assert "campaign.sqlite: it cannot be opened" in said.err
    assert "trying again in 0.1 s" in said.err
    assert [t.value for t in Campaign.open("campaign.sqlite").all_trials()] == [0.25, 0.25]
    # It never comes back: the outcome is shown in the form of a results file.
    monkeypatch.setattr(RUN, "_PATIENCE", 0.3)
    said = ridgeway("run", "--command", "sh p.sh {input}", "-b", "3")
    assert said.code == 1
    assert "trial,value,sigma,reason\n3,0.25,,\n" in said.err
    Path("away").rename("campaign.sqlite")
    Path("kept.csv").write_text(said.err[said.err.index("trial,value") :].split("ridgeway:")[0])
    assert ridgeway("tell", "kept.csv").out == "1 observed.\n"


@pytest.mark.slow
def test_an_ask_whose_answer_was_lost_is_not_asked_twice(ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RUN, "_PAUSES", (0.1,))
    ridgeway("init", "--input", "x 0 1", "--acquisition", "random")
    ask, lost = Campaign.ask, []

    def losing(self: Campaign, *args: Any, **options: Any) -> Any:
        trial = ask(self, *args, **options)
        if not lost:
            lost.append(trial.id)
            raise UnreachableError("the connection was cut")
        return trial

    monkeypatch.setattr(Campaign, "ask", losing)
    said = ridgeway("run", "--command", "sh -c 'echo 1' {input}", "-b", "3")
    assert said.code == 0
    assert [t.state for t in Campaign.open("campaign.sqlite").all_trials()] == ["told"] * 3


@pytest.mark.slow
def test_an_outcome_that_others_contradict_is_shown(ridgeway: Ridgeway) -> None:
    ridgeway("init", "--input", "x 0 1", "--acquisition", "random")
    command = f"{sys.executable} -m ridgeway.cli abandon $RIDGEWAY_TRIAL >&2; echo 0.5"
    said = ridgeway("run", "--command", f"sh -c '{command}' {{input}}", "-b", "1", "--time-limit", "60s")
    assert "Not recorded: 1, 0.5" in said.err
    assert "the last 5 runs failed, the last one: tell: trial 5 was abandoned" in said.err


def _brought_back(times: int) -> None:
    while times:
        if Path("away").exists():
            time.sleep(0.5)
            Path("away").rename("campaign.sqlite")
            times -= 1
        time.sleep(0.02)


def _started(*words: str) -> subprocess.Popen[str]:
    # A test that runs in the background may have been told to ignore interrupts.
    start = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from ridgeway.cli import main; main()"
    )
    program = [sys.executable, "-c", start, "run", *words]
    return subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _lines(name: str, many: int) -> list[int]:
    """The numbers that programs wrote into a file, once there are so many."""
    latest = time.monotonic() + 60.0
    while time.monotonic() < latest:
        if Path(name).exists() and len(found := Path(name).read_text().split()) >= many:
            return [int(word) for word in found]
        time.sleep(0.05)
    raise AssertionError(f"{name} has fewer than {many} lines")


def _runs(number: int) -> bool:
    """Whether a process, or one of its group, is there and is more than an entry that nobody collected."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = status.read_text().rpartition(")")[2].split()
            if number in (int(status.parent.name), int(fields[2])) and fields[0] not in "ZX":
                return True
    return False


SEVERAL = """
import json, sys
x = json.load(open(sys.argv[1]))["x"]
print(json.dumps({"yield": x, "sigma of yield": 0.1, "cost": None if x > 0.5 else 2 * x, "note": "warm"}))
"""


def test_a_program_gives_several_results(ridgeway: Ridgeway) -> None:
    Path("simulate.py").write_text(SEVERAL)
    ridgeway("init", "--input", "x 0 1", "--output", "yield", "--output", "cost", "--acquisition", "random")
    said = ridgeway("run", "--command", f"{sys.executable} simulate.py {{input}}", "--budget", "6")
    assert said.out == "6 observed, 0 failed: the budget is spent.\n"
    assert "yield 0." in said.err
    trials = Campaign.open("campaign.sqlite").all_trials()
    for trial in trials:
        x = trial.inputs["x"]
        assert trial.values == ({"yield": x} if x > 0.5 else {"yield": x, "cost": 2 * x})
        assert (trial.state, trial.awaited, trial.sigma, trial.notes) == ("told", (), 0.1, {"note": "warm"})
    assert 0 < sum("cost" in trial.values for trial in trials) < 6


def test_a_program_that_gives_none_of_the_results_fails(ridgeway: Ridgeway) -> None:
    ridgeway("init", "--input", "x 0 1", "--output", "yield", "--output", "cost", "--acquisition", "random")
    said = ridgeway("run", "--command", "sh -c 'echo 3' {input}", "--budget", "1")
    assert "has no finite number 'yield' or 'cost': '3'" in said.err
    assert Campaign.open("campaign.sqlite").all_trials()[0].state == "failed"
