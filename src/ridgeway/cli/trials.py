"""Commands that ask for experiments and take their results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from ridgeway.campaign import sheets, table
from ridgeway.campaign.campaign import Campaign
from ridgeway.campaign.trial import Trial
from ridgeway.cli.common import (
    DEFAULT,
    Comma,
    Encoding,
    Force,
    Format,
    Name,
    Output,
    Outside,
    Shape,
    Where,
    check_new,
    is_terminal,
    opened,
    same_campaign,
    say,
    show,
    show_record,
    shown_progress,
)
from ridgeway.errors import CampaignError

Number = Annotated[int, typer.Argument(help="The trial's number.")]
Reason = Annotated[str, typer.Option("--reason", "-r", help="Why; kept with the trial.")]
Sheet = Annotated[Path, typer.Argument(help="A .csv, .xlsx or .parquet file.")]


def ask(
    n: Annotated[int, typer.Option("-n", help="How many.", min=1)] = 1,
    output: Output = None,
    force: Force = False,
    comma: Comma = False,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Ask for the next experiments; the file has an empty column for the results.

    \b
    Examples:
      ridgeway ask -n 4 -o next.csv
      ridgeway ask --format json
    """
    check_new(output, force)
    campaign = opened(where, name)
    with shown_progress(campaign):
        if output is None:
            trials = campaign.ask(n)
        else:
            # The file is written before the trials are kept: if it cannot be, nothing was asked.
            with sheets.writing(output) as temporary:
                trials = campaign.ask(n, lambda asked: _write(campaign, asked, temporary, comma))
    if output is None:
        show(*table.to_fill_in(campaign.setup, trials), shape)
        return
    say(f"{_trials(trials)} written to {output}.")
    say(f"Fill in {campaign.setup.output_label!r}, then: ridgeway tell {output}{same_campaign(where, name)}")


def tell(
    file: Sheet,
    outside: Outside = False,
    encoding: Encoding = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Take surprising values without asking.")] = False,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Take results from a file; rows without a value stay pending, 'failed' is a failure.

    Rows are matched by the column 'trial'; columns may come in any order, others are kept as notes. A value
    far from its prediction is named; in a terminal you are asked whether to take it.

    \b
    Example:
      ridgeway tell results.csv
    """
    campaign = opened(where, name)
    surprising = campaign.surprising(file, encoding)
    for number, surprise in surprising:
        say(f"{surprise.sentence(f'Trial {number}')}.")
    if surprising and not yes and is_terminal() and not typer.confirm("Take it as it is?", err=True):
        raise CampaignError("nothing was taken: correct the file, and tell again")
    told = campaign.tell_table(file, outside, encoding)
    parts = [f"{len(told.told)} observed"]
    parts += [f"{len(told.failed)} failed"] * bool(told.failed)
    parts += [f"{len(told.already)} known already"] * bool(told.already)
    parts += [f"{told.pending} still pending"] * bool(told.pending)
    text = ", ".join(parts) + "."
    if told.moved:
        text += f"\nMade elsewhere than asked, and taken as it was made: trial {_listed(told.moved)}."
    show_record({**vars(told)}, shape, text)


def attach(
    file: Sheet,
    outside: Outside = False,
    repeated: Annotated[bool, typer.Option("--repeated", help="Rows may repeat what is there.")] = False,
    encoding: Encoding = None,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Add experiments that were not asked for, such as data from before: all inputs and the output.

    \b
    Example:
      ridgeway attach old.csv
    """
    added = opened(where, name).attach(file, outside, repeated, encoding)
    show_record({"attached": added}, shape, f"{len(added)} attached, as trials {added[0]} to {added[-1]}.")


def fail(
    trial: Number,
    reason: Reason = "failed",
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Record that an experiment gave no value; it is not asked for again.

    \b
    Example:
      ridgeway fail 7 --reason 'the sample broke'
    """
    opened(where, name).fail(trial, reason)
    show_record({"failed": trial, "reason": reason}, shape, f"Trial {trial} failed: {reason}.")


def correct(
    trial: Number,
    reason: Reason,
    value: Annotated[float | None, typer.Option("--value", help="The right value.")] = None,
    sigma: Annotated[float | None, typer.Option("--sigma", help="Standard deviation of its noise.")] = None,
    discard: Annotated[bool, typer.Option("--discard", help="There is no right value: count it as failed.")] = False,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Correct a result; the old one stays in the history.

    \b
    Examples:
      ridgeway correct 7 --value 3.2 --reason 'decimal point'
      ridgeway correct 8 --discard --reason 'wrong sample'
    """
    if (value is None) != discard:
        raise CampaignError("give either --value with the right one, or --discard if there is none")
    opened(where, name).correct(trial, value, reason, sigma)
    what = "discarded" if discard else f"now {value:g}"
    show_record({"trial": trial, "value": value, "reason": reason}, shape, f"Trial {trial} is {what} ({reason}).")


def abandon(
    trial: Number,
    reason: Reason = "abandoned",
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Give up a trial that will not be made; its point may be asked for again.

    \b
    Example:
      ridgeway abandon 9 --reason 'out of material'
    """
    opened(where, name).abandon(trial, reason)
    show_record({"abandoned": trial, "reason": reason}, shape, f"Trial {trial} is abandoned.")


def reclaim(
    older_than: Annotated[str, typer.Option("--older-than", help="Age: 90s, 30m, 12h or 3d.")],
    output: Output = None,
    force: Force = False,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Take over trials that have been pending for long: they are yours to make now.

    \b
    Example:
      ridgeway reclaim --older-than 12h -o mine.csv
    """
    check_new(output, force)
    campaign = opened(where, name)
    trials = campaign.reclaim(seconds(older_than))
    columns, rows = table.to_fill_in(campaign.setup, trials)
    if output is None:
        show(columns, rows, shape)
    else:
        sheets.write(output, columns, rows)
        say(f"{_trials(trials)} written to {output}.")


def export(
    output: Output = None,
    pending: Annotated[bool, typer.Option("--pending", help="Only pending trials, to be filled in.")] = False,
    comma: Comma = False,
    force: Force = False,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.csv,
) -> None:
    """Write all trials to a file, or to the standard output.

    \b
    Examples:
      ridgeway export -o trials.xlsx
      ridgeway export --pending -o next.csv
    """
    check_new(output, force)
    campaign = opened(where, name)
    if pending:
        columns, rows = table.to_fill_in(campaign.setup, campaign.pending)
    else:
        columns, rows = table.full(campaign.setup, campaign.all_trials())
    if output is None:
        show(columns, rows, shape)
    else:
        sheets.write(output, columns, rows, comma)
        say(f"{len(rows)} trials written to {output}.")


def seconds(text: str) -> float:
    """An age in words as seconds."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*", text)
    if found is None:
        raise CampaignError(f"an age must read like 90s, 30m, 12h or 3d, got {text!r}")
    return float(found[1]) * {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}[found[2]]


def _write(campaign: Campaign, trials: list[Trial], path: Path, comma: bool) -> None:
    sheets.write_to(path, *table.to_fill_in(campaign.setup, trials), comma)


def _trials(trials: list[Trial]) -> str:
    if not trials:
        return "No trials"
    return f"Trial {trials[0].id}" if len(trials) == 1 else f"Trials {_listed([trial.id for trial in trials])}"


def _listed(numbers: Any) -> str:
    return ", ".join(map(str, numbers))
