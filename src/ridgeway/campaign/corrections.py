"""Corrections in words: what was changed about a trial after it had its outcome, by whom, when and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Entry = Mapping[str, Any]  # as Campaign.corrections gives them

#: Columns of the list of corrections.
HEAD = ("trial", "what", "reason", "by", "at")


def listed(entries: Iterable[Entry]) -> list[list[Any]]:
    """One row for each correction, under :data:`HEAD`."""
    return [[e["trial"], what(e), e["reason"], e["by"], moment(e["at"])] for e in corrected(entries)]


def by_trial(entries: Iterable[Entry]) -> dict[int, str]:
    """All corrections of each trial that has some, in one cell, oldest first."""
    cells: dict[int, list[str]] = {}
    for entry in corrected(entries):
        cells.setdefault(entry["trial"], []).append(sentence(entry))
    return {trial: "; ".join(parts) for trial, parts in cells.items()}


def corrected(entries: Iterable[Entry]) -> list[Entry]:
    """Those that changed what is known of a trial, not who makes it, nor what the campaign is about.

    One that was taken back is followed by the entry that took it back.
    """
    kinds = ("corrected", "noted", "reopened", "undone")
    return [entry for entry in entries if entry["kind"] in kinds and entry["trial"]]


def sentence(entry: Entry) -> str:
    """One correction with its reason, author and day."""
    return f"{what(entry)} ({entry['reason']}; {entry['by']}, {entry['at'][:10]})"


def what(entry: Entry) -> str:
    """What changed.

    >>> what({"before": {"state": "told", "value": 15.0, "sigma": None},
    ...       "after": {"state": "told", "value": 1.5, "sigma": None}})
    'value 15 to 1.5'
    """
    before, after = entry["before"], entry["after"]
    word, parts = after.get("name", "value"), []
    if after.get("state") == "asked" and entry.get("kind") == "reopened":
        had = before.get("values") or {"value": before.get("value")}  # of early versions one
        old = ", ".join(f"{name} {value:.10g}" for name, value in had.items() if value is not None)
        return f"{old or before['state']} taken back: pending again"
    if (before.get("value") is None) != (after.get("value") is None):
        parts.append(
            " to ".join("failed" if v is None else f"{word} {v:.10g}" for v in (_value(before), _value(after)))
        )
    elif before.get("value") != after.get("value"):
        parts.append(_changed(word, before.get("value"), after.get("value")))
    if before.get("sigma") != after.get("sigma") and after.get("value") is not None:
        parts.append(_changed("sigma" if word == "value" else f"sigma of {word}", before.get("sigma"), after["sigma"]))
    for kind in ("inputs", "notes"):
        old, new = before.get(kind, {}), after.get(kind, {})
        parts += [_changed(name, old.get(name), new[name]) for name in new]
    return ", ".join(parts) or "nothing"


def _value(side: Mapping[str, Any]) -> Any:
    return side.get("value")


def moment(stamp: str) -> str:
    """A time to the minute.

    >>> moment("2025-03-04T15:16:17.123+00:00")
    '2025-03-04 15:16 UTC'
    """
    return f"{stamp[:16].replace('T', ' ')} UTC"


def changes(names: Sequence[str], old: Sequence[float], new: Sequence[float]) -> list[str]:
    """The inputs that differ, in words."""
    return [_changed(name, a, b) for name, a, b in zip(names, old, new, strict=True) if a != b]


def _changed(name: str, old: Any, new: Any) -> str:
    return f"{name} {_shown(old)} to {_shown(new)}"


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    return f"{value:.10g}" if isinstance(value, int | float) else repr(value)
