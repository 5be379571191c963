"""The worker: the process that fits, as the server sees it. One job at a time; a new process where one has died."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from typing import Any

from ridgeway.errors import CampaignError

_LINE = 2**30  # bytes of an answer, at most


class WorkerDiedError(CampaignError):
    """The process ended in the middle of a job."""


class Worker:
    """A process that does jobs; see :mod:`ridgeway.serve.worker_process` for what they are."""

    def __init__(self, where: str, name: str) -> None:
        self._place = {"where": where, "name": name}  # not in the command: everybody can read that
        self._lock = asyncio.Lock()
        self._process: Process | None = None
        # What it writes to its standard error: warnings, and why it died.
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # closed by close()
        self._closed = False
        self._ended: list[Process] = []  # whose last words were not heard yet

    @property
    def pid(self) -> int | None:
        """Of the process, while there is one."""
        return None if self._process is None else self._process.pid

    async def call(self, job: str, **arguments: Any) -> dict[str, Any]:
        """The answer to a job; :class:`CampaignError` where it cannot be done."""
        async with self._lock:
            process = self._process if self._alive() else await self._start()
            assert process is not None
            try:
                line = await self._exchange(process, {"job": job, **arguments})
            except BaseException:
                self._kill()  # an answer that nobody waits for must not be taken for the next one
                raise
            if not line:
                why = await self._obituary(process)
                self._ended = [other for other in self._ended if other is not process]
                await self._start()
                raise WorkerDiedError(why)
        done: dict[str, Any] = json.loads(line)
        if "error" in done:
            raise CampaignError(done["error"])
        return done

    async def start(self) -> None:
        """Start the process before the first job comes."""
        async with self._lock:
            if not self._alive():
                await self._start()

    def end(self) -> None:
        """End the process at once, whatever it is doing; no other is started."""
        self._closed = True
        self._kill()

    async def close(self) -> None:
        """The same, and wait until it is gone."""
        self.end()
        async with self._lock:  # a job that it was doing ends with an error
            for process in self._ended:
                await process.communicate()
        self._said.close()

    def _alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def _start(self) -> Process:
        if self._closed:
            raise CampaignError("the server is ending")
        # A session of its own: Ctrl-C is for the server, which ends it. -P: no module of the user's folder is imported.
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "ridgeway.serve.worker_process", stdin=PIPE, stdout=PIPE, stderr=self._said,
            start_new_session=True, limit=_LINE, env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        self._process = process
        await _send(process, self._place)
        return process

    async def _exchange(self, process: Process, job: dict[str, Any]) -> bytes:
        assert process.stdout is not None
        self._said.seek(0)
        self._said.truncate()
        with suppress(ConnectionError):  # then it is dead, and there is no answer
            await _send(process, job)
        line = await process.stdout.readline()
        return line if line.endswith(b"\n") else b""

    def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
            self._ended.append(self._process)
        self._process = None

    async def _obituary(self, process: Process) -> str:
        await process.communicate()
        self._process, code = None, process.returncode or 0
        why = f"with exit code {code}"
        if code < 0:
            why = f"by {signal.Signals(-code).name}"
            why += ", perhaps for want of memory" if -code == signal.SIGKILL else ""
        self._said.seek(0)
        last = self._said.read()[-2000:].decode("utf-8", "replace").strip().splitlines()[-1:]
        why += "".join(f" ({line.strip()})" for line in last)
        return f"the process that computes was ended {why}; a new one was started"


async def _send(process: Process, message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    await process.stdin.drain()
