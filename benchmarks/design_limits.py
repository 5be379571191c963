"""What a number of experiments can hold at most: designs compared by the mode that a climb from the truth finds.

No search is involved, so the error is that of the data. One design is not for users: it knows the true embedding and
the function's slopes, and takes each point where it lowers the mean predictive variance most.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import qmc

import ridgeway as rw
from ridgeway.gp import moments
from ridgeway.testfunctions import TestFunction, from_model
from search import UNCHECKED, from_truth

D, d = 20, 2
FUNCTIONS, FIRST_SEED = 16, 1000
N_TEST = 2000
STEP = 1e-4  # of the differences that give the function's slopes in u


def latin_hypercube(f: TestFunction, n: int, noise: float, rng: np.random.Generator) -> np.ndarray:
    return 2.0 * qmc.LatinHypercube(D, seed=rng).random(n) - 1.0


def one_at_a_time(f: TestFunction, n: int, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Two points with a step of half the box along each input, and a Latin hypercube."""
    rows = []
    for center in latin_hypercube(f, 2, noise, rng):
        moved = np.tile(center, (D, 1))
        moved[np.arange(D), np.arange(D)] -= np.where(center > 0, 1.0, -1.0)
        rows += [center[None], moved]
    return np.vstack([*rows, latin_hypercube(f, n - 2 * (D + 1), noise, rng)])


def half_inside(f: TestFunction, n: int, noise: float, rng: np.random.Generator) -> np.ndarray:
    """A Latin hypercube, half of it in the inner box of half the width."""
    return np.vstack([0.5 * latin_hypercube(f, n // 2, noise, rng), latin_hypercube(f, n - n // 2, noise, rng)])


def omniscient(f: TestFunction, n: int, noise: float, rng: np.random.Generator) -> np.ndarray:
    """By the expected mean variance, with the model made linear around the truth."""
    assert f.embedding is not None
    scale = 1.25 / np.sqrt(D)  # of the prior of R
    candidates = np.vstack([rng.uniform(-1, 1, (1500, D)), np.sign(rng.uniform(-1, 1, (500, D))),
                            0.5 * rng.uniform(-1, 1, (500, D))])  # fmt: skip
    X = np.vstack([candidates, rng.uniform(-1, 1, (600, D))])
    U, lift = X @ f.embedding.T, STEP * np.linalg.pinv(f.embedding)
    slopes = np.stack([(f(X + lift[:, i]) - f(X - lift[:, i])) / (2.0 * STEP) for i in range(d)], axis=1)
    by_R = scale * (slopes[:, :, None] * X[:, None, :]).reshape(X.shape[0], -1)
    V = np.exp(-0.5 * cdist(U, U, "sqeuclidean")) + by_R @ by_R.T
    m, own = candidates.shape[0], max(noise, 1e-3) ** 2
    chosen = []
    for _ in range(n):
        gain = (V[m:, :m] ** 2).sum(axis=0) / (np.diagonal(V)[:m] + own)
        chosen.append(int(np.argmax(gain)))
        v = V[:, chosen[-1]].copy()
        V -= np.outer(v, v) / (v[chosen[-1]] + own)
    return candidates[chosen]


DESIGNS: dict[str, Callable[..., np.ndarray]] = {
    "Latin hypercube": latin_hypercube,
    "one input at a time": one_at_a_time,
    "half of it in the inner box": half_inside,
    "knows the truth": omniscient,
}


def held(design: str, n: int, noise: float, seed: int) -> float:
    """The error at the truth's mode with ``n`` points of a design, relative to the function's spread."""
    f, rng = from_model(D, d, random_state=seed), np.random.default_rng([seed, 5])
    X = DESIGNS[design](f, n, noise, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.RidgewayWarning)
        y = f(X) + noise * rng.standard_normal(n)
        frame = rw.fit(X, y, rw.Linear(d), bounds=(-1, 1), n_starts=1, settings=UNCHECKED)
    best = from_truth(frame, np.asarray(f.embedding), noise)
    X_test = np.random.default_rng([seed, 6]).uniform(-1, 1, (N_TEST, D))
    mean, _ = moments.plain(best.gp, frame.reduced_coordinates(X_test)[0])
    truth = f(X_test)
    return float(np.sqrt(np.mean((frame.output.mean(mean) - truth) ** 2)) / truth.std())


def table(measure: Callable) -> Iterable[str]:
    rows = [("Latin hypercube", 80), *((design, 60) for design in DESIGNS)]
    jobs = [(design, n, noise, FIRST_SEED + i) for design, n in rows for noise in (0.0, 0.1) for i in range(FUNCTIONS)]
    errors = iter(measure(held, jobs))
    yield "| design | N | no noise | noise 0.1 |"
    yield "|---|---|---|---|"
    for design, n in rows:
        cells = [np.mean([next(errors) for _ in range(FUNCTIONS)]) for _ in range(2)]
        yield f"| {design} | {n} | {cells[0]:.3f} | {cells[1]:.3f} |"
