"""Numbers on the command line, read as people write them: ``1_5`` is a slip, not 15."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import typer

from ridgeway.errors import CampaignError
from ridgeway.text import numbers as written_numbers


def whole(least: int | None = None) -> dict[str, Any]:
    """Settings of an option or argument that is a whole number of at least ``least``."""

    def integer(text: Any) -> int:
        number = _read(written_numbers.whole, text)
        if least is not None and number < least:
            raise typer.BadParameter(f"{number} is not in the range x>={least}.")
        return int(number)

    integer.__name__ = "int"  # what the help calls it
    return {"parser": integer}


def decimal() -> dict[str, Any]:
    """Settings of an option that is a number."""

    def number(text: Any) -> float:
        return float(_read(written_numbers.decimal, text))

    number.__name__ = "float"
    return {"parser": number}


def by_name(texts: Sequence[str] | None, option: str) -> Any:
    """Numbers from texts such as ``yield=3.2``, by name; a single one may be without a name: just a number.

    A name may have a ``=`` of its own.
    """
    found: dict[str, float] = {}
    for text in texts or ():
        name, sign, number = text.rpartition("=")
        name = name.strip()
        if not sign and len(texts or ()) == 1:
            return _number(number, option, text, "a number or 'name=value'")
        if not name:
            raise CampaignError(f"{option} must read 'name=value', got {text!r}")
        if name in found:
            raise CampaignError(f"{option} {name!r} was given twice: give it once")
        found[name] = _number(number, option, text, "'name=value'")
    return found or None


def _number(word: str, option: str, text: str, expected: str) -> float:
    try:
        number = written_numbers.decimal(word)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise CampaignError(f"{option} must read {expected} with a finite number, got {text!r}")
    return number


def _read(reader: Any, text: Any) -> Any:
    if not isinstance(text, str):  # a default is a number already
        return text
    try:
        return reader(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
