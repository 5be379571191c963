"""What a report is about, in the words of its reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ridgeway.belief import Belief
from ridgeway.candidates import in_turn
from ridgeway.labels import labels
from ridgeway.learner import ActiveLearner
from ridgeway.report.content import Section
from ridgeway.report.points import Points, Suggestions
from ridgeway.report.reproduce import reproduce

if TYPE_CHECKING:
    from ridgeway.subspace import SubspaceUncertainty

NONE_ASKED, EXHAUSTED = "none were asked for", "the pool is exhausted"


@dataclass(frozen=True)
class Subject:
    """A belief, perhaps with the learner it belongs to, and how inputs, output and points are shown."""

    belief: Belief | None
    learner: ActiveLearner | None
    labels: tuple[str, ...]  # (D,) of what the directions are made of
    observed: Points
    columns: tuple[int, ...]  # (D,) where each of them stands among the columns of points
    out: Points
    suggested: Suggestions | None
    reproduce: Section
    output: str = "response"
    standing: str = ""  # a sentence: how far the campaign is
    remarks: tuple[str, ...] = ()  # sentences about inputs that the directions do not show as they are
    fixed: str = ""  # a sentence: inputs that do not vary
    advice: tuple[str, ...] = ()  # sentences: whether more experiments are worth it
    history: tuple[Belief | SubspaceUncertainty, ...] = ()

    @property
    def D(self) -> int:
        """How many inputs the model has."""
        return len(self.labels)


def of(source: Belief | ActiveLearner, names: Sequence[str] | None, suggestions: int) -> Subject:
    """A belief or a learner by itself: points are shown as the model sees them."""
    if isinstance(source, Belief):
        called = labels(names, source.X.shape[1])
        return Subject(
            source, None, called, Points(source.X, called), tuple(range(len(called))),
            Points(np.zeros((0, len(called))), called), None, reproduce(source, None),
        )  # fmt: skip
    called = labels(source.space.names if names is None else names, source.space.D)
    belief = source.belief if source.record.n else None
    return Subject(
        belief, source, called, Points(source.X, called), tuple(range(len(called))), Points(source.pending, called),
        _preview(source, called, suggestions), reproduce(belief, source), standing=standing(source),
    )  # fmt: skip


def standing(learner: ActiveLearner) -> str:
    """Where a campaign stands, in a sentence."""
    told, out, failed = learner.record.n, len(learner.pending), len(learner.failed)
    text = f"{told:,} experiment{'' if told == 1 else 's'} done, {out:,} out, {failed:,} failed."
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
