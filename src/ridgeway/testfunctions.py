"""Functions with known structure, to test a method on.

Engineering functions are as collected by Surjanovic & Bingham (Virtual Library of
Simulation Experiments), each with its box. :func:`padded` adds inputs that do nothing;
:func:`from_model` draws a function from Ridgeway's own model, so its embedding is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ridgeway.types import Array


@dataclass(frozen=True)
class TestFunction:
    """A function on a box; call it with points ``(n, D)``.

    >>> f = borehole()
    >>> f.D, f(f.sample(3, random_state=0)).shape
    (8, (3,))
    """

    __test__ = False  # not a test case, whatever its name says to pytest

    name: str
    lower: Array
    upper: Array
    function: Callable[[Array], Array]
    embedding: Array | None = None  # (d, D) on inputs mapped to [-1, 1], where there is one

    @property
    def D(self) -> int:
        return self.lower.shape[0]

    def __call__(self, X: Array) -> Array:
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != self.D:
            raise ValueError(f"X must have shape (n, {self.D}) for {self.name}, got {X.shape}")
        return self.function(X)

    def sample(self, n: int, random_state: int | np.random.Generator = 0) -> Array:
        """``n`` points uniform in the box."""
        rng = np.random.default_rng(random_state)
        return rng.uniform(self.lower, self.upper, size=(n, self.D))


def padded(f: TestFunction, D: int) -> TestFunction:
    """``f`` with inputs on [-1, 1] added that do nothing, ``D`` in all."""
    extra = D - f.D
    if extra < 0:
        raise ValueError(f"D must be at least {f.D} for {f.name}, got {D}")
    embedding = None if f.embedding is None else np.pad(f.embedding, ((0, 0), (0, extra)))
    return replace(
        f,
        name=f"{f.name}+{extra}",
        lower=np.concatenate([f.lower, -np.ones(extra)]),
        upper=np.concatenate([f.upper, np.ones(extra)]),
        function=lambda X: f.function(X[:, : f.D]),
        embedding=embedding,
    )


def from_model(
    D: int, d: int = 2, scale: float | None = None, random_state: int = 0, n_features: int = 4096
) -> TestFunction:
    """A draw ``f(x) = g(x Rᵀ)`` from the paper's model: squared exponential ``g``, Gaussian ``R``.

    ``g`` is a sum of ``n_features`` random cosines, so the function can be evaluated anywhere;
    ``scale`` is the standard deviation of the entries of ``R``, by default ``5/4 · D^(-1/2)``.
    """
    rng = np.random.default_rng(random_state)
    R = rng.standard_normal((d, D)) * (1.25 / np.sqrt(D) if scale is None else scale)
    frequencies = rng.standard_normal((d, n_features))
    phases = rng.uniform(0.0, 2.0 * np.pi, n_features)
    weights = rng.standard_normal(n_features) * np.sqrt(2.0 / n_features)

    def function(X: Array) -> Array:
        result: Array = np.cos((X @ R.T) @ frequencies + phases) @ weights
        return result

    return TestFunction(f"model-{d}-in-{D}", -np.ones(D), np.ones(D), function, R)


def branin(D: int = 2, random_state: int = 0) -> TestFunction:
    """The Branin function of two linear combinations of ``D`` inputs.

    A random embedding scaled so that the box [-1, 1]^D covers Branin's usual domain,
    [-5, 10] × [0, 15], to about two standard deviations; ``D = 2`` is the plain function.
    """
    drawn = np.random.default_rng(random_state).standard_normal((2, D)) * np.sqrt(0.75 / D)
    R = np.eye(2) if D == 2 else drawn

    def function(X: Array) -> Array:
        u = X @ R.T
        x1, x2 = 2.5 + 7.5 * u[:, 0], 7.5 + 7.5 * u[:, 1]
        b, c, t = 5.1 / (4 * np.pi**2), 5 / np.pi, 1 / (8 * np.pi)
        result: Array = (x2 - b * x1**2 + c * x1 - 6) ** 2 + 10 * (1 - t) * np.cos(x1) + 10
        return result

    return TestFunction("branin" if D == 2 else f"branin-in-{D}", -np.ones(D), np.ones(D), function, R)


def borehole() -> TestFunction:
    """Water flow through a borehole; 8 inputs (Harper & Gupta 1983)."""
    lower = np.array([0.05, 100.0, 63070.0, 990.0, 63.1, 700.0, 1120.0, 9855.0])
    upper = np.array([0.15, 50000.0, 115600.0, 1110.0, 116.0, 820.0, 1680.0, 12045.0])

    def function(X: Array) -> Array:
        rw, r, Tu, Hu, Tl, Hl, L, Kw = X.T
        log_ratio = np.log(r / rw)
        result: Array = 2 * np.pi * Tu * (Hu - Hl) / (log_ratio * (1 + 2 * L * Tu / (log_ratio * rw**2 * Kw) + Tu / Tl))
        return result

    return TestFunction("borehole", lower, upper, function)


def piston() -> TestFunction:
    """Cycle time of a piston; 7 inputs (Kenett & Zacks 1998)."""
    lower = np.array([30.0, 0.005, 0.002, 1000.0, 90000.0, 290.0, 340.0])
    upper = np.array([60.0, 0.020, 0.010, 5000.0, 110000.0, 296.0, 360.0])

    def function(X: Array) -> Array:
        M, S, V0, k, P0, Ta, T0 = X.T
        A = P0 * S + 19.62 * M - k * V0 / S
        V = S / (2 * k) * (np.sqrt(A**2 + 4 * k * P0 * V0 / T0 * Ta) - A)
        result: Array = 2 * np.pi * np.sqrt(M / (k + S**2 * P0 * V0 / T0 * Ta / V**2))
        return result

    return TestFunction("piston", lower, upper, function)


def otl_circuit() -> TestFunction:
    """Midpoint voltage of a transformerless push-pull circuit; 6 inputs (Ben-Ari & Steinberg 2007)."""
    lower = np.array([50.0, 25.0, 0.5, 1.2, 0.25, 50.0])
    upper = np.array([150.0, 70.0, 3.0, 2.5, 1.20, 300.0])

    def function(X: Array) -> Array:
        Rb1, Rb2, Rf, Rc1, Rc2, beta = X.T
        Vb1 = 12 * Rb2 / (Rb1 + Rb2)
        load = beta * (Rc2 + 9)
        result: Array = ((Vb1 + 0.74) * load + 11.35 * Rf + 0.74 * Rf * load / Rc1) / (load + Rf)
        return result

    return TestFunction("otl-circuit", lower, upper, function)


def wing_weight() -> TestFunction:
    """Weight of a light aircraft's wing; 10 inputs (Forrester et al. 2008)."""
    lower = np.array([150.0, 220.0, 6.0, -10.0, 16.0, 0.5, 0.08, 2.5, 1700.0, 0.025])
    upper = np.array([200.0, 300.0, 10.0, 10.0, 45.0, 1.0, 0.18, 6.0, 2500.0, 0.08])

    def function(X: Array) -> Array:
        Sw, Wfw, A, sweep, q, taper, tc, Nz, Wdg, Wp = X.T
        c = np.cos(np.deg2rad(sweep))
        result: Array = (
            0.036 * Sw**0.758 * Wfw**0.0035 * (A / c**2) ** 0.6 * q**0.006 * taper**0.04
            * (100 * tc / c) ** -0.3 * (Nz * Wdg) ** 0.49 + Sw * Wp
        )  # fmt: skip
        return result

    return TestFunction("wing-weight", lower, upper, function)


def robot_arm() -> TestFunction:
    """Reach of a robot arm of four segments; 8 inputs (An & Owen 2001)."""
    lower, upper = np.zeros(8), np.array([2 * np.pi] * 4 + [1.0] * 4)

    def function(X: Array) -> Array:
        angles, lengths = np.cumsum(X[:, :4], axis=1), X[:, 4:]
        result: Array = np.hypot((lengths * np.cos(angles)).sum(axis=1), (lengths * np.sin(angles)).sum(axis=1))
        return result

    return TestFunction("robot-arm", lower, upper, function)


def hartmann6(D: int = 6) -> TestFunction:
    """The Hartmann function of 6 inputs, padded to ``D``; its box mapped to [-1, 1]."""
    alpha = np.array([1.0, 1.2, 3.0, 3.2])
    A = np.array(
        [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
    )
    P = 1e-4 * np.array(
        [[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
         [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]
    )  # fmt: skip

    def function(X: Array) -> Array:
        x = 0.5 * (X + 1.0)
        result: Array = -np.exp(-np.einsum("kj,nkj->nk", A, (x[:, None] - P) ** 2)) @ alpha
        return result

    f = TestFunction("hartmann6", -np.ones(6), np.ones(6), function, np.eye(6))
    return f if D == 6 else padded(f, D)


def subspace_angles(R: Array, S: Array) -> Array:
    """Principal angles between the row spaces of ``R`` and ``S``, in radians, largest first.

    They do not depend on rotations, scales or signs of the rows.

    >>> float(subspace_angles(np.array([[1.0, 0.0]]), np.array([[-2.0, 0.0]]))[0])
    0.0
    """
    from scipy.linalg import subspace_angles as angles

    return np.asarray(angles(np.asarray(R, float).T, np.asarray(S, float).T))


__all__ = [
    "TestFunction", "borehole", "branin", "from_model", "hartmann6", "otl_circuit", "padded",
    "piston", "robot_arm", "subspace_angles", "wing_weight",
]  # fmt: skip
