"""What the commands share: which campaign, and how data are shown."""

from __future__ import annotations

import json
import os
import shlex
import sys
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
    """The campaign, with a line that shows progress in a terminal."""
    return Campaign.open(where, name)


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


def show(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], shape: Format, last: int = 1, comma: bool = False
) -> None:
    """Data on the standard output; a table shows the ``last`` columns however narrow the window is."""
    if shape is Format.json:
        records = [dict(zip(columns, row, strict=True)) for row in rows]
        _put_json(records)
    elif shape is Format.csv:
        _put_csv(sheets.to_csv(columns, rows, comma))
    else:
        _table(columns, rows, last)


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


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]], last: int) -> None:
    """As many columns as the window has room for: the first, the last ones, and those after the first."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    columns, cells = [visible(name) for name in columns], [[_shown(cell) for cell in row] for row in rows]
    widths = [max([len(name)] + [len(row[j]) for row in cells]) + 2 for j, name in enumerate(columns)]
    first_of_last = max(1, len(columns) - last)
    room, kept = console.width - widths[0] - sum(widths[first_of_last:]) - 2, [0]
    for j in range(1, first_of_last):
        room -= widths[j]
        if room < 0:
            break
        kept.append(j)
    kept += range(first_of_last, len(columns))
    shown = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for j in kept:
        numeric = all(isinstance(row[j], int | float) or row[j] is None for row in rows)
        # As Text: a unit such as [mm] is no markup.
        shown.add_column(Text(columns[j]), justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        shown.add_row(*(Text(row[j]) for j in kept))
    console.print(shown)
    hidden = len(columns) - len(kept)
    if hidden:
        say(f"{hidden} more column{'s' * (hidden > 1)}: --format csv shows all")


def _shown(cell: Any) -> str:
    if cell is None:
        return ""
    return f"{cell:.6g}" if isinstance(cell, float) else visible(str(cell))
