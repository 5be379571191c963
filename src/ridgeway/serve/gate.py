"""The gate: who is let in, and what every answer carries.

A browser shows any page its user visits, and such a page may send requests to this one. So: the address must be one
of ours, which a name that somebody points at this machine is not; who comes must have brought the token of the
address once, and gets a cookie for it; what changes anything must come from our own page, as JSON and with a word that
only our own page can read.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST = 65_536  # bytes of a request's body: a result with its notes has a few hundred
WRITE_HEADER = "x-ridgeway-token"
_SAFE = ("GET", "HEAD")
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True)
class Keys:
    """The secrets of one server; neither the cookie nor the page gives away the token they are made from."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def cookie(self) -> str:
        """What a browser shows after it has brought the token."""
        return self._derived("cookie")

    @property
    def write(self) -> str:
        """What a request must carry that changes anything; only our own page can read it."""
        return self._derived("write")

    def _derived(self, purpose: str) -> str:
        return hmac.new(self.token.encode(), purpose.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Doors:
    """The addresses under which the page may be asked for."""

    names: frozenset[str]
    port: int
    numbers: bool = False  # whether any number will do: no name can be pointed at another machine in it

    def lead_here(self, host: str) -> bool:
        """Whether a request for ``host`` is meant for this page."""
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname or "", parts.port or 80
        except ValueError:
            return False
        if parts.netloc != host or "@" in host or port != self.port:
            return False
        return name in self.names or (self.numbers and _is_number(name))


class Gate:
    """What stands before the page."""

    def __init__(self, app: ASGIApp, keys: Keys, doors: Doors, read_only: bool) -> None:
        self._app, self._keys, self._doors, self._read_only = app, keys, doors, read_only
        self._cookie = f"ridgeway_{doors.port}"  # browsers do not tell ports apart

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # of websockets there are none

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        request = Request(scope, receive)
        answer = self._stranger(request) or self._entrance(request)
        if answer is None and request.method not in _SAFE:
            answer, receive = await self._writing(request, receive)
        await (answer or self._app)(scope, receive, send_with_headers)

    def _stranger(self, request: Request) -> Response | None:
        """The refusal of a request that was not meant for us, or that another page makes."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not self._doors.lead_here(hosts[0]):
            return _refused(421, "This address does not lead here: open the one that `ridgeway serve` printed.")
        origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site", "none")
        foreign = site not in ("none", "same-origin") and request.scope["path"] != "/"
        if foreign or origin not in (None, _origin(request)):
            return _refused(403, "Another page may not ask for this.")
        return None

    def _entrance(self, request: Request) -> Response | None:
        """The way in with the token, or the refusal of who has neither it nor the cookie."""
        token = request.query_params.get("token")
        if (
            token is not None
            and request.scope["path"] == "/"
            and request.method == "GET"
            and _same(token, self._keys.token)
        ):
            inside = RedirectResponse("/", status_code=303)
            inside.set_cookie(self._cookie, self._keys.cookie, httponly=True, samesite="strict", path="/")
            return inside
        if not _same(request.cookies.get(self._cookie, ""), self._keys.cookie):
            return _refused(
                401,
                "Open the address that `ridgeway serve` printed, with its token. If you have just done so from a link "
                "in another page, load this one again.",
            )
        return None

    async def _writing(self, request: Request, receive: Receive) -> tuple[Response | None, Receive]:
        """The refusal of a change that does not come from our own page, or the body that was read."""
        if self._read_only:
            return _refused(403, "This page was opened for reading only: nothing was changed."), receive
        if request.headers.get("origin") != _origin(request) or not _same(
            request.headers.get(WRITE_HEADER, ""), self._keys.write
        ):
            return _refused(403, "Only the page itself may change anything: load it again."), receive
        if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            return _refused(415, "A change must come as JSON."), receive
        body = await _body(request)
        if body is None:
            return _refused(413, f"A change must have at most {LARGEST:,} bytes."), receive

        async def again() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        return None, again


async def _body(request: Request) -> bytes | None:
    """The body, unless it is too large: then what follows is not read."""
    said = request.headers.get("content-length", "0")
    if not said.isdecimal() or int(said) > LARGEST:
        return None
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST:
            return None
    return body


def _origin(request: Request) -> str:
    return f"http://{request.headers.get('host', '')}"


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _same(a: str, b: str) -> bool:
    """Whether two words are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(a.encode("utf-8", "replace"), b.encode())


def _refused(status: int, why: str) -> Response:
    headers = {"connection": "close"}
    if status == 401:
        return PlainTextResponse(why + "\n", status, headers)
    content: dict[str, Any] = {"error": why}
    return JSONResponse(content, status, headers)
