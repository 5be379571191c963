"""Inputs of a box of which some are categories: a column of 0 and 1 for each level, exactly one of them 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ridgeway.gp.measures import FAR, Uniform
from ridgeway.gp.scaling import InputScaling
from ridgeway.types import Array


@dataclass(frozen=True, eq=False)
class Leveled:
    """Independent inputs, uniform between ``lower`` and ``upper``; of each category every level is as likely.

    ``categories`` are the columns of the levels of each. A level that is taken is at its ``upper`` end, the others at
    their ``lower`` ones.

    >>> Leveled([0.0, 0.0, 0.0], [10.0, 1.0, 1.0], [(1, 2)]).center
    array([5. , 0.5, 0.5])
    """

    lower: Array
    upper: Array
    categories: Sequence[Sequence[int]]

    def __post_init__(self) -> None:
        box = Uniform(self.lower, self.upper)
        categories = tuple(tuple(map(int, columns)) for columns in self.categories)
        named = [j for columns in categories for j in columns]
        if len(set(named)) < len(named) or not all(0 <= j < box.D for j in named):
            raise ValueError(
                f"categories must be columns below {box.D}, each in one category, got {self.categories!r:.80}"
            )
        for name, value in (("lower", box.lower), ("upper", box.upper), ("categories", categories)):
            object.__setattr__(self, name, value)

    @property
    def D(self) -> int:
        """Number of columns."""
        return self.lower.shape[0]

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each input, in the order of their first ones; those of a category belong together."""
        leveled = {j for columns in self.categories for j in columns}
        singles = [(j,) for j in range(self.D) if j not in leveled]
        return tuple(sorted([*singles, *map(tuple, self.categories)]))

    @cached_property
    def _box(self) -> Uniform:
        """The inputs that are no levels; a level stays at its mean."""
        lower, upper = self.lower.copy(), self.upper.copy()
        for columns in self.categories:
            at = list(columns)
            lower[at] = upper[at] = self.lower[at] + (self.upper[at] - self.lower[at]) / len(at)
        return Uniform(lower, upper)

    @property
    def is_independent(self) -> bool:
        """No: the columns of a category are not, though the inputs are."""
        return False

    @property
    def center(self) -> Array:
        return self._box.center

    def atoms(self, columns: Sequence[int]) -> Array:
        """The values of a category's columns at each level, ``(L, L)``."""
        at = list(columns)
        return np.where(np.eye(len(at), dtype=bool), self.upper[at], self.lower[at])

    def _moves(self, R: Array) -> list[Array]:
        """What each level of each category adds to ``R (x - center)``, ``(L, k)`` each."""
        return [(self.atoms(at) - self.center[list(at)]) @ R[:, list(at)].T for at in self.categories]

    def scaled(self, scaling: InputScaling) -> Leveled:
        lower, upper = ((side - scaling.center) / scaling.half_width for side in (self.lower, self.upper))
        return Leveled(lower, upper, self.categories)

    def covariance(self, R: Array) -> Array:
        result: Array = self._box.covariance(R) + sum(move.T @ move / len(move) for move in self._moves(R))
        return result

    def extent(self, R: Array) -> Array:
        farthest = np.abs(R) @ self._box.half + sum(np.abs(move).max(axis=0) for move in self._moves(R))
        # Bounded variables have tails below those of a Gaussian of a variance that is at most their squared reach.
        reach = np.sqrt((R**2) @ self._box.half**2 + sum(np.ptp(move, axis=0) ** 2 for move in self._moves(R)))
        return np.minimum(farthest, FAR * reach)

    def characteristic(self, R: Array, omega: Array) -> Array:
        result = self._box.characteristic(R, omega)
        for move in self._moves(R):
            result = result * np.exp(1j * omega @ move.T).mean(axis=1)
        return result

    def from_uniform(self, q: Array) -> Array:
        X = self._box.from_uniform(q)
        for columns in self.categories:
            level = np.minimum((q[:, columns[0]] * len(columns)).astype(int), len(columns) - 1)
            X[:, list(columns)] = self.atoms(columns)[level]
        return X

    def factor(self, i: int, s: Array) -> Array:
        """``E exp(i s·(x - center))`` of one input, at ``s (M,)``, or ``(M, L)`` for the columns of a category."""
        columns = self.groups[i]
        if len(columns) == 1:
            return self._box.factor(columns[0], s)
        result: Array = np.exp(1j * s @ (self.atoms(columns) - self.center[list(columns)]).T).mean(axis=1)
        return result

    def nodes(self, j: int, n: int) -> tuple[Array, Array]:
        """Of a quadrature over an input that is no category, by its column."""
        return self._box.nodes(j, n)

    def interval(self, j: int) -> tuple[float, float]:
        """The ends of a column."""
        return float(self.lower[j]), float(self.upper[j])
