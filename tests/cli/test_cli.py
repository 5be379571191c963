"""The command line as a user meets it: what is printed, where, and with which exit code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from ridgeway.cli import _COMMANDS, main
from tests.cli.commands import INIT, Ridgeway
from tests.helpers import ROOT


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
    assert ridgeway("tell", "next.csv").out == "5 observed, 1 still pending.\n"
    assert ridgeway("fail", "5", "--reason", "it broke").out == "Trial 5 failed: it broke.\n"
    assert ridgeway("correct", "1", "--value", "0.15", "--reason", "typo").out == "Trial 1 is now 0.15 (typo).\n"
    pd.DataFrame({"temperature": [30.0], "rate": [1.0], "strength": [0.4]}).to_csv("old.csv", index=False)
    assert ridgeway("attach", "old.csv").out == "1 attached, as trials 7 to 7.\n"
    predicted = ridgeway("predict", "old.csv", "--format", "csv")
    assert predicted.out.splitlines()[0] == "temperature [°C],rate [1/s],strength,std"
    scored = json.loads(ridgeway("score", "old.csv", "--top", "1", "--format", "json").out)
    assert set(scored[0]) == {"row", "temperature [°C]", "rate [1/s]", "nats"}
    status = ridgeway("status", "--advice")
    assert "5 observed, 1 attached, 1 failed" in status.out
    assert "The best next experiment would teach" in status.out
    assert max(map(len, status.out.splitlines())) <= 60
    assert ridgeway("export", "-o", "all.xlsx").code == 0
    assert pd.read_excel("all.xlsx")["state"].tolist() == ["told"] * 4 + ["failed", "told", "attached"]
    done = pd.read_excel("all.xlsx", sheet_name="log")
    assert done.columns.tolist() == ["at", "by", "what", "why"]
    assert done["what"].tolist()[0] == "campaign made"
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
    text = (ROOT / "docs" / "commands.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE) == [command.__name__ for command, _ in _COMMANDS]


def test_a_command_that_cannot_be_understood(ridgeway: Ridgeway) -> None:
    assert ridgeway("aks").code == 2
    assert ridgeway("ask", "--many", "3").code == 2
    assert ridgeway("ask", "-n", "0").code == 2
    assert ridgeway("tell").code == 2


@pytest.mark.slow
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
    heaviest = "import sys, ridgeway.campaign.replay; print('scipy.stats' in sys.modules)"
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


def test_a_long_sentence_is_broken_between_words_in_a_terminal(
    ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    one = ridgeway("tell", "next.xls").err
    assert one.count("\n") == 1  # for other programs it is one line
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with pytest.raises(SystemExit):
        main(["tell", "next.xls"])
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) < 40
    assert " ".join(lines) == one.strip()
