"""What a number of experiments can hold at most, whatever the search and however they are chosen.

Two measures. The error at the mode that a climb from the truth finds is what a design holds for a fit. The *expected*
error is that of the model made linear around the true embedding and the function's slopes: no search and no scales to
learn, so it is less. It can be differentiated in the points, and the design that minimises it knows everything
beforehand: a bound for every way to choose them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.stats import qmc

import ridgeway as rw
from ridgeway.gp import moments
from ridgeway.testfunctions import TestFunction, from_model
from search import UNCHECKED, from_truth

D, d = 20, 2
FUNCTIONS, FIRST_SEED = 16, 1000
NOISES = (0.0, 0.1)
N_TEST = 2000
N_OPTIMISED, N_EXPECTED = 300, 1000  # points of the box over which a design is optimised, and others that score it
PRIOR_SCALE = 1.25 / np.sqrt(D)
STEPS, RATE = 400, 0.03  # of Adam. From a greedy design it comes to the same error as from a Latin hypercube
NOISE_FLOOR = 0.005  # that every fit adds


def latin_hypercube(f: TestFunction, n: int, rng: np.random.Generator) -> np.ndarray:
    return 2.0 * qmc.LatinHypercube(D, seed=rng).random(n) - 1.0


def one_at_a_time(f: TestFunction, n: int, rng: np.random.Generator) -> np.ndarray:
    """Two points with a step of half the box along each input, and a Latin hypercube."""
    rows = []
    for center in latin_hypercube(f, 2, rng):
        moved = np.tile(center, (D, 1))
        moved[np.arange(D), np.arange(D)] -= np.where(center > 0, 1.0, -1.0)
        rows += [center[None], moved]
    return np.vstack([*rows, latin_hypercube(f, n - 2 * (D + 1), rng)])


def half_inside(f: TestFunction, n: int, rng: np.random.Generator) -> np.ndarray:
    """A Latin hypercube, half of it in the inner box of half the width."""
    return np.vstack([0.5 * latin_hypercube(f, n // 2, rng), latin_hypercube(f, n - n // 2, rng)])


def half_corners(f: TestFunction, n: int, rng: np.random.Generator) -> np.ndarray:
    """A Latin hypercube, half of it moved to the nearest corners of the box."""
    return np.vstack([np.sign(latin_hypercube(f, n // 2, rng)), latin_hypercube(f, n - n // 2, rng)])


DESIGNS: dict[str, Callable[..., np.ndarray]] = {
    "Latin hypercube": latin_hypercube,
    "one input at a time": one_at_a_time,
    "half of it in the inner box": half_inside,
    "half of it in corners": half_corners,
}


def held(design: str, n: int, noise: float, seed: int) -> float:
    """The error at the truth's mode with ``n`` points of a design, relative to the function's spread."""
    f, rng = from_model(D, d, random_state=seed), np.random.default_rng([seed, 5])
    X = DESIGNS[design](f, n, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.RidgewayWarning)
        y = f(X) + noise * rng.standard_normal(n)
        frame = rw.fit(X, y, rw.Linear(d), bounds=(-1, 1), n_starts=1, settings=UNCHECKED)
    best = from_truth(frame, np.asarray(f.embedding), noise)
    X_test = np.random.default_rng([seed, 6]).uniform(-1, 1, (N_TEST, D))
    mean, _ = moments.plain(best.gp, frame.reduced_coordinates(X_test)[0])
    truth = f(X_test)
    return float(np.sqrt(np.mean((frame.output.mean(mean) - truth) ** 2)) / truth.std())


def expected(n: int, known_from: int, noise: float, seed: int) -> float:
    """The expected error of ``n`` points relative to the function's spread: a Latin hypercube up to ``known_from``.

    All later points together are chosen by who knows the embedding and the function.
    """
    import torch

    torch.set_num_threads(1)
    rng = np.random.default_rng([seed, 5])
    f = Drawn(rng, max(noise, NOISE_FLOOR))

    def cube(m: int) -> np.ndarray:
        return 2.0 * qmc.LatinHypercube(D, seed=rng).random(m) - 1.0

    X, points, others = (torch.as_tensor(x) for x in (cube(known_from), cube(N_OPTIMISED), cube(N_EXPECTED)))
    if known_from < n:
        inside = torch.as_tensor(np.arctanh(np.clip(cube(n - known_from), -0.97, 0.97))).requires_grad_()
        optimiser = torch.optim.Adam([inside], lr=RATE)
        for _ in range(STEPS):
            optimiser.zero_grad()
            f.expected_variance(torch.vstack([X, torch.tanh(inside)]), points).log().backward()
            optimiser.step()
        X = torch.vstack([X, torch.tanh(inside.detach())])
    return float((f.expected_variance(X, others) / f(others).var()).sqrt())


class Drawn:
    """A function drawn from the model, with the slopes that a design is chosen by; of arrays of torch."""

    def __init__(self, rng: np.random.Generator, noise: float, n_waves: int = 4096) -> None:
        import torch

        draws = (
            rng.standard_normal((D, d)) * PRIOR_SCALE, rng.standard_normal((d, n_waves)),
            rng.uniform(0.0, 2.0 * np.pi, n_waves), rng.standard_normal(n_waves) * np.sqrt(2.0 / n_waves),
        )  # fmt: skip
        self.RT, self.frequencies, self.phases, self.amplitudes = map(torch.as_tensor, draws)
        self.noise = noise

    def __call__(self, X: Any) -> Any:
        return (X @ self.RT @ self.frequencies + self.phases).cos() @ self.amplitudes

    def slopes(self, U: Any) -> Any:
        """Of the function in ``U (n, d)``."""
        return -((U @ self.frequencies + self.phases).sin() * self.amplitudes) @ self.frequencies.T

    def expected_variance(self, X: Any, points: Any) -> Any:
        """The mean predictive variance at ``points``, of the model made linear around the truth."""
        import torch

        n, A = X.shape[0], torch.vstack([X, points])
        U = A @ self.RT
        by_R = PRIOR_SCALE * (self.slopes(U)[:, :, None] * A[:, None, :]).reshape(A.shape[0], -1)
        K = (-0.5 * ((U[:n, None] - U[None]) ** 2).sum(-1)).exp() + by_R[:n] @ by_R.T
        own = self.noise**2 * torch.eye(n, dtype=X.dtype)
        factor = torch.linalg.cholesky(K[:, :n] + own)
        explained = torch.linalg.solve_triangular(factor, K[:, n:], upper=False)
        return (1.0 + (by_R[n:] ** 2).sum(1) - (explained**2).sum(0)).mean()


def held_table(measure: Callable) -> Iterable[str]:
    rows = [("Latin hypercube", 80), *((design, 60) for design in DESIGNS)]
    jobs = [(design, n, noise, FIRST_SEED + i) for design, n in rows for noise in NOISES for i in range(FUNCTIONS)]
    yield from _table("design", [f"{name}, {n} points" for name, n in rows], measure(held, jobs))


def expected_table(measure: Callable) -> Iterable[str]:
    rows = [(80, 80), (60, 60), (60, 50), (60, 40), (60, 0)]
    words = [f"Latin hypercube, {n} points" if n == known else f"the same, the last {n - known} knowing the truth"
             for n, known in rows]  # fmt: skip
    words[-1] = "60 points knowing the truth"
    jobs = [(n, known, noise, FIRST_SEED + i) for n, known in rows for noise in NOISES for i in range(FUNCTIONS)]
    yield from _table("design", words, measure(expected, jobs))


def _table(title: str, names: list[str], errors: list[float]) -> Iterable[str]:
    yield f"| {title} | no noise | noise 0.1 |"
    yield "|---|---|---|"
    means = np.reshape(errors, (len(names), len(NOISES), FUNCTIONS)).mean(axis=2)
    for name, (without, noisy) in zip(names, means, strict=True):
        yield f"| {name} | {without:.3f} | {noisy:.3f} |"
