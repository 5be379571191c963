"""What the tests of the commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Said(NamedTuple):
    code: int
    out: str
    err: str


Ridgeway = Callable[..., Said]

INIT = (
    "init",
    "--input",
    "temperature 20 80 °C",
    "--input",
    "rate 0.01 10 1/s log",
    "-d",
    "1",
    "--output-name",
    "strength",
)
