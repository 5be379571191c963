"""A box: every input between two numbers, and any point in it can be tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ridgeway import checks
from ridgeway import names as _names
from ridgeway.types import Array, Inputs

_MOST_FOR_SOBOL = 64  # inputs of a Sobol sequence


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Box:
    """The points between ``lower`` and ``upper``.

    Each is a sequence of one number for each input, or a single number for all of them; two single
    numbers make a box of one input, or of as many as there are ``names``.

    Where there are ``names``, a table of points is brought into their order; ``units`` are shown beside them.

    >>> box = Box([0.0, 20.0], [1.0, 80.0], names=["share", "temperature"], units=[None, "°C"])
    >>> box
    Box(2 inputs: share in [0, 1], temperature [°C] in [20, 80])
    >>> box.contains([[0.5, 30.0], [0.5, 90.0]])
    array([ True, False])
    >>> box.filling(5, np.random.default_rng(0)).shape
    (5, 2)
    """

    lower: Array  # (D,)
    upper: Array  # (D,)
    names: tuple[str, ...] | None
    units: tuple[str | None, ...] | None

    def __init__(
        self,
        lower: npt.ArrayLike,
        upper: npt.ArrayLike,
        names: Sequence[str] | None = None,
        units: Sequence[str | None] | None = None,
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

    @property
    def D(self) -> int:
        """How many inputs."""
        return self.lower.shape[0]

    @property
    def labels(self) -> tuple[str, ...]:
        """What each input is called where it is shown."""
        return _names.labels(self.names, self.D, self.units)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """``(lower, upper)``, each ``(D,)``."""
        return self.lower, self.upper

    def contains(self, X: Inputs, tolerance: float = 1e-9) -> npt.NDArray[np.bool_]:
        """Which rows of ``X``, ``(n, D)``, lie in the box; ``tolerance`` is a share of each width."""
        if not tolerance >= 0.0:
            raise ValueError(f"tolerance must be a number of at least 0, got {tolerance!r}")
        X = checks.inputs(X, names=self.names)
        if X.shape[1] != self.D:
            raise ValueError(f"X must have one column for each of the {self.D} inputs of the box, got {X.shape[1]}")
        X = X.toarray() if sparse.issparse(X) else X
        slack = tolerance * self.upper - tolerance * self.lower  # the width itself may overflow
        above, below = self.lower - slack <= X, self.upper + slack >= X
        inside: npt.NDArray[np.bool_] = (above & below).all(axis=1)
        return inside

    def uniform(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` points drawn independently, ``(n, D)``."""
        return self._from_unit(rng.random((checks.count(n, "n"), self.D)))

    def latin_hypercube(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` points of which each input has one in each of ``n`` equal parts of its range, ``(n, D)``."""
        n = checks.count(n, "n")
        parts = rng.permuted(np.tile(np.arange(n), (self.D, 1)), axis=1).T
        return self._from_unit((parts + rng.random((n, self.D))) / max(n, 1))

    def filling(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` points that fill the box evenly, ``(n, D)``: a scrambled Sobol sequence.

        With more than 64 inputs it would take very many points to be even in each pair: there it is a Latin hypercube.
        """
        n = checks.count(n, "n")
        if self.D > _MOST_FOR_SOBOL:
            return self.latin_hypercube(n, rng)
        from scipy.stats import qmc  # importing it takes half a second, and most choices do not need it

        # Whole powers of two, cut: SciPy warns about any other number, and the points are the same.
        points = qmc.Sobol(self.D, scramble=True, rng=_seed(rng)).random_base2(max(n - 1, 0).bit_length())
        return self._from_unit(points[:n])

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold, for :meth:`from_dict`."""
        names = None if self.names is None else list(self.names)
        units = None if self.units is None else list(self.units)
        ends = {"lower": self.lower.tolist(), "upper": self.upper.tolist()}
        return {"kind": "box", **ends, "names": names, "units": units}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Box:
        """The box that :meth:`to_dict` described."""
        if description.get("kind") != "box":
            raise ValueError(f"description must be of kind 'box', got {description.get('kind')!r}")
        checks.keys(description, ("lower", "upper", "names"), "description")
        return cls(description["lower"], description["upper"], description["names"], description.get("units"))

    def _from_unit(self, U: Array) -> Array:
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
        return self.lower.tobytes(), self.upper.tobytes(), self.names, self.units

    def __repr__(self) -> str:
        ranges = [f"{self.labels[j]} in [{self.lower[j]:g}, {self.upper[j]:g}]" for j in range(min(self.D, 4))]
        return f"Box({self.D} input{'s' * (self.D > 1)}: {_names.listed(ranges)})"


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
