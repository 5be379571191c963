"""``Record``: the observed, pending and failed points of one space. A value: every change makes a new one."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ridgeway import checks, columns, names
from ridgeway.errors import RidgewayWarning
from ridgeway.spaces.pool import Pool
from ridgeway.spaces.row_lookup import distinct
from ridgeway.spaces.space import Space
from ridgeway.types import Array

_REACH = 1e100  # ranges of an input that a point may be away
_SAME = 1e-6  # of an input's range: points this close are the same, because a spreadsheet may have rounded them


@dataclass(frozen=True)
class Record:
    """Observations, pending points, and points that failed."""

    space: Space
    X: Array  # (n, D) observed
    y: Array  # (n,)
    noise: Array  # (n,) known noise variances, 0 where nothing is known
    pending: Array  # (m, D) asked for, without an outcome yet
    failed: Array  # (k, D)
    reasons: tuple[str, ...]  # (k,)

    def __post_init__(self) -> None:
        for array in (self.X, self.y, self.noise, self.pending, self.failed):
            array.flags.writeable = False  # callers get them without a copy

    @classmethod
    def empty(cls, space: Space) -> Record:
        none = np.zeros((0, space.D))
        return cls(space, none, np.zeros(0), np.zeros(0), none, none, ())

    @property
    def n(self) -> int:
        """How many observations."""
        return self.y.shape[0]

    def first(self, n: int) -> Record:
        """With the first ``n`` observations only."""
        return self.part(slice(0, n))

    def part(self, which: Any) -> Record:
        """With some observations only, by index or mask."""
        return replace(self, X=self.X[which], y=self.y[which], noise=self.noise[which])

    @property
    def known_noise(self) -> Array | None:
        """The known noise variances, if any is."""
        return self.noise if np.any(self.noise > 0) else None

    @property
    def noise_to_come(self) -> float:
        """The known noise variance of the next observation: the median of those so far."""
        return float(np.median(self.noise)) if self.n else 0.0

    @property
    def seen(self) -> Array:
        """Every point that need not be asked for again, ``(n + m + k, D)``."""
        return np.vstack([self.X, self.pending, self.failed])

    def has_seen(self, x: Array) -> bool:
        """Whether the point ``x (D,)`` need not be asked for again."""
        return bool((self._gaps(self.seen, x) <= _SAME).any())

    @property
    def free(self) -> npt.NDArray[np.bool_]:
        """Which points of a pool have not been seen, ``(M,)``; a copy of a seen point counts as seen."""
        assert isinstance(self.space, Pool)
        free = np.ones(len(self.space), dtype=bool)
        free[self.space.taken(self.seen)] = False
        return free

    @property
    def n_left(self) -> float:
        """How many points have not been seen: infinitely many in a box.

        A pool that is not in memory is not read for that: each seen point counts once, also where it has copies.
        """
        if not isinstance(self.space, Pool):
            return np.inf
        taken = self.space.taken(self.seen) if self.space.in_memory else distinct(self.seen)
        return float(max(len(self.space) - len(taken), 0))

    def check_left(self, n: int) -> None:
        """Raise if a pool has fewer than ``n`` points left."""
        left = self.n_left
        if n > left:
            spent = "the pool is exhausted" if left == 0 else f"the pool has only {left:.0f} points left"
            raise ValueError(f"n must be at most the number of points left: {spent}, {n} asked")

    def with_pending(self, X: Array) -> Record:
        """With the points ``X`` pending as well."""
        return replace(self, pending=np.vstack([self.pending, X]))

    def with_reserved(self, x: Any) -> Record:
        """With points ``x`` that were not asked for pending as well."""
        return self.with_pending(self._points(x, outside=False))

    def with_outcomes(self, x: Any, y: Any, noise_variance: Any = None, outside: bool = False) -> Record:
        """With outcomes ``y`` at points ``x``; NaN is a failure."""
        X = self._points(x, outside)
        y = self._outcomes(y, X.shape[0])
        known = checks.noise_variance(noise_variance, X.shape[0])
        noise = np.zeros(X.shape[0]) if known is None else known
        good = ~np.isnan(y)
        record = self._settled(X)
        return replace(
            record,
            X=np.vstack([record.X, X[good]]),
            y=np.concatenate([record.y, y[good]]),
            noise=np.concatenate([record.noise, noise[good]]),
            failed=np.vstack([record.failed, X[~good]]),
            reasons=record.reasons + ("the outcome is NaN",) * int((~good).sum()),
        )

    def with_failures(self, x: Any, reason: str) -> Record:
        """With points ``x`` as failures."""
        X = self._points(x, outside=True)
        record = self._settled(X)
        return replace(
            record, failed=np.vstack([record.failed, X]), reasons=record.reasons + (str(reason),) * X.shape[0]
        )

    def without_pending(self, x: Any) -> Record:
        """With points ``x`` no longer pending."""
        X = self._points(x, outside=True)
        record = self._settled(X)
        if len(self.pending) - len(record.pending) < X.shape[0]:
            raise ValueError(f"x must be pending, got {X.shape[0]} of which some are not: {x!r}")
        return record

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold, without the space; pending points have the key ``"out"`` of old files."""
        arrays = {"X": self.X, "y": self.y, "noise": self.noise, "out": self.pending, "failed": self.failed}
        return {**{name: array.tolist() for name, array in arrays.items()}, "reasons": list(self.reasons)}

    @classmethod
    def from_dict(cls, values: dict[str, Any], space: Space) -> Record:
        """The record that :meth:`to_dict` described; refused if its parts do not fit together."""
        checks.keys(values, ("X", "y", "noise", "out", "failed", "reasons"), "record")

        def points(name: str) -> Array:
            array = _stored(values[name], name)
            if array.size and (array.ndim != 2 or array.shape[1] != space.D):
                raise ValueError(f"{name} of record must have {space.D} columns, got shape {array.shape}")
            array = array.reshape(-1, space.D)
            _check_reach(array, space, f"{name} of record")
            return array

        X, failed, reasons = points("X"), points("failed"), values["reasons"]
        y, noise = _stored(values["y"], "y"), _stored(values["noise"], "noise")
        if y.shape != X.shape[:1] or noise.shape != y.shape or np.any(noise < 0.0):
            raise ValueError(
                f"record must have one y and one noise of at least 0 for each of its {X.shape[0]} points, "
                f"got shapes {y.shape} and {noise.shape}"
            )
        if not isinstance(reasons, list) or len(reasons) != len(failed) or not all(isinstance(r, str) for r in reasons):
            raise ValueError(f"record must have a reason for each of its {len(failed)} failures, got {reasons!r:.80}")
        return cls(space, X, y, noise, points("out"), failed, tuple(reasons))

    def _points(self, x: Any, outside: bool) -> Array:
        x = columns.named_point(x)
        if np.ndim(x) == 1:
            x = np.asarray(x)[None]
        X = checks.dense(checks.inputs(x, name="x", names=self.space.names))
        if X.shape[1] != self.space.D:
            raise ValueError(f"x must have {self.space.D} inputs as the space has, got {X.shape[1]}")
        _check_reach(X, self.space, "x")
        X = self._as_asked(X)
        if not outside:
            self._check_inside(X)
        return X

    def _as_asked(self, X: Array) -> Array:
        """``X`` with pending points in all their digits, which a spreadsheet may have rounded."""
        X = X.copy()
        for x in X:
            gap = self._gaps(self.pending, x)
            if gap.size and gap.min() <= _SAME:
                x[:] = self.pending[int(np.argmin(gap))]
        return X

    def _check_inside(self, X: Array) -> None:
        if isinstance(self.space, Pool):
            asked = {x.tobytes() for x in self.pending}  # so they are points of the pool
            foreign = np.array([i for i, x in enumerate(X) if x.tobytes() not in asked], dtype=int)
            foreign = foreign[self.space.index_of(X[foreign]) < 0] if foreign.size else foreign
            if foreign.size:
                raise ValueError(
                    f"x must be points of the pool, but row {foreign[0]} is not (pass outside=True if meant)"
                )
            return
        lower, upper = self.space.bounds
        slack = 1e-9 * upper - 1e-9 * lower
        foreign = np.flatnonzero(((lower - slack > X) | (upper + slack < X)).any(axis=1))
        if foreign.size:
            i = int(foreign[0])
            j = int(np.argmax(np.maximum(lower - X[i], X[i] - upper) / (upper - lower)))
            raise ValueError(
                f"x must lie in the box, but input {names.called(self.space.names, j)} of row {i} is {X[i, j]:g}, "
                f"not within [{lower[j]:g}, {upper[j]:g}] (pass outside=True if meant)"
            )
        for i, x in enumerate(X):
            broken = self.space.broken(x)
            if broken is not None:  # an experiment that was made is data; what is asked for next keeps to it
                warnings.warn(
                    f"x: row {i} breaks the constraint '{broken}'; it is kept as data", RidgewayWarning, stacklevel=5
                )
                break

    def _outcomes(self, y: Any, n: int) -> Array:
        if np.ndim(y) == 0:
            y = [y]
        values = checks.numeric(y, "y")
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.shape != (n,):
            raise ValueError(f"y must have one value for each of the {n} points, got shape {values.shape}")
        bad = np.flatnonzero(np.isinf(values))
        if bad.size:
            raise ValueError(
                f"y must be finite, or NaN for an experiment that failed, but y[{bad[0]}] is {values[bad[0]]}"
            )
        checks.outputs(values[~np.isnan(values)], int((~np.isnan(values)).sum()))
        return values

    def _settled(self, X: Array) -> Record:
        """Without those pending points that are in ``X``; each of ``X`` removes at most one."""
        pending = self.pending
        for x in X:
            gap = self._gaps(pending, x)
            if gap.size and gap.min() <= _SAME:
                pending = np.delete(pending, int(np.argmin(gap)), axis=0)
        return replace(self, pending=pending)

    def _gaps(self, X: Array, x: Array) -> Array:
        """Largest distance in any input between ``x`` and each of ``X``, relative to the input's range, ``(n,)``."""
        lower, upper = self.space.bounds
        gaps: Array = np.abs((X - x) / (upper - lower)).max(axis=1, initial=0.0)
        return gaps


def _check_reach(X: Array, space: Space, name: str) -> None:
    """Raise for points so far outside the space that distances leave the range of floating point."""
    lower, upper = space.bounds
    with np.errstate(over="ignore"):
        far = np.abs(X / (upper - lower)) > _REACH
    if far.any():
        i, j = np.argwhere(far)[0]
        raise ValueError(
            f"{name} must be within {_REACH:g} times the range of each input, but input "
            f"{names.called(space.names, j)} of row {i} is {X[i, j]:g}"
        )


def _stored(value: Any, name: str) -> Array:
    """A stored list of numbers, or of rows of them, as an array."""
    array = checks.numeric(value, f"{name} of record")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} of record must be finite")
    return array
