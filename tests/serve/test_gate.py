"""Who is let in: every way that is not the right one is refused, and changes nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")

from ridgeway.serve.gate import LARGEST, Doors, Keys
from ridgeway.serve.server import Server
from tests.serve.pages import Answer, Visitor

TELL = {"trial": 1, "value": 0.5}


def refused(answer: Answer, status: int) -> bool:
    """Refused with a sentence, and with the headers that every answer carries."""
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    return answer.status == status and len(answer.body) > 20


def test_the_token_opens_the_page_once_and_leaves_the_address(server: Server) -> None:
    visitor = Visitor(server)
    answer = visitor.enter()
    assert answer.status == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert visitor.token not in cookie  # who reads the cookie cannot make an address of it
    page = visitor.get("/")
    assert page.status == 200
    assert visitor.token.encode() not in page.body
    assert visitor.write.encode() not in page.body


@pytest.mark.parametrize(
    "path", ["/", "/?token=", "/?token=wrong", "/?token=%C3%A9", "/api/state", "/static/plotly.js"]
)
def test_without_the_token_nothing_is_shown(server: Server, path: str) -> None:
    visitor = Visitor(server)
    assert refused(visitor.get(path), 401)
    assert refused(visitor.get(path, Cookie=f"ridgeway_{server.port}=wrong"), 401)
    assert refused(visitor.get(path, Cookie=f"ridgeway_{server.port}={visitor.token}"), 401)


def test_the_token_does_not_open_other_addresses(server: Server) -> None:
    visitor = Visitor(server)
    assert refused(visitor.get(f"/api/state?token={visitor.token}"), 401)
    assert refused(visitor.request("HEAD", f"/?token={visitor.token}", None, {}), 401) is False  # HEAD has no body
    assert visitor.request("HEAD", f"/?token={visitor.token}", None, {}).status == 401


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}",
     "localhost.:{port}", "user@127.0.0.1:{port}", "127.0.0.1:{port}/x", "[::1", "10.0.0.1:{port}", "0.0.0.0:{port}"],
)  # fmt: skip
def test_another_name_for_this_machine_is_refused(visitor: Visitor, host: str) -> None:
    """A name that somebody points at 127.0.0.1 makes a browser take our page for theirs."""
    name = host.format(port=visitor.port)
    assert refused(visitor.get("/api/state", Host=name), 421)
    assert refused(visitor.get(f"/?token={visitor.token}", Host=name), 421)
    answer = visitor.post("tell", TELL, Host=name, Origin=f"http://{name}")
    assert refused(answer, 421)


def test_own_names_are_taken(visitor: Visitor) -> None:
    for name in (f"127.0.0.1:{visitor.port}", f"localhost:{visitor.port}", f"[::1]:{visitor.port}"):
        assert visitor.get("/api/state", Host=name).status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1", None]
)
def test_changes_come_from_our_own_page(visitor: Visitor, origin: str | None) -> None:
    origin = None if origin is None else origin.format(port=visitor.port)
    assert refused(visitor.post("tell", TELL, Origin=origin), 403)
    if origin is not None:
        assert refused(visitor.get("/api/state", Origin=origin), 403)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_pages_load_nothing(visitor: Visitor, site: str) -> None:
    for path in ("/api/state", "/api/session", "/static/live.js", "/export/trials.csv"):
        assert refused(visitor.get(path, Sec_Fetch_Site=site), 403)


@pytest.mark.parametrize("word", ["", "wrong", None])
def test_changes_carry_the_word_of_the_page(visitor: Visitor, word: str | None) -> None:
    assert refused(visitor.post("tell", TELL, X_Ridgeway_Token=word), 403)
    assert refused(visitor.post("tell", TELL, X_Ridgeway_Token=visitor.token), 403)


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "", None]
)
def test_a_form_of_another_page_changes_nothing(visitor: Visitor, kind: str | None) -> None:
    """A form is sent with the cookie of its target, but never as JSON and with a header of its own."""
    assert refused(visitor.post("tell", body=b"trial=1&value=3", Content_Type=kind), 415)
    form = visitor.post("tell", body=b"trial=1", Content_Type=kind, X_Ridgeway_Token=None, Origin="http://evil.example")
    assert refused(form, 403)


@pytest.mark.parametrize(
    "path",
    ["/static/../gate.py", "/static/..%2f..%2fcli%2frun.py", "/static/%2e%2e/gate.py", "/static//etc/passwd",
     "/static/live.js%00", "/../../etc/passwd", "/export/..%2ftrials.csv", "/export/../c.sqlite",
     "/api/../static/live.js", "/static/live.html", "/%2e%2e/%2e%2e/etc/passwd"],
)  # fmt: skip
def test_no_other_file_can_be_asked_for(visitor: Visitor, path: str) -> None:
    answer = visitor.get(path)
    assert answer.status in (404, 200)
    if answer.status == 200:  # an address that names one of our sheets: there is nothing on it
        assert answer.body == b"null"
    assert b"root:" not in answer.body


def test_large_bodies_are_not_read(visitor: Visitor) -> None:
    assert refused(visitor.post("tell", body=b"x" * 10_000_000), 413)
    assert refused(visitor.post("tell", body=b"x" * (LARGEST + 1)), 413)
    pieces = b"%x\r\n%s\r\n0\r\n\r\n" % (2 * LARGEST, b"x" * 2 * LARGEST)
    assert refused(visitor.post("tell", body=pieces, Content_Length=None, Transfer_Encoding="chunked"), 413)
    assert visitor.post("tell", {"trial": 1, "note": "x" * 1000}).status == 409  # which is read, and has no value


def test_nothing_of_all_that_was_recorded(visitor: Visitor) -> None:
    state = visitor.get("/export/trials.csv").body.decode()
    assert len(re.findall(r"^\d+,asked,", state, re.MULTILINE)) == 30


def test_other_methods_are_refused(visitor: Visitor) -> None:
    own: dict[str, Any] = {"Origin": f"http://{visitor.host}", "X-Ridgeway-Token": visitor.write}
    own["Content-Type"] = "application/json"
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        assert visitor.request(method, "/api/tell", b"{}", own).status == 405
        assert visitor.request(method, "/api/tell", b"{}", {}).status == 403


def test_an_open_server_takes_numbers_and_no_unknown_names() -> None:
    doors = Doors(frozenset({"localhost", "lab.example"}), 80, numbers=True)
    assert doors.lead_here("192.168.1.7")
    assert doors.lead_here("lab.example:80")
    assert doors.lead_here("[fe80::1]:80")
    assert not doors.lead_here("evil.example")
    assert not doors.lead_here("192.168.1.7:8080")


def test_keys_differ_and_do_not_show_themselves() -> None:
    keys = Keys()
    assert len({keys.token, keys.cookie, keys.write, Keys().token}) == 4
    assert keys.token not in repr(keys)
    assert len(keys.token) >= 43
