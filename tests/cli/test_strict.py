"""An option that is given twice is refused, unless it may be repeated."""

from __future__ import annotations

import os

import pytest

from ridgeway import Campaign
from tests.cli.commands import INIT, Ridgeway


@pytest.mark.parametrize("words", [("--output-name", "a"), ("--output-unit", "m", "--output-unit", "s"), ("-d", "2")])
def test_an_option_given_twice_is_refused(ridgeway: Ridgeway, words: tuple[str, ...]) -> None:
    said = ridgeway(*INIT, *words)
    assert (said.code, said.out) == (2, "")
    assert "was given 2 times: give it once" in said.err
    assert os.listdir() == []


def test_options_that_may_be_repeated_are(ridgeway: Ridgeway) -> None:
    assert ridgeway(*INIT, "--input", "time 0 1", "--fixed", "load 3").code == 0
    assert Campaign.open("campaign.sqlite").setup.names == ("temperature", "rate", "time", "load")
    assert ridgeway("ask", "-o", "a.csv", "--force", "--force").code == 0


def test_a_number_that_stands_alone_is_met_with_its_option(ridgeway: Ridgeway) -> None:
    assert ridgeway(*INIT).code == 0
    said = ridgeway("ask", "3")
    assert said.code == 2
    assert "to ask for so many, write -n 3" in " ".join(said.err.split())
    assert not Campaign.open("campaign.sqlite").all_trials()
    assert "unexpected extra argument" in ridgeway("ask", "three").err
