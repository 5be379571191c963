"""Text in the cells of CSV files: a spreadsheet must show it, not compute it.

Spreadsheets take a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, which may call programs. An
apostrophe before it makes it text. It is written where it is needed, and taken away where it was written.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence

# Also after apostrophes, so that the way back is exact, after white space, and in the wide forms of East Asian text.
_FORMULA = re.compile("'*(?:\\s*[=+\\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])")
_GUARDED = re.compile("'+(?:\\s*[=+\\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?")


def guarded(text: str) -> str:
    """``text`` as it can stand in a cell; a number stays one.

    >>> [guarded(text) for text in ("=1+1", "-3.5", "-low", "'=x", "pH")]
    ["'=1+1", '-3.5', "'-low", "''=x", 'pH']
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded(text: str) -> str:
    """What :func:`guarded` was given.

    >>> [unguarded(text) for text in ("'=1+1", "-3.5", "''=x", "'tis")]
    ['=1+1', '-3.5', "'=x", "'tis"]
    """
    return text[1:] if _GUARDED.match(text) else text


def csv_text(rows: Iterable[Sequence[str]], delimiter: str = ",") -> str:
    """Rows of cells as the text of a CSV file, each cell :func:`guarded`.

    >>> csv_text([["name", "note"], ["a", "=1+1"]])
    "name,note\\na,'=1+1\\n"
    """
    lines = _Lines()
    writer = csv.writer(lines, delimiter=delimiter, lineterminator="\r\n")
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    return "".join(lines.written)


class _Lines:
    """Takes lines that end in two characters and keeps one: the writer puts quotes around cells that hold either."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, line: str) -> None:
        self.written.append(line.removesuffix("\r\n") + "\n")
