"""``Campaign``: a learner in a database, shared by several people and machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway.campaign import (
    changes,
    logbook,
    results,
    sheets,
    store,
    stored_pool,
    table,
    telling,
    transitions,
    undoing,
)
from ridgeway.campaign.asking import Asking, HandOver
from ridgeway.campaign.database import Database
from ridgeway.campaign.measurement import Measurement
from ridgeway.campaign.output_view import OutputView
from ridgeway.campaign.outputs import Output, OutputList
from ridgeway.campaign.setup import Setup
from ridgeway.campaign.sheets import Sheet
from ridgeway.campaign.stopping import Advice, for_all
from ridgeway.campaign.store import Snapshot, Store, Version
from ridgeway.campaign.stored_pool import StoredPool
from ridgeway.campaign.telling import Given
from ridgeway.campaign.trial import Trial, number_of
from ridgeway.errors import CampaignError
from ridgeway.text.notebook import Live
from ridgeway.types import Array

if TYPE_CHECKING:  # to enter or look at results must not wait for the import of SciPy
    from ridgeway.belief.belief import Belief, Prediction
    from ridgeway.belief.suspects import Surprise
    from ridgeway.campaign.best_trial import BestTrial
    from ridgeway.campaign.inputs import Category, Fixed, Input
    from ridgeway.campaign.replay import Chain
    from ridgeway.report.subject import Subject


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
        outputs: Sequence[str | Output] | None = None,
        choose: str = "sum",
        labels: Mapping[str, Sequence[str]] | Sequence[str] | None = None,
        constraints: Sequence[str] | str = (),
        **learning: Any,
    ) -> Campaign:
        """A new campaign in the SQLite file or at the PostgreSQL address ``where``.

        ``space`` is a sequence of :class:`~ridgeway.Input`, :class:`~ridgeway.Category` and
        :class:`~ridgeway.Fixed`, a ``Box`` or a ``Pool``; ``constraints`` are texts such as ``"A + B + C = 1"`` that
        every proposal satisfies; ``output`` the name of what is measured. Where several things are measured,
        ``outputs`` are :class:`~ridgeway.Output` or texts such as ``"cost [EUR]"``, and ``choose`` says how
        experiments are chosen for them: by the ``"sum"`` of what they teach, or by ``"turns"``. ``labels`` are columns
        of text that go with the pool's points and appear beside them; of a pool in files larger than memory, names of
        their columns. ``learning`` is as for
        :class:`~ridgeway.ActiveLearner`: ``embedding``, ``acquisition``, ``n_initial``, ``random_state``, ...
        """
        if not isinstance(name, str) or not name.strip():
            raise CampaignError(f"name must be a word, got {name!r}")
        if outputs is not None and (output, unit) != ("value", None):
            raise CampaignError(f"outputs has all of them, with their units: got output {output!r}, unit {unit!r} too")
        several = OutputList.of([Output(output, unit)] if outputs is None else outputs, choose)
        setup = Setup.of(space, several, learning, constraints).with_labels(labels)
        made = store.create(
            Database(where, create=True), name, setup.to_json(), stored_pool.stored(setup, space, labels)
        )
        # Opened anew: a campaign that is deleted later must not be made again, empty, by a look at it.
        found = Store(Database(where), made, setup, setup.to_json())
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
        return cls(Store(database, key, setup, text), setup, progress)

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
        asking = Asking(self._store, self.setup, self._pool, self._chain, int(many), hand_over, budget)
        trials = asking()
        return trials[0] if n is None else trials

    # -- telling -------------------------------------------------------------------------------

    def tell(
        self,
        trial: Trial | int,
        value: Given,
        sigma: Given | None = None,
        inputs: Mapping[str, Any] | None = None,
        notes: Mapping[str, str] | None = None,
        outside: bool = False,
        last: bool = False,
    ) -> None:
        """The outcome of a trial; telling the same twice is harmless, another value is refused.

        Where there are several outputs, ``value`` has the results by name, such as ``{"yield": 3.2}``; the others
        can be told later, unless these are the ``last`` and no more will come. ``sigma`` is the known standard
        deviation of its noise; ``inputs`` what was really set, by name, where that differs from what was asked;
        ``outside`` allows it to be out of range.
        """
        row = telling.told(self.setup, "tell", self._number(trial), value, sigma, inputs, notes, last)
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
        rows, pending = results.results(_sheet(frame, encoding), self.setup, lambda: self._pool.labels)
        return transitions.tell(self._store, self.setup, rows, outside, pending, corrections)

    def surprising(self, frame: Any, encoding: str | None = None) -> list[tuple[int, Surprise]]:
        """Outcomes of a table, as for :meth:`tell_table`, that are far from what the last fit predicts.

        Each with the number of its trial. Nothing is fitted or recorded; before the first fit nothing is surprising.
        """
        rows, _ = results.results(_sheet(frame, encoding), self.setup, lambda: self._pool.labels)
        return [(number, found) for number, _, found in self._surprising(rows)]

    def surprise(
        self,
        trial: Trial | int,
        value: Given,
        sigma: Given | None = None,
        inputs: Mapping[str, float] | None = None,
    ) -> Surprise | None:
        """How far an outcome, as for :meth:`tell`, is from what the last fit predicts; ``None`` if it is not far.

        Nothing is fitted or recorded; before the first fit nothing is surprising. Of several outputs it is the first
        that is far: :meth:`surprises` has all.
        """
        found = self.surprises(trial, value, sigma, inputs)
        return next(iter(found.values()), None)

    def surprises(
        self,
        trial: Trial | int,
        value: Given,
        sigma: Given | None = None,
        inputs: Mapping[str, float] | None = None,
    ) -> dict[str, Surprise]:
        """The same for each output whose value is far from its prediction, by name."""
        row = telling.told(self.setup, "surprise", self._number(trial), value, sigma, inputs)
        return {name: found for _, name, found in self._surprising([row])}

    def _surprising(self, rows: Sequence[results.Result]) -> list[tuple[int, str, Surprise]]:
        views = [self.output(name) for name in self.setup.outputs.names]
        return [(number, view.name, found) for view in views for number, found in view.surprising(rows)]

    def attach(
        self, frame: Any, outside: bool = False, repeated: bool = False, encoding: str | None = None
    ) -> list[int]:
        """Experiments from before, or made beside the campaign: a table of all inputs and the output.

        A row that is there already is refused unless it is ``repeated``. Rows without a value are refused, unless
        they come from an export that says that they have none: these are left out. Returns the new trials' numbers.
        """
        rows = results.experiments(_sheet(frame, encoding), self.setup, outside)
        if not outside:
            self._pool.check(rows)
        return transitions.attach(self._store, self.setup, rows, repeated)

    def fail(self, trial: Trial | int, reason: str = "failed", output: str | None = None) -> None:
        """An experiment that gave nothing: it is not modelled, nor asked for again.

        Of a trial that has some of its results this says that the rest will not come; ``output`` names one that
        will not, while others may.
        """
        told = {} if output is None else {self.setup.outputs.one(output).name: Measurement(None)}
        row = results.Result("fail", self._number(trial), told, None, {}, str(reason), ends=not told)
        transitions.tell(self._store, self.setup, [row], False)

    def correct(
        self,
        trial: Trial | int,
        value: Given | EllipsisType | None = ...,
        reason: str = "",
        sigma: Given | None = None,
        inputs: Mapping[str, Any] | None = None,
        outside: bool = False,
    ) -> None:
        """What is right about a trial that has an outcome; what stood there stays in the history.

        ``value`` is the right value, ``None`` to discard the outcome; without it the value stays. Where there are
        several outputs it is given by name, such as ``{"yield": 3.2}``. ``inputs`` are those that were really set, by
        name, as far as others are on record; ``outside`` allows them to be out of range. ``reason`` says why, and must
        not be empty. See :attr:`corrections` for the history.
        """
        right = telling.right(self.setup, value, sigma, inputs)
        transitions.correct(self._store, self.setup, self._number(trial), right, reason, outside)

    def abandon(self, trial: Trial | int | Sequence[Trial | int], reason: str = "abandoned") -> None:
        """A trial that will not be made, or several: all of them or none. Their points may be asked for again."""
        some = [trial] if isinstance(trial, Trial | int | np.integer) else list(trial)
        transitions.abandon(self._store, [self._number(one) for one in some], reason)

    # -- changing one's mind -------------------------------------------------------------------

    def set_range(self, name: str, lower: float, upper: float, reason: str) -> None:
        """Other ends for an input; trials outside of them stay as data. ``reason`` is kept in the log."""
        self._change(lambda: changes.new_range(self.setup, name, lower, upper), reason)

    def hold(self, name: str, value: float | str, reason: str) -> None:
        """Every further proposal has this ``value`` of an input, or this level; what was learned at others stays."""
        self._change(lambda: changes.held(self.setup, name, value), reason)

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
        """Another name for an input or an output."""
        self._change(lambda: changes.renamed(self.setup, name, new), reason)

    def set_unit(self, name: str, unit: str | None, reason: str) -> None:
        """Another unit beside the name of an input or an output; the numbers stay as they are."""
        self._change(lambda: changes.new_unit(self.setup, name, unit), reason)

    def add_output(self, output: Output | str, reason: str) -> None:
        """One more output; the trials so far do not have it, and can be told it."""
        self._change(lambda: changes.new_output(self.setup, OutputList.of(output).items[0]), reason)

    def set_weights(self, weights: Mapping[str, float], reason: str) -> None:
        """How much outputs count when experiments are chosen, by name; those that are not named keep their weight."""
        self._change(lambda: changes.new_weights(self.setup, weights), reason)

    def set_choose(self, choose: str, reason: str) -> None:
        """Choose experiments by the ``"sum"`` of what they teach about each output, or by ``"turns"``."""
        self._change(lambda: changes.new_choice(self.setup, choose), reason)

    def undo(self, reason: str = "undone") -> str:
        """Take back the last change of the campaign's inputs or outputs or the last correction, and say what it was.

        The log keeps both. A new input cannot be taken back once trials differ in it, nor a new output once there are
        results for it.
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

    def reopen(self, trial: Trial | int, reason: str, outputs: Sequence[str] = ()) -> None:
        """Take back what became of a trial: it is pending again, at the inputs that were asked.

        With the names of some ``outputs`` only their results are taken back.

        For an outcome, a failure or an abandonment that was entered by mistake; ``reason`` says so, and what stood
        there stays in the history. A trial that was attached cannot be pending: correct it.
        """
        names = [self.setup.outputs.one(name).name for name in outputs]
        transitions.reopen(self._store, self._number(trial), reason, names)

    def reclaim(self, older_than: float) -> list[Trial]:
        """Take over the trials pending for more than ``older_than`` seconds: they are yours to make now.

        So are those that were asked for more than ``older_than`` seconds in the future: a clock was wrong.
        """
        seconds = results.finite(older_than, "older_than")
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

    def output(self, name: str | None = None) -> OutputView:
        """What is known about one output, which need not be named where it is the only one."""
        return OutputView(self._store, self.setup, self.setup.outputs.one(name), self._pool.points, self.progress)

    @property
    def belief(self) -> Belief:
        """What is known now; read from the database, or fitted and kept there after new outcomes.

        A campaign with several outputs has :attr:`beliefs`.
        """
        return self.output().belief

    @property
    def beliefs(self) -> dict[str, Belief]:
        """What is known about each output that has results, by name."""
        seen = {name for trial in self.all_trials() for name in trial.values}
        return {name: self.output(name).belief for name in self.setup.outputs.names if name in seen}

    def _beliefs_now(self) -> dict[str, Belief]:
        """The same; a campaign with one output and no result says so."""
        only = self.setup.outputs.only
        found = {only.name: self.belief} if only else self.beliefs
        if not found:
            raise CampaignError("there is no prediction before the first result: ask for experiments, and tell it")
        return found

    def predict(self, X: Any, encoding: str | None = None, output: str | None = None) -> Prediction:
        """Mean and variance of an output at ``X``: a table of inputs by name, or ``(n, k)`` in their order.

        ``encoding`` is that of a CSV file which is not UTF-8; ``output`` is the name of one of several.
        """
        return self.output(output).belief.predict(self._coordinates(X, encoding))

    def predictions(self, X: Any, encoding: str | None = None) -> dict[str, Prediction]:
        """The same for each output that has results, by name."""
        points = self._coordinates(X, encoding)
        return {name: belief.predict(points) for name, belief in self._beliefs_now().items()}

    def best(self) -> BestTrial:
        """The best trial so far, with what is predicted there: for campaigns whose goal is to optimise."""
        outputs = self.setup.outputs
        return self.output((outputs.goal or outputs.items[0]).name).best()

    def score(self, X: Any, encoding: str | None = None) -> Array:
        """The expected information of an experiment at each row of ``X``, in nats, given the pending trials.

        Where there are several outputs, it is the sum over them, each with its weight.
        """
        return self._scores()(self._coordinates(X, encoding))

    def scores(self, parts: Iterable[Array]) -> Iterator[tuple[Array, Array]]:
        """The same for one array of values ``(n, k)`` after the other, each with its scores ``(n,)``."""
        found = self._scores()
        for values in parts:
            yield values, found(self.setup.coordinates(values))

    def _scores(self) -> Callable[[Array], Array]:
        snapshot = self._store.snapshot()
        for name in self.setup.outputs.names:  # a new fit is kept
            if any(name in trial.values for trial in snapshot.trials):
                self.output(name).looked(snapshot)
        return self._chain(self._store.snapshot()).scores

    def should_stop(self, target_error: Given | None = None, output: str | None = None) -> Advice:
        """Whether more experiments are worth it, with the reasons.

        ``target_error`` is the error of predictions that is small enough, in the output's units and without noise:
        the advice then says about how many more experiments reach it. Where there are several outputs it is given by
        name, and the advice is to stop where that is the advice for each that experiments are chosen for; ``output``
        asks about one.
        """
        outputs = self.setup.outputs
        names = outputs.names if output is None else (outputs.one(output).name,)
        targets = telling.targets(outputs, target_error, output)
        chosen = [name for name, weight in zip(outputs.names, outputs.weights, strict=True) if weight]
        advice = {outputs.one(name).label: self.output(name).should_stop(targets.get(name)) for name in names}
        return for_all(advice, [outputs.one(name).label for name in names if name in chosen or output is not None])

    def version(self) -> Version:
        """Two short digests of what is in the database: equal as long as nobody has changed anything."""
        return self._store.version()

    def summary(self, output: str | None = None) -> dict[str, Any] | None:
        """What the last fit found, without loading it: shares of the inputs, how well directions are known, noise."""
        return self.output(output).summary()

    def report(
        self, path: str | Path, title: str | None = None, suggestions: int = 4, target_error: Given | None = None
    ) -> Path:
        """Write one self-contained HTML file: what was learned and what to run next, in the campaign's units.

        Nothing is asked by it: the ``suggestions`` are what :meth:`ask` would give. Several outputs have a tab each.
        ``target_error`` is as for :meth:`should_stop`, and drawn beside the error so far.
        """
        from ridgeway import report

        subjects = self.report_subjects(suggestions, target_error=target_error)
        return report.write_tabs(subjects, path, title=title or f"Ridgeway report: {self.name}")

    def report_subject(self, suggestions: int = 4, output: str | None = None) -> Subject:
        """What a report on one output is about, for :func:`ridgeway.report.content`; arguments as for `report`."""
        return self.report_subjects(suggestions, [self.setup.outputs.one(output).name])[0]

    def report_subjects(
        self, suggestions: int = 4, outputs: Sequence[str] | None = None, target_error: Given | None = None
    ) -> list[Subject]:
        """The same for several outputs, by default for all that have results."""
        from ridgeway import checks
        from ridgeway.campaign.report_subject import subjects

        suggestions = checks.count(suggestions, "suggestions")
        targets = telling.targets(self.setup.outputs, target_error)
        snapshot = self._store.snapshot()
        seen = {name for trial in snapshot.trials for name in trial.values}
        names = [name for name in outputs or self.setup.outputs.names if name in seen]
        if not names:
            raise CampaignError(
                "there is nothing to report before the first result: ask for experiments, and tell what came out"
            )
        chains = [self.output(name).looked(snapshot) for name in names]
        ahead, notes = self._chain(snapshot), self._pool.labels_of
        return subjects(self, chains, ahead, snapshot.trials, suggestions, notes, targets)

    def export(self, path: str | Path, decimal_comma: bool = False) -> Path:
        """All trials to a ``.csv``, ``.xlsx``, ``.parquet`` or ``.json`` file, which appears whole or not at all.

        An ``.xlsx`` file has a second sheet with the log of what was done.
        """
        head, rows = self.table()
        if Path(path).suffix.lower() != ".xlsx":
            sheets.write(path, head, rows, decimal_comma)
            return Path(path)
        done = (logbook.HEAD, logbook.rows(self.log))
        with sheets.writing(path) as temporary:
            sheets.write_book(temporary, {"trials": (head, rows), "log": done})
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

    def _chain(self, snapshot: Snapshot) -> Chain:
        from ridgeway.campaign.replay import Chain

        return Chain.at(self.setup, self._pool.points, snapshot, self.progress)

    def _coordinates(self, X: Any, encoding: str | None) -> Array:
        from ridgeway import checks

        if isinstance(X, str | Path) or hasattr(X, "columns"):
            return self.setup.coordinates(results.points(_sheet(X, encoding), self.setup))
        return self.setup.coordinates(checks.dense(checks.inputs(X, len(self.setup.names), names=self.setup.names)))

    @cached_property
    def _pool(self) -> StoredPool:
        return StoredPool.of(self._store, self.setup)


def _sheet(frame: Any, encoding: str | None) -> Sheet:
    if isinstance(frame, Sheet):
        return frame
    return sheets.read(frame, encoding) if isinstance(frame, str | Path) else Sheet.of_frame(frame)
