"""Processes that work on a campaign, for tests and benchmarks: killed, or many at once."""

from __future__ import annotations

import math
import multiprocessing
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ridgeway import Campaign, Input, Linear

#: Children are forked from a process that has everything imported: a start takes milliseconds.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__, "ridgeway.campaign.replay"])

INPUTS = [Input("a", 0.0, 1.0), Input("b", 0.01, 10.0, log=True)]


def experiment(inputs: dict[str, float]) -> float:
    return math.sin(3.0 * inputs["a"] + math.log10(inputs["b"]))


def create(where: Any, **options: Any) -> Campaign:
    settings = {"embedding": Linear(1), "n_initial": 3, "random_state": 5} | options
    return Campaign.create(where, "work", INPUTS, **settings)


def work(where: str, rounds: int, acknowledged: str) -> None:
    """Finish pending trials, then ask and tell until there are so many outcomes; write down what was acknowledged."""
    campaign = Campaign.open(where)
    with open(acknowledged, "a") as log:
        while True:
            trials = campaign.all_trials()
            out = [trial for trial in trials if trial.state == "asked"]
            if not out and len(trials) >= rounds:
                return
            trial = out[0] if out else campaign.ask()
            print(f"asked {trial.id} {trial.x.tobytes().hex()}", file=log, flush=True)
            value = experiment(trial.inputs)
            for name in trial.awaited:
                campaign.tell(trial.id, {name: value})
                print(f"told {trial.id} {value.hex()} {name}", file=log, flush=True)


def work_until_killed(where: str, rounds: int, log: Path, seed: int, longest: float) -> int:
    """Start workers and kill each at a random moment until all rounds are done; returns how many were killed.

    Each lives for a random time of at most ``longest`` seconds, twice as long after one that achieved nothing:
    on a slow machine a fit must be able to end.
    """
    rng, kills, patience, achieved = random.Random(seed), 0, longest, 0
    while True:
        size = log.stat().st_size if log.exists() else 0
        patience, achieved = (longest if size > achieved else 2.0 * patience), size
        process = PROCESSES.Process(target=work, args=(where, rounds, str(log)))
        process.start()
        process.join(rng.uniform(0.0, patience))
        if not process.is_alive():
            assert process.exitcode == 0
            return kills
        process.kill()
        process.join()
        kills += 1


def share(where: str, many: int, told: Any, start: Any) -> None:
    """Ask and tell ``many`` times, beginning with the others; report the numbers, or what went wrong."""
    try:
        campaign = Campaign.open(where)
        start.wait(120)
        mine = []
        for _ in range(many):
            trial = campaign.ask()
            campaign.tell(trial, experiment(trial.inputs))
            mine.append((trial.id, trial.x.tobytes()))
        told.put((os.getpid(), mine, None))
    except Exception as error:
        told.put((os.getpid(), [], repr(error)))


def share_out(where: str, processes: int, many: int, target: Callable[..., None] = share) -> tuple[list[Any], float]:
    """So many processes at once, each with ``many`` trials; what each of them got, and the seconds it took."""
    told, start = PROCESSES.Queue(), PROCESSES.Event()
    workers = [PROCESSES.Process(target=target, args=(where, many, told, start)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    began = time.monotonic()
    start.set()
    got = [told.get(timeout=600) for _ in workers]
    for worker in workers:
        worker.join()
    return got, time.monotonic() - began


def begin(where: str, _: int, told: Any, start: Any) -> None:
    """Create the campaign, at the same moment as the others; report what went wrong."""
    start.wait(120)
    try:
        create(where)
        told.put((os.getpid(), [], None))
    except Exception as error:
        told.put((os.getpid(), [], repr(error)))
