"""How good and how fast the choice of experiments is.

    python benchmarks/selection.py [steps] [box] [batch] [curves] [limits] [--jobs 2] [--write docs/selection.md]
        [--results FILE]

``steps`` is timed alone, on one core; the others run ``--jobs`` at a time. With ``--results`` each learning curve is
kept in that file as soon as it is measured, and those that are there are not measured again.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed

import curves
import design_limits
import results
import ridgeway as rw
from ridgeway.active import acquisition as acquisitions
from ridgeway.active import maximize
from ridgeway.active.pool_coordinates import PoolView
from ridgeway.experiments.protocol import NOISE, pool
from ridgeway.experiments.scores import quiet_fit
from ridgeway.testfunctions import from_model

CASES = 20


def belief_of(D: int, n: int, seed: int) -> rw.Belief:
    """A belief about a draw from the model with two directions, from ``n`` random points."""
    f = from_model(D, 2, random_state=seed)
    rng = np.random.default_rng(seed)
    X = f.sample(n, rng)
    return quiet_fit(X, f(X) + NOISE * rng.standard_normal(n), rw.Linear(2), bounds=(-1, 1), n_starts=20)


# -- search over a box ----------------------------------------------------------------------------


def box_case(D: int, seed: int) -> tuple[float, float, float, float]:
    """Best score of 20,000 random points and of the search; CPU seconds of scoring 60,000 and of it."""
    outlook = acquisitions.outlook_of(belief_of(D, 60, seed))
    box = rw.Box(-np.ones(D), np.ones(D))
    rng = np.random.default_rng(1000 + seed)
    points = box.uniform(60_000, rng)
    started = time.process_time()
    scores = acquisitions.score(acquisitions.bald, outlook, points)
    scoring = time.process_time() - started
    started = time.process_time()
    found = maximize.over_box(box, outlook, acquisitions.bald, 1, rng)
    return float(scores[:20_000].max()), float(found.scores[0]), scoring, time.process_time() - started


def box_table(run: Callable) -> Iterable[str]:
    yield "| D | as good as the best of 20,000 | random: nats | search: nats | CPU / scoring 60,000, mean | max |"
    yield "|---|---|---|---|---|---|"
    for D in (20, 100, 300):
        rows = np.array(run(box_case, [(D, seed) for seed in range(CASES)]))
        wins = int(np.sum(rows[:, 1] >= rows[:, 0] - 1e-9))
        ratio = rows[:, 3] / rows[:, 2]
        yield (
            f"| {D} | {wins} of {CASES} | {rows[:, 0].mean():.2f} | {rows[:, 1].mean():.2f} "
            f"| {ratio.mean():.2f} | {ratio.max():.2f} |"
        )


# -- batches --------------------------------------------------------------------------------------


def batch_case(seed: int) -> tuple[float, float]:
    """Joint information of a batch of 8 from a pool, and of the 8 individually best points."""
    belief = belief_of(20, 60, seed)
    outlook = acquisitions.outlook_of(belief)
    candidates = rw.Pool(pool(20))
    view = PoolView(candidates)
    batch = maximize.over_pool(view, outlook, acquisitions.information, 8, np.zeros((0, candidates.D)))
    scores = maximize.pool_scores(view, outlook, acquisitions.information)
    best = candidates.rows(np.argsort(-scores)[:8])
    return outlook.given(batch.X).information, outlook.given(best).information


def batch_lines(run: Callable) -> Iterable[str]:
    rows = np.array(run(batch_case, [(seed,) for seed in range(CASES)]))
    at_least, more = np.sum(rows[:, 0] >= rows[:, 1] - 1e-9), np.sum(rows[:, 0] > rows[:, 1] + 1e-6)
    yield f"- at least the joint information of the 8 individually best points in {at_least} of {CASES} cases,"
    yield f"  more in {more}; on average {rows[:, 0].mean():.2f} nats against {rows[:, 1].mean():.2f}"


# -- campaigns --------------------------------------------------------------------------------------


def step_lines() -> Iterable[str]:
    """100 steps on a pool of 20,000 at D=10, d=2, in CPU seconds; one draw after another."""
    f, points = from_model(10, 2, random_state=0), pool(10)
    noise = np.random.default_rng(0)
    learner = rw.ActiveLearner(rw.Pool(points), rw.Linear(2), "bald", random_state=0)
    seconds = []
    for _ in range(105):
        started = time.process_time()
        x = learner.ask()
        learner.tell(x, f(x[None])[0] + NOISE * noise.standard_normal())
        _ = learner.belief
        seconds.append(time.process_time() - started)
    steps = np.array(seconds)
    around = {n: float(np.median(steps[n - 5 : n + 5])) for n in (50, 100)}
    yield f"- 100 steps on a pool of 20,000 at D=10, d=2: {steps[:100].sum():.1f} CPU seconds"
    ratio = around[100] / around[50]
    yield f"- a step at N=50: {around[50]:.2f} s, at N=100: {around[100]:.2f} s (medians of ten), {ratio:.1f} times"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="steps, box, batch, curves, limits; all by default")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, help="keep each curve in this file, and use those that are there")
    parser.add_argument("--write", type=Path, help="rewrite this Markdown page")
    options = parser.parse_args()
    parts = options.parts or ["steps", "box", "batch", "curves", "limits"]

    def run(function: Callable, jobs: list) -> list:
        return Parallel(n_jobs=options.jobs)(delayed(function)(*job) for job in jobs)

    def measure(function: Callable, jobs: list) -> list:
        return results.measure(function, jobs, options.jobs, options.results)

    lines = [INTRODUCTION.strip()]
    if "steps" in parts:
        lines += ["", "## A campaign's cost", "", *step_lines()]
    if "box" in parts:
        lines += ["", "## Search over a box", "", BOX_TEXT.strip(), "", *box_table(run)]
    if "batch" in parts:
        lines += ["", "## Batches", "", BATCH_TEXT.strip(), "", *batch_lines(run)]
    if "curves" in parts:
        lines += ["", "## What it teaches", "", CURVE_TEXT.strip(), "", *curves.tables(measure)]
    if "limits" in parts:
        lines += ["", "## What 60 experiments can hold", "", HELD_TEXT.strip(), "", *design_limits.held_table(measure)]
        lines += ["", EXPECTED_TEXT.strip(), "", *design_limits.expected_table(measure)]
    page = "\n".join(lines).rstrip() + "\n"
    print(page)
    if options.write:
        options.write.write_text(page)


INTRODUCTION = """
# Choosing experiments

How good and how fast the choice of experiments is, measured by `make select`
(`benchmarks/selection.py`). [The method](method.md) says how it works.
"""
BOX_TEXT = """
Twenty draws from the model for each D, 60 random observations, d=2. The BALD score of the point that the search
finds is compared with the best of 20,000 random points of the same box. The search may cost as much as scoring
60,000 points. Scores are in nats, the unit of information with natural logarithms (1 nat = 1.44 bits).
"""
BATCH_TEXT = """
Batches of 8 from the paper's pool of 20,000 at D=20, twenty draws, 60 observations each. Points are chosen
greedily by the joint information under the MGP's covariance.
"""
CURVE_TEXT = """
Ten draws from the model with 20 inputs and two directions, seeds that nothing was tuned on. The mean error at 1,000
random points of the box or the pool, relative to the function's spread, with its standard error. Chosen experiments
are asked for one at a time, as `rw.learn` does, and scored with the learner's own belief; designs are scored with a
fit of their own for each N. Every other experiment of a learner fills the space. Half of the paper's pool lies in the
unit ball, where the function varies little.
"""
HELD_TEXT = """
The error at the mode that a climb from the true embedding finds, relative to the function's spread: what a design
holds, whatever the search. Sixteen draws from the model with 20 inputs and two directions (the functions of tuning).
"""
EXPECTED_TEXT = """
A bound for every way to choose points: the error that is expected of the model made linear around the true embedding
and the function's slopes, with all scales known. A design can be optimised for it by gradients, all points together,
and then knows everything beforehand; on four functions it came to the same error from a Latin hypercube and from a
greedy design.
Sixteen further draws.
"""

if __name__ == "__main__":
    main()
