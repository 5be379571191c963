"""Undoing: the last change of a campaign, or the last correction, taken back; the log keeps both."""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlalchemy import Connection

from ridgeway.campaign import corrections
from ridgeway.campaign.changes import Change
from ridgeway.campaign.logbook import listed
from ridgeway.campaign.measurement import Measurement
from ridgeway.campaign.setup import Setup
from ridgeway.campaign.store import Outcome, Store
from ridgeway.campaign.trial import Trial, pack
from ridgeway.errors import CampaignError

Entry = dict[str, Any]  # of the history


def undo(store: Store, setup: Setup, reason: str) -> tuple[str, Setup]:
    """Take back the last change that still stands; what it was, in words, and the setup after it."""
    with store.writing() as connection:
        last = _last(store.corrections_in(connection))
        if not last:
            raise CampaignError("there is nothing to undo: neither the campaign nor a result was changed")
        if last[0]["kind"] == "changed":
            return _undo_change(store, connection, setup, last[0], reason)
        for entry in reversed(last):  # each leaves the trial as the one before it found it
            trial = next(t for t in store.snapshot_in(connection, fits=False).trials if t.id == entry["trial"])
            _undo_correction(store, connection, trial, entry, reason)
        return _said(last), setup


def _said(entries: list[Entry]) -> str:
    """Corrections that were made together, in words."""
    trials = list(dict.fromkeys(entry["trial"] for entry in entries))
    if len(trials) > 1:
        return f"the corrections of trials {listed(trials)}"
    return f"trial {trials[0]}: {', '.join(corrections.what(entry) for entry in entries)}"


def _last(entries: list[Entry]) -> list[Entry]:
    """The last change that still stands, or corrections that were made together, in their order.

    Each undo took back the last one of its time.
    """
    standing: list[Entry] = []
    for entry in entries:
        if entry["kind"] in ("changed", "corrected"):
            standing.append(entry)
        elif entry["kind"] == "undone":
            standing.pop()
        elif entry["kind"] == "reopened":  # with its outcome, corrections of it have gone
            standing = [e for e in standing if not _is_of(e, entry)]
    group = standing[-1]["after"].get("group") if standing else None
    return standing[-1:] if group is None else [e for e in standing if e["after"].get("group") == group]


def _is_of(entry: Entry, reopened: Entry) -> bool:
    """Whether a correction is of a result that was taken back."""
    outputs = reopened["before"].get("outputs", [0])  # early versions had one
    same = entry["kind"] == "corrected" and entry["trial"] == reopened["trial"]
    return same and entry["before"].get("output", 0) in outputs


def _undo_change(store: Store, connection: Connection, setup: Setup, entry: Entry, reason: str) -> tuple[str, Setup]:
    old = Setup.from_json(entry["before"]["setup"]).with_same_acquisition(setup)
    what, width = entry["after"]["what"], len(old.names)
    trials = store.snapshot_in(connection, fits=False).trials
    _drop_outputs(store, connection, trials, old.outputs.names, what)
    if len(setup.names) > width:
        _check_alike(trials, width, what)
        for trial in trials:
            proposed = None if trial.proposed is None else pack(trial.proposed[:width])
            store.change(connection, trial, inputs=pack(trial.x[:width]), proposed=proposed)
    store.rewrite(connection, Change(old, f"undone: {what}"), "undone", reason)
    return what, old


def _drop_outputs(
    store: Store, connection: Connection, trials: tuple[Trial, ...], left: tuple[str, ...], what: str
) -> None:
    """Without the outputs after those that are ``left``; refused where there are results for them."""
    more = store.setup.outputs.names[len(left) :]
    for trial in trials if more else ():
        if set(more) & set(trial.values):
            raise CampaignError(f"'{what}' cannot be undone: trial {trial.id} has a result for it")
        store.drop_results(connection, trial, more)
        if trial.state == "asked" and set(trial.awaited) <= set(more) and trial.results:  # it lacked nothing else
            state = "told" if trial.values else "failed"
            store.take(connection, [Outcome(trial, {}, {"state": state}, settles=True)])


def _check_alike(trials: tuple[Trial, ...], width: int, what: str) -> None:
    """Raise where trials differ in inputs that would go."""
    values = {tuple(np.concatenate([x[width:]]).tolist()) for t in trials for x in (t.x, t.proposed) if x is not None}
    if len(values) > 1:
        raise CampaignError(
            f"'{what}' cannot be undone: trials since then differ in it. Hold it at a value instead, so that it stays"
        )


def _undo_correction(store: Store, connection: Connection, trial: Trial, entry: Entry, reason: str) -> None:
    before, after = entry["before"], entry["after"]
    columns: dict[str, Any] = {"state": before["state"]} if "state" in before else {}
    if "reason" in before or before.get("state") == "failed":
        columns["reason"] = before.get("reason", "failed")  # early versions did not keep it
    if "inputs" in before:
        x = trial.x.copy()
        for name, value in before["inputs"].items():
            if name not in trial.names:
                raise CampaignError(f"the correction of trial {trial.id} cannot be undone: {name!r} was renamed since")
            x[trial.names.index(name)] = value
        columns["inputs"] = pack(x)
    if "value" in before:
        name = trial.outputs[before.get("output", 0)]  # early versions had one output
        store.replace_result(connection, trial, name, Measurement(before["value"], before["sigma"]))
    store.log(connection, trial, "undone", after, before, reason)
    store.change(connection, trial, **columns)
