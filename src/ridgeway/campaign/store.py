"""What a campaign keeps in its database: every change is one transaction."""

from __future__ import annotations

import getpass
import hashlib
import json
import socket
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, select, update

from ridgeway.campaign import schema
from ridgeway.campaign.database import Database
from ridgeway.campaign.measurement import Measurement, Measurements
from ridgeway.campaign.setup import Setup
from ridgeway.campaign.trial import Trial, pack, unpack
from ridgeway.errors import BudgetSpentError, CampaignError, RidgewayWarning
from ridgeway.text.counts import counted

if TYPE_CHECKING:
    from ridgeway.campaign.changes import Change

_PART = 5_000  # numbers in one query: databases allow some ten thousand
_ACTING: ContextVar[str] = ContextVar("_ACTING", default="")  # for whom this process acts, where it is somebody else


@dataclass(frozen=True)
class StoredFit:
    """A stored belief: bytes, with digests that identify it and its data."""

    output: int  # the place of its output
    role: str
    data: str
    identity: str
    parent: str
    observations: int
    searched_at: int
    summary: dict[str, Any]
    content: bytes


@dataclass(frozen=True)
class Outcome:
    """What became of a trial: results by output, and columns of the trial that change."""

    trial: Trial
    results: Measurements
    columns: Mapping[str, Any]
    settles: bool  # whether nothing more is awaited


@dataclass(frozen=True)
class Snapshot:
    """One state of a campaign."""

    n_asked: int
    n_settled: int
    trials: tuple[Trial, ...]
    fits: tuple[StoredFit, ...]

    def fits_of(self, output: int) -> dict[str, StoredFit]:
        """The fits of one output, by their role."""
        return {fit.role: fit for fit in self.fits if fit.output == output}


@dataclass(frozen=True)
class Version:
    """Two digests of a campaign's state: equal where nothing has changed in between."""

    outcomes: str  # of its setup and everything that is known of its outcomes
    everything: str  # also of what is pending, and of the fits


@dataclass(frozen=True)
class Key:
    """Where a campaign stands in its database, and which one it is."""

    id: int
    identity: str
    name: str


class Store:
    """One campaign in a database. Every transaction makes sure that it is still the same one."""

    def __init__(self, database: Database, key: Key, setup: Setup, text: str):
        self.database = database
        self.id, self.identity, self.name = key.id, key.identity, key.name
        self.setup, self._text = setup, text  # as they were when the campaign was opened

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the campaign throughout."""
        with self.database.reading() as connection:
            self.counters(connection)
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection whose changes are kept together; nobody else writes to this campaign in the meantime."""
        with self.database.writing() as connection:
            self.counters(connection, lock=True)
            yield connection

    def counters(self, connection: Connection, lock: bool = False) -> Any:
        """Row of the campaign: ``n_trials``, ``n_asked``, ``n_settled``; ``lock`` it until the transaction ends."""
        query = select(schema.campaigns).where(schema.campaigns.c.id == self.id)
        if lock and not self.database.is_file:  # SQLite's transactions that write exclude each other anyway
            query = query.with_for_update()
        row = connection.execute(query).one_or_none()
        if row is None or row.identity != self.identity:
            raise CampaignError(
                f"the campaign {self.name!r} that was opened is no longer at {self.database.where}: it was deleted"
                f"{'' if row is None else ', and another one has its place'}; nothing was read or written. "
                "Open the one that is there now, if that is what you want"
            )
        if row.setup != self._text:
            raise CampaignError(
                f"the inputs or outputs of the campaign {self.name!r} were changed since it was opened; nothing was "
                "read or written: open it again"
            )
        return row

    # -- reading -------------------------------------------------------------------------------

    def snapshot(self, fits: bool = True) -> Snapshot:
        """All that is there, at one moment; ``fits`` with the beliefs' content."""
        with self.reading() as connection:
            return self.snapshot_in(connection, fits)

    def snapshot_in(self, connection: Connection, fits: bool = True) -> Snapshot:
        """The same within a transaction."""
        row = self.counters(connection)
        table = schema.fits
        columns = [c for c in table.c if fits or c.name != "content"]
        kept = connection.execute(select(*columns).where(table.c.campaign == self.id))
        found = tuple(fit for fit in (_stored_fit(row, fits) for row in kept) if fit is not None)
        return Snapshot(row.n_asked, row.n_settled, self._trials(connection), found)

    def version(self) -> Version:
        """The state of the campaign in two words, without reading its trials."""
        log, fits = schema.corrections, schema.fits
        with self.reading() as connection:
            row = self.counters(connection)
            changed = connection.execute(select(func.max(log.c.id)).where(log.c.campaign == self.id)).scalar_one()
            kept = connection.execute(
                select(fits.c.output, fits.c.role, fits.c.identity)
                .where(fits.c.campaign == self.id)
                .order_by(fits.c.output, fits.c.role)
            ).all()
        outcomes = _digest(row.setup, row.n_settled, changed)
        return Version(outcomes, _digest(outcomes, row.n_trials, row.n_asked, *map(tuple, kept)))

    def _trials(self, connection: Connection, numbers: Sequence[int] | None = None) -> tuple[Trial, ...]:
        rows = self._rows(connection, schema.trials, numbers)
        results: dict[int, dict[str, Measurement]] = {}
        names = self.setup.outputs.names
        for row in self._rows(connection, schema.results, numbers):
            told = Measurement(row.value, row.sigma, row.sequence, row.told_by, row.told_at)
            results.setdefault(row.number, {})[names[row.output]] = told
        return tuple(self._trial(row, results.get(row.number, {})) for row in rows)

    def _rows(self, connection: Connection, table: Any, numbers: Sequence[int] | None) -> list[Any]:
        """Rows of a table about the trials with these numbers, or about all, in their order."""
        key = [column for column in table.primary_key if column.name != "campaign"]
        query = select(table).where(table.c.campaign == self.id).order_by(*key)
        if numbers is None:
            return list(connection.execute(query))
        wanted = sorted(set(numbers))
        parts = [wanted[i : i + _PART] for i in range(0, len(wanted), _PART)]
        return [row for part in parts for row in connection.execute(query.where(table.c.number.in_(part)))]

    def _trial(self, row: Any, results: Measurements) -> Trial:
        setup = self.setup
        return Trial(
            row.number, row.state, setup.names, unpack(row.inputs),
            None if row.proposed is None else unpack(row.proposed), results, setup.outputs.names,
            json.loads(row.notes), row.reason, row.expected, row.seen, row.asked_by,
            row.asked_at, row.settled_by, row.settled_at, row.sequence, self.identity, setup.levels,
        )  # fmt: skip

    def created(self) -> tuple[str, str]:
        """Who made the campaign, and when."""
        with self.reading() as connection:
            row = self.counters(connection)
            return row.created_by, row.created_at

    def corrections(self) -> list[dict[str, Any]]:
        """Every change of an outcome, and of the campaign itself as trial 0, oldest first."""
        with self.reading() as connection:
            return self.corrections_in(connection)

    def corrections_in(self, connection: Connection) -> list[dict[str, Any]]:
        """The same within a transaction."""
        table = schema.corrections
        rows = connection.execute(select(table).where(table.c.campaign == self.id).order_by(table.c.id))
        return [
            {
                "trial": row.number, "kind": row.kind, "before": json.loads(row.before),
                "after": json.loads(row.after), "reason": row.reason, "by": row.changed_by, "at": row.changed_at,
            }
            for row in rows
        ]  # fmt: skip

    def rewrite(
        self, connection: Connection, change: Change, kind: str, why: str, before: dict[str, Any] | None = None
    ) -> None:
        """Another setup, and what becomes of the trials; fits of the old one go, unless only names differ."""
        old, text = self.counters(connection).setup, change.setup.to_json()
        connection.execute(update(schema.campaigns).where(schema.campaigns.c.id == self.id).values(setup=text))
        if not change.shown:
            connection.execute(delete(schema.fits).where(schema.fits.c.campaign == self.id))
        if change.new_names is not None:
            self._rename_in_summaries(connection, *change.new_names)
        if change.added:
            for trial in self._trials(connection):
                proposed = None if trial.proposed is None else pack(change.values(trial.proposed))
                self.change(connection, trial, inputs=pack(change.values(trial.x)), proposed=proposed)
        self._log(connection, 0, kind, before or {"setup": old}, {"setup": text, "what": change.what}, why)
        self.setup, self._text = change.setup, text

    def _rename_in_summaries(self, connection: Connection, old: str, new: str) -> None:
        """What was fitted stays, and is shown under the new name."""
        table = schema.fits
        kept = select(table.c.output, table.c.role, table.c.summary).where(table.c.campaign == self.id)
        for row in connection.execute(kept).all():
            summary = json.loads(row.summary)
            summary["inputs"] = [[new if name == old else name, share] for name, share in summary["inputs"]]
            where = and_(table.c.campaign == self.id, table.c.output == row.output, table.c.role == row.role)
            connection.execute(update(table).where(where).values(summary=json.dumps(summary)))

    def pool(self) -> tuple[bytes, dict[str, list[str]]]:
        """The points of a pool and the columns that go with them."""
        with self.reading() as connection:
            row = connection.execute(select(schema.pools).where(schema.pools.c.campaign == self.id)).one()
            return bytes(row.points), json.loads(row.labels)

    # -- writing -------------------------------------------------------------------------------

    def add(self, connection: Connection, new: Sequence[Trial], asked: int) -> None:
        """Insert numbered trials, ``asked`` of them chosen by the learner."""
        connection.execute(insert(schema.trials), [self._row(trial) for trial in new])
        results = [row for trial in new for row in self._result_rows(trial.id, trial.results)]
        if results:
            connection.execute(insert(schema.results), results)
        campaign = schema.campaigns.c
        settled = [trial.sequence for trial in new if trial.sequence is not None]
        connection.execute(
            update(schema.campaigns)
            .where(campaign.id == self.id)
            .values(
                n_trials=campaign.n_trials + len(new),
                n_asked=campaign.n_asked + asked,
                n_settled=campaign.n_settled + len(settled),
            )
        )

    def keep(self, connection: Connection, fit: StoredFit) -> None:
        """Keep a fit in place of the last of its output and role."""
        self._forget(connection, fit.output, fit.role)
        table = schema.fits
        values = {**vars(fit), "summary": json.dumps(fit.summary), "campaign": self.id}
        connection.execute(insert(table).values(values))

    def promote(self, connection: Connection, fit: StoredFit) -> None:
        """Store a fit as the last ask's, and remove the one that was only looked at."""
        self.keep(connection, replace(fit, role="asked"))
        self._forget(connection, fit.output, "read")

    def _forget(self, connection: Connection, output: int, role: str) -> None:
        table = schema.fits
        where = and_(table.c.campaign == self.id, table.c.output == output, table.c.role == role)
        connection.execute(delete(table).where(where))

    def change(self, connection: Connection, trial: Trial, **values: Any) -> None:
        """Change columns of a trial."""
        table = schema.trials
        where = and_(table.c.campaign == self.id, table.c.number == trial.id)
        connection.execute(update(table).where(where).values(**values))

    def take(self, connection: Connection, news: Sequence[Outcome]) -> None:
        """Record what became of trials: results, and other columns. Each has the next place in the order of outcomes.

        A trial that has its last result, or was given up, is settled; another one is still pending.
        """
        campaign, sequence = schema.campaigns.c, self.counters(connection).n_settled
        by, at = who(), now()
        alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}  # by the columns that change: each is one statement
        results: list[dict[str, Any]] = []
        for outcome in news:
            columns = dict(outcome.columns)
            if outcome.settles:
                columns |= {"settled_by": by, "settled_at": at, "sequence": sequence}
            if columns:
                alike.setdefault(tuple(columns), []).append({"trial_number": outcome.trial.id, **columns})
            told = {n: replace(m, sequence=sequence, by=by, at=at) for n, m in outcome.results.items()}
            results += self._result_rows(outcome.trial.id, told)
            sequence += 1
        table = schema.trials
        where = and_(table.c.campaign == self.id, table.c.number == bindparam("trial_number"))
        for names, rows in alike.items():
            statement = update(table).where(where).values({name: bindparam(name) for name in names})
            connection.execute(statement, rows)
        self._drop_results(
            connection, [(o.trial.id, name) for o in news for name in o.results if name in o.trial.results]
        )
        if results:
            connection.execute(insert(schema.results), results)
        connection.execute(update(schema.campaigns).where(campaign.id == self.id).values(n_settled=sequence))

    def replace_result(self, connection: Connection, trial: Trial, name: str, result: Measurement) -> None:
        """Another result in the place of one that is there, in the order of outcomes too."""
        table, place = schema.results, self.setup.outputs.place(name)
        where = and_(table.c.campaign == self.id, table.c.number == trial.id, table.c.output == place)
        connection.execute(update(table).where(where).values(value=result.value, sigma=result.sigma))

    def drop_results(self, connection: Connection, trial: Trial, outputs: Sequence[str] | None = None) -> None:
        """Take back the results of a trial, all or those of some outputs."""
        names = trial.results if outputs is None else outputs
        self._drop_results(connection, [(trial.id, name) for name in names])

    def _drop_results(self, connection: Connection, some: Sequence[tuple[int, str]]) -> None:
        table = schema.results
        for number, name in some:
            place = self.setup.outputs.place(name)
            where = and_(table.c.campaign == self.id, table.c.number == number, table.c.output == place)
            connection.execute(delete(table).where(where))

    def _result_rows(self, number: int, results: Measurements) -> list[dict[str, Any]]:
        return [
            {
                "campaign": self.id, "number": number, "output": self.setup.outputs.place(name), "value": m.value,
                "sigma": m.sigma, "sequence": m.sequence, "told_by": m.by, "told_at": m.at,
            }
            for name, m in results.items()
        ]  # fmt: skip

    def log(
        self, connection: Connection, trial: Trial, kind: str, before: dict[str, Any], after: dict[str, Any], why: str
    ) -> None:
        """Write a change of an outcome to the history."""
        self._log(connection, trial.id, kind, before, after, why)

    def _log(
        self, connection: Connection, number: int, kind: str, before: dict[str, Any], after: dict[str, Any], why: str
    ) -> None:
        connection.execute(
            insert(schema.corrections).values(
                campaign=self.id,
                number=number,
                kind=kind,
                before=json.dumps(before),
                after=json.dumps(after),
                reason=why,
                changed_by=who(),
                changed_at=now(),
            )
        )

    def next_group(self, connection: Connection) -> int:
        """A number for entries of the history that belong together, which no entries before them have."""
        last = connection.execute(select(func.max(schema.corrections.c.id))).scalar_one()
        return int(last or 0) + 1

    def check_budget(self, connection: Connection, more: int, budget: int | None) -> None:
        """Raise if so many more trials would be too many."""
        table = schema.trials
        counting = select(func.count()).where(and_(table.c.campaign == self.id, table.c.state != "abandoned"))
        if budget is not None and connection.execute(counting).scalar_one() + more > budget:
            trials = counted(budget, "trial")
            raise BudgetSpentError(f"the budget of {trials} leaves no room for {more} more; nothing was asked")

    def update(
        self,
        numbers: Sequence[int],
        change: Callable[[Connection, dict[int, Trial]], Any],
        sources: Sequence[str] | None = None,
    ) -> Any:
        """One transaction around ``change``, which gets the trials with these numbers as they are now.

        ``sources`` say where each number was read.
        """
        with self.writing() as connection:
            last = self.counters(connection).n_trials
            # A number that was never used may be larger than a database can hold: it is not looked for.
            wanted = [number for number in numbers if 1 <= number <= last]
            found = {trial.id: trial for trial in self._trials(connection, wanted)}
            missing = [i for i, number in enumerate(numbers) if number not in found]
            if missing:
                known = f"trials are numbered 1 to {last}" if last else "none has been asked yet"
                source = "" if sources is None else f"{sources[missing[0]]}: "
                raise CampaignError(f"{source}there is no trial {numbers[missing[0]]} in this campaign: {known}")
            return change(connection, found)

    def _row(self, trial: Trial) -> dict[str, Any]:
        return {
            "campaign": self.id, "number": trial.id, "state": trial.state, "inputs": pack(trial.x),
            "proposed": None, "notes": json_of(trial.notes), "reason": trial.reason,
            "expected": trial.expected, "seen": trial.seen, "asked_by": trial.asked_by, "asked_at": trial.asked_at,
            "settled_by": trial.settled_by, "settled_at": trial.settled_at, "sequence": trial.sequence,
        }  # fmt: skip


def create(database: Database, name: str, setup: str, pool: tuple[bytes, dict[str, list[str]]] | None) -> Key:
    """Insert a campaign."""
    with database.writing() as connection:
        schema.prepare(connection, str(database.where))
        table = schema.campaigns
        if connection.execute(select(table.c.id).where(table.c.name == name)).first() is not None:
            raise CampaignError(f"{database.where} has a campaign {name!r} already: open it, or choose another name")
        identity = schema.new_identity()
        counts = {"n_trials": 0, "n_asked": 0, "n_settled": 0}
        result = connection.execute(
            insert(table).values(
                name=name, setup=setup, created_by=who(), created_at=now(), identity=identity, **counts
            )
        )
        key = int((result.inserted_primary_key or (0,))[0])
        if pool is not None:
            connection.execute(
                insert(schema.pools).values(
                    campaign=key, points=pool[0], labels=json.dumps(pool[1], ensure_ascii=False)
                )
            )
        return Key(key, identity, name)


def find(database: Database, name: str | None) -> tuple[Key, str]:
    """Key and setup of the campaign of this name, or of the only one there is."""
    with database.reading() as connection:
        table = schema.campaigns
        rows = connection.execute(
            select(table.c.id, table.c.identity, table.c.name, table.c.setup).order_by(table.c.id)
        ).all()
    names = ", ".join(repr(row.name) for row in rows)
    if not rows:
        raise CampaignError(f"{database.where} holds no campaign: make one with Campaign.create or `ridgeway init`")
    if name is None:
        if len(rows) > 1:
            raise CampaignError(f"{database.where} holds several campaigns: name one of {names}")
        return Key(*rows[0][:3]), rows[0].setup
    for row in rows:
        if row.name == name:
            return Key(*row[:3]), row.setup
    raise CampaignError(f"{database.where} holds no campaign {name!r}, only {names}")


def _stored_fit(row: Any, content: bool) -> StoredFit | None:
    """A fit as it was stored; ``None``, with a warning, where it was damaged since: it can be made again."""
    packed = bytes(row.content) if content else b""
    try:
        summary = json.loads(row.summary)
        if content and hashlib.sha256(packed).hexdigest() != row.identity:
            raise ValueError("its content has changed")
    except ValueError as error:
        warnings.warn(
            f"the stored fit of {row.observations} observations is damaged ({error}); it is not used and will be made "
            "again: check the disk",
            RidgewayWarning,
            stacklevel=2,
        )
        return None
    return StoredFit(
        row.output, row.role, row.data, row.identity, row.parent, row.observations, row.searched_at, summary, packed
    )  # fmt: skip


def _digest(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def json_of(notes: Mapping[str, str] | None) -> str:
    """Notes as they are stored."""
    return json.dumps(dict(notes or {}), ensure_ascii=False)


def now() -> str:
    """The time as it is stored."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def who() -> str:
    """The user and machine that act, as they are stored."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in many containers
        user = "unknown"
    here = f"{user}@{socket.gethostname()}"
    return f"{_ACTING.get()} via {here}" if _ACTING.get() else here


@contextmanager
def acting_for(name: str) -> Iterator[None]:
    """Within the block changes are recorded as made by the person ``name``, through the user of this process."""
    before = _ACTING.set(name)
    try:
        yield
    finally:
        _ACTING.reset(before)
