"""``Record``: what has been asked, told and failed in one space. A value: every change is a new one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ridgeway import names, validation
from ridgeway.pool import Pool
from ridgeway.spaces import Space
from ridgeway.types import Array

_SAME = 1e-6  # of an input's range: points this close are one, whatever a spreadsheet rounded


@dataclass(frozen=True)
class Record:
    """Observations, points that are out for evaluation, and points that failed."""

    space: Space
    X: Array  # (n, D) observed
    y: Array  # (n,)
    noise: Array  # (n,) known noise variances, 0 where nothing is known
    out: Array  # (m, D)
    failed: Array  # (k, D)
    reasons: tuple[str, ...]  # (k,)

    def __post_init__(self) -> None:
        for array in (self.X, self.y, self.noise, self.out, self.failed):
            array.flags.writeable = False  # they are handed out

    @classmethod
    def empty(cls, space: Space) -> Record:
        none = np.zeros((0, space.D))
        return cls(space, none, np.zeros(0), np.zeros(0), none, none, ())

    @property
    def n(self) -> int:
        """How many observations."""
        return self.y.shape[0]

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
        return np.vstack([self.X, self.out, self.failed])

    def has_seen(self, x: Array) -> bool:
        """Whether the point ``x (D,)`` need not be asked for again."""
        return bool((self._gaps(self.seen, x) <= _SAME).any())

    @property
    def free(self) -> npt.NDArray[np.bool_]:
        """Which points of a pool have not been seen, ``(M,)``; copies of a seen one have been, too."""
        assert isinstance(self.space, Pool)
        free = np.ones(len(self.space), dtype=bool)
        for x in self.seen:
            free[self.space.find(x)] = False
        return free

    @property
    def n_left(self) -> float:
        """How many points have not been seen: without end in a box."""
        return float(self.free.sum()) if isinstance(self.space, Pool) else np.inf

    def check_left(self, n: int) -> None:
        """Raise if a pool has fewer than ``n`` points left."""
        left = self.n_left
        if n > left:
            spent = "the pool is exhausted" if left == 0 else f"the pool has only {left:.0f} points left"
            raise ValueError(f"n must be at most the number of points left: {spent}, {n} asked")

    def with_out(self, X: Array) -> Record:
        """With the points ``X`` out for evaluation."""
        return replace(self, out=np.vstack([self.out, X]))

    def told(self, x: Any, y: Any, noise_variance: Any = None, outside: bool = False) -> Record:
        """With outcomes ``y`` at points ``x``; NaN is a failure."""
        X = self._points(x, outside)
        y = self._outcomes(y, X.shape[0])
        known = validation.noise_variance(noise_variance, X.shape[0])
        noise = np.zeros(X.shape[0]) if known is None else known
        good = ~np.isnan(y)
        record = self._settled(X)
        return replace(
            record,
            X=np.vstack([record.X, X[good]]),
            y=np.concatenate([record.y, y[good]]),
            noise=np.concatenate([record.noise, noise[good]]),
            failed=np.vstack([record.failed, X[~good]]),
            reasons=record.reasons + ("told NaN",) * int((~good).sum()),
        )

    def failing(self, x: Any, reason: str) -> Record:
        """With points ``x`` as failures."""
        X = self._points(x, outside=True)
        record = self._settled(X)
        return replace(
            record, failed=np.vstack([record.failed, X]), reasons=record.reasons + (str(reason),) * X.shape[0]
        )

    def without_out(self, x: Any) -> Record:
        """With points ``x`` no longer out."""
        X = self._points(x, outside=True)
        record = self._settled(X)
        if len(self.out) - len(record.out) < X.shape[0]:
            raise ValueError(f"x must be out for evaluation, got {X.shape[0]} of which some are not: {x!r}")
        return record

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; the space is not in it."""
        arrays = {name: getattr(self, name).tolist() for name in ("X", "y", "noise", "out", "failed")}
        return {**arrays, "reasons": list(self.reasons)}

    @classmethod
    def from_dict(cls, values: dict[str, Any], space: Space) -> Record:
        def points(name: str) -> Array:
            return np.array(values[name], dtype=float).reshape(-1, space.D)

        y, noise = np.array(values["y"], dtype=float), np.array(values["noise"], dtype=float)
        return cls(space, points("X"), y, noise, points("out"), points("failed"), tuple(values["reasons"]))

    def _points(self, x: Any, outside: bool) -> Array:
        if np.ndim(x) == 1:
            x = np.asarray(x)[None]
        X = validation.dense(validation.inputs(x, name="x"))
        if X.shape[1] != self.space.D:
            raise ValueError(f"x must have {self.space.D} inputs as the space has, got {X.shape[1]}")
        X = self._as_asked(X)
        if not outside:
            self._check_inside(X)
        return X

    def _as_asked(self, X: Array) -> Array:
        """``X`` with points that are out in all their digits, whatever a spreadsheet rounded."""
        X = X.copy()
        for x in X:
            gap = self._gaps(self.out, x)
            if gap.size and gap.min() <= _SAME:
                x[:] = self.out[int(np.argmin(gap))]
        return X

    def _check_inside(self, X: Array) -> None:
        if isinstance(self.space, Pool):
            strange = np.flatnonzero(self.space.index_of(X) < 0)
            if strange.size:
                raise ValueError(
                    f"x must be points of the pool, but row {strange[0]} is not (pass outside=True if meant)"
                )
            return
        strange = np.flatnonzero(~self.space.contains(X))
        if strange.size:
            i = int(strange[0])
            lower, upper = self.space.bounds
            j = int(np.argmax(np.maximum(lower - X[i], X[i] - upper) / (upper - lower)))
            raise ValueError(
                f"x must lie in the box, but input {names.called(self.space.names, j)} of row {i} is {X[i, j]:g}, "
                f"not within [{lower[j]:g}, {upper[j]:g}] (pass outside=True if meant)"
            )

    def _outcomes(self, y: Any, n: int) -> Array:
        if np.ndim(y) == 0:
            y = [y]
        values = validation.numeric(y, "y")
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.shape != (n,):
            raise ValueError(f"y must have one value for each of the {n} points, got shape {values.shape}")
        bad = np.flatnonzero(np.isinf(values))
        if bad.size:
            raise ValueError(
                f"y must be finite, or NaN for an experiment that failed, but y[{bad[0]}] is {values[bad[0]]}"
            )
        return values

    def _settled(self, X: Array) -> Record:
        """With those of ``X`` that are out no longer out; each settles one."""
        out = self.out
        for x in X:
            gap = self._gaps(out, x)
            if gap.size and gap.min() <= _SAME:
                out = np.delete(out, int(np.argmin(gap)), axis=0)
        return replace(self, out=out)

    def _gaps(self, X: Array, x: Array) -> Array:
        """How far ``x`` is from each of ``X``, in parts of an input's range, ``(n,)``."""
        lower, upper = self.space.bounds
        gaps: Array = np.abs((X - x) / (upper - lower)).max(axis=1, initial=0.0)
        return gaps
