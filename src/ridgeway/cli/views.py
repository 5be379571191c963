"""Commands that only look: ``status``, ``corrections``, ``predict``, ``best`` and ``score``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer

from ridgeway.campaign import corrections as history
from ridgeway.campaign import fit_summary, results, sheets, table
from ridgeway.campaign.campaign import Campaign
from ridgeway.campaign.columns import note_names
from ridgeway.campaign.outputs import OutputList
from ridgeway.campaign.stopping import Advice, about_directions
from ridgeway.campaign.store import now
from ridgeway.campaign.transitions import age
from ridgeway.campaign.trial import Trial
from ridgeway.cli import bulk, numbers
from ridgeway.cli.common import (
    DEFAULT,
    PARTS,
    Comma,
    Encoding,
    Force,
    Format,
    Name,
    Output,
    Shape,
    Where,
    check_comma,
    check_new,
    opened,
    remark,
    say,
    show,
    show_record,
    shown_progress,
    wrapped,
)
from ridgeway.errors import CampaignError
from ridgeway.text.counts import counted
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.campaign.outputs import Output as Measured

Sheet = Annotated[Path, typer.Argument(help="A .csv, .xlsx or .parquet file with a column for each input.")]
_RECENT = 5  # choices whose expected information is averaged
_SHOWN = 6  # inputs whose shares are shown
_AHEAD = 300.0  # seconds by which the clocks of two machines may differ without a word
_BAR = 8  # characters of a bar for a share of 1: a line fits 60 columns


def status(
    advice: Annotated[bool, typer.Option("--advice", help="Also compute what the next experiment promises.")] = False,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target-error",
            help="An error of predictions, 'cost=0.5' of several outputs: says how many more reach it.",
        ),
    ] = None,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Where the campaign stands: what is pending, what was learned, whether to go on.

    \b
    Examples:
      ridgeway status
      ridgeway status --advice --format json
      ridgeway status --target-error 0.5
    """
    campaign = opened(where, name)
    given = _advice(campaign, target) if advice or target else None  # first: it fits what is new
    trials, outputs = campaign.all_trials(), campaign.setup.outputs
    summaries = {output.name: campaign.summary(output.name) for output in outputs.items}
    corrected = history.corrected(campaign.corrections)
    counts = Counter(str(trial.state) for trial in trials)
    goal = outputs.goal  # with one, experiments are not chosen for what they teach
    chosen = [t.expected for t in trials if t.expected is not None and goal is None][-_RECENT:]
    expected = sum(chosen) / len(chosen) if chosen else None
    leading = None if goal is None else _leading(trials, goal)
    record: dict[str, Any] = {
        "campaign": campaign.name,
        "inputs": len(campaign.setup.columns),
        **({"output": outputs.only.label} if outputs.only else {"outputs": list(outputs.labels)}),
        **{state: counts[state] for state in ("told", "attached", "asked", "failed", "abandoned")},
        "pending": [trial.id for trial in trials if trial.state == "asked"],
        "awaited": {str(trial.id): list(trial.awaited) for trial in trials if trial.state == "asked" and trial.results},
        "corrections": len(corrected),
        "expected_nats": expected,
        **({} if goal is None else {"best_outcome": leading and leading.values[goal.name]}),
        **({} if goal is None else {"best_outcome_trial": leading and leading.id}),
        **({"belief": summaries[outputs.only.name]} if outputs.only else {"beliefs": summaries}),
    }
    lines = [*_head(campaign, trials), *_corrected(corrected)]
    promise = [] if expected is None else wrapped(f"The last choices were expected to teach {expected:.2g} nats each.")
    if goal is not None and leading is not None:
        promise = _best_so_far(goal, leading, given)
    if outputs.only:
        lines += _learned(summaries[outputs.only.name], promise, given)
    else:
        lines += _learned_of_each(outputs, summaries, promise, given)
    record |= {} if given is None else _as_record(given)
    show_record(record, shape, "\n".join(lines))


def _leading(trials: Sequence[Trial], goal: Measured) -> Trial | None:
    """The trial with the best outcome."""
    seen = [trial for trial in trials if goal.name in trial.values]
    sign = 1.0 if goal.goal == "minimize" else -1.0
    return min(seen, key=lambda trial: sign * trial.values[goal.name], default=None)


def _best_so_far(goal: Measured, leading: Trial, given: Advice | None) -> list[str]:
    """How far a search for the best has come, and where it says what the next experiment is expected to improve."""
    text = f"The best {goal.label} so far is {leading.values[goal.name]:.5g}, of trial {leading.id}."
    if given is None:
        text += " By how much the next is expected to improve on it: ridgeway status --advice"
    return wrapped(text)


def _advice(campaign: Campaign, target: Sequence[str] | None) -> Advice:
    wanted = numbers.by_name(target, "--target-error")
    with shown_progress(campaign):
        return campaign.should_stop(wanted)


def _as_record(given: Advice) -> dict[str, Any]:
    record: dict[str, Any] = {"stop": given.stop, "nats": given.nats, "degrees": given.degrees, "advice": given.text}
    record |= {"error": given.error, "error_after": given.error_after, "after": given.batch}
    if given.needed is not None:
        found = [None if math.isinf(n) else math.ceil(n) for n in given.needed]
        record["needed"] = dict(zip(("fewest", "about", "most"), found, strict=True))
    if given.parts:
        record["outputs"] = {label: _as_record(part) for label, part in given.parts.items()}
    return record


def _learned_of_each(
    outputs: OutputList, summaries: dict[str, Any], promise: Sequence[str], given: Advice | None
) -> list[str]:
    """What is known of each of several outputs, and the advice for all."""
    lines = [*promise]
    for output in outputs.items:
        advice = None if given is None else given.parts.get(output.label)
        lines += ["", output.label, *_learned(summaries[output.name], (), advice)]
    return lines if given is None else [*lines, "", given.text.splitlines()[-1]]


def corrections(
    output: Output = None,
    force: Force = False,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """List what was corrected: which trial, what it was and is, why, by whom and when.

    \b
    Examples:
      ridgeway corrections
      ridgeway corrections -o corrections.csv
    """
    check_new(output, force)
    rows = history.listed(opened(where, name).corrections)
    if not rows and output is None and shape is Format.table:
        print("Nothing was corrected.")
    else:
        _deliver(list(history.HEAD), rows, output, False, shape, last=4)


def predict(
    file: Sheet,
    output: Output = None,
    force: Force = False,
    comma: Comma = False,
    encoding: Encoding = None,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Predict each output at the points of a file: mean and standard deviation, noise not included.

    \b
    Examples:
      ridgeway predict grid.csv
      ridgeway predict grid.csv -o predicted.xlsx
      ridgeway predict big.parquet -o out.parquet
    """
    check_new(output, force)
    check_comma(comma, output, shape)
    if output is not None and bulk.is_bulk(file, output):
        campaign = opened(where, name)
        with shown_progress(campaign):
            n = bulk.predict(campaign, file, output)
        say(f"Wrote {counted(n, 'row')} to {output}.")
        return
    campaign, sheet = opened(where, name), sheets.read(file, encoding)
    values = results.points(sheet, campaign.setup)
    with shown_progress(campaign):
        found = campaign.predictions(values)
    parts = [cells.tolist() for prediction in found.values() for cells in (prediction.mean, prediction.std)]
    columns = [*campaign.setup.columns]
    for label, std in campaign.setup.outputs.predicted(found):
        columns += [label, *note_names([*columns, label], [std])]
    rows = [[*campaign.setup.cells(point), *cells] for point, *cells in zip(values, *parts, strict=True)]
    _deliver(columns, rows, output, comma, shape, last=2 * len(found))


def best(where: Where = DEFAULT, name: Name = None, shape: Shape = Format.table) -> None:
    """The best point so far, with what is predicted there: for campaigns that minimize or maximize.

    \b
    Examples:
      ridgeway best
      ridgeway best --format json
    """
    campaign = opened(where, name)
    with shown_progress(campaign):
        found = campaign.best()
    trial, seen, (low, high) = found.trial, found.observed, found.interval
    setup, goal = campaign.setup, campaign.setup.outputs.goal
    assert goal is not None
    outcome, best_outcome = trial.values[goal.name], seen.values[goal.name]
    others = {name: value for name, value in trial.values.items() if name != goal.name}
    notes = dict(trial.notes or {}) if setup.pool is not None else {}  # such as the number of a candidate
    outcomes = {"outcome": outcome, "predicted": found.value}
    ends = {"best_outcome": best_outcome, "best_outcome_trial": seen.id}
    if shape is Format.csv:
        first, last = {"trial": trial.id, **notes}, {**outcomes, "predicted_low": low, "predicted_high": high, **ends}
        last |= {setup.outputs.one(name).label: value for name, value in others.items()}
        names = note_names(setup.columns, [*first, *last])
        cells = [*first.values(), *setup.cells(trial.x), *last.values()]
        show([*names[: len(first)], *setup.columns, *names[len(first) :]], [cells], shape)
        return
    record = {"trial": trial.id, **({"notes": notes} if notes else {}), "inputs": trial.inputs, **outcomes}
    record |= {"interval": [low, high], **ends, **({"others": others} if others else {})}
    shown = notes | dict(zip(setup.columns, setup.cells(trial.x), strict=True))
    width = max(map(len, shown))
    lines = [
        *wrapped(f"{setup.goal} {goal.label}: trial {trial.id} is best so far"),
        *(f"  {label:<{width}}  {cell if isinstance(cell, str) else f'{cell:g}'}" for label, cell in shown.items()),
        *wrapped(f"predicted {found.value:.5g} (95 % interval {low:.5g} to {high:.5g}), observed {outcome:.5g}"),
        *(f"{setup.outputs.one(name).label} was {value:.5g} there" for name, value in others.items()),
    ]
    if seen.id != trial.id:
        luck = "; as far as the model can tell that was luck" if _may_be_luck(campaign) else ""
        lines += wrapped(f"Trial {seen.id} had the best outcome, {best_outcome:.5g}{luck}.")
    show_record(record, shape, "\n".join(lines))


def _may_be_luck(campaign: Campaign) -> bool:
    """Whether noise is large enough for the best outcome to be worth no more than that of the best trial."""
    from ridgeway.report.best_point import may_be_luck

    goal = campaign.setup.outputs.goal
    assert goal is not None
    chain = campaign.output(goal.name).looked()
    return may_be_luck(chain.learner, chain.best())


def score(
    file: Sheet,
    top: Annotated[int, typer.Option("--top", help="How many of the best to show.", **numbers.whole(1))] = 10,
    output: Output = None,
    force: Force = False,
    comma: Comma = False,
    encoding: Encoding = None,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Rank the points of a file by what an experiment there promises.

    That is information in nats, of all outputs, weighed; in a campaign that minimizes or maximizes it is the expected
    improvement on the best value so far. A Parquet file is read some rows at a time, however large it is.

    \b
    Example:
      ridgeway score pool.parquet --top 10
    """
    check_new(output, force)
    check_comma(comma, output, shape)
    campaign = opened(where, name)
    with shown_progress(campaign):
        ranking = _ranking(campaign)
        if file.suffix == ".parquet":
            lines, values, scores = bulk.best_scores(campaign, file, top, ranking.scored)
        else:
            sheet = sheets.read(file, encoding)
            values = results.points(sheet, campaign.setup)
            ((_, scores),) = ranking.scored([values])
            order = (-scores).argsort(kind="stable")[:top]
            lines, values, scores = [sheet.lines[i] for i in order.tolist()], values[order], scores[order]
    labels = campaign.setup.columns
    columns = [*note_names(labels, ["row"]), *labels, *note_names(labels, [ranking.column])]
    cells = zip(lines, values, ranking.shown(scores).tolist(), strict=True)
    rows = [[line, *campaign.setup.cells(x), found] for line, x, found in cells]
    _deliver(columns, rows, output, comma, shape, parts=PARTS)
    if ranking.remark:
        remark(ranking.remark)


class _Ranking(NamedTuple):
    """What points are ranked by."""

    scored: bulk.Scored
    column: str = "nats"  # what scores are called where they are shown
    is_logarithm: bool = False
    remark: str = ""

    def shown(self, scores: Array) -> Array:
        """Scores as they are shown."""
        return np.exp(scores) if self.is_logarithm else scores


def _ranking(campaign: Campaign) -> _Ranking:
    """Information in a campaign that learns, else what its own acquisition promises."""
    goal = campaign.setup.outputs.goal
    if goal is None:
        return _Ranking(campaign.scores)
    view = campaign.output(goal.name)
    if not any(goal.name in trial.values for trial in campaign.all_trials()):
        raise CampaignError("there is no score before the first result: ask for experiments, and tell it")
    chain = view.looked()
    chain.belief()
    learner, own = chain.learner, str(campaign.setup.learning["acquisition"])
    if not learner.has_score or own.startswith("botorch:"):  # a function of Python, which is not here
        return _Ranking(campaign.scores, remark=f"Ranked by information: {own} gives a point no score here.")

    def scored(parts: Iterable[Array]) -> Iterator[tuple[Array, Array]]:
        for values in parts:
            yield values, learner.score(campaign.setup.coordinates(values))

    if own != "improvement":
        return _Ranking(scored, "score", remark=f"Ranked by {own}, by which this campaign chooses: larger is better.")
    unit = f" [{goal.unit}]" if goal.unit else ""
    return _Ranking(scored, f"improvement{unit}", True, f"Ranked by the expected improvement on the best {goal.label}.")


def _deliver(
    columns: list[str],
    rows: list[list[Any]],
    output: Path | None,
    comma: bool,
    shape: Format,
    last: int = 1,
    parts: int = 1,
) -> None:
    if output is None:
        show(columns, rows, shape, last, comma, parts)
    else:
        sheets.write(output, columns, rows, comma)
        say(f"{counted(len(rows), 'row')} written to {output}.")


def _head(campaign: Campaign, trials: tuple[Trial, ...]) -> list[str]:
    setup = campaign.setup
    many = len(setup.columns)
    kind = "a pool of candidates" if setup.inputs is None else counted(many, "input")
    lines = wrapped(f"Campaign {campaign.name!r}: {kind}, {setup.target}")
    lines += wrapped(f"  {table.counted(trials)}")
    pending, at = [trial for trial in trials if trial.state == "asked"], now()
    if pending:
        numbers = ", ".join(str(trial.id) for trial in pending[:8]) + (", ..." if len(pending) > 8 else "")
        lines.append(f"  pending: {numbers}")
        oldest = max(pending, key=lambda trial: age(trial, at))
        lines += [f"  {t.id} awaits {', '.join(t.awaited)}" for t in pending[:8] if t.results]
        lines.append(f"  the longest for {_age(age(oldest, at))} ({oldest.asked_by})")
        ahead = [trial for trial in pending if age(trial, at) < -_AHEAD]
        if ahead:
            when = history.moment(ahead[0].asked_at or "")
            lines += wrapped(
                f"Warning: trial {ahead[0].id} was asked for in the future ({when}, {ahead[0].asked_by}): a clock is "
                "wrong. ridgeway reclaim takes it over."
            )
    return lines


def _corrected(entries: Sequence[history.Entry]) -> list[str]:
    """How much was corrected, and what came last."""
    if not entries:
        return []
    last, many = entries[-1], f"{len(entries)} correction{'s' * (len(entries) > 1)}"
    return wrapped(f"{many}, the last of trial {last['trial']}: {history.what(last)}. All: ridgeway corrections")


def _learned(summary: dict[str, Any] | None, promise: Sequence[str], given: Advice | None) -> list[str]:
    advice = [] if given is None else wrapped(given.text)
    if summary is None:
        return ["  nothing fitted yet", *promise, *advice]
    interval = " (90 % interval)" if "intervals" in summary else ""
    lines = [f"After {counted(summary['observations'], 'outcome')}, share of the variation{interval}:"]
    lines += _shares(summary)
    if given is None or given.nats is None:  # else the advice says it
        degrees = fit_summary.angle(summary, summary["observations"])
        lines += wrapped(" ".join(about_directions(degrees, fit_summary.n_directions(summary))))
    lines += promise
    for warning in summary["warnings"]:
        lines += wrapped(f"Warning: {warning}")
    return lines + advice


def _shares(summary: dict[str, Any]) -> list[str]:
    """The inputs that matter most, each with its share, a bar, and the central 90 % of draws where they are kept."""
    shares = summary["inputs"][:_SHOWN]
    intervals = summary.get("intervals", [None] * len(shares))[:_SHOWN]
    width = min(24, max(len(name) for name, _ in shares))
    lines = [
        f"  {name if len(name) <= width else name[: width - 1] + '…':<{width}} {100 * share:5.1f} %"
        f"{'' if ends is None else f'  ({100 * ends[0]:3.0f} to {100 * ends[1]:3.0f} %)'}  {'█' * round(_BAR * share)}"
        for (name, share), ends in zip(shares, intervals, strict=True)
    ]
    return [line.rstrip() for line in lines]


def _age(passed: float) -> str:
    if passed == float("inf"):
        return "some time"
    for size, unit in ((86400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if passed >= size:
            return f"{passed / size:.0f} {unit}"
    return f"{max(passed, 0.0):.0f} s"
