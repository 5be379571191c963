"""The 200 seeded problems on which predictions are compared with the mean and variance, by family."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ridgeway import testfunctions as tf

N_TEST = 500


@dataclass(frozen=True)
class Problem:
    """Training and test data; ``y_test`` carries the same noise as ``y``."""

    family: str
    name: str
    d: int
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def _sampled(
    family: str,
    f: tf.TestFunction,
    n: int,
    d: int,
    noise: float,
    rng: np.random.Generator,
    warp: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    tails: bool = False,
) -> Problem:
    """Noise is relative to the function's own standard deviation over the box."""
    X, X_test = f.sample(n, rng), f.sample(N_TEST, rng)
    y, y_test = f(X), f(X_test)
    if warp is not None:
        y, y_test = warp(y, y), warp(y_test, y)
    scale = np.concatenate([y, y_test]).std()
    draw = (lambda m: rng.standard_t(2.5, m)) if tails else rng.standard_normal
    y = y + noise * scale * draw(n)
    y_test = y_test + noise * scale * draw(N_TEST)
    return Problem(family, f"{f.name} n={n} d={d} noise={noise}", d, X, y, X_test, y_test, f.lower, f.upper)


def _linear(D: int, rng: np.random.Generator, sparse: bool = False) -> tf.TestFunction:
    k = int(rng.integers(1, D // 2 + 1)) if sparse else D
    w = np.zeros(D)
    w[rng.choice(D, k, replace=False)] = rng.standard_normal(k)
    return tf.TestFunction(f"linear-{k}-of-{D}", -np.ones(D), np.ones(D), lambda X: X @ w, w[None])


def _clip(y: np.ndarray, train: np.ndarray) -> np.ndarray:
    return np.maximum(y, np.median(train))


def problems() -> Iterator[Problem]:
    """All 200, always the same."""
    engineering = [tf.borehole(), tf.piston(), tf.otl_circuit(), tf.wing_weight(), tf.robot_arm()]
    for i in range(50):  # draws from the model, fitted with the right d or a wrong one
        rng = np.random.default_rng(1000 + i)
        D, n, d = int(rng.integers(5, 61)), int(rng.integers(20, 201)), int(rng.integers(1, 4))
        f = tf.from_model(D, d, scale=(1.25 / np.sqrt(D) if i % 3 else 1.25 / D), random_state=i)
        yield _sampled("model", f, n, 1 + i % 3, (0.0, 0.1, 0.3)[i % 3 - 1], rng)
    for i in range(60):  # engineering functions, padded, with and without noise
        rng = np.random.default_rng(2000 + i)
        f = tf.padded(engineering[i % 5], int(rng.integers(10, 61)))
        yield _sampled("engineering", f, int(rng.integers(20, 201)), 1 + i // 5 % 3, (0.0, 0.1)[i % 2], rng)
    for i in range(30):
        rng = np.random.default_rng(3000 + i)
        f = _linear(int(rng.integers(5, 61)), rng, sparse=i >= 20)
        yield _sampled(
            "linear" if i < 20 else "sparse linear",
            f,
            int(rng.integers(20, 201)),
            1 + i % 3,
            (0.0, 0.05, 0.3)[i // 3 % 3],
            rng,
        )
    for i in range(25):
        rng = np.random.default_rng(4000 + i)
        f = (
            tf.padded(engineering[i % 5], int(rng.integers(10, 61)))
            if i % 2
            else _linear(int(rng.integers(5, 61)), rng)
        )
        yield _sampled("clipped", f, int(rng.integers(20, 201)), 1 + i % 3, 0.0, rng, warp=_clip)
    for i in range(15):
        rng = np.random.default_rng(5000 + i)
        f = tf.from_model(int(rng.integers(5, 61)), 1 + i % 2, random_state=100 + i)
        yield _sampled("heavy-tailed", f, int(rng.integers(20, 201)), 1 + i % 3, 0.3, rng, tails=True)
    for i in range(5):
        rng = np.random.default_rng(6000 + i)
        D = int(rng.integers(5, 61))
        f = tf.TestFunction("constant", -np.ones(D), np.ones(D), lambda X: np.full(X.shape[0], 3.0))
        yield _sampled("constant", f, int(rng.integers(20, 201)), 1 + i % 3, 0.0, rng)
    for i in range(15):
        rng = np.random.default_rng(7000 + i)
        D, n = int(rng.integers(5, 61)), int(rng.integers(20, 201))
        X, X_test = rng.uniform(-1, 1, (n, D)), rng.uniform(-1, 1, (N_TEST, D))
        y, y_test = rng.standard_normal(n), rng.standard_normal(N_TEST)
        yield Problem("noise", f"noise D={D} n={n}", 1 + i % 3, X, y, X_test, y_test, -np.ones(D), np.ones(D))
