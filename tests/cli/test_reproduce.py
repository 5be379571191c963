"""``ridgeway reproduce``: the paper's experiments from the command line."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import ridgeway as rw
from ridgeway.cli import main, reproduce
from ridgeway.experiments.cells import Cell


@pytest.mark.slow
def test_the_command_from_beginning_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n<!-- table2-quick -->\n<!-- /table2-quick -->\n")
    words = ["reproduce", "table2", "--quick", "--rows", "synthetic-10-2", "--methods", "rand,lasso"]
    words += ["--inference", "map", "--experiments", "1"]
    words += ["--jobs", "1", "-o", str(tmp_path / "out"), "--write-docs", str(page)]
    with pytest.raises(SystemExit) as end:
        main(words)
    assert not end.value.code
    said = capsys.readouterr()
    assert "A quick version: synthetic-10-2 only, 1 experiment instead of 5, 60 observations instead of 100" in said.out
    assert "| synthetic | 10 | 2 | paper | 0.412 |" in said.out
    assert "2 of 2 · table2-quick/synthetic-10-2/" in said.err
    assert (tmp_path / "out" / "table2-quick.md").read_text() == said.out
    assert said.out.strip() in page.read_text()
    with (tmp_path / "out" / "table2-quick.csv").open() as stream:
        assert {row["method"] for row in csv.DictReader(stream)} == {"rand", "lasso"}
    with pytest.raises(SystemExit):
        main(words)
    again = capsys.readouterr()
    assert again.out == said.out
    assert "2 of 2 were finished before" in again.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rows", "ct"], "slice_localization_data.csv"),
        (["--rows", "moon"], "row must be"),
        (["--methods", "guess"], "method must be"),
        (["--inference", "nuts"], "inference must be"),
        (["--prior", "literal", "--rows", "branin-10"], "nothing to compute"),
    ],
)
def test_the_command_says_what_is_wrong(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RIDGEWAY_DATA", raising=False)
    with pytest.raises(SystemExit) as end:
        main(["reproduce", "table2", "-o", str(tmp_path), *words])
    assert end.value.code == 1
    said = capsys.readouterr().err
    assert message in said
    assert len(said.strip().splitlines()) == 1


def _stop(x: int) -> dict[str, int]:
    raise KeyboardInterrupt


def _fail(x: int) -> dict[str, int]:
    raise ZeroDivisionError("no number")


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [(_stop, "stopped after 1 of 2 cells"), (_fail, r"1 of 2 cells failed: b \(ZeroDivisionError: no number\)")],
)
def test_what_is_finished_is_shown_and_what_is_missing_is_said(trouble: Any, sentence: str, tmp_path: Path) -> None:
    results, failure = reproduce.compute([Cell("a", dict, {"x": 1}), Cell("b", trouble, {"x": 2})], tmp_path, jobs=1)
    assert results == {"a": {"x": 1}}
    assert re.match(sentence, failure)
    with pytest.raises(rw.CampaignError, match="not all"):
        reproduce.finish("table", [], None, "table", failure)
    with pytest.raises(rw.CampaignError, match=r"0 of 1 cells|1 of 1 cells"):
        reproduce.compute([Cell("b", trouble, {"x": 2})], tmp_path, jobs=1)


COMMANDS = ("table1", "table2", "comparison", "figure1", "figure2", "figure3", "figure4", "all")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["reproduce", name, "--help"])
    assert end.value.code == 0
    assert f"\n    ridgeway reproduce {name}" in capsys.readouterr().out


def test_all_is_everything_and_names_what_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    called = []

    def part(name: str, **options: Any) -> None:
        called.append(name)
        if name == "table1":
            raise rw.CampaignError("no sampler")

    for name in ("table1", "table2", "comparison"):
        monkeypatch.setattr(reproduce, name, partial(part, name))
    monkeypatch.setattr(reproduce, "paint", lambda number, folder: called.append(f"figure{number}"))
    with pytest.raises(SystemExit) as end:
        main(["reproduce", "all", "--quick", "-o", str(tmp_path)])
    assert end.value.code == 1
    assert sorted([*called, "all"]) == sorted(COMMANDS)
    said = capsys.readouterr().err
    assert "table1: no sampler" in said
    assert said.strip().splitlines()[-1] == "ridgeway: not complete, for the reasons above: table1"


@pytest.mark.slow
def test_looking_at_a_campaign_does_not_wait_for_the_experiments() -> None:
    code = (
        "import sys, ridgeway.cli; print([m for m in sys.modules if m.startswith(('ridgeway.exp', 'joblib', 'scipy'))])"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "[]"
