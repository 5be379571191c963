"""Numbers in tables."""

from __future__ import annotations

import base64
import gzip

import numpy as np
import pytest

from ridgeway.report.points import Points
from ridgeway.report.tables import csv_file, number


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


def test_names_and_notes_never_become_formulas() -> None:
    points = Points(np.array([[-1.5], [2.0]]), ("=cmd()",), ("-1", "2"), {"@note": ["+1+1", "plain"]})
    uri = csv_file(points, np.array([-3.5, 1.0]), "=value")
    assert uri is not None
    text = gzip.decompress(base64.b64decode(uri.split(",")[1])).decode()
    assert text == "trial,'@note,'=cmd(),'=value\n-1,'+1+1,-1.5,-3.5\n2,plain,2.0,1.0\n"
