"""A box: every input between two numbers, perhaps in steps or as one of several levels, under linear constraints."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ridgeway import checks
from ridgeway import names as _names
from ridgeway.errors import RidgewayWarning
from ridgeway.spaces import linear_constraints
from ridgeway.spaces.linear_constraints import LinearConstraint
from ridgeway.types import Array, Inputs

if TYPE_CHECKING:  # most boxes have neither, and need not wait for the import of solvers
    from ridgeway.spaces.lattice import Lattice
    from ridgeway.spaces.polytope import Polytope

_MOST_FOR_SOBOL = 64  # inputs of a Sobol sequence


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Box:
    """The points between ``lower`` and ``upper``.

    Each is a sequence of one number for each input, or a single number for all of them; two single
    numbers make a box of one input, or of as many as there are ``names``.

    Where there are ``names``, a table of points is brought into their order; ``units`` are shown beside them.

    ``constraints`` are texts such as ``"A + B + C = 1"`` or ``"2 A - B <= 3"``, with the names of the inputs (``x0``,
    ``x1``, ... where they have none). ``steps`` has a number for each input that only takes the values
    ``lower, lower + step, ...``, and ``None`` for the others. ``categories`` are groups of columns, by position or
    name, of which exactly one is 1 and the others are 0; a constraint may hold one of them at 1, or at 0. All points
    that a box gives satisfy all of these.

    >>> box = Box([0.0, 20.0], [1.0, 80.0], names=["share", "temperature"], units=[None, "°C"])
    >>> box
    Box(2 inputs: share in [0, 1], temperature [°C] in [20, 80])
    >>> box.contains([[0.5, 30.0], [0.5, 90.0]])
    array([ True, False])
    >>> box.filling(5, np.random.default_rng(0)).shape
    (5, 2)
    >>> mixture = Box(0.0, 1.0, names=["A", "B", "C"], constraints=["A + B + C = 1", "A <= 2 B"])
    >>> mixture.uniform(3, np.random.default_rng(0)).sum(axis=1).round(9)
    array([1., 1., 1.])
    """

    lower: Array  # (D,)
    upper: Array  # (D,)
    names: tuple[str, ...] | None
    units: tuple[str | None, ...] | None
    constraints: tuple[LinearConstraint, ...]
    steps: tuple[float | None, ...] | None
    categories: tuple[tuple[int, ...], ...]

    def __init__(
        self,
        lower: npt.ArrayLike,
        upper: npt.ArrayLike,
        names: Sequence[str] | None = None,
        units: Sequence[str | None] | None = None,
        constraints: Sequence[str | LinearConstraint] | str = (),
        steps: Sequence[float | None] | None = None,
        categories: Sequence[Sequence[int | str]] = (),
    ):
        names = _names.checked(names)
        low, high = (_side(value, name) for value, name in ((lower, "lower"), (upper, "upper")))
        D = _number_of_inputs(low, high, names)
        _names.checked(names, D)
        low, high = (np.broadcast_to(side, (D,)) + 0.0 for side in (low, high))  # a copy, without -0.0
        _check_sides(low, high, names)
        low.flags.writeable = high.flags.writeable = False
        shown = _names.checked_units(units, D)
        for field, value in (("lower", low), ("upper", high), ("names", names), ("units", shown)):
            object.__setattr__(self, field, value)
        object.__setattr__(self, "steps", _checked_steps(steps, low, high, names))
        object.__setattr__(self, "categories", _checked_categories(categories, self))
        object.__setattr__(self, "constraints", linear_constraints.read_all(constraints, self.called))
        self._check_constraints()

    def _check_constraints(self) -> None:
        """Raise where constraints leave nothing, and warn about those that change nothing."""
        for constraint in self.constraints:
            for name, _ in constraint.terms:
                if name in self._leveled_names and self._level(constraint) is None:
                    raise ValueError(
                        f"constraint '{constraint}': {name!r} is a level of a category, which is 0 or 1, not a number"
                    )
        for columns, choices in zip(self.categories, self._choices, strict=True):
            if not choices:
                levels = ", ".join(self.called[j] for j in columns)
                raise ValueError(f"constraints leave no level of a category: {levels}")
        if self.polytope is None:
            return
        for remark in self.remarks:
            warnings.warn(remark, RidgewayWarning, stacklevel=3)
        if self.lattice is not None and self.lattice.stepped.any():
            self.lattice.snapped(self._user(self.polytope.center[None]))  # raises where no combination of steps is left

    @property
    def D(self) -> int:
        """How many inputs."""
        return self.lower.shape[0]

    @cached_property
    def called(self) -> tuple[str, ...]:
        """What a constraint calls each input: its name, or ``x0``, ``x1``, ..."""
        return _names.labels(self.names, self.D)

    @cached_property
    def _leveled_names(self) -> frozenset[str]:
        return frozenset(self.called[j] for columns in self.categories for j in columns)

    def _level(self, constraint: LinearConstraint) -> tuple[int, bool] | None:
        """The column of a level that a constraint holds at 1 or at 0, and which of the two."""
        name, weight = constraint.terms[0]
        value = constraint.bound / weight
        if len(constraint.terms) > 1 or not constraint.is_equality or value not in (0.0, 1.0):
            return None
        return (self.called.index(name), value == 1.0) if name in self._leveled_names else None

    @cached_property
    def _choices(self) -> tuple[tuple[int, ...], ...]:
        """Of each category the columns of the levels that constraints allow."""
        held = [level for level in map(self._level, self.constraints) if level is not None]

        def is_allowed(j: int, columns: tuple[int, ...]) -> bool:
            return all((i == j) == taken for i, taken in held if i == j or (taken and i in columns))

        return tuple(tuple(j for j in columns if is_allowed(j, columns)) for columns in self.categories)

    @property
    def unconstrained(self) -> Box:
        """The same inputs, free of each other."""
        if not self.constraints:
            return self
        return Box(self.lower, self.upper, self.names, self.units, steps=self.steps, categories=self.categories)

    @property
    def polytope(self) -> Polytope | None:
        """Where the constraints hold, in inputs scaled to [-1, 1]; ``None`` without constraints."""
        return self._polytope[0]

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences about constraints that change nothing."""
        return self._polytope[1]

    @cached_property
    def _polytope(self) -> tuple[Polytope | None, tuple[str, ...]]:
        about_numbers = [constraint for constraint in self.constraints if self._level(constraint) is None]
        if not about_numbers:
            return None, ()
        from ridgeway.spaces.polytope import Polytope

        return Polytope.of(about_numbers, self.called, self.lower, self.upper)

    @cached_property
    def lattice(self) -> Lattice | None:
        """Which values the inputs may take; ``None`` where all vary freely."""
        if self.steps is None and not self.categories:
            return None
        from ridgeway.spaces.lattice import Lattice

        steps = np.array([step or 0.0 for step in self.steps or (None,) * self.D])
        return Lattice(self.lower, self.upper, steps, self.categories, self.polytope, self._choices)

    @property
    def _steps_under_constraints(self) -> Lattice | None:
        """The lattice, where constraints hold and some input moves in steps."""
        found = self.lattice
        return None if self.polytope is None or found is None or not found.stepped.any() else found

    @property
    def labels(self) -> tuple[str, ...]:
        """What each input is called where it is shown."""
        return _names.labels(self.names, self.D, self.units)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """``(lower, upper)``, each ``(D,)``."""
        return self.lower, self.upper

    def contains(self, X: Inputs, tolerance: float = 1e-9) -> npt.NDArray[np.bool_]:
        """Which rows of ``X``, ``(n, D)``, lie in the box and satisfy its constraints.

        ``tolerance`` is a share of each width, and of the size of each constraint's terms. Steps and categories are
        for proposals: a point between them is in the box.
        """
        if not tolerance >= 0.0:
            raise ValueError(f"tolerance must be a number of at least 0, got {tolerance!r}")
        X = checks.inputs(X, names=self.names)
        if X.shape[1] != self.D:
            raise ValueError(f"X must have one column for each of the {self.D} inputs of the box, got {X.shape[1]}")
        X = X.toarray() if sparse.issparse(X) else X
        slack = tolerance * self.upper - tolerance * self.lower  # the width itself may overflow
        above, below = self.lower - slack <= X, self.upper + slack >= X
        inside: npt.NDArray[np.bool_] = (above & below).all(axis=1)
        for constraint in self.constraints:
            inside = inside & (constraint.excess(X, self.called) <= tolerance)
        return inside

    def broken(self, x: Array, tolerance: float = 1e-6) -> LinearConstraint | None:
        """A constraint that the point ``x (D,)`` does not satisfy."""
        return next((c for c in self.constraints if c.excess(x[None], self.called)[0] > tolerance), None)

    def uniform(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` points drawn independently, ``(n, D)``; nearly independently where there are constraints."""
        n = checks.count(n, "n")
        if self.polytope is not None:
            steps = self._steps_under_constraints
            return self._allowed(self.polytope.uniform(n, rng)) if steps is None else steps.uniform(n, rng)
        return self._from_unit(rng.random((n, self.D)))

    def latin_hypercube(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` points of which each input has one in each of ``n`` equal parts of its range, ``(n, D)``.

        Constraints do not allow that: with them the points are those of :meth:`filling`.
        """
        n = checks.count(n, "n")
        if self.polytope is not None:
            return self.filling(n, rng)
        parts = rng.permuted(np.tile(np.arange(n), (self.D, 1)), axis=1).T
        return self._from_unit((parts + rng.random((n, self.D))) / max(n, 1))

    def filling(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` points that fill the box evenly, ``(n, D)``: a scrambled Sobol sequence.

        With more than 64 inputs it would take very many points to be even in each pair: there it is a Latin hypercube.
        With constraints the points are chosen one after the other from random ones, each so that the points so far
        are spread as evenly as possible.
        """
        n = checks.count(n, "n")
        if self.polytope is not None:
            steps = self._steps_under_constraints
            if steps is None:
                return self._allowed(self.polytope.filling(n, rng))
            from ridgeway.spaces.polytope import candidates, spread

            X = steps.uniform(candidates(n), rng)
            return X[spread(self.scaled(X), n)]
        if self.D > _MOST_FOR_SOBOL:
            return self.latin_hypercube(n, rng)
        from scipy.stats import qmc  # importing it takes half a second, and most choices do not need it

        # Whole powers of two, cut: SciPy warns about any other number, and the points are the same.
        points = qmc.Sobol(self.D, scramble=True, rng=_seed(rng)).random_base2(max(n - 1, 0).bit_length())
        return self._from_unit(points[:n])

    def scattered(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` points all over the box, ``(n, D)``, where a search begins: steps do not matter yet."""
        if self.polytope is None:
            return self.latin_hypercube(n, rng)
        X = self._user(self.polytope.uniform(n, rng))
        return X if self.lattice is None else self.lattice.drawn_levels(X, X)

    def nearest(self, X: Array) -> Array:
        """The nearest point where the constraints hold to each of ``X (n, D)``; steps do not matter."""
        X = X if self.lattice is None else self.lattice.with_levels(X)
        inside = np.clip(X, self.lower, self.upper)
        if self.polytope is None:
            return inside
        held = None if self.lattice is None else self.lattice.leveled
        outside = self.polytope.excess(self.scaled(inside)) > self.polytope.settings.holds
        if outside.any():
            inside[outside] = self._user(self.polytope.nearest(self.scaled(X[outside]), held))
        return inside

    def snapped(self, X: Array) -> Array:
        """The nearest point that may be proposed to each of ``X (n, D)``: in steps, one level of each category."""
        return self.nearest(X) if self.lattice is None else self.lattice.snapped(self.nearest(X))

    def scaled(self, X: Array) -> Array:
        """Inputs in [-1, 1], ``(n, D)``."""
        center, half = 0.5 * self.lower + 0.5 * self.upper, 0.5 * self.upper - 0.5 * self.lower
        return np.asarray((X - center) / half)

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold, for :meth:`from_dict`."""
        names = None if self.names is None else list(self.names)
        units = None if self.units is None else list(self.units)
        ends = {"lower": self.lower.tolist(), "upper": self.upper.tolist()}
        found: dict[str, Any] = {"kind": "box", **ends, "names": names, "units": units}
        if self.constraints:  # these came later: a box without them is stored as it always was
            found["constraints"] = [str(constraint) for constraint in self.constraints]
        if self.steps is not None:
            found["steps"] = list(self.steps)
        if self.categories:
            found["categories"] = [list(columns) for columns in self.categories]
        return found

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Box:
        """The box that :meth:`to_dict` described."""
        if description.get("kind") != "box":
            raise ValueError(f"description must be of kind 'box', got {description.get('kind')!r}")
        checks.keys(description, ("lower", "upper", "names"), "description")
        later = {key: description.get(key) for key in ("units", "constraints", "steps", "categories")}
        given = {key: value for key, value in later.items() if value is not None}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RidgewayWarning)  # about a constraint that changes nothing: said before
            return cls(description["lower"], description["upper"], description["names"], **given)

    def _user(self, V: Array) -> Array:
        """From inputs in [-1, 1]."""
        return self._mean_of_ends(0.5 + 0.5 * V)

    def _allowed(self, V: Array) -> Array:
        """Points that may be proposed, for draws ``V`` in inputs scaled to [-1, 1]."""
        X = self._user(V)
        return X if self.lattice is None else self.lattice.snapped(self.lattice.drawn_levels(X, X))

    def _from_unit(self, U: Array) -> Array:
        return self._mean_of_ends(U) if self.lattice is None else self.lattice.from_unit(U)

    def _mean_of_ends(self, U: Array) -> Array:
        # A mean of the two ends cannot overflow as the width can; its rounding can leave the box.
        return np.clip((1.0 - U) * self.lower + U * self.upper, self.lower, self.upper)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Box):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        ends = self.lower.tobytes(), self.upper.tobytes()
        return *ends, self.names, self.units, self.constraints, self.steps, self.categories

    def __repr__(self) -> str:
        ranges = [f"{self.labels[j]} in [{self.lower[j]:g}, {self.upper[j]:g}]" for j in range(min(self.D, 4))]
        shown = [_names.listed(ranges), *map(str, self.constraints[:2]), *["..."] * (len(self.constraints) > 2)]
        return f"Box({self.D} input{'s' * (self.D > 1)}: {'; '.join(shown)})"


def _seed(rng: np.random.Generator) -> int:
    # SciPy would spawn a child generator, which does not change the state of its parent: a generator
    # restored from a file would then give the same points again.
    return int(rng.integers(2**63))


def _side(value: Any, name: str) -> Array:
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiu":
            raise ValueError
    except ValueError:
        raise TypeError(f"{name} must be a number or a sequence of numbers, got {value!r}") from None
    if array.ndim > 1 or array.size == 0:
        raise ValueError(f"{name} must be a number or have shape (D,) with D at least 1, got shape {array.shape}")
    return array.astype(np.float64)


def _number_of_inputs(lower: Array, upper: Array, names: tuple[str, ...] | None) -> int:
    if lower.ndim and upper.ndim and lower.shape != upper.shape:
        raise ValueError(
            f"lower and upper must have one number for each input, got {lower.shape[0]} and {upper.shape[0]}"
        )
    for side in (lower, upper):
        if side.ndim:
            return side.shape[0]
    if names is not None and not names:
        raise ValueError("names must have at least one entry, got none")
    return 1 if names is None else len(names)


def _check_sides(lower: Array, upper: Array, names: tuple[str, ...] | None) -> None:
    for side, name in ((lower, "lower"), (upper, "upper")):
        bad = np.flatnonzero(~np.isfinite(side))
        if bad.size:
            raise ValueError(f"{name} must be finite, got {side[bad[0]]} for input {_names.called(names, bad[0])}")
    wrong = np.flatnonzero(lower >= upper)
    if wrong.size:
        j = wrong[0]
        raise ValueError(f"lower must be below upper: input {_names.called(names, j)} has {lower[j]} and {upper[j]}")


def _checked_steps(
    steps: Any, lower: Array, upper: Array, names: tuple[str, ...] | None
) -> tuple[float | None, ...] | None:
    if steps is None:
        return None
    given = list(np.asarray(steps, dtype=object).ravel())
    if len(given) != len(lower):
        raise ValueError(f"steps must have a number or None for each of the {len(lower)} inputs, got {len(given)}")
    found: list[float | None] = []
    for j, step in enumerate(given):
        if step is not None:
            number = isinstance(step, int | float | np.integer | np.floating) and not isinstance(step, bool)
            if not number or not 0.0 < step <= (upper[j] - lower[j]) * (1.0 + 1e-9):
                raise ValueError(
                    f"steps must be above 0 and at most the width of the range: input {_names.called(names, j)} has "
                    f"{step!r}"
                )
        found.append(None if step is None else float(step))
    return tuple(found) if any(step is not None for step in found) else None


def _checked_categories(categories: Any, box: Box) -> tuple[tuple[int, ...], ...]:
    found: list[tuple[int, ...]] = []
    seen: set[int] = set()
    for group in categories:
        columns = tuple(_column(entry, box) for entry in group)
        if len(columns) < 2:
            raise ValueError(f"categories must have at least two columns each, got {group!r}")
        for j in columns:
            if j in seen or (box.lower[j], box.upper[j]) != (0.0, 1.0) or (box.steps and box.steps[j] is not None):
                raise ValueError(
                    f"categories must be columns from 0 to 1 without a step, each in one category: got "
                    f"{_names.called(box.names, j)}"
                )
            seen.add(j)
        found.append(columns)
    return tuple(found)


def _column(entry: Any, box: Box) -> int:
    if isinstance(entry, str):
        if entry not in box.called:
            raise ValueError(f"categories must name inputs of the box, got {entry!r}")
        return box.called.index(entry)
    j = checks.count(entry, "a column of categories")
    if j >= box.D:
        raise ValueError(f"categories must be columns below {box.D}, got {j}")
    return j
