"""How a learner shows itself in a notebook and in a terminal; looking at it fits nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ridgeway.belief.display import facts, html_table, inputs, rich_table
from ridgeway.text.counts import counted

if TYPE_CHECKING:
    from ridgeway.active.learner import ActiveLearner

_TITLE = "Active learner"


def learner_html(learner: ActiveLearner) -> str:
    """A small table for a notebook."""
    return html_table(_TITLE, *_parts(learner))


def learner_rich(learner: ActiveLearner) -> Any:
    """For ``rich.print``."""
    return rich_table(_TITLE, *_parts(learner))


def counts(learner: ActiveLearner) -> str:
    """How many experiments there are of each kind, in words."""
    return f"{learner.record.n} observed, {len(learner.pending)} pending, {len(learner.failed)} failed"


def _parts(learner: ActiveLearner) -> tuple[list[tuple[str, str]], list[tuple[str, float]], tuple[str, ...]]:
    """Facts, the inputs that matter most, and warnings, for either display."""
    belief = learner.last_belief
    if belief is None:
        return [*_setting(learner), ("belief", "none yet")], [], ()
    age = learner.record.n - belief.n_rows
    state = ("belief", f"{counted(age, 'observation')} old" if age else "up to date")
    return (
        [*_setting(learner), *facts(belief), state],
        inputs(belief, learner.space.labels),
        belief.diagnostics.warnings,
    )


def _setting(learner: ActiveLearner) -> list[tuple[str, str]]:
    return [
        ("space", repr(learner.space)),
        ("embedding", str(learner.embedding)),
        ("acquisition", str(learner.acquisition)),
        ("experiments", counts(learner)),
    ]
