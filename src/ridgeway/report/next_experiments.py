"""What to run next: the section of a report about a learner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ridgeway import plots
from ridgeway.active import acquisition
from ridgeway.active.scored_points import ScoredPoints, of_learner
from ridgeway.belief.directions import UnavailableError
from ridgeway.report.content import Download, Picture, Section, picture, present
from ridgeway.report.facts import Facts
from ridgeway.report.points import Points, Suggestions
from ridgeway.report.sentences import amount
from ridgeway.report.subject import Subject
from ridgeway.report.tables import Table, counted, csv_file, plan
from ridgeway.spaces.pool import Pool
from ridgeway.types import Array

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


def with_learner(subject: Subject, found: Facts | None) -> Section:
    """The next suggestions with their scores, and how they compare with other candidates."""
    assert subject.learner is not None
    assert subject.suggested is not None
    chosen, pending = subject.suggested, subject.pending
    if chosen.missing:
        return Section("next", _TITLE, "", missing=chosen.missing)
    important = range(subject.D) if found is None else found.order
    order = [subject.columns[int(j)] for j in important[:_COLUMNS]]
    files = [_file("suggestions", "The suggestions with all inputs (CSV, gzip)", chosen.points)]
    tables: tuple[Table, ...] = (
        plan(chosen.points, chosen.nats, order, found is not None and found.shares_mean_something),
    )
    intro = _intro(chosen.nats, pending.n)
    if pending.n:
        files.append(_file("pending", "Pending experiments (CSV, gzip)", pending))
    drawn = (_information(subject.learner, found, chosen),) if found is not None else ()
    text = " ".join(present([intro, *subject.advice, subject.fixed]))
    return Section("next", _TITLE, text, drawn, tables, tuple(f for f in files if f is not None))


def _intro(nats: Array, pending: int) -> str:
    known = nats[np.isfinite(nats)]
    first = (
        "There are too few observations for the model to choose: these points fill the space."
        if known.size == 0
        else f"The best single experiment is expected to teach {amount(known[0])}."
        if known.size == 1
        else f"Together these are expected to teach {amount(known.sum())}, each given those before it."
    )
    if not pending:
        return first
    return f"{first} {counted(pending, 'experiment')} {'is' if pending == 1 else 'are'} pending and taken into account."


def _information(learner: ActiveLearner, found: Facts, chosen: Suggestions) -> Picture:
    def draw() -> go.Figure:
        if found.directions is None:
            raise UnavailableError(found.no_directions)
        alone = acquisition.score(acquisition.information, learner.outlook(), chosen.X)
        return plots.information(found.belief, of_learner(learner), ScoredPoints(chosen.X, alone), found.directions)

    where = "the pool" if isinstance(learner.space, Pool) else "the box"
    return picture(
        "information", "Expected information", _CAPTION.format(where) + " The numbers are the suggestions below.", draw
    )


def _file(name: str, text: str, points: Points) -> Download | None:
    uri = csv_file(points)
    return None if uri is None else Download(f"{name}.csv.gz", text, uri)
