"""Changes of a trial's state: observed, failed, corrected, abandoned, taken over or back; each in one transaction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import EllipsisType
from typing import Any

import numpy as np
from sqlalchemy import Connection

from ridgeway.campaign.corrections import changes
from ridgeway.campaign.results import Result, moved
from ridgeway.campaign.setup import Setup
from ridgeway.campaign.store import Store, json_of, now, who
from ridgeway.campaign.trial import OBSERVED, Trial, pack
from ridgeway.errors import CampaignError
from ridgeway.text import numbers as written_numbers
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


@dataclass(frozen=True)
class _News:
    """What a row says about its trial that was not known."""

    trial: Trial
    row: Result
    x: Array | None  # where it was made, if elsewhere
    corrects: bool = False  # it contradicts what was told before
    notes: bool = False  # they alone are new


def tell(
    store: Store, setup: Setup, rows: Sequence[Result], outside: bool, pending: int = 0, why: str | None = None
) -> Told:
    """Outcomes of trials, all or none; ``why`` says why those that contradict what is known are corrections."""
    if why is not None:
        check_reason(why, "corrections must say why results have changed")
    if not rows:
        return Told(pending=pending)

    def change(connection: Connection, trials: dict[int, Trial]) -> Told:
        known = [_news(row, trials[row.trial or 0], setup, outside) for row in rows]
        news = [found for found in known if found is not None]
        against = next((found for found in news if found.corrects), None)
        if against is not None and why is None:
            raise CampaignError(_contradiction(against, setup))
        first = [found for found in news if not found.corrects and not found.notes]
        store.settle(connection, [(found.trial, _outcome(found)) for found in first])
        for found in news:
            if found.corrects:
                _replace(store, connection, found.trial, *_corrected(found), why or "")
            if (found.corrects or found.notes) and found.row.notes:
                _note(store, connection, found.trial, found.row.notes, why)
        return Told(
            tuple(found.trial.id for found in first if found.row.value is not None),
            tuple(found.trial.id for found in first if found.row.value is None),
            tuple(row.trial or 0 for row, found in zip(rows, known, strict=True) if found is None or found.notes),
            tuple(found.trial.id for found in first if found.x is not None),
            pending,
            tuple(found.trial.id for found in news if found.corrects),
            tuple(found.trial.id for found in news if found.notes),
        )

    result: Told = store.update([row.trial or 0 for row in rows], change, [row.where for row in rows])
    return result


def _news(row: Result, trial: Trial, setup: Setup, outside: bool) -> _News | None:
    """What is new about a trial, or ``None``; of one that was abandoned nothing can be."""
    if trial.state == "abandoned":
        raise CampaignError(
            f"{row.where}: trial {trial.id} was abandoned on {_when(trial)} ({trial.reason}); "
            "if it was made all the same, add it with `attach`"
        )
    x = moved(row, trial, setup, outside)
    if trial.state == "asked":
        return _News(trial, row, x)
    same_sigma = row.value is None or row.sigma is None or _same(trial.sigma, row.sigma)
    if x is not None or not same_sigma or not _same(trial.value, row.value):
        return _News(trial, row, x, corrects=True)
    kept = trial.notes or {}
    if any(kept.get(name) != text for name, text in row.notes.items()):
        return _News(trial, row, None, notes=True)
    return None


def _contradiction(news: _News, setup: Setup) -> str:
    """Why an outcome is refused, and how to record it as a correction."""
    row, trial, x = news.row, news.trial, news.x
    got = "a failure" if row.value is None else _with_sigma(row.value, row.sigma)
    text, advice = f"has its result since {_when(trial)}", "if the first was wrong, change it with"
    if trial.state == "failed" and row.value is not None:
        text = f"failed on {_when(trial)} ({trial.reason}), now it has {got}"
        advice = "if it was measured after all, use"
    elif trial.state in OBSERVED and (x is None or not _same(trial.value, row.value)):
        text = f"has the value {_with_sigma(trial.value, trial.sigma)} since {_when(trial)}, now it is {got}"
    if x is not None:
        text += f", now with other inputs: {', '.join(changes(setup.labels, trial.x.tolist(), x.tolist())[:6])}"
    return (
        f"{row.where}: trial {trial.id} {text}; {advice} `correct` (trial {trial.id}, what is right, reason), "
        "or take such rows of a table as corrections (--corrections 'reason')"
    )


def _with_sigma(value: float | None, sigma: float | None) -> str:
    return f"{value:g}" if sigma is None else f"{value:g} (sigma {sigma:g})"


def _when(trial: Trial) -> str:
    return f"{trial.settled_at} by {trial.settled_by}".replace("T", " ", 1)


def _corrected(news: _News) -> tuple[float | None, float | None, Array | None]:
    row, trial = news.row, news.trial
    return row.value, trial.sigma if row.sigma is None else row.sigma, news.x


def _same(a: float | None, b: float | None) -> bool:
    """Whether two numbers are equal to the fifteen digits that a workbook keeps."""
    return a == b if a is None or b is None else math.isclose(a, b, rel_tol=1e-12)


def _outcome(news: _News) -> dict[str, Any]:
    row, trial = news.row, news.trial
    values: dict[str, Any] = {"state": "told", "value": row.value, "sigma": row.sigma}
    if row.value is None:
        values = {"state": "failed", "reason": row.reason or "failed"}
    if row.notes:
        values["notes"] = json_of({**(trial.notes or {}), **row.notes})
    if news.x is not None:
        values |= {"inputs": pack(news.x), "proposed": pack(trial.x)}
    return values


def attach(store: Store, setup: Setup, rows: Sequence[Result], repeated: bool) -> list[int]:
    """Experiments that were not asked for, as trials of their own."""

    with store.writing() as connection:
        snapshot = store.snapshot_in(connection, fits=False)
        known = {(pack(t.x), t.value): t.id for t in snapshot.trials if t.state in OBSERVED}
        here: dict[tuple[bytes, float | None], Result] = {}
        first, new = store.counters(connection).n_trials + 1, []
        by, at = who(), now()
        for i, row in enumerate(rows):
            assert row.x is not None
            key = (pack(row.x), row.value)
            if not repeated:
                _check_single(row, known.get(key), here.get(key))
            here[key] = row
            new.append(
                Trial(
                    first + i, "attached", setup.names, row.x, None, row.value, row.sigma, row.notes,
                    settled_by=by, settled_at=at, sequence=snapshot.n_settled + i, campaign=store.identity,
                    levels=setup.levels,
                )
            )  # fmt: skip
        store.add(connection, new, asked=0)
    return [trial.id for trial in new]


def _check_single(row: Result, there: int | None, earlier: Result | None) -> None:
    """Raise where a row is there already, unless two rows of one file are different trials of another campaign."""
    hint = "remove it, or say that measurements were repeated (--repeated)"
    if there is not None:
        raise CampaignError(f"{row.where} is in the campaign already, as trial {there}; {hint}")
    if earlier is not None and (row.trial is None or row.trial == earlier.trial):
        raise CampaignError(f"{row.where} says the same as {earlier.where}; {hint}")


@dataclass(frozen=True)
class Correction:
    """What is right about a trial that has an outcome: ``...`` stands for what it has."""

    value: float | EllipsisType | None = ...  # None: there is none
    sigma: float | EllipsisType | None = ...
    x: Array | None = None  # (k,) its inputs, NaN for those that stay


def correct(store: Store, setup: Setup, number: int, right: Correction, reason: str, outside: bool) -> None:
    """Other values for a trial that has an outcome; what stood there goes to the history."""
    check_reason(reason, f"reason must say why trial {number} is corrected")

    def change(connection: Connection, trials: dict[int, Trial]) -> None:
        trial = trials[number]
        if trial.state in ("asked", "abandoned"):
            what = "has no outcome yet: use `tell`" if trial.state == "asked" else "was abandoned: use `attach`"
            raise CampaignError(f"trial {number} cannot be corrected, it {what}")
        value = trial.value if right.value is ... else right.value
        sigma = trial.sigma if right.sigma is ... else right.sigma
        row = Result("correct", number, value, sigma, right.x, {})
        x = moved(row, trial, setup, outside)
        if x is not None or (value, sigma) != (trial.value, trial.sigma):
            _replace(store, connection, trial, value, sigma, x, reason)

    store.update([number], change)


def _replace(
    store: Store,
    connection: Connection,
    trial: Trial,
    value: float | None,
    sigma: float | None,
    x: Array | None,
    why: str,
) -> None:
    """Another outcome, or other inputs, of a trial that has them; the old ones go to the history."""
    before: dict[str, Any] = {"state": trial.state, "value": trial.value, "sigma": trial.sigma}
    state = trial.state if trial.state in OBSERVED else "told"
    after: dict[str, Any] = {"state": state, "value": value, "sigma": sigma}
    if value is None:
        after = {"state": "failed", "value": None, "sigma": None}
    columns = dict(after)
    if value is not None or trial.state != "failed":
        columns["reason"] = why if value is None else None
    if x is not None:
        moved_to = np.flatnonzero(x != trial.x).tolist()
        before["inputs"] = {trial.names[j]: float(trial.x[j]) for j in moved_to}
        after["inputs"] = {trial.names[j]: float(x[j]) for j in moved_to}
        asked = trial.x if trial.proposed is None and trial.asked_at is not None else trial.proposed
        columns |= {"inputs": pack(x), "proposed": None if asked is None else pack(asked)}
    store.log(connection, trial, "corrected", before, after, why)
    if trial.state == "failed" and value is not None:  # a new observation comes last: those before stay as they are
        store.settle(connection, [(trial, columns)])
    else:
        store.change(connection, trial, **columns)


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
            if trials[number].state not in ("asked", "abandoned"):
                raise CampaignError(
                    f"trial {number} cannot be abandoned, it has an outcome ({trials[number].state})"
                    f"{'' if len(numbers) == 1 else '; none was abandoned'}"
                )
        pending = [trial for trial in trials.values() if trial.state == "asked"]
        store.settle(connection, [(trial, {"state": "abandoned", "reason": str(reason)}) for trial in pending])

    store.update(numbers, change)


def reopen(store: Store, number: int, reason: str) -> None:
    """Take back what became of a trial that was asked for: it is pending again, at the inputs that were asked.

    Nothing happens to one that is pending. What stood there goes to the history.
    """
    check_reason(reason, f"reason must say why trial {number} is taken back")

    def change(connection: Connection, trials: dict[int, Trial]) -> None:
        trial = trials[number]
        if trial.state == "asked":
            return
        if trial.state == "attached":
            raise CampaignError(f"trial {number} was not asked for, so it cannot become pending: correct or discard it")
        asked = trial.x if trial.proposed is None else trial.proposed
        if trial.state == "abandoned":  # its point may have been given to another trial since
            others = store.snapshot_in(connection, fits=False).trials
            same = [t.id for t in others if t.state != "abandoned" and pack(t.x) == pack(asked)]
            if same:
                raise CampaignError(f"trial {number} cannot become pending: trial {same[0]} has its inputs since")
        before = {"state": trial.state, "value": trial.value, "sigma": trial.sigma}
        store.log(connection, trial, "reopened", before, {"state": "asked"}, reason)
        nothing = dict.fromkeys(("value", "sigma", "reason", "settled_by", "settled_at", "sequence", "proposed"))
        store.change(connection, trial, state="asked", inputs=pack(asked), **nothing)

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


def finite(value: Any, name: str) -> float:
    """A finite number."""
    try:
        plain = written_numbers.decimal(value) if isinstance(value, str) else value
        number = float(np.asarray(plain, dtype=float).reshape(()))
    except (TypeError, ValueError):
        raise CampaignError(f"{name} must be a number, got {value!r}") from None
    if not math.isfinite(number):
        raise CampaignError(
            f"{name} must be finite, got {number}; an experiment that gave no value is recorded with `fail`"
        )
    return number


def sigma(value: Any) -> float | None:
    """A known standard deviation."""
    if value is None:
        return None
    number = finite(value, "sigma")
    if number < 0.0:
        raise CampaignError(f"sigma must not be negative, got {number:g}")
    return number
