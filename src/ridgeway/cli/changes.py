"""Commands that change what a campaign is about: ``change``, ``undo`` and ``log``."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from ridgeway.campaign import logbook, sheets
from ridgeway.campaign.campaign import Campaign
from ridgeway.campaign.inputs import Category
from ridgeway.cli import numbers
from ridgeway.cli.common import (
    DEFAULT,
    Force,
    Format,
    Name,
    Output,
    Shape,
    Where,
    check_new,
    opened,
    say,
    show,
    show_record,
)
from ridgeway.cli.plan import from_words
from ridgeway.errors import CampaignError
from ridgeway.text import numbers as written_numbers
from ridgeway.text.counts import counted

Text = str | None
Why = Annotated[str, typer.Option("--reason", "-r", help="Why; kept in the log.")]


def change(
    range_: Annotated[Text, typer.Option("--range", help="'name lower upper': other ends of an input.")] = None,
    hold: Annotated[
        Text, typer.Option("--hold", help="'name value': the same in all further proposals; of a category a level.")
    ] = None,
    release: Annotated[Text, typer.Option("--release", help="An input that was held varies again.")] = None,
    add: Annotated[Text, typer.Option("--add", help="A new input, as for init --input; needs --value.")] = None,
    value: Annotated[Text, typer.Option("--value", help="What the new input was in all trials so far.")] = None,
    constraint: Annotated[Text, typer.Option("--constraint", help="One more, such as 'A + B <= 1'.")] = None,
    without: Annotated[Text, typer.Option("--without-constraint", help="One less.")] = None,
    rename: Annotated[Text, typer.Option("--rename", help="'old new': an input or an output.")] = None,
    unit: Annotated[Text, typer.Option("--unit", help="'name unit': shown beside the name; numbers stay.")] = None,
    add_output: Annotated[Text, typer.Option("--add-output", help="One more, 'name' or 'name [unit]'.")] = None,
    weight: Annotated[Text, typer.Option("--weight", help="'name=2': how much an output counts.")] = None,
    choose: Annotated[Text, typer.Option("--choose", help="sum or turns, where there are several outputs.")] = None,
    reason: Why = "",
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Change one thing about the inputs or outputs; the trials so far stay, and so does a line in the log.

    \b
    Examples:
      ridgeway change --range 'temperature 20 120' \\
          --reason 'a new oven'
      ridgeway change --add 'pressure 1 5 bar' --value 1 \\
          --reason 'a new valve'
      ridgeway change --hold 'rate 0.5' --reason 'a leak'
      ridgeway change --hold 'solvent water' \\
          --reason 'the rest is sold out'
      ridgeway change --rename 'rate flow' --reason 'clearer'
      ridgeway change --add-output 'cost [EUR]' \\
          --reason 'now we weigh it'
    """
    given: dict[str, tuple[str | None, Callable[[Campaign, str], None]]] = {
        "--range": (range_, lambda c, text: _range(c, text, reason)),
        "--hold": (hold, lambda c, text: _hold(c, text, reason)),
        "--release": (release, lambda c, text: c.release(text, reason)),
        "--add": (add, lambda c, text: _add(c, text, value, reason)),
        "--constraint": (constraint, lambda c, text: c.add_constraint(text, reason)),
        "--without-constraint": (without, lambda c, text: c.remove_constraint(text, reason)),
        "--rename": (rename, lambda c, text: c.rename(*_pair(text, "--rename", "old new"), reason)),
        "--add-output": (add_output, lambda c, text: c.add_output(text, reason)),
        "--weight": (weight, lambda c, text: c.set_weights(_weights(text), reason)),
        "--choose": (choose, lambda c, text: c.set_choose(text, reason)),
        "--unit": (unit, lambda c, text: c.set_unit(*_pair(text, "--unit", "name unit"), reason)),
    }
    chosen = [(text, make) for text, make in given.values() if text is not None]
    if len(chosen) != 1:
        raise CampaignError(f"change one thing at a time: give one of {', '.join(given)}")
    if not reason.strip():
        raise CampaignError("--reason must say why, such as --reason 'a new oven': it is kept in the log")
    if value is not None and add is None:
        raise CampaignError("--value goes with --add: what the new input was in the trials so far")
    campaign = opened(where, name)
    text, make = chosen[0]
    make(campaign, text)
    done = campaign.log[-1]
    show_record(
        {"changed": done.what, "reason": done.why}, shape, f"Changed: {done.what}.\nTake it back: ridgeway undo"
    )


def undo(reason: Why = "undone", where: Where = DEFAULT, name: Name = None, shape: Shape = Format.table) -> None:
    """Take back the last change of the inputs or outputs or the last correction; the log keeps both.

    \b
    Example:
      ridgeway undo --reason 'a slip'
    """
    what = opened(where, name).undo(reason)
    show_record({"undone": what}, shape, f"Taken back: {what}.")


def log(
    output: Output = None,
    force: Force = False,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Everything that was done, oldest first: when, by whom, what and why.

    \b
    Examples:
      ridgeway log
      ridgeway log -o log.csv
    """
    check_new(output, force)
    rows = logbook.rows(opened(where, name).log)
    if output is None:
        show(list(logbook.HEAD), rows, shape, 3)
    else:
        sheets.write(Path(output), list(logbook.HEAD), rows)
        say(f"{counted(len(rows), 'row')} written to {output}.")


def _split(text: str, option: str, expected: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise CampaignError(f"{option} {text!r} cannot be read: {error}") from None
    if len(words) != len(expected.split()):
        raise CampaignError(f"{option} {text!r} must read '{expected}'")
    return words


def _pair(text: str, option: str, expected: str) -> tuple[str, str]:
    first, second = _split(text, option, expected)
    return first, second


def _weights(text: str) -> dict[str, float]:
    if "=" not in text:
        raise CampaignError(f"--weight {text!r} must read 'name=number'")
    found: dict[str, float] = numbers.by_name([text], "--weight")
    return found


def _range(campaign: Campaign, text: str, reason: str) -> None:
    name, lower, upper = _split(text, "--range", "name lower upper")
    campaign.set_range(name, _number(lower, "--range", text), _number(upper, "--range", text), reason)


def _hold(campaign: Campaign, text: str, reason: str) -> None:
    name, value = _split(text, "--hold", "name value")
    leveled = [levels.name for levels in campaign.setup.levels]
    campaign.hold(name, value if name in leveled else _number(value, "--hold", text), reason)


def _number(word: str, option: str, text: str) -> float:
    try:
        return written_numbers.decimal(word)
    except ValueError:
        raise CampaignError(f"{option} {text!r} must have a number in place of {word!r}") from None


def _add(campaign: Campaign, text: str, value: str | None, reason: str) -> None:
    item = from_words(text)
    if value is None:
        raise CampaignError("--add needs --value: what the new input was in all trials so far")
    if isinstance(item, Category):
        campaign.add_input(item, value, reason)
        return
    try:
        number = written_numbers.decimal(value)
    except ValueError:
        raise CampaignError(f"--value must be a number for {item.name!r}, got {value!r}") from None
    campaign.add_input(item, number, reason)
