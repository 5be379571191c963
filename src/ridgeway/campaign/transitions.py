"""Changes of a trial's state: observed, failed, corrected, abandoned, taken over or back; each in one transaction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection

from ridgeway.campaign.corrections import changes, moment
from ridgeway.campaign.measurement import Measurement, Measurements, values
from ridgeway.campaign.results import Result, finite, moved
from ridgeway.campaign.setup import Setup
from ridgeway.campaign.store import Outcome, Store, json_of, now, who
from ridgeway.campaign.trial import OBSERVED, Trial, pack
from ridgeway.errors import CampaignError
from ridgeway.types import Array


@dataclass(frozen=True)
class Told:
    """The trials, by number, that a table of results was about."""

    told: tuple[int, ...] = ()
    failed: tuple[int, ...] = ()
    already: tuple[int, ...] = ()  # known before, with the same outcome at the same inputs
    moved: tuple[int, ...] = ()  # made elsewhere than asked
    pending: int = 0  # rows without a value
    corrected: tuple[int, ...] = ()  # known before with another outcome, or at other inputs
    noted: tuple[int, ...] = ()  # known before, with other notes
    partial: tuple[int, ...] = ()  # with new results, and still without those of other outputs


@dataclass(frozen=True)
class _News:
    """What a row says about its trial that was not known."""

    trial: Trial
    row: Result
    x: Array | None  # where it was made, if elsewhere
    new: Measurements  # of outputs of which nothing was known
    changed: Measurements  # of outputs that have another result
    notes: Mapping[str, str]  # that differ from those it has

    @property
    def corrects(self) -> bool:
        """Whether it contradicts what was told before."""
        return bool(self.changed) or (self.x is not None and bool(self.trial.results))

    @property
    def known(self) -> bool:
        """Whether nothing but notes may be new."""
        return not self.new and not self.corrects

    @property
    def merged(self) -> Measurements:
        """All results of the trial, those in the row included."""
        return {**self.trial.results, **self.changed, **self.new}

    @property
    def is_done(self) -> bool:
        """Whether nothing more is awaited of the trial."""
        return self.trial.state != "asked" or self.completes

    @property
    def completes(self) -> bool:
        """Whether a trial that was pending has all its results now."""
        return self.trial.state == "asked" and all(name in self.merged for name in self.trial.outputs)


def tell(
    store: Store, setup: Setup, rows: Sequence[Result], outside: bool, pending: int = 0, why: str | None = None
) -> Told:
    """Outcomes of trials, all or none; ``why`` says why those that contradict what is known are corrections."""
    if why is not None:
        check_reason(why, "corrections must say why results have changed")
    if not rows:
        return Told(pending=pending)

    def change(connection: Connection, trials: dict[int, Trial]) -> Told:
        news = [_news(row, trials[row.trial or 0], setup, outside) for row in rows]
        against = next((found for found in news if found.corrects), None)
        if against is not None and why is None:
            raise CampaignError(_contradiction(against, setup))
        store.take(connection, [_outcome(found) for found in news if found.new])
        several = sum(max(len(found.changed), 1) for found in news if found.corrects) > 1
        group = store.next_group(connection) if several else None
        for found in news:
            if found.corrects:
                _replace(store, connection, found.trial, found.changed, found.x, why or "", group)
            if found.notes and (found.corrects or found.known):
                _note(store, connection, found.trial, found.notes, why)
        return _told(news, pending)

    result: Told = store.update([row.trial or 0 for row in rows], change, [row.where for row in rows])
    return result


def _told(news: Sequence[_News], pending: int) -> Told:
    first = [found for found in news if found.new and not found.corrects]
    done = [found for found in first if found.is_done]
    return Told(
        tuple(found.trial.id for found in done if values(found.merged)),
        tuple(found.trial.id for found in done if not values(found.merged)),
        tuple(found.trial.id for found in news if found.known),
        tuple(found.trial.id for found in first if found.x is not None),
        pending,
        tuple(found.trial.id for found in news if found.corrects),
        tuple(found.trial.id for found in news if found.known and found.notes),
        tuple(found.trial.id for found in first if not found.is_done),
    )


def _news(row: Result, trial: Trial, setup: Setup, outside: bool) -> _News:
    """What is new about a trial; of one that was abandoned nothing can be."""
    if trial.state == "abandoned":
        when = _moment(trial.settled_at, trial.settled_by)
        raise CampaignError(
            f"{row.where}: trial {trial.id} was abandoned on {when} ({trial.reason}); "
            "if it was made all the same, add it with `attach`"
        )
    results = dict(row.results)
    if row.ends:  # of whatever is awaited; where nothing is, a failure contradicts the results that there are
        rest = [name for name in trial.awaited if name not in results]
        results |= {name: Measurement(None) for name in (rest or (() if results else trial.outputs))}
    new = {name: found for name, found in results.items() if name not in trial.results}
    changed = {
        name: _with_known_sigma(found, trial.results[name])
        for name, found in results.items()
        if name in trial.results and _differ(trial.results[name], found)
    }
    kept = trial.notes or {}
    notes = {name: text for name, text in row.notes.items() if kept.get(name) != text}
    return _News(trial, row, moved(row, trial, setup, outside), new, changed, notes)


def _differ(there: Measurement, new: Measurement) -> bool:
    same_sigma = new.value is None or new.sigma is None or _same(there.sigma, new.sigma)
    return not same_sigma or not _same(there.value, new.value)


def _with_known_sigma(new: Measurement, there: Measurement) -> Measurement:
    """What is known of its noise stays, where nothing else is said."""
    return replace(new, sigma=there.sigma) if new.sigma is None and new.value is not None else new


def _contradiction(news: _News, setup: Setup) -> str:
    """Why an outcome is refused, and how to record it as a correction."""
    row, trial, x = news.row, news.trial, news.x
    name, new = next(iter(news.changed.items()), (next(iter(trial.results)), None))
    there, word = trial.results[name], setup.outputs.word(name)
    when = _moment(there.at, there.by)
    text, advice = f"has its result since {when}", "if the first was wrong, change it with"
    if new is not None:
        got = "a failure" if new.value is None else _with_sigma(new.value, row.results[name].sigma)
        if there.value is None and trial.state == "failed":
            text, advice = f"failed on {when} ({trial.reason}), now it has {got}", "if it was measured after all, use"
        elif there.value is None:
            text, advice = f"has no {word} since {when}, now it is {got}", "if it was measured after all, use"
        else:
            text = f"has the {word} {_with_sigma(there.value, there.sigma)} since {when}, now it is {got}"
    if x is not None:
        text += f", now with other inputs: {', '.join(changes(setup.labels, trial.x.tolist(), x.tolist())[:6])}"
    return (
        f"{row.where}: trial {trial.id} {text}; {advice} `correct` (trial {trial.id}, what is right, reason), "
        "or take such rows of a table as corrections (--corrections 'reason')"
    )


def _with_sigma(value: float | None, sigma: float | None) -> str:
    return f"{value:g}" if sigma is None else f"{value:g} (sigma {sigma:g})"


def _moment(at: str | None, by: str | None) -> str:
    return f"{moment(at) if at else 'some day'} by {by or 'somebody'}"


def _same(a: float | None, b: float | None) -> bool:
    """Whether two numbers are equal to the fifteen digits that a workbook keeps."""
    return a == b if a is None or b is None else math.isclose(a, b, rel_tol=1e-12)


def _outcome(news: _News) -> Outcome:
    row, trial = news.row, news.trial
    columns: dict[str, Any] = {}
    if news.completes or trial.state == "failed":
        columns["state"] = "told" if values(news.merged) else "failed"
    if any(found.value is None for found in news.new.values()):
        columns["reason"] = row.reason or "failed"
    if row.notes:
        columns["notes"] = json_of({**(trial.notes or {}), **row.notes})
    if news.x is not None and not news.corrects:
        columns |= {"inputs": pack(news.x), "proposed": pack(trial.x)}
    return Outcome(trial, news.new, columns, settles=news.completes)


def attach(store: Store, setup: Setup, rows: Sequence[Result], repeated: bool) -> list[int]:
    """Experiments that were not asked for, as trials of their own."""

    with store.writing() as connection:
        snapshot = store.snapshot_in(connection, fits=False)
        known = {_content(t.x, t.results): t.id for t in snapshot.trials if t.state in OBSERVED}
        here: dict[tuple[Any, ...], Result] = {}
        first, new = store.counters(connection).n_trials + 1, []
        by, at = who(), now()
        for i, row in enumerate(rows):
            assert row.x is not None
            key = _content(row.x, row.results)
            if not repeated:
                _check_single(row, known.get(key), here.get(key))
            here[key] = row
            sequence = snapshot.n_settled + i
            results = {name: replace(m, sequence=sequence, by=by, at=at) for name, m in row.results.items()}
            new.append(
                Trial(
                    first + i, "attached", setup.names, row.x, None, results, setup.outputs.names, row.notes,
                    settled_by=by, settled_at=at, sequence=sequence, campaign=store.identity, levels=setup.levels,
                )
            )  # fmt: skip
        store.add(connection, new, asked=0)
    return [trial.id for trial in new]


def _content(x: Array, results: Measurements) -> tuple[Any, ...]:
    """What makes an experiment the same as another one: its inputs and its values."""
    return (pack(x), *sorted(values(results).items()))


def _check_single(row: Result, there: int | None, earlier: Result | None) -> None:
    """Raise where a row is there already, unless two rows of one file are different trials of another campaign."""
    hint = "remove it, or say that measurements were repeated (--repeated)"
    if there is not None:
        raise CampaignError(f"{row.where} is in the campaign already, as trial {there}; {hint}")
    if earlier is not None and (row.trial is None or row.trial == earlier.trial):
        raise CampaignError(f"{row.where} says the same as {earlier.where}; {hint}")


@dataclass(frozen=True)
class Correction:
    """What is right about a trial that has an outcome; what is not named stays."""

    values: Mapping[str, float | None] | None = field(default_factory=dict)  # by output; None: there are none at all
    sigmas: Mapping[str, float | None] = field(default_factory=dict)
    x: Array | None = None  # (k,) its inputs, NaN for those that stay

    def results(self, trial: Trial) -> dict[str, Measurement]:
        """The right results of the outputs that it names."""
        right = dict.fromkeys(trial.results) if self.values is None else self.values
        found = {}
        for name in {**right, **self.sigmas}:
            there = trial.results[name]
            value = right.get(name, there.value)
            sigma = None if value is None else self.sigmas.get(name, there.sigma)
            found[name] = Measurement(value, sigma)
        return found


def correct(store: Store, setup: Setup, number: int, right: Correction, reason: str, outside: bool) -> None:
    """Other values for a trial that has an outcome; what stood there goes to the history."""
    check_reason(reason, f"reason must say why trial {number} is corrected")

    def change(connection: Connection, trials: dict[int, Trial]) -> None:
        trial = trials[number]
        if not trial.results:
            what = "was abandoned: use `attach`" if trial.state == "abandoned" else "has no outcome yet: use `tell`"
            raise CampaignError(f"trial {number} cannot be corrected, it {what}")
        for name in {**(right.values or {}), **right.sigmas}:
            if name not in trial.results:
                raise CampaignError(f"{name} of trial {number} cannot be corrected, it has none yet: use `tell`")
        x = moved(Result("correct", number, {}, right.x, {}), trial, setup, outside)
        there = trial.results
        changed = {
            name: new
            for name, new in right.results(trial).items()
            if (new.value, new.sigma) != (there[name].value, there[name].sigma)
        }
        group = store.next_group(connection) if len(changed) > 1 else None
        if x is not None or changed:
            _replace(store, connection, trial, changed, x, reason, group)

    store.update([number], change)


def _replace(
    store: Store,
    connection: Connection,
    trial: Trial,
    changed: Measurements,
    x: Array | None,
    why: str,
    group: int | None,
) -> None:
    """Other results, or other inputs, of a trial that has them; the old ones go to the history.

    Entries of one ``group`` were corrected together, and are taken back together.
    """
    merged = {**trial.results, **changed}
    state = trial.state if trial.state in ("asked", *OBSERVED) else "told"
    state = state if values(merged) or state == "asked" else "failed"
    columns: dict[str, Any] = {"state": state}
    if any(new.value is None and trial.results[name].value is not None for name, new in changed.items()):
        columns["reason"] = why
    elif all(found.value is not None for found in merged.values()):
        columns["reason"] = None
    before: dict[str, Any] = {"reason": trial.reason} if columns.get("reason", trial.reason) != trial.reason else {}
    after: dict[str, Any] = {}
    if x is not None:
        moved_to = np.flatnonzero(x != trial.x).tolist()
        before["inputs"] = {trial.names[j]: float(trial.x[j]) for j in moved_to}
        after["inputs"] = {trial.names[j]: float(x[j]) for j in moved_to}
        asked = trial.x if trial.proposed is None and trial.asked_at is not None else trial.proposed
        columns |= {"inputs": pack(x), "proposed": None if asked is None else pack(asked)}
    # One entry for each result, so that each can be read by itself.
    entries: list[tuple[str, Measurement | None]] = [*changed.items()] or [(trial.outputs[0], None)]
    for name, new in entries:
        old = trial.results.get(name)
        own = {"output": store.setup.outputs.place(name), "name": store.setup.outputs.word(name)}
        before |= {"state": trial.state} | ({} if new is None or old is None else {**own, **_entry(old)})
        after |= {"state": state} | ({} if new is None else {**own, **_entry(new)})
        after |= {} if group is None else {"group": group}
        store.log(connection, trial, "corrected", before, after, why)
        before, after = {}, {}
    # A value where there was none comes last, so that the observations before it stay as they are.
    late = {n: new for n, new in changed.items() if trial.results[n].value is None and new.value is not None}
    for name, new in changed.items():
        if name not in late:
            store.replace_result(connection, trial, name, new)
    if late:
        store.take(connection, [Outcome(trial, late, columns, settles=trial.state == "failed")])
    else:
        store.change(connection, trial, **columns)


def _entry(result: Measurement) -> dict[str, Any]:
    return {"value": result.value, "sigma": result.sigma}


def _note(store: Store, connection: Connection, trial: Trial, notes: Mapping[str, str], why: str | None) -> None:
    """Other notes of a trial that has an outcome; those they replace go to the history."""
    kept = trial.notes or {}
    new = {name: text for name, text in notes.items() if kept.get(name) != text}
    if not new:
        return
    old = {name: kept.get(name) for name in new}
    store.log(connection, trial, "noted", {"notes": old}, {"notes": new}, why or "told again with other notes")
    store.change(connection, trial, notes=json_of({**kept, **new}))


def check_reason(reason: Any, what: str) -> None:
    """Raise ``what`` unless there is a reason."""
    if not isinstance(reason, str) or not reason.strip():
        raise CampaignError(f"{what}, got {reason!r}")


def abandon(store: Store, numbers: Sequence[int], reason: str) -> None:
    """Trials that will not be made; all of them or none."""

    def change(connection: Connection, trials: dict[int, Trial]) -> None:
        for number in numbers:
            trial, others = trials[number], "" if len(numbers) == 1 else "; none was abandoned"
            if trial.state not in ("asked", "abandoned"):
                raise CampaignError(f"trial {number} cannot be abandoned, it has an outcome ({trial.state}){others}")
            if trial.results:
                raise CampaignError(
                    f"trial {number} cannot be abandoned, it has {', '.join(trial.results)}{others}: say that the rest "
                    "will not come with `fail`"
                )
        pending = [trial for trial in trials.values() if trial.state == "asked"]
        columns = {"state": "abandoned", "reason": str(reason)}
        store.take(connection, [Outcome(trial, {}, columns, settles=True) for trial in pending])

    store.update(numbers, change)


def reopen(store: Store, number: int, reason: str, outputs: Sequence[str] = ()) -> None:
    """Take back what became of a trial that was asked for, or its results of some outputs: it is pending again.

    Without any results left, it is at the inputs that were asked. Nothing happens to one that is pending and has
    none. What stood there goes to the history.
    """
    check_reason(reason, f"reason must say why trial {number} is taken back")

    def change(connection: Connection, trials: dict[int, Trial]) -> None:
        trial = trials[number]
        gone = [name for name in trial.results if name in outputs or not outputs]
        if not gone and (outputs or trial.state == "asked"):
            return
        if trial.state == "attached":
            raise CampaignError(f"trial {number} was not asked for, so it cannot become pending: correct or discard it")
        asked = trial.x if trial.proposed is None else trial.proposed
        if trial.state == "abandoned":  # its point may have been given to another trial since
            others = store.snapshot_in(connection, fits=False).trials
            same = [t.id for t in others if t.state != "abandoned" and pack(t.x) == pack(asked)]
            if same:
                raise CampaignError(f"trial {number} cannot become pending: trial {same[0]} has its inputs since")
        called, place = store.setup.outputs.word, store.setup.outputs.place
        before: dict[str, Any] = {"state": trial.state, "outputs": [place(name) for name in gone]}
        before["values"] = {called(name): trial.values[name] for name in gone if name in trial.values}
        store.log(connection, trial, "reopened", before, {"state": "asked"}, reason)
        store.drop_results(connection, trial, gone)
        columns: dict[str, Any] = dict.fromkeys(("reason", "settled_by", "settled_at", "sequence"))
        if len(gone) == len(trial.results):
            columns |= {"inputs": pack(asked), "proposed": None}
        store.change(connection, trial, state="asked", **columns)

    store.update([number], change)


def reclaim(store: Store, older_than: float) -> list[Trial]:
    """Trials that have been pending for so many seconds, assigned to the caller from now on.

    A trial that was asked for in the future, by a machine whose clock is wrong, is as old as it is far away: its
    age is not known, and it must not stay out of reach.
    """
    with store.writing() as connection:
        pending = [t for t in store.snapshot_in(connection, fits=False).trials if t.state == "asked"]
        by, at = who(), now()
        stale = [trial for trial in pending if abs(age(trial, at)) >= older_than]
        for trial in stale:
            before, after = {"asked_by": trial.asked_by, "asked_at": trial.asked_at}, {"asked_by": by, "asked_at": at}
            why = "pending for too long" if age(trial, at) >= 0.0 else "asked for in the future: a clock is wrong"
            store.log(connection, trial, "reclaimed", before, after, why)
            store.change(connection, trial, **after)
    return stale


def age(trial: Trial, at: str) -> float:
    """Seconds from when a trial was asked for to the time ``at``; negative where that is in the future."""
    if trial.asked_at is None:
        return math.inf
    since = datetime.fromisoformat(trial.asked_at)
    return (datetime.fromisoformat(at) - since).total_seconds()


def sigma(value: Any) -> float | None:
    """A known standard deviation."""
    if value is None:
        return None
    number = finite(value, "sigma")
    if number < 0.0:
        raise CampaignError(f"sigma must not be negative, got {number:g}")
    return number
