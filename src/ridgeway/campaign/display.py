"""How a campaign shows itself in a notebook and in a terminal; looking at it fits nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ridgeway.belief.display import Facts, Shares, html_table, rich_table
from ridgeway.campaign import fit_summary, table
from ridgeway.campaign.stopping import about_directions

if TYPE_CHECKING:
    from ridgeway.campaign.campaign import Campaign

_FEW = 8  # trials that are named


def campaign_html(campaign: Campaign) -> str:
    """A small table for a notebook."""
    return html_table(_title(campaign), *_parts(campaign))


def campaign_rich(campaign: Campaign) -> Any:
    """For ``rich.print``."""
    return rich_table(_title(campaign), *_parts(campaign))


def _title(campaign: Campaign) -> str:
    n = len(campaign.setup.names)
    return f"Campaign {campaign.name!r}: {n:,} input{'s' * (n > 1)}, {campaign.setup.target}"


def _parts(campaign: Campaign) -> tuple[Facts, Shares, tuple[str, ...]]:
    """Facts, the inputs that matter most, and warnings, for either display."""
    trials, outputs = campaign.all_trials(), campaign.setup.outputs
    pending = [str(trial.id) for trial in trials if trial.state == "asked"]
    facts = [("trials", table.counted(trials))]
    if pending:
        facts.append(("pending", ", ".join(pending[:_FEW]) + (", ..." if len(pending) > _FEW else "")))
    shares: Shares = []
    warnings: list[str] = []
    for output in outputs.items:
        about = "" if outputs.only else f" of {output.name}"
        summary = campaign.summary(output.name)
        if summary is None:
            facts.append((f"belief{about}", "none yet"))
            continue
        facts.append((f"belief{about}", f"of {summary['observations']} outcomes"))
        k = fit_summary.n_directions(summary)
        known = about_directions(fit_summary.angle(summary, summary["observations"]), k)
        facts += [(f"directions{about}", text) for text in known]
        shares += [(f"{name}{about and f', {output.name}'}", float(share)) for name, share in summary["inputs"]]
        warnings += [f"{output.name}: {text}" if about else text for text in summary["warnings"]]
    return facts, shares, tuple(warnings)
