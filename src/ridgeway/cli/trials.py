"""Commands that ask for experiments and take their results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ridgeway.campaign import sheets, table
from ridgeway.campaign.campaign import Campaign
from ridgeway.campaign.trial import Trial
from ridgeway.cli import numbers
from ridgeway.cli.common import (
    DEFAULT,
    PARTS,
    Comma,
    Encoding,
    Force,
    Format,
    Name,
    Of,
    Output,
    Outside,
    Shape,
    Where,
    check_comma,
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
from ridgeway.text import numbers as written_numbers
from ridgeway.text.counts import counted

Number = Annotated[int, typer.Argument(help="The trial's number.", **numbers.whole())]
Reason = Annotated[str, typer.Option("--reason", "-r", help="Why; kept with the trial.")]
_MOST_AT_ONCE = 100_000  # trials in a range
_DAY, _LONGEST = 86400.0, 36500  # seconds of a day, days of the longest age
Sheet = Annotated[Path, typer.Argument(help="A .csv, .xlsx or .parquet file.")]


def ask(
    n: Annotated[int, typer.Option("-n", help="How many.", **numbers.whole(1))] = 1,
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
    check_comma(comma, output, shape)
    campaign = opened(where, name)
    with shown_progress(campaign):
        trials = campaign.ask(n) if output is None else _asked_into(campaign, n, output, comma)
    if output is None:
        show(*table.to_fill_in(campaign.setup, trials), shape, comma=comma, parts=PARTS)
        return
    say(f"{_trials(trials)} written to {output}.")
    labels = " and ".join(repr(label) for label in campaign.setup.outputs.labels)
    say(f"Fill in {labels}, then: ridgeway tell {output}{same_campaign(where, name)}")


def tell(
    file: Annotated[str, typer.Argument(help="A .csv, .xlsx or .parquet file, or the number of a trial.")],
    values: Annotated[
        list[str] | None, typer.Argument(help="With a number: the result, or 'yield=3.2' for each output.")
    ] = None,
    sigma: Annotated[
        list[str] | None, typer.Option("--sigma", help="With a number: standard deviation of the noise, 'yield=0.1'.")
    ] = None,
    outside: Outside = False,
    changed: Annotated[
        str | None, typer.Option("--corrections", help="Why rows told before have changed; kept in the history.")
    ] = None,
    encoding: Encoding = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Take surprising values without asking.")] = False,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Take results from a file, or of one trial; rows without a value stay pending, 'failed' is a failure.

    Rows are matched by the column 'trial'; columns may come in any order, others are kept as notes. A row that was
    told before with another value, or at other inputs, is refused unless --corrections says why it has changed. A value
    far from its prediction is named; in a terminal you are asked whether to take it. Where there are several outputs, a
    trial may be told some of its results, and the others later: until then it is pending.

    \b
    Examples:
      ridgeway tell results.csv
      ridgeway tell 7 3.2
      ridgeway tell 7 yield=3.2 cost=140
      ridgeway tell results.csv --corrections 'misread'
    """
    campaign = opened(where, name)
    number = _trial_number(file, bool(values or sigma))
    if number is not None:
        _tell_one(campaign, number, values, sigma, outside, yes, shape)
        return
    _check_surprises([(f"Trial {n}", s) for n, s in campaign.surprising(file, encoding)], yes, "correct the file, and")
    told = campaign.tell_table(file, outside, encoding, changed)
    parts = [f"{len(told.told)} observed"]
    parts += [f"{len(told.partial)} with some results"] * bool(told.partial)
    parts += [f"{len(told.failed)} failed"] * bool(told.failed)
    parts += [f"{len(told.corrected)} corrected"] * bool(told.corrected)
    parts += [f"{len(told.already)} known already"] * bool(told.already)
    parts += [f"{told.pending} still pending"] * bool(told.pending)
    text = ", ".join(parts) + "."
    if told.moved:
        text += f"\nMade elsewhere than asked, and taken as it was made: trial {_listed(told.moved)}."
    if told.noted:
        text += f"\nKnown already, but with new notes, which are kept: trial {_listed(told.noted)}."
    show_record({**vars(told)}, shape, text)


def _trial_number(text: str, needed: bool) -> int | None:
    """The number of a trial, where the argument is one and not a file."""
    if not needed and (Path(text).exists() or not text.isdigit()):
        return None
    try:
        return written_numbers.whole(text)
    except ValueError:
        raise CampaignError(
            f"results on the command line need the number of a trial before them, got {text!r}"
        ) from None


def _tell_one(
    campaign: Campaign,
    number: int,
    texts: list[str] | None,
    sigmas: list[str] | None,
    outside: bool,
    yes: bool,
    shape: Format,
) -> None:
    """The results of one trial."""
    values, sigma = numbers.by_name(texts, "a result"), numbers.by_name(sigmas, "--sigma")
    if values is None:
        example = " ".join(f"{name}=..." for name in campaign.setup.outputs.names)
        raise CampaignError(f"say what trial {number} gave: ridgeway tell {number} {example}")
    surprises = campaign.surprises(number, values, sigma)
    word = campaign.setup.outputs.word
    found = [(f"Trial {number}" + ("" if word(n) == "value" else f", {n}"), s) for n, s in surprises.items()]
    _check_surprises(found, yes, "")
    campaign.tell(number, values, sigma, outside=outside)
    trial = next(trial for trial in campaign.all_trials() if trial.id == number)
    shown = ", ".join(f"{n} {v:.10g}" for n, v in trial.values.items())
    text = f"Trial {number}: {shown}." + (f" It awaits {', '.join(trial.awaited)}." if trial.awaited else "")
    show_record({"trial": number, **trial.values, "awaited": list(trial.awaited)}, shape, text)


def _check_surprises(found: Sequence[tuple[str, Any]], yes: bool, advice: str) -> None:
    """Name results that are far from their prediction, and ask a person whether to take them."""
    for what, surprise in found:
        say(f"{surprise.sentence(what)}.")
    if found and not yes and is_terminal() and not typer.confirm("Take it as it is?", err=True):
        raise CampaignError(f"nothing was taken: {advice} tell again".replace("  ", " "))


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

    The export of another campaign will do: its trials without a value are left out.

    \b
    Example:
      ridgeway attach old.csv
    """
    campaign, sheet = opened(where, name), sheets.read(file, encoding)
    added = campaign.attach(sheet, outside, repeated)
    left = len(sheet.rows) - len(added)
    text = f"{len(added)} attached, as trials {added[0]} to {added[-1]}."
    text += f"\n{left} without a value left out." * (left > 0)
    show_record({"attached": added, "left_out": left}, shape, text)


def fail(
    trial: Number,
    reason: Reason = "failed",
    of: Of = None,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Record that an experiment gave no value; it is not asked for again.

    A trial that has some of its results keeps them: the rest will not come. With --of that is said of one output.

    \b
    Examples:
      ridgeway fail 7 --reason 'the sample broke'
      ridgeway fail 8 --of cost --reason 'no invoice'
    """
    campaign = opened(where, name)
    campaign.fail(trial, reason, of)
    found = next(t for t in campaign.all_trials() if t.id == trial)
    lacks = ", ".join(output for output in found.outputs if output in found.results and output not in found.values)
    text = f"Trial {trial} failed: {reason}." if found.state == "failed" else f"Trial {trial} has no {lacks}: {reason}."
    show_record({"failed": trial, "reason": reason}, shape, text)


def correct(
    trial: Number,
    reason: Reason,
    values: Annotated[
        list[str] | None, typer.Option("--value", help="The right value; 'yield=3.2' where there are several outputs.")
    ] = None,
    sigmas: Annotated[
        list[str] | None, typer.Option("--sigma", help="Standard deviation of its noise, likewise.")
    ] = None,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", help="'name=value': what was really set. May be repeated.")
    ] = None,
    discard: Annotated[bool, typer.Option("--discard", help="There is no right value: count it as failed.")] = False,
    of: Of = None,
    outside: Outside = False,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Correct a result or its inputs; what stood there stays in the history (see corrections).

    \b
    Examples:
      ridgeway correct 7 --value 3.2 --reason 'decimal point'
      ridgeway correct 7 --input rate=27 --reason 'misread'
      ridgeway correct 7 --value yield=3.2 --reason 'misread'
      ridgeway correct 8 --discard --reason 'wrong sample'
    """
    value, sigma = numbers.by_name(values, "--value"), numbers.by_name(sigmas, "--sigma")
    if of is not None and not discard:
        raise CampaignError("--of goes with --discard: which output has no right value")
    if discard and (value is not None or sigma is not None):
        raise CampaignError("give either --value with the right one, or --discard if there is none")
    if value is None and sigma is None and not inputs and not discard:
        raise CampaignError("say what is right: --value, --sigma or --input, or --discard if there is no right value")
    settings, right = _settings(inputs or ()), None if discard else ... if value is None else value
    right = {of: None} if of is not None else right
    opened(where, name).correct(trial, right, reason, sigma, settings, outside)
    parts = ["discarded"] * discard + ([] if value is None else [f"now {_shown(value)}"])
    parts += [] if sigma is None else [f"with sigma {_shown(sigma)}"]
    parts += [] if settings is None else [f"at {', '.join(f'{key}={setting:g}' for key, setting in settings.items())}"]
    record = {"trial": trial, "value": value, "sigma": sigma, "inputs": settings, "reason": reason}
    show_record(record, shape, f"Trial {trial} is {', '.join(parts)} ({reason}).")


def abandon(
    trials: Annotated[list[str] | None, typer.Argument(help="Numbers of trials, or ranges such as 7-12.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All trials that are pending.")] = False,
    reason: Reason = "abandoned",
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Give up trials that will not be made, all of them or none; their points may be asked for again.

    \b
    Examples:
      ridgeway abandon 9 --reason 'out of material'
      ridgeway abandon 7-12 15
      ridgeway abandon --all
    """
    campaign = opened(where, name)
    if everything == bool(trials):
        raise CampaignError("name the trials to abandon, or give --all for those that are pending")
    numbers = [trial.id for trial in campaign.pending] if everything else _numbers(trials or [])
    if not numbers:
        raise CampaignError("no trial is pending")
    campaign.abandon(numbers, reason)
    one = len(numbers) == 1
    text = f"Trial{'' if one else 's'} {_listed(numbers)} {'is' if one else 'are'} abandoned."
    show_record({"abandoned": numbers[0] if one else numbers, "reason": reason}, shape, text)


def _numbers(words: Sequence[str]) -> list[int]:
    """Numbers of trials from words such as 7 and 7-12."""
    found: dict[int, None] = {}
    for word in words:
        first, dash, last = word.partition("-")
        try:
            ends = written_numbers.whole(first), written_numbers.whole(last if dash else first)
        except ValueError:
            raise CampaignError(f"a trial's number or a range such as 7-12 is expected, got {word!r}") from None
        if not 0 <= ends[1] - ends[0] < _MOST_AT_ONCE:
            raise CampaignError(f"a range such as 7-12 is expected, got {word!r}")
        found |= dict.fromkeys(range(ends[0], ends[1] + 1))
    return list(found)


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
    if output is not None:
        sheets.check(output)  # before anything is taken over
    campaign = opened(where, name)
    trials = campaign.reclaim(seconds(older_than))
    columns, rows = table.to_fill_in(campaign.setup, trials)
    if output is None:
        show(columns, rows, shape, parts=PARTS)
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
    """Write all trials to a file, or to the standard output; an .xlsx file has a second sheet with the log.

    \b
    Examples:
      ridgeway export -o trials.xlsx
      ridgeway export --pending -o next.csv
    """
    check_new(output, force)
    check_comma(comma, output, shape)
    campaign = opened(where, name)
    columns, rows = table.to_fill_in(campaign.setup, campaign.pending) if pending else campaign.table()
    if output is None:
        show(columns, rows, shape, comma=comma)
        return
    if pending:
        sheets.write(output, columns, rows, comma)
    else:
        campaign.export(output, comma)
    say(f"{counted(len(rows), 'trial')} written to {output}.")


def seconds(text: str) -> float:
    """An age in words as seconds."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([smhd]?)\s*", text)
    if found is None:
        raise CampaignError(f"an age must read like 90s, 30m, 12h or 3d, got {text!r}")
    passed = float(found[1]) * {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": _DAY}[found[2]]
    if passed > _LONGEST * _DAY:
        raise CampaignError(f"an age must be at most {_LONGEST}d, which are a hundred years, got {text!r}")
    return passed


def _settings(texts: Sequence[str]) -> dict[str, float] | None:
    """Inputs from options 'name=value'; the name may have a = of its own."""
    if any("=" not in text for text in texts):
        raise CampaignError(
            f"--input must read 'name=value' with a number, got {next(t for t in texts if '=' not in t)!r}"
        )
    found: dict[str, float] | None = numbers.by_name(texts, "--input")
    return found


def _shown(given: Any) -> str:
    """A number, or several by name."""
    return ", ".join(f"{key}={one:g}" for key, one in given.items()) if isinstance(given, dict) else f"{given:g}"


def _asked_into(campaign: Campaign, n: int, output: Path, comma: bool) -> list[Trial]:
    """The next trials, in a file; if that cannot be written, none is taken out."""
    asked: list[Trial] = []
    try:
        # The file is written before the trials are kept, and gets its name afterwards.
        with sheets.writing(output) as temporary:

            def hand_over(trials: list[Trial]) -> None:
                _write(campaign, trials, temporary, comma)

            asked = campaign.ask(n, hand_over)
    except CampaignError:
        for trial in asked:
            campaign.abandon(trial, f"{output} could not be written")
        raise
    return asked


def _write(campaign: Campaign, trials: list[Trial], path: Path, comma: bool) -> None:
    sheets.write_to(path, *table.to_fill_in(campaign.setup, trials), comma)


def _trials(trials: list[Trial]) -> str:
    if not trials:
        return "No trials"
    return f"Trial {trials[0].id}" if len(trials) == 1 else f"Trials {_listed([trial.id for trial in trials])}"


def _listed(numbers: Any) -> str:
    return ", ".join(map(str, numbers))
