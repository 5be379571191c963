"""The server: one campaign at one address, until it is told to stop."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

import uvicorn

from ridgeway.campaign.campaign import Campaign
from ridgeway.errors import CampaignError
from ridgeway.serve.app import Desk, application
from ridgeway.serve.assets import Assets
from ridgeway.serve.board import Board
from ridgeway.serve.gate import Doors, Gate, Keys
from ridgeway.serve.watch import Watch
from ridgeway.serve.worker import Worker

_GRACE = 2  # seconds that requests may take to end
_CONNECTIONS = 500  # at a time; beyond these the answer is that there are too many


class Server:
    """A campaign as a page; its port is taken as soon as it is made. ``targets`` are errors that are small enough."""

    def __init__(
        self,
        campaign: Campaign,
        host: str = "127.0.0.1",
        port: int = 8765,
        read_only: bool = False,
        targets: Mapping[str, float] | None = None,
    ) -> None:
        self._campaign, self._host, self._read_only, self._targets = campaign, host, read_only, targets
        self._socket = _bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        self._keys = Keys()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: _Uvicorn | None = None
        self._board: Board | None = None
        self._worker: Worker | None = None
        self._stopped = False

    @property
    def is_open(self) -> bool:
        """Whether other machines can reach it."""
        return not ipaddress.ip_address(self._socket.getsockname()[0]).is_loopback

    @property
    def addresses(self) -> list[str]:
        """Where to open the page, with the token."""
        names = [self._host] if not _is_any(self._host) else ["127.0.0.1", *_own_names()]
        return [f"http://{_bracketed(name)}:{self.port}/?token={self._keys.token}" for name in names]

    def run(self) -> None:
        """Serve until :meth:`stop` is called."""
        try:
            asyncio.run(self._serve())
        finally:
            self._socket.close()

    def stop(self) -> None:
        """End; may be called from a signal's handler and from another thread."""
        self._stopped = True
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended already
                self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        if self._running is not None and self._board is not None and self._worker is not None:
            self._board.close()
            self._worker.end()
            self._running.should_exit = True

    async def _serve(self) -> None:
        board, worker = Board(), Worker(self._campaign.place, self._campaign.name)
        watch = Watch(self._campaign, board, worker, self._targets)
        desk = Desk(board, watch, worker, self._keys, self._read_only, Assets())
        doors = Doors(frozenset(self._names()), self.port, numbers=self.is_open)
        gate = Gate(application(desk), self._keys, doors, self._read_only)
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # what goes wrong is said by the application
        config = uvicorn.Config(
            gate, log_config=None, access_log=False, lifespan="off", server_header=False, date_header=False,
            timeout_graceful_shutdown=_GRACE, limit_concurrency=_CONNECTIONS, proxy_headers=False, ws="none",
        )  # fmt: skip
        self._board, self._worker, self._running = board, worker, _Uvicorn(config)
        self._loop = asyncio.get_running_loop()
        if self._stopped:  # before there was anything to stop
            self._end()
        looking = asyncio.create_task(watch.run())
        ready = asyncio.create_task(worker.start())
        try:
            await self._running.serve(sockets=[self._socket])
        finally:
            for task in (looking, ready):
                task.cancel()
            await asyncio.gather(looking, ready, return_exceptions=True)
            await worker.close()

    def _names(self) -> list[str]:
        local = ["localhost", "127.0.0.1", "::1"]
        return [*local, self._host.lower(), *(_own_names() if self.is_open else ())]


class _Uvicorn(uvicorn.Server):
    """Uvicorn without signals of its own: they are those of the program."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _bound(host: str, port: int) -> socket.socket:
    """A socket at the address, or a sentence that says why there is none."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(128)  # who comes before all is ready waits a moment
        except BaseException:
            listening.close()
            raise
    except socket.gaierror:
        raise CampaignError(f"--host {host!r} is no address of this machine") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CampaignError(f"port {port} is taken: choose another with --port, or --port 0 for any") from None
        raise CampaignError(f"{host} port {port} cannot be opened: {error.strerror}") from None
    return listening


def _is_any(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_unspecified
    return False


def _own_names() -> list[str]:
    """Under which other machines may know this one: its number in the network, and its name."""
    names = [socket.gethostname().lower()]
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # nothing is sent: it only says which of our addresses would be used
        names.insert(0, probe.getsockname()[0])
    return names


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name
