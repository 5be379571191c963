"""Commands that say what follows from what was learned: ``sensitivity`` and ``integrate``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ridgeway.campaign import results, sheets
from ridgeway.campaign.campaign import Campaign
from ridgeway.campaign.inputs import Input
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
    narrowest,
    opened,
    remark,
    say,
    show,
    show_record,
    shown_progress,
    window,
    wrapped,
)
from ridgeway.errors import CampaignError
from ridgeway.text.counts import counted

if TYPE_CHECKING:
    from ridgeway.belief.estimates import Estimate
    from ridgeway.belief.sensitivity import Sensitivity
    from ridgeway.campaign.belief_chain import BeliefChain
    from ridgeway.spaces.space import Space

Rivals = Annotated[
    bool,
    typer.Option("--rivals/--no-rivals", help="Weigh in models with a length scale for each input, by evidence."),
]
Over = Annotated[
    Path | None,
    typer.Option(
        "--over", help="A .csv, .xlsx or .parquet file of points to average over, in place of the box or the pool."
    ),
]
_COLUMNS = ["input", "first order", "total"]
_FEW = 3  # inputs that are named in a heading
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
        belief = _looked(campaign, of).belief()
        inputs = campaign.setup.inputs
        found = belief.sensitivity(None if inputs is None else inputs.box.unconstrained, rivals=rivals)
        answer = belief.is_ridge().sentence if rivals and belief.model.has_directions else ""
    if output is not None:
        sheets.write(output, *_numbers(found, len(found.labels)), comma)
        say(f"{counted(len(found.labels), 'row')} written to {output}.")
    elif shape is Format.table:
        show(_COLUMNS, _rows(found, top), shape, last=2)
        _tell_rest(found, top)
    else:
        show(*_numbers(found, top), shape, comma=comma)
    if answer:
        remark(f"Is it embeddable? {answer}")
    if inputs is not None and inputs.constraints:
        remark("The indices are over the whole box: they need inputs that vary independently, constraints aside.")


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
        chain = _looked(campaign, of)
        measure, place = _measured(campaign, chain.learner.space, points)
        found = chain.belief().distribution(measure, rivals=rivals)
    parts = [("mean", found.mean), ("standard deviation", found.std)]
    parts += [(f"{100 * q:.0f} % quantile", found.quantile(q)) for q in _QUANTILES]
    parts += [(f"probability above {limit:g}", found.exceedance(limit)) for limit in above or []]
    label = campaign.setup.outputs.one(of).label
    record: dict[str, Any] = {"output": label, "over": place, "points": None if points is None else len(points)}
    for key, estimate in parts:
        record |= _sides(key.replace(" ", "_").replace("%", "percent"), estimate)
    record["mean_std"] = float(found.mean.std)
    weights = found.how.shares
    record |= {f"weight of {name}": w for name, w in weights.items()} if shape is Format.csv else {"models": weights}
    width = max(len(key) for key, _ in parts)
    lines = wrapped(f"{label} over {place} (95 % intervals)")
    lines += [f"  {key:<{width}}  {estimate.text()}" for key, estimate in parts]
    show_record(record, shape, "\n".join(lines))


def _looked(campaign: Campaign, of: str | None) -> BeliefChain:
    """What is known of an output, with its learner; before the first result there is nothing to say."""
    view = campaign.output(of)
    if not any(view.name in trial.values for trial in campaign.all_trials()):
        raise CampaignError(
            "there is no result yet: `ridgeway ask` gives experiments, `ridgeway tell` takes what came out"
        )
    chain = view.looked()
    chain.belief()
    return chain


def _measured(campaign: Campaign, space: Space, points: Any) -> tuple[Any, str]:
    """What is averaged over, and what that is called: points of the user's own, else all where experiments may be."""
    from ridgeway.active.integral import own_measure  # help must not wait for SciPy
    from ridgeway.spaces.pool import Pool

    if points is not None:
        return points, counted(len(points), "point")
    if not isinstance(space, Pool):
        allowed = _allowed(campaign)
        return allowed, _of_box(campaign, allowed)
    measure = own_measure(space)
    n, among = len(measure.points), len(space)
    called = f"{n:,} of the {among:,} points" if n < among else f"the {counted(n, 'point')}"
    return measure, f"{called} of the pool"


def _of_box(campaign: Campaign, allowed: Any) -> str:
    """The part of a campaign's box that is averaged over."""
    inputs = campaign.setup.inputs
    if allowed is None or inputs is None:
        return "the box"
    if inputs.constraints:
        return "what the constraints allow"
    stepped = [item.name for item in inputs.items if isinstance(item, Input) and item.spacing]
    kinds = {"level": [levels.name for levels in inputs.levels], "step": stepped}
    likely = [f"every {kind} of {_several(names)}" for kind, names in kinds.items() if names]
    return f"the box, {' and '.join(likely)} as likely" if likely else "the box"


def _several(names: Sequence[str]) -> str:
    """Names of inputs, or how many there are."""
    return f"{len(names)} inputs" if len(names) > _FEW else ", ".join(names)


def _allowed(campaign: Campaign) -> Any:
    """The box of a campaign whose inputs are not free to take every value in it."""
    inputs = campaign.setup.inputs
    if inputs is None or not (inputs.box.constraints or inputs.box.categories or inputs.box.steps):
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
    remark(f"Mean {found.mean.text()}, standard deviation {found.std.text()}; 95 % intervals.")
    weights = ", ".join(f"{name} {100 * weight:.0f} %" for name, weight in found.models.items())
    remark(f"Weights of the models: {weights}.")


def _rows(found: Sensitivity, top: int) -> list[list[str]]:
    """Input, first-order and total index: with three digits, or as the window has room for them."""
    for style in ("{0:.3f} ({1:.3f} to {2:.3f})", "{0:.2f} ({1:.2f} to {2:.2f})", "{0:.2f}\n({1:.2f} to {2:.2f})"):
        rows = [
            [
                found.labels[j],
                *(style.format(one.mean[j], one.low[j], one.high[j]) for one in (found.first, found.total)),
            ]
            for j in found.ranking[:top]
        ]
        if narrowest(_COLUMNS, rows) <= window():
            break
    return rows


def _sides(key: str, estimate: Estimate) -> dict[str, float]:
    """An estimate and its interval in cells of their own."""
    sides = {"": estimate.mean, "_low": estimate.low, "_high": estimate.high}
    return {f"{key}{side}": float(value) for side, value in sides.items()}
