"""What to run next: the section of a report about a learner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import plotly.graph_objects as go

from ridgeway import plots
from ridgeway.active import acquisition
from ridgeway.active.acquisition import resolve
from ridgeway.active.scored_points import ScoredPoints, of_learner
from ridgeway.belief.directions import UnavailableError
from ridgeway.report.content import Download, Picture, Section, picture, present
from ridgeway.report.facts import Facts
from ridgeway.report.points import Points, Suggestions
from ridgeway.report.sentences import amount
from ridgeway.report.subject import Subject
from ridgeway.report.tables import Table, csv_file, number, plan
from ridgeway.spaces.pool import Pool
from ridgeway.text.counts import counted
from ridgeway.types import Array, Mask

if TYPE_CHECKING:
    from ridgeway.active.learner import ActiveLearner

_TITLE = "What to run next"
_COLUMNS = 12  # inputs of a suggestion that are shown; the file has all


def without_learner(found: Facts) -> Section:
    """What experiments in the box would teach, where no learner knows which ones are possible."""
    drawn = picture(
        "information", "Expected information", _CAPTION.format("the box of the inputs"), lambda: _plain(found)
    )
    why = "this report is of a belief; a learner, which knows where experiments can be made, suggests the next ones"
    return Section("next", _TITLE, "", (drawn,), missing=why)


_CAPTION = "The expected information about the hyperparameters in an observation at points of {}."


def _plain(found: Facts) -> go.Figure:
    if found.directions is None:
        raise UnavailableError(found.no_directions)
    return plots.information(found.belief, found=found.directions)


def with_learner(subject: Subject, found: Facts | None, aim: Subject | None = None) -> Section:
    """The next suggestions with what they promise, and how they compare with other candidates.

    ``aim`` is the subject whose output they are to minimize or maximize, where there is one.
    """
    aim = aim or subject
    assert aim.learner is not None
    assert subject.suggested is not None
    chosen, pending = subject.suggested, subject.pending
    if chosen.missing:
        return Section("next", _TITLE, "", missing=chosen.missing)
    important = range(subject.D) if found is None else found.order
    order = [subject.columns[int(j)] for j in important[:_COLUMNS]]
    files = [_file("suggestions", "The suggestions with all inputs (CSV, gzip)", chosen.points)]
    promise = _promise(aim, chosen)
    tables: tuple[Table, ...] = (
        plan(chosen.points, promise.row, order, found is not None and found.shares_mean_something),
    )
    if pending.n:
        files.append(_file("pending", "Pending experiments (CSV, gzip)", pending))
    drawn = _pictures(aim.learner, found, chosen, promise) if found is not None and aim is subject else ()
    text = " ".join(present([promise.sentence, _waiting(pending.n), *subject.advice, subject.fixed]))
    return Section("next", _TITLE, text, drawn, tables, tuple(f for f in files if f is not None))


class _Promise(NamedTuple):
    """What suggestions promise by what the learner looks for."""

    values: Array  # (n,) each given those before it; NaN where a point fills the space, or nothing is promised
    row: tuple[str, ...]  # of a table with a column for each suggestion
    sentence: str


def _promise(aim: Subject, chosen: Suggestions) -> _Promise:
    learner, filling = aim.learner, np.isnan(chosen.nats)
    assert learner is not None
    if learner.goal == "learn":
        cells = tuple(f"{value:.3f}" for value in chosen.nats)
        return _Promise(chosen.nats, _row("expected information, nats", cells, filling), _teaches(chosen.nats))
    if not learner.has_score:
        cells = (str(learner.acquisition),) * len(filling)
        return _Promise(chosen.nats, ("chosen by", *cells), "No model chooses these points.")
    values = _improvements(learner, chosen.X, filling)
    if filling.all() or np.isnan(values[~filling]).any():
        cells = (resolve(learner.acquisition).name,) * len(filling)
        return _Promise(values, _row("chosen by", cells, filling), _FILLING if filling.all() else "")
    what = "expected improvement" + (f", {aim.unit}" if aim.unit else "")
    cells = tuple(number(float(value), 3) for value in values)
    return _Promise(values, _row(what, cells, filling), _improves(aim, values))


def _row(what: str, cells: Sequence[str], filling: Mask) -> tuple[str, ...]:
    return (what, *("fills the space" if fills else cell for cell, fills in zip(cells, filling, strict=True)))


def _improvements(learner: ActiveLearner, X: Array, filling: Mask) -> Array:
    """The expected improvement by each of ``X (n, D)``, given those before it; NaN where nothing says how much."""
    values = np.full(len(X), np.nan)
    outlook = learner.own_outlook() if resolve(learner.acquisition) == acquisition.improvement else None
    if outlook is None or not getattr(outlook, "improves", True):  # before any point keeps the limits, these come first
        return values
    for i, x in enumerate(X):
        if not filling[i]:
            values[i] = learner.promise(float(outlook.score(acquisition.improvement, x[None])[0]))[0]
        outlook = outlook.given(x[None])
    return values


_FILLING = "There are too few observations for the model to choose: these points fill the space."


def _teaches(nats: Array) -> str:
    known = nats[np.isfinite(nats)]
    if known.size == 0:
        return _FILLING
    if known.size == 1:
        return f"The best single experiment is expected to teach {amount(known[0])}."
    return f"Together these are expected to teach {amount(known.sum())}, each given those before it."


def _improves(aim: Subject, values: Array) -> str:
    assert aim.learner is not None
    unit = f"\N{NO-BREAK SPACE}{aim.unit}" if aim.unit else ""
    total = f"{number(float(np.nansum(values)), 2)}{unit}"
    best = f"the {'least' if aim.learner.goal == 'minimize' else 'largest'} {aim.output} so far"
    if np.sum(np.isfinite(values)) == 1:
        return f"The best single experiment is expected to improve on {best} by {total}."
    return f"Together these are expected to improve on {best} by {total}, each given those before it."


def _waiting(pending: int) -> str:
    if not pending:
        return ""
    return f"{counted(pending, 'experiment')} {'is' if pending == 1 else 'are'} pending and taken into account."


def _pictures(learner: ActiveLearner, found: Facts, chosen: Suggestions, promise: _Promise) -> tuple[Picture, ...]:
    """What points of the space promise, with the suggestions among them."""
    where = "the pool" if isinstance(learner.space, Pool) else "the box"
    if learner.goal == "learn":
        return (_drawn("Expected information", _CAPTION.format(where), lambda: _information(learner, found, chosen)),)
    if not np.isfinite(promise.values).any():
        return ()
    caption = f"The expected improvement on the best value so far by an observation at points of {where}."
    return (_drawn("Expected improvement", caption, lambda: _improvement(learner, found, chosen, promise.values)),)


def _drawn(title: str, caption: str, draw: Callable[[], go.Figure]) -> Picture:
    return picture("information", title, f"{caption} The numbers are the suggestions below.", draw)


def _information(learner: ActiveLearner, found: Facts, chosen: Suggestions) -> go.Figure:
    if found.directions is None:
        raise UnavailableError(found.no_directions)
    alone = acquisition.score(acquisition.information, learner.outlook(), chosen.X)
    return plots.information(found.belief, of_learner(learner), ScoredPoints(chosen.X, alone), found.directions)


def _improvement(learner: ActiveLearner, found: Facts, chosen: Suggestions, values: Array) -> go.Figure:
    outlook = learner.own_outlook()
    if found.directions is None or outlook is None:
        raise UnavailableError(found.no_directions)
    X = of_learner(learner).X
    around = ScoredPoints(X, np.exp(outlook.score(acquisition.improvement, X)))
    return plots.information(
        found.belief, around, ScoredPoints(chosen.X, values), found.directions, "expected improvement", ""
    )


def _file(name: str, text: str, points: Points) -> Download | None:
    uri = csv_file(points)
    return None if uri is None else Download(f"{name}.csv.gz", text, uri)
