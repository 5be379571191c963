"""A whole server: results, changes, several at once, the CLI beside it, and its end."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlsplit

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")

import ridgeway as rw
from ridgeway import Campaign, CampaignError
from ridgeway.serve.server import Server
from tests import campaign_workers as workers
from tests.serve.pages import Visitor, served, until


def rows(visitor: Visitor) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(visitor.get("/export/trials.csv").body.decode("utf-8-sig"))))


def test_results_failures_and_undo(campaign: Campaign) -> None:
    with served(campaign) as server:
        visitor = Visitor(server)
        visitor.enter()
        assert visitor.get("/export/log.csv").body.decode("utf-8-sig").startswith("at,by,what,why")
        told = visitor.post(
            "tell", {"trial": 1, "value": " 0.5 ", "sigma": "0.1", "note": "warm", "person": "Ann\x1b B"}
        )
        assert told.json["message"] == "Trial 1: 0.5 is recorded."
        assert visitor.post("fail", {"trial": 2, "reason": "it broke"}).status == 200
        assert visitor.post("abandon", {"trial": 3}).status == 200
        found = rows(visitor)
        assert [row["state"] for row in found] == ["told", "failed", "abandoned", "asked"]
        assert (found[0]["value"], found[0]["sigma"], found[0]["note"]) == ("0.5", "0.1", "warm")
        assert found[0]["settled by"].startswith("Ann B via ")
        assert visitor.post("correct", {"trial": 1, "value": 0.6, "reason": "misread"}).json["undo"]["value"] == 0.5
        for number in (1, 2, 3):
            undo = visitor.post("reopen", {"trial": number, "reason": "wrong line"})
            assert undo.json["message"] == f"Trial {number} is pending again."
        assert [row["state"] for row in rows(visitor)] == ["asked"] * 4
        assert "value 0.6 taken back" in rows(visitor)[0]["corrections"]


def test_what_is_wrong_is_said(visitor: Visitor) -> None:
    for fields, words in [
        ({"trial": 1, "value": "1,5"}, "with a point"),
        ({"trial": 1, "value": ""}, "is empty"),
        ({"trial": 1, "value": "nan"}, "finite"),
        ({"trial": 99, "value": 1}, "there is no trial 99"),
        ({"trial": True, "value": 1}, "whole number"),
        ({"trial": 10**400, "value": 1}, "there is no trial"),
        ([], "object"),
    ]:
        answer = visitor.post("tell", fields)
        assert (answer.status, words in answer.json["error"]) == (409, True), answer.json
    assert visitor.post("tell", body=b"{").json["error"] == "a change must be JSON"
    assert visitor.post("tell", body=b"[" * 60_000).status == 409
    assert visitor.post("nonsense", {}).status == 404
    assert visitor.post("correct", {"trial": 1, "value": 1}).status == 409
    assert visitor.post("ask", {"n": 101}).status == 409


def test_a_page_for_reading_takes_nothing(campaign: Campaign) -> None:
    with served(campaign, read_only=True) as server:
        visitor = Visitor(server)
        visitor.enter()
        assert visitor.write == ""
        assert visitor.post("tell", {"trial": 1, "value": 1}).status == 403
        assert visitor.post("ask", {"n": 1}).status == 403
        assert {row["state"] for row in rows(visitor)} == {"asked"}


def test_script_in_names_and_notes_stays_text(tmp_path: Path) -> None:
    script = "<script>alert(1)</script>"

    made = rw.Campaign.create(tmp_path / "c.sqlite", script, [rw.Input(f"x{script}", 0, 1)], output=script, n_initial=9)
    made.tell(made.ask(), 1.0, notes={script: '"; =cmd()'})
    with served(made) as server:
        visitor = Visitor(server)
        visitor.enter()
        stream = reader(visitor)
        until(lambda: visitor.get("/api/state").body != b"null")
        state = visitor.get("/api/state")
        assert state.headers["content-type"] == "application/json"
        assert state.json["name"] == script
        assert state.json["results"][0]["notes"] == f'{script}: "; =cmd()'
        assert script.encode() not in visitor.get("/").body
        stream.close()


def reader(visitor: Visitor) -> socket.socket:
    """A page that is open: the server looks at the database as long as there is one."""
    stream = socket.create_connection(("127.0.0.1", visitor.port), timeout=60)
    stream.sendall(f"GET /api/events HTTP/1.1\r\nHost: {visitor.host}\r\nCookie: {visitor.cookie}\r\n\r\n".encode())
    return stream


def overviews(stream: socket.socket) -> Any:
    for line in stream.makefile("r", encoding="utf-8"):
        if line.startswith("data: "):
            yield json.loads(line[6:])


@pytest.mark.slow
def test_pages_hear_of_what_others_do(campaign: Campaign) -> None:
    """Also of what is done by another program, such as the command line."""
    with served(campaign) as server:
        visitor = Visitor(server)
        visitor.enter()
        with reader(visitor) as stream:
            heard = overviews(stream)
            first = next(item for item in heard if "state" in item["sheets"])
            began = time.monotonic()
            Campaign.open(campaign.where).tell(1, 0.25)
            next(item for item in heard if item["sheets"]["state"] != first["sheets"]["state"])
            assert time.monotonic() - began < 10.0  # on a busy machine; half a second on a quiet one
            assert visitor.get("/api/state").json["results"][0]["value"] == "0.25"
            campaign.close()
            Path(campaign.where).rename(Path(campaign.where).with_suffix(".away"))
            gone = next(item for item in heard if "database" in item["notices"])
            assert "there is no campaign" in gone["notices"]["database"] or "opened" in gone["notices"]["database"]
            Path(campaign.where).with_suffix(".away").rename(campaign.where)
            next(item for item in heard if "database" not in item["notices"])


@pytest.mark.slow
def test_pages_and_writers_at_once(tmp_path: Path) -> None:
    """Several pages open, and writers in the page and beside it: every result that was acknowledged is there."""
    made = workers.create(tmp_path / "c.sqlite", n_initial=1000)
    made.ask(400)
    with served(made) as server:
        visitor = Visitor(server)
        visitor.enter()
        streams = [reader(visitor) for _ in range(20)]
        acknowledged: dict[int, float] = {}
        wrong: list[Any] = []
        end = time.monotonic() + 5.0

        def write(first: int, through_page: bool) -> None:
            own, mine = Visitor(server), Campaign.open(made.where)
            own.enter()
            for number in range(first, 401, 4):
                if time.monotonic() > end:
                    return
                if through_page:
                    answer = own.post("tell", {"trial": number, "value": number / 7})
                    if answer.status != 200:
                        wrong.append(answer)
                        return
                else:
                    mine.tell(number, number / 7)
                acknowledged[number] = number / 7

        writers = [threading.Thread(target=write, args=(i, i <= 2)) for i in (1, 2, 3, 4)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert wrong == []
        assert len(acknowledged) > 8
        stored = {trial.id: trial.value for trial in made.all_trials() if trial.state == "told"}
        assert stored == acknowledged
        last = made.version().everything
        for stream in streams:  # each comes to the last state, however many it missed
            assert any(item["sheets"].get("state") == last for item in overviews(stream))
            stream.close()


def test_a_port_that_is_taken_is_named(campaign: Campaign) -> None:
    with served(campaign) as server, pytest.raises(CampaignError, match=f"port {server.port} is taken"):
        Server(campaign, port=server.port)
    with pytest.raises(CampaignError, match="no address of this machine"):
        Server(campaign, host="no.such.host.invalid")


@pytest.mark.slow
def test_an_open_server_says_so(campaign: Campaign) -> None:
    with served(campaign, host="0.0.0.0") as server:
        assert server.is_open
        assert len(server.addresses) >= 2
        assert all("?token=" in address for address in server.addresses)
        visitor = Visitor(server)
        assert visitor.get("/").status == 401  # the token is needed all the same
        assert visitor.enter().status == 303
        assert visitor.get("/api/session", Host=f"evil.example:{server.port}").status == 421
    with served(campaign) as server:
        assert not server.is_open


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_everything_quietly(campaign: Campaign, number: signal.Signals) -> None:
    # A shell's background job, which these tests may be, begins with SIGINT ignored.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{heard}; from ridgeway.cli import main; main()"
    command = [sys.executable, "-c", program, "serve", "-c", campaign.where, "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_environment()
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "Campaign 'work' is at\n"
            address = process.stdout.readline().strip()
            with _open_page(address) as stream:
                process.send_signal(number)
                out, err = process.communicate(timeout=60)
                assert stream.read().endswith("0\n\n")  # the page was told that this is the end
        finally:
            process.kill()
    assert process.returncode == 0
    assert err == "Ctrl-C ends it.\nStopped.\n"
    assert out == ""  # the token stands in the address alone


def _open_page(address: str) -> TextIO:
    """The events of a page at an address with its token, once the first has come."""
    parts = urlsplit(address)
    stream = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=60)
    text = stream.makefile("rw", encoding="utf-8")
    stream.close()
    cookie = ""
    for path in (f"/?{parts.query}", "/api/events"):
        text.write(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nCookie: {cookie}\r\n\r\n")
        text.flush()
        for line in text:
            cookie = line.split(": ")[1].split(";")[0] if line.startswith("set-cookie") else cookie
            if not line.strip():
                break
    assert "retry" in text.readline() + text.readline()
    return text


def _environment() -> dict[str, str]:
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
