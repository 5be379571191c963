"""The live page under load: pages open and writers at once. Counts what is lost, and watches time and memory.

    python benchmarks/live_page.py [--seconds 120] [--pages 20] [--writers 4]

Half of the writers enter results in the page, the others write to the database beside it, as the command line does.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psutil

import ridgeway as rw

PAUSE = 0.5  # seconds between two results of a writer
SAMPLE = 5.0  # seconds between two looks at the memory


class Guest:
    """A browser's half of the conversation."""

    def __init__(self, address: str) -> None:
        self.parts, self.cookie, self.word = urlsplit(address), "", ""
        with self.request("GET", f"/?{self.parts.query}") as answer:
            self.cookie = str(answer.headers["set-cookie"]).split(";")[0]
        self.word = json.load(self.request("GET", "/api/session"))["write"]

    def request(self, method: str, path: str, fields: Any = None) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(str(self.parts.hostname), self.parts.port or 0, timeout=120)
        headers = {"Cookie": self.cookie, "Origin": f"http://{self.parts.netloc}", "X-Ridgeway-Token": self.word}
        body = None if fields is None else json.dumps(fields)
        connection.request(method, path, body, {**headers, "Content-Type": "application/json"})
        return connection.getresponse()


class Load:
    """Pages and writers, and what they saw."""

    def __init__(self, address: str, place: Path, end: float, trials: int) -> None:
        self.address, self.place, self.end, self.trials = address, place, end, trials
        self.acknowledged: dict[int, tuple[float, float]] = {}  # value, and when
        self.seen: list[float] = []  # seconds from an acknowledgement to the sight of it in a page
        self.errors: list[str] = []
        self.last: dict[int, str] = {}  # the newest state of each page
        self.over = False

    def page(self, number: int) -> None:
        """Read events, and the state whenever it is new, as the page's script does."""
        guest, known = Guest(self.address), set[int]()
        for line in guest.request("GET", "/api/events"):
            if not line.startswith(b"data: "):
                continue
            version = json.loads(line[6:])["sheets"].get("state")
            if version is None or version == self.last.get(number):
                continue
            answer = guest.request("GET", "/api/state")
            self.last[number] = str(answer.headers["x-version"])
            now, told = time.monotonic(), {row["trial"] for row in json.load(answer)["results"]}
            fresh = [self.acknowledged[n][1] for n in told - known if n in self.acknowledged]
            self.seen += [max(0.0, now - at) for at in fresh]
            known |= told

    def write(self, first: int, step: int, through_page: bool) -> None:
        """Results one after the other, each with a value that names its trial."""
        guest, campaign = Guest(self.address), rw.Campaign.open(self.place)
        for number in range(first, self.trials + 1, step):
            if time.monotonic() > self.end:
                return
            value = number / 7.0
            if through_page:
                answer = guest.request("POST", "/api/tell", {"trial": number, "value": value, "sure": True})
                if answer.status != 200:
                    self.errors.append(answer.read().decode())
                    continue
            else:
                campaign.tell(number, value)
            self.acknowledged[number] = (value, time.monotonic())
            time.sleep(PAUSE)


def measure(seconds: float, pages: int, writers: int) -> dict[str, Any]:
    """Run it, and say what was lost, how long news took, and how the memory went."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "c.sqlite"
        trials = int(writers * seconds / PAUSE) + writers
        inputs = [rw.Input(name, 0.0, 1.0) for name in "abc"]
        campaign = rw.Campaign.create(place, "load", inputs, embedding=rw.Linear(1), n_initial=10_000, inference="map")
        for _ in range(0, trials, 1000):
            campaign.ask(1000)
        command = [sys.executable, "-m", "ridgeway.cli", "serve", "-c", str(place), "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            address = [server.stdout.readline(), server.stdout.readline()][1].strip()
            load = Load(address, place, time.monotonic() + seconds, trials)
            readers = [threading.Thread(target=load.page, args=(i,), daemon=True) for i in range(pages)]
            busy = [threading.Thread(target=load.write, args=(i + 1, writers, i % 2 == 0)) for i in range(writers)]
            for thread in (*readers, *busy):
                thread.start()
            memory = _memory(server.pid, busy)
            last = campaign.version().everything
            deadline = time.monotonic() + 30.0
            while any(load.last.get(i) != campaign.version().everything for i in range(pages)):
                if time.monotonic() > deadline:
                    break
                time.sleep(0.2)
            last = campaign.version().everything
            behind = sum(load.last.get(i) != last for i in range(pages))
            server.terminate()
        stored = {trial.id: trial.value for trial in campaign.all_trials() if trial.state == "told"}
        told = {number: value for number, (value, _) in load.acknowledged.items()}
        third = len(memory) // 3
        return {
            "results": len(told),
            "lost": len(told.items() - stored.items()),
            "unasked": len(stored.items() - told.items()),
            "errors": load.errors,
            "pages behind at the end": behind,
            "seconds to be seen (median, 99 %, most)": np.quantile(load.seen, [0.5, 0.99, 1.0]).round(2).tolist(),
            "memory of the server, MB": [round(m) for m in memory],
            "growth, second third to last, MB": round(
                float(np.mean(memory[-third:]) - np.mean(memory[third:-third])), 1
            ),
            "exit code": server.returncode,
        }


def _memory(pid: int, busy: list[threading.Thread]) -> list[float]:
    """Megabytes of a process, again and again, until the writers are done."""
    process, found = psutil.Process(pid), []
    while any(thread.is_alive() for thread in busy):
        found.append(process.memory_info().rss / 2**20)
        time.sleep(SAMPLE)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--writers", type=int, default=4)
    options = parser.parse_args()
    for name, value in measure(options.seconds, options.pages, options.writers).items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
