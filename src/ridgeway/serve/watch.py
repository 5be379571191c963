"""The watch: looks at the database while somebody reads, and puts on the board what is new there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ridgeway.campaign.campaign import Campaign
from ridgeway.campaign.store import Version
from ridgeway.errors import CampaignError
from ridgeway.serve.board import Board
from ridgeway.serve.state import state
from ridgeway.serve.worker import Worker, WorkerDiedError

_FILE, _SERVER = 0.4, 1.0  # seconds between two looks; a server is connected to for each
_LEAST = 0.15  # seconds between two looks when changes are made here: many come at once
_DEATHS = 2  # of the worker over the same data, after which others are waited for


class Watch:
    """Brings state and report up to date; :meth:`run` until it is cancelled."""

    def __init__(
        self, campaign: Campaign, board: Board, worker: Worker, targets: Mapping[str, float] | None = None
    ) -> None:
        self.campaign, self._targets = campaign, targets
        self._board, self._worker = board, worker
        self._period = _SERVER if "://" in campaign.where else _FILE
        self._shown = self._reported = ""
        self._empty = True  # there is nothing to report
        self._hurry = asyncio.Event()
        self._report: asyncio.Task[None] | None = None
        self._deaths = 0

    def hurry(self) -> None:
        """Something was changed here: look now."""
        self._hurry.set()

    async def run(self) -> None:
        """Look again and again, as long as somebody reads."""
        try:
            while True:
                await self._board.read()
                try:
                    await self._look()
                except Exception as error:  # a defect: the page must not stand still without a word
                    self._board.note("server", f"Something is wrong in the server: {type(error).__name__}: {error}")
                else:
                    self._board.note("server", "")
                await asyncio.sleep(_LEAST)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._hurry.wait(), self._period)
                self._hurry.clear()
        finally:
            if self._report is not None:
                self._report.cancel()
                await asyncio.gather(self._report, return_exceptions=True)

    async def _look(self) -> None:
        try:
            version = await asyncio.to_thread(self.campaign.version)
            if version.everything != self._shown:
                content = await asyncio.to_thread(self._current)
                self._board.pin("state", version.everything, content)
                self._shown, self._empty = version.everything, not content["observed"]
        except CampaignError as error:  # a database that is away comes back
            self._board.note("database", str(error))
            return
        self._board.note("database", "")
        if version.outcomes != self._reported and self._report is None and not self._empty:
            self._report = asyncio.create_task(self._make_report(version))

    def _current(self) -> dict[str, Any]:
        """The state, of a campaign that may have been edited since."""
        self.campaign = Campaign.open(self.campaign.place, self.campaign.name)
        return state(self.campaign)

    async def _make_report(self, version: Version) -> None:
        self._board.note("computing", "Computing what the results say …")
        try:
            made = await self._worker.call("report", targets=self._targets)
            self._reported = made.pop("version")
            self._board.pin("report", self._reported, made)
            self._board.note("report", "")
            self._deaths = 0
        except CampaignError as error:
            self._board.note("report", f"The pictures are not up to date: {error}")
            self._deaths += isinstance(error, WorkerDiedError)
            if not isinstance(error, WorkerDiedError) or self._deaths >= _DEATHS:
                self._reported, self._deaths = version.outcomes, 0  # until there are other data
        finally:
            self._board.note("computing", "")
            self._report = None
