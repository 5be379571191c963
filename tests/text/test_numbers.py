"""Numbers as people write them; a slip is refused, not read as another number."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ridgeway import checks
from ridgeway.text.numbers import decimal, whole


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1.0), (" -2.5e3 ", -2500.0), (".5", 0.5), ("5.", 5.0), ("+1E-2", 0.01), ("inf", math.inf)],
)
def test_decimals(text, number):
    assert decimal(text) == number


@pytest.mark.parametrize("text", ["1_5", "1_000.0", "", "1e", "e5", "0x10", "1 5", "1,5", "٣", "1_5e3", "--1"])
def test_what_is_no_decimal(text):
    with pytest.raises(ValueError, match="a number is expected"):
        decimal(text)


def test_whole_numbers():
    assert [whole(text) for text in ("0", " 12", "-3", "+4")] == [0, 12, -3, 4]


@pytest.mark.parametrize("text", ["1_5", "1.0", "", "²", "1e3"])
def test_what_is_no_whole_number(text):
    with pytest.raises(ValueError, match="a whole number is expected"):
        whole(text)


@pytest.mark.parametrize(
    "cells", [[["1_5", "2"]], [["1_5", 2.0]], np.array([["1_5", 2.0]], dtype=object), [[b"1_5", b"2"]]]
)
def test_text_in_an_array_is_read_as_strictly(cells):
    with pytest.raises(ValueError, match=r"X must hold numbers.*got '1_5'"):
        checks.inputs(cells)
    written = [[cell if not isinstance(cell, str | bytes) else "1.5" for cell in row] for row in cells]
    assert checks.inputs(written)[0, 0] == 1.5
