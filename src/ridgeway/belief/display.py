"""How a belief and a learner show themselves in a notebook and in a terminal."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway.labels import labels
from ridgeway.summary import scale

if TYPE_CHECKING:
    from ridgeway.belief import Belief
    from ridgeway.learner import ActiveLearner

_TOP = 8
_BAR = 20


def belief_html(belief: Belief, names: Any = None) -> str:
    """A small table that needs no script and takes the notebook's colours."""
    return _html(_title(belief), _facts(belief), _inputs(belief, names), belief.diagnostics.warnings)


def learner_html(learner: ActiveLearner) -> str:
    """Where a campaign stands; nothing is fitted by looking at it."""
    return _html("Active learner", *_learner_parts(learner))


def belief_rich(belief: Belief, names: Any = None) -> Any:
    """For ``rich.print``."""
    return _rich(_title(belief), _facts(belief), _inputs(belief, names), belief.diagnostics.warnings)


def learner_rich(learner: ActiveLearner) -> Any:
    """For ``rich.print``; nothing is fitted by looking at it."""
    return _rich("Active learner", *_learner_parts(learner))


def _learner_parts(learner: ActiveLearner) -> tuple[Any, Any, tuple[str, ...]]:
    """Where it stands, the inputs that matter, and warnings, for either display."""
    belief = learner.last_belief
    if belief is None:
        return _standing(learner), [], ()
    return _standing(learner), _inputs(belief, learner.space.names), belief.diagnostics.warnings


def _title(belief: Belief) -> str:
    n, D = belief.X.shape
    return f"Belief: {belief.model} on {n:,} observations of {D:,} inputs"


def _facts(belief: Belief) -> list[tuple[str, str]]:
    return [
        ("log evidence", f"{belief.log_evidence:.1f}"),
        ("mean", f"{belief.mean:.4g}"),
        scale(belief),
        ("noise", f"{np.sqrt(belief.noise_variance):.4g}"),
        ("status", belief.diagnostics.status),
    ]


def _standing(learner: ActiveLearner) -> list[tuple[str, str]]:
    told, out, failed = learner.record.n, len(learner.pending), len(learner.failed)
    facts = [
        ("space", repr(learner.space)),
        ("embedding", str(learner.embedding)),
        ("acquisition", str(learner.acquisition)),
        ("experiments", f"{told} told, {out} out, {failed} failed"),
    ]
    belief = learner.last_belief
    if belief is None:
        return [*facts, ("belief", "none yet")]
    age = told - belief.y.shape[0]
    return [*facts, *_facts(belief), ("belief", f"{age} observations old" if age else "up to date")]


def _inputs(belief: Belief, names: Any) -> list[tuple[str, float]]:
    called, share = labels(names, belief.X.shape[1]), belief.importances()
    return [(called[j], float(share[j])) for j in np.argsort(-share, kind="stable")[:_TOP]]


def _html(title: str, facts: list[tuple[str, str]], inputs: list[tuple[str, float]], warnings: tuple[str, ...]) -> str:
    rows = "".join(f"<tr><th>{html.escape(a)}</th><td>{html.escape(b)}</td></tr>" for a, b in facts)
    largest = max((share for _, share in inputs), default=1.0) or 1.0
    bars = "".join(
        f"<tr><th>{html.escape(name)}</th><td><span style='display:inline-block;height:.7em;background:#0072B2;"
        f"width:{120 * share / largest:.0f}px'></span> {100 * share:.1f} %</td></tr>"
        for name, share in inputs
    )
    notes = "".join(f"<li>{html.escape(text)}</li>" for text in warnings)
    left = "style='text-align:left'"
    return (
        f"<div class='ridgeway'><strong>{html.escape(title)}</strong><table {left}><tbody>{rows}</tbody></table>"
        + (f"<p>Inputs by share of the variation</p><table {left}><tbody>{bars}</tbody></table>" if inputs else "")
        + (f"<ul style='color:#D55E00'>{notes}</ul>" if warnings else "")
        + "</div>"
    )


def _rich(title: str, facts: list[tuple[str, str]], inputs: list[tuple[str, float]], warnings: tuple[str, ...]) -> Any:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    # As text, not as markup: a name may have brackets.
    top = Table(title=Text(title), show_header=False, title_justify="left", box=None)
    for name, value in facts:
        top.add_row(Text(name, style="bold"), Text(value))
    parts: list[Any] = [top]
    if inputs:
        shares = Table(
            title=Text("Inputs by share of the variation"), show_header=False, title_justify="left", box=None
        )
        shares.add_column(overflow="fold")  # a name is broken rather than cut
        largest = max(share for _, share in inputs) or 1.0
        for name, share in inputs:
            bar = "█" * round(_BAR * share / largest)
            shares.add_row(Text(name), Text(f"{100 * share:.1f} %", justify="right"), Text(bar, style="blue"))
        parts.append(shares)
    return Group(*parts, *(Text(f"warning: {text}", style="yellow") for text in warnings))
