"""``Campaign``: a learner in a database, shared by several people and machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection

from ridgeway.campaign import changes, columns, logbook, results, sheets, store, table, transitions, undoing
from ridgeway.campaign.database import Database
from ridgeway.campaign.setup import Setup, pool_from_bytes, pool_to_bytes, stored_pool
from ridgeway.campaign.sheets import Sheet
from ridgeway.campaign.stopping import Advice
from ridgeway.campaign.store import Snapshot, Store, Version, now, who
from ridgeway.campaign.trial import OBSERVED, Trial, number_of
from ridgeway.errors import CampaignError, ReadOnlyError
from ridgeway.notebook import Live
from ridgeway.types import Array

if TYPE_CHECKING:  # to enter or look at results must not wait for the import of SciPy
    from ridgeway.active.pool import Pool
    from ridgeway.belief.belief import Belief, Prediction
    from ridgeway.belief.suspects import Surprise
    from ridgeway.campaign.best_trial import BestTrial
    from ridgeway.campaign.inputs import Category, Fixed, Input
    from ridgeway.campaign.replay import Chain
    from ridgeway.report.subject import Subject

_TRIES = 1  # choices computed without a lock, which another ask may make obsolete; the next holds the lock

HandOver = Callable[[list[Trial]], Any]


class Campaign:
    """Active learning that lives in a database: made with :meth:`create`, found again with :meth:`open`.

    Every ask and tell is one transaction: what was acknowledged is kept whatever happens next, and a
    campaign that was interrupted goes on with the same choices. Several processes and machines may
    ask and tell at once.

    >>> import tempfile, ridgeway as rw
    >>> path = tempfile.mkdtemp() + "/oven.sqlite"
    >>> campaign = rw.Campaign.create(path, "oven", [rw.Input("temperature", 20, 80, "°C"), rw.Fixed("load", 3)])
    >>> trial = campaign.ask()
    >>> trial.id, trial.inputs["load"]
    (1, 3.0)
    >>> campaign.tell(trial, 0.7)
    >>> rw.Campaign.open(path).trials[["trial", "state", "value"]].values.tolist()
    [[1, 'told', 0.7]]
    """

    def __init__(self, store: Store, setup: Setup, progress: Any = None):
        self._store = store
        self.setup = setup
        self.progress = progress

    @classmethod
    def create(
        cls,
        where: str | Path,
        name: str,
        space: Any,
        *,
        output: str = "value",
        unit: str | None = None,
        labels: Mapping[str, Sequence[str]] | Sequence[str] | None = None,
        constraints: Sequence[str] | str = (),
        **learning: Any,
    ) -> Campaign:
        """A new campaign in the SQLite file or at the PostgreSQL address ``where``.

        ``space`` is a sequence of :class:`~ridgeway.Input`, :class:`~ridgeway.Category` and
        :class:`~ridgeway.Fixed`, a ``Box`` or a ``Pool``; ``constraints`` are texts such as ``"A + B + C = 1"`` that
        every proposal satisfies; ``output`` the name of what is measured. ``labels`` are columns of text that go with
        the pool's points and appear beside them; of a pool in files larger than memory, names of their columns.
        ``learning`` is as for
        :class:`~ridgeway.ActiveLearner`: ``embedding``, ``acquisition``, ``n_initial``, ``random_state``, ...
        """
        if not isinstance(name, str) or not name.strip():
            raise CampaignError(f"name must be a word, got {name!r}")
        setup = Setup.of(space, output, unit, learning, constraints)
        pool = None
        if setup.pool is not None and not space.in_memory:
            setup = setup.with_labels(labels)
        elif setup.pool is not None:
            labels = {} if labels is None else labels
            if not isinstance(labels, Mapping):
                raise CampaignError(f"labels must be columns of text by their names, got {labels!r:.80}")
            carried = {key: [str(cell) for cell in column] for key, column in labels.items()}
            for key, column in carried.items():
                if len(column) != len(space):
                    raise CampaignError(
                        f"labels {key!r} must have one entry a point, got {len(column)} of {len(space)}"
                    )
            pool = (pool_to_bytes(space), carried)
        made = store.create(Database(where, create=True), name, setup.to_json(), pool, setup.version)
        # Opened anew: a campaign that is deleted later must not be made again, empty, by a look at it.
        found = Store(Database(where), made, setup.names, setup.levels, setup.to_json())
        return cls(found, setup, learning.get("progress"))

    @classmethod
    def open(
        cls, where: str | Path, name: str | None = None, progress: Any = None, acquisition: Any = None
    ) -> Campaign:
        """The campaign called ``name``, or the only one there is; nothing is fitted.

        A campaign that chooses by a BoTorch acquisition needs the function that makes it again as ``acquisition``,
        to ask; to tell and to look it needs none.
        """
        database = Database(where)
        database.prepare(create=False)
        key, text = store.find(database, name)
        setup = Setup.from_json(text)
        if acquisition is not None:
            setup = setup.with_acquisition(acquisition)
        return cls(Store(database, key, setup.names, setup.levels, text), setup, progress)

    @property
    def name(self) -> str:
        """What it is called."""
        return self._store.name

    @property
    def where(self) -> str:
        """The file or address it lives in."""
        return str(self._store.database.where)

    @property
    def place(self) -> str:
        """The file or address with which :meth:`open` finds it again: an address has its password."""
        return self._store.database.place

    # -- asking --------------------------------------------------------------------------------

    def ask(self, n: int | None = None, hand_over: HandOver | None = None, budget: int | None = None) -> Any:
        """The next experiment, a :class:`Trial`, or a list of the next ``n``.

        No other ask returns the same one. ``hand_over`` is called with the list before it is stored; if that
        raises, nothing was asked. ``budget`` is the number of trials, abandoned ones aside, that all who
        ask may reach together; beyond it :class:`~ridgeway.errors.BudgetSpentError` is raised.
        """
        many = 1 if n is None else n
        if isinstance(many, bool) or not isinstance(many, int | np.integer) or many < 1:
            raise CampaignError(f"n must be a whole number of at least 1, got {n!r}")
        for _ in range(_TRIES):
            snapshot = self._store.snapshot()
            chosen = self._chosen(snapshot, many)
            with self._store.writing() as connection:
                # Results that came in between do not matter: the choice is as good as if it had been made before them.
                if self._store.counters(connection).n_asked == snapshot.n_asked:
                    self._store.check_budget(connection, many, budget)
                    kept = self._keep(connection, snapshot, *chosen, hand_over)
                    return kept[0] if n is None else kept
        with self._store.writing() as connection:
            self._store.check_budget(connection, many, budget)
            snapshot = self._store.snapshot_in(connection)
            kept = self._keep(connection, snapshot, *self._chosen(snapshot, many), hand_over)
            return kept[0] if n is None else kept

    def _chosen(self, snapshot: Snapshot, n: int) -> tuple[Chain, Array, list[float | None]]:
        chain = self._chain(snapshot)
        return chain, *chain.choose(n)

    def _keep(
        self,
        connection: Connection,
        snapshot: Snapshot,
        chain: Chain,
        values: Array,
        expected: list[float | None],
        hand_over: HandOver | None,
    ) -> list[Trial]:
        first = self._store.counters(connection).n_trials + 1
        by, at = who(), now()
        new = [
            Trial(
                first + i, "asked", self.setup.names, x, notes=self._labels_of(x), expected=nats,
                seen=snapshot.n_settled, asked_by=by, asked_at=at, campaign=self._store.identity,
                levels=self.setup.levels,
            )
            for i, (x, nats) in enumerate(zip(values, expected, strict=True))
        ]  # fmt: skip
        self._store.add(connection, new, asked=len(new))
        if chain.fit is not None and chain.fit.role == "read" and chain.used:
            self._store.promote(connection, chain.fit)
        if hand_over is not None:
            hand_over(new)
        return new

    def _labels_of(self, x: Array) -> dict[str, str]:
        if self._pool is None or not (self._labels or self.setup.file_labels):
            return {}
        row = int(self._pool.index_of(x[None])[0])
        if self.setup.file_labels:
            return {} if row < 0 else self._pool.texts(row, self.setup.file_labels)
        return {key: column[row] for key, column in self._labels.items()}

    # -- telling -------------------------------------------------------------------------------

    def tell(
        self,
        trial: Trial | int,
        value: float,
        sigma: float | None = None,
        inputs: Mapping[str, Any] | None = None,
        notes: Mapping[str, str] | None = None,
        outside: bool = False,
    ) -> None:
        """The outcome of a trial; telling the same twice is harmless, another value is refused.

        ``sigma`` is the known standard deviation of its noise; ``inputs`` what was really set, by name,
        where that differs from what was asked; ``outside`` allows it to be out of range.
        """
        row = results.Result(
            "tell", self._number(trial), transitions.finite(value, "value"), transitions.sigma(sigma),
            self._settings(inputs), {str(key): str(text) for key, text in (notes or {}).items()}, None,
        )  # fmt: skip
        transitions.tell(self._store, self.setup, [row], outside)

    def tell_table(
        self, frame: Any, outside: bool = False, encoding: str | None = None, corrections: str | None = None
    ) -> transitions.Told:
        """The outcomes in a data frame, CSV or Excel file, matched by the column ``trial``; all or none.

        Rows without a value are still pending; a value of ``failed`` is a failure; other columns are kept
        as notes; inputs that differ from what was asked are taken for what was really set. A row that was told
        before with another outcome or at other inputs is refused, unless ``corrections`` says why such rows are
        corrections.
        """
        rows, pending = results.results(_sheet(frame, encoding), self.setup, lambda: self._labels)
        return transitions.tell(self._store, self.setup, rows, outside, pending, corrections)

    def surprising(self, frame: Any, encoding: str | None = None) -> list[tuple[int, Surprise]]:
        """Outcomes of a table, as for :meth:`tell_table`, that are far from what the last fit predicts.

        Each with the number of its trial. Nothing is fitted or recorded; before the first fit nothing is surprising.
        """
        rows, _ = results.results(_sheet(frame, encoding), self.setup, lambda: self._labels)
        return self._surprising(rows)

    def surprise(
        self, trial: Trial | int, value: float, sigma: float | None = None, inputs: Mapping[str, float] | None = None
    ) -> Surprise | None:
        """How far an outcome, as for :meth:`tell`, is from what the last fit predicts; ``None`` if it is not far.

        Nothing is fitted or recorded; before the first fit nothing is surprising.
        """
        row = results.Result(
            "surprise", self._number(trial), transitions.finite(value, "value"), transitions.sigma(sigma),
            self._settings(inputs), {}, None,
        )  # fmt: skip
        return next((found for _, found in self._surprising([row])), None)

    def _surprising(self, rows: Sequence[results.Result]) -> list[tuple[int, Surprise]]:
        from ridgeway.belief.suspects import surprises

        snapshot = self._store.snapshot()
        asked = {trial.id: trial for trial in snapshot.trials if trial.state == "asked"}
        new = [(row, asked[row.trial]) for row in rows if row.trial in asked and row.value is not None]
        belief = self._chain(snapshot).known_belief() if new and snapshot.fits else None
        if belief is None:
            return []
        x = [t.x if row.x is None else np.where(np.isnan(row.x), t.x, row.x) for row, t in new]
        values = np.array([row.value for row, _ in new], dtype=float)
        noise = np.array([(row.sigma or 0.0) ** 2 for row, _ in new])
        found = surprises(belief, self.setup.coordinates(np.stack(x)), values, noise)
        return [(new[surprise.index][1].id, surprise) for surprise in found]

    def attach(
        self, frame: Any, outside: bool = False, repeated: bool = False, encoding: str | None = None
    ) -> list[int]:
        """Experiments from before, or made beside the campaign: a table of all inputs and the output.

        A row that is there already is refused unless it is ``repeated``. Rows without a value are refused, unless
        they come from an export that says that they have none: these are left out. Returns the new trials' numbers.
        """
        rows = results.experiments(_sheet(frame, encoding), self.setup, outside)
        if self._pool is not None and not outside:
            strange = np.flatnonzero(self._pool.index_of(np.stack([np.asarray(row.x) for row in rows])) < 0)
            if strange.size:
                raise CampaignError(f"{rows[strange[0]].where} is no point of the pool (allow it with --outside)")
        return transitions.attach(self._store, self.setup, rows, repeated)

    def fail(self, trial: Trial | int, reason: str = "failed") -> None:
        """An experiment that gave nothing: it is not modelled, nor asked for again."""
        row = results.Result("fail", self._number(trial), None, None, None, {}, str(reason))
        transitions.tell(self._store, self.setup, [row], False)

    def correct(
        self,
        trial: Trial | int,
        value: float | EllipsisType | None = ...,
        reason: str = "",
        sigma: float | None = None,
        inputs: Mapping[str, Any] | None = None,
        outside: bool = False,
    ) -> None:
        """What is right about a trial that has an outcome; what stood there stays in the history.

        ``value`` is the right value, ``None`` to discard the outcome; without it the value stays. ``inputs`` are those
        that were really set, by name, as far as others are on record; ``outside`` allows them to be out of range.
        ``reason`` says why, and must not be empty. See :attr:`corrections` for the history.
        """
        if value is ... and sigma is None and not inputs:
            raise CampaignError("there is nothing to correct: give the right value, sigma or inputs")
        if value is None and sigma is not None:
            raise CampaignError(f"sigma is for a trial with a value, got {sigma!r} for one that is discarded")
        right = transitions.Correction(
            value if value is None or value is ... else transitions.finite(value, "value"),
            ... if sigma is None else transitions.sigma(sigma),
            self._settings(inputs),
        )
        transitions.correct(self._store, self.setup, self._number(trial), right, reason, outside)

    def abandon(self, trial: Trial | int | Sequence[Trial | int], reason: str = "abandoned") -> None:
        """A trial that will not be made, or several: all of them or none. Their points may be asked for again."""
        some = [trial] if isinstance(trial, Trial | int | np.integer) else list(trial)
        transitions.abandon(self._store, [self._number(one) for one in some], reason)

    # -- changing one's mind -------------------------------------------------------------------

    def set_range(self, name: str, lower: float, upper: float, reason: str) -> None:
        """Other ends for an input; trials outside of them stay as data. ``reason`` is kept in the log."""
        self._change(lambda: changes.new_range(self.setup, name, lower, upper), reason)

    def hold(self, name: str, value: float, reason: str) -> None:
        """Every further proposal has this ``value`` of an input; what was learned at others stays."""
        self._change(lambda: changes.held(self.setup, name, transitions.finite(value, "value")), reason)

    def release(self, name: str, reason: str) -> None:
        """An input that was held varies again."""
        self._change(lambda: changes.released(self.setup, name), reason)

    def add_input(self, item: Input | Fixed | Category, value: Any, reason: str) -> None:
        """One more input; ``value`` is what it was in all trials so far, also in those that are pending."""
        self._change(lambda: changes.added(self.setup, item, value), reason)

    def add_constraint(self, constraint: str, reason: str) -> None:
        """One more constraint on what is proposed, such as ``"A + B <= 1"``."""
        self._change(lambda: changes.constrained(self.setup, constraint), reason)

    def remove_constraint(self, constraint: str, reason: str) -> None:
        """One constraint less."""
        self._change(lambda: changes.unconstrained(self.setup, constraint), reason)

    def rename(self, name: str, new: str, reason: str) -> None:
        """Another name for an input or the output."""
        self._change(lambda: changes.renamed(self.setup, name, new), reason)

    def set_unit(self, name: str, unit: str | None, reason: str) -> None:
        """Another unit beside the name of an input or the output; the numbers stay as they are."""
        self._change(lambda: changes.new_unit(self.setup, name, unit), reason)

    def undo(self, reason: str = "undone") -> str:
        """Take back the last change of the campaign's inputs or the last correction, and say what it was.

        The log keeps both. A new input cannot be taken back once trials differ in it.
        """
        what, setup = undoing.undo(self._store, self.setup, reason)
        self.setup = setup
        return what

    @property
    def log(self) -> list[logbook.Line]:
        """Everything that was done, oldest first: when, by whom, what and why."""
        return logbook.lines(self._store.created(), self.all_trials(), self.corrections)

    def _change(self, make: Callable[[], changes.Change], reason: str) -> None:
        transitions.check_reason(reason, "reason must say why the campaign is changed")
        with self._store.writing() as connection:
            change = make()
            self._store.rewrite(connection, change, "changed", reason)
        self.setup = change.setup.with_same_acquisition(self.setup)

    def reopen(self, trial: Trial | int, reason: str) -> None:
        """Take back what became of a trial: it is pending again, at the inputs that were asked.

        For an outcome, a failure or an abandonment that was entered by mistake; ``reason`` says so, and what stood
        there stays in the history. A trial that was attached cannot be pending: correct it.
        """
        transitions.reopen(self._store, self._number(trial), reason)

    def reclaim(self, older_than: float) -> list[Trial]:
        """Take over the trials pending for more than ``older_than`` seconds: they are yours to make now.

        So are those that were asked for more than ``older_than`` seconds in the future: a clock was wrong.
        """
        seconds = transitions.finite(older_than, "older_than")
        if seconds < 0.0:
            raise CampaignError(f"older_than must be a number of seconds, 0 or more, got {older_than!r}")
        return transitions.reclaim(self._store, seconds)

    # -- looking -------------------------------------------------------------------------------

    @property
    def pending(self) -> list[Trial]:
        """Trials that were asked for and have no outcome yet."""
        return [trial for trial in self.all_trials() if trial.state == "asked"]

    @property
    def trials(self) -> Any:
        """All trials as a pandas data frame, one row each."""
        import pandas

        head, rows = self.table()
        return pandas.DataFrame(rows, columns=head)

    @property
    def corrections(self) -> list[dict[str, Any]]:
        """Every change of a trial that had its outcome, and every trial taken over: before, after, why, by and at."""
        return self._store.corrections()

    def table(self) -> table.Table:
        """Names of columns, and a row for each trial: everything that is known about it, with its corrections."""
        return table.full(self.setup, self.all_trials(), self.corrections)

    def all_trials(self) -> tuple[Trial, ...]:
        """All trials, by number."""
        return self._store.snapshot(fits=False).trials

    @property
    def belief(self) -> Belief:
        """What is known now; read from the database, or fitted and kept there after new outcomes."""
        return self._looked().belief()

    def predict(self, X: Any, encoding: str | None = None) -> Prediction:
        """Mean and variance of the output at ``X``: a table of inputs by name, or ``(n, k)`` in their order.

        ``encoding`` is that of a CSV file which is not UTF-8.
        """
        return self.belief.predict(self._coordinates(X, encoding))

    def best(self) -> BestTrial:
        """The best trial so far, with what is predicted there: for campaigns whose goal is to optimise."""
        from ridgeway.campaign.best_trial import BestTrial
        from ridgeway.campaign.replay import observed

        if self.setup.goal == "learn":
            raise CampaignError(
                'the goal of this campaign is to learn, so it has no best point: begin one whose goal is "minimize" or '
                '"maximize" (ridgeway init --goal)'
            )
        snapshot = self._store.snapshot()
        seen = observed(snapshot.trials)
        if not seen:
            raise CampaignError("there is no best point before the first result: ask for experiments, and tell it")
        return BestTrial.of(self._looked(snapshot).best(), seen)

    def score(self, X: Any, encoding: str | None = None) -> Array:
        """The expected information of an experiment at each row of ``X``, in nats, given the pending trials."""
        return self._looked().scores(self._coordinates(X, encoding))

    def should_stop(self, target_error: float | None = None) -> Advice:
        """Whether more experiments are worth it, with the reasons.

        ``target_error`` is the error of predictions that is small enough, in the output's units and without noise:
        the advice then says about how many more experiments reach it.
        """
        if target_error is not None:
            target_error = transitions.finite(target_error, "target_error")
            if target_error <= 0.0:
                raise CampaignError(f"target_error must be above 0, got {target_error:g}")
            if self.setup.goal != "learn":
                raise CampaignError(
                    f"target_error is for a campaign that learns, and the goal of this one is to {self.setup.goal}"
                )
        return self._looked(fit_early=False).advice(target_error)

    def version(self) -> Version:
        """Two short digests of what is in the database: equal as long as nobody has changed anything."""
        return self._store.version()

    def summary(self) -> dict[str, Any] | None:
        """What the last fit found, without loading it: shares of the inputs, how well directions are known, noise."""
        fits = self._store.snapshot(fits=False).fits.values()
        latest = max(fits, key=lambda fit: fit.observations, default=None)
        return None if latest is None else {"observations": latest.observations, **latest.summary}

    def report(self, path: str | Path, title: str | None = None, suggestions: int = 4) -> Path:
        """Write one self-contained HTML file: what was learned and what to run next, in the campaign's units.

        Nothing is asked by it: the ``suggestions`` are what :meth:`ask` would give.
        """
        from ridgeway import report

        return report.write(self.report_subject(suggestions), path, title=title or f"Ridgeway report: {self.name}")

    def report_subject(self, suggestions: int = 4) -> Subject:
        """What a report on the campaign is about, for :func:`ridgeway.report.content`; arguments as for `report`."""
        from ridgeway import checks
        from ridgeway.campaign.report_subject import subject

        suggestions = checks.count(suggestions, "suggestions")
        snapshot = self._store.snapshot()
        if not any(trial.state in OBSERVED for trial in snapshot.trials):
            raise CampaignError(
                "there is nothing to report before the first result: ask for experiments, and tell what came out"
            )
        chain, ahead = self._looked(snapshot), self._chain(snapshot)
        ahead.fit = chain.fit
        return subject(self, chain, ahead, snapshot.trials, suggestions, self._labels_of)

    def export(self, path: str | Path, decimal_comma: bool = False) -> Path:
        """All trials to a ``.csv``, ``.xlsx``, ``.parquet`` or ``.json`` file, which appears whole or not at all."""
        head, rows = self.table()
        sheets.write(path, head, rows, decimal_comma)
        return Path(path)

    def close(self) -> None:
        """Close the connections to the database; what was being written is undone. The next call connects again."""
        self._store.database.close()

    def live(self, seconds: float = 1.0) -> Live:
        """In a notebook: show the campaign, and again whenever anybody has changed it, looking so often."""
        return Live(self, self.version, seconds)

    def _repr_html_(self) -> str:
        from ridgeway.campaign.display import campaign_html

        return campaign_html(self)

    def __rich__(self) -> Any:
        from ridgeway.campaign.display import campaign_rich

        return campaign_rich(self)

    def __repr__(self) -> str:
        return f"Campaign({self.name!r} in {self.where}: {table.counted(self.all_trials())})"

    # -- parts ---------------------------------------------------------------------------------

    def _number(self, trial: Trial | int) -> int:
        return number_of(trial, self._store.identity)

    def _settings(self, inputs: Mapping[str, Any] | None) -> Array | None:
        """Values ``(k,)`` of inputs by name, NaN for those that are not named."""
        if inputs is None:
            return None
        x = np.full(len(self.setup.names), np.nan)
        words = {levels.name: levels for levels in self.setup.levels}
        for name, setting in inputs.items():
            if name in words:
                x[list(words[name].places)] = words[name].row(setting)
                continue
            x[columns.place(self.setup, name)] = transitions.finite(setting, f"input {name!r}")
        return x

    def _chain(self, snapshot: Snapshot) -> Chain:
        from ridgeway.campaign.replay import Chain

        return Chain.at(self.setup, self._pool, snapshot, self.progress)

    def _looked(self, snapshot: Snapshot | None = None, fit_early: bool = True) -> Chain:
        """The chain with a belief; a new fit is kept for others, and for the next ask if nothing changes."""
        chain = self._chain(snapshot or self._store.snapshot())
        if not fit_early and chain.learner.record.n < chain.needed:
            return chain
        if chain.fit is None:
            chain.belief()
            assert chain.fit is not None
            with suppress(ReadOnlyError), self._store.writing() as connection:  # who may only look, looks
                self._store.keep(connection, chain.fit)
        return chain

    def _coordinates(self, X: Any, encoding: str | None) -> Array:
        from ridgeway import checks

        if isinstance(X, str | Path) or hasattr(X, "columns"):
            return self.setup.coordinates(results.points(_sheet(X, encoding), self.setup))
        return self.setup.coordinates(checks.dense(checks.inputs(X, len(self.setup.names), names=self.setup.names)))

    @cached_property
    def _stored_pool(self) -> tuple[Pool, dict[str, list[str]]] | None:
        if self.setup.pool is None:
            return None
        if self.setup.pool.get("files") is not None:
            return stored_pool(self.setup.pool), {}
        content, labels = self._store.pool()
        return pool_from_bytes(content, self.setup.pool), labels

    @property
    def _pool(self) -> Pool | None:
        return None if self._stored_pool is None else self._stored_pool[0]

    @property
    def _labels(self) -> dict[str, list[str]]:
        return {} if self._stored_pool is None else self._stored_pool[1]


def _sheet(frame: Any, encoding: str | None) -> Sheet:
    if isinstance(frame, Sheet):
        return frame
    return sheets.read(frame, encoding) if isinstance(frame, str | Path) else Sheet.of_frame(frame)
