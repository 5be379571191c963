"""Numbers of the command line, files and programs: ``1_5`` is a slip everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from ridgeway import Campaign, CampaignError
from tests.cli.commands import Ridgeway


@pytest.fixture
def begun(ridgeway: Ridgeway) -> Ridgeway:
    assert ridgeway("init", "--input", "a 0 20", "--input", "b 0 1").code == 0
    assert ridgeway("ask", "-n", "4").code == 0
    return ridgeway


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("ask", "-n", "1_0"),
        ("fail", "1_0"),
        ("correct", "1", "--value", "1_5", "--reason", "x"),
        ("correct", "1", "--value", "1", "--sigma", "1_5", "--reason", "x"),
        ("run", "--command", "x {input}", "--budget", "1_0"),
        ("run", "--command", "x {input}", "--budget", "5", "--workers", "1_0"),
        ("score", "x.csv", "--top", "1_0"),
        ("report", "--next", "1_0"),
        ("init", "--seed", "1_0"),
        ("init", "--input", "c 0 1_0"),
        ("init", "--fixed", "c 1_0"),
    ],
)
def test_options_and_arguments(begun: Ridgeway, words: tuple[str, ...]) -> None:
    said = begun(*words)
    assert said.code in (1, 2)
    assert "1_" in said.err
    assert "number" in said.err


def test_a_number_that_is_too_small_is_refused(begun: Ridgeway) -> None:
    said = begun("ask", "-n", "0")
    assert said.code == 2
    assert "0 is not in the range x>=1" in said.err


def test_cells_of_a_results_file(begun: Ridgeway) -> None:
    Path("r.csv").write_text("trial,value\n1,1_5\n")
    said = begun("tell", "r.csv")
    assert said.code == 1
    assert "row 2, column 'value': a number is expected, got '1_5'" in said.err


def test_values_from_python(begun: Ridgeway) -> None:
    campaign = Campaign.open("campaign.sqlite")
    with pytest.raises(CampaignError, match="value must be a number, got '1_5'"):
        campaign.tell(1, "1_5")  # type: ignore[arg-type]
    campaign.tell(1, "1.5")  # type: ignore[arg-type]
    assert campaign.all_trials()[0].value == 1.5


def test_answers_of_a_program(begun: Ridgeway) -> None:
    said = begun("run", "--command", "sh -c 'echo 1_5' {input}", "--budget", "5")
    assert "is no number and no JSON: '1_5'" in said.err
    assert [trial.state for trial in Campaign.open("campaign.sqlite").all_trials()][-1] == "failed"


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("predict", "points.csv"),
        ("score", "points.csv"),
        ("init", "--inputs", "inputs.csv", "-c", "other.sqlite"),
        ("init", "--pool", "points.csv", "-c", "pool.sqlite"),
        ("init", "plan.toml", "-c", "plan.sqlite"),
    ],
)
def test_an_encoding_that_is_advised_can_be_given(begun: Ridgeway, words: tuple[str, ...]) -> None:
    campaign = Campaign.open("campaign.sqlite")
    for number in range(1, 5):
        campaign.tell(number, float(number))
    Path("points.csv").write_bytes("a,b,größe\n1,0.5,3\n2,0.7,4\n".encode("cp1252"))
    Path("inputs.csv").write_bytes("name,lower,upper,unit\na,0,1,°C\n".encode("cp1252"))
    Path("plan.toml").write_text('inputs = "inputs.csv"\n')
    refused = begun(*words)
    assert refused.code == 1
    assert "--encoding cp1252" in refused.err
    assert begun(*words, "--encoding", "cp1252").code == 0


def test_an_encoding_from_python(begun: Ridgeway) -> None:
    campaign = Campaign.open("campaign.sqlite")
    campaign.tell(1, 1.0)
    Path("points.csv").write_bytes("a,b,größe\n1,0.5,3\n".encode("cp1252"))
    for method in (campaign.predict, campaign.score):
        with pytest.raises(CampaignError, match="encoding='cp1252'"):
            method("points.csv")
        method("points.csv", encoding="cp1252")
