"""Commands that begin: ``init`` and ``demo``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ridgeway.campaign.outputs import Output
from ridgeway.cli import numbers
from ridgeway.cli.common import DEFAULT, Encoding, Format, Name, Shape, Where, same_campaign, show_record
from ridgeway.cli.plan import Plan, from_table, from_toml, from_words
from ridgeway.errors import CampaignError
from ridgeway.text import numbers as written_numbers
from ridgeway.text.counts import counted

Texts = list[str]


def init(
    plan: Annotated[Path | None, typer.Argument(help="A TOML file that says all of it.")] = None,
    inputs: Annotated[
        Texts | None,
        typer.Option("--input", help="'name lower upper [unit] [log] [integer] [step=0.5]', or 'name in a, b, c'"),
    ] = None,
    constraint: Annotated[
        Texts | None, typer.Option("--constraint", help="'A + B + C = 1' or '2 A - B <= 3': holds for every proposal.")
    ] = None,
    fixed: Annotated[Texts | None, typer.Option("--fixed", help="'name value [unit]': never varied.")] = None,
    tables: Annotated[list[Path] | None, typer.Option("--inputs", help="A sheet with name, lower, upper, ...")] = None,
    pool: Annotated[
        Path | None,
        typer.Option("--pool", help="A sheet of candidates to choose from, or Parquet files: 'points/*.parquet'."),
    ] = None,
    label: Annotated[
        Texts | None, typer.Option("--label", help="Column of the pool that is only carried along.")
    ] = None,
    category: Annotated[Texts | None, typer.Option("--category", help="Column of the pool that holds words.")] = None,
    output: Annotated[str | None, typer.Option("--output-name", help="What is measured, e.g. strength.")] = None,
    unit: Annotated[str | None, typer.Option("--output-unit", help="Its unit.")] = None,
    outputs: Annotated[
        Texts | None, typer.Option("--output", help="'name' or 'name [unit]': once for each of several.")
    ] = None,
    weight: Annotated[
        Texts | None, typer.Option("--weight", help="'name=2': how much an output counts when experiments are chosen.")
    ] = None,
    choose: Annotated[
        str | None, typer.Option("--choose", help="sum (default) of what is learned about each output, or turns.")
    ] = None,
    directions: Annotated[str | None, typer.Option("--directions", "-d", help="How many, or auto.")] = None,
    goal: Annotated[
        str | None, typer.Option(help="learn (default), minimize, maximize; of several: 'minimize cost'.")
    ] = None,
    acquisition: Annotated[
        str | None, typer.Option(help="information, bald, uncertainty; improvement, thompson; random, ...")
    ] = None,
    effort: Annotated[
        str | None, typer.Option(help="How hard to search: quick, normal, thorough, or seconds for each fit.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="One number that reproduces every choice.", **numbers.whole(0))
    ] = None,
    encoding: Encoding = None,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Begin a campaign: which inputs there are, and where they may go.

    \b
    Examples:
      ridgeway init --input 'temperature 20 80 °C' \\
          --input 'rate 0.01 10 1/s log' \\
          --input 'stages 1 8 integer' \\
          --input 'solvent in water, acetone' \\
          --fixed 'pressure 1.2 bar' --output-name strength
      ridgeway init plan.toml
      ridgeway init --pool candidates.csv --label id
      ridgeway init --pool 'points/*.parquet' --label id
      ridgeway init plan.toml --goal maximize
      ridgeway init --input 'A 0 1' --output 'yield [%]' \\
          --output 'cost [EUR]' --weight cost=2
      ridgeway init --input 'A 0 1' --input 'B 0 1' \\
          --input 'C 0 1 step=0.05' \\
          --constraint 'A + B + C = 1'
    """
    _check_file(plan, "the first argument names a plan")
    for table in tables or ():
        _check_file(table, "--inputs names a sheet")
    start = from_toml(plan, encoding) if plan is not None else Plan(encoding=encoding)
    items = [*start.inputs, *(item for table in tables or () for item in from_table(table, encoding))]
    items += [from_words(text) for text in inputs or ()] + [from_words(text, True) for text in fixed or ()]
    given = {
        "directions": _directions(directions),
        "acquisition": acquisition,
        "random_state": seed,
        "effort": _effort(effort),
    }
    made = replace(
        start,
        name=name or start.name,
        inputs=tuple(items),
        constraints=(*start.constraints, *(constraint or ())),
        pool=pool or start.pool,
        labels=tuple(label or start.labels),
        categories=tuple(category or start.categories),
        outputs=_outputs(start, output, unit, outputs),
        weights={**start.weights, **(numbers.by_name(weight, "--weight") or {})},
        choose=choose or start.choose,
        goal=goal or start.goal,
        learning={**start.learning, **{key: value for key, value in given.items() if value is not None}},
    )
    campaign = made.create(where)
    record = {"campaign": campaign.name, "where": campaign.where, "inputs": len(campaign.setup.columns)}
    text = f"Campaign {campaign.name!r} with {counted(len(campaign.setup.columns), 'input')} is in {campaign.where}."
    show_record(record, shape, f"{text}\nNext: ridgeway ask -n 4 -o next.csv{same_campaign(where, name)}")


def demo(
    observations: Annotated[int, typer.Option(help="Experiments to learn from.", **numbers.whole(1))] = 80,
    inputs: Annotated[int, typer.Option(help="Inputs of the function.", **numbers.whole(1))] = 20,
) -> None:
    """Watch a function of many inputs being learned, actively and at random (about a minute).

    \b
    Example:
      ridgeway demo --observations 40 --inputs 10
    """
    from ridgeway.cli import demo as demonstration

    raise typer.Exit(demonstration.main(["--observations", str(observations), "--inputs", str(inputs)]))


def _outputs(start: Plan, name: str | None, unit: str | None, several: Texts | None) -> tuple[Output, ...]:
    """The outputs that options name, or those of a plan."""
    if several and (name is not None or unit is not None):
        raise CampaignError("give --output once for each output, with its unit, or --output-name and --output-unit")
    if several:
        return tuple(Output.read(text) for text in several)
    if name is None and unit is None:
        return start.outputs
    if len(start.outputs) > 1:
        raise CampaignError("the plan has several outputs: give them there, or --output once for each")
    return (replace(start.outputs[0], name=name or start.outputs[0].name, unit=unit or start.outputs[0].unit),)


def _check_file(path: Path | None, what: str) -> None:
    """Refuse an input in the place of a file that has one in each of its rows, and say where it goes."""
    if path is None or path.exists():
        return
    try:
        from_words(str(path))
    except (CampaignError, ValueError):
        return  # a file that is not there
    raise CampaignError(f"{what}, and {str(path)!r} is an input: give it with --input, once for each input")


def _directions(text: str | None) -> int | str | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else text


def _effort(text: str | None) -> str | float | None:
    """A word, or seconds."""
    try:
        return None if text is None else written_numbers.decimal(text)
    except ValueError:
        return text
