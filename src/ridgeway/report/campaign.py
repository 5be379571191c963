"""What to run next: the section of a report about a learner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ridgeway import plots
from ridgeway.candidates import Candidates, of_belief, of_learner
from ridgeway.directions import UnavailableError
from ridgeway.pool import Pool
from ridgeway.report.content import Download, Picture, Section, picture
from ridgeway.report.facts import Facts
from ridgeway.report.tables import Table, csv_file, plan

if TYPE_CHECKING:
    from ridgeway.learner import ActiveLearner

_TITLE = "What to run next"
_COLUMNS = 12  # inputs of a suggestion that are shown; the file has all


def without_learner(found: Facts) -> Section:
    """What experiments would teach, where nobody said which are possible."""
    drawn = picture(
        "information", "Expected information", _CAPTION.format("the box of the inputs"), lambda: _plain(found)
    )
    why = "this report is of a belief; a learner, which knows where experiments can be made, suggests the next ones"
    return Section("next", _TITLE, "", (drawn,), missing=why)


_CAPTION = "What a look at points of {} would teach about the hyperparameters."


def _plain(found: Facts) -> go.Figure:
    if found.directions is None:
        raise UnavailableError(found.no_directions)
    return plots.information(found.belief)


def with_learner(learner: ActiveLearner, found: Facts | None, labels: tuple[str, ...], n: int) -> Section:
    """The next suggestions with their scores, and how they compare with other candidates."""
    choice = learner.preview(n) if n else None
    if choice is None or choice.X.shape[0] == 0:
        why = "none were asked for" if not n else "the pool is exhausted"
        return Section("next", _TITLE, "", missing=why)
    suggested = Candidates(choice.X, choice.scores)
    order = np.arange(len(labels)) if found is None else found.order
    files = [_file("suggestions", "The suggestions with all inputs (CSV, gzip)", choice.X, labels)]
    out = learner.pending
    tables: tuple[Table, ...] = (plan(choice.X, choice.scores, labels, order[:_COLUMNS]),)
    intro = _intro(choice.scores, len(out), len(labels) - _COLUMNS)
    if len(out):
        files.append(_file("out", "Experiments that are out (CSV, gzip)", out, labels))
    drawn = (_information(learner, found, suggested),) if found is not None else ()
    return Section("next", _TITLE, intro, drawn, tables, tuple(f for f in files if f is not None))


def _intro(scores: object, out: int, more: int) -> str:
    known = np.asarray(scores, dtype=float)
    known = known[np.isfinite(known)]
    first = (
        "The model is not asked yet: these fill the space."
        if known.size == 0
        else f"The best single experiment is expected to teach {known[0]:.2f} nats."
        if known.size == 1
        else f"Together these are expected to teach {known.sum():.2f} nats, each given those before it."
    )
    waiting = f" {out} experiment{' is' if out == 1 else 's are'} out and taken into account." if out else ""
    return first + waiting + (f" {more:,} less important inputs are in the file." if more > 0 else "")


def _information(learner: ActiveLearner, found: Facts, suggested: Candidates) -> Picture:
    def draw() -> go.Figure:
        if found.directions is None:
            raise UnavailableError(found.no_directions)
        candidates = of_learner(learner) if learner.has_score else of_belief(found.belief)
        return plots.information(found.belief, candidates, suggested)

    where = "the pool" if isinstance(learner.space, Pool) else "the box"
    return picture(
        "information", "Expected information", _CAPTION.format(where) + " Stars are the suggestions below.", draw
    )


def _file(name: str, text: str, X: object, labels: tuple[str, ...]) -> Download | None:
    uri = csv_file(X, None, labels)
    return None if uri is None else Download(f"{name}.csv.gz", text, uri)
