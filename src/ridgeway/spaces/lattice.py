"""Lattices: inputs that only take some values, in steps or as one of several levels, among others that vary freely.

A category with ``L`` levels is ``L`` columns of 0 and 1, of which exactly one is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ridgeway.errors import NumericalError
from ridgeway.spaces.polytope import Polytope, orthonormal
from ridgeway.types import Array

_ROUNDINGS = 64  # of one point that are tried, up or down in each input, before an integer program
_PROJECTED = 24  # neighbours of one point whose free inputs are moved so that the constraints hold
_SWAPPED = 12  # inputs that are moved two at a time where constraints tie them together
_TRIES, _TRIED = 64, 2**12  # draws for a point that is kept, seen in so many, before points are moved instead


@dataclass(frozen=True, eq=False)
class Lattice:
    """Which values the inputs of a box may take, and where its constraints let them."""

    lower: Array  # (D,)
    upper: Array  # (D,)
    steps: Array  # (D,) 0 where an input varies freely
    categories: tuple[tuple[int, ...], ...]  # columns of the levels of each
    polytope: Polytope | None = None  # in inputs scaled to [-1, 1]
    allowed: tuple[tuple[int, ...], ...] | None = None  # of each category the levels that may be taken; None: all

    @property
    def choices(self) -> tuple[tuple[int, ...], ...]:
        """Of each category the columns of the levels that may be taken."""
        return self.categories if self.allowed is None else self.allowed

    @cached_property
    def stepped(self) -> Any:
        """Which inputs move in steps, ``(D,)``."""
        return self.steps > 0.0

    @cached_property
    def leveled(self) -> Any:
        """Which columns belong to a category, ``(D,)``."""
        found = np.zeros(len(self.lower), dtype=bool)
        found[[j for columns in self.categories for j in columns]] = True
        return found

    @cached_property
    def counts(self) -> Array:
        """Steps from the lower end to the last value, ``(D,)``; 0 where an input varies freely."""
        width = self.upper - self.lower
        counts = np.floor(width / np.where(self.stepped, self.steps, np.inf) + 1e-9)
        return np.where(self.stepped, counts, 0.0)

    def values(self, j: int) -> Array:
        """Every value of an input that moves in steps, in ascending order."""
        steps, lower, upper = (side[j : j + 1] for side in (self.steps, self.lower, self.upper))
        one = Lattice(lower, upper, steps, ())
        found: Array = np.clip(one._value(np.arange(one.counts[0] + 1.0)[:, None]), lower, upper)[:, 0]
        return found

    def from_unit(self, U: Array) -> Array:
        """Points for ``U (n, D)`` in the unit cube: every value and every level has an equal share of it."""
        X = (1.0 - U) * self.lower + U * self.upper
        k = np.minimum(np.floor(U * (self.counts + 1.0)), self.counts)
        X = np.clip(np.where(self.stepped, self._value(k), X), self.lower, self.upper)
        return self.drawn_levels(X, U)

    def uniform(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` points drawn nearly independently and uniformly from those for which the constraints hold, ``(n, D)``.

        Each value of an input in steps stands for the half steps around it. Points are drawn from the part of the
        space that belongs to allowed ones, and from a little more; they are brought to their values, and those for
        which the constraints do not hold then are drawn again.
        """
        assert self.polytope is not None
        cells, kept, tried = self._cells, [np.zeros((0, len(self.lower)))], 0
        while (found := sum(map(len, kept))) < n:
            if tried >= _TRIED and found * _TRIES < tried:
                V = self.polytope.uniform(n - found, rng)
                return np.vstack([*kept, self.snapped(self._levels_of(self._user(V)))])
            more = int(min((n - found) * 1.2 * (tried + 1) / (found + 1) + 16, max(n, _TRIED)))
            kept.append(self._levels_of(cells.points(self, rng, more)))
            tried += more
        return np.vstack(kept)[:n]

    def drawn_levels(self, X: Array, U: Array) -> Array:
        """``X (n, D)`` with a level of each category for draws ``U`` between 0 and 1, by its first column in them."""
        for columns, choices in zip(self.categories, self.choices, strict=True):
            level = np.minimum((U[:, columns[0]] * len(choices)).astype(int), len(choices) - 1)
            X[:, columns] = np.asarray(choices)[level, None] == np.asarray(columns)
        return X

    def with_levels(self, X: Array) -> Array:
        """``X (n, D)`` with the largest of each category's columns that may be taken at 1 and the others at 0."""
        X = X.copy()
        for columns, choices in zip(self.categories, self.choices, strict=True):
            level = np.argmax(X[:, choices], axis=1)
            X[:, columns] = np.asarray(choices)[level, None] == np.asarray(columns)
        return X

    def rounded(self, X: Array) -> Array:
        """The nearest values to ``X (n, D)``, each input on its own."""
        k = np.clip(np.round(self._position(X)), 0.0, self.counts)
        return self.with_levels(np.where(self.stepped, self._value(k), np.clip(X, self.lower, self.upper)))

    def snapped(self, X: Array) -> Array:
        """The nearest values to ``X (n, D)``, or nearly, for which the constraints hold."""
        found = self.rounded(X)
        if self.polytope is None:
            return found
        V = self._scaled(found)
        for i in np.flatnonzero(self.polytope.excess(V) > self.polytope.settings.holds):
            found[i] = self._allowed(X[i])
        return found

    def neighbours(self, x: Array) -> Array:
        """Points that differ from ``x (D,)`` in one step or one level, and satisfy the constraints, ``(n, D)``.

        Where constraints tie inputs together, also those with one input a step up and another a step down.
        """
        moves = [(j, s) for j in np.flatnonzero(self.stepped).tolist() for s in (1.0, -1.0)]
        near = [self._moved(x, {j: s}) for j, s in moves]
        if self.polytope is not None:
            tied = np.flatnonzero(self.stepped & (np.abs(self.polytope.E).sum(axis=0) > 0.0))[:_SWAPPED].tolist()
            near += [self._moved(x, {i: 1.0, j: -1.0}) for i in tied for j in tied if i != j]
        for columns, choices in zip(self.categories, self.choices, strict=True):
            for j in choices:
                if x[j] == 0.0:
                    other = x.copy()
                    other[list(columns)], other[j] = 0.0, 1.0
                    near.append(other)
        X = np.array(near).reshape(-1, len(x))
        k = self._position(X)
        X = X[np.all(~self.stepped | ((k > -0.5) & (k < self.counts + 0.5)), axis=1)]
        return X if self.polytope is None else self._held(X, _PROJECTED)

    # -- parts ---------------------------------------------------------------------------------

    @cached_property
    def _cells(self) -> _Cells:
        return _Cells.of(self)

    def _levels_of(self, X: Array) -> Array:
        """``X (n, D)`` with a level of each category, by its first column, which is anywhere between 0 and 1."""
        return self.drawn_levels(X, np.clip(X, 0.0, 1.0)) if self.categories else X

    def _value(self, k: Array) -> Array:
        # Rounded to 12 digits of the step, so that 3 steps of 0.1 are 0.3.
        digits = np.where(self.stepped, 12.0 - np.floor(np.log10(np.where(self.stepped, self.steps, 1.0))), 0.0)
        values = self.lower + k * self.steps
        scale = 10.0 ** np.clip(digits, 0.0, 15.0)
        exact = np.round(values * scale) / scale
        found: Array = np.where(np.abs(exact - values) < 1e-9 * np.where(self.stepped, self.steps, 1.0), exact, values)
        return found

    def _position(self, X: Array) -> Array:
        found: Array = (X - self.lower) / np.where(self.stepped, self.steps, 1.0)
        return found

    def _moved(self, x: Array, moves: dict[int, float]) -> Array:
        k = np.round(self._position(x))
        for j, by in moves.items():
            k[j] += by
        return np.where([j in moves for j in range(len(x))], self._value(k), x)

    def _scaled(self, X: Array) -> Array:
        center, half = 0.5 * self.lower + 0.5 * self.upper, 0.5 * self.upper - 0.5 * self.lower
        return np.asarray((X - center) / half)

    def _user(self, V: Array) -> Array:
        center, half = 0.5 * self.lower + 0.5 * self.upper, 0.5 * self.upper - 0.5 * self.lower
        return np.asarray(np.clip(center + half * V, self.lower, self.upper))

    def _held(self, X: Array, most: int) -> Array:
        """Those of ``X`` that satisfy the constraints, some of them after their free inputs were moved."""
        assert self.polytope is not None
        V, fixed = self._scaled(X), self.stepped | self.leveled
        excess = self.polytope.excess(V)
        good = excess <= self.polytope.settings.holds
        found = [X[good]]
        if fixed.all():
            return found[0]
        for i in np.flatnonzero(~good)[np.argsort(excess[~good], kind="stable")][:most]:
            try:
                v = self.polytope.nearest(V[i : i + 1], fixed)
            except NumericalError:
                continue  # these steps leave no room for the other inputs
            found.append(np.where(fixed, X[i], self._user(v)))
        return np.vstack(found)

    def _allowed(self, x: Array) -> Array:
        """A point near ``x (D,)`` on the lattice, for which the constraints hold."""
        assert self.polytope is not None
        k = np.clip(self._position(x), 0.0, self.counts)
        rng = np.random.default_rng(0)  # the same point every time
        up = rng.random((_ROUNDINGS, len(x))) < (k - np.floor(k))
        tried = np.where(
            self.stepped, self._value(np.minimum(np.floor(k) + up, self.counts)), self.with_levels(x[None])
        )
        tried = np.unique(tried, axis=0)
        found = self._held(tried, 2)
        if not len(found):
            found = self._programmed(self.with_levels(x[None])[0])[None]
        far = np.abs(self._scaled(found) - self._scaled(x[None])).sum(axis=1)
        return found[int(np.argmin(far))]

    def _programmed(self, x: Array) -> Array:
        """The point of the lattice nearest to ``x (D,)``, in the sum of distances, by an integer program."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        assert self.polytope is not None
        P, D, stepped = self.polytope, len(x), self.stepped
        half = 0.5 * self.upper - 0.5 * self.lower
        # Variables: steps or scaled values, then how far each is from x. Scaled value = base + gain * variable.
        base = np.where(stepped, self._scaled(self.lower[None])[0], 0.0)
        gain = np.where(stepped, self.steps / half, 1.0)
        target = self._scaled(x[None])[0]
        low, high = np.where(stepped, 0.0, -1.0), np.where(stepped, self.counts, 1.0)
        low, high = np.where(self.leveled, target, low), np.where(self.leveled, target, high)
        G, eye = sparse.diags(gain), sparse.identity(D)
        A, E, none = sparse.csr_matrix(P.A) @ G, sparse.csr_matrix(P.E) @ G, sparse.csr_matrix
        equal = P.e - P.E @ base
        rows = [
            LinearConstraint(sparse.hstack([A, none((len(P.b), D))]), -np.inf, P.b - P.A @ base),
            LinearConstraint(sparse.hstack([E, none((len(P.e), D))]), equal, equal),
            LinearConstraint(sparse.hstack([G, -eye]), -np.inf, target - base),
            LinearConstraint(sparse.hstack([-G, -eye]), -np.inf, base - target),
        ]
        found = milp(
            np.concatenate([np.zeros(D), np.ones(D)]),
            constraints=[row for row in rows if row.A.shape[0]],
            bounds=Bounds(np.concatenate([low, np.zeros(D)]), np.concatenate([high, np.full(D, np.inf)])),
            integrality=np.concatenate([stepped.astype(float), np.zeros(D)]),
        )
        if found.x is None:
            raise ValueError("no combination of the steps satisfies the constraints: change a step or a constraint")
        values = np.where(stepped, self._value(np.round(found.x[:D])), self._user(base + gain * found.x[:D]))
        near = self._held(np.where(self.leveled, x, values)[None], 1)
        if not len(near):
            raise ValueError("no combination of the steps satisfies the constraints: change a step or a constraint")
        return near[0]


@dataclass(frozen=True)
class _Cells:
    """The half steps around every point that constraints allow, as a polytope, and how its points become such ones.

    Where an equation ties free inputs to those in steps, the free ones move along when these are rounded. So all
    points of a lattice have cells of the same size, and uniform draws of the polytope become uniform draws of them.
    """

    polytope: Polytope  # in inputs scaled so that it lies within the cube
    center: Array  # (D,) of that cube, in inputs scaled to [-1, 1]
    half: Array  # (D,)
    follow: Array  # (D, D) by how much inputs move where others are rounded by one

    @classmethod
    def of(cls, lattice: Lattice) -> _Cells:
        P, stepped = lattice.polytope, lattice.stepped
        assert P is not None
        free = ~(stepped | lattice.leveled)
        follow = np.diag(stepped.astype(float))
        if P.E.shape[0] and free.any():
            follow[np.ix_(free, stepped)] = -np.linalg.pinv(P.E[:, free]) @ P.E[:, stepped]
        width = lattice.upper - lattice.lower
        ends = lattice._scaled(np.stack([lattice.lower, lattice.lower + lattice.counts * lattice.steps]))
        low, high = np.where(stepped, ends[0], -1.0), np.where(stepped, ends[1], 1.0)
        reach = np.where(stepped, lattice.steps / width, 0.0)  # half a step, in inputs scaled to [-1, 1]
        slack = np.abs(follow) @ reach
        center, half = 0.5 * (low + high), 0.5 * (high - low) + slack
        A, b = P.A * half, P.b + np.abs(P.A @ follow) @ reach - P.A @ center
        size = np.linalg.norm(A, axis=1)
        E, e, _ = orthonormal(P.E * half, P.e - P.E @ center)
        return cls(Polytope(A / size[:, None], b / size, E, e, P.settings), center, half, follow)

    def points(self, lattice: Lattice, rng: np.random.Generator, n: int) -> Array:
        """Those of ``n`` draws that satisfy the constraints with every input in steps at one of its values."""
        V = self.center + self.half * self.polytope.uniform(n, rng)
        X = lattice._user(V)
        k = np.clip(np.round(lattice._position(X)), 0.0, lattice.counts)
        rounded = np.where(lattice.stepped, lattice._value(k), X)
        moved = V + np.where(lattice.stepped, lattice._scaled(rounded) - V, 0.0) @ self.follow.T
        assert lattice.polytope is not None
        holds = lattice.polytope.excess(moved) <= lattice.polytope.settings.holds
        return np.where(lattice.stepped, rounded, lattice._user(moved))[holds]
