"""``ridgeway report``: one page to show to a colleague."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ridgeway.cli import numbers
from ridgeway.cli.common import DEFAULT, Force, Name, Target, Where, check_new, opened, say, shown_progress
from ridgeway.errors import CampaignError

_MARK = '<meta name="generator" content="Ridgeway">'
_HEAD = 1000  # characters of a page among which the mark stands

Page = Annotated[Path, typer.Option("--output", "-o", help="The HTML file; an earlier report is replaced.")]


def report(
    output: Page = Path("report.html"),
    suggestions: Annotated[
        int, typer.Option("--next", help="How many next experiments to show.", **numbers.whole(0))
    ] = 4,
    title: Annotated[str | None, typer.Option("--title", help="Of the page.")] = None,
    target: Target = None,
    force: Force = False,
    where: Where = DEFAULT,
    name: Name = None,
) -> None:
    """Write one HTML page: what was learned, how sure it is, what to run next. It needs no network.

    The next experiments are those that ask would return; a report does not ask for them.

    \b
    Examples:
      ridgeway report -o report.html
      ridgeway report --next 5 --title 'Kiln 3'
      ridgeway report --target-error 0.5
    """
    if output.suffix.lower() not in (".html", ".htm"):
        raise CampaignError(f"a report is a web page: let the name end in .html, got {output}")
    if not output.parent.is_dir():
        raise CampaignError(f"there is no folder {output.parent}")
    check_new(output, force or _is_report(output))
    campaign = opened(where, name)
    with shown_progress(campaign):
        campaign.report(output, title, suggestions, numbers.by_name(target, "--target-error"))
    say(f"Report written to {output}: open it in a browser.")


def _is_report(path: Path) -> bool:
    """Whether the file is an earlier report, which may be replaced."""
    if not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        return _MARK in file.read(_HEAD)
