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
