"""How a belief shows itself in a notebook and in a terminal."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway.belief.summary import scale
from ridgeway.names import labels
from ridgeway.text.counts import counted

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

Facts = list[tuple[str, str]]  # names and values
Shares = list[tuple[str, float]]  # inputs with their shares of the variation

_TOP = 8
_BAR = 20


def belief_html(belief: Belief, names: Any = None) -> str:
    """A small table that needs no script and takes the notebook's colours."""
    return html_table(_title(belief), facts(belief), inputs(belief, names), belief.diagnostics.warnings)


def belief_rich(belief: Belief, names: Any = None) -> Any:
    """For ``rich.print``."""
    return rich_table(_title(belief), facts(belief), inputs(belief, names), belief.diagnostics.warnings)


def _title(belief: Belief) -> str:
    n, D = belief.X.shape
    return f"Belief: {belief.model} on {counted(n, 'observation')} of {counted(D, 'input')}"


def facts(belief: Belief) -> Facts:
    """Names and values of what a belief is about."""
    return [
        ("log evidence", f"{belief.log_evidence:.1f}"),
        ("mean", f"{belief.mean:.4g}"),
        scale(belief),
        ("noise", f"{np.sqrt(belief.noise_variance):.4g}"),
        ("status", belief.diagnostics.status),
    ]


def inputs(belief: Belief, names: Any) -> Shares:
    """The inputs that matter most, with their shares of the variation."""
    called = belief.labels if names is None else labels(names, belief.X.shape[1])
    share = belief.input_shares.mean
    return [(called[j], float(share[j])) for j in np.argsort(-share, kind="stable")[:_TOP]]


def html_table(title: str, facts: Facts, inputs: Shares, warnings: tuple[str, ...]) -> str:
    """A table for a notebook."""
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


def rich_table(title: str, facts: Facts, inputs: Shares, warnings: tuple[str, ...]) -> Any:
    """A table for a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    # As text, not as markup: a name may have brackets. A title of the table itself would be no wider than the table.
    top = Table(show_header=False, box=None)
    for name, value in facts:
        top.add_row(Text(name, style="bold"), Text(value))
    parts: list[Any] = [Text(title, style="italic"), top]
    if inputs:
        shares = Table(show_header=False, box=None)
        shares.add_column(overflow="fold")  # a name is broken rather than cut
        largest = max(share for _, share in inputs) or 1.0
        for name, share in inputs:
            bar = "█" * round(_BAR * share / largest)
            shares.add_row(Text(name), Text(f"{100 * share:.1f} %", justify="right"), Text(bar, style="blue"))
        parts += [Text("Inputs by share of the variation", style="italic"), shares]
    return Group(*parts, *(Text(f"warning: {text}", style="yellow") for text in warnings))
