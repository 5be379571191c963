"""The state of a campaign as a page shows it, without a fit: what is pending, what came out, what was changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ridgeway.campaign import corrections, table
from ridgeway.campaign.campaign import Campaign
from ridgeway.campaign.corrections import Entry
from ridgeway.campaign.setup import Setup
from ridgeway.campaign.trial import Trial

_RESULTS = 200  # trials with an outcome that a page lists, the latest
_CHANGES = 50  # corrections, the latest
_COLUMNS = 8  # inputs of a result that are listed


def state(campaign: Campaign) -> dict[str, Any]:
    """Everything but the pictures, ready for JSON."""
    setup, trials = campaign.setup, campaign.all_trials()
    outputs, log = setup.outputs, campaign.corrections
    summaries = {name: campaign.summary(name) or {} for name in outputs.names}
    pending = [trial for trial in trials if trial.state == "asked"]
    settled = sorted((t for t in trials if t.sequence is not None), key=lambda t: -(t.sequence or 0))
    columns = _columns(setup, list(summaries.values()))
    suspects: dict[int, list[str]] = {}
    for name, summary in summaries.items():
        for suspect in summary.get("suspects", ()):
            suspects.setdefault(suspect["trial"], []).append(name)
    return {
        "name": campaign.name,
        "goal": setup.goal,
        "target": setup.target,
        "outputs": [{"name": output.name, "label": output.label} for output in outputs.items],
        "counted": table.counted(trials),
        "observed": sum(bool(trial.values) for trial in trials),
        "pending": _pending(setup, pending),
        "columns": [setup.columns[j] for j in columns],
        "results": _results(setup, settled[:_RESULTS], columns, corrections.by_trial(log), suspects),
        "settled": len(settled),
        "changes": _changes(log),
        "fitted": min(summary.get("observations", 0) for summary in summaries.values()),
    }


def _pending(setup: Setup, trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """What is to be done: number, inputs and notes in the order of the sheet that is filled in by hand."""
    head, rows = table.to_fill_in(setup, trials)
    many = len(setup.outputs.names)
    return [
        {
            "trial": trial.id,
            "inputs": [[name, shown(cell)] for name, cell in list(zip(head, row, strict=True))[1:-many]],
            "known": {name: shown(value) for name, value in trial.values.items()},
            "awaited": list(trial.awaited),
            "by": trial.asked_by or "",
            "at": trial.asked_at or "",
        }
        for trial, row in zip(trials, rows, strict=True)
    ]


def _results(
    setup: Setup,
    trials: Sequence[Trial],
    columns: Sequence[int],
    changed: dict[int, str],
    suspects: dict[int, list[str]],
) -> list[dict[str, Any]]:
    return [
        {
            "trial": trial.id,
            "state": trial.state,
            "value": "" if trial.value is None else shown(trial.value),
            "values": {name: shown(value) for name, value in trial.values.items()},
            "short": [f"{trial.values[name]:.6g}" if name in trial.values else "–" for name in setup.outputs.names],
            "sigma": _sigmas(setup, trial),
            "awaited": list(trial.awaited),
            "reason": trial.reason or "",
            "notes": "; ".join(f"{key}: {text}" for key, text in (trial.notes or {}).items()),
            "cells": [shown(cell) for cell in _chosen(setup.cells(trial.x), columns)],
            "by": trial.settled_by or "",
            "at": trial.settled_at or "",
            "corrected": changed.get(trial.id, ""),
            "suspect": ", ".join(suspects.get(trial.id, ())),
        }
        for trial in trials
    ]


def _sigmas(setup: Setup, trial: Trial) -> str:
    """The known standard deviations of the noise, by output where there are several."""
    known = {name: found.sigma for name, found in trial.results.items() if found.sigma is not None}
    return ", ".join(shown(s) if setup.outputs.only else f"{name} {shown(s)}" for name, s in known.items())


def _columns(setup: Setup, summaries: Sequence[dict[str, Any]]) -> list[int]:
    """Places of the columns that are listed: those that matter most to any output, as far as known, in their order."""
    ranks = [[name for name, _ in summary.get("inputs", ())] for summary in summaries]
    order = sorted(range(len(setup.columns)), key=lambda j: min(_rank(one, setup.columns[j]) for one in ranks))
    return sorted(order[:_COLUMNS])


def _rank(ranked: Sequence[str], label: str) -> int:
    """The place of an input by its label, which is its name, perhaps with a unit."""
    return next((i for i, name in enumerate(ranked) if label == name or label.startswith(f"{name} [")), len(ranked))


def _chosen(cells: Sequence[Any], columns: Sequence[int]) -> list[Any]:
    return [cells[j] for j in columns]


def _changes(log: Sequence[Entry]) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in corrections.listed(log)][::-1][:_CHANGES]


def shown(cell: Any) -> str:
    """A cell as people read it."""
    return "" if cell is None else f"{cell:.10g}" if isinstance(cell, float) else str(cell)
