"""The report: one self-contained HTML file that shows what was learned and what to run next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ridgeway import checks, files
from ridgeway.active.learner import ActiveLearner
from ridgeway.belief.belief import Belief
from ridgeway.report import averages, best_point, next_experiments, sections, sentences, subject, warnings
from ridgeway.report.content import Content, Section, present
from ridgeway.report.facts import Facts, facts
from ridgeway.report.page import page
from ridgeway.report.subject import Subject
from ridgeway.text.counts import counted

if TYPE_CHECKING:
    from ridgeway.belief.subspace import SubspaceUncertainty

__all__ = ["Content", "Subject", "content", "render", "write", "write_tabs"]


def write(
    source: Belief | ActiveLearner | Subject,
    path: str | Path,
    names: Sequence[str] | None = None,
    title: str = "Ridgeway report",
    history: Sequence[Belief | SubspaceUncertainty] = (),
    suggestions: int = 4,
) -> Path:
    """Write the report of a belief or a learner to ``path``; the file appears whole or not at all.

    Parameters
    ----------
    source
        A :class:`ridgeway.Belief`, or an :class:`ridgeway.ActiveLearner`, whose report also says what to run next.
    path
        Of the HTML file; an earlier one is replaced.
    names
        Of the inputs; by default those of the belief's data or the learner's space, or x0, x1, ...
    title
        Of the page.
    history
        Earlier beliefs, or what :func:`ridgeway.belief.subspace.uncertainty` said of them: how the directions became
        certain.
    suggestions
        How many experiments a learner's report suggests; they are not asked for.
    """
    return files.write_text(path, render(source, names, title, history, suggestions))


def write_tabs(subjects: Sequence[Subject], path: str | Path, title: str = "Ridgeway report") -> Path:
    """Write the report of several outputs of one campaign, a tab for each; that of one has no tabs."""
    labels = [about.output for about in subjects]
    aim = next((about for about in subjects if about.learner is not None and about.learner.goal != "learn"), None)
    return files.write_text(path, page([content(about, title=title, aim=aim) for about in subjects], labels))


def render(
    source: Belief | ActiveLearner | Subject,
    names: Sequence[str] | None = None,
    title: str = "Ridgeway report",
    history: Sequence[Belief | SubspaceUncertainty] = (),
    suggestions: int = 4,
) -> str:
    """The report as text; arguments as for :func:`write`."""
    return page([content(source, names, title, history, suggestions)])


def content(
    source: Belief | ActiveLearner | Subject,
    names: Sequence[str] | None = None,
    title: str = "Ridgeway report",
    history: Sequence[Belief | SubspaceUncertainty] = (),
    suggestions: int = 4,
    aim: Subject | None = None,
) -> Content:
    """What the report says, before it becomes a page; arguments as for :func:`write`.

    ``aim`` is the subject of another tab whose output is minimized or maximized.
    """
    if isinstance(source, Subject):
        about = source
    elif isinstance(source, Belief | ActiveLearner):
        about = subject.of(source, names, checks.count(suggestions, "suggestions"))
    else:
        raise TypeError(f"source must be a Belief or an ActiveLearner, got {type(source).__name__}")
    belief = about.belief
    if belief is None:
        return _before_data(about, title)
    found = facts(belief, about.labels, about.box)
    linear = found.directions is not None or not found.shares_mean_something
    return Content(
        title,
        f"{counted(belief.y.shape[0], 'observation')} of {counted(about.n_inputs, 'input')} · {belief.model} · "
        f"{belief.inference} inference",
        sentences.headline(found.directions, found.explained, about.D, about.n_inputs)
        if linear
        else _without_directions(found),
        _sentences(found, about),
        warnings.warnings(belief, found.calibration, found.angle, about.observed.called),
        (
            *best_point.best_point(about, found),
            sections.response(found, about),
            sections.inputs(found),
            averages.explained(found, about),
            averages.distributed(found, about),
            next_experiments.without_learner(found)
            if about.learner is None
            else next_experiments.with_learner(about, found, aim),
            sections.trust(found, about, (*about.history, *history)),
            sections.searching(found),
            sections.data(found, about),
            about.reproduce,
        ),
    )


def _without_directions(found: Facts) -> str:
    share = found.explained
    if share is None:
        return "There are too few observations to say how much is explained."
    return f"{found.belief.model} explains {sentences.percent(share)} of the variation, input by input."


def _sentences(found: Facts, about: Subject) -> tuple[str, ...]:
    k = 0 if found.directions is None else found.directions.k
    return present(
        [
            "" if found.directions is None else sentences.shares(found.directions),
            sentences.shape(found.belief.straight_share) if found.explains_something else "",
            sentences.inputs(found.inputs, found.input_shares) if found.explains_something else "",
            "" if found.angle is None else sentences.certainty(found.angle, k, about.D),
            "" if found.calibration is None else sentences.typical_error(found.calibration, about.unit),
            "" if found.calibration is None else sentences.calibrated(found.calibration),
            about.standing,
        ]
    )


def _before_data(about: Subject, title: str) -> Content:
    why = "there are no observations"
    assert about.learner is not None
    return Content(
        title,
        f"no observations yet of {counted(about.n_inputs, 'input')} · {about.learner.embedding}",
        "Nothing is known yet: run the experiments below first.",
        (about.standing,),
        (),
        (
            next_experiments.with_learner(about, None),
            Section("response", "The response over the learned directions", "", missing=why),
            Section("inputs", "Which inputs matter", "", missing=why),
            Section("trust", "How sure it is", "", missing=why),
            Section("data", "The data", "", missing=why),
            about.reproduce,
        ),
    )
