"""Inputs of a box of which some take levels: values in steps, or a category, one of whose columns of 0 and 1 is 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ridgeway.gp.atoms import Atoms
from ridgeway.gp.measures import FAR, Uniform
from ridgeway.gp.scaling import InputScaling
from ridgeway.types import Array


@dataclass(frozen=True, eq=False)
class Leveled:
    """Independent inputs, uniform between ``lower`` and ``upper``; every level of the others is as likely.

    ``categories`` are the columns of the levels of each. A level that is taken is at its ``upper`` end, the others at
    their ``lower`` ones. ``steps`` are the values of each column that only takes some.

    >>> Leveled([0.0, 0.0, 0.0], [10.0, 1.0, 1.0], [(1, 2)]).center
    array([5. , 0.5, 0.5])
    >>> Leveled([0.0, 0.0], [1.0, 1.0], steps={0: [0.0, 0.4, 0.8]}).center
    array([0.4, 0.5])
    """

    lower: Array
    upper: Array
    categories: Sequence[Sequence[int]] = ()
    steps: Mapping[int, Sequence[float] | Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        box = Uniform(self.lower, self.upper)
        categories = tuple(tuple(map(int, columns)) for columns in self.categories)
        named = [j for columns in categories for j in columns]
        if len(set(named)) < len(named) or not all(0 <= j < box.D for j in named):
            raise ValueError(
                f"categories must be columns below {box.D}, each in one category, got {self.categories!r:.80}"
            )
        steps = {int(j): np.sort(np.asarray(values, dtype=float).ravel()) for j, values in self.steps.items()}
        for j, values in steps.items():
            if not 0 <= j < box.D or j in named or not len(values) or not np.isfinite(values).all():
                raise ValueError(f"steps must be values of columns below {box.D} in no category, got column {j}")
        for name, value in (("lower", box.lower), ("upper", box.upper), ("categories", categories), ("steps", steps)):
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
    def _atoms(self) -> dict[int, Atoms]:
        """Of the columns in steps."""
        return {j: Atoms.alike(np.asarray(values)) for j, values in self.steps.items()}

    @cached_property
    def _box(self) -> Uniform:
        """The inputs that vary freely; a level stays at its mean."""
        lower, upper = self.lower.copy(), self.upper.copy()
        for columns in self.categories:
            at = list(columns)
            lower[at] = upper[at] = self.lower[at] + (self.upper[at] - self.lower[at]) / len(at)
        for j, atoms in self._atoms.items():
            lower[j] = upper[j] = atoms.mean
        return Uniform(lower, upper)

    @property
    def is_independent(self) -> bool:
        """Whether the columns are: those of a category are not, though the inputs are."""
        return not self.categories

    @property
    def center(self) -> Array:
        return self._box.center

    def atoms(self, columns: Sequence[int]) -> Array:
        """The values of a category's columns at each level, ``(L, L)``."""
        at = list(columns)
        return np.where(np.eye(len(at), dtype=bool), self.upper[at], self.lower[at])

    def _moves(self, R: Array) -> list[Array]:
        """What each level adds to ``R (x - center)``, of each category and each input in steps, ``(L, k)`` each."""
        found = [(self.atoms(at) - self.center[list(at)]) @ R[:, list(at)].T for at in self.categories]
        return found + [np.outer(atoms.values - atoms.mean, R[:, j]) for j, atoms in self._atoms.items()]

    def scaled(self, scaling: InputScaling) -> Leveled:
        center, half = scaling.center, scaling.half_width
        lower, upper = ((side - center) / half for side in (self.lower, self.upper))
        steps = {j: (np.asarray(values) - center[j]) / half[j] for j, values in self.steps.items()}
        return Leveled(lower, upper, self.categories, steps)

    def covariance(self, R: Array) -> Array:
        result: Array = self._box.covariance(R) + sum(move.T @ move / len(move) for move in self._moves(R))
        return result

    def extent(self, R: Array) -> Array:
        moves = self._moves(R)
        farthest = np.abs(R) @ self._box.half + sum(np.abs(move).max(axis=0) for move in moves)
        # Bounded variables have tails below those of a Gaussian of a variance that is at most their squared reach.
        reach = np.sqrt((R**2) @ self._box.half**2 + sum(np.ptp(move, axis=0) ** 2 for move in moves))
        return np.minimum(farthest, FAR * reach)

    def characteristic(self, R: Array, omega: Array) -> Array:
        result = self._box.characteristic(R, omega)
        for columns in self.categories:
            move = (self.atoms(columns) - self.center[list(columns)]) @ R[:, list(columns)].T
            result = result * np.exp(1j * omega @ move.T).mean(axis=1)
        for j, atoms in self._atoms.items():
            result = result * atoms.factor(omega @ R[:, j])
        return result

    def from_uniform(self, q: Array) -> Array:
        X = self._box.from_uniform(q)
        for columns in self.categories:
            level = np.minimum((q[:, columns[0]] * len(columns)).astype(int), len(columns) - 1)
            X[:, list(columns)] = self.atoms(columns)[level]
        for j, atoms in self._atoms.items():
            X[:, j] = atoms.values[np.minimum((q[:, j] * len(atoms.values)).astype(int), len(atoms.values) - 1)]
        return X

    def factor(self, i: int, s: Array) -> Array:
        """``E exp(i s·(x - center))`` of one input, at ``s (M,)``, or ``(M, L)`` for the columns of a category."""
        columns = self.groups[i]
        if len(columns) == 1:
            atoms = self._atoms.get(columns[0])
            return self._box.factor(columns[0], s) if atoms is None else atoms.factor(s)
        result: Array = np.exp(1j * s @ (self.atoms(columns) - self.center[list(columns)]).T).mean(axis=1)
        return result

    def nodes(self, j: int, n: int) -> tuple[Array, Array]:
        """Of a quadrature over an input that is no category, by its column."""
        atoms = self._atoms.get(j)
        return self._box.nodes(j, n) if atoms is None else (atoms.values, atoms.shares)

    def line_means(self, scale: Array, at: Array) -> Array:
        """Of columns that are no levels of a category, as of other measures of independent inputs."""
        found = self._box.line_means(scale, at)
        for j, atoms in self._atoms.items():
            found[:, j] = atoms.line_means(scale[j], at[:, j])
        return found

    def line_squares(self, scale: Array) -> Array:
        """As :meth:`line_means`."""
        found = self._box.line_squares(scale)
        for j, atoms in self._atoms.items():
            found[j] = atoms.line_square(scale[j])
        return found

    def interval(self, j: int) -> tuple[float, float]:
        """The ends of a column."""
        if j in self._atoms:
            return float(self._atoms[j].values[0]), float(self._atoms[j].values[-1])
        return float(self.lower[j]), float(self.upper[j])

    def values(self, j: int) -> Array | None:
        """What a column is at all, where it takes some values only."""
        return self._atoms[j].values if j in self._atoms else None
