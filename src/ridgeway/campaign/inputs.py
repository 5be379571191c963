"""Inputs as people have them: names, units, log scales, steps, categories, constraints, and values that stay fixed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway import names as _names
from ridgeway.errors import CampaignError, RidgewayWarning
from ridgeway.spaces import linear_constraints
from ridgeway.spaces.linear_constraints import LinearConstraint
from ridgeway.types import Array

if TYPE_CHECKING:  # a command that only looks at a campaign must not wait for SciPy
    from ridgeway.spaces.box import Box

_DIGITS = 5  # a proposal is rounded to this many decimals of an input's range: a sheet shows what is stored
_SAME = 1e-6  # of an input's range: values this close are one, whatever a spreadsheet rounded


@dataclass(frozen=True)
class Input:
    """An input that experiments vary, between ``lower`` and ``upper``.

    With ``log`` every decade counts the same, with ``integer`` proposals are whole numbers, and with ``step`` they are
    ``lower``, ``lower + step`` and so on.

    >>> Input("rate", 0.001, 10.0, unit="1/s", log=True).label
    'rate [1/s]'
    """

    name: str
    lower: float
    upper: float
    unit: str | None = None
    log: bool = False
    integer: bool = False
    step: float | None = None

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
        self._check_step()

    def _check_step(self) -> None:
        if self.step is None:
            return
        object.__setattr__(self, "step", _finite(self.step, f"step of input {self.name!r}"))
        width = self.upper - self.lower
        if not 0.0 < self.step <= width * (1.0 + 1e-9):
            raise ValueError(f"step of input {self.name!r} must be above 0 and at most {width:g}, got {self.step:g}")
        if self.log:
            raise ValueError(f"input {self.name!r} has a log scale or a step, not both")
        if self.integer and self.step % 1.0:
            raise ValueError(
                f"input {self.name!r} is an integer, so its step must be a whole number, got {self.step:g}"
            )

    @property
    def spacing(self) -> float | None:
        """The step between the values that may be proposed, where they are equally spaced."""
        return 1.0 if self.step is None and self.integer and not self.log else self.step

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
class Category:
    """An input that is one of several words, its ``levels``.

    The model sees a column of 0 and 1 for each level, which enter the directions like other inputs: two levels are
    alike as far as their weights are. Proposals have exactly one level.
    """

    name: str
    levels: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_name(self.name, None)
        levels = self.levels
        if isinstance(levels, str) or not all(isinstance(level, str) and level.strip() for level in levels):
            raise ValueError(f"levels of category {self.name!r} must be words, got {levels!r}")
        object.__setattr__(self, "levels", tuple(level.strip() for level in levels))
        if len(set(self.levels)) != len(self.levels) or len(self.levels) < 2:
            raise ValueError(f"category {self.name!r} must have at least two different levels, got {list(levels)}")
        if "=" in self.name:
            raise ValueError(f"the name of a category must not have an equals sign, got {self.name!r}")

    @property
    def label(self) -> str:
        """Its name, as it stands above a column."""
        return self.name

    @cached_property
    def columns(self) -> tuple[Input, ...]:
        """A column of 0 and 1 for each level."""
        return tuple(Input(f"{self.name}={level}", 0.0, 1.0) for level in self.levels)


Item = Input | Fixed | Category


@dataclass(frozen=True)
class InputList:
    """All inputs of an experiment in their order, and the way between their values and a learner's box.

    Values are ``(n, k)`` with a column for each input, fixed ones included, and for each level of a category. The
    learner sees the ``D`` free ones only, log-scaled ones as powers of ten. ``constraints`` are texts such as
    ``"A + B <= 1"``, in the names and units of the inputs.

    >>> rate, stages = Input("rate", 0.01, 1.0, log=True), Input("stages", 1, 4, integer=True)
    >>> inputs = InputList((rate, Fixed("load", 3.0), stages))
    >>> inputs.box
    Box(2 inputs: log10 of rate in [-2, 0], stages in [1, 4])
    >>> inputs.proposals(np.array([[-1.0, 2.7]]))
    array([[0.1, 3. , 3. ]])
    >>> inputs.coordinates(np.array([[0.1, 3.0, 3.0]]))
    array([[-1.,  3.]])
    """

    items: tuple[Item, ...]
    constraints: tuple[LinearConstraint, ...] = field(default=())

    def __post_init__(self) -> None:
        for item in self.items:
            if not isinstance(item, Input | Fixed | Category):
                raise TypeError(f"inputs must be a sequence of Input, Category and Fixed, got {item!r}")
        _names.checked([item.name for item in self.items])
        _names.checked(self.names)
        if not self._free:
            raise ValueError("inputs must have at least one that varies: an Input with lower and upper")
        object.__setattr__(self, "constraints", self._read(self.constraints))

    def _read(self, given: Any) -> tuple[LinearConstraint, ...]:
        """Constraints about numbers on a linear scale, fixed ones included; an input on a log scale, or a level of a
        category, may stand in one alone.
        """
        columns = {column.name: column for column in self.columns}
        items = {item.name: item for item in self.items}
        found = linear_constraints.read_all(given, list(items | columns))
        for constraint in found:
            for name, weight in constraint.terms:
                if isinstance(items.get(name), Category):
                    raise ValueError(
                        f"constraint '{constraint}': {name!r} is a category, not a number: hold it at one of its levels"
                    )
                if not getattr(columns[name], "log", False):
                    continue
                if len(constraint.terms) > 1:
                    raise ValueError(
                        f"constraint '{constraint}': {name!r} has a log scale, on which a sum is not linear: give it "
                        "a linear scale, or leave it out of the constraint"
                    )
                if constraint.bound / weight <= 0.0:
                    raise ValueError(f"constraint '{constraint}': {name!r} has a log scale, so it must be positive")
        return found

    def shown(self, constraint: LinearConstraint) -> str:
        """A constraint as people read it: a category that is held at a level reads ``solvent = water``."""
        for levels in self.levels if len(constraint.terms) == 1 and constraint.is_equality else ():
            for j, word in zip(levels.places, levels.words, strict=True):
                if constraint.terms[0][0] == self.names[j]:
                    return f"{levels.name} = {word}"
        return str(constraint)

    @classmethod
    def of(cls, inputs: Sequence[Item] | Box | InputList, constraints: Any = ()) -> InputList:
        """From a sequence of ``Input``, ``Category`` and ``Fixed``, or from a box."""
        if isinstance(inputs, InputList):
            return inputs if not constraints else cls(inputs.items, (*inputs.constraints, *_listed(constraints)))
        from ridgeway.spaces.box import Box

        if isinstance(inputs, Box):
            if inputs.categories:
                raise ValueError(
                    "a campaign has its categories as inputs: give Input and Category in place of a Box with categories"
                )
            labels = inputs.names or [f"x{j}" for j in range(inputs.D)]
            steps = inputs.steps or (None,) * inputs.D
            items = [
                Input(label, low, high, step=step)
                for label, low, high, step in zip(
                    labels, inputs.lower.tolist(), inputs.upper.tolist(), steps, strict=True
                )
            ]
            return cls(tuple(items), (*inputs.constraints, *_listed(constraints)))
        return cls(tuple(inputs), _listed(constraints))

    @cached_property
    def columns(self) -> tuple[Input | Fixed, ...]:
        """What stands in each column of values: a category has one for each level."""
        parts = [item.columns if isinstance(item, Category) else (item,) for item in self.items]
        return tuple(column for part in parts for column in part)

    @cached_property
    def levels(self) -> tuple[Levels, ...]:
        """For each category its name, the places of its columns, and its words."""
        found, at = [], 0
        for item in self.items:
            width = len(item.columns) if isinstance(item, Category) else 1
            if isinstance(item, Category):
                found.append(Levels(item.name, tuple(range(at, at + width)), item.levels))
            at += width
        return tuple(found)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Names with units, of all columns."""
        return tuple(column.label for column in self.columns)

    @cached_property
    def free(self) -> tuple[int, ...]:
        """Places of the columns that vary: where each of the learner's stands."""
        return tuple(j for j, column in enumerate(self.columns) if isinstance(column, Input))

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """Labels of what the learner sees: those that vary, by their logarithm where the scale is one."""
        return self.box.labels

    @cached_property
    def box(self) -> Box:
        """Where the learner may go; a logarithm is called so, lest a table of the values themselves be taken for it."""
        from ridgeway.spaces.box import Box

        names = [_log_name(item.name) if item.log else item.name for item in self._free]
        place = {column: i for i, column in enumerate(self.free)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RidgewayWarning)  # its remarks are said once, when a campaign is made
            return Box(
                *self._logged(self._ends),
                names=names,
                units=[item.unit for item in self._free],
                constraints=self._about_free,
                steps=[item.spacing for item in self._free],
                categories=[[place[j] for j in levels.places] for levels in self.levels],
            )

    @property
    def _about_free(self) -> list[LinearConstraint]:
        """What the constraints say about the inputs that vary, with the fixed ones at their values."""
        values = {item.name: item.value for item in self.items if isinstance(item, Fixed)}
        left = []
        for constraint in self.constraints:
            found = constraint.with_values(values)
            if found.terms:
                left.append(self._logged_constraint(found))
                continue
            x = np.array([[values[name] for name, _ in constraint.terms]])
            if constraint.excess(x, [name for name, _ in constraint.terms])[0] > 1e-9:
                held = ", ".join(f"{name} = {values[name]:g}" for name, _ in constraint.terms)
                raise ValueError(f"constraint '{constraint}' contradicts the fixed inputs: {held}")
        return left

    def _logged_constraint(self, constraint: LinearConstraint) -> LinearConstraint:
        """The same about the logarithm, where it is about an input on a log scale."""
        (name, weight), *others = constraint.terms
        if others or not any(item.log for item in self._free if item.name == name):
            return constraint
        sign = math.copysign(1.0, weight)
        return LinearConstraint(
            ((_log_name(name), sign),), constraint.relation, sign * math.log10(constraint.bound / weight)
        )

    def proposals(self, X: Array) -> Array:
        """Values ``(n, k)`` to propose for the learner's points ``X (n, D)``: rounded, and within the ends.

        Where constraints hold at a point, they hold at its proposal.
        """
        lower, upper = self._narrow_ends
        X = np.clip(X, *self._logged((lower, upper)))
        values = np.where(self._is_log, 10.0 ** np.where(self._is_log, X, 0.0), X)
        width = np.where(self._is_log, np.abs(values), self._ends[1] - self._ends[0])  # log scales keep their digits
        decimals = np.where(self._is_integer, 0.0, _DIGITS - np.floor(np.log10(width)))
        near = np.round(values) if self._is_integer.all() else _round(values, decimals)
        on_lattice = values if self.box.lattice is None else self.box.lattice.rounded(X)
        rounded: Array = np.where(self._is_stepped, on_lattice, np.clip(near, lower, upper))
        if self.box.constraints:
            from ridgeway.campaign.rounding import rounded_within

            # Sums are of numbers on a linear scale: the logarithms of the others stay as they are.
            beside: Array = np.where(self._is_log, X, rounded)
            within = rounded_within(self.box, X, beside, ~(self._is_stepped | self._is_log), decimals)
            rounded = np.where(self._is_log, rounded, within)
        full = np.empty((X.shape[0], len(self.columns)))
        full[:, ~self._varies] = [item.value for item in self.items if isinstance(item, Fixed)]
        full[:, self._varies] = rounded
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
        """What is wrong with one row ``(k,)``: the column's place and a phrase; ``None`` if it will do."""
        for j, (item, value) in enumerate(zip(self.columns, row.tolist(), strict=True)):
            if isinstance(item, Fixed):
                if abs(value - item.value) > _SAME * max(abs(item.value), 1e-300):
                    return j, f"is {value:g}, but this input is fixed at {item.value:g}"
                continue
            if item.log and value <= 0.0:
                return j, f"is {value:g}, but this input has a log scale and must be positive"
            slack = _SAME * (item.upper - item.lower)
            if not outside and not item.lower - slack <= value <= item.upper + slack:
                return j, f"is {value:g}, not within [{item.lower:g}, {item.upper:g}]"
        for levels in self.levels:
            if sorted(row[list(levels.places)].tolist()) != [0.0] * (len(levels.words) - 1) + [1.0]:
                return levels.places[0], f"is no single level of {levels.name!r}: one of {', '.join(levels.words)}"
        return None

    def broken(self, row: Array) -> LinearConstraint | None:
        """A constraint that one row ``(k,)`` does not satisfy."""
        return next((c for c in self.constraints if c.excess(row[None], self.names)[0] > _SAME), None)

    def same(self, a: Array, b: Array) -> bool:
        """Whether two rows of values are one point as far as a spreadsheet can tell."""
        X = self.coordinates(np.stack([a, b]))
        lower, upper = self._logged(self._ends)
        return bool(np.all(np.abs(X[0] - X[1]) <= _SAME * (upper - lower)))

    def to_list(self) -> list[dict[str, Any]]:
        """A description of the items that JSON can hold."""
        found = [{k: v for k, v in asdict(item).items() if v is not None and v is not False} for item in self.items]
        return [{k: list(v) if isinstance(v, tuple) else v for k, v in item.items()} for item in found]

    @classmethod
    def from_list(cls, description: Sequence[Mapping[str, Any]], constraints: Sequence[str] = ()) -> InputList:
        """What :meth:`to_list` described, with its constraints as texts."""
        flags = ("log", "integer")  # early versions stored whatever stood for true
        plain: list[dict[str, Any]] = [
            {k: bool(v) if k in flags else v for k, v in item.items()} for item in description
        ]
        return cls(tuple(_item(item) for item in plain), _listed(constraints))

    @cached_property
    def _free(self) -> list[Input]:
        return [column for column in self.columns if isinstance(column, Input)]

    @cached_property
    def _varies(self) -> Any:
        return np.array([isinstance(column, Input) for column in self.columns])

    @cached_property
    def _is_stepped(self) -> Any:
        """Whose values are exact as the learner gives them: in steps, and levels of categories."""
        leveled = {j for levels in self.levels for j in levels.places}
        return np.array([self.columns[j].spacing is not None or j in leveled for j in self.free])  # type: ignore[union-attr]

    @cached_property
    def _is_log(self) -> Any:
        return np.array([item.log for item in self._free])

    @cached_property
    def _is_integer(self) -> Any:
        return np.array([item.integer for item in self._free])

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        return np.array([item.lower for item in self._free]), np.array([item.upper for item in self._free])

    @cached_property
    def _narrow_ends(self) -> tuple[Array, Array]:
        """The ends, narrowed by the constraints about one input alone: one that is held has equal ends."""
        lower, upper = (side.copy() for side in self._ends)
        place = {item.name: j for j, item in enumerate(self._free)}
        for constraint in self.constraints:
            name, weight = constraint.terms[0]
            if len(constraint.terms) > 1 or name not in place:
                continue
            j, value = place[name], constraint.bound / weight
            if constraint.relation == "=" or (constraint.relation == "<=") == (weight > 0.0):
                upper[j] = min(upper[j], value)
            if constraint.relation == "=" or (constraint.relation == ">=") == (weight > 0.0):
                lower[j] = max(lower[j], value)
        return lower, upper

    def _logged(self, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        lower, upper = (np.where(self._is_log, np.log10(np.where(self._is_log, side, 1.0)), side) for side in ends)
        return lower, upper


@dataclass(frozen=True)
class Levels:
    """Where the levels of a category stand among the columns of values."""

    name: str
    places: tuple[int, ...]
    words: tuple[str, ...]

    def word(self, x: Array) -> str:
        """The level of one row of values ``(k,)``."""
        return self.words[int(np.argmax(x[list(self.places)]))]

    def row(self, word: Any) -> Array:
        """The columns of 0 and 1 of a level."""
        if word not in self.words:
            raise CampaignError(f"input {self.name!r} must be one of {', '.join(self.words[:6])}, got {word!r}")
        return np.array([float(other == word) for other in self.words])


def _log_name(name: str) -> str:
    return f"log10 of {name}"


def _item(description: dict[str, Any]) -> Item:
    if "levels" in description:
        return Category(description["name"], tuple(description["levels"]))
    return Fixed(**description) if "value" in description else Input(**description)


def _listed(constraints: Any) -> tuple[Any, ...]:
    return (constraints,) if isinstance(constraints, str | LinearConstraint) else tuple(constraints or ())


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
