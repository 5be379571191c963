"""Numbers in tables."""

from __future__ import annotations

import pytest

from ridgeway.report.tables import number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (99999.7, "100,000"),
        (1e12, "1e+12"),
        (3.14159265, "3.1416"),
        (115600.0, "115,600"),
        (1.5e-7, "1.5e-07"),
        (float("nan"), "–"),
    ],
)
def test_numbers_for_people(value: float, text: str) -> None:
    assert number(value) == text
