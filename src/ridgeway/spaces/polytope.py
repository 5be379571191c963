"""Polytopes: the part of a box where linear constraints hold; nearest points, corners and even draws of it.

Everything is in scaled inputs: the box is the cube from -1 to 1. Draws are by hit-and-run (Smith 1984): many chains
at once, each moving to a uniform point of a random chord, along directions drawn with the covariance that the chains
themselves have, so that a long and narrow polytope is crossed as quickly as a round one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import clarabel
import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ridgeway.errors import NumericalError
from ridgeway.spaces.linear_constraints import LinearConstraint
from ridgeway.types import Array


@dataclass(frozen=True)
class PolytopeSettings:
    """How points of a polytope are found.

    Attributes
    ----------
    tolerance
        Tolerance of the solver of quadratic and linear programs.
    holds
        By how much a constraint whose weights have length one may be missed.
    least_room
        Radius of the largest ball inside, below which there is no room to vary anything.
    chains
        Chains that are run side by side once for each polytope; draws start from where these are.
    rounds
        How often the directions of the chains are adapted to their covariance.
    steps_each
        Steps of a chain in one round, and before a draw, for each dimension; at least ``least_steps`` of them, and
        at most ``most_steps``.
    most_adapted
        With more dimensions than this the directions are not adapted.
    """

    tolerance: float = 1e-11
    holds: float = 1e-9
    least_room: float = 1e-7
    chains: int = 512
    rounds: int = 6
    steps_each: int = 2
    least_steps: int = 20
    most_steps: int = 200
    most_adapted: int = 200


DEFAULT = PolytopeSettings()


@dataclass(frozen=True, eq=False)
class Polytope:
    """``A v <= b`` and ``E v = e`` within the cube; rows of ``A`` have length one, those of ``E`` are orthonormal."""

    A: Array  # (m, D)
    b: Array  # (m,)
    E: Array  # (k, D)
    e: Array  # (k,)
    settings: PolytopeSettings = field(default=DEFAULT)

    @classmethod
    def of(
        cls, constraints: Sequence[LinearConstraint], names: Sequence[str], lower: Array, upper: Array
    ) -> tuple[Polytope, tuple[str, ...]]:
        """From constraints in the user's units, and remarks about those that change nothing.

        Raises a ``ValueError`` where no point is left, or where inequalities leave no room between them.
        """
        center, half = 0.5 * lower + 0.5 * upper, 0.5 * upper - 0.5 * lower
        A: list[Array] = []
        b: list[float] = []
        E: list[Array] = []
        e: list[float] = []
        remarks: list[str] = []
        for constraint in constraints:
            weights = constraint.weights(names)
            row, bound = weights * half, constraint.bound - float(weights @ center)
            size = float(np.linalg.norm(row))
            row, bound = row / size, bound / size
            row, bound = (-row, -bound) if constraint.relation == ">=" else (row, bound)
            if not constraint.is_equality and bound >= np.abs(row).sum() * (1.0 - 1e-12):
                remarks.append(
                    f"constraint '{constraint}' holds everywhere between the ends of the inputs: it changes nothing"
                )
            (E if constraint.is_equality else A).append(row)
            (e if constraint.is_equality else b).append(bound)
        D = lower.shape[0]
        Q, q, dependent = orthonormal(np.array(E).reshape(-1, D), np.array(e))
        if dependent:
            remarks.append("constraints: an equation follows from the others: it changes nothing")
        found = cls(np.array(A).reshape(-1, D), np.array(b), Q, q)
        found._check(constraints, names, lower, upper)
        return found, tuple(remarks)

    @property
    def D(self) -> int:
        """How many inputs."""
        return self.A.shape[1]

    @cached_property
    def free(self) -> Array:
        """An orthonormal basis of the directions that the equations leave, ``(D, D - k)``."""
        if not self.E.shape[0]:
            return np.eye(self.D)
        full, _ = np.linalg.qr(self.E.T, mode="complete")
        return np.asarray(full[:, self.E.shape[0] :])

    def excess(self, V: Array) -> Array:
        """By how much each of ``V (n, D)`` misses the constraints, the cube included, ``(n,)``."""
        parts = [np.abs(V).max(axis=1) - 1.0]
        if self.A.shape[0]:
            parts.append((V @ self.A.T - self.b).max(axis=1))
        if self.E.shape[0]:
            parts.append(np.abs(V @ self.E.T - self.e).max(axis=1))
        return np.maximum(np.max(parts, axis=0), 0.0)

    # -- programs ------------------------------------------------------------------------------

    @cached_property
    def _rows(self) -> Any:
        eye = sparse.identity(self.D)
        return sparse.vstack([self.E, self.A, eye, -eye], format="csc")

    def _solved(self, P: Any, q: Array, low: Array, high: Array) -> Array:
        """The point of least ``v P v / 2 + q v`` between ``low`` and ``high``."""
        right = np.concatenate([self.e, self.b, high, -low])
        cones = [clarabel.ZeroConeT(len(self.e)), clarabel.NonnegativeConeT(len(right) - len(self.e))]
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads = False, 1
        settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = self.settings.tolerance
        solution = clarabel.DefaultSolver(P, q, self._rows, right, cones, settings).solve()
        status = str(solution.status)
        if status not in ("Solved", "AlmostSolved", "InsufficientProgress"):
            raise NumericalError(f"the program for a point of a constrained box ended with {status}")
        return self._settled(np.asarray(solution.x), low, high)

    def _settled(self, v: Array, low: Array, high: Array) -> Array:
        """``v`` within its bounds exactly and on the equations up to rounding."""
        v = np.clip(v, low, high)
        for _ in range(3):
            gap = self.e - self.E @ v
            if not gap.size or np.abs(gap).max() < 1e-14:
                break
            E = self.E * ((v > low) & (v < high))
            v = np.clip(v + E.T @ np.linalg.lstsq(E @ E.T, gap, rcond=None)[0], low, high)
        return v

    def nearest(self, V: Array, held: Array | None = None) -> Array:
        """The nearest point of the polytope to each of ``V (n, D)``; inputs that are ``held (D,)`` stay.

        Raises :class:`~ridgeway.errors.NumericalError` where there is none with those values.
        """
        found = np.clip(V, -1.0, 1.0)
        P = sparse.identity(self.D, format="csc")
        for i in np.flatnonzero(self.excess(found) > 0.1 * self.settings.holds):
            low, high = -np.ones(self.D), np.ones(self.D)
            if held is not None:
                low, high = np.where(held, found[i], low), np.where(held, found[i], high)
            v = self._solved(P, -V[i], low, high)
            if self.excess(v[None])[0] > self.settings.holds:
                raise NumericalError("no point of the constrained box has these values of the inputs that are held")
            found[i] = v
        return found

    def corner(self, direction: Array) -> Array:
        """A point that lies farthest along ``direction (D,)``."""
        size = max(float(np.abs(direction).max()), np.finfo(float).tiny)
        ends = np.ones(self.D)
        return self._solved(sparse.csc_matrix((self.D, self.D)), -direction / size, -ends, ends)

    @cached_property
    def _ball(self) -> tuple[Array, float] | None:
        """Center and radius of the largest ball inside, in the directions that are left; none where nothing is."""
        across = np.linalg.norm(self.free, axis=1)  # of each input, seen along the equations
        A = np.vstack([self.A, np.eye(self.D), -np.eye(self.D)])
        reach = np.concatenate([np.linalg.norm(self.A @ self.free, axis=1), across, across])
        limits = np.concatenate([self.b, np.ones(2 * self.D)])
        objective = np.append(np.zeros(self.D), -1.0)
        equal = {"A_eq": np.hstack([self.E, np.zeros((len(self.e), 1))]), "b_eq": self.e} if len(self.e) else {}
        bounds = [(-1.0, 1.0)] * self.D + [(0.0, 1.0)]
        found = linprog(objective, np.hstack([A, reach[:, None]]), limits, bounds=bounds, method="highs", **equal)
        if found.status != 0:
            return None
        return self._settled(found.x[:-1], -np.ones(self.D), np.ones(self.D)), float(found.x[-1])

    @cached_property
    def center(self) -> Array:
        """The center of the largest ball inside, ``(D,)``."""
        assert self._ball is not None  # checked when the polytope was made
        return self._ball[0]

    def _check(self, constraints: Sequence[LinearConstraint], names: Sequence[str], lower: Array, upper: Array) -> None:
        found = self._ball
        if found is None:
            for i in range(1, len(constraints)):  # the first that leaves nothing, for the message
                Polytope.of(constraints[:i], names, lower, upper)
            last = f"constraint '{constraints[-1]}'"
            others = "" if len(constraints) == 1 else " together with those before it"
            raise ValueError(f"{last}{others} leaves no point between the ends of the inputs")
        if not self.free.shape[1]:
            raise ValueError("constraints must leave something to vary: the equations fix every input")
        if found[1] < self.settings.least_room:
            raise ValueError(
                f"constraints ({'; '.join(map(str, constraints))}) leave no room between them: where two inequalities "
                "meet, or hold at the very end of a range, write an equation or fix the input"
            )

    # -- draws ---------------------------------------------------------------------------------

    def uniform(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` points drawn independently and nearly uniformly, ``(n, D)``."""
        starts, factor = self._mixed
        V = starts[rng.integers(len(starts), size=n)]
        return self._walk(V, factor, self._steps, rng)

    def filling(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` points that are spread evenly, ``(n, D)``: each brings the points so far closest to uniform ones.

        Closest in energy distance (Székely and Rizzo 2013), over uniform draws as candidates.
        """
        pool = self.uniform(candidates(n), rng)
        return pool[spread(pool, n)]

    @property
    def _steps(self) -> int:
        s = self.settings
        return min(max(s.steps_each * self.free.shape[1], s.least_steps), s.most_steps)

    @cached_property
    def _mixed(self) -> tuple[Array, Array | None]:
        """Points of chains that have mixed, and a factor of their covariance in the directions that are left."""
        rng = np.random.default_rng(0)  # the polytope alone decides: the draws have their own numbers
        d = self.free.shape[1]
        V, factor = np.tile(self.center, (self.settings.chains, 1)), None
        for _ in range(self.settings.rounds):
            V = self._walk(V, factor, self._steps, rng)
            if d <= min(self.settings.most_adapted, self.settings.chains // 2):
                covariance = np.atleast_2d(np.cov(((V - self.center) @ self.free).T))
                least = 1e-12 * max(float(np.trace(covariance)) / d, 1e-300)
                factor = np.linalg.cholesky(covariance + least * np.eye(d))
        return V, factor

    def _walk(self, V: Array, factor: Array | None, steps: int, rng: np.random.Generator) -> Array:
        """``V (n, D)`` after so many steps of hit-and-run."""
        basis = self.free if factor is None else self.free @ factor
        across = basis.T @ self.A.T
        slack = self.b - V @ self.A.T  # kept up to date: the products with A are the cost
        for _ in range(steps):
            G = rng.standard_normal((len(V), basis.shape[1]))
            moves, drops = G @ basis.T, G @ across
            with np.errstate(divide="ignore", invalid="ignore"):
                ends = [(1.0 - V) / moves, (-1.0 - V) / moves, slack / drops]
            rates = [moves, moves, drops]
            ahead, behind = np.full(len(V), np.inf), np.full(len(V), -np.inf)
            for end, rate, sign in zip(ends, rates, (1.0, -1.0, 1.0), strict=True):
                up = sign * rate > 1e-15
                down = sign * rate < -1e-15
                ahead = np.minimum(ahead, np.where(up, end, np.inf).min(axis=1, initial=np.inf))
                behind = np.maximum(behind, np.where(down, end, -np.inf).max(axis=1, initial=-np.inf))
            ahead, behind = np.maximum(ahead, 0.0), np.minimum(behind, 0.0)  # rounding may put a point on its bound
            t = behind + rng.random(len(V)) * (ahead - behind)
            V, slack = V + t[:, None] * moves, slack - t[:, None] * drops
        # Rounding adds up along a walk: back onto the equations.
        V = V - (V @ self.E.T - self.e) @ self.E
        return np.clip(V, -1.0, 1.0)


def orthonormal(E: Array, e: Array) -> tuple[Array, Array, bool]:
    """Equations with the same solutions and orthonormal rows, and whether some followed from the others."""
    if not E.shape[0]:
        return E, e, False
    U, s, Vt = np.linalg.svd(E, full_matrices=False)
    rank = int((s > 1e-10 * s[0]).sum())
    Q, q = Vt[:rank], (U[:, :rank].T @ e) / s[:rank]
    if rank < len(s) and np.abs(E @ (Q.T @ q) - e).max() > 1e-9:
        raise ValueError("constraints: equations contradict each other, no point satisfies them all")
    return Q, q, rank < E.shape[0]


def candidates(n: int) -> int:
    """How many uniform draws ``n`` evenly spread points are chosen from."""
    return 4 * n + 256


def spread(pool: Array, n: int) -> Any:
    """Which ``n`` of the uniform draws ``pool`` are spread evenly: each brings those so far closest to all of them."""
    if n > 1024:  # so many draws are even enough
        return np.arange(n)
    lengths = (pool**2).sum(axis=1)
    mean = np.concatenate([_distances(pool[i : i + 512], pool, lengths).mean(axis=1) for i in range(0, len(pool), 512)])
    chosen: list[int] = []
    to_chosen = np.zeros(len(pool))
    for i in range(n):
        score = (i + 1) * mean - to_chosen
        score[chosen] = np.inf
        chosen.append(int(np.argmin(score)))
        to_chosen += _distances(pool, pool[chosen[-1:]], lengths[chosen[-1:]])[:, 0]
    return np.array(chosen, dtype=int)


def _distances(X: Array, Y: Array, lengths: Array) -> Array:
    squares = (X**2).sum(axis=1)[:, None] + lengths - 2.0 * X @ Y.T
    result: Array = np.sqrt(np.maximum(squares, 0.0))
    return result
