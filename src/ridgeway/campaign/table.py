"""Trials as tables: to be filled in, and to be exported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ridgeway.campaign import corrections
from ridgeway.campaign.columns import FAILED, OURS, REASON, TRIAL, all_words, note_names
from ridgeway.campaign.corrections import Entry
from ridgeway.campaign.trial import Trial

if TYPE_CHECKING:
    from ridgeway.campaign.setup import Setup

Table = tuple[list[str], list[list[Any]]]


def to_fill_in(setup: Setup, trials: Sequence[Trial]) -> Table:
    """The sheet of those who make the experiments: number, labels, inputs, and an empty column for each output.

    Of a trial that awaits some of its results, those that are known stand there.
    """
    notes = _notes(trials)
    # Where a label has the word itself, columns of 0 and 1 such as 'solvent=water' add nothing.
    shown = [j for j, label in enumerate(setup.columns) if not ("=" in label and label.split("=")[0] in notes)]
    columns = [TRIAL, *named(setup, notes), *(setup.columns[j] for j in shown), *setup.outputs.labels]
    rows: list[list[Any]] = []
    for t in trials:
        cells = setup.cells(t.x)
        words = ((t.notes or {}).get(key) for key in notes)
        rows.append([t.id, *words, *(cells[j] for j in shown), *_to_fill_in(setup, t)])
    return columns, rows


def full(setup: Setup, trials: Sequence[Trial], history: Sequence[Entry] = ()) -> Table:
    """Everything about the trials, inputs and output first; ``history`` holds the corrections."""
    notes, changed = _notes(trials), corrections.by_trial(history)
    own = [TRIAL, OURS[0], *setup.columns, *setup.outputs.labels]
    # A campaign of an early version may have an input with the name of one of these.
    late = note_names(own, [*(setup.outputs.sigma_name(name) for name in setup.outputs.names), OURS[1], REASON])
    stamps = note_names(own, OURS[2:])
    columns = [*own, *late, *named(setup, notes), *stamps]
    rows = [
        [t.id, t.state, *setup.cells(t.x), *_results(setup, t), *_sigmas(setup, t), t.expected, t.reason]
        + [(t.notes or {}).get(key) for key in notes]
        + [t.asked_by, t.asked_at, t.settled_by, t.settled_at, changed.get(t.id)]
        for t in trials
    ]
    return columns, rows


def _results(setup: Setup, trial: Trial) -> list[Any]:
    """A cell for each output: its value, empty where there is none yet."""
    return [trial.values.get(name) for name in setup.outputs.names]


def _to_fill_in(setup: Setup, trial: Trial) -> list[Any]:
    """The same, where an output that will give none says so."""
    known = dict.fromkeys(trial.results, FAILED) | trial.values
    return [known.get(name) for name in setup.outputs.names]


def _sigmas(setup: Setup, trial: Trial) -> list[float | None]:
    return [trial.results[name].sigma if name in trial.results else None for name in setup.outputs.names]


def named(setup: Setup, notes: Sequence[str]) -> list[str]:
    """Names of the columns of notes; one that is named like another column says that it is a note."""
    return note_names(all_words(setup), notes)


def counted(trials: Sequence[Trial]) -> str:
    """How many are in each state, in words."""
    counts = Counter(str(trial.state) for trial in trials)
    words = {"told": "observed", "attached": "attached", "asked": "pending", "failed": "failed"}
    words["abandoned"] = "abandoned"
    partial = sum(bool(trial.results) for trial in trials if trial.state == "asked")
    if partial:
        words["asked"] = f"pending ({partial} with some results)"
    return ", ".join(f"{counts[state]} {word}" for state, word in words.items() if counts[state]) or "nothing asked yet"


def _notes(trials: Sequence[Trial]) -> list[str]:
    """Names of all notes, in the order in which they came."""
    return list(dict.fromkeys(key for trial in trials for key in trial.notes or {}))
