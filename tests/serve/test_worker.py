"""The process that fits: its jobs, its death, and its end."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from ridgeway import Campaign, CampaignError
from ridgeway.serve.worker import Worker, WorkerDiedError
from tests import campaign_workers as workers

pytestmark = pytest.mark.slow


def test_jobs_death_and_a_new_process(campaign: Campaign) -> None:
    async def scene() -> None:
        worker = Worker(campaign.where, campaign.name)
        await worker.start()
        first = worker.pid
        assert await worker.call("ask", n=2, person="Ann") == {"trials": [5, 6]}
        with pytest.raises(CampaignError, match="nothing to report before the first result"):
            await worker.call("report")
        assert first is not None
        os.kill(first, signal.SIGSTOP)  # in the middle of a job
        job = asyncio.create_task(worker.call("report"))
        await asyncio.sleep(0.1)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(WorkerDiedError, match=r"by SIGKILL, perhaps for want of memory.*a new one was started"):
            await job
        assert worker.pid not in (None, first)
        assert await worker.call("ask", n=1, person="") == {"trials": [7]}
        last = worker.pid
        await worker.close()
        assert last is not None
        with pytest.raises(ProcessLookupError):
            os.kill(last, 0)
        with pytest.raises(CampaignError, match="the server is ending"):
            await worker.call("ask", n=1, person="")

    asyncio.run(scene())
    assert campaign.pending[-2].asked_by is not None
    assert campaign.pending[-2].asked_by.startswith("Ann via ")


def test_a_report_in_parts(tmp_path: Path) -> None:
    made = workers.create(tmp_path / "c.sqlite")
    for trial in made.ask(6):
        made.tell(trial, workers.experiment(trial.inputs))

    async def scene() -> dict[str, object]:
        worker = Worker(made.where, made.name)
        try:
            return await worker.call("report", targets={"value": 0.25})
        finally:
            await worker.close()

    found = asyncio.run(scene())
    assert found["version"] == made.version().outcomes
    assert isinstance(found["advice"], str)
    assert len(found["advice"]) > 20
    (about,) = found["outputs"]
    assert about["label"] == "value"
    assert {"outcomes", "response", "importance", "left_out"} <= set(about["figures"])
    assert 'data-figure="outcomes"' in about["sections"]
    wanted = [trace for trace in about["figures"]["errors"]["data"] if trace["name"] == "wanted"]
    assert wanted[0]["y"] == [0.25, 0.25]
    assert about["sections"].count('data-figure="errors"') == 1
    assert about["sections"].index('data-figure="errors"') < about["sections"].index('data-figure="outcomes"')
    assert made.summary() is not None  # the fit is kept for everybody


def test_it_ends_with_its_server_and_an_answer_that_nobody_waits_for_is_not_the_next(campaign: Campaign) -> None:
    async def scene() -> int:
        worker = Worker(campaign.where, campaign.name)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(worker.call("ask", n=3, person=""), 0.05)
        assert len((await worker.call("ask", n=1, person=""))["trials"]) == 1
        process, pid = worker._process, worker.pid
        assert process is not None
        assert process.stdin is not None
        process.stdin.close()  # as the server's end does where it had no time for a word
        assert await asyncio.wait_for(process.wait(), 60) == 0
        await worker.close()
        assert pid is not None
        return pid

    pid = asyncio.run(scene())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
