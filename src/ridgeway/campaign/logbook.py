"""The logbook of a campaign: everything that was done, when, by whom, what and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ridgeway.campaign import corrections
from ridgeway.campaign.trial import Trial

HEAD = ("at", "by", "what", "why")
_DONE = {"told": "result of", "attached": "attached", "failed": "failed:", "abandoned": "abandoned:"}


class Line(NamedTuple):
    """One thing that was done."""

    at: str  # ISO 8601, UTC
    by: str
    what: str
    why: str = ""


def lines(created: tuple[str, str], trials: Sequence[Trial], entries: Iterable[dict[str, Any]]) -> list[Line]:
    """All of it in the order of time; trials asked or settled together are one line."""
    found = [Line(created[1], created[0], "campaign made")]
    asked = [(t.asked_at, t.asked_by or "", "asked for", "", t.id) for t in trials if t.asked_at is not None]
    settled = [
        (t.settled_at, t.settled_by or "", _DONE[t.state], t.reason or "", t.id)
        for t in trials
        if t.settled_at is not None and t.state in _DONE
    ]
    early = [
        (m.at, m.by or "", f"{name} of" if m.value is not None else f"no {name} of", "", t.id)
        for t in trials
        for name, m in t.results.items()
        if m.at is not None and m.at != t.settled_at
    ]
    for (at, by, what, why), group in groupby(sorted(asked + early + settled), key=lambda row: row[:4]):
        numbers = [row[4] for row in group]
        found.append(Line(at, by, f"{what} trial{'s' * (len(numbers) > 1)} {listed(numbers)}", why))
    for entry in entries:
        found.append(Line(entry["at"], entry["by"], _what(entry), entry["reason"]))
    return sorted(found, key=lambda line: line.at)


def rows(found: Iterable[Line]) -> list[list[str]]:
    """As a table, the head of which is ``HEAD``."""
    return [[corrections.moment(line.at), line.by, line.what, line.why] for line in found]


def _what(entry: dict[str, Any]) -> str:
    if entry["trial"] == 0:
        return str(entry["after"].get("what", entry["kind"]))
    if entry["kind"] == "reclaimed":
        return f"trial {entry['trial']} taken over"
    undone = "undone: " if entry["kind"] == "undone" else ""
    return f"{undone}trial {entry['trial']}: {corrections.what(entry)}"


def listed(numbers: Sequence[int]) -> str:
    """Numbers with runs as ranges.

    >>> listed([1, 2, 3, 7])
    '1 to 3, 7'
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return ", ".join(parts)
