"""A belief in a few readable lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ridgeway import checks
from ridgeway.inference import line_model
from ridgeway.text.counts import counted

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

_BAR = 24


def summarize(belief: Belief, names: Sequence[str] | None = None, top: int = 8) -> str:
    """Scales, the inputs that matter most, and how far to trust it; at most 80 columns wide."""
    n, D = belief.n_rows, belief.X.shape[1]
    top = checks.count(top, "top", 1)
    if names is not None and len(names) != D:
        raise ValueError(f"names must have one entry for each of the {D} inputs, got {len(names)}")
    labels = belief.labels if names is None else [str(name) for name in names]
    noise = np.sqrt(belief.noise_variance)
    lines = [
        f"{belief.model} on {counted(n, 'observation')} of {counted(D, 'input')}, {belief.inference} inference",
        f"  log evidence  {belief.log_evidence:.1f}",
        f"  mean {belief.mean:.4g}, {' '.join(scale(belief))}, noise {noise:.4g}",
        *_inputs(belief, labels, top),
        *_wrapped("status", belief.diagnostics.status),
        *_wrapped("search", belief.diagnostics.search),
    ]
    if belief.diagnostics.dimension_evidence:
        lines += _wrapped("dimensions", _dimensions(belief))
    for warning in belief.diagnostics.warnings:
        lines += _wrapped("warning", warning)
    return "\n".join(lines)


def _inputs(belief: Belief, labels: Sequence[str], top: int) -> list[str]:
    share = belief.input_shares.mean
    order = np.argsort(-share)[:top]
    width = min(28, max(len(labels[j]) for j in order))
    lines = ["  inputs by share of the variation:"]
    for j in order:
        label = labels[j] if len(labels[j]) <= width else labels[j][: width - 1] + "…"
        bar = "█" * round(_BAR * share[j] / max(share[order[0]], 1e-300))
        lines.append(f"    {label:<{width}}  {100 * share[j]:5.1f} %  {bar}")
    if len(labels) > top:
        lines.append(f"    {len(labels) - top} others together {100 * (1 - share[order].sum()):.1f} %")
    return lines


def _dimensions(belief: Belief) -> str:
    evidence = belief.diagnostics.dimension_evidence
    chosen = belief.embedding.shape[0]
    others = ", ".join(f"d={d}: {value - evidence[chosen]:+.1f}" for d, value in evidence.items() if d != chosen)
    return (
        f"d={chosen} has the most evidence (in nats beside it: {others})" if others else f"only d={chosen} was possible"
    )


def _wrapped(label: str, text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 78, initial_indent=f"  {label}: ", subsequent_indent="    ")


def scale(belief: Belief) -> tuple[str, str]:
    """Name and value of the output scale; for a straight line, whose scale is a convention, its shape instead."""
    line = belief.straight_share
    if line > line_model.MOSTLY:
        return "shape", f"a straight line ({100 * line:.0f} %)"
    return "output scale", f"{belief.output_scale:.4g}"
