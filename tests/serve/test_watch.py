"""What is put on the board, and when it is computed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ridgeway import Campaign, CampaignError
from ridgeway.serve.board import Board
from ridgeway.serve.watch import Watch
from ridgeway.serve.worker import WorkerDiedError


class Stub:
    """A worker that fails as often as it is told to, with this error, and then reports."""

    def __init__(self, campaign: Campaign, errors: list[CampaignError]) -> None:
        self.campaign, self.errors, self.calls = campaign, errors, 0

    async def call(self, job: str, **arguments: Any) -> dict[str, Any]:
        self.calls += 1
        await asyncio.sleep(0.01)
        if self.errors:
            raise self.errors.pop(0)
        return {"version": self.campaign.version().outcomes, "sections": f"report {self.calls}"}


def watched(campaign: Campaign, worker: Stub, steps: Any) -> None:
    """Run a watch with somebody reading while ``steps(board, watch)`` goes on."""

    async def scene() -> None:
        board = Board()
        watch = Watch(campaign, board, worker)  # type: ignore[arg-type]
        running = asyncio.create_task(watch.run())
        with board.reading():
            await asyncio.wait_for(steps(board, watch), 60.0)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(scene())


async def until(condition: Any) -> None:
    while not condition():
        await asyncio.sleep(0.01)


@pytest.mark.slow
def test_results_are_reported_once_and_pending_trials_not(campaign: Campaign) -> None:
    worker = Stub(campaign, [])

    async def steps(board: Board, watch: Watch) -> None:
        await until(lambda: "state" in board.sheets)
        await asyncio.sleep(0.3)
        assert worker.calls == 0  # there is nothing to report yet
        campaign.tell(1, 1.0)
        await until(lambda: "report" in board.sheets)
        campaign.ask()
        watch.hurry()
        await until(lambda: len(json.loads(board.sheets["state"].content)["pending"]) == 4)
        await asyncio.sleep(0.3)
        assert worker.calls == 1  # an ask is no result
        campaign.tell(2, 1.0)
        await until(lambda: worker.calls == 2)
        await until(lambda: b"report 2" in board.sheets["report"].content)

    watched(campaign, worker, steps)
    assert worker.calls == 2


@pytest.mark.slow
@pytest.mark.parametrize("deaths", [1, 5])
def test_a_worker_that_dies_is_reported_and_tried_again_but_not_for_ever(campaign: Campaign, deaths: int) -> None:
    campaign.tell(1, 1.0)
    worker = Stub(campaign, [WorkerDiedError("it was ended") for _ in range(deaths)])
    said: list[str] = []

    async def steps(board: Board, watch: Watch) -> None:
        await until(lambda: said.append(board.notices.get("report", "")) or "it was ended" in said[-1])
        await until(lambda: worker.calls == 2)
        await asyncio.sleep(1.0)
        assert worker.calls == 2  # the same data would end it again
        assert ("report" in board.sheets) == (deaths == 1)
        assert bool(board.notices["report"]) == (deaths > 1)  # what was mended is not complained about

    watched(campaign, worker, steps)


@pytest.mark.slow
def test_a_defect_is_said_and_survived(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Campaign) -> Any:
        raise KeyError("what nobody thought of")

    async def steps(board: Board, watch: Watch) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(Campaign, "version", broken)
            await until(lambda: "KeyError" in board.notices.get("server", ""))
        await until(lambda: not board.notices["server"])
        assert "state" in board.sheets

    worker = Stub(campaign, [])
    watched(campaign, worker, steps)
    assert worker.calls == 0


@pytest.mark.slow
def test_what_cannot_be_reported_is_said_once(campaign: Campaign) -> None:
    campaign.tell(1, 1.0)
    worker = Stub(campaign, [CampaignError("too few")])

    async def steps(board: Board, watch: Watch) -> None:
        await until(lambda: "too few" in board.notices.get("report", ""))
        await asyncio.sleep(0.6)
        assert worker.calls == 1
        campaign.tell(2, 1.0)
        await until(lambda: worker.calls == 2)  # there are other data

    watched(campaign, worker, steps)
    assert worker.errors == []
