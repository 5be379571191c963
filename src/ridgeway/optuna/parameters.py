"""Parameters of a study as the inputs of a learner, and back.

A learner sees every number between 0 and 1, along its scale: linear or logarithmic as its distribution says, in steps
where it has some. A category is an input for each of its choices, of which one is 1 and the others are 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from ridgeway.spaces.box import Box
from ridgeway.types import Array


class Parameter(Protocol):
    """A parameter of a study, and the inputs that stand for it."""

    @property
    def name(self) -> str:
        """As the study calls it."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of its inputs."""

    @property
    def step(self) -> float | None:
        """The distance between values of its inputs; ``None`` where any will do."""

    def coordinates(self, values: Sequence[Any]) -> Array:
        """Its inputs for each of ``values``, ``(n, len(inputs))``."""

    def value(self, coordinates: Array) -> Any:
        """The value that its inputs stand for."""


@dataclass(frozen=True)
class Number:
    """A float or an int."""

    name: str
    distribution: FloatDistribution | IntDistribution

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.name,)

    @cached_property
    def step(self) -> float | None:
        about = self.distribution
        # Whole numbers on a log scale are not evenly spaced, and are rounded instead.
        return None if about.log or not about.step else about.step / (about.high - about.low)

    def coordinates(self, values: Sequence[Any]) -> Array:
        low, high = self._ends
        found: Array = (self._scaled(np.array(values, dtype=float)) - low) / (high - low)
        return found[:, None]

    def value(self, coordinates: Array) -> float | int:
        low, high = self._ends
        about, found = self.distribution, low + float(coordinates[0]) * (high - low)
        found = float(np.exp(found)) if about.log else found
        if about.step:
            found = about.low + round((found - about.low) / about.step) * about.step
        found = min(max(found, about.low), about.high)
        return round(found) if isinstance(about, IntDistribution) else float(found)

    @property
    def _ends(self) -> tuple[float, float]:
        low, high = self._scaled(np.array([self.distribution.low, self.distribution.high], dtype=float)).tolist()
        return low, high

    def _scaled(self, values: Array) -> Array:
        return np.log(values) if self.distribution.log else values


@dataclass(frozen=True)
class Category:
    """One of several choices."""

    name: str
    choices: tuple[Any, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(f"{self.name} = {choice!r}" for choice in self.choices)

    @property
    def step(self) -> None:
        return None

    def coordinates(self, values: Sequence[Any]) -> Array:
        found = np.zeros((len(values), len(self.choices)))
        found[np.arange(len(values)), [self._place(value) for value in values]] = 1.0
        return found

    def value(self, coordinates: Array) -> Any:
        return self.choices[int(np.argmax(coordinates))]

    def _place(self, value: Any) -> int:
        # 1, 1.0 and True are equal, but not the same choice.
        same = (i for i, choice in enumerate(self.choices) if type(choice) is type(value) and choice == value)
        return next(same, self.choices.index(value))


@dataclass(frozen=True)
class Parameters:
    """Parameters of a study in the order of their names."""

    items: tuple[Parameter, ...]

    @classmethod
    def of(cls, search_space: Mapping[str, BaseDistribution]) -> Parameters:
        """All parameters of a search space that can vary."""
        return cls(tuple(_parameter(name, found) for name, found in sorted(search_space.items()) if not found.single()))

    @cached_property
    def box(self) -> Box:
        """Where a learner looks for points."""
        names = [name for item in self.items for name in item.inputs]
        steps = [item.step for item in self.items for _ in item.inputs]
        levels = [item.inputs for item in self.items if isinstance(item, Category)]
        ends = np.zeros(len(names)), np.ones(len(names))
        return Box(*ends, names=names, steps=steps if any(steps) else None, categories=levels)

    def points(self, rows: Sequence[Mapping[str, Any]]) -> Array:
        """Points ``(n, D)`` of trials by their values, which may lie outside where ranges have changed."""
        parts = [item.coordinates([row[item.name] for row in rows]) for item in self.items]
        return np.concatenate(parts, axis=1) if rows else np.zeros((0, self.box.D))

    def values(self, x: Array) -> dict[str, Any]:
        """The values of one point ``(D,)``."""
        ends = np.cumsum([len(item.inputs) for item in self.items])[:-1]
        return {item.name: item.value(part) for item, part in zip(self.items, np.split(x, ends), strict=True)}


def _parameter(name: str, distribution: BaseDistribution) -> Parameter:
    if isinstance(distribution, CategoricalDistribution):
        return Category(name, distribution.choices)
    if isinstance(distribution, FloatDistribution | IntDistribution):
        return Number(name, distribution)
    raise ValueError(f"parameter {name!r} must be a float, an int or a category, got {distribution}")
