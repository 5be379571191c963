"""Inputs as people have them: names, units, log scales, whole numbers and values that stay fixed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway import names as _names
from ridgeway.types import Array

if TYPE_CHECKING:  # a command that only looks at a campaign must not wait for SciPy
    from ridgeway.active.box import Box

_DIGITS = 5  # a proposal is rounded to this many decimals of an input's range: a sheet shows what is stored
_SAME = 1e-6  # of an input's range: values this close are one, whatever a spreadsheet rounded


@dataclass(frozen=True)
class Input:
    """An input that experiments vary, between ``lower`` and ``upper``.

    With ``log`` every decade counts the same, with ``integer`` proposals are whole numbers.

    >>> Input("rate", 0.001, 10.0, unit="1/s", log=True).label
    'rate [1/s]'
    """

    name: str
    lower: float
    upper: float
    unit: str | None = None
    log: bool = False
    integer: bool = False

    def __post_init__(self) -> None:
        _check_name(self.name, self.unit)
        for side in ("lower", "upper"):
            object.__setattr__(self, side, _finite(getattr(self, side), f"{side} of input {self.name!r}"))
        for flag in ("log", "integer"):
            if not isinstance(getattr(self, flag), bool | np.bool_):
                raise ValueError(f"{flag} of input {self.name!r} must be true or false, got {getattr(self, flag)!r}")
            object.__setattr__(self, flag, bool(getattr(self, flag)))
        if not self.lower < self.upper:
            raise ValueError(f"input {self.name!r} must have lower below upper, got {self.lower:g} and {self.upper:g}")
        if self.log and self.lower <= 0.0:
            raise ValueError(f"input {self.name!r} has a log scale, so lower must be positive, got {self.lower:g}")
        if self.integer and (self.lower % 1.0 or self.upper % 1.0):
            ends = f"{self.lower:g} and {self.upper:g}"
            raise ValueError(f"input {self.name!r} is an integer, so its ends must be whole numbers, got {ends}")

    @property
    def label(self) -> str:
        """Name and unit, as they stand above a column."""
        return _names.with_unit(self.name, self.unit)


@dataclass(frozen=True)
class Fixed:
    """An input that stays as it is: handed to every experiment, never varied."""

    name: str
    value: float
    unit: str | None = None

    def __post_init__(self) -> None:
        _check_name(self.name, self.unit)
        object.__setattr__(self, "value", _finite(self.value, f"value of input {self.name!r}"))

    @property
    def label(self) -> str:
        """Name and unit, as they stand above a column."""
        return _names.with_unit(self.name, self.unit)


@dataclass(frozen=True)
class InputList:
    """All inputs of an experiment in their order, and the way between their values and a learner's box.

    Values are ``(n, k)`` with a column for each input, fixed ones included. The learner sees the
    ``D`` free ones only, log-scaled ones as powers of ten.

    >>> rate, stages = Input("rate", 0.01, 1.0, log=True), Input("stages", 1, 4, integer=True)
    >>> inputs = InputList((rate, Fixed("load", 3.0), stages))
    >>> inputs.box
    Box(2 inputs: log10 of rate in [-2, 0], stages in [1, 4])
    >>> inputs.proposals(np.array([[-1.0, 2.7]]))
    array([[0.1, 3. , 3. ]])
    >>> inputs.coordinates(np.array([[0.1, 3.0, 3.0]]))
    array([[-1.,  3.]])
    """

    items: tuple[Input | Fixed, ...]

    def __post_init__(self) -> None:
        for item in self.items:
            if not isinstance(item, Input | Fixed):
                raise TypeError(f"inputs must be a sequence of Input and Fixed, got {item!r}")
        _names.checked([item.name for item in self.items])
        if not self._free:
            raise ValueError("inputs must have at least one that varies: an Input with lower and upper")

    @classmethod
    def of(cls, inputs: Sequence[Input | Fixed] | Box | InputList) -> InputList:
        """From a sequence of ``Input`` and ``Fixed``, or from a box."""
        if isinstance(inputs, InputList):
            return inputs
        from ridgeway.active.box import Box

        if isinstance(inputs, Box):
            labels = inputs.names or [f"x{j}" for j in range(inputs.D)]
            return cls(tuple(map(Input, labels, inputs.lower.tolist(), inputs.upper.tolist())))
        return cls(tuple(inputs))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all inputs."""
        return tuple(item.name for item in self.items)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Names with units, of all inputs."""
        return tuple(item.label for item in self.items)

    @cached_property
    def free(self) -> tuple[int, ...]:
        """Places of the inputs that vary: where each of the learner's stands."""
        return tuple(j for j, item in enumerate(self.items) if isinstance(item, Input))

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """Labels of what the learner sees: those that vary, by their logarithm where the scale is one."""
        return self.box.labels

    @cached_property
    def box(self) -> Box:
        """Where the learner may go; a logarithm is called so, lest a table of the values themselves be taken for it."""
        from ridgeway.active.box import Box

        names = [f"log10 of {item.name}" if item.log else item.name for item in self._free]
        return Box(*self._logged(self._ends), names=names, units=[item.unit for item in self._free])

    def proposals(self, X: Array) -> Array:
        """Values ``(n, k)`` to propose for the learner's points ``X (n, D)``: rounded, and within the ends."""
        lower, upper = self._ends
        values = np.where(self._is_log, 10.0 ** np.where(self._is_log, X, 0.0), X)
        width = np.where(self._is_log, np.abs(values), upper - lower)  # log scales keep significant digits
        decimals = np.where(self._is_integer, 0.0, _DIGITS - np.floor(np.log10(width)))
        rounded = np.round(values) if self._is_integer.all() else _round(values, decimals)
        full = np.empty((X.shape[0], len(self.items)))
        full[:, ~self._varies] = [item.value for item in self.items if isinstance(item, Fixed)]
        full[:, self._varies] = np.clip(rounded, lower, upper)
        return full

    def coordinates(self, values: Array) -> Array:
        """The learner's points ``(n, D)`` for values ``(n, k)``."""
        free = values[:, self._varies]
        bad = np.argwhere(self._is_log & (free <= 0.0))
        if bad.size:
            i, j = bad[0]
            raise ValueError(f"{self._free[j].name!r} has a log scale and must be positive, got {free[i, j]:g}")
        return np.where(self._is_log, np.log10(np.where(self._is_log, free, 1.0)), free)

    def problem(self, row: Array, outside: bool) -> tuple[int, str] | None:
        """What is wrong with one row ``(k,)``: the input's place and a phrase; ``None`` if it will do."""
        for j, (item, value) in enumerate(zip(self.items, row.tolist(), strict=True)):
            if isinstance(item, Fixed):
                if abs(value - item.value) > _SAME * max(abs(item.value), 1e-300):
                    return j, f"is {value:g}, but this input is fixed at {item.value:g}"
                continue
            if item.log and value <= 0.0:
                return j, f"is {value:g}, but this input has a log scale and must be positive"
            slack = _SAME * (item.upper - item.lower)
            if not outside and not item.lower - slack <= value <= item.upper + slack:
                return j, f"is {value:g}, not within [{item.lower:g}, {item.upper:g}]"
        return None

    def same(self, a: Array, b: Array) -> bool:
        """Whether two rows of values are one point as far as a spreadsheet can tell."""
        X = self.coordinates(np.stack([a, b]))
        return bool(np.all(np.abs(X[0] - X[1]) <= _SAME * (self.box.upper - self.box.lower)))

    def to_list(self) -> list[dict[str, Any]]:
        """A description that JSON can hold."""
        return [{k: v for k, v in asdict(item).items() if v is not None and v is not False} for item in self.items]

    @classmethod
    def from_list(cls, description: Sequence[Mapping[str, Any]]) -> InputList:
        """What :meth:`to_list` described."""
        flags = ("log", "integer")  # early versions stored whatever stood for true
        plain: list[dict[str, Any]] = [
            {k: bool(v) if k in flags else v for k, v in item.items()} for item in description
        ]
        return cls(tuple(Fixed(**item) if "value" in item else Input(**item) for item in plain))

    @cached_property
    def _free(self) -> list[Input]:
        return [item for item in self.items if isinstance(item, Input)]

    @cached_property
    def _varies(self) -> Any:
        return np.array([isinstance(item, Input) for item in self.items])

    @cached_property
    def _is_log(self) -> Any:
        return np.array([item.log for item in self._free])

    @cached_property
    def _is_integer(self) -> Any:
        return np.array([item.integer for item in self._free])

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        return np.array([item.lower for item in self._free]), np.array([item.upper for item in self._free])

    def _logged(self, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        lower, upper = (np.where(self._is_log, np.log10(np.where(self._is_log, side, 1.0)), side) for side in ends)
        return lower, upper


def _round(values: Array, decimals: Array) -> Array:
    """Each value at its own number of decimals; Python's rounding gives the float that prints shortest."""
    decimals = np.broadcast_to(decimals, values.shape)
    flat = [round(v, int(d)) for v, d in zip(values.ravel().tolist(), decimals.ravel().tolist(), strict=True)]
    return np.array(flat).reshape(values.shape)


def _check_name(name: Any, unit: Any) -> None:
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"an input's name must be a word, got {name!r}")
    if unit is not None and not isinstance(unit, str):
        raise ValueError(f"unit of input {name!r} must be a word, got {unit!r}")


def _finite(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ValueError(f"{what} must be a number, got {value!r}")
    if not math.isfinite(value):
        raise ValueError(f"{what} must be finite, got {value!r}")
    return float(value)
