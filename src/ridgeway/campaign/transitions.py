"""Changes of a trial's state: observed, failed, corrected, abandoned, taken over; each in one transaction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection

from ridgeway import written_numbers
from ridgeway.campaign.results import Result, moved
from ridgeway.campaign.setup import Setup
from ridgeway.campaign.store import Store, json_of, now, who
from ridgeway.campaign.trial import OBSERVED, Trial, pack
from ridgeway.errors import CampaignError
from ridgeway.types import Array


@dataclass(frozen=True)
class Told:
    """The trials, by number, that a table of results was about."""

    told: tuple[int, ...]
    failed: tuple[int, ...]
    already: tuple[int, ...]  # observed before, with the same value
    moved: tuple[int, ...]  # made elsewhere than asked
    pending: int  # rows without a value


def tell(store: Store, setup: Setup, rows: Sequence[Result], outside: bool, pending: int = 0) -> Told:
    """Outcomes of trials, all or none."""

    def change(connection: Connection, trials: dict[int, Trial]) -> Told:
        new, already, elsewhere = [], [], []
        for row in rows:
            trial = trials[row.trial or 0]
            if not _news(row, trial):
                already.append(trial.id)
                continue
            x = moved(row, trial, setup, outside)
            if x is not None:
                elsewhere.append(trial.id)
            new.append((trial, _outcome(row, trial, x)))
        store.settle(connection, new)
        told = tuple(trial.id for trial, values in new if values["state"] == "told")
        failed = tuple(trial.id for trial, values in new if values["state"] == "failed")
        return Told(told, failed, tuple(already), tuple(elsewhere), pending)

    if not rows:
        return Told((), (), (), (), pending)
    result: Told = store.update([row.trial or 0 for row in rows], change, [row.where for row in rows])
    return result


def _news(row: Result, trial: Trial) -> bool:
    """Whether an outcome is new; one that contradicts what is known is refused."""
    if trial.state == "asked":
        return True
    if (
        trial.state in OBSERVED
        and _same(trial.value, row.value)
        and (row.sigma is None or _same(trial.sigma, row.sigma))
    ):
        return False
    if trial.state == "failed" and row.value is None:
        return False
    when = f"{trial.settled_at} by {trial.settled_by}".replace("T", " ")
    got = "a failure" if row.value is None else f"{row.value:g}"
    if trial.state in OBSERVED:
        raise CampaignError(
            f"{row.where}: trial {trial.id} has the value {trial.value:g} since {when}, now it is {got}; "
            f"if the first was wrong, change it with `correct` (trial {trial.id}, value, reason)"
        )
    if trial.state == "failed":
        raise CampaignError(
            f"{row.where}: trial {trial.id} failed on {when} ({trial.reason}), now it has {got}; "
            f"if it was measured after all, use `correct` (trial {trial.id}, value, reason)"
        )
    raise CampaignError(
        f"{row.where}: trial {trial.id} was abandoned on {when} ({trial.reason}); "
        "if it was made all the same, add it with `attach`"
    )


def _same(a: float | None, b: float | None) -> bool:
    """Whether two numbers are equal to the fifteen digits that a workbook keeps."""
    return a == b if a is None or b is None else math.isclose(a, b, rel_tol=1e-12)


def _outcome(row: Result, trial: Trial, x: Array | None) -> dict[str, Any]:
    values: dict[str, Any] = {"state": "told", "value": row.value, "sigma": row.sigma}
    if row.value is None:
        values = {"state": "failed", "reason": row.reason or "failed"}
    if row.notes:
        values["notes"] = json_of({**(trial.notes or {}), **row.notes})
    if x is not None:
        values |= {"inputs": pack(x), "proposed": pack(trial.x)}
    return values


def attach(store: Store, setup: Setup, rows: Sequence[Result], repeated: bool) -> list[int]:
    """Experiments that were not asked for, as trials of their own."""

    with store.database.writing() as connection:
        store.locked(connection)
        snapshot = store.snapshot_in(connection, fits=False)
        known = {(pack(t.x), t.value): t.id for t in snapshot.trials if t.state in OBSERVED}
        first, new = store.counters(connection).n_trials + 1, []
        by, at = who(), now()
        for i, row in enumerate(rows):
            assert row.x is not None
            there = known.get((pack(row.x), row.value))
            if there is not None and not repeated:
                raise CampaignError(
                    f"{row.where} is in the campaign already, as trial {there}; remove it, "
                    "or say that measurements were repeated (--repeated)"
                )
            known[pack(row.x), row.value] = first + i
            new.append(
                Trial(
                    first + i, "attached", setup.names, row.x, None, row.value, row.sigma, row.notes,
                    settled_by=by, settled_at=at, sequence=snapshot.n_settled + i,
                )
            )  # fmt: skip
        store.add(connection, new, asked=0)
    return [trial.id for trial in new]


def correct(store: Store, number: int, value: float | None, sigma: float | None, reason: str) -> None:
    """Another outcome for a trial that has one; what stood there goes to the history."""
    if not isinstance(reason, str) or not reason.strip():
        raise CampaignError(f"reason must say why trial {number} is corrected, got {reason!r}")

    def change(connection: Connection, trials: dict[int, Trial]) -> None:
        trial = trials[number]
        if trial.state in ("asked", "abandoned"):
            what = "has no outcome yet: use `tell`" if trial.state == "asked" else "was abandoned: use `attach`"
            raise CampaignError(f"trial {number} cannot be corrected, it {what}")
        before = {"state": trial.state, "value": trial.value, "sigma": trial.sigma}
        new_sigma = trial.sigma if sigma is None else sigma
        state = trial.state if trial.state in OBSERVED else "told"
        after: dict[str, Any] = {"state": state, "value": value, "sigma": new_sigma}
        if value is None:
            after = {"state": "failed", "value": None, "sigma": None}
        store.log(connection, trial, "corrected", before, after, reason)
        after["reason"] = reason if value is None else None
        if trial.state == "failed" and value is not None:  # a new observation comes last: those before stay as they are
            store.settle(connection, [(trial, after)])
        else:
            store.change(connection, trial, **after)

    store.update([number], change)


def abandon(store: Store, number: int, reason: str) -> None:
    """A trial that will not be made."""

    def change(connection: Connection, trials: dict[int, Trial]) -> None:
        trial = trials[number]
        if trial.state == "abandoned":
            return
        if trial.state != "asked":
            raise CampaignError(f"trial {number} cannot be abandoned, it has an outcome ({trial.state})")
        store.settle(connection, [(trial, {"state": "abandoned", "reason": str(reason)})])

    store.update([number], change)


def reclaim(store: Store, limit: str) -> list[Trial]:
    """Trials that have been pending since before ``limit``, assigned to the caller from now on."""
    with store.database.writing() as connection:
        store.locked(connection)
        stale = [
            trial
            for trial in store.snapshot_in(connection, fits=False).trials
            if trial.state == "asked" and (trial.asked_at or "") <= limit
        ]
        by, at = who(), now()
        for trial in stale:
            before, after = {"asked_by": trial.asked_by, "asked_at": trial.asked_at}, {"asked_by": by, "asked_at": at}
            store.log(connection, trial, "reclaimed", before, after, "pending for too long")
            store.change(connection, trial, **after)
    return stale


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
