"""``make demo``: learn two directions of a function of twenty inputs by experiments of its own choice.

Run with ``python -m ridgeway.cli.demo``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import ridgeway as rw
from ridgeway.testfunctions import TestFunction, from_model, subspace_angles
from ridgeway.types import Array


def main(arguments: list[str] | None = None) -> int:
    """Draw a function, learn it actively and at random, and print what was learned; returns the exit code."""
    options = _options(arguments)
    f = from_model(options.inputs, options.dimensions, random_state=options.seed)
    X_test = f.sample(1000, 12345)
    print(f"A function of {options.inputs} inputs that varies along {options.dimensions} directions only,")
    print(f"to be learned from {options.observations} experiments with noise {options.noise:g}.", flush=True)
    box, embedding = rw.Box(f.lower, f.upper), rw.Linear(options.dimensions)
    learned = {}
    for acquisition in ("information", "random"):
        how = "chosen to teach most" if acquisition == "information" else "at random"
        print(f"Learning from experiments {how} ...", flush=True)
        started = time.process_time()
        learner = rw.learn(
            _experiment(f, options.noise, options.seed),  # each campaign meets the same noise
            box,
            options.observations,
            embedding=embedding,
            acquisition=acquisition,
            random_state=options.seed,
        )
        learned[acquisition] = _verdict(learner.belief, f, X_test, time.process_time() - started)
        if acquisition == "information":
            print(f"\n{learner.belief.summary()}\n")
    _compare(learned["information"], learned["random"], float(np.std(f(X_test))))
    return 0


def _experiment(f: TestFunction, noise: float, seed: int) -> Callable[[Array], float]:
    """``f`` at one point, observed with noise."""
    rng = np.random.default_rng(seed)
    return lambda x: float(f(x[None])[0] + noise * rng.standard_normal())


class _Verdict(NamedTuple):
    error: float
    inside: float
    angles: Array
    seconds: float


def _verdict(belief: rw.Belief, f: TestFunction, X: Array, seconds: float) -> _Verdict:
    prediction, truth = belief.predict(X), f(X)
    inside = float(np.mean(np.abs(truth - prediction.mean) < 1.96 * prediction.std))
    assert f.embedding is not None
    angles = np.rad2deg(subspace_angles(belief.embedding[: belief.rank], f.embedding))
    return _Verdict(float(np.sqrt(np.mean((prediction.mean - truth) ** 2))), inside, angles, seconds)


def _compare(active: _Verdict, random: _Verdict, spread: float) -> None:
    print(f"At 1,000 new points, where the function varies by {spread:.2f}:")
    print(f"  {'':32}{'chosen':>12}{'random':>12}")
    rows = {
        "error of the mean": [f"{v.error:.3f}" for v in (active, random)],
        "truth inside the 95 % interval": [f"{100 * v.inside:.0f} %" for v in (active, random)],
        "angles to the true subspace": [", ".join(f"{a:.0f}°" for a in v.angles) for v in (active, random)],
        "CPU seconds": [f"{v.seconds:.0f}" for v in (active, random)],
    }
    for label, (left, right) in rows.items():
        print(f"  {label:32}{left:>12}{right:>12}")


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ridgeway.cli.demo", description=__doc__)
    parser.add_argument("--inputs", type=int, default=20, help="number of inputs (default 20)")
    parser.add_argument("--dimensions", type=int, default=2, help="directions that matter (default 2)")
    parser.add_argument("--observations", type=int, default=80, help="experiments to learn from (default 80)")
    parser.add_argument("--noise", type=float, default=0.1, help="standard deviation of the noise (default 0.1)")
    parser.add_argument("--seed", type=int, default=2, help="which function to draw (default 2)")
    options = parser.parse_args(arguments)
    if not 1 <= options.dimensions <= options.inputs:
        parser.error(f"--dimensions must be between 1 and --inputs ({options.inputs}), got {options.dimensions}")
    if not 0.0 <= options.noise < float("inf"):
        parser.error(f"--noise must be a finite number of at least 0, got {options.noise:g}")
    if options.seed < 0:
        parser.error(f"--seed must be at least 0, got {options.seed}")
    if options.observations < 2:
        parser.error(f"--observations must be at least 2, got {options.observations}")
    return options


if __name__ == "__main__":
    raise SystemExit(main())
