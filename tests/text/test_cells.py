"""Text in cells: never a formula, and back again."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeway.text.cells import guarded, unguarded

FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "-", "--5", "＝1+1", "'=1", "-3.5.1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_what_a_spreadsheet_would_compute_is_guarded(text: str) -> None:
    assert guarded(text) == f"'{text}"
    assert unguarded(guarded(text)) == text


@pytest.mark.parametrize("text", ["-3.5", "+2", "-1e-7", "-0,5", "1.5", "", "a=b", "'tis", "pH"])
def test_numbers_and_words_stay(text: str) -> None:
    assert guarded(text) == text
    assert unguarded(text) == text


@given(st.text(alphabet="'=+-@\t\r\n 3.5eaＡ＝"))
def test_the_way_back_is_exact(text: str) -> None:
    assert unguarded(guarded(text)) == text
    first = guarded(text).strip()[:1]
    assert first not in tuple("=+-@＝") or re.fullmatch(r"[+-][\d.,eE+-]+", guarded(text))
