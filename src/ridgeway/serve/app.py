"""The application: which address gives what, and what becomes of errors."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route, Router

from ridgeway.campaign import logbook, sheets, table
from ridgeway.errors import CampaignError, ReadOnlyError, UnreachableError
from ridgeway.serve.actions import ACTIONS, act, asked
from ridgeway.serve.assets import Assets
from ridgeway.serve.board import Board, Sheet
from ridgeway.serve.gate import Keys
from ridgeway.serve.said import Said
from ridgeway.serve.watch import Watch
from ridgeway.serve.worker import Worker

_BEAT = 15.0  # seconds between signs of life to a page, by which a connection that is dead is noticed
_FOR_EVER = "private, max-age=31536000, immutable"


@dataclass(frozen=True)
class Desk:
    """What requests are answered with."""

    board: Board
    watch: Watch
    worker: Worker
    keys: Keys
    read_only: bool
    assets: Assets

    async def page(self, request: Request) -> Response:
        return HTMLResponse(self.assets.page)

    async def file(self, request: Request) -> Response:
        asset = self.assets.get(request.path_params["name"])
        if asset is None:
            return _error(404, "there is no such file")
        headers = {"cache-control": _FOR_EVER, "vary": "accept-encoding"}
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(asset.content, media_type=asset.kind, headers=headers)
        packed = await asyncio.to_thread(lambda: asset.packed)
        return Response(packed, media_type=asset.kind, headers={**headers, "content-encoding": "gzip"})

    async def session(self, request: Request) -> Response:
        """What the page needs to change anything; other pages cannot read it."""
        return JSONResponse({"write": None if self.read_only else self.keys.write, "read_only": self.read_only})

    async def sheet(self, request: Request) -> Response:
        sheet = self.board.sheets.get(request.path_params["name"], Sheet())
        return Response(sheet.content, media_type="application/json", headers={"x-version": sheet.version})

    async def events(self, request: Request) -> Response:
        return StreamingResponse(self._events(), media_type="text/event-stream")

    async def _events(self) -> AsyncIterator[str]:
        """An overview of the board at every change of it."""
        with self.board.reading():
            yield "retry: 1000\n\n"
            seen = -1
            while not self.board.closed:
                now = self.board.changes
                yield ": still here\n\n" if now == seen else f"data: {self.board.overview()}\n\n"
                seen = now
                await self.board.changed(seen, _BEAT)

    async def change(self, request: Request) -> Response:
        name, said = request.path_params["action"], Said.of(await request.body())
        try:
            if name == "ask":
                done = asked((await self.worker.call("ask", n=said.many, person=said.person))["trials"])
            elif name in ACTIONS:
                done = await asyncio.to_thread(act, self.watch.campaign, name, said)
            else:
                return _error(404, f"there is no change {name!r:.40}")
        finally:
            self.watch.hurry()
        return JSONResponse(done)

    async def export(self, request: Request) -> Response:
        """All trials, the pending ones to be filled in, or the log, as CSV."""
        text = await asyncio.to_thread(self._csv, request.path_params["what"])
        if text is None:
            return _error(404, "there is no such table")
        headers = {"content-disposition": f'attachment; filename="{request.path_params["what"]}.csv"'}
        return Response("\ufeff" + text, media_type="text/csv; charset=utf-8", headers=headers)

    def _csv(self, what: str) -> str | None:
        campaign = self.watch.campaign
        if what == "trials":
            return sheets.to_csv(*campaign.table())
        if what == "pending":
            return sheets.to_csv(*table.to_fill_in(campaign.setup, campaign.pending))
        if what == "log":
            return sheets.to_csv(list(logbook.HEAD), logbook.rows(campaign.log))
        return None


def application(desk: Desk) -> Starlette:
    """The page, its files, its data and its changes."""
    routes = [
        Route("/", desk.page),
        Route("/static/{name}", desk.file),
        Route("/api/session", desk.session),
        Route("/api/events", desk.events),
        Route("/api/{name:str}", desk.sheet, methods=["GET"]),
        Route("/api/{action:str}", desk.change, methods=["POST"]),
        Route("/export/{what}.csv", desk.export),
    ]
    app = Starlette(exception_handlers={CampaignError: _refusal, 404: _nowhere, 405: _nowhere, Exception: _defect})
    app.router = Router(routes, redirect_slashes=False)
    return app


def _refusal(request: Request, error: Exception) -> Response:
    status = 403 if isinstance(error, ReadOnlyError) else 503 if isinstance(error, UnreachableError) else 409
    return _error(status, str(error))


def _nowhere(request: Request, error: Exception) -> Response:
    return _error(getattr(error, "status_code", 404), "there is nothing at this address")


def _defect(request: Request, error: Exception) -> Response:
    print(f"ridgeway: {type(error).__name__}: {error}", file=sys.stderr)
    return _error(500, "something went wrong in the server; its terminal says what")


def _error(status: int, why: str) -> Response:
    return JSONResponse({"error": why}, status)
