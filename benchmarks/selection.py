"""How good and how fast the choice of experiments is.

    python benchmarks/selection.py [steps] [box] [batch] [curves] [campaigns] [--jobs 2] [--write docs/selection.md]

``steps`` is timed alone, on one core; the others run ``--jobs`` at a time.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed

import ridgeway as rw
from accuracy import carried_scores
from ridgeway.active import acquisition as acquisitions
from ridgeway.active import maximize
from ridgeway.active.pool_coordinates import PoolView
from ridgeway.experiments.protocol import NOISE, pool
from ridgeway.experiments.scores import largest_angle, nlpd, quiet_fit, rmse
from ridgeway.testfunctions import from_model

CASES = 20
DRAWS = 5
MARKS = range(40, 101, 10)
BOX_METHODS = ("information", "random", "latin-hypercube")
BOX_DRAWS, BOX_BUDGET = 10, 80
METHODS = ("bald", "information", "uncertainty", "random", "latin-hypercube")


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
    free = np.ones(len(candidates), dtype=bool)
    view = PoolView(candidates)
    batch = maximize.over_pool(view, outlook, acquisitions.information, 8, free)
    scores = maximize.pool_scores(view, outlook, acquisitions.information)
    best = candidates.rows(np.argsort(-scores)[:8])
    return outlook.given(batch.X).information, outlook.given(best).information


def batch_lines(run: Callable) -> Iterable[str]:
    rows = np.array(run(batch_case, [(seed,) for seed in range(CASES)]))
    at_least, more = np.sum(rows[:, 0] >= rows[:, 1] - 1e-9), np.sum(rows[:, 0] > rows[:, 1] + 1e-6)
    yield f"- at least the joint information of the 8 individually best points in {at_least} of {CASES} cases,"
    yield f"  more in {more}; on average {rows[:, 0].mean():.2f} nats against {rows[:, 1].mean():.2f}"


# -- campaigns --------------------------------------------------------------------------------------


def campaign(D: int, d: int, seed: int, method: str, marks: Iterable[int]) -> dict[int, tuple[float, ...]]:
    """Scores at each number of observations in ``marks`` under the paper's protocol, and CPU seconds."""
    f, points = from_model(D, d, random_state=seed), pool(D)
    noise = np.random.default_rng(10_000 + seed)
    box = rw.Box(-np.ones(D), np.ones(D))
    space = box if method == "latin-hypercube" else rw.Pool(points)
    n_initial = 100 if method == "latin-hypercube" else None
    learner = rw.ActiveLearner(space, rw.Linear(d), method, n_initial=n_initial, random_state=seed)
    marks, results, spent = set(marks), {}, 0.0
    for n in range(1, max(marks) + 1):
        started = time.process_time()
        x = learner.ask()
        spent += time.process_time() - started
        learner.tell(x, f(x[None])[0] + NOISE * noise.standard_normal())
        if n in marks:
            # A fit from nothing, as at the end of a campaign of this length; the campaign itself goes on as it was.
            belief = quiet_fit(learner.X, learner.y, rw.Linear(d), bounds=(-1, 1))
            results[n] = (*protocol(belief, f, points, seed), spent)
    return results


def protocol(belief: rw.Belief, f: rw.testfunctions.TestFunction, points: np.ndarray, seed: int) -> tuple[float, ...]:
    """RMSE of f and NLPD with the best mode plugged in, both with the belief's uncertainty, largest angle."""
    scores = carried_scores(belief, f, points, np.random.default_rng(20_000 + seed))[[0, 2, 3, 4]]
    return (*scores, largest_angle(belief, f.embedding))


def curve_table(run: Callable, D: int, d: int) -> Iterable[str]:
    jobs = [(D, d, seed, method, MARKS) for method in METHODS for seed in range(DRAWS)]
    found = run(campaign, jobs)
    results = {m: found[i * DRAWS : (i + 1) * DRAWS] for i, m in enumerate(METHODS)}
    yield f"RMSE of `f` with the best mode plugged in, mean over {DRAWS} draws (standard error at 100):"
    yield ""
    yield "| N | " + " | ".join(METHODS) + " |"
    yield "|---|" + "---|" * len(METHODS)
    for n in MARKS:
        cells = [np.array([draw[n][0] for draw in results[m]]) for m in METHODS]
        shown = [f"{c.mean():.3f}" + (f" ± {c.std(ddof=1) / np.sqrt(DRAWS):.3f}" if n == 100 else "") for c in cells]
        yield f"| {n} | " + " | ".join(shown) + " |"
    yield ""
    yield "| at 100 | " + " | ".join(METHODS) + " |"
    yield "|---|" + "---|" * len(METHODS)
    for label, k in (
        ("plugged in: NLPD", 1), ("belief: RMSE", 2), ("belief: NLPD", 3), ("largest angle, degrees", 4), ("CPU s", 5)
    ):  # fmt: skip
        cells = [np.mean([draw[100][k] for draw in results[m]]) for m in METHODS]
        yield f"| {label} | " + " | ".join(f"{c:.3f}" if k < 4 else f"{c:.1f}" for c in cells) + " |"
    level = np.mean([draw[100][0] for draw in results["random"]])
    yield ""
    for method in ("bald", "information", "uncertainty"):
        means = {n: np.mean([draw[n][0] for draw in results[method]]) for n in MARKS}
        reached = next((n for n in MARKS if means[n] <= level), None)
        text = f"{reached}" if reached else "more than 100"
        yield f"- `{method}` needs {text} evaluations for the {level:.3f} that 100 random ones reach"


def box_campaign(seed: int, method: str) -> tuple[float, float, float, float]:
    """80 experiments of ``rw.learn`` in a box of 20 inputs: RMSE, NLPD and largest angle at the end, CPU seconds."""
    f, noise = from_model(20, 2, random_state=seed), np.random.default_rng(seed)
    X, started = f.sample(1000, 12345), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.RidgewayWarning)
        learner = rw.learn(
            lambda x: float(f(x[None])[0] + NOISE * noise.standard_normal()),
            rw.Box(f.lower, f.upper),
            BOX_BUDGET,
            embedding=rw.Linear(2),
            acquisition=method,
            random_state=seed,
        )
        belief = learner.belief
    prediction, truth = belief.predict(X), f(X)
    y = truth + NOISE * np.random.default_rng([seed, 1]).standard_normal(1000)
    return (
        rmse(prediction.mean, truth),
        nlpd(prediction.mean, prediction.variance + belief.noise_variance, y),
        largest_angle(belief, f.embedding),
        time.process_time() - started,
    )


def box_campaign_table(run: Callable) -> Iterable[str]:
    yield "| | RMSE, mean | median | NLPD, mean | median | largest angle, median | beats random | CPU s |"
    yield "|---|---|---|---|---|---|---|---|"
    jobs = [(seed, method) for method in BOX_METHODS for seed in range(1, 1 + BOX_DRAWS)]
    found = np.array(run(box_campaign, jobs)).reshape(len(BOX_METHODS), BOX_DRAWS, 4)
    random = found[BOX_METHODS.index("random"), :, 0]
    for method, (error, density, angle, seconds) in zip(BOX_METHODS, found.transpose(0, 2, 1), strict=True):
        spread = error.std(ddof=1) / np.sqrt(BOX_DRAWS)
        wins = "" if method == "random" else f"{np.sum(error < random)} of {BOX_DRAWS}"
        yield (
            f"| {method} | {error.mean():.3f} ± {spread:.3f} | {np.median(error):.3f} | {density.mean():.3f} | "
            f"{np.median(density):.3f} | {np.median(angle):.0f}° | {wins} | {seconds.mean():.0f} |"
        )


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
    parser.add_argument("parts", nargs="*", help="steps, box, batch, curves, campaigns; all by default")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", type=Path, help="rewrite this Markdown page")
    options = parser.parse_args()
    parts = options.parts or ["steps", "box", "batch", "curves", "campaigns"]

    def run(function: Callable, jobs: list) -> list:
        return Parallel(n_jobs=options.jobs)(delayed(function)(*job) for job in jobs)

    lines = [INTRODUCTION.strip()]
    if "steps" in parts:
        lines += ["", "## A campaign's cost", "", *step_lines()]
    if "box" in parts:
        lines += ["", "## Search over a box", "", BOX_TEXT.strip(), "", *box_table(run)]
    if "batch" in parts:
        lines += ["", "## Batches", "", BATCH_TEXT.strip(), "", *batch_lines(run)]
    if "curves" in parts:
        lines += ["", "## What it teaches: D=20, d=2", "", CURVE_TEXT.strip(), "", *curve_table(run, 20, 2)]
    if "campaigns" in parts:
        lines += ["", "## Campaigns in a box", "", CAMPAIGN_TEXT.strip(), "", *box_campaign_table(run)]
    page = "\n".join(lines) + "\n"
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
Draws from the paper's model, its pool of 20,000 (a Latin hypercube uses the box), noise 0.1. The test protocol is
the paper's: the hyperparameters at N observations are carried over to 100 fresh points and scored on 1,000, ten
times. At each N the belief is a cold fit to the observations so far. The paper has 0.464 / 0.470 with BALD and
0.578 / 0.804 with random points here. `bald` is the paper's utility, the information in the value of the
function. `information`, our default, is that in a noisy observation.

The active methods fill the space with their first 8 points and with every other one after; how they do so was
chosen while looking at these draws. Half of the pool lies in the unit ball, where the function varies little, so
a Latin hypercube of the box sees more of it than random points of the pool do.
"""
CAMPAIGN_TEXT = """
`rw.learn` as a user calls it: ten draws from the model in a box of 20 inputs, d=2, noise 0.1, 80 experiments. The
belief at the end is scored at 1,000 random points of the box. One default was chosen on these draws: where every
fifth experiment fills the space instead of every other one, `information` has 0.242 ± 0.047 and a negative log
density of 0.217, because one of the ten campaigns ends certain of wrong directions. With four experiments per
input a Latin hypercube is hard to beat: choosing pays where the directions are known well enough to choose by.
"""

if __name__ == "__main__":
    main()
