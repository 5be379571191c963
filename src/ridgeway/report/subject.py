"""What a report is about, with the names and units of its reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ridgeway.active.learner import ActiveLearner
from ridgeway.active.scored_points import in_turn
from ridgeway.belief.belief import Belief
from ridgeway.names import labels
from ridgeway.report.content import Section
from ridgeway.report.points import Points, Suggestions
from ridgeway.report.reproduce import reproduce
from ridgeway.report.tables import Table, number
from ridgeway.spaces.box import Box
from ridgeway.spaces.pool import Pool
from ridgeway.text.counts import counted

if TYPE_CHECKING:
    from ridgeway.belief.subspace import SubspaceUncertainty
    from ridgeway.plots.error_course import ErrorCourse

_COLUMNS = 8  # inputs of a failed experiment that are shown
NONE_ASKED, EXHAUSTED = "none were asked for", "the pool is exhausted"


@dataclass(frozen=True)
class Subject:
    """A belief, perhaps with the learner it belongs to, and how inputs, output and points are shown."""

    belief: Belief | None
    learner: ActiveLearner | None
    labels: tuple[str, ...]  # (D,) of what the directions are made of
    observed: Points
    columns: tuple[int, ...]  # (D,) position of each of them among the columns of points
    pending: Points
    suggested: Suggestions | None
    reproduce: Section
    output: str = "response"
    standing: str = ""  # a sentence: how far the campaign is
    remarks: tuple[str, ...] = ()  # sentences about inputs that the directions show transformed, such as logarithms
    fixed: str = ""  # a sentence: inputs that do not vary
    advice: tuple[str, ...] = ()  # sentences: whether more experiments are worth it
    history: tuple[Belief | SubspaceUncertainty, ...] = ()
    corrections: Table | None = None  # of results, as they were and are
    failed: Table | None = None  # experiments that gave no value, with the reasons
    unit: str = ""  # of the output
    box: Box | None = None  # what averages are over; by default the belief's
    errors: ErrorCourse | None = None  # how the error of predictions fell and is expected to fall

    @property
    def D(self) -> int:
        """How many columns the model has."""
        return len(self.labels)

    @property
    def pool(self) -> Pool | None:
        """The pool that experiments are chosen from, where there is one."""
        return self.learner.space if self.learner is not None and isinstance(self.learner.space, Pool) else None

    @property
    def n_inputs(self) -> int:
        """How many inputs vary: a category is one, whatever its columns."""
        categories = () if self.box is None else self.box.categories
        return self.D - sum(len(columns) - 1 for columns in categories)


def of(source: Belief | ActiveLearner, names: Sequence[str] | None, suggestions: int) -> Subject:
    """The subject for a belief or a learner without a campaign: points are shown in the model's own inputs."""
    if isinstance(source, Belief):
        called = source.labels if names is None else labels(names, source.X.shape[1])
        return Subject(
            source, None, called, Points(source.X, called), tuple(range(len(called))),
            Points(np.zeros((0, len(called))), called), None, reproduce(source, None),
        )  # fmt: skip
    called = source.space.labels if names is None else labels(names, source.space.D)
    belief = source.belief if source.record.n else None
    return Subject(
        belief, source, called, Points(source.X, called), tuple(range(len(called))), Points(source.pending, called),
        _preview(source, called, suggestions), reproduce(belief, source), standing=standing(source),
        failed=_failed(source, called), box=source.space if isinstance(source.space, Box) else None,
    )  # fmt: skip


def _failed(learner: ActiveLearner, called: tuple[str, ...]) -> Table | None:
    """The experiments that gave no value, with some of their inputs."""
    if not learner.failed:
        return None
    rows = tuple(
        (str(i + 1), reason, *(number(float(v)) for v in x[:_COLUMNS])) for i, (x, reason) in enumerate(learner.failed)
    )
    return Table(
        ("no.", "reason", *called[:_COLUMNS]), rows, f"{counted(len(rows), 'experiment')} failed.", words=False
    )


def standing(learner: ActiveLearner) -> str:
    """How many experiments were made, in a sentence."""
    observed, pending, failed = learner.record.n, len(learner.pending), len(learner.failed)
    text = f"{observed:,} experiment{'' if observed == 1 else 's'} observed, {pending:,} pending, {failed:,} failed."
    return f"{text} The last loop ended because {learner.ended}." if learner.ended else text


def _preview(learner: ActiveLearner, columns: tuple[str, ...], n: int) -> Suggestions:
    if not n:
        return nothing(columns, NONE_ASKED)
    choice = learner.preview(n)
    if not len(choice.X):
        return nothing(columns, EXHAUSTED)
    chosen = np.isfinite(choice.scores)
    nats = in_turn(learner.outlook(), choice.X) if chosen.any() else np.full(len(choice.X), np.nan)
    return Suggestions(choice.X, np.where(chosen, nats, np.nan), Points(choice.X, columns))


def nothing(columns: tuple[str, ...], why: str) -> Suggestions:
    """No suggestions, and the reason."""
    return Suggestions(np.zeros((0, 0)), np.zeros(0), Points(np.zeros((0, len(columns))), columns), why)
