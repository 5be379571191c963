"""Numbers on the command line, read as people write them: ``1_5`` is a slip, not 15."""

from __future__ import annotations

from typing import Any

import typer

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


def _read(reader: Any, text: Any) -> Any:
    if not isinstance(text, str):  # a default is a number already
        return text
    try:
        return reader(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
