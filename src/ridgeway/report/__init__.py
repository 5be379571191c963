"""The report: one self-contained HTML file that shows what was learned and what to run next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ridgeway import validation
from ridgeway.belief import Belief
from ridgeway.labels import labels
from ridgeway.learner import ActiveLearner
from ridgeway.report import advice, campaign, reproduce, sections, sentences
from ridgeway.report.content import Content, Section, present
from ridgeway.report.facts import Facts, facts
from ridgeway.report.page import page

if TYPE_CHECKING:
    from ridgeway.subspace import SubspaceUncertainty

__all__ = ["Content", "content", "render", "write"]


def write(
    source: Belief | ActiveLearner,
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
        Of the inputs; by default those of the learner's space, or x0, x1, ...
    title
        Of the page.
    history
        Earlier beliefs, or what :func:`ridgeway.subspace.uncertainty` said of them: how the directions became certain.
    suggestions
        How many experiments a learner's report suggests; nothing is taken out by it.
    """
    path = Path(path)
    text = render(source, names, title, history, suggestions)
    temporary = path.with_name(path.name + ".part")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def render(
    source: Belief | ActiveLearner,
    names: Sequence[str] | None = None,
    title: str = "Ridgeway report",
    history: Sequence[Belief | SubspaceUncertainty] = (),
    suggestions: int = 4,
) -> str:
    """The report as text; arguments as for :func:`write`."""
    return page(content(source, names, title, history, suggestions))


def content(
    source: Belief | ActiveLearner,
    names: Sequence[str] | None = None,
    title: str = "Ridgeway report",
    history: Sequence[Belief | SubspaceUncertainty] = (),
    suggestions: int = 4,
) -> Content:
    """What the report says, before it becomes a page; arguments as for :func:`write`."""
    if not isinstance(source, Belief | ActiveLearner):
        raise TypeError(f"source must be a Belief or an ActiveLearner, got {type(source).__name__}")
    suggestions = validation.count(suggestions, "suggestions")
    learner = source if isinstance(source, ActiveLearner) else None
    D = source.space.D if isinstance(source, ActiveLearner) else source.X.shape[1]
    called = labels(learner.space.names if names is None and learner is not None else names, D)
    belief = source if isinstance(source, Belief) else source.belief if source.record.n else None
    if belief is None:
        assert learner is not None
        return _before_data(learner, called, title, suggestions)
    found = facts(belief, called)
    ahead = (
        campaign.without_learner(found)
        if learner is None
        else campaign.with_learner(learner, found, called, suggestions)
    )
    return Content(
        title,
        f"{belief.y.shape[0]:,} observations of {D:,} inputs · {belief.model} · {belief.inference} inference",
        sentences.headline(found.directions, found.explained, D) if _linear(found) else _without_directions(found),
        _sentences(found, learner),
        advice.warnings(belief, found.calibration, found.angle),
        (
            sections.response(found),
            sections.inputs(found),
            ahead,
            sections.trust(found, history),
            sections.searching(found),
            sections.data(found),
            reproduce.reproduce(belief, learner),
        ),
    )


def _linear(found: Facts) -> bool:
    return found.directions is not None or not found.shares_mean_something


def _without_directions(found: Facts) -> str:
    share = found.explained
    if share is None:
        return "There are too few observations to say how much is explained."
    return f"{found.belief.model} explains {sentences.percent(max(share, 0.0))} of the variation, input by input."


def _sentences(found: Facts, learner: ActiveLearner | None) -> tuple[str, ...]:
    return present(
        [
            "" if found.directions is None else sentences.shares(found.directions),
            sentences.inputs(found.labels, found.shares) if found.shares_mean_something else "",
            "" if found.angle is None else sentences.certainty(found.angle),
            "" if found.calibration is None else sentences.calibrated(found.calibration),
            "" if learner is None else sentences.campaign(learner),
        ]
    )


def _before_data(learner: ActiveLearner, called: tuple[str, ...], title: str, suggestions: int) -> Content:
    why = "there are no observations"
    return Content(
        title,
        f"no observations yet of {len(called):,} inputs · {learner.embedding}",
        "Nothing is known yet: run the experiments below first.",
        (sentences.campaign(learner),),
        (),
        (
            campaign.with_learner(learner, None, called, suggestions),
            Section("response", "The response over the learned directions", "", missing=why),
            Section("inputs", "Which inputs matter", "", missing=why),
            Section("trust", "How sure it is", "", missing=why),
            Section("data", "The data", "", missing=why),
            reproduce.reproduce(None, learner),
        ),
    )
