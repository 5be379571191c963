"""``ridgeway run``: drive a program, trial after trial, several at a time."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Annotated, Any, TypeVar

import typer

from ridgeway.campaign import sheets
from ridgeway.campaign.campaign import Campaign
from ridgeway.campaign.trial import OBSERVED, Trial
from ridgeway.cli import numbers
from ridgeway.cli.common import DEFAULT, Format, Name, Shape, Where, opened, same_campaign, say, show_record
from ridgeway.cli.program import Answer, Program
from ridgeway.cli.signals import Signals
from ridgeway.cli.trials import seconds
from ridgeway.errors import BudgetSpentError, CampaignError, UnreachableError

_MOST_FAILURES = 5  # in a row: something else is wrong
_PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0)  # seconds between attempts to reach a database, then the last again
_PATIENCE = 600.0  # seconds for which a database may be away
_NOTICE = 1.0  # seconds that threads may take to notice that their programs were ended
_LOOK = 0.1  # seconds between two looks whether a signal has come
_LONGEST_END = 4.5  # seconds that an early end may take, whatever the database does

T = TypeVar("T")


def run(
    command: Annotated[str, typer.Option("--command", help="With {input}, and {output} unless it prints the result.")],
    workers: Annotated[int, typer.Option("--workers", "-w", help="Programs at a time.", **numbers.whole(1))] = 1,
    budget: Annotated[
        int | None, typer.Option("--budget", "-b", help="Stop at so many outcomes in all.", **numbers.whole(1))
    ] = None,
    time_limit: Annotated[str | None, typer.Option("--time-limit", help="For one run: 90s, 30m, 12h.")] = None,
    retries: Annotated[int, typer.Option("--retries", help="Attempts after a failure.", **numbers.whole(0))] = 0,
    reclaim: Annotated[
        str | None, typer.Option("--reclaim", help="First make trials that are pending this long.")
    ] = None,
    until_sure: Annotated[
        bool, typer.Option("--until-sure", help="Stop when further experiments would teach little.")
    ] = False,
    target: Annotated[
        list[str] | None,
        typer.Option("--target-error", help="Stop when predictions are so good; 'cost=0.5' of several outputs."),
    ] = None,
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Drive a program: its inputs as JSON in, a number or JSON out, until the budget is spent.

    Of several outputs JSON has each by its name; one that is left out or null has no result.

    Interrupted with Ctrl-C or SIGTERM, it ends the programs, gives their trials back and keeps all results so far:
    run it again to go on. A database that is away for a while is waited for.

    \b
    Examples:
      ridgeway run --command './simulate {input} {output}' \\
          --workers 4 --budget 100 --time-limit 1h --retries 1
      ridgeway run --command 'python model.py {input}' -b 40
    """
    wanted = numbers.by_name(target, "--target-error")
    if budget is None and not until_sure and wanted is None:
        raise CampaignError("run must know when to stop: give --budget, --until-sure or --target-error")
    campaign = opened(where, name)
    program = Program(command, campaign.setup.outputs, None if time_limit is None else seconds(time_limit), retries)
    waiting = [] if reclaim is None else _reclaimed(campaign, seconds(reclaim))
    others = len(campaign.pending) - len(waiting)
    if others:
        say(f"{others} pending elsewhere; --reclaim 1h would take over those of an hour ago")
    sure, options = until_sure or wanted is not None, same_campaign(where, name)
    drive = _Drive(campaign, program, workers, budget, sure, wanted, waiting, options)
    done = drive.go()
    show_record(done, shape, f"{done['told']} observed, {done['failed']} failed: {done['ended']}.")


def _reclaimed(campaign: Campaign, age: float) -> list[Trial]:
    """Trials that were taken over, as they stand now."""
    numbers = {trial.id for trial in campaign.reclaim(age)}
    return [trial for trial in campaign.pending if trial.id in numbers]


class _Drive:
    """The loop of ``run``: keep all workers busy, and record their results.

    This thread alone speaks with the database; the others wait for programs. However the loop is left, each trial
    that it took has its outcome recorded, is given back, or is named in a message.
    """

    def __init__(
        self,
        campaign: Campaign,
        program: Program,
        workers: int,
        budget: int | None,
        until_sure: bool,
        target: Any,
        waiting: list[Trial],
        options: str,
    ) -> None:
        self.campaign, self.program, self.workers = campaign, program, workers
        self.budget, self.until_sure, self.target = budget, until_sure, target
        self.waiting, self.options = waiting, options
        self.flights: dict[Future[Answer], Trial] = {}
        self.handed: list[Trial] = []  # what an ask chose, whether or not it came to be stored
        self.told = self.failed = self.in_a_row = 0
        self.ended = ""
        self.last_reason: str | None = None
        self.cause: BaseException | None = None
        # Queues, not futures or events: they may be used within a signal's handler, and by what it interrupts.
        self.finished: SimpleQueue[Future[Answer]] = SimpleQueue()
        self.hurried: SimpleQueue[bool] = SimpleQueue()
        self.over = threading.Event()
        self.signals = Signals(self._hurry)

    def go(self) -> dict[str, Any]:
        """Run until there is a reason to end."""
        executor = ThreadPoolExecutor(self.workers)
        threading.Thread(target=self._watch, daemon=True).start()
        with self.signals as signals:
            try:
                self._loop(executor)
            except BaseException as error:
                signals.close()
                self.cause = error
                self._hurry()
                self._leave()
                executor.shutdown(wait=False, cancel_futures=True)
                if signals.heard is None:
                    raise
                say(f"Stopped by {signals.heard.name}. The same command goes on.")
                raise SystemExit(128 + signals.heard) from None
            finally:
                self.over.set()
                self.hurried.put(False)
        executor.shutdown()
        return {"told": self.told, "failed": self.failed, "ended": self.ended or "the budget is spent"}

    def _loop(self, executor: ThreadPoolExecutor) -> None:
        while True:
            while not self.ended and len(self.flights) < self.workers and self._insisting(self._more):
                trial = self.waiting[0] if self.waiting else self._insisting(self._asked)
                if trial is None:
                    break
                future = executor.submit(self.program, trial)
                self.flights[future] = trial
                self.waiting, self.handed = self.waiting[1:], []
                future.add_done_callback(self.finished.put)
            if not self.flights:
                return
            self._take_next()
            if self.in_a_row >= _MOST_FAILURES:
                raise CampaignError(f"the last {self.in_a_row} runs failed, the last one: {self.last_reason}")

    def _take_next(self) -> None:
        """Record the outcome of the program that ends next."""
        while True:
            self.signals.check()
            with suppress(Empty):
                future = self.finished.get(timeout=_LOOK)
                self._take(self.flights[future], future.result())
                del self.flights[future]
                return

    # -- one trial -----------------------------------------------------------------------------

    def _asked(self) -> Trial | None:
        """The next trial, unless others took the last of the budget in the meantime."""
        for trial in self._mine(self.handed):  # an ask before this one was stored, and the answer lost on the way
            return trial
        self.handed = []
        try:
            trial = self.campaign.ask(hand_over=self.handed.extend, budget=self.budget)
        except BudgetSpentError:
            return None
        return trial

    def _more(self) -> bool:
        if self.waiting:
            return True
        trials = self.campaign.all_trials()
        count = sum(trial.state in (*OBSERVED, "failed", "asked") for trial in trials)
        if self.budget is not None and count >= self.budget:
            return False
        if self.until_sure and not any(trial.state == "asked" for trial in trials):
            advice = self.campaign.should_stop(self.target)
            self.ended = str(advice) if advice else ""
        return not self.ended

    def _take(self, trial: Trial, answer: Answer) -> None:
        try:
            self._insisting(lambda: self._record(trial, answer))
        except UnreachableError:
            raise  # it is kept, and shown at the end
        except CampaignError as error:  # somebody else settled or abandoned it
            say(f"{error}\nNot recorded: {self._line(trial, answer)}")
            self.in_a_row += 1
            self.last_reason = str(error)
            return
        if not answer.values:
            self.failed += 1
            self.in_a_row += 1
            self.last_reason = answer.reason
            say(f"trial {trial.id} failed: {answer.reason}")
        else:
            self.told += 1
            self.in_a_row = 0
            say(f"trial {trial.id}: {self._shown(answer)}")

    def _record(self, trial: Trial, answer: Answer) -> None:
        """Store an outcome; to store it twice is harmless."""
        if not answer.values:
            self.campaign.fail(trial, answer.reason or "failed")
        else:
            self.campaign.tell(trial, answer.values, answer.sigmas, notes=answer.notes, last=True)

    def _shown(self, answer: Answer) -> str:
        word = self.campaign.setup.outputs.word
        return ", ".join(f"{v:g}" if word(n) == "value" else f"{n} {v:g}" for n, v in answer.values.items())

    def _row(self, trial: Trial, answer: Answer) -> list[Any]:
        """What a sheet of results has: the number, a cell for each output and its sigma, and the reason."""
        names = self.campaign.setup.outputs.names
        cells = [answer.values.get(name, "failed") for name in names]
        return [trial.id, *cells, *(answer.sigmas.get(name) for name in names), answer.reason]

    def _line(self, trial: Trial, answer: Answer) -> str:
        return ", ".join("" if cell is None else str(cell) for cell in self._row(trial, answer))

    def _insisting(self, call: Callable[[], T]) -> T:
        """What ``call`` gives, tried again while the database is away."""
        began = time.monotonic()
        for attempt in range(sys.maxsize):
            try:
                return self.signals.during(call)
            except UnreachableError as error:
                pause = _PAUSES[min(attempt, len(_PAUSES) - 1)]
                if time.monotonic() + pause > began + _PATIENCE:
                    raise
                say(f"{error}; trying again in {pause:g} s")
                self.signals.during(partial(time.sleep, pause))
        raise AssertionError

    # -- an early end --------------------------------------------------------------------------

    def _leave(self) -> None:
        """End programs, record the outcomes that are there, and give the other trials back."""
        self.program.stop()
        wait(self.flights, timeout=_NOTICE)  # threads need some time to notice that their programs were ended
        self.campaign.close()  # what was interrupted may hold a lock that the last words would wait for
        answers = {trial.id: (trial, _answer_of(future)) for future, trial in self.flights.items()}
        unrecorded = [
            self._row(trial, answer)
            for trial, answer in answers.values()
            if answer is not None and not self._heard(self._record, trial, answer)
        ]
        if unrecorded:
            say(f"Not recorded; put these lines into a file for `ridgeway tell`{self.options}:")
            outputs = self.campaign.setup.outputs
            columns = ["trial", *outputs.labels, *(outputs.sigma_name(name) for name in outputs.names), "reason"]
            say(sheets.to_csv(columns, unrecorded).rstrip("\n"))
        others = [trial for trial, answer in answers.values() if answer is None]
        taken = {trial.id: trial for trial in [*others, *self.handed, *self.waiting]}
        if not self._heard(self._give_back, list(taken.values())):
            say(f"Still pending: {_listed(taken)}; `ridgeway reclaim --older-than 0s`{self.options} takes them over.")

    def _give_back(self, trials: list[Trial]) -> None:
        for mine in self._mine(trials):
            self.campaign.abandon(mine, "the run was stopped")

    def _mine(self, trials: list[Trial]) -> list[Trial]:
        """Those of the trials that are stored and pending, and were not taken over by others."""
        if not trials:
            return []
        pending = {trial.id: trial for trial in self.campaign.pending}
        return [pending[trial.id] for trial in trials if trial.id in pending and _same(trial, pending[trial.id])]

    def _heard(self, call: Callable[..., None], *about: Any) -> bool:
        """Whether the database took a last word; if not, the reason is said."""
        try:
            call(*about)
        except CampaignError as error:
            say(str(error))
            return False
        return True

    def _hurry(self) -> None:
        """From now on the end is near, whatever the database does."""
        self.hurried.put(True)

    def _watch(self) -> None:
        """Wait for an early end, and see to it that it is one."""
        if self.hurried.get() and not self.over.wait(_LONGEST_END):
            self._give_up()

    def _give_up(self) -> None:
        """Leave at once: a call to the database does not return."""
        self.program.kill()
        numbers = {trial.id for trial in [*self.flights.values(), *self.handed, *self.waiting]}
        say(f"{self.cause or 'Stopped.'}\nThe database does not answer. Perhaps still pending: {_listed(numbers)}.")
        for trial, answer in [(trial, _answer_of(future)) for future, trial in self.flights.items()]:
            if answer is not None:
                say(f"Perhaps not recorded: {self._line(trial, answer)}")
        sys.stderr.flush()
        os._exit(1)


def _answer_of(future: Future[Answer]) -> Answer | None:
    """What a program gave that had come to its own end."""
    if not future.done() or future.cancelled() or future.exception() is not None:
        return None
    answer = future.result()
    return None if answer.stopped else answer


def _same(a: Trial, b: Trial) -> bool:
    """Whether two readings are of one trial that nobody has taken over: a number alone may be given away again."""
    return (a.x.tobytes(), a.asked_by, a.asked_at) == (b.x.tobytes(), b.asked_by, b.asked_at)


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(numbers))) or "none"
