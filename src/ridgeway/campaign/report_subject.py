"""A campaign as the subject of a report: its names, units and values, and the numbers of its trials."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ridgeway.belief.directions import UnavailableError
from ridgeway.belief.subspace import SubspaceUncertainty, uncertainty
from ridgeway.campaign import corrections, table
from ridgeway.campaign.belief_chain import BeliefChain, observed
from ridgeway.campaign.corrections import Entry
from ridgeway.campaign.inputs import Category, Fixed, Input, InputList, Item
from ridgeway.campaign.replay import Chain
from ridgeway.campaign.stopping import Errors, advise
from ridgeway.campaign.trial import Trial
from ridgeway.errors import NothingLeftError
from ridgeway.plots.error_course import ErrorCourse, ErrorStep
from ridgeway.report.points import Points, Suggestions
from ridgeway.report.reproduce import reproduce
from ridgeway.report.subject import EXHAUSTED, NONE_ASKED, Subject, nothing
from ridgeway.report.tables import Table, number
from ridgeway.text.counts import counted
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief
    from ridgeway.campaign.campaign import Campaign
    from ridgeway.campaign.setup import Setup

_COLUMNS = 8  # inputs of a failed trial that are shown
_AHEAD = 8  # numbers of further experiments of which the error is drawn
_FEW = 6  # inputs that are fixed and named in a sentence
NotesOf = Callable[[Array], Mapping[str, str]]


def subjects(
    campaign: Campaign,
    chains: Sequence[BeliefChain],
    ahead: Chain,
    trials: Sequence[Trial],
    n: int,
    notes_of: NotesOf,
    targets: Mapping[str, float],
) -> list[Subject]:
    """The subjects of a report on a campaign, one for each output whose belief one of ``chains`` holds.

    With the chain ``ahead`` the next ``n`` points are chosen: nothing of it is stored. ``notes_of`` gives the columns
    of text that go with a pool's point; ``targets`` are the errors that are wanted, by output.
    """
    for chain in ahead.beliefs:  # what was fitted to look at is not fitted again
        chain.fit = next((other.fit for other in chains if other.output == chain.output), chain.fit)
    suggested = _suggested(ahead, n, notes_of)
    return [_subject(campaign, chain, suggested, trials, notes_of, targets.get(chain.output.name)) for chain in chains]


def _subject(
    campaign: Campaign,
    chain: BeliefChain,
    suggested: Suggestions,
    trials: Sequence[Trial],
    notes_of: NotesOf,
    target: float | None,
) -> Subject:
    setup, learner, belief, output = campaign.setup, chain.learner, chain.belief(), chain.output
    notes = tuple(notes_of(trials[0].x)) if trials else ()
    inputs, name = setup.inputs, output.name
    learns = learner.goal == "learn" and learner.record.n >= chain.needed
    errors = chain.expected_errors(target) if learns else None
    failed = [t for t in trials if name in t.results and name not in t.values]
    return Subject(
        belief,
        learner,
        labels=setup.names if inputs is None else inputs.axes,
        observed=_points(setup, observed(trials, name), notes),
        columns=tuple(range(len(setup.names))) if inputs is None else inputs.free,
        pending=_points(setup, [t for t in trials if t.state == "asked" and name not in t.results], notes),
        suggested=suggested,
        reproduce=reproduce(belief, learner, _command(campaign), _inputs(setup)),
        output=output.label,
        standing=f"The campaign {campaign.name!r} so far: {table.counted(trials)}.",
        remarks=(f"The response is {output.label}.", *_logged(inputs), *_leveled(inputs), *_constrained(inputs)),
        fixed=_fixed(inputs),
        advice=_advice(chain, suggested, target, errors),
        history=_course(chain, belief),
        corrections=_corrections(campaign.corrections),
        failed=_failed(setup, failed),
        unit=output.unit or "",
        box=None if inputs is None else inputs.box,
        errors=None if errors is None else _error_course(errors, output.label),
    )


def _error_course(errors: Errors, output: str) -> ErrorCourse:
    """Errors as each fit expected them, fits of early versions aside, and as they are expected to become."""
    f = errors.forecast
    low, high = (end / f.now for end in f.interval())
    past = [ErrorStep(n, error, low * error, high * error) for n, error in errors.course if n < f.observations]
    last = f.more[-1]
    about = 0.0 if errors.needed is None or errors.reached or errors.needed[1] > last else 1.2 * errors.needed[1]
    reach = min(max(float(errors.batch), 0.5 * f.observations, about), last)
    more = np.unique(np.round(np.geomspace(1.0, max(reach, 1.0), _AHEAD))).tolist() if reach else []
    ahead = [ErrorStep(f.observations + int(n), f.after(n), *f.interval(n)) for n in more]
    now = ErrorStep(f.observations, f.now, *f.interval())
    return ErrorCourse((*past, now), tuple(ahead), errors.target, output, errors.unit or "")


def _failed(setup: Setup, trials: Sequence[Trial]) -> Table | None:
    """Trials that gave no value, with the reasons and some of their inputs."""
    if not trials:
        return None
    rows = tuple(
        (str(t.id), t.reason or "", t.settled_by or "", *(number(float(v), 6) for v in t.x[:_COLUMNS])) for t in trials
    )
    head = ("trial", "reason", "by", *setup.labels[:_COLUMNS])
    return Table(head, rows, f"{counted(len(rows), 'trial')} failed.", words=False)


def _corrections(entries: Sequence[Entry]) -> Table | None:
    """What was changed about trials that had their outcome."""
    rows = [[str(cell) for cell in row] for row in corrections.listed(entries)]
    if not rows:
        return None
    caption = f"{counted(len(rows), 'correction')}; the table above has the values that are right."
    return Table(corrections.HEAD, tuple(tuple(row) for row in rows), caption, words=False)


def _points(setup: Setup, trials: Sequence[Trial], notes: Sequence[str]) -> Points:
    values = np.stack([t.x for t in trials]) if trials else np.zeros((0, len(setup.names)))
    columns = table.named(setup, notes)
    kept = {name: [(t.notes or {}).get(key, "") for t in trials] for name, key in zip(columns, notes, strict=True)}
    kept |= {levels.name: [levels.word(t.x) for t in trials] for levels in setup.levels}
    return Points(values, setup.labels, tuple(str(t.id) for t in trials), kept)


def _suggested(ahead: Chain, n: int, notes_of: NotesOf) -> Suggestions:
    """What an ask for ``n`` would return, each with its expected information in nats."""
    columns = ahead.setup.labels
    if not n:
        return nothing(columns, NONE_ASKED)
    n = int(min(n, ahead.record.n_left))
    if not n:
        return nothing(columns, EXHAUSTED)
    try:
        values, expected = ahead.choose(n)
    except NothingLeftError as reason:
        return nothing(columns, str(reason))
    rows = [notes_of(x) for x in values]
    named = zip(table.named(ahead.setup, tuple(rows[0])), rows[0], strict=True)
    notes = {name: [row[key] for row in rows] for name, key in named}
    notes |= {levels.name: [levels.word(x) for x in values] for levels in ahead.setup.levels}
    nats = np.array([np.nan if value is None else value for value in expected])
    return Suggestions(ahead.setup.coordinates(values), nats, Points(values, columns, notes=notes))


def _advice(chain: BeliefChain, suggested: Suggestions, target: float | None, errors: Errors | None) -> tuple[str, ...]:
    """Whether to go on, where the first suggestion is the best experiment there is."""
    if chain.learner.acquisition not in ("bald", "information") or not np.isfinite(suggested.nats[:1]).any():
        return ()
    if chain.setup.outputs.only is None:  # the suggestions are for others, too, so the best for this one is another
        aim = chain.setup.outputs.goal
        how = _CHOSEN[chain.setup.outputs.choose] if aim is None else f"They are chosen to {aim.goal} {aim.label}."
        return how, str(chain.advice(target))
    return (str(advise(float(suggested.nats[0]), *chain.subspace, errors or chain.expected_errors(target))),)


_CHOSEN = {
    "sum": "They are chosen for all outputs together: the information is the sum over these.",
    "turns": "They are chosen for one output after the other: the information is about the one whose turn it is.",
}


def _course(chain: BeliefChain, belief: Belief) -> tuple[SubspaceUncertainty, ...]:
    """How well the subspace was known at each ask; fits of early versions did not store it."""
    assert chain.fit is not None
    kept = tuple(SubspaceUncertainty(*step) for step in chain.fit.summary.get("course", ()))
    if kept:
        return kept
    try:
        return (uncertainty(belief),)
    except UnavailableError:
        return ()


def _logged(inputs: InputList | None) -> tuple[str, ...]:
    if inputs is None or not any(isinstance(item, Input) and item.log for item in inputs.items):
        return ()
    return (
        "Inputs on a log scale enter as the logarithm to base 10 of their values, so that each decade counts alike.",
    )


def _leveled(inputs: InputList | None) -> tuple[str, ...]:
    return tuple(
        f"{levels.name} is one input with the levels {', '.join(levels.words)}: in the directions each is a column of "
        "0 and 1."
        for levels in (() if inputs is None else inputs.levels)
    )


def _constrained(inputs: InputList | None) -> tuple[str, ...]:
    if inputs is None or not inputs.constraints:
        return ()
    return (
        f"Proposals satisfy {'; '.join(map(inputs.shown, inputs.constraints))}.",
        "Sobol indices and effects are over the whole box, constraints aside: they need inputs that vary freely.",
    )


def _fixed(inputs: InputList | None) -> str:
    held = [] if inputs is None else [item for item in inputs.items if isinstance(item, Fixed)]
    if not held:
        return ""
    if len(held) > _FEW:
        return f"{counted(len(held), 'more input')} are held fixed; they are in the file."
    return f"Held fixed: {', '.join(f'{item.label} at {number(item.value)}' for item in held)}."


def _inputs(setup: Setup) -> Table:
    """What varies, and between which ends."""
    if setup.inputs is None:
        rows = tuple((name, "column of the pool") for name in setup.names)
        return Table(("input", "what it is"), rows, f"{counted(len(rows), 'input')} of the pool.")
    rows = tuple((item.label, _described(item)) for item in setup.inputs.items)
    caption = f"{counted(len(rows), 'input')} of the campaign."
    held = tuple(("constraint", setup.inputs.shown(constraint)) for constraint in setup.inputs.constraints)
    return Table(("input", "what it is"), rows + held, caption)


def _described(item: Item) -> str:
    if isinstance(item, Fixed):
        return f"fixed at {number(item.value)}"
    if isinstance(item, Category):
        return f"one of {', '.join(item.levels)}"
    kinds = ["log scale"] * item.log + ["whole numbers"] * item.integer
    kinds += [] if item.step is None else [f"in steps of {number(item.step)}"]
    return ", ".join([f"{number(item.lower)} to {number(item.upper)}", *kinds])


def _command(campaign: Campaign) -> str:
    """Without the folder or the server's address: a report may be passed on."""
    place = "ADDRESS" if "://" in campaign.where else Path(campaign.where).name
    return f"ridgeway report --campaign {shlex.quote(place)} --name {shlex.quote(campaign.name)} -o report.html"
