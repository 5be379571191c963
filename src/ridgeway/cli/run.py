"""``ridgeway run``: drive a program, trial after trial, several at a time."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from ridgeway.campaign.campaign import Campaign
from ridgeway.campaign.trial import OBSERVED, Trial
from ridgeway.cli import numbers
from ridgeway.cli.common import DEFAULT, Format, Name, Shape, Where, opened, say, show_record
from ridgeway.cli.program import Answer, Program
from ridgeway.cli.trials import seconds
from ridgeway.errors import BudgetSpentError, CampaignError

_MOST_FAILURES = 5  # in a row: something else is wrong


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
    where: Where = DEFAULT,
    name: Name = None,
    shape: Shape = Format.table,
) -> None:
    """Drive a program: its inputs as JSON in, a number or JSON out, until the budget is spent.

    Interrupted with Ctrl-C or killed, it keeps all results so far: run it again to go on.

    \b
    Examples:
      ridgeway run --command './simulate {input} {output}' \\
          --workers 4 --budget 100 --time-limit 1h --retries 1
      ridgeway run --command 'python model.py {input}' -b 40
    """
    if budget is None and not until_sure:
        raise CampaignError("run must know when to stop: give --budget, --until-sure or both")
    campaign = opened(where, name)
    program = Program(command, campaign.setup.output, None if time_limit is None else seconds(time_limit), retries)
    waiting = [] if reclaim is None else campaign.reclaim(seconds(reclaim))
    others = len(campaign.pending) - len(waiting)
    if others:
        say(f"{others} pending elsewhere; --reclaim 1h would take over those of an hour ago")
    done = _Drive(campaign, program, workers, budget, until_sure, waiting).go()
    show_record(done, shape, f"{done['told']} observed, {done['failed']} failed: {done['ended']}.")


class _Drive:
    """The loop of ``run``: keep all workers busy, and record their results."""

    def __init__(
        self,
        campaign: Campaign,
        program: Program,
        workers: int,
        budget: int | None,
        until_sure: bool,
        waiting: list[Trial],
    ) -> None:
        self.campaign, self.program, self.workers = campaign, program, workers
        self.budget, self.until_sure, self.waiting = budget, until_sure, waiting
        self.flights: dict[Future[Answer], Trial] = {}
        self.told = self.failed = self.in_a_row = 0
        self.ended = ""

    def go(self) -> dict[str, Any]:
        """Run until there is a reason to end."""
        with ThreadPoolExecutor(self.workers) as executor, self._cleaned_up():
            while True:
                while not self.ended and len(self.flights) < self.workers and self._more():
                    trial = self.waiting.pop(0) if self.waiting else self._asked()
                    if trial is None:
                        break
                    self.flights[executor.submit(self.program, trial)] = trial
                if not self.flights:
                    break
                done, _ = wait(self.flights, return_when=FIRST_COMPLETED)
                for future in done:
                    self._take(self.flights[future], future.result())
                    del self.flights[future]
        return {"told": self.told, "failed": self.failed, "ended": self.ended or "the budget is spent"}

    def _asked(self) -> Trial | None:
        """The next trial, unless others took the last of the budget in the meantime."""
        try:
            trial: Trial = self.campaign.ask(budget=self.budget)
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
            advice = self.campaign.should_stop()
            self.ended = str(advice) if advice else ""
        return not self.ended

    def _take(self, trial: Trial, answer: Answer) -> None:
        if answer.value is None:
            self.campaign.fail(trial, answer.reason or "failed")
            self.failed += 1
            self.in_a_row += 1
            say(f"trial {trial.id} failed: {answer.reason}")
        else:
            self.campaign.tell(trial, answer.value, answer.sigma, notes=answer.notes)
            self.told += 1
            self.in_a_row = 0
            say(f"trial {trial.id}: {answer.value:g}")
        if self.in_a_row >= _MOST_FAILURES:
            raise CampaignError(f"the last {self.in_a_row} runs failed, the last one: {answer.reason}")

    @contextmanager
    def _cleaned_up(self) -> Iterator[None]:
        """End programs and give trials back if the loop is left early."""
        try:
            yield
        except BaseException:
            self.program.stop()
            for trial in [*self.flights.values(), *self.waiting]:
                if trial.id in {pending.id for pending in self.campaign.pending}:
                    self.campaign.abandon(trial, "the run was stopped")
            raise
