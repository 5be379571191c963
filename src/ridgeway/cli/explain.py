"""Commands that say what follows from what was learned: ``sensitivity`` and ``integrate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ridgeway.campaign import results, sheets
from ridgeway.campaign.campaign import Campaign
from ridgeway.cli import numbers
from ridgeway.cli.common import (
    DEFAULT,
    Comma,
    Encoding,
    Force,
    Format,
    Name,
    Of,
    Output,
    Shape,
    Where,
    check_comma,
    check_new,
    opened,
    say,
    show,
    show_record,
    shown_progress,
)

if TYPE_CHECKING:
    from ridgeway.belief.estimates import Estimate
    from ridgeway.belief.sensitivity import Sensitivity

Rivals = Annotated[
    bool,
    typer.Option("--rivals/--no-rivals", help="Weigh in models with a length scale for each input, by evidence."),
]
Over = Annotated[
    Path | None,
    typer.Option("--over", help="A .csv, .xlsx or .parquet file of points to average over, in place of the whole box."),
]
_QUANTILES = (0.05, 0.5, 0.95)


def sensitivity(
    top: Annotated[int, typer.Option("--top", help="How many inputs to show.", **numbers.whole(1))] = 20,
    rivals: Rivals = True,
    of: Of = None,
    output: Output = None,
    force: Force = False,
    comma: Comma = False,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Which inputs matter: first-order and total Sobol indices, with 95 % intervals.

    Inputs vary uniformly and independently over their ranges, those on a log scale in their logarithm. Of a category
    every level is as likely.

    \b
    Examples:
      ridgeway sensitivity
      ridgeway sensitivity --top 5 --format json
      ridgeway sensitivity -o indices.xlsx
    """
    check_new(output, force)
    check_comma(comma, output, shape)
    campaign = opened(where, name)
    with shown_progress(campaign):
        belief = campaign.output(of).belief
        inputs = campaign.setup.inputs
        found = belief.sensitivity(None if inputs is None else inputs.box.unconstrained, rivals=rivals)
        answer = belief.is_ridge().sentence if rivals and belief.model.has_directions else ""
    if output is not None:
        sheets.write(output, *_numbers(found, len(found.labels)), comma)
        say(f"{len(found.labels)} rows written to {output}.")
    elif shape is Format.table:
        show(["input", "first order", "total"], [list(row[:3]) for row in found.rows(top)], shape, last=2)
        _tell_rest(found, top)
    else:
        show(*_numbers(found, top), shape, comma=comma)
    if answer:
        say(f"Is it embeddable? {answer}")
    if inputs is not None and inputs.constraints:
        say("The indices are over the whole box: they need inputs that vary independently, constraints aside.")


def integrate(
    over: Over = None,
    above: Annotated[
        list[float] | None,
        typer.Option("--above", help="Also the probability that the output is above this.", **numbers.decimal()),
    ] = None,
    rivals: Rivals = True,
    of: Of = None,
    encoding: Encoding = None,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """The output's mean over the inputs, its spread and its quantiles, with 95 % intervals; noise is not included.

    \b
    Examples:
      ridgeway integrate
      ridgeway integrate --above 300 --above 350
      ridgeway integrate --over production.csv
    """
    campaign = opened(where, name)
    points = None if over is None else _points(campaign, over, encoding)
    with shown_progress(campaign):
        belief, allowed = campaign.output(of).belief, None if points is not None else _allowed(campaign)
        integral = belief.integrate(points if allowed is None else allowed)
        found = belief.distribution(points if allowed is None else allowed, rivals=rivals)
    parts = [("standard deviation", found.std)]
    parts += [(f"{100 * q:.0f} % quantile", found.quantile(q)) for q in _QUANTILES]
    parts += [(f"probability above {limit:g}", found.exceedance(limit)) for limit in above or []]
    label = campaign.setup.outputs.one(of).label
    record: dict[str, Any] = {
        "output": label,
        "points": None if points is None else len(points),
        "mean": integral.mean,
        "mean_std": integral.std,
        **{key.replace(" ", "_").replace("%", "percent"): _triple(estimate) for key, estimate in parts},
        "models": found.how.shares,
    }
    low, high = integral.interval()
    place = "the box" if points is None else f"{len(points)} points"
    place = place if allowed is None else "what constraints and levels allow"
    lines = [f"{label} over {place} (95 % intervals)", f"  {'mean':<22} {integral.mean:.5g} ({low:.5g} to {high:.5g})"]
    lines += [f"  {key:<22} {estimate.text()}" for key, estimate in parts]
    show_record(record, shape, "\n".join(lines))


def _allowed(campaign: Campaign) -> Any:
    """The box of a campaign whose inputs are not free to take every value in it."""
    inputs = campaign.setup.inputs
    if inputs is None or not (inputs.box.constraints or inputs.box.categories):
        return None
    return inputs.box


def _points(campaign: Campaign, file: Path, encoding: str | None) -> Any:
    return campaign.setup.coordinates(results.points(sheets.read(file, encoding), campaign.setup))


def _numbers(found: Sensitivity, top: int) -> tuple[list[str], list[list[Any]]]:
    kinds = {"first": found.first, "total": found.total, "activity": found.activity}
    columns = ["input", *(f"{kind}{side}" for kind in kinds for side in ("", "_low", "_high"))]
    rows = [
        [found.labels[j], *(float(side[j]) for one in kinds.values() for side in (one.mean, one.low, one.high))]
        for j in found.ranking[:top]
    ]
    return columns, rows


def _tell_rest(found: Sensitivity, top: int) -> None:
    rest = len(found.labels) - top
    if rest > 0:
        say(f"{rest} more input{'s' * (rest > 1)}: --top {len(found.labels)} shows all")
    say(f"Mean {found.mean.text()}, standard deviation {found.std.text()}; 95 % intervals.")
    weights = ", ".join(f"{name} {100 * weight:.0f} %" for name, weight in found.models.items())
    say(f"Weights of the models: {weights}.")


def _triple(estimate: Estimate) -> dict[str, float]:
    return {"mean": float(estimate.mean), "low": float(estimate.low), "high": float(estimate.high)}
