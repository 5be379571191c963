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
from ridgeway.spaces.polytope import Polytope
from ridgeway.types import Array

_ROUNDINGS = 64  # of one point that are tried, up or down in each input, before an integer program
_PROJECTED = 24  # neighbours of one point whose free inputs are moved so that the constraints hold
_SWAPPED = 12  # inputs that are moved two at a time where constraints tie them together


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

    def from_unit(self, U: Array) -> Array:
        """Points for ``U (n, D)`` in the unit cube: every value and every level has an equal share of it."""
        X = (1.0 - U) * self.lower + U * self.upper
        k = np.minimum(np.floor(U * (self.counts + 1.0)), self.counts)
        X = np.clip(np.where(self.stepped, self._value(k), X), self.lower, self.upper)
        return self.drawn_levels(X, U)

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
