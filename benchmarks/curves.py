"""Learning curves: the error after each number of experiments, by how they are chosen, and evaluations saved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

import ridgeway as rw
from ridgeway.experiments.protocol import pool
from ridgeway.experiments.scores import quiet_fit, rmse
from ridgeway.testfunctions import TestFunction, from_model

D, d = 20, 2
FIRST_SEED, DRAWS = 9600, 10
CHOSEN_MARKS, DESIGN_MARKS = (50, 60, 70, 80), (50, 60, 70, 80, 90, 100)
N_TEST = 1000
CHOSEN = ("information", "uncertainty")  # by a belief; the first is the default
WHERE = {"box": "A box", "pool": "The paper's pool"}


@dataclass(frozen=True)
class Setting:
    """Where experiments are made, and how noisy they are."""

    space: str  # "box" or "pool"
    noise: float

    @property
    def designs(self) -> tuple[str, ...]:
        return ("latin-hypercube", "random") if self.space == "box" else ("random",)


SETTINGS = (Setting("box", 0.0), Setting("box", 0.1), Setting("pool", 0.0), Setting("pool", 0.1))


def chosen(space: str, noise: float, method: str, seed: int) -> dict[str, float]:
    """The error of the learner's own belief at each mark, relative to the function's spread; CPU seconds of it all."""
    f, points, X_test = problem(space, seed)
    rng, started = np.random.default_rng([seed, 1]), time.process_time()
    learner = rw.ActiveLearner(points, rw.Linear(d), method, random_state=seed)
    errors = {}
    for n in range(1, CHOSEN_MARKS[-1] + 1):
        x = learner.ask()
        learner.tell(x, f(x[None])[0] + noise * rng.standard_normal())
        if n in CHOSEN_MARKS:
            errors[str(n)] = error(learner.belief, f, X_test)
    return errors | {"cpu": time.process_time() - started}


def designed(space: str, noise: float, method: str, seed: int, n: int) -> dict[str, float]:
    """The error of a fit to ``n`` points of a design."""
    f, _, X_test = problem(space, seed)
    rng = np.random.default_rng([seed, 2, n])
    if method == "latin-hypercube":
        X = rw.Box(f.lower, f.upper).latin_hypercube(n, rng)
    elif space == "box":
        X = rng.uniform(f.lower, f.upper, (n, D))
    else:
        X = rng.permutation(pool(D))[:n]
    started = time.process_time()
    belief = quiet_fit(X, f(X) + noise * rng.standard_normal(n), rw.Linear(d), bounds=(-1, 1))
    return {str(n): error(belief, f, X_test), "cpu": time.process_time() - started}


def problem(space: str, seed: int) -> tuple[TestFunction, rw.Box | rw.Pool, np.ndarray]:
    """A function, where it can be tried, and points to test a belief at."""
    f, rng = from_model(D, d, random_state=seed), np.random.default_rng([seed, 3])
    if space == "box":
        return f, rw.Box(f.lower, f.upper), rng.uniform(f.lower, f.upper, (N_TEST, D))
    return f, rw.Pool(pool(D)), rng.permutation(pool(D))[:N_TEST]


def error(belief: rw.Belief, f: TestFunction, X: np.ndarray) -> float:
    truth = f(X)
    return rmse(belief.predict(X).mean, truth) / float(truth.std())


def tables(measure: Callable, settings: Iterable[Setting] = SETTINGS) -> Iterable[str]:
    """Error by number of experiments, and how many experiments of a design do as well."""
    for setting in settings:
        yield f"### {WHERE[setting.space]}, noise {setting.noise:g}"
        yield ""
        curves = {method: _chosen_curve(measure, setting, method) for method in CHOSEN}
        curves |= {method: _design_curve(measure, setting, method) for method in setting.designs}
        yield "| N | " + " | ".join(curves) + " |"
        yield "|---|" + "---|" * len(curves)
        for n in DESIGN_MARKS:
            yield f"| {n} | " + " | ".join(_shown(curve.get(n)) for curve in curves.values()) + " |"
        yield ""
        for n in (60, 80):
            level = float(np.mean(curves[CHOSEN[0]][n]))
            for design in setting.designs:
                count = matched({m: float(np.mean(values)) for m, values in curves[design].items()}, level)
                yield f"- {n} experiments chosen by `{CHOSEN[0]}` do as well as {count} by `{design}`"
        yield ""


def _chosen_curve(measure: Callable, setting: Setting, method: str) -> dict[int, np.ndarray]:
    jobs = [(setting.space, setting.noise, method, FIRST_SEED + i) for i in range(DRAWS)]
    found = measure(chosen, jobs)
    return {n: np.array([result[str(n)] for result in found]) for n in CHOSEN_MARKS}


def _design_curve(measure: Callable, setting: Setting, method: str) -> dict[int, np.ndarray]:
    jobs = [(setting.space, setting.noise, method, FIRST_SEED + i, n) for n in DESIGN_MARKS for i in range(DRAWS)]
    found = iter(measure(designed, jobs))
    return {n: np.array([next(found)[str(n)] for _ in range(DRAWS)]) for n in DESIGN_MARKS}


def _shown(errors: np.ndarray | None) -> str:
    return "" if errors is None else f"{errors.mean():.3f} ± {errors.std(ddof=1) / np.sqrt(errors.size):.3f}"


def matched(curve: dict[int, float], level: float) -> str:
    """How many experiments of a design reach ``level``, between the measured numbers along straight lines."""
    numbers = sorted(curve)
    if level > curve[numbers[0]]:
        return f"fewer than {numbers[0]}"
    for a, b in pairwise(numbers):
        if curve[a] >= level >= curve[b]:
            return f"{a + (b - a) * (curve[a] - level) / max(curve[a] - curve[b], 1e-12):.0f}"
    return f"more than {numbers[-1]}"
