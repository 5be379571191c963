"""``make demo``: learn two directions of a function of twenty inputs, and show how well.

Run with ``python -m ridgeway.demo``.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

import ridgeway as rw
from ridgeway.inference import Progress
from ridgeway.testfunctions import from_model, subspace_angles


def main(arguments: list[str] | None = None) -> int:
    """Draw a function, fit it, and print what was learned; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m ridgeway.demo", description=__doc__)
    parser.add_argument("--inputs", type=int, default=20, help="number of inputs (default 20)")
    parser.add_argument("--dimensions", type=int, default=2, help="directions that matter (default 2)")
    parser.add_argument("--observations", type=int, default=100, help="observations to learn from (default 100)")
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

    f = from_model(options.inputs, options.dimensions, random_state=options.seed)
    rng = np.random.default_rng(options.seed)
    X, X_test = f.sample(options.observations, rng), f.sample(1000, rng)
    y = f(X) + options.noise * rng.standard_normal(len(X))

    print(f"A function of {options.inputs} inputs that varies along {options.dimensions} directions only,")
    print(f"seen at {options.observations} random points with noise {options.noise:g}. Learning ...", flush=True)
    started = time.process_time()
    belief = rw.fit(X, y, rw.Linear(options.dimensions), bounds=(f.lower, f.upper), progress=_progress())
    seconds = time.process_time() - started
    _clear()

    truth = f(X_test)
    prediction = belief.predict(X_test)
    error = np.sqrt(np.mean((prediction.mean - truth) ** 2))
    inside = np.mean(np.abs(truth - prediction.mean) < 1.96 * prediction.std)
    assert f.embedding is not None
    angles = np.rad2deg(subspace_angles(belief.embedding, f.embedding))
    best = int(np.argmax(belief.bald(X_test)))

    print()
    print(belief.summary())
    print()
    print(f"At 1,000 new points ({seconds:.1f} CPU seconds of fitting):")
    print(f"  error of the mean           {error:.3f}   (the function varies by {truth.std():.3f})")
    print(f"  truth inside 95 % interval  {100 * inside:.0f} %")
    print(f"  angles to the true subspace {', '.join(f'{a:.1f}°' for a in angles)}")
    print(
        f"  the most telling of them would give {belief.bald(X_test[best : best + 1])[0]:.2f} nats about the embedding"
    )
    return 0


def _progress() -> Progress | None:
    if not sys.stderr.isatty():
        return None
    return lambda message: print(f"\r\033[K  {message}", end="", file=sys.stderr, flush=True)


def _clear() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
