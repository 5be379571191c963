"""Constraints: do asked points satisfy them, and is the information found as large as that of many random points?

20 random polytopes of 3 to 30 inputs with up to 8 inequalities and 3 equations. In each, a function of two directions
is observed at a few points, and 500 points are asked for: by the model (information) and by designs, as a campaign
proposes them too, that is rounded. Then the same, with fewer points, in polytopes beside whose inputs are two on a
log scale and a category, one of each held in every second, and of which every third input moves in steps. Run with
``python benchmarks/constraints.py [polytopes] [points] [mixed polytopes] [points in them]``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import ridgeway as rw
from ridgeway.active import acquisition, maximize
from ridgeway.campaign.inputs import Category, Input, InputList
from ridgeway.spaces.linear_constraints import LinearConstraint

RANDOM = 20_000
RANDOM_MIXED = 2_000  # each of them has to be brought to the steps
STEP = 0.125
SEARCHES = 5  # of which the best information is compared
FEW = maximize.MaximizeSettings(sample=128, directions=16, climbs=2, evaluations=15)  # for the many points of a batch


@dataclass(frozen=True)
class Result:
    """What was found in one polytope."""

    D: int
    inequalities: int
    equations: int
    asked: int
    excess: float  # largest, of all asked points, relative to the size of a constraint's terms
    rounded: float  # the same after rounding as a campaign does it
    ratio: float  # of the information found to the best of the random points; smallest of the searches
    seconds: float  # of one search


def polytope(rng: np.random.Generator, D: int, inequalities: int, equations: int) -> rw.Box:
    """A random one around a random point of the box."""
    names = [f"x{j}" for j in range(D)]
    inside = rng.uniform(-0.5, 0.5, D)
    constraints = []
    for i in range(inequalities + equations):
        weights = rng.standard_normal(D) * (rng.random(D) < 0.7)
        weights[int(rng.integers(D))] = 1.0
        room = rng.uniform(0.05, 0.5) * np.linalg.norm(weights) if i < inequalities else 0.0
        terms = tuple((name, w) for name, w in zip(names, weights.tolist(), strict=True) if w)
        constraints.append(LinearConstraint(terms, "<=" if room else "=", float(weights @ inside + room)))
    return rw.Box(-np.ones(D), np.ones(D), names=names, constraints=constraints)


def excess(box: rw.Box, X: np.ndarray) -> float:
    """By how much points miss the constraints and the ends, at most."""
    ends = np.maximum(box.lower - X, X - box.upper).max()
    return max(float(ends), *(float(c.excess(X, box.called).max()) for c in box.constraints))


def searched(
    box: rw.Box, seed: int, rng: np.random.Generator, searches: int, random: int
) -> tuple[Any, list[np.ndarray], float, float]:
    """A belief about a function in a box, points found by searches, the least of their information, and seconds each.

    Information is relative to that of the best of so many random points.
    """
    W = rng.standard_normal((2, box.D)) / np.sqrt(box.D)
    X = box.filling(16, rng)
    y = np.sin(3 * X @ W[0]) + (X @ W[1]) ** 2
    belief = rw.fit(X, y, rw.Linear(2), bounds=box.bounds, effort="quick", random_state=seed)
    outlook = acquisition.outlook_of(belief, 0.0)
    began = time.perf_counter()
    found = [
        maximize.over_box(box, outlook, acquisition.information, 1, np.random.default_rng([seed, i]))
        for i in range(searches)
    ]
    seconds = (time.perf_counter() - began) / searches
    best = acquisition.score(acquisition.information, outlook, box.uniform(random, rng)).max()
    ratio = min(float(choice.scores[0]) for choice in found) / float(best)
    return outlook, [choice.X for choice in found], ratio, seconds


def one(seed: int, points: int, searches: int = SEARCHES) -> Result:
    """One polytope."""
    rng = np.random.default_rng(seed)
    D = int(np.round(np.geomspace(3, 30, 20)[seed % 20]))
    inequalities = int(rng.integers(1, 9))
    equations = int(rng.integers(0, min(4, D - 1)))
    box = polytope(rng, D, inequalities, equations)
    outlook, asked, ratio, seconds = searched(box, seed, rng, searches, RANDOM)
    while sum(map(len, asked)) < points // 2:  # batches by the model, with less effort each
        asked.append(maximize.over_box(box, outlook, acquisition.information, 5, rng, FEW).X)
    while sum(map(len, asked)) < points:
        asked += [box.filling(10, rng), box.uniform(10, rng), box.latin_hypercube(10, rng)]
    X = np.vstack(asked)[:points]
    proposed = InputList.of(box).proposals(X)
    return Result(D, inequalities, equations, len(X), excess(box, X), excess(box, proposed), ratio, seconds)


def mixed_inputs(rng: np.random.Generator, D: int, inequalities: int, equations: int, held: bool) -> InputList:
    """A random polytope of ``D`` inputs, every third in steps, beside two on a log scale and a category."""
    stepped = [j % 3 == 0 for j in range(D)]
    items: list[Input | Category] = [Input(f"x{j}", -1, 1, step=STEP if s else None) for j, s in enumerate(stepped)]
    items += [Input("p", 1e-3, 10, log=True), Input("q", 1, 1000, log=True), Category("s", ("red", "green", "blue"))]
    inside = np.where(stepped, STEP * rng.integers(-4, 5, D), rng.uniform(-0.5, 0.5, D))
    constraints = []
    for i in range(inequalities + equations):
        weights = rng.standard_normal(D) * (rng.random(D) < 0.7)
        weights[1] = 1.0
        if i >= inequalities:  # steps seldom add up to a number
            weights = np.where(stepped, 0.0, weights)
        room = rng.uniform(0.1, 0.5) * np.linalg.norm(weights) if i < inequalities else 0.0
        terms = tuple((f"x{j}", w) for j, w in enumerate(weights.tolist()) if w)
        constraints.append(LinearConstraint(terms, "<=" if room else "=", float(weights @ inside + room)))
    if held:
        constraints.append(LinearConstraint((("p", 1.0),), "=", 0.0123456789))
        constraints.append(LinearConstraint((("s=green", 1.0),), "=", 1.0))
    return InputList(tuple(items), tuple(constraints))


def mixed(seed: int, points: int, searches: int = 2) -> Result:
    """One polytope beside inputs on a log scale and a category; what is measured is what a campaign proposes."""
    rng = np.random.default_rng([seed, 1])
    D = (4, 6, 9, 12, 16, 20)[seed % 6]
    inequalities, equations = int(rng.integers(1, 6)), int(rng.integers(0, 3))
    inputs = mixed_inputs(rng, D, inequalities, equations, held=seed % 2 == 1)
    box = inputs.box
    outlook, asked, ratio, seconds = searched(box, seed, rng, searches, RANDOM_MIXED)
    while sum(map(len, asked)) < points:
        asked += [maximize.over_box(box, outlook, acquisition.information, 5, rng, FEW).X]
        asked += [box.filling(10, rng), box.uniform(10, rng)]
    values = inputs.proposals(np.vstack(asked)[:points])
    return Result(D, inequalities, equations, len(values), off(inputs, values), off(inputs, values), ratio, seconds)


def off(inputs: InputList, values: np.ndarray) -> float:
    """By how much proposals miss constraints, ends, steps and levels, at most."""
    worst = [float(c.excess(values, inputs.names).max()) for c in inputs.constraints]
    for j, item in enumerate(inputs.columns):
        assert isinstance(item, Input)
        worst.append(float(np.maximum(item.lower - values[:, j], values[:, j] - item.upper).max()))
        if item.step is not None:
            steps = (values[:, j] - item.lower) / item.step
            worst.append(float(np.abs(steps - np.round(steps)).max()))
    levels = values[:, list(inputs.levels[0].places)]
    return max(*worst, float(np.abs(np.sort(levels, axis=1) - [0.0, 0.0, 1.0]).max()))


def main(polytopes: int = 20, points: int = 500, mixtures: int = 6, points_mixed: int = 200) -> None:
    """A line for each polytope, then all together."""
    table("Inputs that vary freely", [(one, seed, points) for seed in range(polytopes)])
    table("With steps, log scales and a category", [(mixed, seed, points_mixed) for seed in range(mixtures)])


def table(title: str, jobs: list[tuple[Callable[[int, int], Result], int, int]]) -> None:
    """A line for each job, then all together."""
    if not jobs:
        return
    print(title)
    results = []
    print(f"{'D':>3} {'<=':>3} {'=':>3} {'asked':>6} {'excess':>9} {'rounded':>9} {'info ratio':>10} {'s':>6}")
    for make, seed, points in jobs:
        r = make(seed, points)
        results.append(r)
        print(
            f"{r.D:3d} {r.inequalities:3d} {r.equations:3d} {r.asked:6d} {r.excess:9.1e} {r.rounded:9.1e} "
            f"{r.ratio:10.3f} {r.seconds:6.2f}",
            flush=True,
        )
    print(
        f"{sum(r.asked for r in results):,} points: largest excess {max(r.excess for r in results):.1e}, rounded "
        f"{max(r.rounded for r in results):.1e}; least ratio of information {min(r.ratio for r in results):.3f}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
