"""What the commands share: which campaign, and how data are shown."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ridgeway.campaign import sheets
from ridgeway.campaign.campaign import Campaign
from ridgeway.errors import CampaignError
from ridgeway.text.terminal import visible, visible_json

DEFAULT = "campaign.sqlite"
PARTS = 6  # of a table of what is to be done or chosen among, which is of little use without all inputs
_NAMED = 4  # columns that were left out and are named
_HEAD = 12  # characters that a head has room for before it is broken into lines
_COMMAND = re.compile(r"ridgeway \S+( --?\S+)?")


class Format(StrEnum):
    """How data are shown."""

    table = "table"
    json = "json"
    csv = "csv"


Where = Annotated[
    str,
    typer.Option(
        "--campaign",
        "-c",
        envvar="RIDGEWAY_CAMPAIGN",
        help="File, or address of a PostgreSQL database.",
        metavar="PLACE",
    ),
]
Name = Annotated[str | None, typer.Option("--name", help="Which campaign, where there are several.")]
Shape = Annotated[Format, typer.Option("--format", "-f", help="How to show data.")]
Comma = Annotated[bool, typer.Option("--decimal-comma", help="Write 1,5 and separate cells by semicolons.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this .csv, .xlsx, .parquet or .json file.")
]
Of = Annotated[str | None, typer.Option("--of", help="Which output, where there are several.")]
Target = Annotated[
    list[str] | None,
    typer.Option("--target-error", help="An error of predictions that is small enough, 'cost=0.5' of several outputs."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")]
Outside = Annotated[bool, typer.Option("--outside", help="Allow inputs outside their range.")]
Encoding = Annotated[str | None, typer.Option("--encoding", help="Of a CSV file that is not UTF-8, e.g. cp1252.")]


def opened(where: str, name: str | None) -> Campaign:
    """The campaign."""
    try:
        return Campaign.open(where, name)
    except CampaignError as error:
        text = str(error).replace("Campaign.create or `ridgeway init`", "`ridgeway init`")  # who types no Python
        raise type(error)(text) from None


def same_campaign(where: str, name: str | None) -> str:
    """The options that a further command needs for the same campaign, with a space before them."""
    given = "" if name is None else f" --name {shlex.quote(name)}"
    if where in (DEFAULT, os.environ.get("RIDGEWAY_CAMPAIGN")):
        return given
    return f" -c {'...' if '://' in where else shlex.quote(where)}{given}"  # an address may hold a password


@contextmanager
def shown_progress(campaign: Campaign) -> Iterator[None]:
    """Show in a terminal what takes long, and take the line away at the end."""
    from ridgeway import progress

    line = campaign.progress = progress.Line()
    try:
        yield
    finally:
        line.clear()


def check_new(path: Path | None, force: bool) -> None:
    """Refuse to replace a file that may hold results which are not in the campaign yet."""
    if path is not None and path.is_dir():
        raise CampaignError(f"{path} is a folder: give the name of a file")
    if path is not None and path.exists() and not force:
        raise CampaignError(f"{path} is there already, perhaps with results: choose another name, or add --force")


def check_comma(comma: bool, output: Path | None, shape: Format) -> None:
    """Refuse decimal commas where they would be left out without a word."""
    if comma and output is None and shape is not Format.csv:
        raise CampaignError(f"--decimal-comma is for a file (-o) or --format csv, got --format {shape.value}")


def is_terminal() -> bool:
    """Whether a person sits there who can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def say(message: str) -> None:
    """A message for the user on the standard error; never among the data."""
    print(visible(message), file=sys.stderr)


def remark(message: str) -> None:
    """The same with sentences that are broken between words, where there is nothing in them to be copied."""
    say("\n".join(wrapped(message)))


def wrapped(text: str) -> list[str]:
    """The lines of a sentence in this window."""
    width = max(20, min(window(), 100) - 1)
    whole = text.replace(" %", "\xa0%").replace(" [", "\xa0[")  # a number and its sign, a name and its unit
    whole = _COMMAND.sub(lambda found: found[0].replace(" ", "\xa0"), whole)  # to be typed
    lines = textwrap.wrap(whole, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines]


def window() -> int:
    """How many characters a line of the window has."""
    return shutil.get_terminal_size().columns


def show(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    shape: Format,
    last: int = 1,
    comma: bool = False,
    parts: int = 1,
) -> None:
    """Data on the standard output; a table shows the ``last`` columns however narrow the window is.

    A table that is wider than the window is broken into up to so many ``parts``, one below the other.
    """
    if shape is Format.json:
        records = [dict(zip(columns, row, strict=True)) for row in rows]
        _put_json(records)
    elif shape is Format.csv:
        _put_csv(sheets.to_csv(columns, rows, comma))
    else:
        _table(columns, rows, last, parts)


def show_record(record: dict[str, Any], shape: Format, text: str) -> None:
    """One record on the standard output; ``text`` is how a person reads it."""
    if shape is Format.json:
        _put_json(record)
    elif shape is Format.csv:
        _put_csv(sheets.to_csv(list(record), [[_plain(value) for value in record.values()]]))
    else:
        print(visible(text))


def _put_json(data: Any) -> None:
    print(visible_json(json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)))


def _put_csv(text: str) -> None:
    """CSV as it is for another program, and with control characters shown for a person at a terminal."""
    print(visible(text) if sys.stdout.isatty() else text, end="")


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return " ".join(str(item) for item in value)
    return json.dumps(value) if isinstance(value, dict) else value


def narrowest(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> int:
    """How wide a window a table needs at least in which no word is broken."""
    widths = []
    for j, name in enumerate(columns):
        measure = _longest_line if j else _longest_piece
        widths.append(max([_longest_piece(name), *(measure(_shown(row[j])) for row in rows)]))
    return _width(widths)


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]], last: int, parts: int) -> None:
    """As many columns as the window has room for: the first, the last ones, and those after the first.

    Where there is not room for all, heads are broken into lines, and then the table into parts that begin with the
    first column.
    """
    heads, cells = [visible(name) for name in columns], [[_shown(cell) for cell in row] for row in rows]
    numeric = [all(isinstance(row[j], int | float) or row[j] is None for row in rows) for j in range(len(heads))]
    widths = [max([_longest_line(row[j]) for row in cells], default=0) for j in range(len(heads))]
    for least in (max(map(len, heads)), 0, _HEAD):  # as they are, else as short as it takes, else as can be read
        shorter = [_broken(head, max(width, least)) for head, width in zip(heads, widths, strict=True)]
        if _width([*map(max, map(_longest_line, shorter), widths)]) <= window():
            break
    heads = shorter
    widths = [*map(max, map(_longest_line, heads), widths)]
    shown = _parts(widths, last, parts)
    for kept in shown:
        own = _width([widths[j] for j in kept])
        if own > window() and not numeric[0]:  # names of inputs, which may be long
            room = widths[0] - (own - window())
            cells = [[_broken(row[0], room), *row[1:]] for row in cells]
        _print([heads[j] for j in kept], [[row[j] for j in kept] for row in cells], [numeric[j] for j in kept])
    hidden = [columns[j] for j in range(len(columns)) if not any(j in kept for kept in shown)]
    if hidden:
        named = ", ".join(hidden[:_NAMED]) + (", ..." if len(hidden) > _NAMED else "")
        remark(f"{len(hidden)} more column{'s' * (len(hidden) > 1)} ({named}): --format csv shows all")


def _parts(widths: Sequence[int], last: int, parts: int) -> list[list[int]]:
    """Columns of each part of a table: all of them if there is room, else the last ones stand in the first part."""
    end = max(1, len(widths) - last)
    found: list[list[int]] = []
    left, tail = list(range(1, end)), list(range(end, len(widths)))
    while not found or (left and len(found) < parts):
        kept = [0]
        while left and _width([widths[j] for j in (*kept, left[0], *tail)]) <= window():
            kept.append(left.pop(0))
        if len(kept) == 1 and not tail:  # wider than the window by itself
            kept.append(left.pop(0))
        found.append([*kept, *tail])
        tail = []
    return found


def _print(heads: Sequence[str], cells: Sequence[Sequence[str]], numeric: Sequence[bool]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for head, is_numeric in zip(heads, numeric, strict=True):
        # As Text: a unit such as [mm] is no markup.
        shown.add_column(Text(head), justify="right" if is_numeric else "left", overflow="fold")
    for row in cells:
        shown.add_row(*map(Text, row))
    Console(highlight=False).print(shown)


def _width(widths: Sequence[int]) -> int:
    """Characters of a line of a table, with what is between its columns."""
    return sum(widths) + 3 * (len(widths) - 1) + 2


def _pieces(text: str) -> list[str]:
    """What a name or a sentence can be broken into: words, and parts of a name that underscores join."""
    return re.findall(r"\s*[^\s_]+_*|\s*_+", text)


def _longest_piece(text: str) -> int:
    return max((len(piece.strip()) for piece in _pieces(text)), default=0)


def _longest_line(text: str) -> int:
    return max(map(len, text.split("\n")))


def _broken(text: str, width: int) -> str:
    """``text`` in lines of at most ``width`` where that breaks no word."""
    width = max(width, _longest_piece(text))
    lines = [""]
    for piece in _pieces(text):
        if len(lines[-1] + piece) > width:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return "\n".join(line for line in lines if line)


def _shown(cell: Any) -> str:
    if cell is None:
        return ""
    return f"{cell:.6g}" if isinstance(cell, float) else visible(str(cell))
