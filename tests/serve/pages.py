"""A server in a thread, and a browser's half of a conversation with it, written out so that it can be wrong."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ridgeway import Campaign
from ridgeway.serve.server import Server


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Visitor:
    """Requests as a browser sends them; ``headers`` replace its own, ``None`` leaves one out."""

    def __init__(self, server: Server) -> None:
        address = urlsplit(server.addresses[0])
        self.port, self.token = server.port, address.query.partition("=")[2]
        self.host = f"127.0.0.1:{self.port}"
        self.cookie = self.write = ""

    def get(self, path: str, **headers: str | None) -> Answer:
        return self.request("GET", path, None, headers)

    def post(self, action: str, fields: Any = None, body: bytes | None = None, **headers: str | None) -> Answer:
        usual = {
            "Origin": f"http://{self.host}", "Content-Type": "application/json", "X-Ridgeway-Token": self.write,
        }  # fmt: skip
        content = json.dumps({} if fields is None else fields).encode() if body is None else body
        return self.request("POST", f"/api/{action}", content, usual | _named(headers))

    def request(self, method: str, path: str, body: bytes | None, headers: dict[str, str | None]) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Host": self.host, "Cookie": self.cookie, **_named(headers)}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        if body is not None:
            sent.setdefault("Content-Length", str(len(body)))
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        try:
            connection.endheaders()
            try:
                for start in range(0, len(body or b""), 65536):
                    connection.send((body or b"")[start : start + 65536])
            except (BrokenPipeError, ConnectionResetError):
                pass  # refused before all was sent
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def enter(self) -> Answer:
        """With the token of the address: the cookie, and the word that changes carry."""
        answer = self.get(f"/?token={self.token}")
        self.cookie = answer.headers["set-cookie"].split(";")[0]
        self.write = self.get("/api/session").json["write"] or ""
        return answer


def _named(headers: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@contextmanager
def served(campaign: Campaign, **options: Any) -> Iterator[Server]:
    """A server that ends with the block."""
    server = Server(campaign, port=0, **options)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(30)
        assert not thread.is_alive()


def until(condition: Any, seconds: float = 60.0) -> Any:
    """What ``condition`` gives, once it is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
    return found
