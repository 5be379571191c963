"""What the commands share: finding the campaign, naming the next step."""

from __future__ import annotations

from pathlib import Path

import pytest

from ridgeway import Campaign, Input
from ridgeway.cli import common
from tests.cli.commands import INIT, Ridgeway


def test_no_campaign_and_no_server(ridgeway: Ridgeway) -> None:
    said = ridgeway("status")
    assert (said.code, "there is no campaign at campaign.sqlite" in said.err) == (1, True)
    pytest.importorskip("psycopg")
    said = ridgeway("status", "-c", "postgresql://anna:secret@127.0.0.1:9/lab")
    assert (said.code, "no server answers there" in said.err, "secret" in said.err) == (1, True, False)


def test_a_table_is_broken_into_parts_that_fit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    columns = ["trial", *(f"a_rather_long_input_{j} [mmol/l]" for j in range(20)), "value"]
    rows = [[1, *(j / 7 for j in range(20)), None]]
    common.show(columns, rows, common.Format.table, parts=common.PARTS)
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert max(map(len, lines)) <= 60
    assert "long_input_0" in said.out  # broken behind an underscore
    assert "value" in lines[2] + lines[3]  # in the first part
    numbers = [f"{j / 7:.6g}" for j in range(20)]
    shown = [number for number in numbers if number in said.out.split()]
    assert len(shown) >= 15
    hidden = 20 - len(shown)
    assert f"{hidden} more column" in said.err
    assert "a_rather_long_input_19 [mmol/l]" in " ".join(said.err.split())


def test_a_table_that_fits_stays_whole(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    common.show(["row", "width [mm]", "nats"], [[2, 0.5, 0.25]], common.Format.table, parts=common.PARTS)
    said = capsys.readouterr()
    assert "row   width [mm]   nats" in said.out
    assert said.err == ""


def test_the_next_step_is_for_the_same_campaign(ridgeway: Ridgeway) -> None:
    assert "ridgeway ask -n 4 -o next.csv -c 'my oven.sqlite'\n" in ridgeway(*INIT, "-c", "my oven.sqlite").out
    said = ridgeway("ask", "-o", "next.csv", "-c", "my oven.sqlite")
    assert said.err.endswith("Fill in 'strength', then: ridgeway tell next.csv -c 'my oven.sqlite'\n")


def test_a_parquet_file_that_is_none(ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ridgeway(*INIT).code == 0
    Path("x.parquet").write_text("nonsense")
    assert "x.parquet cannot be read as a Parquet file" in ridgeway("tell", "x.parquet").err
    monkeypatch.setattr("ridgeway.campaign.sheets.find_spec", lambda name: None)
    assert ".parquet files need pandas and pyarrow: pip install" in ridgeway("tell", "x.parquet").err


@pytest.mark.slow
def test_control_characters_in_names_and_notes_are_shown_not_obeyed(ridgeway: Ridgeway) -> None:
    evil = "\x1b]0;owned\x07\x9b31m\u202e"
    campaign = Campaign.create("campaign.sqlite", f"c{evil}", [Input(f"x{evil}", 0, 1)], output=f"y{evil}")
    campaign.tell(campaign.ask(), 1.0, notes={f"n{evil}": evil})
    campaign.fail(campaign.ask(), evil)
    campaign.ask()
    for words in (
        ("export", "-f", "table"), ("ask",), ("status",), ("status", "-f", "json"), ("export", "-f", "json"),
        ("fail", "3", "--reason", evil), ("tell", f"{evil}.csv"), ("correct", "1", "--value", "2", "--reason", evil),
    ):  # fmt: skip
        said = ridgeway(*words)
        shown = (said.out + said.err).replace("\n", "").replace("\t", "")
        assert shown.isprintable(), words
        assert "1b]0;owned" in shown or words[0] in ("export", "ask"), words  # a narrow table hides columns
    assert "\\x1b]0;owned\\x07\\x9b31m\\u202e" in ridgeway("status").out
    assert evil in ridgeway("export", "-f", "csv").out  # for another program
